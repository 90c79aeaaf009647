// Keys that the notebook around a view would take away.

/**
 * For each element that can have the focus. JupyterLab's shortcuts look from the focused element
 * outwards and take the key at the first match, so the mark on a frame around it comes too late.
 */
export const OWN_KEYS = { "data-lm-suppress-shortcuts": "true" };

/** Arrow keys choose among radio buttons and scroll tables: they stay inside. */
export function keepArrows(event) {
  if (event.key.startsWith("Arrow")) event.stopPropagation();
}
