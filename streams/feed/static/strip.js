// One strip: a chart with its own legend, drawn on the axis that all strips share.

import uPlot from "./vendor/uplot/uPlot.esm.js";
import { fill, make } from "./dom.js";
import { label, reading, short, utc, whole } from "./words.js";

const SIDE = 54;
const BOTTOM = 22;
const SYNC = uPlot.sync("strips");
const COLOURS = 6;
const NEAR = 60;
const SHORT_SECONDS = 300;
const LONG_SECONDS = 86400;
const FROM_ZERO = /_share$|_util$|^iowait$|_per_second$|_latency_seconds$/;
// Smallest range shown, as a share of the level: the loss is read finely, the gradient norm is noisy by nature.
const LEAST_RANGE = { loss: 0.08, valid_loss: 0.08, grad_norm: 0.8 };
// And in the signal's own unit: less than this is noise to an operator.
const LEAST_UNITS = [[/_share$|_util$|^iowait$/, 0.06], [/_retries_|_errors_/, 2], [/_latency_seconds$/, 0.01]];

export class Strip {
  /**
   * view: {min, max} of the shared axis, read at every drawing; axis: how places are told;
   * handlers.zoom(min, max), handlers.toggle(strip, name), handlers.moved(place or null), handlers.drawn(chart).
   */
  constructor(strip, handlers) {
    this.strip = strip;
    this.handlers = handlers;
    this.legend = make("div", { class: "legend" });
    this.plot = make("div", { class: "plot" });
    this.root = make("div", { class: "strip", "data-strip": strip.id }, this.legend, this.plot);
    this.chart = null;
  }

  /** Draw everything anew: signals, colours, size or axis have changed. */
  build(scene, signals, shown, isLast) {
    this.scene = scene;
    this.signals = signals;
    this.shown = shown;
    this.chart?.destroy();
    this.layOut();
    const height = Math.max(72, this.plot.clientHeight || 0);
    this.chart = new uPlot(this.options(isLast, this.plot.clientWidth || 600, height), this.data, this.plot);
    this.plot.classList.toggle("empty", !shown.length);
    this.plot.dataset.note = signals.length ? "nothing chosen" : "nothing reported";
    this.tell(null);
  }

  /** Draw new points of the same signals. */
  update(scene) {
    this.scene = scene;
    this.layOut();
    this.chart.setData(this.data, false);
    this.chart.setScale("x", scene.view);
    this.tell(this.chart.cursor.idx ?? null);
  }

  /** The signal named first is drawn last, on top of the others. */
  layOut() {
    this.drawn = [...this.shown].reverse();
    Object.assign(this, this.scene.layOut(this.drawn));
  }

  colour(signal) {
    return this.scene.theme.lines[this.shown.indexOf(signal) % COLOURS];
  }

  resize() {
    this.chart?.setSize({ width: this.plot.clientWidth, height: Math.max(72, this.plot.clientHeight) });
  }

  options(isLast, width, height) {
    const theme = this.scene.theme;
    return {
      width,
      height,
      padding: [8, 0, isLast ? 0 : 4, 0],
      legend: { show: false },
      cursor: {
        sync: { key: SYNC.key, setSeries: false },
        drag: { x: true, y: false, setScale: false },
        points: { size: 6, width: 1.5, fill: theme.panel },
        y: false,
      },
      scales: this.scales(),
      series: [{}, ...this.drawn.map((signal, index) => this.series(signal, index))],
      axes: [this.xAxis(isLast), this.yAxis(0, 3), this.yAxis(1, 1)],
      hooks: {
        drawClear: [(u) => this.scene.drawBehind(u)],
        draw: [(u) => this.drawOver(u), (u) => this.handlers.drawn(u)],
        setSelect: [(u) => this.selected(u)],
        setCursor: [(u) => this.tell(u.cursor.idx ?? null, u.cursor.left >= 0 ? u.posToVal(u.cursor.left, "x") : null)],
      },
    };
  }

  scales() {
    const scales = { x: { time: !this.scene.axis.isSteps, range: () => [this.scene.view.min, this.scene.view.max] }, none: { range: [0, 1] } };
    this.shown.forEach((signal) => {
      scales[signal.name] = { range: (_, min, max) => calmRange(signal.name, min, max) };
    });
    return scales;
  }

  series(signal, index) {
    const { sparse } = this.parts[index];
    const colour = this.colour(signal);
    return {
      label: signal.name,
      scale: signal.name,
      stroke: colour,
      width: 1.5,
      paths: sparse ? () => null : undefined,
      points: sparse ? { show: true, size: 7, fill: colour, stroke: colour } : { show: false },
      spanGaps: false,
    };
  }

  xAxis(isLast) {
    const theme = this.scene.theme;
    const isSteps = this.scene.axis.isSteps;
    return {
      stroke: theme.quiet,
      font: theme.font,
      grid: { stroke: theme.grid, width: 1 },
      ticks: { show: false },
      size: isLast ? BOTTOM : 0,
      space: 90,
      values: (u, places) => places.map((place) => (isLast ? placeMark(place, isSteps, u.scales.x) : "")),
    };
  }

