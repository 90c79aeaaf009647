// Tokens and sentences as the document writes them (lesson/document.py), into the page.
import { el, seen, spoken } from "./dom.js";

const SPOKEN_MARKS = { "·": "space", "↵": "line end", "⇥": "tab", "␍": "return", "⍽": "space" };
/** The class that gives each cache its colour. */
export const INK = { context: "ctx", dynamic: "dyn", static: "sta" };

/** The parts of one piece; bidi-isolated, so that no text can turn its neighbours round. */
export function pieceNodes(piece) {
  if (typeof piece === "string") return [el("bdi", {}, piece)];
  return piece.map((part) => {
    if (typeof part === "string") return el("bdi", {}, part);
    const [kind, text] = part;
    const name = SPOKEN_MARKS[text];
    return el("span", { class: `p-${kind}` }, ...(name ? [seen(text), spoken(` ${name} `)] : [text]));
  });
}

/** A piece as one string, for labels. */
export const pieceText = (piece) =>
  typeof piece === "string" ? piece : piece.map((part) => (typeof part === "string" ? part : part[1])).join("");

/** Several tokens in a row, as one n-gram. */
export function gramNodes(doc, tokens) {
  return tokens.flatMap((token, i) => {
    const gap = doc.between ? " " : el("span", { class: "p-gap" });
    return [...(i ? [gap] : []), ...pieceNodes(doc.pieces[token])];
  });
}

const LONG = 28; // characters; a longer n-gram may break over lines

export function gram(doc, tokens) {
  const length = tokens.reduce((sum, token) => sum + pieceText(doc.pieces[token]).length + 1, 0);
  return el("span", { class: length > LONG ? "tok long" : "tok" }, ...gramNodes(doc, tokens));
}

/** The name of a cache in its colour. */
export const cacheName = (name) => el("span", { class: INK[name] }, name);

/** A sentence: strings and segments. Figures keep together with their signs. */
export function sentenceNodes(doc, segments) {
  return segments.map((segment) => {
    if (typeof segment === "string") return keepTogether(segment);
    const [kind, ...inside] = segment;
    if (kind === "t") return gram(doc, inside);
    if (kind === "c") return cacheName(inside[0]);
    if (kind === "b") return el("b", {}, ...sentenceNodes(doc, inside));
    return el("span", { class: kind === "y" ? "yes" : "no" }, ...inside);
  });
}

const keepTogether = (text) =>
  text.replace(/(n|\d) (=|≥|<|×|%)/g, "$1\u00a0$2").replace(/(=|≥|<|×) (?=\d)/g, "$1\u00a0");
