// Vitals of one job between two moments: one table for each kind of entity, all on one axis.

import { get } from "./api.js";

export const KINDS = ["step", "gpu", "node", "nic", "disk", "mount", "job"];
const POINTS = 1500;
const MOST_POINTS = 4500;
const JUST_AFTER = 1e-5;

/** Load every kind; kinds nobody reported are left out. */
export async function load(job, begin, end) {
  const tables = await Promise.all(KINDS.map((of) => fetchTable(job, of, begin, end, POINTS)));
  return new Map(KINDS.map((of, index) => [of, tables[index]]).filter(([, table]) => table.time.length));
}

/** Add what came since; gives whether anything did. */
export async function grow(tables, job) {
  const grown = await Promise.all([...tables].map(([of, table]) => growTable(table, job, of)));
  return grown.some(Boolean);
}

/** Whether tables have grown so long that they should be loaded anew, thinned. */
export const isLong = (tables) => [...tables.values()].some((table) => table.time.length > MOST_POINTS);

/** The earliest moment of any table, for ever away without one. */
export const earliest = (tables) => Math.min(Infinity, ...[...tables.values()].map((table) => table.time[0]));

/** The latest moment of any table, 0 without one. */
export const latest = (tables) => Math.max(0, ...[...tables.values()].map((table) => table.time.at(-1)));

async function growTable(table, job, of) {
  const more = await fetchTable(job, of, table.time.at(-1) + JUST_AFTER, undefined, POINTS);
  if (!more.time.length) return false;
  const before = table.time.length;
  table.time.push(...more.time);
  table.step.push(...more.step);
  for (const name of Object.keys(more.values)) table.values[name] ??= new Array(before).fill(null);
  for (const [name, column] of Object.entries(table.values)) {
    column.push(...(more.values[name] ?? new Array(more.time.length).fill(null)));
  }
  return true;
}

const fetchTable = (job, of, begin, end, points) =>
  get(`/jobs/${encodeURIComponent(job)}/series`, { of, begin: Math.max(0, begin), end, points });

/** The shared axis: where a moment stands in steps, or in seconds. */
export class Axis {
  constructor(tables, wanted) {
    this.clock = surviving(tables.get("step"));
    this.isSteps = wanted === "step" && this.clock.step.length > 1;
  }

  /** Place of a moment. */
  at(time) {
    return this.isSteps ? between(this.clock.time, this.clock.step, time) : time;
  }

  /** Place of a step, or of the moment where the axis is time or the step is not known. */
  of(step, time) {
    if (this.isSteps && step != null) return step;
    if (!this.isSteps && time == null) return between(this.clock.step, this.clock.time, step);
    return this.at(time);
  }

  /** Moment of a place. */
  time(place) {
    return this.isSteps ? between(this.clock.step, this.clock.time, place) : place;
  }

  /** Step of a place, null where there are no steps. */
  step(place) {
    if (this.isSteps) return Math.round(place);
    return this.clock.step.length > 1 ? Math.round(between(this.clock.time, this.clock.step, place)) : null;
  }
}

/** Time and step of the steps that were not thrown away by a later restart: a run that fell back did them again. */
function surviving(table) {
  const kept = { time: [], step: [] };
  let lowest = Infinity;
  for (let index = (table?.time.length ?? 0) - 1; index >= 0; index--) {
    if (table.step[index] != null && table.step[index] < lowest) {
      lowest = table.step[index];
      kept.time.push(table.time[index]);
      kept.step.push(lowest);
    }
  }
  kept.time.reverse();
  kept.step.reverse();
  return kept;
}

/** Read a rising curve between its points, and along its last slope beyond them. */
function between(from, to, value) {
  if (from.length < 2) return to[0] ?? value;
  let low = 0;
  let high = from.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (from[middle] <= value) low = middle;
    else high = middle;
  }
  const isOutside = value < from[0] || value > from.at(-1);
  if (isOutside) [low, high] = [0, from.length - 1];
  const slope = (to[high] - to[low]) / (from[high] - from[low] || 1);
  return isOutside && value > from.at(-1) ? to.at(-1) + (value - from.at(-1)) * slope : to[low] + (value - from[low]) * slope;
}
