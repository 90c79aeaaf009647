// The Stepper: reads a story document, shows one event of it, moves between events.
// Stepping never asks the kernel, so it works while the kernel is busy or gone.
import { el, figure, freshId } from "./dom.js";
import { sentenceNodes } from "./words.js";
import { textBox, legendNodes } from "./chips.js";
import { panelNodes } from "./panels.js";
import { player } from "./player.js";
import { editor } from "./editor.js";
import { thresholds } from "./thresholds.js";

const SAVE_MS = 150; // the place is told to the kernel when the reader rests

export default {
  render({ model, el: root }) {
    try {
      return stepper(model, root);
    } catch (error) {
      root.append(el("p", { class: "ngc trouble", role: "alert" }, `The Stepper could not be drawn: ${error.message}`));
      throw error;
    }
  },
};

function stepper(model, root) {
  const state = { doc: JSON.parse(model.get("story")), at: 0, unfolded: false, open: false };
  const bounded = (i) => Math.max(0, Math.min(state.doc.events.length - 1, i));
  state.at = bounded(model.get("at"));

  let saving = 0;
  const go = (i) => {
    const at = bounded(i);
    if (at === state.at) return;
    model.set("at", at); // all views of this model hear of it, at once and without the kernel
    clearTimeout(saving);
    saving = setTimeout(() => quietly(() => model.save_changes()), SAVE_MS);
  };

  /** Ask for another story. The kernel must know the place first, to stay at the same word. */
  const ask = (request) => {
    clearTimeout(saving);
    quietly(() => model.save_changes());
    return send(model, { request, at: state.at });
  };
  const parts = build(state, go, ask);
  root.append(parts.frame);

  const onAt = () => {
    state.at = bounded(model.get("at"));
    parts.show();
  };
  const onStory = () => {
    parts.stop();
    state.doc = JSON.parse(model.get("story"));
    state.at = bounded(model.get("at"));
    state.unfolded = state.open = false;
    parts.show();
  };
  const onInputs = () => parts.fill(model.get("inputs"));
  const onCompared = () => parts.compare(model.get("compared"));
  const onMessage = (message) => {
    if (message?.kind === "answer") parts.answer(message.ok, message.line);
  };
  const heard = [["change:at", onAt], ["change:story", onStory], ["change:inputs", onInputs],
    ["change:compared", onCompared], ["msg:custom", onMessage]];
  for (const [name, listener] of heard) model.on(name, listener);

  parts.fill(model.get("inputs"));
  parts.compare(model.get("compared"));
  parts.show();
  const watcher = new ResizeObserver(() => parts.resized());
  watcher.observe(root);
  return () => {
    parts.stop();
    watcher.disconnect();
    clearTimeout(saving);
    for (const [name, listener] of heard) model.off(name, listener);
  };

  /** The fixed parts, made once; `show` redraws what depends on the event. */
  function build(state, go, ask) {
    const choices = model.get("choices");
    const text = textBox(() => redraw("unfolded"));
    const legend = el("p", { class: "legend" });
    const words = el("p", { class: "words", role: "status", "aria-live": "polite" });
    const totals = el("dl", { class: "totals" });
    const see = el("div", { class: "see" });
    const ladder = el("div", { class: "ladder" });
    const side = el("div", { class: "side" });
    const evidence = el("div", { class: "two evidence" }, ladder, side);
    const windows = el("div", { class: "windows" });
    const keysId = freshId("keys");

    const controls = player(state, go, (on) => words.setAttribute("aria-live", on ? "off" : "polite"));
    let asked = null; // who asked last hears the answer
    const setup = editor(choices, (request) => { asked = setup; return ask(request); });
    const numbers = model.get("compared").rows ? thresholds(choices, (request) => { asked = numbers; return ask(request); }, go) : null;
    const frame = el("section", { class: "ngc stepper", tabindex: "0", role: "group", "aria-label": "Stepper",
      "aria-describedby": keysId, onkeydown: controls.key },
      el("div", { class: "panel stage" }, setup.node, windows, controls.node, text.node, legend,
        el("div", { class: "two say" }, words, totals),
        see),
      numbers?.node,
      evidence);

    let width = 0;
    let shownDoc = null;
    const show = () => {
      const { doc, at } = state;
      const event = doc.events[at];
      if (doc !== shownDoc) {
        seeButtons(see, doc, go, keyHelp(keysId));
        windowButtons(windows, doc, ask);
        shownDoc = doc;
      }
      controls.show();
      text.show(doc, at, width || 800, state.unfolded);
      legend.replaceChildren(...legendNodes(doc, at));
      words.replaceChildren(...sentenceNodes(doc, event.s));
      totals.replaceChildren(...totalNodes(event));
      const panels = panelNodes(doc, at, state.open, () => redraw("open"));
      ladder.replaceChildren(...panels.ladder);
      side.replaceChildren(...panels.side);
      side.hidden = !panels.side.length;
      evidence.classList.toggle("alone", side.hidden);
      for (const button of see.querySelectorAll("button")) {
        button.setAttribute("aria-pressed", String(Number(button.value) === at));
      }
      numbers?.show(at);
      const seen = doc.see.find((stop) => stop[0] === at);
      see.querySelector(".hint").textContent = seen ? seen[2] : "";
    };
    /** Turn a fold over, and keep the focus on its button, which is drawn anew. */
    const redraw = (name) => {
      const cls = document.activeElement?.className;
      state[name] = !state[name];
      show();
      if (cls) frame.querySelector(`button.${cls}`)?.focus();
    };
    const resized = () => {
      const now = text.node.clientWidth;
      if (Math.abs(now - width) < 24) return; // a scroll bar that comes and goes is no news
      width = now;
      show();
    };
    const fill = (inputs) => {
      setup.fill(inputs);
      numbers?.fill(inputs.rule);
    };
    const answer = (ok, line) => (asked ?? setup).answer(ok, line);
    return { frame, show, resized, stop: controls.stop, fill, answer, compare: (document) => numbers?.compare(document) };
  }
}

