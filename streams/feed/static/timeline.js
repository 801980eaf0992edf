// The time line: four strips and the lane on one axis, one view, one cursor.

import { STRIPS, shownFirst, sortIntoStrips } from "./columns.js";
import { byId, fill } from "./dom.js";
import { Lane } from "./lane.js";
import { isOver, readTheme, Scene } from "./scene.js";
import { Axis, earliest, grow, isLong, latest, load } from "./series.js";
import { Strip } from "./strip.js";
import { utc, whole } from "./words.js";

const OVERVIEW_SECONDS = 7200;
const LEAST_BEFORE = 600;
const LEAST_AFTER = 180;
const LEAST_VIEW = 5;
const SETTLING_SECONDS = 60;

export class TimeLine {
  constructor() {
    this.lane = new Lane();
    this.chosen = new Map();
    this.orders = new Map();
    this.strips = STRIPS.map(
      (strip) =>
        new Strip(strip, {
          zoom: (min, max) => this.zoom(this.axis.time(min), this.axis.time(max)),
          toggle: (of, name) => this.toggle(of, name),
          moved: (place) => this.tellPlace(place),
          drawn: (chart) => strip === STRIPS[0] && this.lane.draw(this.scene, chart),
        }),
    );
    fill(byId("strips"), this.lane.root, ...this.strips.map((strip) => strip.root));
    byId("strips").addEventListener("keydown", (event) => this.key(event));
    byId("strips").addEventListener("dblclick", () => this.fit());
    byId("fit").addEventListener("click", () => this.fit());
    new ResizeObserver(() => this.resize()).observe(byId("strips"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.build());
  }

  /** Show a job, about an incident where one is chosen. */
  async show({ job, incident, others, now, wanted }) {
    const isNew = job !== this.job || incident?.id !== this.incident?.id;
    Object.assign(this, { job, incident, others, now, wanted });
    if (!isNew) return this.refresh();
    this.zoomed = null;
    this.chosen.clear();
    this.orders.clear();
    return this.reload();
  }

  /** Load what is in view and draw it. */
  async reload() {
    const { begin, end } = this.window();
    const asked = (this.asked = {});
    const tables = this.job ? await load(this.job, begin, end) : new Map();
    if (asked !== this.asked) return;
    this.tables = tables;
    this.loaded = { begin, end };
    this.build();
  }

  /** Add what came since; a view of the past stays as it is. */
  async follow(now) {
    this.now = now;
    if (this.zoomed || this.isPast()) return undefined;
    if (!this.tables?.size) return this.job ? this.reload() : undefined;
    const tables = this.tables;
    const hasGrown = await grow(tables, this.job);
    if (!hasGrown || tables !== this.tables) return undefined;
    if (isLong(tables)) return this.reload();
    return this.refresh();
  }

  /** Whether all that the view of an incident shall show is there: the recovery after it belongs to it. */
  isPast() {
    return isOver(this.incident) && latest(this.tables ?? new Map()) > this.window().end + SETTLING_SECONDS;
  }

  build() {
    if (!this.tables) return;
    this.scene = this.makeScene();
    const sorted = sortIntoStrips(this.tables, this.incident);
    this.strips.forEach((strip, index) => {
      const signals = this.inOrder(strip.strip.id, sorted.get(strip.strip.id));
      strip.build(this.scene, signals, this.shownOf(strip.strip, signals), index === this.strips.length - 1);
    });
    this.afterDrawing();
  }

  refresh() {
    if (!this.tables) return;
    const scene = this.makeScene();
    const known = this.strips.flatMap((strip) => strip.signals.map((signal) => signal.name)).length;
    const present = [...this.tables.values()].flatMap((table) => Object.keys(table.values)).length;
    if (known !== present || scene.axis.isSteps !== this.scene.axis.isSteps) {
      this.build();
      return;
    }
    this.scene = scene;
    for (const strip of this.strips) strip.update(scene);
    this.afterDrawing();
  }

  afterDrawing() {
    byId("fit").hidden = !this.zoomed;
    const { isSteps } = this.axis;
    byId("by-step").setAttribute("aria-pressed", String(isSteps));
    byId("by-time").setAttribute("aria-pressed", String(!isSteps));
  }

  makeScene() {
    this.axis = new Axis(this.tables, this.wanted);
    const { begin, end } = this.window();
    const min = this.axis.at(this.zoomed ? begin : Math.max(begin, this.firstMoment()));
    const max = this.axis.at(end);
    const view = { min, max: max > min ? max : min + 1 };
    const { tables, axis, incident, others } = this;
    return new Scene({ tables, axis, view, theme: readTheme(), incident, others, now: latest(tables) || this.now });
  }

  /** Before it nothing was reported: an empty left half would say nothing. */
  firstMoment() {
    return Math.min(earliest(this.tables), this.incident?.onset_time ?? Infinity, this.window().end - LEAST_VIEW);
  }

  /** The moments in view: zoomed, or the incident with its surroundings, or the latest hours. */
  window() {
    if (this.zoomed) return this.zoomed;
    const now = (this.tables && this.sameJob() ? latest(this.tables) : 0) || this.now;
    if (!this.incident) return { begin: now - OVERVIEW_SECONDS, end: now };
    const { onset_time: begin, end_time, updated_time } = this.incident;
    const end = end_time ?? (isOver(this.incident) ? updated_time : Math.max(now, updated_time));
    const length = end - begin;
    const after = isOver(this.incident) ? Math.max(LEAST_AFTER, length * 0.5) : length * 0.03;
    return { begin: begin - Math.max(LEAST_BEFORE, length * 0.7), end: end + after };
  }

  sameJob() {
    return [...this.tables.values()].every((table) => table.job === this.job);
  }

  zoom(begin, end) {
    if (end - begin < LEAST_VIEW) return;
    this.zoomed = { begin, end };
    this.refresh();
    this.reload();
  }

  fit() {
    if (!this.zoomed) return;
    this.zoomed = null;
    this.reload();
  }

  setAxis(wanted) {
    this.wanted = wanted;
    this.build();
  }

  toggle(strip, name) {
    const shown = this.chosen.get(strip.id);
    if (shown.has(name)) shown.delete(name);
    else shown.add(name);
    this.build();
  }

  /** Signals keep the order they had when the incident was opened, whatever part of it is looked at. */
  inOrder(id, signals) {
    const before = this.orders.get(id) ?? [];
    const names = signals.map((signal) => signal.name);
    const order = [...before, ...names.filter((name) => !before.includes(name))];
    this.orders.set(id, order);
    return signals.sort((one, other) => order.indexOf(one.name) - order.indexOf(other.name));
  }

  shownOf(strip, signals) {
    if (!this.chosen.has(strip.id)) {
      this.chosen.set(strip.id, new Set(signals.slice(0, shownFirst(strip)).map((signal) => signal.name)));
    }
    return signals.filter((signal) => this.chosen.get(strip.id).has(signal.name));
  }

  key(event) {
    const { begin, end } = this.window();
    const length = end - begin;
    const moves = {
      ArrowLeft: [-0.2, -0.2],
      ArrowRight: [0.2, 0.2],
      "+": [0.2, -0.2],
      "=": [0.2, -0.2],
      "-": [-0.35, 0.35],
    };
    if (event.key === "0") this.fit();
    else if (moves[event.key]) this.zoom(begin + moves[event.key][0] * length, end + moves[event.key][1] * length);
    else return;
    event.preventDefault();
  }

  tellPlace(place) {
    if (place == null) {
      byId("cursor").textContent = "";
      return;
    }
    const step = this.axis.step(place);
    byId("cursor").textContent = [step == null ? "" : `step ${whole(step)}`, `${utc(this.axis.time(place))} UTC`]
      .filter(Boolean)
      .join("  ·  ");
  }

  resize() {
    if (!this.scene) return;
    for (const strip of this.strips) strip.resize();
  }
}
