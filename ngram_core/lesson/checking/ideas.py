"""What each idea of the last stage is worth: undone alone, and everything else kept."""

from __future__ import annotations

from ...toggles import STAGES, Toggles
from ..bars import Bars
from ..switches import SWITCHES, fitted
from .counts import bars, measure
from .recipe import exact


def ideas() -> dict[str, Toggles]:
    """The last stage, itself with each of its changes undone, and the stage before it."""
    before, last = list(STAGES)[-2:]
    mine, old = exact(last), exact(before)
    found = {last: mine}
    for toggle, switch in SWITCHES.items():
        value = getattr(old, toggle)
        if value == getattr(mine, toggle):
            continue
        undone, _moved = fitted(mine, **{toggle: value})
        if undone not in (*found.values(), old):
            found[f"{switch.title}: {switch.label(value)}"] = undone
    return {**found, before: old}


def idea_bars(runs: int = 3) -> Bars:
    """Measures them all, in turn, on the lesson's prose."""
    profile = measure(ideas(), runs=runs)
    return bars(profile, "The last stage, one change undone at a time", "stage, or what was undone")
