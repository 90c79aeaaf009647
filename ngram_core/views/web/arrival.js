// Lesson 05: followers come in one by one, into an array by id and into a map as its library has it.
import { el } from "./dom.js";
import { inside } from "./inside.js";

export default {
  render: ({ model, el: root }) => inside(model, root, { name: "arrival", picture: pictures }),
};

function pictures() {
  const array = el("ol", { class: "cells" });
  const map = el("ol", { class: "cells" });
  return {
    node: el("div", { class: "arrival" }, el("h4", {}, "Array: ascending ids"), array, el("h4", {}, "Map: the order in which its list is walked"), map),
    show: (_doc, _here, step) => {
      const at = step.array.findIndex(([token]) => token === step.token);
      const free = Array.from({ length: step.room - step.array.length }, () => el("li", { class: "free", "aria-hidden": "true" }, " "));
      array.replaceChildren(...step.array.map(([token, word], i) => cell(token, word, i === at, i > at)), ...free);
      map.replaceChildren(...step.map.map(([token, word]) => cell(token, word, token === step.token, false)));
    },
  };
}

function cell(token, word, isNew, moved) {
  const says = isNew ? "new" : moved ? "moves" : "";
  return el("li", { class: isNew ? "new" : moved ? "moved" : "" }, el("bdi", {}, word), el("small", {}, String(token)),
    el("em", {}, isNew ? "new" : moved ? "→" : ""), says === "moves" ? el("span", { class: "vh" }, " moves") : null);
}
