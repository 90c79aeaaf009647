// The numbers of the rule, to be moved, and what they change beside llama.cpp's own.
import { el, figure } from "./dom.js";
import { asker } from "./asker.js";

const REST_MS = 250; // a number is sent when the reader rests
const LADDERS = [["context", "ctx", "lax"], ["dynamic", "dyn", "strict"], ["static", "sta", "alone, last"]];
const KINDS = [["sum", "a", "seen at least"], ["percent", "p", "share, % at least"]];

/**
 * The panel. `ask(request)` as in editor.js, `go(i)` moves the Stepper. Returns the node,
 * `fill(rule)` with the numbers in force, `compare(document)` with what they change (see
 * comparison.py), `show(at)` and `answer(ok, line)`.
 */
export function thresholds(choices, ask, go) {
  let rule = choices.rule;
  let timer = 0;
  const fields = [];

  const groups = LADDERS.map(([cache, ink, how]) => group(cache, ink, how));
  const back = el("button", { type: "button", onclick: reset }, "Back to llama.cpp’s numbers");
  const line = el("p", { class: "line", role: "status" });
  const rows = el("tbody");
  const table = el("table", { class: "texts" },
    el("caption", {}, "With these numbers, and with llama.cpp’s (the tick, and the figures after “was”)"),
    el("thead", {}, el("tr", {}, ["Text", "Accepted", "Guesses right", "Tokens a pass"].map((name) => el("th", { scope: "col" }, name)))),
    rows);
  const places = el("p", { class: "places" });
  const node = el("section", { class: "panel numbers", "aria-label": "Thresholds and weight" },
    el("header", {}, el("h3", {}, "Thresholds and weight"), el("p", {}, "the numbers of the rule: change one, or use ↑ and ↓ in it"), back),
    el("div", { class: "groups" }, groups), line, places, table);
  const { send, answer } = asker(line, ask, () => put(true));

  function group(cache, ink, how) {
    const ns = cache === "static" ? [2] : [1, 2, 3, 4];
    const head = [el("span"), ...ns.map((n) => el("span", { class: "n", "aria-hidden": "true" }, `n = ${n}`))];
    const kinds = KINDS.flatMap(([kind, letter, what]) => [
      el("span", { class: "what", "aria-hidden": "true" }, el("b", {}, letter), ` ${what}`),
      ...ns.map((n) => field(`${cache}_${kind}`, cache === "static" ? null : n - 1, choices.most[letter],
        `${cache}, n = ${n}: ${what}`)),
    ]);
    const weight = cache === "static" ? [el("span", { class: "what", "aria-hidden": "true" }, el("b", {}, "×"), " weight of a static count"),
      field("weight", null, choices.most.weight, "weight of a static count; 0 switches it off")] : [];
    return el("fieldset", { class: `grp-${ink}` },
      el("legend", {}, el("span", { class: ink }, cache), el("small", {}, ` ${how}`)),
      el("div", { class: `grid of-${ns.length}` }, head, kinds, weight));
  }

  function field(name, index, most, label) {
    const input = el("input", { type: "number", min: "0", max: most, step: "1", inputmode: "numeric", "aria-label": label,
      oninput: later, onchange: later, onblur: () => timer || put(true) });
    const was = el("small", { class: "was" });
    fields.push({ name, index, input, was, most, label });
    return el("span", { class: "num" }, input, was);
  }

  const valueIn = (numbers, { name, index }) => (index == null ? numbers[name] : numbers[name][index]);

  function later() {
    clearTimeout(timer);
    timer = setTimeout(submit, REST_MS);
  }

  /** All numbers as they stand in the fields; one that is none stays as it is in force. */
  function submit() {
    clearTimeout(timer);
    timer = 0;
    const wanted = structuredClone(rule);
    for (const part of fields) {
      const value = Number(part.input.value);
      if (part.input.value.trim() === "") continue; // still being typed
      if (!Number.isInteger(value) || value < 0 || value > part.most) {
        return answer(false, `${part.label}: a whole number from 0 to ${figure(part.most)}. Nothing was changed.`);
      }
      if (part.index == null) wanted[part.name] = value;
      else wanted[part.name][part.index] = value;
    }
    if (JSON.stringify(wanted) !== JSON.stringify(rule)) send({ rule: wanted });
    else put(); // a field left empty shows what is in force again
  }

  function reset() {
    clearTimeout(timer);
    timer = 0;
    if (back.getAttribute("aria-disabled") === "true") return;
    send({ rule: choices.rule });
  }

  /** Show the numbers in force; the field that the reader is in keeps what is typed, unless `all`. */
  function put(all = false) {
    let changed = false;
    for (const part of fields) {
      const now = valueIn(rule, part);
      const then = valueIn(choices.rule, part);
      const typing = part.input === part.input.getRootNode().activeElement;
      if (all || !typing) part.input.value = now;
      part.input.classList.toggle("moved", now !== then);
      part.was.replaceChildren(...(now === then ? [] : [`was ${figure(then)}`]));
      changed ||= now !== then;
    }
    back.setAttribute("aria-disabled", String(!changed)); // it keeps the focus when it has done its work
  }

  function fill(numbers) {
    const others = JSON.stringify(numbers) !== JSON.stringify(rule);
    rule = numbers;
    if (!timer) put(others && !fields.some((part) => Number(part.input.value) === valueIn(numbers, part) && part.input.matches(":focus")));
  }

  function compare(doc) {
    line.className = "line";
    line.textContent = doc.line;
    rows.replaceChildren(...doc.rows.map(([title, now, then]) => row(title, now, then)));
    places.hidden = !doc.places.length;
    places.replaceChildren(
      el("small", {}, "Drafted otherwise:"),
      ...doc.places.map(([at, label, hint]) => el("button", { type: "button", value: at, title: hint, "aria-pressed": "false", onclick: () => go(at) }, label)),
      ...(doc.more ? [el("small", {}, `and ${figure(doc.more)} more`)] : []),
      el("small", { class: "hint" }),
    );
  }

  function show(at) {
    let hint = "";
    for (const button of places.querySelectorAll("button")) {
      const here = Number(button.value) === at;
      button.setAttribute("aria-pressed", String(here));
      if (here) hint = button.title;
    }
    const said = places.querySelector(".hint");
    if (said) said.textContent = hint;
  }

  return { node, fill, compare, show, answer };
}

