// One panel per cache: the n-grams tried, their followers, both tests, the verdict.
import { el, figure, plural, seen, spoken } from "./dom.js";
import { gained, rowsOf, readRow, tail } from "./story.js";
import { INK, cacheName, gram, gramNodes } from "./words.js";

const FEW = 5; // followers shown before "more"
const TITLES = {
  context: ["1 · Context cache", "this text so far · tried first, from n = 4 down"],
  dynamic: ["2 · Dynamic cache", "earlier texts · stricter, tried only if no n passed above"],
  static: ["3 · Static cache", "a big corpus · 2-grams only"],
};

/** The three panels at event i; `open` tells whether long lists are shown whole. */
export function panelNodes(doc, i, open, onMore) {
  const drawing = { doc, i, event: doc.events[i], open, onMore };
  const off = Object.keys(TITLES).filter((cache) => doc.caches[cache] === "off");
  const shown = (cache, body) => (off.includes(cache) ? [] : [panel(cache, body(drawing))]);
  return {
    ladder: [...shown("context", contextBody), ...shown("dynamic", dynamicBody), ...switchedOff(off)],
    side: shown("static", staticBody),
  };
}

/** Caches that are switched off take one line, not a panel each. */
function switchedOff(off) {
  if (!off.length) return [];
  if (off.length === 3) return [el("p", { class: "idle off" }, "All caches are switched off: nothing can be guessed.")];
  const names = off.flatMap((cache, j) => [...(j ? [" and "] : []), cacheName(cache)]);
  return [el("p", { class: "idle off" }, "Switched off: ", ...names, ".")];
}

function panel(cache, body) {
  const [title, note] = TITLES[cache];
  const head = el("header", {}, el("h3", { class: INK[cache] }, title), el("p", {}, note));
  return el("section", { class: `panel h-${INK[cache]}`, "aria-label": title.slice(4) }, head, ...body);
}

const idle = (...text) => [el("p", { class: "idle" }, ...text)];

function contextBody(drawing) {
  return drawing.event.k === "c" ? countedRows(drawing) : ladderRows(drawing, "context");
}

function dynamicBody(drawing) {
  const { doc, event } = drawing;
  if (doc.caches.dynamic === "empty") return idle("Empty: no earlier text was counted.");
  if (event.k === "c") return idle("Unchanged: the counts of this text are merged in at its end.");
  if (event.c === "context") return idle("Not tried: ", cacheName("context"), " has passed.");
  return ladderRows(drawing, "dynamic");
}

// ---- the rows of a ladder ---------------------------------------------------------------

const heads = (weighs) =>
  ["n", "looked up", weighs ? "count × weight = score (line)" : "count", "seen, F", "share of F", "verdict"];

function ladderRows(drawing, cache) {
  const { doc, i, event } = drawing;
  const tried = rowsOf(event, cache);
  if (!tried.length) return idle("Nothing to look up: two tokens must stand before the first guess.");
  const before = tail(doc, i);
  const all = tried.map((row) => ({ ...row, tokens: before.slice(-row.n) }));
  for (let n = tried.at(-1).n - 1; n >= 1; n--) {
    all.push({ cache, n, verdict: "not tried", found: false, tokens: before.slice(-n) });
  }
  const looked = all.filter((row) => !["too short", "not tried"].includes(row.verdict));
  const head = el("div", { class: "row head", role: "row" }, heads(tried.some(weighed)).map((text) => el("span", { role: "columnheader" }, text)));
  const rows = all.map((row) => ladderRow(drawing, row, row === looked[0], row === looked.at(-1)));
  return [el("div", { role: "table", "aria-label": `n-grams tried in the ${cache} cache` }, head, rows)];
}

const WORDS = { "too short": "text too short", "not seen": "not seen", "not tried": "not tried" };

function ladderRow(drawing, row, isFirst, isLast) {
  const { doc } = drawing;
  const state = row.passes ? "win" : row.found ? "fail" : row.verdict === "not seen" ? "unseen" : "dim";
  const edge = `${isFirst ? " first" : ""}${isLast ? " last" : ""}`;
  const tokens = row.verdict === "too short" ? null : gramNodes(doc, row.tokens);
  const cells = [
    cell("n", el("i", { "aria-hidden": "true" }), spoken("n = "), String(row.n)),
    cell("gram", tokens && (state === "dim" ? el("span", {}, tokens) : el("mark", {}, tokens))),
  ];
  if (row.found) cells.push(...judged(drawing, row));
  else cells.push(cell("v plain", WORDS[row.verdict]));
  return el("div", { class: `row ${state}${edge}`, role: "row" }, cells);
}

