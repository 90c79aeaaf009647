"""Rows of the draft rule, checked by their largest count before anything is scored.

Each step is one row as the engine recorded it twice: with the check (stage `precheck`), and
without it (`constmap`), where every candidate is scored.
"""

from __future__ import annotations

from typing import Any

from ...trace import Row, Step
from ..examples import example
from ..figures import plural
from ..steps import Case, Group, Pictures, Said, StepsModel
from .recipe import at_word, names

WORDS = (
    (42, "One row fails its check, and three candidates are saved."),
    (37, "Two rows fail, and twelve candidates are saved."),
    (86, "Nothing is drafted, and nothing is scored."),
    (82, "The check lets a row through that fails in the end."),
    (89, "The check saves nothing."),
)
"""Words of the recipe to look at, and what to see there."""

_SIGNS = {"context": "ctx", "dynamic": "dyn", "static": "sta"}


def _step(stage: str, word: int) -> Step:
    with at_word(stage, word) as drafter:
        return drafter.step(1)[0]


def rows(word: int) -> list[tuple[Row, Row]]:
    """The rows of context and dynamic that hold followers: checked first, and scored at once."""
    checked, scored = _step("precheck", word), _step("constmap", word)
    pairs = zip(checked.rows, scored.rows, strict=True)
    return [(a, b) for a, b in pairs if a.n_followers and a.cache != "static"]


def top(row: Row) -> int:
    """The largest count of a row."""
    return max(candidate.count for candidate in row.candidates)


def share_fails(row: Row) -> bool:
    return 100 * top(row) < row.needed


class CheckModel(StepsModel):
    """The rows at some words of the recipe."""

    def __init__(self, word: int = WORDS[0][0]) -> None:
        self.words = names(example("recipe"))
        super().__init__(
            Pictures(
                "Check first, then score",
                "Each row holds the followers of one n-gram. A bar is a follower’s plain count, as"
                " a share of their sum F; the line is what the share must reach.",
                (Group("Guess word", tuple((str(w), hint) for w, hint in WORDS)),),
                [self._case(w) for w, _ in WORDS],
            )
        )
        self.choose(str(word))

    def _case(self, word: int) -> Case:
        both = rows(word)
        text = example("recipe").text.split()
        steps = []
        saved = 0
        for i, (row, scored) in enumerate(both):
            saved += row.n_followers if row.prechecked else 0
            steps.append(self._one(row, scored, f"row {i + 1} of {len(both)}", text[: word - 1]))
        steps.append({**self._end(word, saved, both), "count": "in all"})
        return Case(steps)

    def _one(self, row: Row, scored: Row, count: str, before: list[str]) -> dict[str, Any]:
        return {
            "count": count,
            "say": self._say(row, scored),
            "cache": row.cache,
            "sign": _SIGNS[row.cache],
            "n": row.n,
            "gram": " ".join(before[-row.n :]),
            "sum": [row.sum, row.min_sum],
            "share": [100 * top(row), row.needed, row.min_percent],
            "checked": row.prechecked,
            "followers": [
                [
                    self.words[c.token],
                    c.count,
                    None if row.prechecked else c.weight,
                    c.token == row.best and not row.prechecked,
                    c.count == top(row),
                ]
                for c in row.candidates
            ],
        }

    def _say(self, row: Row, scored: Row) -> Said:
        """The check in words; if the row gets through it, what scoring says."""
        name: Said = [[_SIGNS[row.cache], row.cache], f" n = {row.n}: "]
        if row.sum < row.min_sum:
            why: Said = [
                ["n", f"F = {row.sum} < {row.min_sum}"],
                ", too rare. No score can change that: ",
            ]
        elif share_fails(row):
            why = [
                f"the largest count is {top(row)}, and ",
                ["n", f"{100 * top(row)} < {row.needed}"],
                f" ({row.min_percent} × {row.sum}). Whoever wins has no more: ",
            ]
        else:
            return [*name, *self._scored(row)]
        saved = plural(scored.n_followers, "candidate")
        verb = "is" if scored.n_followers == 1 else "are"
        return [*name, *why, ["b", f"{saved} {verb} not scored"], "."]

    def _scored(self, row: Row) -> Said:
        best = row.candidates[0]
        head: Said = [
            f"{row.sum} ≥ {row.min_sum} and ",
            ["y", f"{100 * top(row)} ≥ {row.needed}"],
            ": somebody may pass, so all are scored. ",
            ["k", self.words[best.token]],
            f" wins with {best.count} × {best.weight}, and its plain count ",
        ]
        if row.passes:
            return [*head, ["y", f"passes: {row.share} ≥ {row.needed}"], "."]
        return [*head, ["n", f"fails: {row.share} < {row.needed}"], ". The row drafts nothing."]

    def _end(self, word: int, saved: int, both: list[tuple[Row, Row]]) -> dict[str, Any]:
        total = sum(row.n_followers for row, _ in both)
        step = _step("precheck", word)
        drafted = "nothing" if step.token is None else f"“{self.words[step.token]}”"
        say: Said = [
            f"Word {word}: {plural(total, 'candidate')} in {plural(len(both), 'row')}; ",
            ["b", f"{saved} of them not scored"],
            f". Drafted: {drafted}, with the check and without.",
        ]
        return {
            "say": say,
            "list": [
                [f"{row.cache} n = {row.n}", row.n_followers, row.prechecked, _SIGNS[row.cache]]
                for row, _ in both
            ],
        }
