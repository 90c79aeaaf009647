// Questions about a story document, answered by reading it; nothing is computed anew.

/** The guesses that stand open at event i, [token, cache, n] each: the latest drafts before it. */
export function openGuesses(doc, i) {
  const guesses = [];
  for (let j = i - 1; guesses.length < doc.events[i].o; j--) {
    const event = doc.events[j];
    if (event.y != null) guesses.unshift([event.y, event.c, event.n]); // the rule may have stopped
  }
  return guesses;
}

/** The tokens before the one in question: text and open guesses. */
export function tail(doc, i) {
  const event = doc.events[i];
  return [...doc.text.slice(0, event.l - doc.first), ...openGuesses(doc, i).map((guess) => guess[0])];
}

/** The place, counted from 1, of the token that event i guesses, or of the last that it writes. */
export const wordOf = (doc, i) => {
  const event = doc.events[i];
  return event.k === "d" ? event.l + event.o + 1 : event.l + gained(event);
};

/** The event to show for a place in the text: the last that guesses it, or the pass that writes it. */
export function eventOfWord(doc, word) {
  const place = Math.max(doc.start + 1, Math.min(doc.end, word));
  const { events } = doc;
  const guesses = (event) => event.k === "d" && event.l + event.o + 1 === place;
  const writes = (event) => event.k === "c" && event.l < place && place <= event.l + gained(event);
  const guessed = events.findLastIndex(guesses);
  return guessed >= 0 ? guessed : events.findIndex(writes);
}

/** Tokens that event i adds to the text: those of a check, none of a draft. */
export const gained = (event) => (event.k === "c" ? event.a + (event.y == null ? 0 : 1) : 0);

/** The rows of one cache at a draft event, longest n-gram first, as objects. */
export const rowsOf = (event, cache) => event.r.filter((row) => row[0] === cache).map(readRow);

export function readRow(row) {
  const [cache, n, verdict, sum, minSum, share, minPercent, left, right, best, followers, rest, restSum] = row;
  const found = row.length > 3;
  const passes = verdict === "passes";
  return { cache, n, verdict, found, passes, sum, minSum, share, minPercent, left, right, best, followers, rest, restSum };
}