const cell = (cls, ...children) => el("div", { class: cls, role: "cell" }, ...children);

function judged(drawing, row) {
  return [
    cell("fol", followers(drawing, row)),
    cell("g a", seenGauge(row)),
    cell("g p", shareGauge(row)),
    cell("v", verdict(drawing.doc, row)),
  ];
}

function verdict(doc, row) {
  if (row.passes) {
    const chip = el("span", { class: `tok ghost h-${INK[row.cache]}` }, gramNodes(doc, [row.best]));
    return [el("span", { class: "yes" }, "✓ passes"), el("small", {}, seen("→ "), spoken("drafts "), chip)];
  }
  const why = row.verdict === "too rare and too split" ? "too rare, too split" : row.verdict;
  return [el("span", { class: "no" }, "✕ fails"), el("small", {}, why)];
}

// ---- gauges -----------------------------------------------------------------------------

/** How often the n-gram was seen, against how often it must have been. */
export function seenGauge(row) {
  const full = Math.max(row.sum, 2 * row.minSum, 1);
  return gauge("F", figure(row.sum), figure(row.minSum), row.sum >= row.minSum, row.sum / full, row.minSum / full);
}

/** The share of the best one, against the share needed; the integers compared stand below. */
export function shareGauge(row) {
  const ok = row.left >= row.right;
  const nodes = gauge("share", row.share, `${row.minPercent} %`, ok, row.left / row.sum / 100, row.minPercent / 100);
  const title = `100 × the count of the best one, against ${row.minPercent} × ${figure(row.sum)}`;
  return [...nodes, el("small", { title }, `${figure(row.left)} ${ok ? "≥" : "<"} ${figure(row.right)}`)];
}

function gauge(name, left, right, ok, filled, needed) {
  const at = (part) => `${100 * Math.min(1, Math.max(0, part))}%`;
  const sign = el("span", { class: ok ? "yes" : "no" }, seen(ok ? "✓" : "✕"), spoken(ok ? " holds" : " fails"));
  const track = el(
    "span",
    { class: `track${ok ? "" : " bad"}`, "aria-hidden": "true" },
    el("i", { style: { width: at(filled) } }),
    el("s", { style: { left: at(needed) } }),
  );
  const words = el("span", { class: "cmp" }, el("span", { class: "lbl" }, `${name} `), `${left} ${ok ? "≥" : "<"} ${right} `, sign);
  return [words, track];
}

// ---- followers as bars ------------------------------------------------------------------

const weighed = (row) => row.found && row.followers.some((follower) => follower[2] > 1);

function followers(drawing, row) {
  const { doc, open, onMore } = drawing;
  const few = open ? row.followers : row.followers.slice(0, FEW);
  const weighs = weighed(row);
  const most = Math.max(...row.followers.map((f) => f[1]), 1);
  const top = Math.max(...row.followers.map((f) => f[3]), 1);
  const nodes = few.flatMap(([token, count, weight, score]) => {
    const best = token === row.best ? " best" : "";
    const line = weighs && el("u", { style: { width: `${(100 * Math.max(0, score)) / top}%` } });
    const bar = el("span", { class: `bar${best}`, "aria-hidden": "true" }, el("i", { style: { width: `${(100 * count) / most}%` } }), line);
    const times = weighs ? [" × ", el("span", { class: weight > 1 ? "sta" : "" }, figure(weight)), ` = ${figure(score)}`] : [];
    const star = best ? [seen(" ★"), spoken(" best")] : [];
    return [el("span", { class: `t${best}` }, gramNodes(doc, [token])), bar, el("span", { class: `f${best}` }, figure(count), times, star)];
  });
  return [...nodes, moreButton(row, few.length, open, onMore)];
}

