// Predict and Exercise: a question, an answer given once or often, a reply in words.
import { el, freshId, offer } from "./dom.js";
import { refuseFlood } from "./flood.js";

const PATIENCE_MS = 6000;

export default {
  render({ model, el: root }) {
    const parts = model.get("kind") === "predict" ? prediction(model) : exercise(model);
    root.append(parts.frame);
    parts.show();
    model.on("change:reply", parts.show);
    return () => model.off("change:reply", parts.show);
  },
};

/** Send an answer; tell the reader if nobody hears it. */
function sender(model, line) {
  let waiting = 0;
  const say = (cls, text) => {
    line.className = `line ${cls}`;
    line.textContent = text;
  };
  const send = (typed) => {
    clearTimeout(waiting);
    say("", "Working …");
    try {
      if (model.comm_live === false) throw new Error("no kernel");
      model.send({ typed });
    } catch {
      return say("no", "The kernel is not there: run this cell again, then answer.");
    }
    waiting = setTimeout(() => say("no", "No answer from the kernel yet: it is busy, or stopped."), PATIENCE_MS);
  };
  const show = (reply) => {
    clearTimeout(waiting);
    if (reply.line) say(reply.right ? "yes" : "no", reply.line);
  };
  return { send, show, say };
}

function prediction(model) {
  const name = freshId("guess");
  const line = el("p", { class: "line", role: "status" });
  const wire = sender(model, line);
  const radios = model.get("options").choices.map((choice) => {
    const input = el("input", { type: "radio", name, value: choice, onchange: () => (lock.disabled = false) });
    const mark = el("span", { class: "mark" });
    return { choice, input, mark, node: el("label", { class: "choice" }, input, el("span", {}, choice), mark) };
  });
  const lock = el("button", { type: "button", class: "main", disabled: true, onclick: () => {
    const chosen = radios.find((radio) => radio.input.checked);
    if (chosen) wire.send(chosen.choice);
  } }, "Lock my guess");
  const frame = el("section", { class: "ngc asked panel", "aria-label": "Prediction", tabindex: "-1", onkeydown: keep },
    el("fieldset", {}, el("legend", {}, el("b", { class: "kind" }, "Predict"), " ", model.get("text")),
      el("div", { class: "choices" }, radios.map((radio) => radio.node), lock)),
    line);

  const show = () => {
    const reply = model.get("reply");
    const locked = reply.guess != null;
    for (const { choice, input, mark, node } of radios) {
      input.disabled = locked;
      if (locked) input.checked = choice === reply.guess;
      const right = locked && choice === reply.answer;
      const wrong = locked && choice === reply.guess && !right;
      node.className = `choice${right ? " right" : ""}${wrong ? " wrong" : ""}`;
      mark.textContent = right ? "✓" : wrong ? "your guess" : "";
    }
    offer(lock, !locked, "hidden");
    wire.show(reply);
  };
  return { frame, show };
}

function exercise(model) {
  const { label, level, rows, start } = model.get("options");
  const id = freshId("answer");
  const line = el("p", { class: "line", role: "status" });
  const wire = sender(model, line);
  const check = () => wire.send(field.value);
  const field = el(rows > 1 ? "textarea" : "input", {
    id, rows: rows > 1 ? rows : null, type: rows > 1 ? null : "text", autocomplete: "off", spellcheck: "false",
    onpaste: refuseFlood(2_000, (words) => wire.say("no", words)),
    onkeydown: (e) => {
      if (e.key === "Enter" && !e.shiftKey && (rows === 1 || e.ctrlKey || e.metaKey)) {
        e.preventDefault();
        check();
      }
    },
  });
  field.value = model.get("reply").guess ?? start;
  const frame = el("section", { class: "ngc asked panel", "aria-label": "Exercise", onkeydown: keep },
    el("p", { class: "task" }, el("b", { class: "kind" }, `Exercise, ${level}`), " ", model.get("text")),
    el("div", { class: rows > 1 ? "answer tall" : "answer" },
      el("label", { for: id }, label), field, el("button", { type: "button", class: "main", onclick: check }, "Check")),
    line);
  return { frame, show: () => wire.show(model.get("reply")) };
}

/** The notebook's shortcuts stay out of the fields. */
function keep(event) {
  if (["INPUT", "TEXTAREA"].includes(event.target.tagName)) event.stopPropagation();
}
