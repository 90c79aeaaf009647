// The frame of all views of the inside: choices, steps, a sentence, and a picture that each view
// draws. It reads the document of lesson/steps.py and never asks the kernel to step.
import { el, figure, freshId, offer } from "./dom.js";
import { refuseFlood } from "./flood.js";
import { asker } from "./asker.js";

const SAVE_MS = 150; // the place is told to the kernel when the reader rests

/**
 * The view in `root`. `picture(doc)` gives { node, show(doc, case, step, at, width) }; `name` is
 * what it is called; `ask`, if given, is what can be typed: { label, button, rows, placeholder, most }, at most so many characters.
 */
export function inside(model, root, { name, picture, ask }) {
  try {
    return begun(model, root, name, picture, ask);
  } catch (error) {
    root.append(el("p", { class: "ngc trouble", role: "alert" }, `The view could not be drawn: ${error.message}`));
    throw error;
  }
}

function begun(model, root, name, picture, asked) {
  let story, doc = null;
  let chosen = [];
  let at = 0;
  let drawn = null;
  let saving = 0;

  const titleId = freshId("title");
  const title = el("h3", { id: titleId });
  const note = el("p", { class: "note" });
  const choices = el("div", { class: "choose" });
  const back = el("button", { type: "button", onclick: () => go(at - 1) }, "‹ Back");
  const next = el("button", { type: "button", class: "main", onclick: () => go(at + 1) }, "Next ›");
  const slider = el("input", { type: "range", min: "1", step: "1", "aria-label": "Step",
    oninput: () => go(slider.value - 1), onkeydown: (event) => event.stopPropagation() });
  const count = el("output", { class: "count" });
  const words = el("p", { class: "words", role: "status" });
  const stage = el("div", { class: "picture" });
  const typed = asked ? asking(asked) : null;
  const keys = el("p", { class: "keys" }, el("kbd", {}, "←"), " ", el("kbd", {}, "→"), " step · ",
    el("kbd", {}, "Home"), " ", el("kbd", {}, "End"), " · ", el("kbd", {}, "Esc"), " back to the notebook");
  const frame = el("section", { class: "ngc inside", tabindex: "0", role: "group", "aria-labelledby": titleId, "data-view": name, onkeydown: key },
    el("div", { class: "panel" },
      el("header", {}, title, note),
      choices, typed?.node,
      el("div", { class: "steps" }, el("div", { class: "btns" }, back, next), slider, count),
      words, stage, keys));
  root.append(frame);

  function read() {
    story = model.get("story");
    doc = JSON.parse(story);
    drawn = picture(doc);
    stage.replaceChildren(drawn.node);
    title.textContent = doc.title;
    note.textContent = doc.note;
    choices.replaceChildren(...doc.groups.map(([label, options], i) =>
      el("div", { class: "chips", role: "group", "aria-label": label }, el("small", {}, label),
        options.map(([text, hint], j) => el("button", { type: "button", title: hint || null,
          onclick: () => choose(i, j) }, text)))));
    choices.hidden = doc.groups.every(([, options]) => options.length < 2);
  }

  /** The case that is chosen: the last group's choices run fastest. */
  const now = () => doc.cases[doc.groups.reduce((sum, [, options], i) => sum * options.length + chosen[i], 0)];

  function choose(i, j) {
    chosen = chosen.with ? chosen.with(i, j) : chosen.map((old, k) => (k === i ? j : old));
    go(doc.keep ? at : now().start);
  }

  function go(to) {
    at = Math.max(0, Math.min(now().steps.length - 1, to));
    show();
    clearTimeout(saving);
    saving = setTimeout(save, SAVE_MS);
  }

  function save() {
    model.set("place", [...chosen, at]);
    try {
      model.save_changes();
    } catch {
      // no connection to the kernel: the page steps all the same
    }
  }

  function placed() {
    if (story !== model.get("story")) read(); // a place in it may be told first
    const place = model.get("place");
    chosen = place.slice(0, -1);
    at = Math.max(0, Math.min(now().steps.length - 1, place.at(-1)));
    show();
  }

  function told() {
    read();
    placed();
  }

  function show() {
    const here = now();
    const step = here.steps[at];
    const n = here.steps.length;
    doc.groups.forEach((_, i) => [...choices.children[i].querySelectorAll("button")].forEach((button, j) =>
      button.setAttribute("aria-pressed", String(chosen[i] === j))));
    offer(back, at > 0);
    offer(next, at < n - 1);
    frame.querySelector(".steps").hidden = n < 2;
    keys.hidden = n < 2;
    slider.max = n;
    slider.value = at + 1;
    slider.setAttribute("aria-valuetext", step.count);
    count.textContent = step.count;
    words.replaceChildren(...sayNodes(step.say));
    drawn.show(doc, here, step, at, drawn.node.clientWidth || 760);
  }

  function key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (["INPUT", "TEXTAREA", "SELECT"].includes(event.target.tagName)) return event.stopPropagation();
    const move = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: now().steps.length - 1 }[event.key];
    if (move === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    go(move);
  }

  function asking({ label, button, rows, placeholder, most }) {
    const id = freshId("ask");
    const line = el("p", { class: "line", role: "status" });
    const field = el(rows > 1 ? "textarea" : "input", { id, rows: rows > 1 ? rows : null, type: rows > 1 ? null : "text",
      placeholder, autocomplete: "off", spellcheck: "false", dir: "auto",
      onpaste: refuseFlood(most, (words) => wire.answer(false, words)), onkeydown: (event) => {
        event.stopPropagation(); // the notebook's shortcuts stay out of the field
        if (event.key !== "Enter" || (rows > 1 && !event.ctrlKey && !event.metaKey)) return;
        event.preventDefault();
        wire.send({ typed: field.value });
      } });
    const wire = asker(line, (request) => {
      if (model.comm_live === false) return false;
      try {
        model.send(request);
        return true;
      } catch {
        return false;
      }
    }, () => {});
    const take = el("button", { type: "button", onclick: () => wire.send({ typed: field.value }) }, button);
    const node = el("div", { class: "ask" }, el("label", { for: id }, label), field, take, line);
    return { node, answer: wire.answer };
  }

  const answered = ({ ok, line }) => typed?.answer(ok, line);
  model.on("change:story", told);
  model.on("change:place", placed);
  model.on("msg:custom", answered);
  told();
  let width = stage.clientWidth;
  const sizer = new ResizeObserver(() => {
    if (Math.abs(stage.clientWidth - width) < 8) return; // a scroll bar that comes and goes is no news
    width = stage.clientWidth;
    show();
  });
  sizer.observe(root);
  return () => {
    clearTimeout(saving);
    model.off("change:story", told);
    model.off("change:place", placed);
    model.off("msg:custom", answered);
    sizer.disconnect();
  };
}

const KINDS = { y: "yes", n: "no", ctx: "ctx", dyn: "dyn", sta: "sta" };

/** A sentence of lesson/steps.py; figures keep together with their signs. */
export function sayNodes(sentence) {
  return sentence.map((part) => {
    if (typeof part === "string") return part.replace(/(\d) (%|×|bytes?|ns|µs|MB)/g, "$1\u00a0$2");
    const [kind, text] = part;
    if (kind === "b") return el("b", {}, text);
    if (kind === "k") return el("span", { class: "tok" }, el("bdi", {}, text));
    return el("span", { class: KINDS[kind] }, text);
  });
}

/** A small table under a picture, for those who want figures: rows of cells, the first a heading. */
export function tableNode(summary, head, rows) {
  return el("details", { class: "figs" }, el("summary", {}, summary),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": summary, onkeydown: (event) => event.stopPropagation() },
      el("table", {}, el("thead", {}, el("tr", {}, head.map((text) => el("th", { scope: "col" }, text)))),
        el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map((cell, i) =>
          i === 0 ? el("th", { scope: "row" }, String(cell)) : el("td", {}, typeof cell === "number" ? figure(cell) : cell))))))));
}
