// Lesson 08: one row of followers, its largest count against the thresholds, then its scores.
import { el, seen, spoken } from "./dom.js";
import { inside } from "./inside.js";

export default {
  render: ({ model, el: root }) => inside(model, root, { name: "check", picture: pictures }),
};

function pictures() {
  const node = el("div", { class: "checkrow" });
  return { node, show: (_doc, _here, step) => node.replaceChildren(...(step.list ? summary(step) : row(step))) };
}

function row({ sign, cache, n, gram, sum, share, checked, followers }) {
  const [total, least] = sum;
  const [largest, needed, percent] = share;
  return [
    el("div", { class: "what" }, el("span", { class: `${sign}` }, `${cache} n = ${n}`), " ", el("span", { class: "tok" }, el("bdi", {}, gram))),
    el("div", { class: `tests h-${sign}` },
      test("seen often enough?", `F = ${total}`, total >= least, `${least}`),
      test("can anybody be sure enough?", `100 × largest = ${largest}`, largest >= needed, `${percent} × ${total} = ${needed}`)),
    el("div", { class: `fols h-${sign} ${checked ? "skipped" : ""}` },
      el("div", { class: "head", "aria-hidden": "true" }, el("span", {}, "follower"), el("span", {}, `count, of ${total}`), el("span", {}, checked ? "" : "count × weight")),
      followers.map(([word, count, weight, best, top]) => el("div", { class: `fol1${top ? " top" : ""}${best ? " best" : ""}` },
        el("span", { class: "t" }, el("bdi", {}, word), best ? spoken(", wins") : ""),
        el("span", { class: "bar" }, el("i", { style: { width: `${(100 * count) / total}%` } }), el("s", { style: { left: `${Math.min(percent, 100)}%` } }), el("b", {}, count, top ? spoken(", the largest") : "")),
        el("span", { class: "f" }, weight === null ? "not scored" : `${count} × ${weight} = ${count * weight}`)))),
    el("p", { class: "cap" }, `The line in the bars stands at ${percent} %. ${checked ? "No bar reaches it, or the row was seen too rarely: whatever the weights, nobody can win and pass." : "The largest bar reaches it; who wins is for the weights to say."}`),
  ];
}

function test(question, left, good, right) {
  return el("div", { class: `test ${good ? "yes" : "no"}` }, el("small", {}, question),
    el("span", {}, `${left} ${good ? "≥" : "<"} ${right} `, el("b", { class: good ? "yes" : "no" }, good ? "✓ yes" : "✕ no")));
}

function summary({ list }) {
  const longest = Math.max(...list.map(([, n]) => n));
  return [el("div", { class: "fols" }, list.map(([name, n, skipped, sign]) => el("div", { class: `fol1 h-${sign} ${skipped ? "skipped" : "top"}` },
    el("span", { class: `t ${sign}` }, name),
    el("span", { class: "bar" }, el("i", { style: { width: `${(100 * n) / longest}%` } }), el("b", {}, n)),
    el("span", { class: "f" }, skipped ? "not scored" : "scored", seen(skipped ? " ✕" : " ✓")))))];
}
