"""Lesson 06, the same number of steps: its question, what it prints, and its exercises."""

from __future__ import annotations

from statistics import mean

from ..errors import InputError
from ..published import LONGEST_FOLLOWERS
from .predict import Answer, Question, Task, whole_numbers
from .searches import own
from .searches.paths import comparisons, halvings

_EVERY = 29  # keys of the longest list: enough for its mean, and quick

SIDES = ("the classic one", "the fixed one", "both the same")


def _averages() -> tuple[float, float]:
    """Comparisons a key in the longest published list: classic and fixed."""
    return (
        mean(comparisons(LONGEST_FOLLOWERS, "lower_bound", _EVERY)),
        mean(comparisons(LONGEST_FOLLOWERS, "fixed", _EVERY)),
    )


def _fewer() -> str:
    classic, fixed = _averages()
    if classic == fixed:
        return SIDES[2]
    return SIDES[0] if classic < fixed else SIDES[1]


FEWER = Question(
    f"The longest published list of followers has {LONGEST_FOLLOWERS:,} of them, in order. The"
    " classic binary search stops when it has nothing left; the fixed one makes as many steps for"
    " each key. Which one compares less, on average?",
    SIDES,
    _fewer,
    "the counter",
    "Classic needs 14 or 15, about 14.5 on average; fixed always 15 halvings and one comparison"
    " at the end. And yet fixed is the faster one, as you will see.",
    {
        "the fixed one": "It never stops early.",
        "both the same": "They halve alike, and one may stop a step earlier.",
    },
)


def linear(length: int = LONGEST_FOLLOWERS) -> None:
    """Prints how many comparisons the naive search and the others need in a list of so many."""
    every = max(1, length // 12)
    for name, title in (
        ("linear", "from the front"),
        ("lower_bound", "classic"),
        ("fixed", "fixed"),
    ):
        found = comparisons(length, name, every)  # type: ignore[arg-type]
        print(
            f"{title}: {mean(found):,.1f} comparisons a key on average, {min(found):,} to"
            f" {max(found):,}, in a list of {length:,}"
        )


# ---- the easy one: halvings --------------------------------------------------------------------

_LENGTHS = (33, 1000)


def _check_halvings(typed: str) -> Answer:
    try:
        given = whole_numbers(typed, 2)
    except InputError as error:
        return Answer(False, f"{error} Write them as in: 4 8")
    for length, number in zip(_LENGTHS, given, strict=True):
        right = halvings(length)
        if number == right + 1:
            return Answer(
                False,
                f"For {length:,} it is {right}, and one comparison after the loop: count"
                " the turns of the loop alone.",
            )
        if number != right:
            sizes = [length]
            while sizes[-1] > 1:
                sizes.append(sizes[-1] - sizes[-1] // 2)
            shown = ", ".join(map(str, sizes[:3]))
            return Answer(False, f"Not {number} for {length:,}. It goes {shown}, … down to 1.")
    return Answer(
        True,
        f"{given[0]} and {given[1]}, whatever the key. The longer half is kept, so a list of"
        f" {_LENGTHS[0]} takes as many turns as one of 64.",
    )


HALVINGS = Task(
    f"How many turns does the fixed loop take in a list of {_LENGTHS[0]}, and in one of"
    f" {_LENGTHS[1]:,}?",
    "Two numbers",
    _check_halvings,
)

compare = own.compare
"""For the reader's own search."""
