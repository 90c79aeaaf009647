// Small pictures in SVG.
const SVG = "http://www.w3.org/2000/svg";

/** An SVG element with its attributes. */
export function svgNode(name, attrs) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attrs)) made.setAttribute(key, value);
  return made;
}

/** A word in a picture; `anchor` is "start", "middle" or "end". */
export function svgText(x, y, text, anchor, cls = "") {
  const made = svgNode("text", { x, y, "text-anchor": anchor, class: cls });
  made.textContent = text;
  return made;
}
