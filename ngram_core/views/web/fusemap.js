// A fuse map built by hand: keys are peeled, then cells are filled. The document holds every seed's
// cells, the engine's own order and all sentences, so that each step is made here at once.
import { asker } from "./asker.js";
import { el, freshId, offer, plural } from "./dom.js";
import { refuseFlood } from "./flood.js";
import { cellGrid, listed } from "./fusecells.js";

export default {
  render({ model, el: root }) {
    let doc = model.get("map");
    let state = model.get("state");
    let grid;
    const button = (text, press, cls) =>
      el("button", { type: "button", class: cls, onclick: press }, text);
    const back = button("‹ Back", () => move(undo));
    const next = button("Next ›", () => move(forward), "main");
    const finish = button("Finish", () => move(all));
    const seed = button("Next seed", () => move(reseed));
    const again = button("Start over", () => move(() => ({ ...fresh, attempt: 0 })));
    const count = el("output", { class: "count" });
    const words = el("p", { class: "words", role: "status" });
    const title = el("p", { class: "hint" });
    const head = el("h4", {});
    const place = el("div", {});
    const list = el("ol", { class: "taken" });
    const keys = el("dl", { class: "keys" });
    const line = el("p", { class: "line", role: "status" });
    const id = freshId("words");
    const field = el("input", { type: "text", id, autocomplete: "off", spellcheck: "false",
      onpaste: refuseFlood(2_000, (words) => wire.answer(false, words)),
      onkeydown: (e) => { e.stopPropagation(); if (e.key === "Enter") build(); } });
    const wire = asker(line, (text) => {
      if (model.comm_live === false) return false;
      try {
        model.send({ text });
        return true;
      } catch {
        return false;
      }
    }, () => {});
    const build = () => wire.send(field.value);
    const frame = el("section", { class: "ngc fuse", tabindex: "0", "aria-label": "Fuse map, built by hand", onkeydown: key },
      el("div", { class: "panel" },
        el("header", {}, el("h3", {}, "Build a fuse map by hand"), title),
        el("div", { class: "field words-field" }, el("label", { for: id }, "Words"), field, button("Build its map", build)), line,
        el("div", { class: "ctl" }, el("div", { class: "btns" }, back, next, finish), count, el("div", { class: "btns" }, seed, again)),
        words,
        el("div", { class: "half" }, el("div", {}, head, place), el("div", {}, el("h4", {}, "Keys, each with its value, position·length"), keys, el("h4", {}, "Peeled, in order"), list))));
    root.append(frame);

    const fresh = { attempt: 0, taken: [], tapped: -1, filled: 0 };
    const cellsOf = () => doc.attempts[state.attempt];
    const waiting = () => doc.keys.map((_, i) => i).filter((i) => !state.taken.some(([k]) => k === i));
    const inside = (cell) => waiting().filter((k) => cellsOf()[k].includes(cell));
    const alone = (cell) => inside(cell).length === 1;
    const letters = (some) => listed(some.map((k) => doc.keys[k][0]));
    const peeled = () => state.taken.length === doc.keys.length;
    const stuck = () => !peeled() && !Array.from({ length: doc.n_cells }, (_, i) => i).some(alone);
    const isLast = () => state.attempt === doc.attempts.length - 1;

    /** The engine's next key that still waits; with a seed that gets stuck, any that is alone. */
    function forward() {
      if (peeled()) return { ...state, tapped: -1, filled: Math.min(state.filled + 1, doc.keys.length) };
      const own = isLast() && doc.order.find(([k]) => waiting().includes(k));
      const cell = own ? own[1] : Array.from({ length: doc.n_cells }, (_, i) => i).find(alone);
      return cell === undefined ? state : taken(cell);
    }
    const taken = (cell) => ({ ...state, tapped: -1, taken: [...state.taken, [inside(cell)[0], cell]] });
    function undo() {
      if (state.tapped >= 0) return { ...state, tapped: -1 };
      if (state.filled) return { ...state, filled: state.filled - 1 };
      return { ...state, taken: state.taken.slice(0, -1) };
    }
    function all() {
      if (peeled()) return { ...state, tapped: -1, filled: doc.keys.length };
      const kept = state;
      while (!peeled() && !stuck()) state = forward();
      const end = state;
      state = kept;
      return end;
    }
    const reseed = () => ({ ...fresh, attempt: Math.min(state.attempt + 1, doc.attempts.length - 1) });

    function press(cell) {
      if (state.filled) return;
      move(() => (alone(cell) ? taken(cell) : { ...state, tapped: cell }));
    }
    function move(step) {
      state = step();
      model.set("state", state);
      try { model.save_changes(); } catch { /* no kernel: the page goes on alone */ }
      show();
    }
    function key(event) {
      if (event.target !== frame || event.altKey || event.ctrlKey || event.metaKey) return;
      const step = { ArrowLeft: undo, ArrowRight: forward, Home: () => ({ ...fresh, attempt: state.attempt }), End: all }[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      move(step);
    }

    /** As in lesson/constmap/fuse_map.py, which a test holds against what the page says. */
    function sentence() {
      const said = doc.said;
      const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
      if (state.filled) return said.fill[state.filled - 1];
      if (state.tapped >= 0) {
        const some = inside(state.tapped);
        return fill(some.length ? said.wrong : said.empty, { cell: state.tapped, keys: letters(some) });
      }
      let text = "";
      if (state.taken.length) {
        const [k, cell] = state.taken.at(-1);
        text = said.taken[state.attempt][k][cellsOf()[k].indexOf(cell)];
      }
      if (stuck()) return `${text} ${fill(said.stuck, { n: waiting().length, keys: letters(waiting()) })}`.trim();
      if (peeled()) return `${text} ${said.done}`;
      return text || said.start[state.attempt];
    }

    function cellState(i) {
      if (state.filled) {
        const written = doc.filled.slice(0, state.filled);
        const mine = written.find(([cell]) => cell === i);
        const [newest] = written.at(-1);
        const others = doc.attempts.at(-1)[doc.order[doc.order.length - state.filled][0]];
        const cls = i === newest ? "hand" : others.includes(i) ? "other" : mine ? "" : "empty";
        return { text: mine ? mine[1] : "", small: mine ? mine[2] : "", cls, label: `cell ${i}: ${mine ? mine[1] : "0·0"}` };
      }
      const some = inside(i);
      const [last, lastCell] = state.taken.at(-1) ?? [-1, -1];
      const left = state.taken.length && cellsOf()[last].includes(i);
      const cls = i === state.tapped ? (some.length ? "wrong" : "empty wrong") : i === lastCell ? "hand" : left ? "other" : some.length === 1 ? "single" : some.length ? "" : "empty";
      return { text: some.map((k) => doc.keys[k][0]).join(" "), cls, label: `cell ${i}: ${some.length ? letters(some) : "empty"}` };
    }

    function show() {
      grid.show(cellState);
      words.textContent = sentence();
      head.textContent = state.filled ? "What stands in each cell: position·length, and its check" : "Who is in which cell?";
      count.textContent = state.filled ? `filled ${state.filled} of ${doc.keys.length}` : `peeled ${state.taken.length} of ${doc.keys.length}`;
      const more = !stuck() && state.filled < doc.keys.length;
      offer(back, state.taken.length > 0 || state.tapped >= 0);
      offer(next, more);
      offer(finish, more);
      finish.textContent = peeled() ? "Fill all" : "Peel all";
      offer(seed, stuck(), "hidden");
      seed.classList.toggle("main", stuck());
      list.replaceChildren(...state.taken.map(([k, cell]) => el("li", {}, `${doc.keys[k][0]} in ${cell}`)));
      if (!state.taken.length) list.replaceChildren(el("li", { class: "none" }, "none yet"));
      keys.replaceChildren(...doc.keys.flatMap(([letter, name, , value], k) => {
        const gone = state.taken.some(([one]) => one === k);
        return [el("dt", { class: gone ? "gone" : "" }, letter),
          el("dd", { class: gone ? "gone" : "" }, el("span", { class: "tok" }, name), el("small", {}, ` ${value} · cells ${cellsOf()[k].join(", ")}`))];
      }));
    }
    function load() {
      doc = model.get("map");
      state = model.get("state");
      grid = cellGrid(doc, press);
      place.replaceChildren(grid.node);
      field.value = doc.text;
      title.textContent = `${plural(doc.keys.length, "2-gram")} that have a follower. Each owns one cell in each of three segments; which ones, its hash and a seed say.`;
      show();
    }
    const moved = () => {
      state = model.get("state");
      show();
    };
    const heard = (content) => content.kind === "answer" && wire.answer(content.ok, content.line);
    model.on("change:map", load);
    model.on("change:state", moved);
    model.on("msg:custom", heard);
    load();
    return () => {
      model.off("change:map", load);
      model.off("change:state", moved);
      model.off("msg:custom", heard);
    };
  },
};
