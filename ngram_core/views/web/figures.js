// The figures of an experiment as a table; cells are brought up to date in place.
import { el } from "./dom.js";
import { keepArrows } from "./keys.js";

export default {
  render({ model, el: root }) {
    const body = el("tbody");
    const head = el("thead");
    const note = el("p", { class: "note" });
    const caption = el("caption");
    const scroll = el("div", { class: "scroll", tabindex: "0", role: "region", onkeydown: keepArrows },
      el("table", {}, caption, head, body));
    root.append(el("section", { class: "ngc figures" }, el("div", { class: "panel" }, scroll, note)));

    const show = () => {
      const { title, groups, columns, rows, empty, notes } = model.get("table");
      caption.textContent = title;
      scroll.setAttribute("aria-label", `${title}, scrolls sideways`);
      if (!head.childElementCount) head.append(...headRows(groups, columns));
      if (rows.length === 0) {
        body.replaceChildren(el("tr", {}, el("td", { class: "empty", colspan: columns.length }, empty)));
      } else {
        if (body.childElementCount !== rows.length || body.querySelector(".empty")) {
          body.replaceChildren(...rows.map(({ cells }) => bodyRow(cells, columns)));
        }
        rows.forEach(({ cells, selected }, i) => {
          body.children[i].classList.toggle("sel", selected);
          cells.forEach((text, j) => {
            const cell = body.children[i].children[j];
            if (cell.textContent !== text) cell.textContent = text;
          });
        });
      }
      note.textContent = notes;
    };
    model.on("change:table", show);
    show();
    return () => model.off("change:table", show);
  },
};

function headRows(groups, columns) {
  const top = groups.map(([text, span, style]) =>
    text ? el("th", { colspan: span, scope: "colgroup", class: style }, text) : el("td", { colspan: span }));
  const bottom = columns.map(([text, style]) => el("th", { scope: "col", class: style }, text));
  return [el("tr", {}, top), el("tr", {}, bottom)];
}

function bodyRow(cells, columns) {
  return el("tr", {}, cells.map((text, j) =>
    j === 0 ? el("th", { scope: "row" }, text) : el("td", { class: columns[j][1] }, text)));
}
