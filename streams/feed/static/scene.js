// What all strips draw alike: the axis, the shaded spans of incidents, and the marks of what was done.

import { layOut } from "./columns.js";
import { spoken } from "./words.js";

// Telling somebody changes nothing on the job, so it is no mark on its curves.
const ONLY_WORDS = new Set(["notify", "webhook", "postmortem.open"]);

/** Whether nothing of an incident lasts any more. */
export const isOver = (incident) => incident?.state === "resolved" || incident?.state === "closed";

/** Colours of the page as the canvas needs them. */
export function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(name).trim();
  return {
    lines: [1, 2, 3, 4, 5, 6].map((number) => value(`--line-${number}`)),
    grid: value("--grid"),
    quiet: value("--quiet"),
    panel: value("--panel"),
    span: value("--span"),
    faint: value("--span-faint"),
    onset: value("--onset"),
    taint: value("--taint"),
    marks: { good: value("--good"), bad: value("--bad"), waiting: value("--waiting"), none: value("--quiet") },
    font: `11px ${value("--font") || "sans-serif"}`,
  };
}

export class Scene {
  constructor({ tables, axis, view, theme, incident, others, now }) {
    Object.assign(this, { tables, axis, view, theme, incident, others, now });
    this.onset = incident?.onset_time ?? null;
    this.marks = incident ? marksOf(incident, axis) : [];
  }

  layOut(signals) {
    return layOut(signals, this.tables, this.axis, this.onset);
  }

  /** Behind the lines: the spans of other incidents faintly, that of the chosen one clearly, contaminated steps below. */
  drawBehind(u) {
    for (const other of this.others) shade(u, this.spanOf(other), this.theme.faint);
    if (!this.incident) return;
    shade(u, this.spanOf(this.incident), this.theme.span);
    const { taint } = this.incident;
    if (taint) {
      const from = this.axis.of(taint.from_step, null);
      const to = this.axis.of(taint.to_step, null);
      shade(u, [from, to], this.theme.taint, 3);
    }
  }

  drawMarks(u) {
    if (!this.incident) return;
    for (const mark of this.marks) vertical(u, mark.place, this.theme.marks[mark.tone], [2, 3], 1);
    vertical(u, this.spanOf(this.incident)[0], this.theme.onset, [], 1.5);
  }

  /** Begin and end of an incident on the axis; one that lasts reaches to the latest moment. */
  spanOf(incident) {
    const begin = this.axis.of(incident.onset_step, incident.onset_time);
    const lasts = incident.end_step == null && incident.end_time == null;
    if (!lasts) return [begin, this.axis.of(incident.end_step, incident.end_time)];
    return [begin, this.axis.at(isOver(incident) ? incident.updated_time : this.now)];
  }
}

/** How an action ended, in one word and a tone. */
export function ending(entry) {
  const { decision, outcome, verification } = entry;
  if (decision === "refused") return { tone: "none", text: "refused" };
  if (decision === "would_act") return { tone: "none", text: "would act" };
  if (verification === "verified") return { tone: "good", text: "verified" };
  if (verification === "failed" || outcome === "failed") return { tone: "bad", text: "failed" };
  if (verification && verification !== "waiting") return { tone: "waiting", text: spoken(verification) };
  if (verification === "waiting") return { tone: "waiting", text: "verifying" };
  if (outcome === "done") return { tone: "good", text: "done" };
  if (outcome === "refused" || outcome === "rejected" || outcome === "expired") return { tone: "none", text: outcome };
  return { tone: "waiting", text: decision === "asked" ? "asked" : "running" };
}

function marksOf(incident, axis) {
  const said = incident.actions.filter((entry) => entry.decision !== "refused" && !ONLY_WORDS.has(entry.action));
  const marks = said.map((entry) => ({
    place: axis.of(entry.step, entry.time),
    text: entry.action,
    ...pick(ending(entry)),
  }));
  const opened = { place: axis.at(incident.opened_time), text: "detected", result: "", tone: "none" };
  return [opened, ...marks].sort((one, other) => one.place - other.place);
}

const pick = ({ tone, text }) => ({ tone, result: text });

function shade(u, [from, to], colour, height = null) {
  const left = Math.max(u.bbox.left, u.valToPos(from, "x", true));
  const right = Math.min(u.bbox.left + u.bbox.width, u.valToPos(to, "x", true));
  if (!(right > left)) return;
  const tall = height == null ? u.bbox.height : height * devicePixelRatio;
  u.ctx.fillStyle = colour;
  u.ctx.fillRect(left, u.bbox.top + u.bbox.height - tall, right - left, tall);
}

function vertical(u, place, colour, dash, width) {
  const x = Math.round(u.valToPos(place, "x", true)) + 0.5;
  const { left, top, width: wide, height } = u.bbox;
  if (x < left || x > left + wide) return;
  const { ctx } = u;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = width * devicePixelRatio;
  ctx.setLineDash(dash.map((part) => part * devicePixelRatio));
  ctx.beginPath();
  ctx.moveTo(x, top);
  ctx.lineTo(x, top + height);
  ctx.stroke();
  ctx.restore();
}
