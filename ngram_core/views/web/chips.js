// The text as chips: what is written, the tail that is looked up, guesses and their fate.
import { el, figure, plural, seen, spoken } from "./dom.js";
import { openGuesses, gained } from "./story.js";
import { INK, cacheName, pieceNodes, pieceText } from "./words.js";

const LINES = 3; // of text before the tail, at most; older chips fold
const FOLD_STEP = 8; // chips fold in groups, so that the text does not move at every step

/**
 * The text box. `show(doc, i, width, unfolded)` brings it to event i; of the past, which hardly
 * changes from step to step, it touches only the chips that come and go.
 */
export function textBox(onFold) {
  const [fold, past, end] = [0, 1, 2].map(() => el("span", { class: "part-of-text" }));
  const node = el("div", { class: "text", role: "group" }, fold, past, end);
  let has = { doc: null, from: 0, to: 0 };

  function show(doc, i, width, unfolded) {
    const event = doc.events[i];
    const guesses = openGuesses(doc, i);
    const written = doc.text.slice(0, event.l - doc.first);
    const tailed = event.k === "d" ? Math.min(4, written.length + guesses.length) : 0;
    const to = written.length - Math.max(0, tailed - guesses.length); // the rest is under brackets
    const from = unfolded ? 0 : foldAt(doc, written.slice(0, to), width);
    fold.replaceChildren(...foldNodes(doc, from, unfolded, onFold));
    showPast(doc, from, to);
    end.replaceChildren(event.k === "d" ? tailGroup(doc, event, written, guesses, tailed) : fate(doc, event, guesses));
    node.setAttribute("aria-label", textLabel(doc, i));
  }

  function showPast(doc, from, to) {
    const chips = (a, b) => doc.text.slice(a, b).map((token) => chip(doc, token, "past"));
    if (doc !== has.doc || from >= has.to || to <= has.from) {
      past.replaceChildren(...chips(from, to));
    } else {
      for (let n = has.from; n < from; n++) past.firstChild.remove();
      for (let n = to; n < has.to; n++) past.lastChild.remove();
      past.prepend(...chips(from, has.from));
      past.append(...chips(has.to, to));
    }
    has = { doc, from, to };
  }

  return { node, show };
}

function foldNodes(doc, from, unfolded, onFold) {
  const hidden = from + doc.first;
  if (unfolded && doc.first) return [earlier(doc.first), foldButton(hidden, true, onFold)];
  if (unfolded) return [foldButton(0, true, onFold)];
  if (!hidden) return [];
  return from ? [foldButton(hidden, false, onFold)] : [earlier(hidden)];
}

const earlier = (n) => el("span", { class: "togo" }, `… ${figure(n)} before`);

/** Where to start showing the past, so that it fills at most LINES lines. */
function foldAt(doc, past, width) {
  const room = LINES * Math.max(160, width - 40) * 0.9;
  let used = 0;
  let from = past.length;
  while (from > 0 && used < room) used += 13 + 8.5 * pieceText(doc.pieces[past[--from]]).length;
  return used < room ? 0 : Math.min(past.length, Math.ceil((from + 1) / FOLD_STEP) * FOLD_STEP);
}

function foldButton(hidden, unfolded, onFold) {
  const label = unfolded ? "fold" : `… ${figure(hidden)} before`;
  const title = unfolded ? "Show the last lines only" : "Show the text from its beginning";
  return el("button", { class: "fold", type: "button", title, "aria-expanded": String(unfolded), onclick: onFold }, label);
}

function chip(doc, token, cls, ...more) {
  const title = `token id ${doc.ids[token]}`;
  const piece = doc.pieces[token];
  const shown = typeof piece === "string" ? [piece] : pieceNodes(piece); // a chip isolates by itself
  return el("span", { class: `chip ${cls}`, title }, ...shown, ...more);
}

