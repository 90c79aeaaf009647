"""The running text of the lessons, and a way to record every step of a replay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ngram_core import reference
from ngram_core.lesson.examples import NOTES, RECIPE
from ngram_core.rule import LLAMA_CPP, Rule
from ngram_core.trace import Row, Step


@dataclass(frozen=True)
class Recorded:
    """A step of a replay: which model pass it belongs to, and whether its guess was accepted."""

    pass_: int
    step: Step
    accepted: bool


def record(
    drafter: Any, tokens: list[int], n_draft: int = 4
) -> Iterator[Recorded]:  # drafter: the reference's or the engine's
    """Replay one text whole, drafts ending with it, and yield each run of the rule."""
    drafter.feed(tokens[:1])
    pass_ = 0
    while drafter.length < len(tokens):
        pass_ += 1
        alive = True
        for step in drafter.step(min(n_draft, len(tokens) - drafter.length)):
            alive = alive and step.token == tokens[step.length]
            yield Recorded(pass_, step, alive)
            if alive:
                drafter.feed([step.token])
        drafter.feed(tokens[drafter.length :][:1])


def scored(step: Step) -> Step:
    """An engine's step with rows that a bound decided told as if they had been scored.

    That they tell the best follower, its score and all weights all the same is what is tested.
    """
    assert all(row.passes for row in step.rows if row.bounded)
    return replace(step, rows=tuple(replace(row, bounded=False) for row in step.rows))


def prechecked(step: Step) -> Step:
    """The reference's step as an engine records it that checks the largest count first."""
    rows = tuple(row if row.cache == "static" else _prechecked(row) for row in step.rows)
    return by_count(replace(step, rows=rows))


def _prechecked(row: Row) -> Row:
    assert row.rest_followers == 0, "the largest count may be among those that are not shown"
    if not row.candidates:
        return row
    counts = {c.token: c.count for c in row.candidates}
    largest = reference.judge(
        row.cache, row.n, reference.as_counted(counts), row.min_sum, row.min_percent
    )
    if largest.passes:
        return row  # it is scored, then
    unscored = tuple(replace(c, weight=0, score=0) for c in largest.candidates)
    return replace(largest, best=None, best_score=0, candidates=unscored, prechecked=True)


def by_count(step: Step) -> Step:
    """The candidates of rows that were not scored by falling count, then by token.

    With library ties an engine shows equal counts in the order of its map.
    """

    def sort(row: Row) -> Row:
        ordered = sorted(row.candidates, key=lambda c: (-c.count, c.token))
        return replace(row, candidates=tuple(ordered)) if row.prechecked else row

    return replace(step, rows=tuple(map(sort, step.rows)))


class Running:
    """The running text A and the notes B as ids by first appearance, and the caches B gives."""

    def __init__(self) -> None:
        text, notes = RECIPE.split(), NOTES.split()
        self.ids = {word: i for i, word in enumerate(dict.fromkeys(text + notes))}
        self.words = {token: word for word, token in self.ids.items()}
        self.a = [self.ids[word] for word in text]
        self.b = [self.ids[word] for word in notes]

    @cached_property
    def static(self) -> reference.Cache:
        return reference.count_bigrams(self.b)

    @property
    def dynamic(self) -> reference.Cache:
        cache: reference.Cache = {}
        reference.update(cache, self.b, len(self.b))
        return cache

    def drafter(self, caches: str, rule: Rule = LLAMA_CPP) -> reference.Drafter:
        """The reference over the caches named by their first letters, as in the steps."""
        return reference.Drafter(
            rule,
            static=self.static if "s" in caches else None,
            dynamic=self.dynamic if "d" in caches else None,
        )

    def totals(self, caches: str, rule: Rule = LLAMA_CPP, n_draft: int = 4) -> tuple[int, int, int]:
        """Passes, drafted, accepted."""
        drafter = self.drafter(caches, rule)
        result = reference.replay(self.a, rule, drafter.static, drafter.dynamic, n_draft=n_draft)
        return result.n_calls, result.n_drafted, result.n_accept
