// A table of bars: measured ones solid, published ones hollow and in italics below.
import { el, seen, spoken } from "./dom.js";
import { keepArrows } from "./keys.js";

export default {
  render({ model, el: root }) {
    const place = el("div", {});
    root.append(el("section", { class: "ngc bars" }, place));
    const show = () => {
      const { title, rowTitle, columns, rows, note } = model.get("bars");
      place.replaceChildren(el("div", { class: "panel" },
        el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${title}, scrolls sideways`, onkeydown: keepArrows },
          el("table", {}, el("caption", {}, title),
            el("thead", {}, el("tr", {}, [rowTitle, ...columns].map((name) => el("th", { scope: "col" }, name)))),
            el("tbody", {}, rows.map(([name, cells]) => el("tr", {}, el("th", { scope: "row" }, name),
              cells.map(([here, published], j) => el("td", { "data-name": columns[j] },
                here || published ? [bar(here, "here"), bar(published, "pub")] : el("span", { class: "told" }, seen("–"), spoken("no figure"))))))))),
        el("p", { class: "note" }, note)));
    };
    model.on("change:bars", show);
    show();
    return () => model.off("change:bars", show);
  },
};

function bar(given, cls) {
  if (!given) return null;
  const [share, told] = given;
  return el("div", { class: `one ${cls}` },
    el("span", { class: "told" }, cls === "pub" ? el("span", { class: "vh" }, "not measured here: ") : null, told),
    el("span", { class: "track", "aria-hidden": "true" }, el("i", { style: { width: `${Math.max(100 * share, 0.4)}%` } })));
}
