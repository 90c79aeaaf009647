// Lesson 08: the lines of 64 bytes that one guess touches, in order of first touch.
import { el, seen } from "./dom.js";
import { inside } from "./inside.js";

const LETTERS = { ctx: "c", dyn: "d", sta: "s" };
const NAMES = { ctx: "context", dyn: "dynamic", sta: "static" };

export default {
  render: ({ model, el: root }) => inside(model, root, { name: "lines", picture: pictures }),
};

function pictures() {
  const grid = el("ol", { class: "lines64" });
  const legend = el("p", { class: "cap" }, Object.entries(NAMES).map(([sign, name]) =>
    el("span", { class: `key64 ${sign}` }, seen(LETTERS[sign], `sq h-${sign}`), ` ${name}`)), "Empty: lines that another stage touches, and this one does not.");
  return {
    node: el("div", {}, grid, legend),
    show: (_doc, here, step) => {
      const now = new Set(step.lines);
      grid.replaceChildren(...Array.from({ length: here.most }, (_, i) => {
        const sign = here.all[i];
        if (!sign) return el("li", { class: "none", "aria-hidden": "true" });
        const cls = i >= step.seen ? "later" : now.has(i) ? "now" : "";
        return el("li", { class: `h-${sign} ${cls}`, "aria-label": `line ${i + 1}, ${NAMES[sign]}${cls ? `, ${cls}` : ""}` }, el("small", {}, i + 1), LETTERS[sign]);
      }));
    },
  };
}