function row(title, now, then) {
  const [drafted, accepted, passes, tokens] = now;
  const [drafted0, accepted0, passes0, tokens0] = then;
  const share = (part, whole) => (whole ? (100 * part) / whole : null);
  const percent = (x) => (x == null ? "–" : `${Math.round(x)} %`);
  const mine = share(accepted, drafted), theirs = share(accepted0, drafted0);
  const bar = el("span", { class: "share", "aria-hidden": "true" },
    el("i", { style: { width: `${mine ?? 0}%` } }), theirs == null ? null : el("s", { style: { left: `${theirs}%` } }));
  const was = (before, after) => (before === after ? null : el("small", {}, ` was ${before}`));
  const of = (hits, all) => `${figure(hits)} of ${figure(all)}`;
  const rate = (all, by) => (by ? (all / by).toFixed(2) : "–");
  const cell = (name, ...inside) => el("td", { "data-name": name }, ...inside);
  return el("tr", {}, el("th", { scope: "row" }, title),
    cell("Accepted", bar, el("b", {}, percent(mine)), was(percent(theirs), percent(mine))),
    cell("Guesses right", of(accepted, drafted), was(of(accepted0, drafted0), of(accepted, drafted))),
    cell("Tokens a pass", rate(tokens, passes), was(rate(tokens0, passes0), rate(tokens, passes))));
}
