// From tables to what a strip draws: which signals it has, their points on the shared axis, and which to show first.

import uPlot from "./vendor/uplot/uPlot.esm.js";

const LOSS = ["loss", "grad_norm", "valid_loss", "loss_scale", "update_norm", "params_norm", "learning_rate", "skipped"];
const THROUGHPUT = ["tokens_per_second", "step_seconds", "compute_seconds", "wait_seconds"];
const DATA = ["loader_share", "checkpoint_seconds", "loader_seconds"];
const DATA_NAMES = /^(source_share|length_share|loader_|checkpoint_|bad_sample|sampler_|epoch|duplicate_|skipped_samples|packing_)/;
// Where nothing moved, an operator looks at these first.
const FAMILIAR = ["storage_retries_per_second", "storage_latency_seconds", "gpu_util", "cpu_util", "iowait", "sm_clock_mhz"];
// Planned by the trainer or constant: nobody looks for a fault there first.
const LAST = new Set(["learning_rate", "epoch", "sampler_cursor", "tokens", "batch_size", "sequence_length"]);
const CLEARLY = 1.5;
const LEAST_POINTS = 5;
const SHOWN_FIRST = 2;
const SHOWN_OF_SYSTEM = 3;
const SPARSE = 0.5;

export const STRIPS = [
  { id: "loss", title: "Loss", order: LOSS },
  { id: "throughput", title: "Throughput", order: THROUGHPUT },
  { id: "system", title: "System", order: [] },
  { id: "data", title: "Data", order: DATA },
];

/** Sort the signals of all tables into the strips: strip id -> [{name, kind}], the telling ones first. */
export function sortIntoStrips(tables, incident) {
  const sorted = new Map(STRIPS.map((strip) => [strip.id, []]));
  for (const [kind, table] of tables) {
    for (const name of Object.keys(table.values)) sorted.get(stripOf(kind, name)).push({ name, kind });
  }
  for (const strip of STRIPS) {
    const place = (signal) => rank(strip, signal, tables, incident);
    sorted.get(strip.id).sort((one, other) => place(one) - place(other) || one.name.localeCompare(other.name));
  }
  return sorted;
}

/** How many signals of a strip are shown before anybody chooses. */
export const shownFirst = (strip) => (strip.id === "system" ? SHOWN_OF_SYSTEM : SHOWN_FIRST);

function stripOf(kind, name) {
  if (kind !== "step") return "system";
  if (LOSS.includes(name)) return "loss";
  return DATA_NAMES.test(name) ? "data" : "throughput";
}

/** Fixed order where one is given; else what moved most in the incident comes first, then what operators know best. */
function rank(strip, signal, tables, incident) {
  const fixed = strip.order.indexOf(signal.name);
  if (fixed >= 0) return fixed - 1000;
  if (LAST.has(signal.name)) return 1000;
  const distance = incident ? moved(tables.get(signal.kind), signal.name, incident) : 0;
  if (distance >= CLEARLY) return -distance;
  const known = FAMILIAR.indexOf(signal.name);
  return known >= 0 ? known : FAMILIAR.length;
}

/** How far the median moved in the incident, in spreads of the time before it: what swings anyway has not moved. */
function moved(table, name, { onset_time: onset, end_time: end }) {
  const within = (from, to) =>
    table.values[name].filter((value, index) => Number.isFinite(value) && table.time[index] >= from && table.time[index] < to);
  const before = within(0, onset);
  const during = within(onset, end ?? Infinity);
  if (before.length < LEAST_POINTS || during.length < LEAST_POINTS) return 0;
  const level = median(before);
  const spread = quantile(before, 0.9) - quantile(before, 0.1);
  return Math.min(900, Math.abs(median(during) - level) / (spread + 0.02 * Math.abs(level) + 1e-12));
}

const median = (values) => quantile(values, 0.5);

function quantile(values, share) {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/**
 * Lay out the chosen signals of a strip for drawing.
 * Gives `data` for uPlot (null: a gap, undefined: no reading at this place but the line goes on), for each signal
 * `sparse` (dots rather than a line), `lost` (places of readings that were not finite) and `level` (median before onset).
 */
export function layOut(signals, tables, axis, onset) {
  const parts = signals.map(({ name, kind }) => draw(tables.get(kind), name, axis, onset));
  if (!parts.length) return { data: [[]], parts };
  const data = uPlot.join(parts.map((part) => [part.x, part.y]));
  return { data, parts };
}

function draw(table, name, axis, onset) {
  const part = { x: [], y: [], lost: [], level: null, sparse: false };
  const before = [];
  const gap = longestWait(table);
  let present = 0;
  table.time.forEach((time, index) => {
    const x = axis.of(table.of === "step" ? table.step[index] : null, time);
    if (x < part.x.at(-1)) dropFrom(part, x);
    if (x === part.x.at(-1)) return;
    const wait = index ? time - table.time[index - 1] : 0;
    if (wait > gap && !axis.isSteps) push(part, axis.at(time - wait / 2), null);
    const value = table.values[name][index];
    if (typeof value === "string") {
      part.lost.push(x);
      push(part, x, null);
    } else if (value != null) {
      present += 1;
      push(part, x, value);
      if (onset != null && time < onset) before.push(value);
    }
  });
  part.sparse = present > 0 && present < SPARSE * table.time.length;
  part.level = !part.sparse && before.length >= LEAST_POINTS ? median(before) : null;
  return part;
}

function push(part, x, y) {
  part.x.push(x);
  part.y.push(y);
}

/** A restart took the run back: what it does again replaces what it had done. */
function dropFrom(part, x) {
  while (part.x.length && part.x.at(-1) >= x) {
    part.x.pop();
    part.y.pop();
  }
}

/** The longest wait that is not silence: ten usual ones. A thinned table has no usual wait, so none is told there. */
function longestWait(table) {
  const waits = table.time.slice(1).map((time, index) => time - table.time[index]);
  return waits.length < LEAST_POINTS || table.time.length >= 1000 ? Infinity : 10 * median(waits);
}
