// What a widget gets as its script, SOURCE being the view's own and NAME its checksum. A page never
// forgets a module that it has loaded, and loads one anew for each widget; so all widgets of a kind
// share theirs. And what shows widgets keeps the element of a view that is gone: it is left empty.
const modules = (globalThis[Symbol.for("ngram-core modules")] ??= {});

async function load() {
  const url = URL.createObjectURL(new Blob([SOURCE], { type: "text/javascript" }));
  try {
    return await import(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Escape goes from a view to the notebook's cell around it, which no Tab would reach. */
function escape(event) {
  const cell = event.key === "Escape" && event.currentTarget.closest(".jp-Cell");
  if (!cell) return;
  event.preventDefault();
  event.stopPropagation();
  cell.focus({ preventScroll: true });
}

export default async () => {
  const given = (await (modules[NAME] ??= load())).default;
  const view = typeof given === "function" ? await given() : given;
  return {
    ...view,
    render(context) {
      const leave = view.render(context);
      context.el.addEventListener("keydown", escape, true);
      return () => {
        leave?.();
        context.el.removeEventListener("keydown", escape, true);
        context.el.replaceChildren();
      };
    },
  };
};
