"""What happened in one event, in words, made from the same record as the picture.

A sentence is a list of segments: a plain string, or a `Segment` with a kind.

    b   bold: more segments inside
    t   tokens: one or more ids, shown as tokens
    c   the name of a cache: "context", "dynamic" or "static"
    y   a word that means yes        n   a word that means no

The page and `describe()` show the same segments. Each comparison is written with its sign, as
"3 of 5 = 60 % < 66 %", and the figures are those that decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from ..trace import CacheName, Candidate, Row, Step
from .figures import percent, plural, times
from .story import Check, Draft, Event


class Segment(NamedTuple):
    """A part of a sentence that is more than plain words."""

    kind: Literal["b", "t", "c", "y", "n"]
    content: tuple[object, ...]


Sentence = tuple["str | Segment", ...]


def bold(*inside: str | Segment) -> Segment:
    return Segment("b", inside)


def tokens(*ids: int) -> Segment:
    return Segment("t", ids)


def cache(name: CacheName) -> Segment:
    return Segment("c", (name,))


def yes(word: str) -> Segment:
    return Segment("y", (word,))


def no(word: str) -> Segment:
    return Segment("n", (word,))


def sentence(event: Event, text: Sequence[int]) -> Sentence:
    """The event in words; `text` is the story's text, for the n-grams looked up."""
    if isinstance(event, Check):
        return _check(event)
    tail = (*text[: event.length], *(guess.token for guess in event.guesses))
    return _drafted(event, tail) if event.step.token is not None else _stopped(event, tail)


# ---- a token is drafted -----------------------------------------------------------------


def _drafted(event: Draft, tail: Sequence[int]) -> Sentence:
    step = event.step
    row = step.rows[-1]
    assert step.token is not None
    failed = [other for other in step.rows if other.cache == row.cache and _found(other)]
    seen = _seen(row, tokens(*tail[-row.n :]), named=len(failed) == 1)
    before = _failures(step)
    return (
        bold("Drafts ", tokens(step.token), ":"),
        " ",
        *((*before, ", but ") if before else ()),
        *seen,
        *_lifted(row),
        f". Enough for n = {row.n}: ",
        f"seen {row.sum:,} ≥ {row.min_sum:,}, share {share_of(row)} ≥ {row.min_percent} %.",
    )


def _seen(row: Row, gram: Segment, named: bool) -> Sentence:
    """How often the n-gram was seen and what came next; the cache named, or just mentioned."""
    best = tokens(row.best or 0)
    who: Sentence = (cache(row.cache), " has seen ") if named else ("has seen ",)
    if row.n_followers == 1:
        always = {1: "", 2: " both times"}.get(row.sum, " every time")
        return *who, gram, f" {times(row.sum)}, and ", best, f" came next{always}"
    after: Sentence = ("after ", gram, ", ") if named else ()
    behind: Sentence = () if named else (" after ", gram)
    return *after, *who, best, f" {row.best_count:,} of {row.sum:,} times", *behind


def _lifted(row: Row) -> Sentence:
    """What the static weight did to the winner, if it changed who won; or a tie."""
    rival = outweighed(row)
    if rival is not None:
        return _outscores(row, rival)
    best, *others = row.candidates
    if others and others[0].score == best.score:
        return ", a tie with ", tokens(others[0].token), " that the smaller token id wins"
    return ()


def _outscores(row: Row, rival: Candidate) -> Sentence:
    best = row.candidates[0]
    what = f" to {best.count:,} × {best.weight:,} = {best.score:,}, above "
    score = f" at {rival.score:,}"
    lifts = " lifts ", tokens(best.token), what, tokens(rival.token), score
    return "; ", cache("static"), *lifts


def outweighed(row: Row) -> Candidate | None:
    """The candidate that plain counts would have chosen, if the weight chose another."""
    if row.cache == "static" or not row.candidates or row.best is None:
        return None
    best = row.candidates[0]
    plain = min(row.candidates, key=lambda c: (-c.count, c.token))
    return plain if plain.token != best.token and plain.weight < best.weight else None


# ---- nothing is drafted -----------------------------------------------------------------


def _stopped(event: Draft, tail: Sequence[int]) -> Sentence:
    open_guesses = len(event.guesses)
    if open_guesses:
        head = bold(f"Stops after {plural(open_guesses, 'guess')}:")
    else:
        head = bold("Drafts nothing:")
    if len(tail) < 2:
        return head, " two tokens must stand before the first guess."
    why = _failures(event.step)
    return head, " ", *(why or ("every cache is switched off or empty",)), "."


