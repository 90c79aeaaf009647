// Lesson 06: searches side by side. A list is drawn as its cache lines, eight followers a row.
import { el } from "./dom.js";
import { inside } from "./inside.js";

const PER_LINE = 8;
// The loops of csrc/ngc_slice.h, as they are.
const CODE = {
  lower_bound: "while (length > 0) {\n  half = length / 2;\n  if (a[first + half] < key) {\n    first += half + 1;\n    length -= half + 1;\n  } else length = half;\n}",
  fixed: "while (length > 1) {\n  half = length / 2;\n  base += half &\n    mask(a[base + half] < key);\n  length -= half;\n}\nposition = base + (a[base] < key);",
  linear: "while (i < length\n       && a[i] < key) {\n  i += 1;\n}\n\n\n",
};

export default {
  render: ({ model, el: root }) => inside(model, root, { name: "search", picture: pictures }),
};

function pictures() {
  const node = el("div", { class: "searches" });
  return {
    node,
    show: (_doc, here, step, at) => node.replaceChildren(...here.searches.map((search, i) => pane(here, search, step.done[i], step.left[i], at, step.done[i] === search.compared.length && at >= search.compared.length))),
  };
}

function pane(here, search, done, left, at, over) {
  const visits = new Map(); // position -> the comparisons made there
  search.compared.slice(0, done).forEach(([position], i) => visits.set(position, [...(visits.get(position) ?? []), i + 1]));
  const now = over ? -1 : search.compared[done - 1][0];
  const read = new Set([...visits.keys()].map((position) => Math.floor(position / PER_LINE)));
  const end = over && search.final != null ? search.final : -1;
  if (end >= 0) read.add(Math.floor(end / PER_LINE));
  const rows = [];
  for (let start = 0; start < here.ids.length; start += PER_LINE) {
    const line = start / PER_LINE;
    rows.push(el("li", { class: read.has(line) ? "read" : "" }, here.ids.slice(start, start + PER_LINE).map((id, j) => {
      const position = start + j;
      const out = !over && (position < left[0] || position >= left[1]);
      const cls = [position === now ? "now" : "", visits.has(position) ? "seen" : "", out ? "out" : "",
        position === end ? (search.found ? "found" : "missed") : ""].join(" ");
      return el("span", { class: `cell ${cls}`, title: here.words[position] }, String(id),
        visits.has(position) ? el("sup", { class: "badge" }, visits.get(position).join(",")) : null);
    })));
  }
  const steps = `${done} comparison${done === 1 ? "" : "s"}${over ? ", done" : ""} · ${read.size} cache line${read.size === 1 ? "" : "s"}`;
  return el("div", { class: "pane" }, el("p", { class: "pane-head" }, el("b", {}, search.title), el("small", {}, steps)),
    el("pre", {}, CODE[search.name]), el("ol", { class: "lines" }, rows),
    over ? el("p", { class: "cap" }, search.found ? el("span", { class: "yes" }, "✓ found") : el("span", { class: "no" }, "✕ not there"),
      search.final == null ? ": past the end" : search.found ? "" : `: ${here.ids[search.final]} stands where it would be`) : null);
}
