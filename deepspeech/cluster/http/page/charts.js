// Charts of figures by epoch: lines with a dot at the newest point, and a readout of the epoch under the pointer.

import { at } from "./elements.js";

const LEFT = 48, MARGIN = 14, TOP = 12, HEIGHT = 240, BOTTOM = HEIGHT - 32;
const NAMES = { train: "training", dev: "validation", test: "test" };

function svg(chart, name, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  chart.append(element);
  return element;
}

// Round numbers from below a range to above it; at most `parts` of their steps fit into it.
function ticks(low, high, parts) {
  const rough = Math.max(high - low, 1e-9) / parts, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(each => each * power).find(each => each >= rough);
  const first = Math.floor(low / step), last = Math.ceil(high / step);
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
}

function label(value, step, unit) {
  return value.toFixed(Math.max(0, Math.ceil(-Math.log10(step) - 1e-9))) + unit;
}

// Draws series of [epoch, value] pairs by their names; `format` returns a value as text, `unit` follows axis labels.
export function draw(id, series, format, unit = "") {
  const chart = at(id), width = Math.max(chart.clientWidth, 240), RIGHT = width - MARGIN;
  chart.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  chart.replaceChildren();
  const points = Object.values(series).flat();
  if (!points.length) {
    svg(chart, "text", { x: width / 2, y: HEIGHT / 2, "text-anchor": "middle" }, "after the first epoch");
    chart.onpointermove = null;
    return;
  }
  const epochs = points.map(point => point[0]), values = points.map(point => point[1]);
  const low = Math.min(...epochs), high = Math.max(...epochs, low + 1);
  const marks = ticks(Math.min(...values), Math.max(...values), 4), bottom = marks[0], top = marks[marks.length - 1];
  const x = epoch => LEFT + (RIGHT - LEFT) * (epoch - low) / (high - low);
  const y = value => BOTTOM - (BOTTOM - TOP) * (value - bottom) / (top - bottom || 1);
  for (const mark of marks) {
    svg(chart, "line", { x1: LEFT, x2: RIGHT, y1: y(mark), y2: y(mark) });
    svg(chart, "text", { x: LEFT - 8, y: y(mark) + 4, "text-anchor": "end" }, label(mark, marks[1] - marks[0] || 1, unit));
  }
  for (const epoch of ticks(low, high, 6).filter(each => Number.isInteger(each) && each >= low && each <= high))
    svg(chart, "text", { x: x(epoch), y: HEIGHT - 10, "text-anchor": "middle" }, epoch);
  for (const [name, line] of Object.entries(series)) {
    svg(chart, "polyline", { class: name, points: line.map(point => `${x(point[0])},${y(point[1])}`).join(" ") });
    for (const point of line.length === 1 ? line : line.slice(-1))
      svg(chart, "circle", { class: name, cx: x(point[0]), cy: y(point[1]), r: 3.5 });
  }
  chart.onpointermove = event => {
    const part = (event.clientX - chart.getBoundingClientRect().left - LEFT) / (RIGHT - LEFT);
    const epoch = Math.min(high, Math.max(low, Math.round(low + (high - low) * part)));
    chart.querySelector(".cursor")?.remove();
    svg(chart, "line", { class: "cursor", x1: x(epoch), x2: x(epoch), y1: TOP, y2: BOTTOM });
    readOut(chart, series, format, epoch);
  };
  readOut(chart, series, format, Math.max(...epochs));
}

function readOut(chart, series, format, epoch) {
  const told = Object.entries(series).flatMap(([name, line]) => line.filter(point => point[0] === epoch)
    .map(point => `${NAMES[name]} ${format(point[1])}`));
  at(`${chart.id}-readout`).textContent = `Epoch ${epoch}: ${told.join(", ") || "nothing measured"}`;
}
