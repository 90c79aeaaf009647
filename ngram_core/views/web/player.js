// Where the reader is in the story, and how they move: buttons, keys, slider, word, play.
import { el, figure, freshId, offer } from "./dom.js";
import { eventOfWord, wordOf } from "./story.js";

const SPEEDS = [["slow", 2000], ["normal", 1000], ["fast", 400]];

/**
 * The controls. `state` has doc and at; `go(i)` moves, `playing(on)` is told when play starts
 * and stops. Returns the node, `show()` to bring it up to date, `key(event)` and `stop()`.
 */
export function player(state, go, playing) {
  let timer = 0;
  const last = () => state.doc.events.length - 1;
  const back = el("button", { type: "button", onclick: () => go(state.at - 1) }, "‹ Back");
  const next = el("button", { type: "button", onclick: () => go(state.at + 1) }, "Next ›");
  const play = el("button", { type: "button", class: "main", onclick: toggle }, "▶ Play");
  const slider = el("input", {
    type: "range", min: "1", step: "1", "aria-label": "Jump to step", oninput: (e) => go(e.target.value - 1),
  });
  const count = el("output", { class: "count" });
  const wordId = freshId("word");
  const word = el("input", {
    type: "number", id: wordId, min: "2", inputmode: "numeric", onchange: (e) => toWord(e.target.value),
  });
  const wordLabel = el("label", { for: wordId });
  const speed = el("select", { "aria-label": "Speed", onchange: restart }, SPEEDS.map(([name, ms]) =>
    el("option", { value: ms, selected: name === "normal" }, name)));

  const node = el("div", { class: "ctl" },
    el("div", { class: "btns" }, back, play, next),
    el("div", { class: "jump" }, slider, count),
    el("div", { class: "fine" },
      el("span", { class: "word" }, wordLabel, word), speed));

  function toWord(value) {
    const place = Math.round(Number(value));
    if (value !== "" && Number.isFinite(place)) go(eventOfWord(state.doc, place));
    show();
  }

  function toggle() {
    if (timer) return stop();
    if (state.at >= last()) go(0);
    start();
    playing(true);
    face();
  }

  function start() {
    timer = setInterval(() => {
      if (state.at >= last() || !node.isConnected) stop();
      else go(state.at + 1);
    }, Number(speed.value));
  }

  function restart() {
    if (!timer) return;
    clearInterval(timer);
    start();
  }

  function stop() {
    if (!timer) return;
    clearInterval(timer);
    timer = 0;
    playing(false);
    face();
  }

  function face() {
    play.textContent = timer ? "❚❚ Pause" : "▶ Play";
  }

  /** The frame's keys; the slider, fields and buttons keep their own. */
  function key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const tag = event.target.tagName;
    if (["INPUT", "TEXTAREA", "SELECT", "SUMMARY"].includes(tag)) {
      event.stopPropagation(); // or the notebook takes Enter for itself
      return;
    }
    if (event.key === " " && tag === "BUTTON") return;
    const move = { ArrowLeft: () => go(state.at - 1), ArrowRight: () => go(state.at + 1),
      Home: () => go(0), End: () => go(last()), " ": toggle }[event.key];
    if (!move) return;
    event.preventDefault();
    event.stopPropagation();
    move();
  }

  function show() {
    const steps = last() + 1;
    slider.max = steps;
    slider.value = state.at + 1;
    slider.setAttribute("aria-valuetext", `step ${state.at + 1} of ${steps}`);
    slider.style.setProperty("--done", `${(100 * state.at) / Math.max(1, last())}%`);
    count.replaceChildren(el("b", {}, figure(state.at + 1)), ` / ${figure(steps)}`);
    wordLabel.textContent = state.doc.between ? "Word" : "Token";
    word.max = state.doc.total;
    word.value = wordOf(state.doc, state.at);
    offer(back, state.at > 0);
    offer(next, state.at < last());
  }

  return { node, show, key, stop };
}
