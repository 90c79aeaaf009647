// Lesson 05: the curve of followers on logarithmic axes, and the bytes of one 2-gram to scale.
import { el, figure } from "./dom.js";
import { inside, tableNode } from "./inside.js";
import { svgNode, svgText } from "./svg.js";

const FLOOR = 1e-4; // the lowest share shown
const TICKS = [1, 0.1, 0.01, 0.001, 0.0001];
const COLUMNS = [1, 2, 4, 8, 16, 33];

export default {
  render: ({ model, el: root }) => inside(model, root, {
    name: "followers",
    picture: pictures,
    ask: { label: "Count a text of your own", button: "Count it", rows: 2, placeholder: "Type or paste a text here", most: 200_000 },
  }),
};

function pictures(doc) {
  const chart = el("div", { class: "curve", role: "img" });
  const bytes = el("div", { class: "rooms" });
  const summary = el("p", { class: "cap sum" });
  const table = el("div");
  let tabled = null;
  return {
    node: el("div", {}, chart, bytes, summary, table),
    show: (_doc, here, step, _at, width) => {
      chart.setAttribute("aria-label", `Share of 2-grams by number of followers: ${here.name}, beside the published one`);
      chart.replaceChildren(curve(doc, here, step.k, width));
      bytes.replaceChildren(...roomNodes(doc, step.k));
      summary.textContent = here.summary;
      if (tabled !== here) table.replaceChildren(figures(doc, here));
      tabled = here;
    },
  };
}

function figures(doc, here) {
  return tableNode("The same as a table", ["followers", "2-grams", "share", "published", "bytes, map in a map", "bytes, array"],
    here.counts.map((count, i) => [i + 1 === here.counts.length ? `${i + 1} or more` : i + 1, count,
      share(count / here.total), share(doc.published[i]), doc.rooms[i][0].slice(0, 3).reduce(add), doc.rooms[i][1].slice(0, 3).reduce(add)]));
}

const add = (a, b) => a + b;
const share = (x) => (x === 0 ? "0 %" : `${(100 * x).toPrecision(x < 0.001 ? 1 : 3)} %`);

function curve(doc, here, k, width) {
  const height = 240;
  const left = 58, right = 16, top = 12, bottom = 40;
  const most = here.counts.length;
  const x = (n) => left + ((width - left - right) * Math.log(n)) / Math.log(most);
  const y = (s) => top + ((height - top - bottom) * Math.log(Math.max(s, FLOOR))) / Math.log(FLOOR);
  const svg = svgNode("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" });
  for (const tick of TICKS) {
    svg.append(svgNode("line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
      svgText(left - 8, y(tick) + 4, tick >= 0.01 ? `${100 * tick} %` : tick === 0.001 ? "0.1 %" : "0.01 %", "end"));
  }
  for (const n of COLUMNS.filter((n) => width > 320 || n !== 16)) svg.append(svgText(x(n), height - bottom + 18, n === most ? `${n}+` : String(n), n === most ? "end" : "middle"));
  svg.append(svgText(left, height - 4, "followers of a 2-gram", "start"));
  svg.append(svgNode("rect", { class: "here", x: x(k) - 7, y: top - 6, width: 14, height: height - top - bottom + 6, rx: 4 }));
  line(svg, doc.published, x, y, k, "pub");
  line(svg, here.counts.map((count) => count / here.total), x, y, k, "own");
  legend(svg, width - right - 24);
  return svg;
}

/** Both curves fall, so the upper right is free, but for the mark of the last step. */
function legend(svg, x) {
  [["counted here", "own", 14], ["published", "pub", 34]].forEach(([text, cls, y]) => {
    svg.append(svgNode("circle", { class: cls, cx: x - 96, cy: y + 4, r: 4.5 }), svgText(x - 84, y + 8, text, "start", cls));
  });
}

function line(svg, shares, x, y, k, cls) {
  let path = "";
  shares.forEach((s, i) => {
    if (s > 0) path += `${path && shares[i - 1] > 0 ? "L" : "M"}${x(i + 1).toFixed(1)} ${y(s).toFixed(1)}`;
  });
  svg.append(svgNode("path", { class: cls, d: path }));
  shares.forEach((s, i) => {
    if (s > 0) svg.append(svgNode("circle", { class: cls, cx: x(i + 1), cy: y(s), r: i + 1 === k ? 6 : 3.5 }));
  });
}

/** The memory of one 2-gram, both structures to one scale: as many bytes, as long. */
function roomNodes(doc, k) {
  const [maps, arrays] = doc.rooms[k - 1];
  const most = doc.rooms.at(-1)[0].slice(0, 3).reduce(add);
  const wide = (bytes) => ({ "flex-basis": `${(100 * bytes) / most}%` });
  const block = (cls, bytes, title) => el("span", { class: `block ${cls}`, style: wide(bytes), title });
  const row = (name, [ngram, index, pairs, pieces, withMalloc], blocks) => {
    const total = ngram + index + pairs;
    const figures = [el("b", {}, `${figure(total)} bytes`), ` in ${pieces} piece${pieces === 1 ? "" : "s"} of memory`,
      name === "array" ? " besides the entry, which lies among others" : "", `; ${figure(withMalloc)} with malloc’s own part`];
    return el("div", { class: "room" }, el("p", {}, el("b", {}, name), ": ", figures), el("div", { class: "blocks", "aria-hidden": "true" }, blocks));
  };
  const used = 8 * k;
  return [
    el("h4", {}, `One 2-gram with ${k} follower${k === 1 ? "" : "s"}, to scale`),
    row("map in a map", maps, [block("gram", maps[0], `node of the 2-gram: ${maps[0]} bytes`),
      block("buckets", maps[1], `buckets: ${maps[1]} bytes`),
      ...Array.from({ length: k }, () => block("pair", maps[2] / k, `node of a follower: ${maps[2] / k} bytes`))]),
    row("array", arrays, [block("gram", arrays[0], `entry of the 2-gram: ${arrays[0]} bytes`),
      block("pair solid", used, `followers: ${used} bytes`),
      arrays[2] > used ? block("spare", arrays[2] - used, `room to grow: ${arrays[2] - used} bytes`) : null]),
    el("p", { class: "cap" }, "Pale: key and where to go. Hatched: buckets. ", "Solid: followers, token and count; 8 bytes each, and 8 more in a map’s node for the way to the next one.",
      " Dotted: room to grow. malloc’s own part is a model of glibc’s; the rest is what its counter says."),
  ];
}
