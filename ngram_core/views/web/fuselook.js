// Looking a 2-gram up in a finished fuse map: three cells, two xors, and the check, on or off.
import { el, freshId, seen } from "./dom.js";
import { cellGrid } from "./fusecells.js";

export default {
  render({ model, el: root }) {
    const doc = model.get("map");
    let state = model.get("state");
    const change = (changes) => {
      state = { ...state, ...changes };
      model.set("state", state);
      try { model.save_changes(); } catch { /* no kernel: the page goes on alone */ }
      show();
    };
    const chooser = (name, label) => {
      const id = freshId(name);
      const select = el("select", { id, onchange: () => change({ [name]: Number(select.value) }) },
        doc.words.map((word, i) => el("option", { value: i }, word)));
      return { select, node: el("span", { class: "field" }, el("label", { for: id }, label), select) };
    };
    const first = chooser("first", "First word");
    const second = chooser("second", "Second word");
    const id = freshId("verify");
    const verify = el("input", { type: "checkbox", role: "switch", class: "sw", id,
      onchange: () => change({ verify: verify.checked }) });
    const forge = el("button", { type: "button", onclick: () => {
      const at = doc.forged.findIndex(([a, b]) => a === state.first && b === state.second);
      const [a, b] = doc.forged[(at + 1) % doc.forged.length];
      change({ first: a, second: b });
    } }, "Forge a key");
    forge.hidden = !doc.forged.length;
    const known = el("div", { class: "known", role: "group", "aria-label": "Keys in the map" }, doc.keys.map(([letter, name, [a, b]]) =>
      el("button", { type: "button", "data-pair": `${a} ${b}`, onclick: () => change({ first: a, second: b }) }, `${letter} ${name}`)));
    const words = el("p", { class: "words", role: "status" });
    const sums = el("tbody");
    const grid = cellGrid(doc, null);
    const pairs = doc.pairs.map(([word, count], i) => el("li", {}, el("small", {}, i), el("span", {}, `${word} × ${count}`)));
    const data = new Map(doc.filled.map(([cell, value, check]) => [cell, [value, check]]));
    root.append(el("section", { class: "ngc fuse look", "aria-label": "Look up in a fuse map" }, el("div", { class: "panel" },
      el("header", {}, el("h3", {}, "Look up, and forge"), el("p", { class: "hint" }, "The finished map holds no key at all: only cells, and the followers one after the other.")),
      el("div", { class: "ctl" }, first.node, second.node, forge,
        el("span", { class: "flip" }, el("label", { for: id }, "Verify"), verify)),
      known, words,
      el("div", { class: "half" },
        el("div", {}, el("table", { class: "sums" },
          el("thead", {}, el("tr", {}, el("td"), ["cell", "position·length", "check"].map((name) => el("th", { scope: "col" }, name)))), sums),
        el("h4", {}, "Followers by position"), el("ol", { class: "pairs", start: "0" }, pairs)),
        el("div", {}, el("h4", {}, "All cells"), grid.node)))));

    function row(name, cell, value, check, cls) {
      return el("tr", { class: cls }, el("th", { scope: "row" }, name), el("td", {}, cell), el("td", {}, value), el("td", {}, check));
    }
    function show() {
      const { first: a, second: b, verify: on } = state;
      const look = doc.lookups[a][b];
      first.select.value = a;
      second.select.value = b;
      verify.checked = on;
      words.textContent = look.said[on ? 1 : 0].replace(/ × (\d)/g, " ×\u00a0$1");
      const accepted = look.found || (!on && look.plausible);
      words.className = `words ${!accepted ? "refused" : look.found ? "good" : "fooled"}`;
      for (const button of known.children) button.setAttribute("aria-pressed", String(button.dataset.pair === `${a} ${b}`));
      sums.replaceChildren(
        ...look.cells.map((cell, i) => row(i ? "xor" : "", cell, look.data[i], look.checks[i], "")),
        row("=", "", look.value, look.check, "sum"),
        el("tr", { class: on ? (look.equal ? "needed yes" : "needed no") : "needed off" }, el("th", { scope: "row" }, "must be"), el("td", {}), el("td", {}, on ? "" : "not asked"),
          el("td", {}, look.needed, on ? seen(look.equal ? " ✓" : " ✕") : "")));
      const [from, n] = look.read;
      pairs.forEach((pair, i) => {
        const read = accepted && i >= from && i < from + n;
        pair.className = read ? (look.found ? "read" : "read fooled") : "";
      });
      grid.show((i) => {
        const [value, check] = data.get(i) ?? ["", ""];
        const mine = look.cells.includes(i);
        return { text: value || (mine ? "0·0" : ""), small: check, cls: mine ? "hand" : value ? "" : "empty", label: `cell ${i}: ${value || "0·0"}${mine ? ", read" : ""}` };
      });
    }
    const moved = () => {
      state = model.get("state");
      show();
    };
    model.on("change:state", moved);
    show();
    return () => model.off("change:state", moved);
  },
};
