// What is drafted: an example or a text of the reader's own, which caches, how many guesses.
import { el, figure, freshId } from "./dom.js";
import { asker } from "./asker.js";
import { refuseFlood } from "./flood.js";

const CACHES = [["context", "ctx"], ["dynamic", "dyn"], ["static", "sta"]];
const GUESSES = [1, 2, 3, 4, 6, 8, 12, 16];

/**
 * The set-up bar and the editor below it. `ask(request)` sends a request to the kernel and
 * returns false if that is not possible. Returns the node, `fill(inputs)` to show the inputs
 * in force, and `answer(ok, line)` for the kernel's reply.
 */
export function editor(choices, ask) {
  let inputs = {};
  const id = (name) => freshId(name);

  const pick = el("select", { id: id("pick"), onchange: () => pick.value && send({ example: pick.value }) },
    choices.examples.map(([name, title]) => el("option", { value: name }, title)),
    el("option", { value: "" }, "Your own text"));
  const edit = el("button", { type: "button", "aria-expanded": "false", onclick: toggle }, "Edit text");
  const boxes = CACHES.map(([name, ink]) => {
    const box = el("input", { type: "checkbox", onchange: () => send({ [name]: box.checked }) });
    return { name, box, node: el("label", { class: ink }, box, name) };
  });
  const guesses = el("select", { id: id("guesses"), onchange: () => send({ n_draft: Number(guesses.value) }) },
    GUESSES.map((n) => el("option", { value: n }, String(n))));
  const bar = el("div", { class: "setup" },
    el("span", { class: "field" }, el("label", { for: pick.id }, "Text"), pick, edit),
    el("fieldset", { class: "field caches" }, el("legend", {}, "Caches"), boxes.map((box) => box.node)),
    el("span", { class: "field" }, el("label", { for: guesses.id }, "Guesses a pass"), guesses));

  const watch = el("p", { class: "watch" });
  const line = el("p", { class: "line", role: "status" });

  const text = area("text", "The text: it plays the model", 6, "Type or paste a text here");
  const earlier = area("earlier", "An earlier text, behind the dynamic cache", 3, "May be empty");
  const corpus = area("corpus", "A corpus, behind the static cache", 3, "May be empty");
  const tokens = el("select", { id: id("tokens") },
    choices.tokenizers.map(([name, title]) => el("option", { value: name }, title)));
  const size = el("small", { class: "size" });
  const make = el("button", { type: "button", class: "main", onclick: submit }, "Draft this text");
  const form = el("div", { class: "edit", hidden: true },
    text.node,
    el("details", {}, el("summary", {}, "Texts behind the other two caches"), earlier.node, corpus.node),
    el("div", { class: "send" }, make,
      el("span", { class: "field" }, el("label", { for: tokens.id }, "Tokens are"), tokens), size));

  const node = el("div", { class: "editor" }, bar, watch, form, line);
  // the switches show what is in force again after a refusal; typed text stays
  const { send, answer } = asker(line, ask, showChoices);

  function area(name, label, rows, placeholder) {
    const field = el("textarea", {
      id: id(name), rows, placeholder, spellcheck: "false", autocomplete: "off", dir: "auto",
      oninput: count, onpaste: refuseFlood(choices.max_characters, (words) => answer(false, words)), onkeydown: (e) => {
        e.stopPropagation(); // the notebook's shortcuts stay out of the text
        if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); submit(); }
      },
    });
    return { field, node: el("div", { class: "area" }, el("label", { for: field.id }, label), field) };
  }

  function tooLong(what, length) {
    const most = figure(choices.max_characters);
    const words = `The ${what} has ${figure(length)} characters, and the stepper takes up to ${most}`;
    answer(false, `${words}: give a part of it. Nothing was changed.`);
  }

  function toggle() {
    form.hidden = !form.hidden;
    edit.setAttribute("aria-expanded", String(!form.hidden));
    edit.textContent = form.hidden ? "Edit text" : "Close text";
    if (form.hidden) return;
    text.field.focus();
    text.field.setSelectionRange(0, 0);
  }

  function count() {
    const n = text.field.value.length;
    size.textContent = `${figure(n)} of at most ${figure(choices.max_characters)} characters · Ctrl+Enter`;
  }

  /** Refuse at once what the kernel would refuse, before it has to travel there. */
  function submit() {
    const given = { text: text.field.value, earlier: earlier.field.value, corpus: corpus.field.value };
    if (!given.text.trim()) return answer(false, "The text is empty: type at least two words. Nothing was changed.");
    const long = Object.entries(given).find(([, value]) => value.length > choices.max_characters);
    if (long) return tooLong(long[0], long[1].length);
    send({ ...given, tokenizer: tokens.value });
  }

  function showChoices() {
    pick.value = inputs.example ?? "";
    for (const { name, box } of boxes) box.checked = Boolean(inputs[name]);
    if (!GUESSES.includes(inputs.n_draft)) addGuess(inputs.n_draft);
    guesses.value = String(inputs.n_draft);
  }

  function addGuess(n) {
    if ([...guesses.options].some((option) => option.value === String(n))) return;
    guesses.append(el("option", { value: n }, String(n)));
  }

  function fill(newInputs) {
    const changed = (name) => newInputs[name] !== inputs[name];
    for (const [name, part] of Object.entries({ text, earlier, corpus })) {
      if (changed(name)) part.field.value = newInputs[name];
    }
    tokens.value = newInputs.tokenizer;
    inputs = newInputs;
    showChoices();
    count();
    const ready = choices.examples.find(([name]) => name === inputs.example);
    watch.textContent = ready ? ready[2] : "";
    watch.hidden = !ready;
  }

  return { node, fill, answer };
}
