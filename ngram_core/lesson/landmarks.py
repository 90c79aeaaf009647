"""Instructive steps of a story: where to look first, found in its own record.

Each landmark is looked for; only those that exist are offered. Of several steps of one kind
the one that shows it best is taken: the most followers split, the longest run accepted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .sentences import outweighed
from .story import Check, Draft, Story


class Landmark(NamedTuple):
    """An event worth a look: its place in the story, a short label and what to see there."""

    at: int
    label: str
    hint: str


Worth = Callable[[Draft | Check], float]


def landmarks(story: Story) -> tuple[Landmark, ...]:
    """The instructive steps that exist in this story, in a fixed order of kinds."""
    found = []
    for label, hint, worth in _KINDS:
        values = [worth(event) for event in story.events]
        best = max(values, default=0)
        if best > 0:
            shown = label.replace("100", f"{story.settings.rule.weight:,}")
            found.append(Landmark(values.index(best), shown, hint))
    return tuple(found)


def _longest_hit(event: Draft | Check) -> float:
    return event.accepted if isinstance(event, Check) else 0


def _first_miss(event: Draft | Check) -> float:
    return isinstance(event, Check) and event.accepted < len(event.guesses)


def _failed(event: Draft | Check, verdict: str) -> float:
    """How many times the n-gram was seen whose only fault was this one."""
    if not isinstance(event, Draft) or event.step.token is not None:
        return 0
    rows = [row for row in event.step.rows if row.best is not None]
    return rows[0].sum if rows and rows[0].verdict == verdict else 0


def _too_rare(event: Draft | Check) -> float:
    return _failed(event, "too rare") > 0


def _too_split(event: Draft | Check) -> float:
    return _failed(event, "too split")


def _falls_to_dynamic(event: Draft | Check) -> float:
    """A token from dynamic; best where the context cache was judged and failed."""
    if not isinstance(event, Draft) or event.step.source != "dynamic":
        return 0
    return 1 + any(row.best is not None for row in event.step.rows if row.cache == "context")


def _static_alone(event: Draft | Check) -> float:
    if not isinstance(event, Draft) or event.step.source != "static":
        return 0
    return 1 + sum(row.best is not None for row in event.step.rows)


def _weight_decides(event: Draft | Check) -> float:
    if not isinstance(event, Draft) or event.step.source in (None, "static"):
        return 0
    return outweighed(event.step.rows[-1]) is not None


def _weight_vetoes(event: Draft | Check) -> float:
    """Nothing drafted, because the weight chose a token too rare to pass."""
    if not isinstance(event, Draft) or event.step.token is not None:
        return 0
    for row in event.step.rows:
        rival = outweighed(row) if row.cache == "context" and row.sum >= row.min_sum else None
        if rival is not None and 100 * rival.count >= row.min_percent * row.sum:
            return 1
    return 0


def _held_back(event: Draft | Check, right: bool) -> float:
    if not isinstance(event, Check) or event.held_back is None:
        return 0
    is_right = event.held_back.best == event.own
    return event.held_back.n if is_right == right else 0


def _caution_saves(event: Draft | Check) -> float:
    return _held_back(event, right=False)


def _caution_costs(event: Draft | Check) -> float:
    return _held_back(event, right=True)


_KINDS: tuple[tuple[str, str, Worth], ...] = (
    ("longest hit", "The pass in which most guesses were accepted.", _longest_hit),
    ("first miss", "The first guess that was rejected.", _first_miss),
    ("too rare", "Nothing is drafted: this ending was seen too seldom.", _too_rare),
    ("too split", "Nothing is drafted: no follower has a large enough share.", _too_split),
    ("caution saves", "A guess was held back, and would have been wrong.", _caution_saves),
    ("caution costs", "A guess was held back, and would have been right.", _caution_costs),
    ("falls to dynamic", "The context cache fails, the dynamic one guesses.", _falls_to_dynamic),
    ("static alone", "Both others fail, the static cache guesses by itself.", _static_alone),
    ("× 100 decides", "The static weight changes which token is drafted.", _weight_decides),
    ("× 100 vetoes", "The static weight picks a token too rare to pass.", _weight_vetoes),
)
