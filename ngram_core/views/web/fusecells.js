// The cells of a fuse map, in its three segments: what stands in each, and which is in hand.
import { el, seen } from "./dom.js";

/**
 * Three groups of cells. `press(cell)` makes them buttons, one stop for Tab, with the arrow keys
 * between them. Returns the node and `show(cell => ({ text, small, cls, label }))`.
 */
export function cellGrid(doc, press) {
  const cells = [];
  const make = (number) => {
    const text = el("span", { class: "in" });
    const small = el("small", {});
    const node = el(press ? "button" : "div", {
      class: "cell", type: press ? "button" : null, tabindex: press ? (number ? -1 : 0) : null,
      onclick: press ? () => { stop(number); press(number); } : null,
    }, seen(number, "at"), text, small);
    cells.push({ node, text, small });
    return node;
  };
  const segments = [];
  for (let first = 0; first < doc.n_cells; first += doc.segment) {
    const number = segments.length + 1;
    segments.push(el("div", { class: "segment", role: "group", "aria-label": `Segment ${number}` },
      seen(`segment ${number}`, "name"),
      el("div", { class: "cells" }, Array.from({ length: doc.segment }, (_, i) => make(first + i)))));
  }
  const node = el("div", { class: "segments3", onkeydown: press ? arrows : null }, segments);

  function stop(number) {
    cells.forEach(({ node: cell }, i) => press && cell.setAttribute("tabindex", i === number ? 0 : -1));
  }

  /** By where the cells are drawn, since rows differ with the width. */
  function arrows(event) {
    const at = cells.findIndex((cell) => cell.node === document.activeElement);
    if (at < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const boxes = cells.map((cell) => cell.node.getBoundingClientRect());
    const columns = Math.max(1, boxes.filter((box) => Math.abs(box.top - boxes[0].top) < 4).length);
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
    const to = { Home: 0, End: cells.length - 1 }[event.key] ?? (by && at + by);
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (!cells[to]) return;
    stop(to);
    cells[to].node.focus();
  }

  return {
    node,
    show: (state) => cells.forEach((cell, i) => {
      const { text, small, cls, label } = state(i);
      cell.text.textContent = text ?? "";
      cell.small.textContent = small ?? "";
      cell.node.className = `cell ${cls ?? ""}`;
      cell.node.setAttribute("aria-label", label);
      if (!press) cell.node.setAttribute("role", "img");
    }),
  };
}

/** "A", "A and B", "A, B and C". */
export const listed = (names) =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
