// The board of a race: sentence, buttons, progress, light, what it shows, what to race, reports.
// It shows the document that the kernel sends and says what the reader pressed.
import { board, buttons, light, progress, segments, sentence, setText } from "./board_parts.js";
import { el, freshId } from "./dom.js";
import { refuseFlood } from "./flood.js";

export default {
  render({ model, el: root }) {
    const close = board(model, root, "Race", (ask, error) => {
      const parts = [buttons(ask), sentence(), progress(), light(), notes(), fields(ask, error), stages(ask), pending(), reports(ask)];
      const [run, say, bar, lamp, shows, choices, who, next, out] = parts.map((part) => part.node);
      const panel = el("div", { class: "panel race" },
        el("div", { class: "top" }, say, run, bar), error, lamp, choices, who, next, shows, out);
      return { parts, panel };
    });
    model.on("msg:custom", download);
    return () => {
      model.off("msg:custom", download);
      close();
    };
  },
};

/** A report that the kernel has made, as a file of the reader's. */
function download({ name, type, text }) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = el("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** What the figures show, a sentence each. */
function notes() {
  const list = el("ul");
  const node = el("div", { class: "notes" }, el("h4", {}, "What it shows"), list);
  return {
    node,
    show: (doc) => {
      node.hidden = doc.notes.length === 0;
      const said = JSON.stringify(doc.notes);
      if (list.dataset.said === said) return;
      list.dataset.said = said;
      list.replaceChildren(...doc.notes.map((text) => el("li", {}, text)));
    },
  };
}

/** What to race: one of several each, and a corpus of the reader's own. */
function fields(ask, error) {
  const node = el("div", { class: "setup" });
  let made = [];
  const own = ownCorpus(ask, error);
  return {
    node,
    show: (doc) => {
      if (made.length !== doc.fields.length) {
        made = doc.fields.map((given) => field(given, ask));
        node.replaceChildren(...made.map((one) => one.node));
        made[0].node.append(own.node);
      }
      doc.fields.forEach((given, i) => made[i].show(given));
      own.show(doc);
    },
  };
}

function field(given, ask) {
  const choice = segments(given.title, (value) => ask("choose", [given.name, value]));
  const hint = el("p", { class: "hint", id: freshId("hint") });
  choice.node.setAttribute("aria-describedby", hint.id);
  choice.node.dataset.field = given.name;
  choice.node.append(hint);
  return {
    node: choice.node,
    show: (now) => {
      choice.show(now.choices.map(([value, label, refused, on]) => ({ value, label, refused, on })));
      const refusals = now.choices.filter(([, , refused]) => refused).map(([, label, refused]) => ` ${label}: ${refused}.`);
      setText(hint, now.hint + refusals.join(""));
    },
  };
}

function ownCorpus(ask, error) {
  const id = freshId("own");
  const input = el("input", { type: "text", id, placeholder: "my.txt", autocomplete: "off", spellcheck: "false",
    onpaste: refuseFlood(1_000, (words) => setText(error, words)),
    onkeydown: (event) => {
      event.stopPropagation(); // letters and Enter are typed here
      if (event.key === "Enter") take();
    } });
  const button = el("button", { type: "button", onclick: () => take() }, "Take it");
  const take = () => ask("choose", ["corpus", input.value]);
  let shown = "";
  return {
    node: el("div", { class: "own" }, el("label", { for: id }, "or a file or folder of yours"), el("div", {}, input, button)),
    show: (doc) => {
      if (doc.own !== shown && document.activeElement !== input) input.value = doc.own;
      shown = doc.own;
    },
  };
}

/** Who takes part: each stage can be left out. */
function stages(ask) {
  const node = el("div", { class: "presets", role: "group", "aria-label": "Stages in the race" });
  return {
    node: el("div", { class: "row" }, node),
    show: (doc) => {
      if (node.childElementCount !== doc.stages.length + 1) {
        node.replaceChildren(el("small", {}, "In the race, each built on the one before:"),
          ...doc.stages.map(([name]) => el("button", { type: "button", onclick: () => ask("stage", name) }, name)));
      }
      doc.stages.forEach(([, on], i) => node.children[i + 1].setAttribute("aria-pressed", String(on)));
    },
  };
}

/** That something else is chosen than was raced. */
function pending() {
  const node = el("p", { class: "moved", role: "status" });
  return { node, show: (doc) => setText(node, doc.pending) };
}

/** The report, to download or to save. */
function reports(ask) {
  const kinds = el("span", { class: "kinds" });
  const save = el("button", { type: "button", onclick: () => ask("save") }, "Save beside the notebook");
  const said = el("p", { class: "hint", role: "status" });
  const node = el("div", { class: "row report" },
    el("div", { class: "presets", role: "group", "aria-label": "Report" }, el("small", {}, "Report, to download:"), kinds, save), said);
  return {
    node,
    show: (doc) => {
      node.hidden = doc.reports.length === 0;
      if (kinds.childElementCount !== doc.reports.length) {
        kinds.replaceChildren(...doc.reports.map(([kind, label]) =>
          el("button", { type: "button", "data-kind": kind, onclick: () => ask("download", kind) }, label)));
      }
      setText(said, doc.saved);
    },
  };
}
