// The page: what is chosen, what is loaded, and who is told when it changes.

import * as address from "./address.js";
import { get, keepToken, post } from "./api.js";
import { drawDetails } from "./details.js";
import { askToken, decide } from "./dialog.js";
import { drawBar as drawTop } from "./bar.js";
import { byId, make } from "./dom.js";
import { drawHead } from "./head.js";
import { ACTIVE, IncidentList, titleOf } from "./incidents.js";
import { follow } from "./stream.js";
import { TimeLine } from "./timeline.js";
import { spoken } from "./words.js";

const GROW_MS = 2000;
const LOOK_MS = 3000;
const PAGE = 100;

const held = {
  ...address.read(),
  jobs: [],
  // When the page saw a job get on, in seconds of the wall clock.
  moved: new Map(),
  incidents: new Map(),
  cursor: null,
  requests: [],
  stopped: null,
  isLive: true,
  isConnected: false,
  onlyActive: false,
};
const list = new IncidentList(byId("incidents"), (id) => choose(id));
const timeLine = new TimeLine();
const now = () => Date.now() / 1000;

/** The job's own present: its data may be older than the clock on the wall, in a replay by years. */
const present = () => held.jobs.find((job) => job.job === held.job)?.time ?? now();

const drawBar = () => drawTop(held, now());

const chosen = () => held.incidents.get(held.incident);

async function loadAll() {
  await loadBar();
  if (held.incident && !held.job) held.job = (await get(`/incidents/${encodeURIComponent(held.incident)}`).catch(() => ({}))).job ?? "";
  if (!held.jobs.some((job) => job.job === held.job)) held.job = held.jobs[0]?.job ?? "";
  await loadIncidents();
  await show();
}

async function loadIncidents() {
  const page = await get("/incidents", { job: held.job, limit: PAGE });
  held.incidents = new Map(page.items.map((incident) => [incident.id, incident]));
  held.cursor = page.next_cursor;
  if (held.incident && !chosen()) {
    const one = await get(`/incidents/${encodeURIComponent(held.incident)}`).catch(() => null);
    if (one && one.job === held.job) held.incidents.set(one.id, one);
    else held.incident = "";
  }
  held.incident ||= ([...held.incidents.values()].find((one) => ACTIVE.has(one.state)) ?? page.items[0])?.id ?? "";
}

async function loadOlder() {
  const page = await get("/incidents", { job: held.job, limit: PAGE, cursor: held.cursor });
  for (const incident of page.items) held.incidents.set(incident.id, incident);
  held.cursor = page.next_cursor;
  drawList();
}

async function loadRequests() {
  const id = held.incident;
  const requests = id ? (await get("/requests", { incident: id })).items : [];
  if (id === held.incident) held.requests = requests;
}

async function choose(id) {
  const incident = held.incidents.get(id) ?? (await get(`/incidents/${encodeURIComponent(id)}`));
  held.incidents.set(id, incident);
  held.incident = id;
  held.requests = [];
  await show();
}

async function chooseJob(job) {
  held.job = job;
  held.incident = "";
  held.requests = [];
  await loadIncidents();
  await show();
}

/** Everything about the chosen job and incident. */
async function show() {
  address.write({ job: held.job, incident: held.incident, axis: held.axis });
  drawBar();
  drawList();
  // At once, lest a button still means the incident shown before.
  drawIncident();
  await loadRequests();
  drawIncident();
  await showTimeLine();
}

function showTimeLine() {
  const incident = chosen() ?? null;
  const others = [...held.incidents.values()].filter((one) => one !== incident && one.severity !== "info");
  const wanted = held.axis || (incident && incident.onset_step == null ? "time" : "step");
  return timeLine.show({ job: held.job, incident, others, now: present(), wanted });
}

function drawIncident() {
  const incident = chosen();
  byId("head").hidden = byId("details").hidden = !incident;
  if (!incident) return;
  const handlers = { acknowledge, close, answer, go: choose };
  drawHead(byId("head"), incident, held.requests, present(), handlers);
  drawDetails(byId("details"), incident, held.requests, handlers);
  document.title = `${spoken(incident.state)}: ${titleOf(incident)} – Trainmaster`;
}

function drawList() {
  const shown = [...held.incidents.values()].filter((one) => !held.onlyActive || ACTIVE.has(one.state));
  list.draw(shown, held.incident, now());
  byId("older").hidden = held.cursor == null;
  byId("show-active").setAttribute("aria-pressed", String(held.onlyActive));
  byId("show-all").setAttribute("aria-pressed", String(!held.onlyActive));
}

async function acknowledge() {
  const id = held.incident;
  const answered = await decide({ title: "Take this incident?", text: "Others see your name on it.", confirm: "Acknowledge" });
  if (answered) await tell(() => post(`/incidents/${encodeURIComponent(id)}/acknowledge`, { by: answered.by }));
}

