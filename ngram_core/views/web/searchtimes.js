// Lesson 06: time of a search over the length of the list, measured here, on logarithmic axes.
import { el, figure } from "./dom.js";
import { inside, tableNode } from "./inside.js";
import { svgNode, svgText } from "./svg.js";

const TICKS = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000];
const MARKS = { classic: "M-5 -5h10v10h-10z", fixed: "M0 -6a6 6 0 1 0 .01 0z", linear: "M0 -6l6 11h-12z", simd: "M0 -7l7 7 -7 7 -7 -7z" };

export default {
  render: ({ model, el: root }) => inside(model, root, { name: "searchtimes", picture: pictures }),
};

function pictures() {
  const chart = el("div", { class: "curve times" });
  const key = el("p", { class: "key" });
  const table = el("div");
  let tabled = null;
  return {
    node: el("div", {}, chart, key, table),
    show: (_doc, here, step, at, width) => {
      chart.replaceChildren(plot(here, at, width));
      if (tabled === here) return;
      key.replaceChildren(...here.lines.map(([name]) => el("span", { class: `one ${name}` }, mark(name), name)));
      table.replaceChildren(tableNode("The same as a table", ["followers", ...here.lines.map(([name]) => `${name}, ns (middle half)`)],
        here.lengths.map((length, i) => [figure(length), ...here.lines.map(([, values]) => `${values[i][0]} (${values[i][1]} to ${values[i][2]})`)])));
      tabled = here;
    },
  };
}

function mark(name) {
  const svg = svgNode("svg", { viewBox: "-8 -8 16 16", width: 16, height: 16, "aria-hidden": "true" });
  svg.append(svgNode("path", { class: `mark ${name}`, d: MARKS[name] }));
  return svg;
}

function plot(here, at, width) {
  const height = 300, left = 66, right = 16, top = 12, bottom = 40;
  const all = here.lines.flatMap(([, values]) => values.flat());
  const low = Math.min(...all) * 0.85, high = Math.max(...all) * 1.2;
  const most = here.lengths.at(-1);
  const x = (n) => left + ((width - left - right) * Math.log(n)) / Math.log(most);
  const y = (ns) => top + ((height - top - bottom) * Math.log(high / ns)) / Math.log(high / low);
  const svg = svgNode("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "Nanoseconds a search over the length of the list, for four searches" });
  let last = Infinity;
  for (const tick of TICKS.filter((ns) => ns >= low && ns <= high)) {
    if (last - y(tick) < 18) continue;
    last = y(tick);
    svg.append(svgNode("line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }), svgText(left - 8, y(tick) + 4, `${figure(tick)} ns`, "end"));
  }
  const wide = (n) => 7 * figure(n).length; // pixels, about
  const stop = x(most) - wide(most) - 8;
  let free = -Infinity;
  here.lengths.forEach((n) => {
    const half = wide(n) / 2;
    if (n !== most && (x(n) - half < free || x(n) + half > stop)) return;
    free = x(n) + half + 8;
    svg.append(svgText(x(n), height - bottom + 18, figure(n), n === most ? "end" : "middle"));
  });
  svg.append(svgText(left, height - 4, "followers in the list", "start"));
  svg.append(svgNode("rect", { class: "here", x: x(here.lengths[at]) - 8, y: top - 6, width: 16, height: height - top - bottom + 6, rx: 4 }));
  for (const [name, values] of here.lines) {
    const d = values.map(([ns], i) => `${i ? "L" : "M"}${x(here.lengths[i]).toFixed(1)} ${y(ns).toFixed(1)}`).join("");
    svg.append(svgNode("path", { class: `line ${name}`, d }));
    values.forEach(([ns, fast, slow], i) => {
      const at = x(here.lengths[i]);
      svg.append(svgNode("line", { class: "spread", x1: at, x2: at, y1: y(fast), y2: y(slow) }),
        svgNode("path", { class: `mark ${name}`, d: MARKS[name], transform: `translate(${at.toFixed(1)} ${y(ns).toFixed(1)}) scale(0.8)` }));
    });
  }
  return svg;
}
