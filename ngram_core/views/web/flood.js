// A text far too long would make the page itself crawl: it stays outside, and the line says so.
import { figure } from "./dom.js";

/** For a field's `onpaste`: `say(words)` tells the reader. */
export const refuseFlood = (most, say) => (event) => {
  const length = event.clipboardData?.getData("text").length ?? 0;
  if (length <= most) return;
  event.preventDefault();
  say(`The pasted text has ${figure(length)} characters, and this field takes up to ${figure(most)}. Nothing was changed.`);
};
