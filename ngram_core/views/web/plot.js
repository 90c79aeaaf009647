// A plotly figure. Its script has 5 MB, and a page never forgets a module that it has loaded: so all
// figures of a page share one. The kernel sends it along with its first figure; a page that has none
// (it was opened anew) asks for it.
const SHARED = Symbol.for("ngram-core plotly");

export default () => {
  let figure;
  return {
    async initialize(context) {
      figure = (await plotly(context)).default();
      return figure.initialize(context);
    },
    render: (context) => figure.render(context),
  };
};

function plotly(context) {
  const shared = (globalThis[SHARED] ??= {});
  const name = context.model.get("_script_name");
  shared[name] ??= load(context).catch((error) => {
    delete shared[name];
    throw error;
  });
  return shared[name];
}

async function load({ model, signal }) {
  const source = model.get("_script") || (await ask(model, signal));
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  try {
    return await import(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}

function ask(model, signal) {
  return new Promise((done, failed) => {
    model.on("msg:custom", (message) => message?.kind === "script" && done(message.source));
    signal?.addEventListener("abort", () => failed(new Error("the figure was closed")));
    model.send({ kind: "script" });
  });
}
