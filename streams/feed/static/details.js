// Below the time line: what was done and why, then what speaks for the cause, against it, and what is missing.

import { fill, make } from "./dom.js";
import { isWaiting } from "./head.js";
import { ending } from "./scene.js";
import { belief, spoken, utc, whole } from "./words.js";

/** Draw actions and evidence; handlers.answer(request, word). */
export function drawDetails(root, incident, requests, handlers) {
  const said = incident.evidence;
  fill(
    root,
    actions(incident, requests, handlers),
    make(
      "div",
      { class: "evidence" },
      make(
        "div",
        {},
        column("Speaks for it", said.filter((one) => one.for && !isMissing(one) && !isFollowing(one)).map(statement)),
        column("What followed", said.filter(isFollowing).map(statement)),
      ),
      column("Ruled out", incident.ruled_out.map(ruledOut)),
      make(
        "div",
        {},
        column("All causes", incident.causes.map(ranked)),
        column("Speaks against it", said.filter((one) => !one.for && !isMissing(one)).map(statement)),
        column("Missing", [...said.filter(isMissing).map(statement), ...incident.blind.map(plain)]),
      ),
    ),
  );
}

const isMissing = (one) => one.status === "unknown";

/** Part of the course of events that says nothing of its cause. */
const isFollowing = (one) => one.for && one.role === "cascade" && one.weight === 0 && !isMissing(one);

function column(title, items) {
  return make(
    "section",
    {},
    make("h3", {}, title),
    items.length ? make("ul", {}, items) : make("p", { class: "quiet" }, "nothing"),
  );
}

const plain = (text) => make("li", {}, text);

const statement = ({ status, layer, text, role }) =>
  make(
    "li",
    {},
    text,
    make("span", { class: "quiet small line" }, [status, spoken(layer), role !== "unplaced" && role].filter(Boolean).join(" · ")),
  );

const ruledOut = ({ cause, because }) => make("li", {}, make("b", {}, spoken(cause)), `: ${because}`);

const ranked = ({ cause, score }) =>
  make("li", { class: "ranked" }, make("span", {}, spoken(cause)), make("span", { class: "numbers" }, belief(score)));

const HEADINGS = ["At", "Action", "Target", "Decision", "Outcome", "Numbers", ""];

function actions(incident, requests, handlers) {
  if (!incident.actions.length) {
    return make("section", {}, make("h3", {}, "Actions"), make("p", { class: "quiet" }, "No playbook has matched."));
  }
  const views = new Map(requests.map((view) => [view.request.id, view]));
  const rows = incident.actions.map((entry) => {
    const view = views.get(entry.request);
    return row(entry, view, view?.answer ?? approvalOf(entry, requests), handlers);
  });
  return make(
    "section",
    {},
    make("h3", {}, "Actions"),
    make(
      "table",
      { class: "actions" },
      make("thead", {}, make("tr", {}, HEADINGS.map((heading) => make("th", { scope: "col" }, heading)))),
      make("tbody", {}, rows),
    ),
  );
}

/** Who allowed it: what runs after an approval is a request of its own, and the answer stands at the one that asked. */
function approvalOf(entry, requests) {
  if (entry.reason !== "approved") return undefined;
  const isSame = ({ request }) => ["playbook", "action", "target"].every((name) => request[name] === entry[name]);
  return requests.findLast((view) => view.answer && isSame(view) && view.request.time <= entry.time)?.answer;
}

function row(entry, view, answer, handlers) {
  const end = ending(entry);
  const details = [...new Set([entry.detail, view?.result?.detail])].filter(Boolean);
  const cells = [
    [make("span", { class: "numbers" }, entry.step == null ? utc(entry.time) : `step ${whole(entry.step)}`)],
    [make("b", {}, entry.action), make("span", { class: "quiet small line" }, entry.playbook)],
    [entry.target],
    [spoken(entry.decision), make("span", { class: "quiet small line" }, `${spoken(entry.reason)} · mode ${entry.mode}`)],
    [make("span", { class: `result ${end.tone}` }, end.text), answer && make("span", { class: "quiet small line" }, answer)],
    details.map((text) => make("span", { class: "quiet line" }, text)),
    [view && isWaiting(view) && answers(view.request, handlers)],
  ];
  return make("tr", {}, cells.map((cell) => make("td", {}, ...cell)));
}

function answers(request, handlers) {
  return make(
    "span",
    { class: "buttons" },
    make("button", { type: "button", class: "main", onclick: () => handlers.answer(request, "approve") }, "Approve…"),
    make("button", { type: "button", onclick: () => handlers.answer(request, "reject") }, "Reject…"),
  );
}
