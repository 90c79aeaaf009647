// The board of an experiment: sentence, buttons, progress, light, corpus, switches and stages.
// It shows the document that the kernel sends and says what the reader pressed; no figure is
// made here. Elements are made once and then brought up to date, so that the focus stays.
import { el, freshId, seen } from "./dom.js";
import { keepArrows, OWN_KEYS } from "./keys.js";

const SVG = "http://www.w3.org/2000/svg";
const ICONS = { start: "▶", resume: "▶", pause: "❚❚", stop: "■" };
const COLOURS = ["text", "mute", "edge", "line", "panel", "ctx", "ctx-ink", "dyn", "dyn-ink", "sta", "sta-ink"];

export default {
  render({ model, el: root }) {
    try {
      return switchboard(model, root);
    } catch (error) {
      root.append(el("p", { class: "ngc trouble", role: "alert" }, `The board could not be drawn: ${error.message}`));
      throw error;
    }
  },
};

function switchboard(model, root) {
  const ask = (action, value) => {
    if (model.comm_live === false) return trouble("The kernel is gone. Run the notebook again to go on.");
    model.send({ action, value: value ?? null });
  };
  const all = allSwitches(model, ask);
  const parts = [buttons(ask), sentence(), progress(), light(), sizes(ask), front(ask), presets(model, ask), all, moved()];
  const [run, say, bar, lamp, corpus, toggles, stages, groups, note] = parts.map((part) => part.node);
  const error = el("p", { class: "no error", role: "alert" });
  const trouble = (text) => setText(error, text);
  const frame = el("section", { class: "ngc board", role: "group", "aria-label": "Experiment",
    onkeydown: keepArrows },
    el("div", { class: "panel" },
      el("div", { class: "top" }, say, run, bar), error, lamp,
      el("div", { class: "set" }, corpus, toggles), el("div", { class: "row" }, stages, all.opener), note, groups));
  root.append(frame);

  const onBoard = () => {
    const doc = model.get("board");
    for (const part of parts) part.show(doc);
    trouble(doc.error);
    model.set("seen", doc.frame); // the kernel sends no faster than pages take it in
    quietly(() => model.save_changes());
  };
  let drawn = 0; // how often the plots beside the board were drawn from scratch
  const onPage = () => {
    if (drawn === 0 && plotsOf(root)?.data?.length) drawn = 1;
    model.set("page", { width: Math.floor(root.clientWidth), drawn, ...theme(frame) });
    quietly(() => model.save_changes());
  };
  const onPlots = (event) => {
    if (plotsOf(root) !== event.detail.element) return;
    drawn += 1;
    onPage();
  };
  document.addEventListener("plotlywidget-after-render", onPlots);
  model.on("change:board", onBoard);
  const onOpened = () => onBoard();
  model.on("change:opened", onOpened);
  onBoard();

  const sizer = new ResizeObserver(onPage); // it also calls once at the beginning
  sizer.observe(root);
  const themer = new MutationObserver(() => requestAnimationFrame(onPage));
  themer.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-name", "data-jp-theme-light"] });
  return () => {
    model.off("change:board", onBoard);
    model.off("change:opened", onOpened);
    sizer.disconnect();
    themer.disconnect();
    document.removeEventListener("plotlywidget-after-render", onPlots);
  };
}

/** The plotly figure that stands in the same view as this board. */
const plotsOf = (root) => root.closest(".ngram-live")?.querySelector(".js-plotly-plot");

