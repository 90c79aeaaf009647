// Lesson 10: tokens per pass, the price of a pass and their quotient, over the number of guesses.
import { el } from "./dom.js";
import { inside, tableNode } from "./inside.js";
import { svgNode, svgText } from "./svg.js";

const SIGNS = { y: "✓", n: "✕", b: "=" };
const VERDICTS = [["y", "it pays"], ["b", "no gain to speak of"], ["n", "slower than without"]];
const LINES = [["speeds", "speed-up"], ["tokens", "tokens per pass"], ["prices", "price of a pass"]];
const MARKS = {
  tokens: "M-4 -4h8v8h-8z", prices: "M0 -5l5 9h-10z", // squares and triangles
  y: "M0 -6a6 6 0 1 0 .01 0z", b: "M0 -6a6 6 0 1 0 .01 0z", n: "M0 -7l7 7 -7 7 -7 -7z",
};

export default {
  render: ({ model, el: root }) => inside(model, root, {
    name: "payoff",
    picture: pictures,
    ask: {
      label: "A text of your own: what the model writes. To give it a prompt, put that first and a line of --- behind it.",
      button: "Measure it", rows: 3, placeholder: "Type or paste a text here", most: 20_000,
    },
  }),
};

function pictures() {
  const about = el("p", { class: "cap" });
  const chart = el("div", { class: "curve payoff" });
  const key = el("p", { class: "key" });
  const table = el("div");
  let tabled = null;
  return {
    node: el("div", {}, about, chart, key, table),
    show: (_doc, here, _step, at, width) => {
      chart.replaceChildren(plot(here, at, width));
      if (tabled === here) return;
      about.textContent = `${here.about}. Checking: ${here.machine}.`;
      key.replaceChildren(...LINES.map(([name, label]) => el("span", { class: "one" }, sample(name, here), label)),
        ...VERDICTS.map(([verdict, label]) => el("span", { class: "one" }, sample(null, here, verdict), `${SIGNS[verdict]} ${label}`)));
      table.replaceChildren(tableNode("The same as a table", ["guesses a pass", "acceptance", "tokens per pass", "price of a pass", "speed-up"],
        here.guesses.map((n, i) => [n, here.accepted[i] === null ? "none" : `${here.accepted[i]} %`, here.tokens[i].toFixed(2), here.prices[i].toFixed(2), `${here.speeds[i].toFixed(2)} ${SIGNS[here.pays[i]]}`])));
      tabled = here;
    },
  };
}

/** Counted here: a solid line. A model, or what is made of one: a dotted line. */
const kind = (name, here) => (name === "tokens" || here.measured ? "" : "model");

/** A line of the picture for its key; or, without a line, the mark of a verdict. */
function sample(name, here, verdict) {
  const width = name ? 40 : 16;
  const svg = svgNode("svg", { viewBox: `0 -8 ${width} 16`, width, height: 16, "aria-hidden": "true" });
  if (name) svg.append(svgNode("path", { class: `line ${name} ${kind(name, here)}`, d: "M0 0H40" }));
  const mark = verdict ?? name;
  if (MARKS[mark]) svg.append(svgNode("path", { class: `mark ${mark}`, d: MARKS[mark], transform: `translate(${width / 2} 0)` }));
  return svg;
}

function plot(here, at, width) {
  const height = 280, left = 34, right = 20, top = 14, bottom = 42;
  const most = Math.max(2, ...here.tokens, ...here.prices, ...here.speeds) * 1.06;
  const last = here.guesses.at(-1);
  const x = (n) => left + ((width - left - right) * n) / last;
  const y = (value) => height - bottom - ((height - top - bottom) * value) / most;
  const svg = svgNode("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "Speed-up, tokens per pass and price of a pass over the number of guesses; the table below has the figures" });
  const stride = most > 8 ? 2 : most > 3.5 ? 1 : 0.5;
  for (let tick = 0; tick <= most; tick += stride) {
    svg.append(svgNode("line", { class: tick === 1 ? "even" : "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }), svgText(left - 8, y(tick) + 4, tick, "end"));
  }
  if (stride === 2) svg.append(svgNode("line", { class: "even", x1: left, x2: width - right, y1: y(1), y2: y(1) }));
  svg.append(svgNode("rect", { class: "here", x: x(here.guesses[at]) - 9, y: top - 6, width: 18, height: height - top - bottom + 6, rx: 4 }));
  let before = -Infinity;
  here.guesses.forEach((n) => {
    if (x(n) - before < 22) return;
    before = x(n);
    svg.append(svgText(x(n), height - bottom + 18, n, "middle"));
  });
  svg.append(svgText(left, height - 4, "guesses a pass, at most", "start"));
  for (const [name] of [...LINES].reverse()) {
    const d = here[name].map((value, i) => `${i ? "L" : "M"}${x(here.guesses[i]).toFixed(1)} ${y(value).toFixed(1)}`).join("");
    svg.append(svgNode("path", { class: `line ${name} ${kind(name, here)}`, d }));
    here[name].forEach((value, i) => {
      const mark = name === "speeds" ? here.pays[i] : name;
      svg.append(svgNode("path", { class: `mark ${mark}`, d: MARKS[mark], transform: `translate(${x(here.guesses[i]).toFixed(1)} ${y(value).toFixed(1)})` }));
    });
  }
  svg.append(svgText(width - right, y(1) + 16, "1: as fast as without", "end", "over"));
  return svg;
}