/** The last tokens under their brackets, with the guesses among them and the newest one. */
function tailGroup(doc, event, written, guesses, tailed) {
  const length = written.length + guesses.length;
  const all = [...written.map((token) => [token]), ...guesses];
  const shown = all.slice(Math.min(written.length - Math.max(0, tailed - guesses.length), length - tailed));
  const first = length - shown.length;
  const nodes = shown.map(([token, cache, n], j) => {
    const back = length - (first + j); // 1: the last token
    const under = back <= tailed ? brackets(event, back, tailed) : null;
    const tag = cache && guessTag(cache, n);
    const cls = `${under ? "tail over" : ""} ${cache ? `ghost h-${INK[cache]}` : ""}`;
    return chip(doc, token, cls, tag, under);
  });
  if (event.y != null) {
    nodes.push(chip(doc, event.y, `ghost now h-${INK[event.c]}`, guessTag(event.c, event.n)));
  }
  return el("span", { class: "grp" }, nodes);
}

function guessTag(cache, n) {
  return el("sup", { class: INK[cache] }, seen(cache[0] + n), spoken(` guess, ${cache} n = ${n} `));
}

/** Four lines under a chip, one for each n that covers it; the winner's is thick. */
function brackets(event, back, longest) {
  const lines = [4, 3, 2, 1].map((n) => {
    const covered = n >= back && n <= longest;
    const won = event.y != null && event.n === n && covered;
    const label = n === back && n <= longest ? el("b", {}, String(n)) : null;
    return el("span", { class: `seg${covered ? " l" : ""}${won ? " hit" : ""}` }, label);
  });
  const hue = event.y != null ? `h-${INK[event.c]}` : "";
  return el("span", { class: `under ${hue}`, "aria-hidden": "true" }, lines);
}

/** Guesses after the model has looked: accepted, rejected, dropped; and the model's own token. */
function fate(doc, event, guesses) {
  const nodes = guesses.map(([token], j) => {
    const [cls, sign, word] =
      j < event.a ? ["ok", "✓", "accepted"] : j === event.a ? ["bad", "✕", "rejected"] : ["skip", "–", "dropped"];
    return chip(doc, token, `${cls} marked`, mark(sign, word, cls === "ok" ? "yes" : cls === "bad" ? "no" : ""));
  });
  if (event.y != null) nodes.push(chip(doc, event.y, "model marked", mark("model", "the model’s own", "")));
  return el("span", { class: "grp" }, nodes);
}

const mark = (sign, word, cls) =>
  el("span", { class: `under word ${cls}` }, seen(sign), spoken(` (${word}) `));

/** One line that explains the marks in sight, and how much of the text is left. */
export function legendNodes(doc, i) {
  const event = doc.events[i];
  const left = doc.total - event.l - gained(event);
  const more = left ? `${plural(left, "token")} to come` : "end of the text";
  return [el("span", {}, ...marksInSight(doc, i, event)), el("span", {}, more)];
}

function marksInSight(doc, i, event) {
  if (event.k === "c") {
    const own = "boxed: the model’s own token";
    return [event.o ? `✓ accepted · ✕ rejected · – dropped unseen · ${own}` : own];
  }
  const guesses = openGuesses(doc, i);
  const last = event.y != null ? [event.y, event.c, event.n] : guesses.at(-1);
  const looked = event.l + event.o < 2 ? "" : "yellow: the last tokens, looked up as n = 4 to 1";
  if (!last) return [looked];
  const [, cache, n] = last;
  return [`${looked} · dashed: a guess, `, el("b", { class: INK[cache] }, cache[0] + n), " from ", cacheName(cache), `, n = ${n}`];
}

/** The text box in words, for a screen reader. */
function textLabel(doc, i) {
  const event = doc.events[i];
  const guesses = openGuesses(doc, i);
  const say = (token) => pieceText(doc.pieces[token]);
  const ending = doc.text.slice(Math.max(0, event.l - doc.first - 8), event.l - doc.first).map(say).join(" ");
  const open = guesses.length ? `; ${plural(guesses.length, "guess")} open: ${guesses.map((g) => say(g[0])).join(" ")}` : "";
  return `Text so far, ${plural(event.l, "token")}, ending in: ${ending}${open}`;
}
