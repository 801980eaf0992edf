// The head of the chosen incident: what, since when, why, who, how much, and what waits for a person.

import { fill, make, meter } from "./dom.js";
import { ACTIVE, badge, titleOf } from "./incidents.js";
import { belief, count, gpuHours, span, spoken, steps, utc, whole } from "./words.js";

const NAMED = 3;

/** Draw the head; handlers: acknowledge(), close(), answer(request, word), go(incident id). */
export function drawHead(root, incident, requests, now, handlers) {
  fill(
    root,
    make(
      "div",
      { class: "head-top" },
      make("div", {}, badge(incident), make("h2", {}, titleOf(incident)), make("p", { class: "quiet numbers" }, when(incident, now))),
      make("div", { class: "buttons" }, buttons(incident, handlers)),
    ),
    requests.filter(isWaiting).map((view) => question(view, handlers)),
    make("dl", { class: "facts" }, facts(incident, handlers)),
  );
}

/** A request nobody has answered and that has not ended. */
export const isWaiting = (view) => view.request.decision === "asked" && !view.answer && !view.result;

function when(incident, now) {
  const { onset_step, onset_time, end_step, end_time, state } = incident;
  const end = end_time ?? (ACTIVE.has(state) ? Math.max(now, incident.updated_time) : incident.updated_time);
  return [
    onset_step != null && `since step ${whole(onset_step)}`,
    `${onset_step == null ? "since " : ""}${utc(onset_time)} UTC`,
    `${ACTIVE.has(state) ? "for" : "lasted"} ${span(end - onset_time)}`,
    end_step != null && `until step ${whole(end_step)}`,
    `detected ${span(incident.opened_time - onset_time)} after onset`,
    `${incident.job}, attempt ${incident.attempt}`,
  ]
    .filter(Boolean)
    .join(" · ");
}

function buttons(incident, handlers) {
  const taken = incident.acknowledged_by && make("span", { class: "quiet" }, `taken by ${incident.acknowledged_by}`);
  const word = incident.state === "closed" ? "Correct…" : "Close…";
  const close = make("button", { type: "button", onclick: handlers.close }, word);
  if (!ACTIVE.has(incident.state)) return [taken, close];
  return [taken || make("button", { type: "button", onclick: handlers.acknowledge }, "Acknowledge"), close];
}

function question(view, handlers) {
  const { request } = view;
  return make(
    "div",
    { class: "question", role: "group", "aria-label": "An action waits for you" },
    make(
      "div",
      {},
      make("strong", {}, "Waiting for you: "),
      request.summary || `${request.action} on ${request.target}`,
      make("span", { class: "quiet" }, ` ${request.reversible ? "Can be undone." : "Cannot be undone."}`),
    ),
    make(
      "div",
      { class: "buttons" },
      make("button", { type: "button", class: "main", onclick: () => handlers.answer(request, "approve") }, "Approve…"),
      make("button", { type: "button", onclick: () => handlers.answer(request, "reject") }, "Reject…"),
    ),
  );
}

function facts(incident, handlers) {
  return [
    fact("Cause", ...cause(incident)),
    fact("Suspects", ...suspects(incident)),
    fact("Affected", ...affected(incident)),
    fact("Contaminated steps", ...taint(incident)),
    fact("Lost", make("b", { class: "large numbers" }, gpuHours(incident.gpu_hours_lost)), " GPU-hours", linked(incident, handlers)),
  ];
}

const fact = (name, ...content) => make("div", {}, make("dt", {}, name), make("dd", {}, ...content));

function cause(incident) {
  const next = incident.causes.find((one) => one.cause !== incident.cause);
  return [
    make("b", {}, spoken(incident.cause)),
    make("span", { class: "line" }, meter(incident.confidence), make("span", { class: "numbers" }, belief(incident.confidence)),
      make("span", { class: "quiet" }, ` ${spoken(incident.layer)}`)),
    next && make("span", { class: "quiet line" }, `next best: ${spoken(next.cause)} ${belief(next.score)}`),
  ];
}

function suspects(incident) {
  if (!incident.suspects.length) return [make("span", { class: "quiet" }, "nobody in particular")];
  const rest = incident.suspects.length - NAMED;
  return [
    incident.suspects
      .slice(0, NAMED)
      .map(({ kind, id, score }) =>
        make("span", { class: "line" }, make("span", { class: "quiet" }, `${kind} `), make("b", {}, id), ` ${belief(score)}`),
      ),
    rest > 0 && make("span", { class: "quiet line" }, `and ${rest} more`),
  ];
}

function affected({ job, affected: { ranks, nodes, jobs } }) {
  const others = jobs.filter((one) => one !== job);
  const parts = [
    ranks.length && count(ranks.length, "rank"),
    nodes.length && `${count(nodes.length, "node")}: ${someOf(nodes)}`,
    others.length && `${count(others.length, "other job")}: ${someOf(others)}`,
  ].filter(Boolean);
  if (!parts.length) return [make("span", { class: "quiet" }, "not known")];
  return parts.map((part) => make("span", { class: "line" }, part));
}

const someOf = (names) => names.slice(0, NAMED).join(", ") + (names.length > NAMED ? " …" : "");

function taint({ taint: range, state }) {
  if (!range) return [make("span", { class: "quiet" }, "none")];
  const saves = range.checkpoints.length && `checkpoint ${range.checkpoints.slice(0, NAMED).map(whole).join(", ")} inside`;
  return [
    make("b", { class: "numbers" }, steps(range.from_step, range.to_step)),
    make("span", { class: "quiet line" }, range.marked ? "in the ledger" : ACTIVE.has(state) ? "not yet in the ledger" : "not in the ledger"),
    saves ? make("span", { class: "quiet line" }, saves) : null,
  ];
}

function linked(incident, handlers) {
  if (!incident.linked) return null;
  return make(
    "span",
    { class: "line" },
    make("button", { type: "button", class: "link", onclick: () => handlers.go(incident.linked) }, "repeats an earlier incident"),
  );
}
