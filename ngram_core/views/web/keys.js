/** Arrow keys choose among radio buttons and scroll tables: they stay inside. */
export function keepArrows(event) {
  if (event.key.startsWith("Arrow")) event.stopPropagation();
}
