"""The switches a reader can set, in words, and names for what they make together.

Some combinations do not exist: a hash map's order needs hash maps. `fitted` then moves another
switch along, so that whatever the reader presses works, and `moved_words` tells it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any, Literal

from ..errors import InputError
from ..toggles import STAGES, UPSTREAM, Toggles, choices

Group = Literal["structure", "step", "drafts"]

GROUPS: dict[Group, tuple[str, str]] = {
    "structure": ("Structure", "How the caches lie in memory."),
    "step": ("Steps", "What is done at each look-up."),
    "drafts": ("May change the drafts", "No other switch ever does."),
}
"""Kinds of switches: title and a line about them."""


@dataclass(frozen=True)
class Switch:
    """One toggle as the board shows it.

    `labels` tells for a value how it is called on the page, and in the name of a mix. A value
    without a label is called by itself.
    """

    toggle: str
    title: str
    group: Group
    hint: str
    labels: dict[Any, tuple[str, str]]

    @property
    def values(self) -> tuple[Any, ...]:
        """Its values; two that are False and True make an on-off switch, on at the second."""
        values = choices(self.toggle)
        return values if self.toggle != "copy_followers" else values[::-1]  # on: reads in place

    @property
    def on_off(self) -> bool:
        return isinstance(self.values[0], bool)

    @property
    def may_change(self) -> bool:
        """Whether it can change the drafts."""
        return self.group == "drafts"

    def label(self, value: Any) -> str:
        return self.labels[value][0] if value in self.labels else str(value)

    def in_name(self, value: Any) -> str:
        return self.labels[value][1] if value in self.labels else f"{self.toggle} {value}"


_ALL = (
    Switch(
        "copy_followers",
        "Read in place",
        "step",
        "Off: each look-up copies the followers first, as llama.cpp does.",
        {True: ("copy", "copying"), False: ("read in place", "in place")},
    ),
    Switch(
        "outer",
        "Outer table",
        "structure",
        "Where an n-gram is found: nodes in chains, slots in a row, or places in a text.",
        {
            "chained": ("chained", "chained table"),
            "segmented": ("segmented", "segmented table"),
            "dense": ("dense", "dense table"),
            "places": ("places", "places"),
        },
    ),
    Switch(
        "followers",
        "Followers",
        "structure",
        "Behind an n-gram: a small hash map, an array in token order, or one with its sum.",
        {
            "chained": ("hash map", "hash maps"),
            "sorted": ("sorted array", "sorted arrays"),
            "summed": ("summed", "summed arrays"),
        },
    ),
    Switch(
        "static",
        "Static cache",
        "structure",
        "It never changes, so it can be packed into one piece.",
        {
            "same": ("as the others", "static as the others"),
            "constmap": ("constmap", "constmap"),
            "ngc": ("mapped", "mapped static"),
        },
    ),
    Switch(
        "search",
        "Search",
        "step",
        "How a token is found in a sorted array.",
        {
            "fixed": ("fixed", "fixed search"),
            "lower_bound": ("lower_bound", "lower_bound"),
            "linear": ("linear", "linear search"),
            "simd": ("simd", "simd search"),
        },
    ),
    Switch(
        "precheck",
        "Check first",
        "step",
        "On: rows whose largest count fails the tests are not scored.",
        {True: ("check first", "check first"), False: ("score all", "no check first")},
    ),
    Switch(
        "bound",
        "Bound the scores",
        "step",
        "On: a row that no static count can turn is decided without scores.",
        {True: ("bound", "bound"), False: ("no bound", "no bound")},
    ),
    Switch(
        "late_static",
        "Static cache late",
        "step",
        "On: it is looked up when a row needs it, not before.",
        {True: ("late", "static late"), False: ("first", "static first")},
    ),
    Switch(
        "prefetch",
        "Prefetch",
        "step",
        "On: what a step may need later is asked for before: the static record, what comes next.",
        {True: ("prefetch", "prefetch"), False: ("no prefetch", "no prefetch")},
    ),
    Switch(
        "glance",
        "Glance first",
        "step",
        "On: a row that must fail by a few bits in the index ends there; no count is read.",
        {True: ("glance", "glance"), False: ("no glance", "no glance")},
    ),
    Switch(
        "hash",
        "Hash of an n-gram",
        "step",
        "Symmetric, as llama.cpp has it, or one that knows the order of the tokens.",
        {"xor": ("xor", "xor hash"), "mixed": ("mixed", "mixed hash")},
    ),
    Switch(
        "ties",
        "Who wins an equal score",
        "drafts",
        "The order inside the hash map, or the smaller token id.",
        {"library": ("hash order", "hash order"), "token": ("smaller id", "smaller id")},
    ),
    Switch(
        "score",
        "Score",
        "drafts",
        "In 32 bits big counts wrap, as in llama.cpp; in 64 they do not.",
        {"int32": ("32 bits", "32-bit score"), "exact": ("64 bits", "64-bit score")},
    ),
)

SWITCHES: dict[str, Switch] = {switch.toggle: switch for switch in _ALL}
"""All switches by their toggle, in the order in which they are shown."""

REFERENCE = UPSTREAM.toggles
"""What every other setting is compared with: the code as llama.cpp has it."""


# ---- what can go together -------------------------------------------------------------------

_MOVES: tuple[dict[str, Any], ...] = (
    {"ties": "token"},
    {"followers": "chained"},
    {"static": "same"},
    {"followers": "chained", "static": "same"},
    {"followers": "summed"},
    {"followers": "summed", "ties": "token"},
    {"outer": "places"},
    {"outer": "places", "ties": "token"},
    {"followers": "sorted"},
    {"outer": "segmented"},
    {"outer": "segmented", "followers": "chained"},
    {"outer": "segmented", "followers": "chained", "static": "same"},
)
"""What may be moved to make room for a change, the first that helps."""


def fitted(toggles: Toggles, **changes: Any) -> tuple[Toggles, dict[str, Any]]:
    """The toggles with these changes, and what else had to be moved to make them possible.

    >>> fitted(UPSTREAM.toggles, followers="sorted")[1]
    {'ties': 'token'}

    Raises:
        InputError: no such switch or value, or the changes themselves cannot go together.
    """
    try:
        return toggles.set(**changes), {}
    except InputError:
        for moves in _MOVES:
            if not moves.keys() & changes.keys():
                with suppress(InputError):
                    return toggles.set(**changes, **moves), moves
        raise


def moved_words(toggles: Toggles, moves: dict[str, Any]) -> str:
    """What `fitted` has moved and why, in one line; nothing if it has moved nothing."""
    if not moves:
        return ""
    moved = " and ".join(
        f"“{SWITCHES[name].title}” went to “{SWITCHES[name].label(value)}”"
        for name, value in moves.items()
    )
    if "outer" in moves or moves.get("followers") in ("sorted", "summed"):
        also = " Hash order needs hash maps." if toggles.ties == "library" else ""
        return f"{moved}: places in a text and arrays with their sums go together.{also}"
    if "ties" not in moves:
        return f"{moved}: hash order needs hash maps."
    arrays = {"followers": "sorted arrays have", "static": "a packed static cache has"}
    why = [words for name, words in arrays.items() if getattr(toggles, name) != _home(name)]
    return f"{moved}: {' and '.join(why)} no hash order."


def _home(toggle: str) -> Any:
    return getattr(REFERENCE, toggle)


_OURS = {
    "prefetch": "a table of places and the mapped file are asked for early",
    "glance": "a table of places and the mapped file keep such bits",
}
"""Switches of our own structures alone, and why."""


def idle(toggles: Toggles, toggle: str, has_static: bool) -> str:
    """Why a switch has no effect in this setting, or but half of one; nothing if it has all."""
    if toggle in _OURS and toggles.outer != "places" and toggles.static != "ngc":
        return f"No effect now: {_OURS[toggle]}."
    if toggle == "search":
        return _unsearched(toggles, has_static)
    if toggle not in ("static", "score", "late_static"):
        return ""
    if not has_static:
        why = {
            "static": "there is none",
            "score": "without weights no score is big",
            "late_static": "there is none",
        }
        return f"No effect without a static cache: {why[toggle]}."
    return ""


def _unsearched(toggles: Toggles, has_static: bool) -> str:
    """Arrays of context and dynamic are searched for counting, static ones for weights."""
    mapped = "in the mapped file a token’s place is computed (lesson 08)"
    if toggles.followers != "chained":
        own = toggles.static == "ngc" and has_static
        return f"Now for counting only: {mapped}." if own else ""
    if toggles.static == "constmap" and has_static:
        return ""
    also = f", and {mapped}" if toggles.static == "ngc" else ""
    return f"No effect now: hash maps are not searched{also}."


# ---- names ----------------------------------------------------------------------------------


def name_of(toggles: Toggles) -> str:
    """The stage these toggles make, or the nearest one and what differs.

    >>> name_of(UPSTREAM.toggles), name_of(UPSTREAM.toggles.set(ties="token"))
    ('upstream', 'upstream + smaller id')
    """
    stage = nearest_stage(toggles)
    others = [
        SWITCHES[name].in_name(getattr(toggles, name))
        for name in _differing(STAGES[stage].toggles, toggles)
    ]
    return " + ".join([stage, *others])


def short_name_of(toggles: Toggles) -> str:
    """The same with at most one difference in words, for narrow places."""
    stage, *others = name_of(toggles).split(" + ")
    if len(others) > 1:
        return f"{stage} + {len(others)} switches"
    return " + ".join([stage, *others])


def stage_name(toggles: Toggles) -> str | None:
    """The stage that has exactly these toggles, or None."""
    return next((stage.name for stage in STAGES.values() if stage.toggles == toggles), None)


def nearest_stage(toggles: Toggles) -> str:
    """The stage that differs in the fewest switches."""
    stages = STAGES.values()
    return min(stages, key=lambda stage: len(_differing(stage.toggles, toggles))).name


def _differing(one: Toggles, other: Toggles) -> list[str]:
    names = [field.name for field in fields(Toggles)]
    return [name for name in names if getattr(one, name) != getattr(other, name)]


# ---- drafts ---------------------------------------------------------------------------------


def different_choices(one: Toggles, other: Toggles) -> list[Switch]:
    """The switches that may change drafts, as far as the two settings differ in them."""
    return [SWITCHES[name] for name in _differing(one, other) if SWITCHES[name].may_change]


def same_choices(toggles: Toggles, like: Toggles) -> Toggles | None:
    """`toggles` with the other's switches that may change drafts; None if that cannot be."""
    with suppress(InputError):
        return toggles.set(
            **{switch.toggle: getattr(like, switch.toggle) for switch in _ALL if switch.may_change}
        )
    return None


def is_reference(toggles: Toggles) -> bool:
    """Whether it is the reference, whoever wins an equal score there."""
    return same_choices(toggles, REFERENCE) == REFERENCE
