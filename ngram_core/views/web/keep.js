// Keep: a button that downloads the notebook on this page, as it was saved last.
import { el } from "./dom.js";

export default {
  render({ el: root }) {
    const line = el("p", { class: "line", role: "status" });
    const button = el("button", { type: "button", class: "main", onclick: () => { line.textContent = download(); } }, "Download this notebook");
    root.append(el("section", { class: "ngc asked panel", "aria-label": "Keep", "data-lm-suppress-shortcuts": "true" },
      el("div", { class: "task" }, "Save it first: Ctrl + S, or ⌘ + S on a Mac."),
      el("div", { class: "answer" }, button), line));
  },
};

/** Asks the server for the file; what to say of it. */
function download() {
  const config = document.getElementById("jupyter-config-data");
  const base = config && JSON.parse(config.textContent).baseUrl;
  const path = base && location.pathname.slice(base.length - 1).match(/\/(?:tree|notebooks)\/(.+\.ipynb)$/);
  if (!path) return "This page does not say where the notebook is: choose File, Download in the menu.";
  const name = decodeURIComponent(path[1].split("/").pop());
  el("a", { href: `${base}files/${path[1]}?download=1`, download: name }).click();
  return `${name} goes to your downloads, as it was saved last.`;
}
