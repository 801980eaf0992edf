// The lane above the strips: flags that say what the vertical lines are.

import { fill, make } from "./dom.js";

const ROWS = 5;
const ROW_HEIGHT = 17;
const LEAST_GAP = 8;
// The right axis is not drawn in the lane; a flag may reach over it.
const RIGHT = 54;

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
    const taken = Array.from({ length: ROWS }, () => []);
    const room = width + RIGHT;
    const rows = seen.map(({ x }, index) => place(elements[index], x, room, taken));
    this.root.style.height = `${(Math.max(0, ...rows) + 1) * ROW_HEIGHT + 2}px`;
  }

  wanted(scene) {
    if (!scene.incident) return [];
    const onset = { place: scene.spanOf(scene.incident)[0], text: "onset", result: "", tone: "onset" };
    return [onset, ...scene.marks].sort((one, other) => one.place - other.place);
  }
}

/** Put a flag where it hides no other, to the right of its place or else to the left; gives its row. */
function place(flag, x, room, taken) {
  const size = flag.offsetWidth;
  for (const [row, spans] of taken.entries()) {
    for (const left of [x, x - size]) {
      const isInside = left >= 0 && left + size <= room;
      const isFree = spans.every(([from, to]) => left >= to + LEAST_GAP || left + size + LEAST_GAP <= from);
      if (isInside && isFree) return put(flag, left, row, left < x, spans);
    }
  }
  return put(flag, Math.max(0, Math.min(x, room - size)), ROWS - 1, false, taken.at(-1));
}

function put(flag, left, row, isFlipped, spans) {
  spans.push([left, left + flag.offsetWidth]);
  flag.classList.toggle("flipped", isFlipped);
  flag.style.left = `${left}px`;
  flag.style.top = `${row * ROW_HEIGHT}px`;
  return row;
}

const flagOf = (mark) =>
  make("span", { class: `flag ${mark.tone}` }, mark.text, mark.result && make("b", {}, ` ${mark.result}`));