function moreButton(row, shown, open, onMore) {
  const hidden = row.followers.length - shown;
  const rest = row.rest ? `+ ${figure(row.rest)} more, sum ${figure(row.restSum)}` : "";
  if (!hidden && !(open && row.followers.length > FEW)) return rest ? el("small", { class: "rest" }, rest) : null;
  const label = open ? "fewer" : `+ ${figure(hidden + row.rest)} more`;
  const button = el("button", { type: "button", class: "more", "aria-expanded": String(open), onclick: onMore }, label);
  return el("span", { class: "rest" }, button, open && rest ? el("small", {}, ` ${rest}`) : null);
}

// ---- the static cache -------------------------------------------------------------------

function staticBody(drawing) {
  const { doc, event } = drawing;
  if (doc.caches.static === "empty") return idle("Empty: no corpus was counted.");
  if (event.k === "c") return idle("Read-only: it never changes.");
  if (event.w == null) return idle("Not read: two tokens must stand before the first guess.");
  return [el("div", { class: "parts" }, weightsPart(drawing), lastPart(drawing))];
}

function weightsPart(drawing) {
  const { doc, i, event, open, onMore } = drawing;
  const [list, rest, restSum] = event.w;
  const pair = el("p", { class: "gram" }, el("mark", {}, gramNodes(doc, tail(doc, i).slice(-2))));
  const head = el("h4", {}, "Weights, for every n");
  if (!list.length) {
    return el("div", { class: "part" }, head, pair, el("small", {}, "Not seen: every token weighs × 1."));
  }
  const most = Math.max(...list.map((f) => f[1]));
  const few = open ? list : list.slice(0, FEW);
  const rows = few.flatMap(([token, count]) => [
    el("span", { class: "t" }, gramNodes(doc, [token])),
    el("span", { class: "bar best", "aria-hidden": "true" }, el("i", { style: { width: `${(100 * count) / most}%` } })),
    el("span", { class: "f" }, `${figure(count)} → `, el("span", { class: "sta" }, `× ${figure(doc.weight ? doc.weight * count : 1)}`)),
  ]);
  const more = moreButton({ followers: list, rest, restSum }, few.length, open, onMore);
  const others = doc.weight ? "All other tokens weigh × 1." : "The weight is switched off: all tokens weigh × 1.";
  return el("div", { class: "part" }, head, pair, el("div", { class: "fol" }, rows, more), el("small", {}, others));
}

function lastPart({ doc, event }) {
  const head = el("h4", {}, "A guess of its own, last");
  const raw = event.r.find((row) => row[0] === "static");
  if (!raw) {
    return el("div", { class: "part" }, head, el("small", {}, "Not tried: ", cacheName(event.c), " has passed."));
  }
  const row = readRow(raw);
  if (!row.found) return el("div", { class: "part" }, head, el("small", {}, "No followers, so no guess."));
  const tests = [el("div", { class: "g a" }, seenGauge(row)), el("div", { class: "g p" }, shareGauge(row))];
  return el("div", { class: `part${row.passes ? " win" : ""}` }, head, tests, el("div", { class: "v" }, verdict(doc, row)));
}

// ---- what a pass counts -----------------------------------------------------------------

function countedRows({ doc, event }) {
  const fresh = gained(event);
  const end = event.l + fresh - doc.first;
  const are = fresh === 1 ? "is counted as a follower" : "are counted as followers";
  const words = `${plural(fresh, "new token")} ${are} of what stands before:`;
  const rows = event.u.map((counts, j) => {
    const n = 4 - j;
    const items = counts.map((count, k) => (count ? counted(doc, end - fresh + k, n, count) : null));
    const some = items.some(Boolean);
    const node = el("div", { class: "n" }, el("i", { "aria-hidden": "true" }), spoken("n = "), String(n));
    return el("div", { class: "row up" }, node, el("div", { class: "ups" }, some ? items : el("small", {}, "text too short")));
  });
  return [el("p", { class: "idle" }, words), ...rows];
}

function counted(doc, place, n, count) {
  const from = doc.text.slice(place - n, place);
  const state = count === 1 ? "new" : `now ${figure(count)}`;
  return el("span", { class: "up1" }, el("span", { class: "gram" }, gramNodes(doc, from)), seen(" → "), spoken(" followed by "), gram(doc, [doc.text[place]]), el("small", {}, ` ${state}`));
}
