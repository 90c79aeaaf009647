// Elements from plain data. Text only ever goes in as text, never as HTML.

/**
 * What can have the focus keeps its keys. JupyterLab's shortcuts look from the focused element
 * outwards and take the key at the first match, so a mark on a frame around it comes too late.
 */
const FOCUSABLE = new Set(["button", "input", "select", "summary", "textarea"]);

/** An element: `attrs` set as attributes (true: empty, null or false: left out), `on*` as listeners. */
export function el(tag, attrs, ...children) {
  const node = document.createElement(tag);
  if (FOCUSABLE.has(tag) || attrs?.tabindex != null) node.dataset.lmSuppressShortcuts = "true";
  for (const [name, value] of Object.entries(attrs ?? {})) {
    if (value == null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [k, v] of Object.entries(value)) node.style.setProperty(k, v);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child != null && child !== false));
  return node;
}

/** Says whether a control can be used now; one that cannot any more gives the focus to its view. */
export function offer(control, usable, how = "disabled") {
  const left = !usable && control === document.activeElement;
  control[how] = !usable;
  if (left) control.closest("section[tabindex]").focus({ preventScroll: true });
}

/** Text that only a screen reader gets. */
export const spoken = (text) => el("span", { class: "vh" }, text);

/** A mark that only the eye gets. */
export const seen = (text, cls) => el("span", { "aria-hidden": "true", class: cls }, text);

/** A number with separators, the same on every machine. */
export const figure = (n) => Number(n).toLocaleString("en-US");

export const plural = (n, word) => `${figure(n)} ${word}${n === 1 ? "" : /s$/.test(word) ? "es" : "s"}`;

/** An id that no other view on the page has: each view loads this module for itself. */
export function freshId(name) {
  globalThis.ngcLastId = (globalThis.ngcLastId ?? 0) + 1;
  return `ngc-${name}-${globalThis.ngcLastId}`;
}
