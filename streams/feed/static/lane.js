// The lane above the strips: flags that say what the vertical lines are.

import { fill, make } from "./dom.js";

const ROWS = 4;
const ROW_HEIGHT = 17;
const LEAST_GAP = 8;

export class Lane {
  constructor() {
    this.root = make("div", { class: "lane" });
    this.root.append((this.flags = make("div", { class: "flags" })));
  }

  /** Put the flags over the places of a chart; those that would overlap go a row down. */
  draw(scene, chart) {
    const flags = this.wanted(scene).map((mark) => ({ mark, x: chart.valToPos(mark.place, "x") }));
    const width = chart.bbox.width / devicePixelRatio;
    const seen = flags.filter(({ x }) => x >= 0 && x <= width);
    const elements = seen.map(({ mark }) => flagOf(mark));
    fill(this.flags, elements);
    this.flags.style.marginLeft = `${chart.bbox.left / devicePixelRatio}px`;
    const ends = [];
    seen.forEach(({ x }, index) => this.place(elements[index], x, width, ends));
    this.root.style.height = `${Math.max(1, ends.length) * ROW_HEIGHT + 2}px`;
  }

  wanted(scene) {
    if (!scene.incident) return [];
    const onset = { place: scene.spanOf(scene.incident)[0], text: "onset", result: "", tone: "onset" };
    return [onset, ...scene.marks].sort((one, other) => one.place - other.place);
  }

  place(flag, x, width, ends) {
    const size = flag.offsetWidth;
    const isFlipped = x + size > width;
    const left = isFlipped ? x - size : x;
    let row = ends.findIndex((end) => end + LEAST_GAP <= left);
    if (row < 0) row = Math.min(ends.length, ROWS - 1);
    ends[row] = Math.max(ends[row] ?? 0, left + size);
    flag.classList.toggle("flipped", isFlipped);
    flag.style.left = `${left}px`;
    flag.style.top = `${row * ROW_HEIGHT}px`;
  }
}

const flagOf = (mark) =>
  make("span", { class: `flag ${mark.tone}` }, mark.text, mark.result && make("b", {}, ` ${mark.result}`));