def _failures(step: Step) -> Sentence:
    """Why each cache that was tried gave no token; one that passes, only where it failed."""
    if step.rows and not any(_found(row) for row in step.rows):
        return ("no cache has seen this ending",)
    parts: list[Sentence] = []
    for name in ("context", "dynamic", "static"):
        rows = [row for row in step.rows if row.cache == name]
        failed = [row for row in rows if _found(row) and not row.passes]
        if failed:
            parts.append(_fails(failed))
        elif rows and not rows[-1].passes:
            parts.append((cache(rows[0].cache), " has not seen this ending"))
    return _joined(parts, "; ")


def _found(row: Row) -> bool:
    return row.verdict not in ("too short", "not seen")


def _fails(failed: Sequence[Row]) -> Sentence:
    """One cache's failed tests: the longest n-gram in figures, the others by name."""
    others = [str(row.n) for row in failed[1:]]
    named = " and ".join([", ".join(others[:-1])] * (len(others) > 1) + others[-1:])
    more = f" and at n = {named}" if named else ""
    at = f" fails at n = {failed[0].n} ("
    return cache(failed[0].cache), at, *_reason(failed[0]), f"){more}"


def _reason(row: Row) -> Sentence:
    if row.verdict == "no score":
        return ("no score above 0 in 32 bits",)
    rare = f"seen {row.sum:,} < {row.min_sum:,}"
    if row.verdict == "too rare":
        return (rare,)
    best = tokens(row.best or 0)
    of = f" {row.best_count:,} of {row.sum:,} = {share_of(row)} < {row.min_percent} %"
    split: Sentence = (best, of)
    rival = outweighed(row)
    if rival is not None:
        won = f" by score {row.best_score:,} over {rival.score:,}"
        split = (best, " beats ", tokens(rival.token), won, f", but is{of}")
    return (f"{rare}, ", *split) if row.verdict == "too rare and too split" else split


def share_of(row: Row) -> str:
    """The share of the best candidate, as it was compared with the least one needed."""
    if row.share != 100 * row.best_count:  # only where 32 bits overflowed
        return f"{row.share:,} in 32 bits"
    return percent(row.best_count, row.sum, row.min_percent)


# ---- the model checks -------------------------------------------------------------------


def _check(event: Check) -> Sentence:
    end: Sentence = ()
    if event.last:
        written = f"{plural(event.totals.tokens, 'token')} in {event.totals.passes:,}"
        end = (" ", bold(f"The text is complete: {written} passes."))
    if not event.guesses:
        return (*_alone(event), *end)
    checks = bold(f"One pass of the model checks {plural(len(event.guesses), 'guess')}:")
    return (
        checks,
        " ",
        *_outcome(event),
        f". The pass gains {plural(event.n_new, 'token')}.",
        *end,
    )


def _alone(event: Check) -> Sentence:
    assert event.own is not None
    head = bold("The model writes ", tokens(event.own), " itself:")
    row = event.held_back
    if row is None or row.best is None:
        return head, " nothing was drafted, so this pass gains one token."
    right = row.best == event.own
    outcome = yes("right") if right else no("wrong")
    moral = ": caution cost a hit." if right else ": caution saved a miss."
    guess = tokens(row.best), f" ({row.cache}, n = {row.n}), which would have been "
    return head, " the tests held back ", *guess, outcome, moral


def _outcome(event: Check) -> Sentence:
    n, hits = len(event.guesses), event.accepted
    own: Sentence = () if event.own is None else (tokens(event.own),)
    if hits == n:
        all_of = {1: "it is ", 2: "both are "}.get(n, f"all {n} are ")
        more = (", and the model adds ", *own) if own else ""
        return all_of, yes("accepted"), *more
    first: Sentence = (f"{hits} {'is' if hits == 1 else 'are'} ", yes("accepted"), ", then ")
    drop = f", {plural(event.n_dropped, 'guess')} after it dropped" if event.n_dropped else ""
    wrong = tokens(event.guesses[hits].token), " is ", no("rejected"), drop
    return *(first if hits else ()), *wrong, "; the model writes ", *own


def _joined(parts: Iterable[Sentence], by: str) -> Sentence:
    joined: list[str | Segment] = []
    for part in parts:
        joined += [by, *part] if joined else part
    return tuple(joined)
