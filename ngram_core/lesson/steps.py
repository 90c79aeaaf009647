"""A picture that is looked at step by step: the plain model behind the views of the inside.

A model holds everything its view can show, so that the page steps, jumps and chooses without
asking the kernel. The reader chooses among groups of cases (chips above the picture) and moves
along the steps of the chosen one. Each step has its sentence, made from the record that makes
its picture, so `describe()` says what the page shows.

The document, version 1 of its format:

title, note     heading and what is shown
key             what to press, or ""
groups          [title, [[label, hint], ...]] for each choice; one choice in each is in force
cases           one for each combination of choices, the last group's running fastest, each with
  steps         in order: {say, count, ...}, say a list of strings and [kind, text], and more
                that only its own picture knows; `start` is where a reader begins
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import InputError

Said = list[Any]
"""A sentence: strings, and [kind, text] with kind "b" (strong), "k" (a token), "y" (yes), "n"
(no), "ctx", "dyn" or "sta" (a cache's name)."""


def said(sentence: Said) -> str:
    """The sentence as plain text."""
    return "".join(part if isinstance(part, str) else part[1] for part in sentence)


@dataclass(frozen=True)
class Group:
    """A choice that the reader has: (label, what it is) each."""

    title: str
    choices: tuple[tuple[str, str], ...]


@dataclass
class Case:
    """What is looked at step by step: the steps, where to begin, and what all of them share."""

    steps: list[dict[str, Any]]
    start: int = 0
    shared: dict[str, Any] = field(default_factory=dict)


@dataclass
class Pictures:
    """All that one view can show.

    Args:
        cases: one for each combination of choices, the last group's running fastest.
        keep: a new choice keeps the step, instead of beginning at the case's start.
        shared: what all pictures need.
    """

    title: str
    note: str
    groups: tuple[Group, ...]
    cases: list[Case]
    keep: bool = False
    shared: dict[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """The document as told above."""
        return {
            "title": self.title,
            "note": self.note,
            "groups": [[group.title, list(map(list, group.choices))] for group in self.groups],
            "cases": [
                {**case.shared, "start": case.start, "steps": case.steps} for case in self.cases
            ],
            "keep": self.keep,
            **self.shared,
        }


class StepsModel:
    """Pictures, and where the reader is in them."""

    def __init__(self, pictures: Pictures) -> None:
        self.show(pictures)

    def show(self, pictures: Pictures, chosen: Sequence[int] | None = None) -> None:
        """Shows other pictures, from their beginning."""
        self.pictures = pictures
        self.json = json.dumps(pictures.document(), ensure_ascii=False, separators=(",", ":"))
        self.chosen = list(chosen or [0] * len(pictures.groups))
        self.at = self.case.start

    @property
    def case(self) -> Case:
        number = 0
        for group, choice in zip(self.pictures.groups, self.chosen, strict=True):
            number = number * len(group.choices) + choice
        return self.pictures.cases[number]

    @property
    def step(self) -> dict[str, Any]:
        return self.case.steps[self.at]

    def go(self, at: int) -> None:
        """To a step, counted from 0; the nearest one there is."""
        self.at = max(0, min(at, len(self.case.steps) - 1))

    def choose(self, *labels: str) -> None:
        """Makes choices by their labels, of any groups, in any order.

        Raises:
            InputError: there is no such choice.
        """
        for label in labels:
            for i, group in enumerate(self.pictures.groups):
                names = [name for name, _ in group.choices]
                if label in names:
                    self.chosen[i] = names.index(label)
                    break
            else:
                there = [name for group in self.pictures.groups for name, _ in group.choices]
                raise InputError(f"there is no choice {label!r}; there are: {', '.join(there)}")
        self.go(self.at if self.pictures.keep else self.case.start)

    def take(self, chosen: Sequence[Any], at: int) -> None:
        """Where the page says it is; what is out of bounds is brought back into them."""
        groups = self.pictures.groups
        if len(chosen) == len(groups):
            self.chosen = [
                max(0, min(int(choice), len(group.choices) - 1))
                for choice, group in zip(chosen, groups, strict=True)
            ]
        self.go(at)

    def describe(self) -> str:
        """Title, choices in force, the step and its sentence, in plain text."""
        groups = zip(self.pictures.groups, self.chosen, strict=True)
        choices = "; ".join(f"{group.title}: {group.choices[i][0]}" for group, i in groups)
        lines = [self.pictures.title, choices, f"{self.step['count']}: {said(self.step['say'])}"]
        return "\n".join(line for line in lines if line)
