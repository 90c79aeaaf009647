"""The switches a reader can set, in words, and names for what they make together."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from ..toggles import STAGES, UPSTREAM, Toggles


@dataclass(frozen=True)
class Switch:
    """One toggle as the board shows it.

    `choices` are (value, label) pairs; two of them, the first False or True, make an on-off
    switch that is on at the second. `may_change` sets apart what can change the drafts.
    """

    toggle: str
    title: str
    hint: str
    choices: tuple[tuple[Any, str], ...]
    may_change: bool = False

    @property
    def on_off(self) -> bool:
        return isinstance(self.choices[0][0], bool)


SWITCHES: tuple[Switch, ...] = (
    Switch(
        "copy_followers",
        "Read in place",
        "Off: each look-up copies the followers first, as llama.cpp does.",
        ((True, "copy"), (False, "read in place")),
    ),
    Switch(
        "ties",
        "Who wins an equal score",
        "The order inside the hash map, or the smaller token id.",
        (("library", "hash order"), ("token", "smaller id")),
        may_change=True,
    ),
)
"""The switches of lesson 03; later lessons add theirs."""

REFERENCE = UPSTREAM.toggles
"""What every other setting is compared with: the code as llama.cpp has it."""


def name_of(toggles: Toggles) -> str:
    """The stage these toggles make, or the nearest one and what differs.

    >>> name_of(UPSTREAM.toggles), name_of(UPSTREAM.toggles.set(ties="token"))
    ('upstream', 'upstream, ties=token')
    """
    stage = min(STAGES.values(), key=lambda stage: len(_differing(stage.toggles, toggles)))
    others = [f"{name}={getattr(toggles, name)}" for name in _differing(stage.toggles, toggles)]
    return ", ".join([stage.name, *others])


def stage_name(toggles: Toggles) -> str | None:
    """The stage that has exactly these toggles, or None."""
    return next((stage.name for stage in STAGES.values() if stage.toggles == toggles), None)


def nearest_stage(toggles: Toggles) -> str:
    """The stage that differs in the fewest switches."""
    return name_of(toggles).partition(",")[0]


def _differing(one: Toggles, other: Toggles) -> list[str]:
    names = [field.name for field in fields(Toggles)]
    return [name for name in names if getattr(one, name) != getattr(other, name)]


def expected_difference(one: Toggles, other: Toggles) -> bool:
    """Whether the two settings differ in a switch that may change the drafts."""
    return any(name in ("ties", "score") for name in _differing(one, other))
