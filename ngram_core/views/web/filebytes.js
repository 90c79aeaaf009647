// The bytes of a cache file: each number is one step, and says what it means.
import { el, figure, freshId, offer, plural, seen } from "./dom.js";
import { keepArrows } from "./keys.js";

const ROW = 8;

export default {
  render({ model, el: root }) {
    const doc = model.get("files");
    let state = model.get("state");
    let bytes = [];
    const file = () => doc.files[state.file];
    const last = () => file().numbers.length - 1;
    const button = (text, press, cls) => el("button", { type: "button", class: cls, onclick: press }, text);
    const back = button("‹ Back", () => go(state.at - 1));
    const next = button("Next ›", () => go(state.at + 1), "main");
    const count = el("output", { class: "count" });
    const words = el("p", { class: "words", role: "status" });
    const dump = el("div", { class: "dump", onclick: pick });
    const parts = el("div", { class: "parts", role: "group", "aria-label": "Parts of the file" });
    const name = freshId("format");
    const formats = el("fieldset", { class: "segments", onkeydown: keepArrows }, el("legend", { class: "vh" }, "Format"), doc.files.map((one, i) => {
      const input = el("input", { type: "radio", name, value: i, onchange: () => change({ file: i, at: 0 }) });
      return el("label", {}, input, `${one.title}: ${figure(one.hex.length / 2)} bytes`);
    }));
    const frame = el("section", { class: "ngc filebytes", tabindex: "0", "aria-label": "The bytes of a cache file", onkeydown: key },
      el("div", { class: "panel" },
        el("header", {}, el("h3", {}, "The bytes of a file"), formats),
        el("div", { class: "ctl" }, back, next, count), words, dump, parts));
    root.append(frame);

    function go(at) { change({ at: Math.max(0, Math.min(last(), at)) }); }
    function change(changes) {
      const other = changes.file !== undefined && changes.file !== state.file;
      state = { ...state, ...changes };
      model.set("state", state);
      try { model.save_changes(); } catch { /* no kernel: the page goes on alone */ }
      if (other) load();
      show();
    }
    function key(event) {
      if (event.target !== frame || event.altKey || event.ctrlKey || event.metaKey) return;
      const to = { ArrowLeft: state.at - 1, ArrowRight: state.at + 1, Home: 0, End: last() }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      go(to);
    }
    function pick(event) {
      const at = event.target.closest("[data-n]")?.dataset.n;
      if (at !== undefined) go(Number(at));
    }

    function load() {
      const { hex, numbers, parts: begun, totals } = file();
      const owner = [];
      numbers.forEach(([offset, length], i) => owner.fill(i, (owner.length = Math.max(owner.length, offset + length), offset), offset + length));
      bytes = Array.from({ length: hex.length / 2 }, (_, i) =>
        el("span", { class: `g-${numbers[owner[i]][2]}`, "data-n": owner[i] }, hex.slice(2 * i, 2 * i + 2)));
      const rows = [];
      for (let i = 0; i < bytes.length; i += ROW) rows.push(el("div", { class: "eight" }, el("small", {}, i), bytes.slice(i, i + ROW)));
      dump.replaceChildren(...rows);
      dump.setAttribute("role", "img");
      dump.setAttribute("aria-label", `${plural(bytes.length, "byte")}, ${plural(numbers.length, "number")}; the buttons go from one number to the next`);
      const sums = Object.fromEntries(totals);
      parts.replaceChildren(...begun.map(([group, first]) =>
        el("button", { type: "button", "data-group": group, onclick: () => go(first) },
          seen("", `swatch g-${group}`), `${doc.groups[group]}: ${figure(sums[group])}`)));
    }
    function show() {
      const { numbers, said } = file();
      const [offset, length, group] = numbers[state.at];
      bytes.forEach((byte, i) => byte.classList.toggle("now", i >= offset && i < offset + length));
      words.textContent = said[state.at];
      count.replaceChildren(el("b", {}, state.at + 1), ` / ${numbers.length}`);
      offer(back, state.at > 0);
      offer(next, state.at < last());
      for (const part of parts.children) part.setAttribute("aria-pressed", String(part.dataset.group === group));
      formats.querySelectorAll("input").forEach((input, i) => { input.checked = i === state.file; });
    }
    const moved = () => {
      const other = model.get("state").file !== state.file;
      state = model.get("state");
      if (other) load();
      show();
    };
    model.on("change:state", moved);
    load();
    show();
    return () => model.off("change:state", moved);
  },
};
