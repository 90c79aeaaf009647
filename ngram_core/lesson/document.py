"""A story as one JSON document, the only thing the view gets: version 1 of its format.

format, version   "ngram-core story", 1
pieces            the tokens in use, ready for display (see pieces.py): a string, or a list
                  of strings and [kind, text] pairs; all "tokens" below are indices here
ids               their token ids
between           what stands between two tokens in the text: " " for words, else ""
first, text       tokens of the text from place `first` (0-based) to the window's end
start, end, total tokens before the window, up to its end, of the whole text
caches            {"context" | "dynamic" | "static": "on" | "off" | "empty"}
n_draft, weight   guesses a pass; the factor of the static weight
events            in order, each with
    k             "d": one run of the rule, or "c": one pass of the model
    l             tokens of the text before it, guesses left out
    t             [drafted, accepted, passes, tokens] after it
    s             its sentence: strings and segments [kind, ...] (see sentences.py)
    "d" also      o: how many guesses stand open before it: the latest drafts with a token,
                  y: the token or null, c and n: its cache and n,
                  r: rows [cache, n, verdict, F, a, share, p, left, right, best, followers,
                     rest, rest_sum], or [cache, n, verdict] for an n-gram not seen;
                     share as shown, left and right the integers compared,
                  w: the static followers of the last two tokens, or null
    "c" also      o, a: guesses checked and accepted, y: the model's own token or null,
                  u: new counts in the context cache, for n = 4 to 1 a list of counts, one
                     for each new token, 0 where the text was too short
    followers     [token, count, weight, score], highest score first
see               [event, label, hint]: instructive steps
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from ..trace import Candidate, Row
from .figures import plural
from .landmarks import landmarks
from .pieces import Piece, piece_of
from .sentences import Segment, Sentence, sentence, share_of
from .story import Check, Draft, Event, Story

VERSION = 1
BEFORE = 400
"""So many tokens before a window go with it, to be seen in front of its first step."""


class Vocabulary:
    """The pieces a document uses, numbered in order of first use."""

    def __init__(self, token_bytes: Callable[[int], bytes]) -> None:
        self._token_bytes = token_bytes
        self._numbers: dict[int, int] = {}
        self.pieces: list[Piece] = []

    def number(self, token: int) -> int:
        if token not in self._numbers:
            self._numbers[token] = len(self.pieces)
            self.pieces.append(piece_of(self._token_bytes(token)))
        return self._numbers[token]

    @property
    def ids(self) -> list[int]:
        return list(self._numbers)


def document(
    story: Story, token_bytes: Callable[[int], bytes], between: str = ""
) -> dict[str, Any]:
    """The story as plain lists and dicts, ready for JSON; the format is told above."""
    vocabulary = Vocabulary(token_bytes)
    first = max(0, story.start - BEFORE)
    text = [vocabulary.number(token) for token in story.text[first:]]
    events = [_event(event, story, vocabulary) for event in story.events]
    return {
        "format": "ngram-core story",
        "version": VERSION,
        "between": between,
        "first": first,
        "text": text,
        "start": story.start,
        "end": len(story.text),
        "total": story.n_tokens,
        "caches": _caches(story),
        "n_draft": story.settings.n_draft,
        "weight": story.settings.rule.weight,
        "events": events,
        "see": [list(mark) for mark in landmarks(story)],
        "pieces": [_piece(piece) for piece in vocabulary.pieces],
        "ids": vocabulary.ids,
    }


def to_json(doc: dict[str, Any]) -> str:
    """The document as compact JSON, safe to embed: no "<" stands in it as itself."""
    return json.dumps(doc, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def summary(story: Story) -> str:
    """The totals of a story in one line that a reader can compare."""
    totals = story.totals
    return (
        f"{plural(totals.tokens, 'token')} in {plural(totals.passes, 'pass')}:"
        f" {totals.drafted:,} drafted, {totals.accepted:,} accepted"
    )


def _caches(story: Story) -> dict[str, str]:
    settings = story.settings
    sizes = {"context": 1, "dynamic": story.n_earlier, "static": story.n_corpus}
    state = {name: "on" if size else "empty" for name, size in sizes.items()}
    return {name: state[name] if getattr(settings, name) else "off" for name in sizes}


def _event(event: Event, story: Story, vocabulary: Vocabulary) -> dict[str, Any]:
    totals = event.totals
    common = {
        "l": event.length,
        "o": len(event.guesses),
        "t": [totals.drafted, totals.accepted, totals.passes, totals.tokens],
        "s": segments(sentence(event, story.text), vocabulary.number),
    }
    if isinstance(event, Check):
        own = None if event.own is None else vocabulary.number(event.own)
        return {"k": "c", **common, "a": event.accepted, "y": own, "u": _counts(event)}
    return {"k": "d", **common, **_step(event, vocabulary)}


def _step(event: Draft, vocabulary: Vocabulary) -> dict[str, Any]:
    step = event.step
    weights = step.weights
    return {
        "y": None if step.token is None else vocabulary.number(step.token),
        "c": step.source,
        "n": step.n,
        "r": [_row(row, vocabulary) for row in step.rows],
        "w": None if weights is None else _followers(weights, vocabulary),
    }


def _row(row: Row, vocabulary: Vocabulary) -> list[Any]:
    head = [row.cache, row.n, row.verdict]
    if row.verdict in ("too short", "not seen"):
        return head
    best = None if row.best is None else vocabulary.number(row.best)
    sides = [row.sum, row.min_sum, share_of(row), row.min_percent, row.share, row.needed]
    return [*head, *sides, best, *_followers(row, vocabulary)]


def _followers(row: Row, vocabulary: Vocabulary) -> list[Any]:
    shown = [_candidate(candidate, vocabulary) for candidate in row.candidates]
    return [shown, row.rest_followers, row.rest_sum]


def _candidate(candidate: Candidate, vocabulary: Vocabulary) -> list[int]:
    number = vocabulary.number(candidate.token)
    return [number, candidate.count, candidate.weight, candidate.score]


def _counts(event: Check) -> list[list[int]]:
    rows = []
    for n in (4, 3, 2, 1):
        counts = [counted.count for counted in event.counted if len(counted.ngram) == n]
        rows.append([0] * (event.n_new - len(counts)) + counts)
    return rows


def _piece(piece: Piece) -> Any:
    if len(piece) == 1 and not piece[0].kind:
        return piece[0].text
    return [part.text if not part.kind else [part.kind, part.text] for part in piece]


def segments(words: Sentence, number: Callable[[int], int]) -> list[Any]:
    """A sentence for the document: strings and lists, tokens by their number."""
    return [word if isinstance(word, str) else _segment(word, number) for word in words]


def _segment(segment: Segment, number: Callable[[int], int]) -> list[Any]:
    if segment.kind == "t":
        return ["t", *(number(token) for token in _ints(segment.content))]
    inside: Sequence[Any] = segment.content
    return [segment.kind, *segments(tuple(inside), number)]


def _ints(content: Sequence[object]) -> list[int]:
    return [token for token in content if isinstance(token, int)]