function keyHelp(id) {
  const key = (name) => el("kbd", {}, name);
  return el("p", { class: "keys", id }, key("←"), " ", key("→"), " step · ", key("Space"), " play · ", key("Home"), " ", key("End"), " · ", key("Esc"), " back to the notebook");
}

function totalNodes(event) {
  const [drafted, accepted, passes, tokens] = event.t;
  const open = event.k === "d" ? event.o + (event.y == null ? 0 : 1) : 0;
  const percent = drafted ? `${Math.round((100 * accepted) / drafted)} %` : "–";
  const rate = passes ? (tokens / passes).toFixed(2) : "–";
  const entry = (term, figureText, more) =>
    el("div", {}, el("dt", {}, term), el("dd", {}, figureText, more && el("small", {}, ` ${more}`)));
  return [
    entry("Drafted", figure(drafted), open ? `+ ${open} open` : ""),
    entry("Accepted", figure(accepted), ""),
    entry("Acceptance", percent, ""),
    entry("Tokens a pass", rate, passes ? `${figure(tokens)} / ${figure(passes)}` : ""),
  ];
}

function seeButtons(see, doc, go, help) {
  see.replaceChildren(
    el("small", {}, "See:"),
    ...doc.see.map(([at, label, hint]) =>
      el("button", { type: "button", value: at, title: hint, "aria-pressed": "false", onclick: () => go(at) }, label)),
    help,
    el("p", { class: "hint" }),
  );
}

/** For a text longer than a story: which window this is, and the way to the next. */
function windowButtons(node, doc, ask) {
  const whole = doc.start <= 1 && doc.end === doc.total;
  node.hidden = whole;
  if (whole) return node.replaceChildren();
  const where = `Tokens ${figure(doc.start)} to ${figure(doc.end)} of ${figure(doc.total)}; a story shows about 1,000 at a time.`;
  const button = (label, start) => el("button", { type: "button", onclick: () => ask({ start }) }, label);
  node.replaceChildren(
    el("span", {}, where),
    ...(doc.start > 1 ? [button("‹ From the beginning", 1)] : []),
    ...(doc.end < doc.total ? [button("Go on ›", doc.end)] : []),
  );
}

function send(model, question) {
  if (model.comm_live === false) return false;
  return quietly(() => model.send({ kind: "ask", ...question }));
}

/** Do it; false if the connection to the kernel does not let us. */
function quietly(act) {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}
