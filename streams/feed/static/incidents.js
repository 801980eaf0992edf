// The list of incidents: newest change first, one button each, kept in place while they change.

import { fill, make } from "./dom.js";
import { belief, gpuHours, span, spoken, utc, whole } from "./words.js";

export const ACTIVE = new Set(["open", "acting", "recovering"]);

const OLD_SECONDS = 36 * 3600;

export class IncidentList {
  constructor(root, choose) {
    this.root = root;
    this.choose = choose;
    this.items = new Map();
  }

  /** Show incidents; the buttons of those already shown stay, so that the focus does. */
  draw(incidents, chosen, now) {
    const known = this.items;
    this.items = new Map(incidents.map((incident) => [incident.id, known.get(incident.id) ?? this.item(incident.id)]));
    const rows = incidents.map((incident) => {
      const item = this.items.get(incident.id);
      describe(item.firstChild, incident, incident.id === chosen, now);
      return item;
    });
    const isSame = rows.length === this.root.children.length && rows.every((row, at) => row === this.root.children[at]);
    if (!rows.length) fill(this.root, make("li", { class: "none" }, "No incidents. Trains are running."));
    else if (!isSame) this.rearrange(rows);
  }

  rearrange(rows) {
    const focused = document.activeElement;
    fill(this.root, rows);
    if (this.root.contains(focused)) focused.focus();
  }

  item(id) {
    return make("li", {}, make("button", { type: "button", class: "incident", onclick: () => this.choose(id) }));
  }
}

function describe(button, incident, isChosen, now) {
  button.className = `incident ${ACTIVE.has(incident.state) ? "is-active" : "is-over"} ${incident.severity}`;
  button.setAttribute("aria-current", isChosen ? "true" : "false");
  const facts = [
    `${spoken(incident.cause)} ${belief(incident.confidence)}`,
    `${gpuHours(incident.gpu_hours_lost)} GPU-h`,
    incident.onset_step != null && `step ${whole(incident.onset_step)}`,
  ];
  fill(
    button,
    make("span", { class: "incident-top" }, badge(incident), make("span", { class: "quiet" }, age(incident, now))),
    make("span", { class: "incident-title" }, titleOf(incident)),
    make("span", { class: "quiet numbers" }, facts.filter(Boolean).join(" · ")),
  );
}

/** State and severity, in words and in colour. */
export const badge = (incident) =>
  make(
    "span",
    { class: "badges" },
    make("span", { class: `state ${incident.state}` }, incident.state),
    make("span", { class: `severity ${incident.severity}` }, incident.severity),
  );

/** The title as a sentence begins. */
export function titleOf(incident) {
  const title = incident.title || spoken(incident.cause);
  return title.charAt(0).toUpperCase() + title.slice(1);
}

/** How long ago; older ones by their day, for nobody counts back days. */
const age = ({ updated_time: time }, now) => (now - time < OLD_SECONDS ? `${span(now - time)} ago` : utc(time, now).slice(0, -3));