async function close() {
  const id = held.incident;
  const cause = make("input", { placeholder: chosen().cause, maxlength: "128" });
  const legitimate = make("input", { type: "checkbox" });
  const answered = await decide({
    title: "Close this incident?",
    text: "It will not open again; a recurrence opens a linked one.",
    confirm: "Close incident",
    fields: [
      { name: "cause", element: cause, text: "The cause you found, if another" },
      { name: "legitimate", element: legitimate, text: "It was a legitimate change" },
    ],
  });
  if (!answered) return;
  const said = { by: answered.by, cause: answered.cause || null, legitimate: answered.legitimate };
  await tell(() => post(`/incidents/${encodeURIComponent(id)}/close`, said));
}

async function answer(request, word) {
  const undo = request.reversible ? "It can be undone." : "It cannot be undone.";
  const answered = await decide({
    title: word === "approve" ? `Run ${request.action} on ${request.target}?` : `Reject ${request.action} on ${request.target}?`,
    text: `${request.summary} ${word === "approve" ? undo : "It will not run."}`,
    confirm: word === "approve" ? "Approve and run" : "Reject",
    isGrave: word === "approve" && !request.reversible,
  });
  if (answered) await tell(() => post(`/requests/${encodeURIComponent(request.id)}/${word}`, { by: answered.by }));
}

async function turnSwitch() {
  const isOn = held.stopped != null;
  const answered = await decide({
    title: isOn ? "Let actions run again?" : "Stop all actions?",
    text: isOn ? `${held.stopped} stopped them.` : "Nothing runs on any job until somebody turns this off. Detection goes on.",
    confirm: isOn ? "Let them run" : "Stop all actions",
    isGrave: true,
  });
  if (answered) await tell(() => post("/killswitch", { on: !isOn, by: answered.by }));
}

/** Do something at the feed, say what it refuses, and show what became of it. */
async function tell(work) {
  warn("");
  await work().catch((fault) => warn(fault.message));
  await refreshBar();
  await loadRequests();
  drawIncident();
}

function warn(text) {
  byId("banner").textContent = text;
  byId("banner").hidden = !text;
}

async function loadBar() {
  const [jobs, turn] = await Promise.all([get("/jobs"), get("/killswitch")]);
  for (const { job, time } of jobs.items) {
    const known = held.jobs.find((one) => one.job === job);
    if (known && time > known.time) held.moved.set(job, now());
  }
  held.jobs = jobs.items;
  held.stopped = turn.on ? turn.by : null;
}

async function refreshBar() {
  await loadBar();
  if (!held.job && held.jobs.length) await chooseJob(held.jobs[0].job);
  drawBar();
}

async function hear(type, event) {
  if (type.endsWith(".reset")) return loadAll();
  const { data } = event;
  if (!type.includes(".incident.")) {
    if (data.incident !== held.incident) return undefined;
    await loadRequests();
    return drawIncident();
  }
  if (data.job !== held.job) return undefined;
  held.incidents = new Map([[data.id, data], ...[...held.incidents].filter(([id]) => id !== data.id)]);
  if (!held.incident) return choose(data.id);
  drawList();
  if (data.id !== held.incident) return undefined;
  await loadRequests();
  drawIncident();
  return showTimeLine();
}

function connect() {
  follow({
    open() {
      held.isConnected = true;
      warn("");
      loadAll().catch(failed);
    },
    event: (type, event) => void hear(type, event).catch(failed),
    broken(fault) {
      held.isConnected = false;
      drawBar();
      if (fault.status === 401) {
        signIn(fault.message);
        return false;
      }
      warn(`No connection to the feed; trying again. What is shown may be old.`);
      return true;
    },
  });
}

async function signIn(text) {
  const given = await askToken(text);
  if (given) keepToken(given.token);
  connect();
}

function failed(fault) {
  if (fault.status !== 401) warn(fault.message);
}

function every(milliseconds, work) {
  setTimeout(async () => {
    if (held.isConnected && !document.hidden) await work().catch(failed);
    every(milliseconds, work);
  }, milliseconds);
}

function setAxis(axis) {
  held.axis = axis;
  address.write({ job: held.job, incident: held.incident, axis });
  timeLine.setAxis(axis);
}

byId("job").addEventListener("change", (event) => chooseJob(event.target.value).catch(failed));
byId("switch").addEventListener("click", turnSwitch);
byId("older").addEventListener("click", () => loadOlder().catch(failed));
byId("by-step").addEventListener("click", () => setAxis("step"));
byId("by-time").addEventListener("click", () => setAxis("time"));
byId("live").addEventListener("click", () => {
  held.isLive = !held.isLive;
  drawBar();
});
for (const [id, onlyActive] of [["show-active", true], ["show-all", false]]) {
  byId(id).addEventListener("click", () => {
    held.onlyActive = onlyActive;
    drawList();
  });
}
window.addEventListener("hashchange", () => {
  Object.assign(held, address.read(), { requests: [] });
  loadAll().catch(failed);
});
every(GROW_MS, async () => held.isLive && timeLine.follow(present()));
every(LOOK_MS, refreshBar);
drawBar();
connect();