/** The colours in force here, for the plots, which the kernel draws. */
function theme(frame) {
  const style = getComputedStyle(frame);
  const colours = Object.fromEntries(COLOURS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  return { colours: { ...colours, font: style.fontFamily } };
}

function buttons(ask) {
  const made = ["start", "pause", "stop"].map((name) => {
    const node = el("button", { type: "button", "data-name": name, ...OWN_KEYS, onclick: () => {
      if (node.getAttribute("aria-disabled") !== "true") ask(node.dataset.action);
    } });
    return node;
  });
  return {
    node: el("div", { class: "run" }, made),
    show: (doc) => doc.buttons.forEach(([action, label, enabled, main], i) => {
      const node = made[i];
      if (node.dataset.label !== label) node.replaceChildren(seen(`${ICONS[action]} `), label);
      node.dataset.label = label;
      node.dataset.action = action;
      node.setAttribute("aria-disabled", String(!enabled)); // not "disabled": that would drop the focus
      node.classList.toggle("main", main);
    }),
  };
}

function sentence() {
  const node = el("p", { class: "words", role: "status" });
  return {
    node,
    show: (doc) => {
      const changing = doc.state === "running" || doc.state === "preparing";
      node.setAttribute("aria-live", changing ? "off" : "polite"); // five times a second is no talk
      const parts = doc.sentence.map((part) => (typeof part === "string" ? part : el("b", {}, part[1])));
      if (node.dataset.said === JSON.stringify(doc.sentence)) return;
      node.dataset.said = JSON.stringify(doc.sentence);
      node.replaceChildren(...parts);
    },
  };
}

function progress() {
  const fill = el("i");
  const bar = el("div", { class: "track", role: "progressbar", "aria-label": "Done", "aria-valuemin": "0", "aria-valuemax": "100" }, fill);
  const text = el("span", { class: "left" });
  return {
    node: el("div", { class: "prog" }, bar, text),
    show: (doc) => {
      const [fraction, words] = doc.progress;
      fill.style.width = `${100 * fraction}%`;
      bar.setAttribute("aria-valuenow", Math.round(100 * fraction));
      setText(text, words);
    },
  };
}

function light() {
  const icon = el("span", { class: "icon", "aria-hidden": "true" });
  const head = el("b", { role: "status" });
  const body = el("span");
  const node = el("div", { class: "light" }, icon, el("p", {}, head, " ", body));
  return {
    node,
    show: (doc) => {
      const [kind, headline, text] = doc.light;
      if (node.dataset.kind !== kind) icon.replaceChildren(lamp(kind));
      node.dataset.kind = kind;
      head.className = { same: "yes", other: "no", none: "" }[kind];
      setText(head, headline);
      setText(body, text);
    },
  };
}

/** Tick in a disc: same. Exclamation mark in a diamond: other. Dashed ring: not compared yet. */
function lamp(kind) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 28 28");
  const shape = (name, attrs) => {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attrs)) node.setAttribute(key, value);
    svg.append(node);
  };
  const open = { fill: "none", "stroke-width": 2.5 };
  if (kind === "same") {
    shape("circle", { cx: 14, cy: 14, r: 12, fill: "var(--yes-ink)" });
    shape("path", { d: "m8 14 4 5 8-9", fill: "none", stroke: "var(--panel)", "stroke-width": 3 });
  } else if (kind === "other") {
    shape("path", { d: "M14 1.5 26.5 14 14 26.5 1.5 14z", stroke: "var(--no-ink)", ...open });
    shape("path", { d: "M14 8v8m0 3v2.5", stroke: "var(--no-ink)", "stroke-width": 3 });
  } else {
    shape("circle", { cx: 14, cy: 14, r: 11, stroke: "var(--edge)", ...open, "stroke-dasharray": "3 3" });
  }
  return svg;
}

/** One of several, as joined buttons; native radio buttons underneath, with their keys. */
function segments(title, pick) {
  const name = freshId("seg");
  const box = el("div", { class: "segments" });
  const node = el("fieldset", { class: "field" }, el("legend", {}, title), box);
  let shape = "";
  return {
    node,
    show: (choices) => {
      const now = JSON.stringify(choices.map(({ label, refused }) => [label, refused]));
      if (now !== shape) {
        box.replaceChildren(...choices.map(({ value, label, refused }) =>
          el("label", { title: refused || null },
            el("input", { type: "radio", name, value: String(value), disabled: Boolean(refused), ...OWN_KEYS, onchange: () => pick(value) }),
            label)));
        shape = now;
      }
      choices.forEach(({ on }, i) => {
        const input = box.children[i].firstElementChild;
        if (input.checked !== on) input.checked = on;
      });
    },
  };
}

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
    el("button", { type: "button", "aria-controls": id, ...OWN_KEYS, onclick: () => {
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
    "data-toggle": given.toggle, ...OWN_KEYS, onchange: () => ask("switch", [given.toggle, input.checked ? on : off]) });
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
  const node = el("div", { class: "presets", role: "group", "aria-label": "Stages, each adds one idea" });
  return {
    node,
    show: (doc) => {
      if (node.childElementCount !== doc.presets.length + 1) {
        node.replaceChildren(el("small", {}, "Stages, each adds one idea:"),
          ...doc.presets.map(([name]) => el("button", { type: "button", ...OWN_KEYS, onclick: () => ask("preset", name) }, name)));
      }
      doc.presets.forEach(([, on, ahead], i) => {
        const button = node.children[i + 1];
        button.setAttribute("aria-pressed", String(on));
        button.hidden = !(ahead || on || model.get("opened") || button === document.activeElement);
      });
    },
  };
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function quietly(act) {
  try {
    act();
  } catch {
    // no connection to the kernel: the page keeps what it shows
  }
}
