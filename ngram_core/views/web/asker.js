// Asking the kernel for a change, and the line that says what became of it.
const PATIENCE_MS = 6000;
const NO_KERNEL = "The kernel is not there: run the cell again to change anything. Stepping still works.";
const NO_ANSWER = "No answer from the kernel yet: it is busy with another cell, or stopped. Stepping still works.";

/**
 * `ask(request)` sends and returns false if that is not possible; `line` shows the state;
 * `refused()` puts the controls back. Returns `send(request)` and `answer(ok, words)`.
 */
export function asker(line, ask, refused) {
  let waiting = 0;

  function send(request) {
    clearTimeout(waiting);
    say("", "Working …");
    if (!ask(request)) return answer(false, NO_KERNEL);
    waiting = setTimeout(() => say("no", NO_ANSWER), PATIENCE_MS);
  }

  function answer(ok, words) {
    clearTimeout(waiting);
    say(ok ? "yes" : "no", words);
    if (!ok) refused();
  }

  function say(cls, words) {
    line.className = `line ${cls}`;
    line.textContent = words;
  }

  return { send, answer };
}
