// The top bar: which job, how fresh its data are, whether the page is live, and the kill switch.

import { byId, fill, make } from "./dom.js";
import { span, utc, whole } from "./words.js";

const STALE_SECONDS = 60;
const OLD_SECONDS = 36 * 3600;

/** Draw the bar from what the page holds: jobs, job, moved, stopped, isLive, isConnected. */
export function drawBar(held, now) {
  const job = held.jobs.find((one) => one.job === held.job);
  drawJobs(held);
  byId("place").textContent = job ? `attempt ${job.attempt}${job.step == null ? "" : ` · step ${whole(job.step)}`}` : "no job yet";
  drawAge(job, held.moved.get(held.job), now);
  drawLive(held);
  drawSwitch(held.stopped);
}

/** How old the data are; those of another day by their moment, as a replay has them, and old only once it stands. */
function drawAge(job, moved, now) {
  const age = job ? now - job.time : 0;
  const text = age > OLD_SECONDS ? `data of ${utc(job.time, now)} UTC` : `data ${span(age)} old`;
  byId("age").textContent = job ? text : "";
  byId("age").className = Math.min(age, now - (moved ?? 0)) > STALE_SECONDS ? "stale" : "quiet";
}

/** The picker is left alone while nothing changed: an open one would close under the hand. */
function drawJobs({ jobs, job }) {
  const picker = byId("job");
  const texts = jobs.map((one) => (one.open_incidents ? `${one.job} (${one.open_incidents} open)` : one.job));
  const isSame = picker.options.length === texts.length && texts.every((text, at) => text === picker.options[at].textContent);
  if (!isSame) fill(picker, texts.map((text, at) => make("option", { value: jobs[at].job }, text)));
  if (picker.value !== job) picker.value = job;
}

function drawLive({ isConnected, isLive }) {
  const live = byId("live");
  live.textContent = !isConnected ? "Reconnecting…" : isLive ? "Live" : "Paused";
  live.className = !isConnected ? "broken" : isLive ? "live" : "";
  live.title = isLive ? "Curves follow the job. Press to hold them still." : "Curves stand still; incidents go on. Press to follow.";
  live.setAttribute("aria-pressed", String(isLive));
}

function drawSwitch(stopped) {
  const isOn = stopped != null;
  byId("switch").className = isOn ? "stopped" : "";
  byId("switch").textContent = isOn ? `Actions stopped by ${stopped}` : "Stop all actions";
  byId("switch").setAttribute("aria-pressed", String(isOn));
}
