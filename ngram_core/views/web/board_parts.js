// What the boards of measuring views have in common: the frame that hears the kernel and tells it
// of the page, buttons, sentence, progress, light, and choices. Each part is { node, show }: made
// once and then brought up to date, so that the focus stays.
import { el, freshId, seen } from "./dom.js";
import { keepArrows } from "./keys.js";

const SVG = "http://www.w3.org/2000/svg";
const ICONS = { start: "▶", resume: "▶", pause: "❚❚", stop: "■" };
const COLOURS = ["text", "mute", "edge", "line", "panel", "ctx", "ctx-ink", "dyn", "dyn-ink", "sta", "sta-ink"];

/** A board in `root`; `build(ask)` gives its parts and its panel around a place for errors. */
export function board(model, root, name, build) {
  try {
    return begun(model, root, name, build);
  } catch (error) {
    root.append(el("p", { class: "ngc trouble", role: "alert" }, `The board could not be drawn: ${error.message}`));
    throw error;
  }
}

function begun(model, root, name, build) {
  const error = el("p", { class: "no error", role: "alert" });
  const trouble = (text) => setText(error, text);
  const ask = (action, value) => {
    try {
      if (model.comm_live === false) throw new Error("no kernel");
      model.send({ action, value: value ?? null }); // after a restart this throws
    } catch {
      trouble("The kernel is gone. Run the notebook again to go on.");
    }
  };
  const { parts, panel } = build(ask, error);
  const frame = el("section", { class: "ngc board", role: "group", "aria-label": name, onkeydown: keepArrows }, panel);
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
  const onOpened = () => onBoard();
  model.on("change:board", onBoard);
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

export function buttons(ask) {
  const made = ["start", "pause", "stop"].map((name) => {
    const node = el("button", { type: "button", "data-name": name, onclick: () => {
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

export function sentence() {
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

export function progress() {
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

export function light() {
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
export function segments(title, pick) {
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
            el("input", { type: "radio", name, value: String(value), disabled: Boolean(refused), onchange: () => pick(value) }),
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

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function quietly(act) {
  try {
    act();
  } catch {
    // no connection to the kernel: the page keeps what it shows
  }
}
