// The board of an experiment: sentence, buttons, progress, light, corpus, switches and stages.
// It shows the document that the kernel sends and says what the reader pressed; no figure is
// made here. Elements are made once and then brought up to date, so that the focus stays.
import { board, buttons, light, progress, quietly, segments, sentence, setText } from "./board_parts.js";
import { el, freshId, seen } from "./dom.js";

export default {
  render: ({ model, el: root }) => board(model, root, "Experiment", (ask, error) => {
    const all = allSwitches(model, ask);
    const parts = [buttons(ask), sentence(), progress(), light(), sizes(ask), front(ask), presets(model, ask), all, moved()];
    const [run, say, bar, lamp, corpus, toggles, stages, groups, note] = parts.map((part) => part.node);
    const panel = el("div", { class: "panel" },
      el("div", { class: "top" }, say, run, bar), error, lamp,
      el("div", { class: "set" }, corpus, toggles), el("div", { class: "row" }, stages, all.opener), note, groups);
    return { parts, panel };
  }),
};

function sizes(ask) {
  const choice = segments("Corpus of the static cache", (value) => ask("size", value));
  choice.node.querySelector("legend").classList.add("sta");
  const hint = el("p", { class: "hint" });
  choice.node.append(hint);
  return {
    node: choice.node,
    show: (doc) => {
      choice.show(doc.sizes.map(([value, label, refused, on]) => ({ value, label, refused, on })));
      const refusals = doc.sizes.filter(([, , refused]) => refused).map(([, label, refused]) => ` ${label}: ${refused}.`);
      setText(hint, doc.hint + refusals.join(""));
    },
  };
}

/** A list of switches, made once and then brought up to date. */
function switches(ask, into) {
  let made = [];
  return (list) => {
    if (made.length !== list.length) {
      made = list.map((given) => (given.on_off ? onOff(given, ask) : several(given, ask)));
      into.replaceChildren(...made.map((one) => one.node));
    }
    list.forEach((given, i) => made[i].show(given));
  };
}

/** The switches that the lesson is about. */
function front(ask) {
  const node = el("div", { class: "toggles" });
  const show = switches(ask, node);
  return { node, show: (doc) => show(doc.front) };
}

/** All others, by what they change, behind a button of their own. */
function allSwitches(model, ask) {
  const id = freshId("all");
  const node = el("div", { class: "groups", id, role: "group", "aria-label": "All switches" });
  const sign = seen("▸ ", "sign");
  const as = el("small", {});
  const opener = el("div", { class: "opener" },
    el("button", { type: "button", "aria-controls": id, onclick: () => {
      model.set("opened", !model.get("opened"));
      quietly(() => model.save_changes());
    } }, sign, "All switches"), as);
  let shows = [];
  return {
    node,
    opener,
    show: (doc) => {
      const opened = model.get("opened");
      opener.firstElementChild.setAttribute("aria-expanded", String(opened));
      sign.textContent = opened ? "▾ " : "▸ ";
      setText(as, `now as in ${doc.setting}`);
      node.hidden = !opened;
      if (shows.length !== doc.groups.length) {
        const made = doc.groups.map((given) => group(given, ask));
        shows = made.map((one) => one.show);
        node.replaceChildren(...made.map((one) => one.node));
      }
      doc.groups.forEach((given, i) => shows[i](given.switches));
    },
  };
}

function group(given, ask) {
  const id = freshId("group");
  const list = el("div", { class: "list" });
  const node = el("div", { class: `group g-${given.name}`, role: "group", "aria-labelledby": id },
    el("h4", { id }, given.title), el("p", { class: "hint" }, given.note), list);
  return { node, show: switches(ask, list) };
}

/** What a press has moved along, said where it happened. */
function moved() {
  const node = el("p", { class: "moved", role: "status" });
  return { node, show: (doc) => setText(node, doc.moved) };
}

/** What a switch does; or, calmly, why it does nothing now. */
function hintOf(given) {
  const node = el("p", { class: "hint", id: freshId("hint") }, given.hint);
  return {
    node,
    show: (now) => {
      setText(node, now.idle || now.hint);
      node.classList.toggle("idle", Boolean(now.idle));
    },
  };
}

/** A switch that is on at the second choice. */
function onOff(given, ask) {
  const id = freshId("sw");
  const hint = hintOf(given);
  const [off, on] = given.choices.map(([value]) => value);
  const input = el("input", { type: "checkbox", role: "switch", class: "sw", id, "aria-describedby": hint.node.id,
    "data-toggle": given.toggle, onchange: () => ask("switch", [given.toggle, input.checked ? on : off]) });
  return {
    node: el("div", { class: "field" }, el("div", { class: "flip" }, el("label", { for: id }, given.title), input), hint.node),
    show: (now) => {
      if (input.checked !== (now.value === on)) input.checked = now.value === on;
      hint.show(now);
    },
  };
}

function several(given, ask) {
  const choice = segments(given.title, (value) => ask("switch", [given.toggle, value]));
  const hint = hintOf(given);
  choice.node.setAttribute("aria-describedby", hint.node.id);
  choice.node.dataset.toggle = given.toggle;
  choice.node.append(hint.node);
  return {
    node: choice.node,
    show: (now) => {
      choice.show(now.choices.map(([value, label]) => ({ value, label, refused: "", on: value === now.value })));
      hint.show(now);
    },
  };
}

/** Those in front, the one in hand, and, with the switches open, all. */
function presets(model, ask) {
  const node = el("div", { class: "presets", role: "group", "aria-label": "Stages, each built on the one before" });
  return {
    node,
    show: (doc) => {
      if (node.childElementCount !== doc.presets.length + 1) {
        node.replaceChildren(el("small", {}, "Stages, each built on the one before:"),
          ...doc.presets.map(([name]) => el("button", { type: "button", onclick: () => ask("preset", name) }, name)));
      }
      doc.presets.forEach(([, on, ahead], i) => {
        const button = node.children[i + 1];
        button.setAttribute("aria-pressed", String(on));
        button.hidden = !(ahead || on || model.get("opened") || button === document.activeElement);
      });
    },
  };
}
