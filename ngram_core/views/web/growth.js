// Lesson 04: a table that doubles and one that grows in segments, in bytes to one scale.
import { el, figure } from "./dom.js";
import { inside, tableNode } from "./inside.js";
import { svgNode, svgText } from "./svg.js";

const NAMES = ["One array that doubles", "Segments of 32 entries"];

export default {
  render: ({ model, el: root }) => inside(model, root, { name: "growth", picture: pictures }),
};

function pictures() {
  const bars = el("div", { class: "rooms" });
  const chart = el("div", { class: "curve" });
  const table = el("div");
  const key = el("p", { class: "cap" }, "Dashed: peak of the array that doubles, so far; dotted: its live bytes. Solid: peak of the segments.");
  let tabled = null;
  return {
    node: el("div", { class: "growth" }, bars, chart, key, table),
    show: (_doc, here, step, _at, width) => {
      bars.replaceChildren(...step.bars.map((bar, i) => barNode(NAMES[i], bar, here.most)));
      chart.replaceChildren(lines(here, step.n, width));
      if (tabled !== here) {
        table.replaceChildren(tableNode("The same as a table", ["n-grams", "doubling: live", "peak", "segments: live", "peak"],
          here.steps.map(({ n, bars: [one, other] }) => [n, one.live, one.peak, other.live, other.peak])));
      }
      tabled = here;
    },
  };
}

function barNode(name, bar, most) {
  const block = (cls, bytes, what) => (bytes > 0
    ? el("span", { class: `block ${cls}`, style: { "flex-basis": `${(100 * bytes) / most}%` }, title: `${what}: ${figure(bytes)} bytes` }) : null);
  const now = bar.live + bar.old;
  return el("div", { class: "room" },
    el("p", {}, el("b", {}, name), `: ${figure(now)} bytes${bar.old ? " at this moment" : ""}; peak so far ${figure(bar.peak)}`),
    el("div", { class: "blocks", "aria-hidden": "true" },
      block("pair", bar.followers, "followers"), block("buckets", bar.slots, "slots"), block("gram", bar.used, "entries"),
      block("spare", bar.room, "room for more"), block("old", bar.old, "the old array"),
      el("i", { class: "peak", style: { left: `${(100 * bar.peak) / most}%` } })));
}

/** Live bytes and the peak so far, over the number of n-grams. */
function lines(here, n, width) {
  const height = 180, left = 58, right = 16, top = 12, bottom = 24;
  const last = here.lines[0].at(-1)[0];
  const x = (grams) => left + ((width - left - right) * grams) / last;
  const y = (bytes) => height - bottom - ((height - top - bottom) * bytes) / here.most;
  const svg = svgNode("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "Peak so far by number of n-grams: doubling rises in jumps, segments evenly" });
  for (const share of [0, 0.5, 1]) {
    svg.append(svgNode("line", { class: "grid", x1: left, x2: width - right, y1: y(share * here.most), y2: y(share * here.most) }),
      svgText(left - 8, y(share * here.most) + 4, `${Math.round((share * here.most) / 1000)} kB`, "end"));
  }
  svg.append(svgNode("line", { class: "cursor", x1: x(n), x2: x(n), y1: top, y2: height - bottom }));
  const path = (list, k) => list.map((point, i) => `${i ? "L" : "M"}${x(point[0]).toFixed(1)} ${y(point[k]).toFixed(1)}`).join("");
  svg.append(svgNode("path", { class: "pub live", d: path(here.lines[0], 1) }), svgNode("path", { class: "doubling", d: path(here.lines[0], 2) }), svgNode("path", { class: "own", d: path(here.lines[1], 2) }));
  svg.append(svgText(left, height - bottom + 16, "1", "start"), svgText(x(last), height - bottom + 16, `${figure(last)} n-grams`, "end"));
  return svg;
}