  yAxis(index, side) {
    const theme = this.scene.theme;
    const signal = this.shown[index];
    const scale = signal?.name ?? this.shown[0]?.name ?? "none";
    return {
      side,
      scale,
      size: SIDE,
      space: 24,
      stroke: signal ? this.colour(signal) : theme.quiet,
      font: theme.font,
      grid: { show: index === 0 && Boolean(signal), stroke: theme.grid, width: 1 },
      ticks: { show: false },
      gap: 6,
      values: (_, places) => (signal ? places.map((place) => axisMark(signal.name, place)) : places.map(() => "")),
    };
  }

  /** Dashed: the level before the onset. Crosses at the top: readings that were not finite. */
  drawOver(u) {
    const { ctx, bbox } = u;
    const ratio = devicePixelRatio;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    this.parts.forEach((part, index) => {
      const signal = this.drawn[index];
      ctx.strokeStyle = this.colour(signal);
      ctx.lineWidth = ratio;
      if (part.level != null && this.shown.indexOf(signal) < 2) {
        const y = Math.round(u.valToPos(part.level, signal.name, true)) + 0.5;
        ctx.globalAlpha = 0.55;
        ctx.setLineDash([4 * ratio, 5 * ratio]);
        line(ctx, bbox.left, y, bbox.left + bbox.width, y);
        ctx.setLineDash([]);
        ctx.globalAlpha = 1;
      }
      ctx.lineWidth = 2 * ratio;
      for (const place of part.lost) cross(ctx, u.valToPos(place, "x", true), bbox.top + 7 * ratio, 4 * ratio);
    });
    ctx.restore();
    this.scene.drawMarks(u);
  }

  selected(u) {
    if (u.select.width < 4) return;
    const min = u.posToVal(u.select.left, "x");
    const max = u.posToVal(u.select.left + u.select.width, "x");
    u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.handlers.zoom(min, max);
  }

  /** Say the values at the cursor, or the latest ones; every signal is a switch. */
  tell(index, place = null) {
    const last = this.data[0].length - 1;
    const rows = this.signals.map((signal) => {
      const at = this.drawn.indexOf(signal);
      return { signal, isShown: at >= 0, text: at < 0 ? "" : this.valueAt(at, index ?? last) };
    });
    if (this.legend.childElementCount === rows.length + 1) this.refresh(rows);
    else this.write(rows);
    this.handlers.moved(place);
  }

  valueAt(at, index) {
    const { lost, sparse } = this.parts[at];
    if (lost.includes(this.data[0][index])) return "not finite";
    return reading(this.drawn[at].name, nearest(this.data[at + 1], index, sparse));
  }

  write(rows) {
    const toggles = rows.map(({ signal }) =>
      make(
        "button",
        { type: "button", class: "signal", "data-signal": signal.name, onclick: () => this.handlers.toggle(this.strip, signal.name) },
        make("span", { class: "swatch", "aria-hidden": "true" }),
        make("span", { class: "signal-name" }, label(signal.name)),
        make("span", { class: "signal-value numbers" }),
      ),
    );
    fill(this.legend, make("h3", {}, this.strip.title), toggles);
    this.refresh(rows);
  }

  refresh(rows) {
    rows.forEach(({ signal, isShown, text }, index) => {
      const button = this.legend.children[index + 1];
      button.setAttribute("aria-pressed", String(isShown));
      button.title = `${signal.name}${signal.kind === "step" ? "" : ` (${signal.kind})`}`;
      button.children[0].style.background = isShown ? this.colour(signal) : "";
      button.children[1].textContent = label(signal.name);
      button.children[2].textContent = text;
    });
  }
}

/** A range that does not blow up noise: a flat signal stays flat, shares and rates begin at zero. */
function calmRange(name, min, max) {
  if (min == null || max == null) return [0, 1];
  const middle = (min + max) / 2;
  const units = LEAST_UNITS.find(([names]) => names.test(name))?.[1] ?? 1e-9;
  const least = Math.max(Math.abs(middle) * (LEAST_RANGE[name] ?? 0.25), units);
  const half = (Math.max(max - min, least) / 2) * 1.12;
  const isFromZero = min >= 0 && (middle - half < 0 || (FROM_ZERO.test(name) && min < max * 0.6));
  return [isFromZero ? 0 : middle - half, middle + half];
}

function placeMark(place, isSteps, { min, max }) {
  if (isSteps) return Number.isInteger(place) ? whole(place) : "";
  const clock = utc(place).slice(-8);
  if (max - min > LONG_SECONDS) return utc(place).slice(0, -3);
  return max - min < SHORT_SECONDS ? clock : clock.slice(0, 5);
}

function axisMark(name, place) {
  const text = reading(name, place);
  return text.length > 8 ? short(place) : text;
}

/** The value at an index or the closest one; of a signal that comes rarely the last one before. */
function nearest(column, index, isRare) {
  for (let away = 0; away < (isRare ? column.length : NEAR); away++) {
    if (column[index - away] != null) return column[index - away];
    if (!isRare && column[index + away] != null) return column[index + away];
  }
  return null;
}

function line(ctx, x0, y0, x1, y1) {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}

function cross(ctx, x, y, size) {
  line(ctx, x - size, y - size, x + size, y + size);
  line(ctx, x - size, y + size, x + size, y - size);
}
