"""The rule in force beside llama.cpp's: totals, and where the drafts part.

The reader's own text is told twice by the engine, once with each rule; longer texts are replayed
twice. Caches and guesses a pass are the same both times, so that only the numbers differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..rule import LLAMA_CPP
from .figures import plural
from .longer import NEEDED_BYTES, longer_texts, replayed
from .stepper import StepperModel
from .story import Draft, Story, Totals
from .thresholds import changes

MOST_PLACES = 8
"""So many places where the drafts differ are offered as buttons."""


@dataclass(frozen=True)
class Place:
    """A token that the two rules draft otherwise, None for nothing; `word` counts from 1."""

    word: int
    now: int | None
    then: int | None


@dataclass(frozen=True)
class Tally:
    """What one text comes to with both rules."""

    title: str
    now: Totals
    then: Totals


def places(now: Story, then: Story) -> tuple[Place, ...]:
    """Where both stories ran the rule for a word, and it said something else."""
    mine, theirs = _drafts(now), _drafts(then)
    both = sorted(mine.keys() & theirs.keys())
    return tuple(Place(w, mine[w], theirs[w]) for w in both if mine[w] != theirs[w])


def _drafts(story: Story) -> Mapping[int, int | None]:
    """The last draft for each word that the rule was run for."""
    return {event.word: event.step.token for event in story.events if isinstance(event, Draft)}


class Comparison:
    """The Stepper's text and the longer ones, with the reader's numbers and with llama.cpp's."""

    def __init__(self, model: StepperModel) -> None:
        settings = model.inputs.settings
        shipped = replace(settings, rule=LLAMA_CPP)
        self.model = model
        self.story = model.story
        self.base = self.story if settings == shipped else model.told_with(shipped)
        self.places = places(self.story, self.base)
        self.longer = tuple(
            Tally(text.title, replayed(text, settings), replayed(text, shipped))
            for text in longer_texts()
        )

    @property
    def own(self) -> Tally:
        """The text in the Stepper."""
        return Tally("This text", self.story.totals, self.base.totals)

    @property
    def line(self) -> str:
        """What the numbers change on this text, in one line."""
        changed = changes(self.story.settings.rule)
        if not changed:
            return f"llama.cpp’s numbers: {_totals(self.own.now)}.{self._left_out()}"
        more = f" and {len(changed) - 2} more" if len(changed) > 2 else ""
        head = "; ".join(changed[:2]) + more
        now, then = _totals(self.own.now), _totals(self.own.then)
        parted = self._parted()
        return f"Now {head}: {now}. With llama.cpp’s: {then}. {parted}{self._left_out()}"

    def _left_out(self) -> str:
        if self.longer:
            return ""
        needed = NEEDED_BYTES // 10**6
        return (
            f" The longer texts are left out: they need {needed} MB of memory, more than is free."
        )

    def _parted(self) -> str:
        if not self.places:
            return "No word is drafted otherwise."
        first = self.places[0]
        words = plural(len(self.places), "word")
        verb = "is" if len(self.places) == 1 else "are"
        now, then = self._shown(first.now), self._shown(first.then)
        where = f"word {first.word}: {now}, not {then}"
        return f"{words} {verb} drafted otherwise, first {where}."

    def _shown(self, token: int | None) -> str:
        return "nothing" if token is None else f"“{self.model.shown([token])}”"

    def document(self) -> dict[str, Any]:
        """For the view: the line, a row of totals for each text, places as buttons."""
        return {
            "line": self.line,
            "changed": bool(changes(self.story.settings.rule)),
            "rows": [
                [tally.title, _figures(tally.now), _figures(tally.then)]
                for tally in (self.own, *self.longer)
            ],
            "places": [
                [
                    self.model.event_of_word(place.word),
                    f"word {place.word}",
                    f"{self._shown(place.now)}; llama.cpp: {self._shown(place.then)}",
                ]
                for place in self.places[:MOST_PLACES]
            ],
            "more": max(0, len(self.places) - MOST_PLACES),
        }


def _totals(totals: Totals) -> str:
    share = f", {100 * totals.accepted / totals.drafted:.0f} %" if totals.drafted else ""
    guesses = f"{totals.accepted:,} of {totals.drafted:,} guesses right{share}"
    return f"{guesses}, {plural(totals.passes, 'pass')}"


def _figures(totals: Totals) -> list[int]:
    return [totals.drafted, totals.accepted, totals.passes, totals.tokens]
