"""Lesson 10, should I use it: its question, what it prints, and its exercises."""

from __future__ import annotations

import re

from ..errors import InputError
from ..rule import Rule
from .payoff.gains import (
    N_DRAFTS,
    counted,
    drafted_per_pass,
    played,
    speed_up,
    tasks,
)
from .payoff.prices import CHEAP, DEAR
from .predict import Answer, Question, Task, whole_numbers

GAINS = ("2 times as fast", "1.3 times as fast", "no gain")
_LEAST = 1.05


def _story() -> tuple[float, float]:
    """Speed-up of prose with 8 guesses, on a processor that checks cheaply and on a busy one."""
    low, high = sorted(speed_up(counted("prose"), price) for price in (CHEAP, DEAR))
    return low, high


def _gain() -> str:
    _, high = _story()
    return GAINS[2] if high < _LEAST else GAINS[1] if high < 1.65 else GAINS[0]


STORY = Question(
    "A small model writes a story on two cores of a processor. Drafting with up to 8 guesses is"
    " switched on; guessing itself costs next to nothing. How fast does the story come now?",
    GAINS,
    _gain,
    "the formula",
    "A story repeats little, so few guesses are right, and each wrong one was checked. Measured"
    " with a real model on another machine: 0.84 to 1.0 times.",
    {
        "2 times as fast": "That takes two tokens a pass, for the price of one.",
        "1.3 times as fast": "JSON gets there; a story repeats less.",
    },
)


# ---- break it ------------------------------------------------------------------------------------


def by_acceptance(workload: str = "json-lines") -> None:
    """Prints acceptance, tokens per pass and speed-up, one line for each number of guesses."""
    found = {n: counted(workload, n) for n in N_DRAFTS}
    speeds = {n: speed_up(counts, CHEAP) for n, counts in found.items()}
    print(f"{workload}; speed by the model “{CHEAP.name}”")
    for n, counts in found.items():
        print(
            f"n_draft = {n:2}: {counts.accept_pct:4.1f} % accepted,"
            f" {counts.tokens_per_pass:.2f} tokens a pass, {speeds[n]:.2f} times as fast"
        )
    best = max(found, key=lambda n: found[n].accept_pct or 0.0)
    fastest = max(speeds, key=speeds.__getitem__)
    print(
        f"The highest acceptance is at {best}, the highest speed at {fastest}:"
        f" {speeds[best]:.2f} and {speeds[fastest]:.2f} times."
    )


ALWAYS = Rule(context_sum=(1, 1, 1, 1), context_percent=(0, 0, 0, 0))
"""Guesses whatever came after the longest ending that was seen at all."""


def without_thresholds(workload: str = "prose", n_draft: int = 8) -> None:
    """Prints what the thresholds are worth: the shipped rule, and one that always guesses."""
    for title, counts in (
        ("llama.cpp’s thresholds", counted(workload, n_draft)),
        ("no thresholds", played(tasks(workload), n_draft, ALWAYS)),
    ):
        speeds = ", ".join(f"{speed_up(counts, p):.2f} ({p.name})" for p in (CHEAP, DEAR))
        print(
            f"{workload}, {title}: {drafted_per_pass(counts):.2f} guesses a pass,"
            f" {counts.accept_pct:.1f} % accepted, {counts.tokens_per_pass:.2f} tokens a pass\n"
            f"  times as fast, by the models: {speeds}"
        )


# ---- the easy one: break-even prices -----------------------------------------------------------

_WORKLOADS = ("code-edit", "json-lines", "prose")
_NEAR = 0.06


def _check_break_even(typed: str) -> Answer:
    given = [float(number.replace(",", ".")) for number in re.findall(r"\d+(?:[.,]\d+)?", typed)]
    if len(given) != len(_WORKLOADS):
        return Answer(False, "This needs three numbers, as in: 5.1 2.2 1.3")
    for name, number in zip(_WORKLOADS, given, strict=True):
        counts = counted(name)
        if abs(number - counts.tokens_per_pass) <= _NEAR:
            continue
        if abs(number - drafted_per_pass(counts)) <= _NEAR:
            return Answer(
                False, f"For {name} that is guesses per pass. What comes of a pass is tokens."
            )
        return Answer(
            False,
            f"Not {number:g} for {name}. Drafting breaks even where the speed-up is 1: put 1 on the"
            " left of the formula.",
        )
    told = ", ".join(f"{counted(name).tokens_per_pass:.2f}" for name in _WORKLOADS)
    return Answer(
        True,
        f"{told}: the tokens per pass. A pass over 9 tokens that costs 5 is cheap for an edit to"
        " code and too dear for JSON, unless few are drafted.",
    )


BREAK_EVEN = Task(
    "Drafting time aside, what may a pass cost at most, in passes over one token, before drafting"
    f" loses? For {_WORKLOADS[0]}, {_WORKLOADS[1]} and {_WORKLOADS[2]}, up to 8 guesses, from the"
    " table above.",
    "Three numbers",
    _check_break_even,
)


# ---- the thinking one: a price with steps --------------------------------------------------------

TILE = 4
_MOST = 8


def stairs(n_tokens: int) -> float:
    """A kernel that works on four tokens at once: 1 to 4 cost one pass, 5 to 8 two, and so on."""
    return float(-(-n_tokens // TILE))


def _all_speeds(workload: str) -> dict[int, float]:
    return {n: speed_up(counted(workload, n), stairs) for n in range(1, _MOST + 1)}


def _check_stairs(typed: str) -> Answer:
    try:
        (given,) = whole_numbers(typed, 1)
    except InputError as error:
        return Answer(False, str(error))
    speeds = _all_speeds("json-lines")
    if given not in speeds:
        return Answer(False, f"Between 1 and {_MOST} guesses, please.")
    best = max(speeds, key=speeds.__getitem__)
    shown = ", ".join(f"{n}: {speed:.2f}" for n, speed in speeds.items())
    if given == best:
        return Answer(
            True,
            f"{best}: with the token before them these are {best + 1}, all for the price of one"
            f" pass. All of them, as times as fast: {shown}.",
        )
    more = (
        f"A pass looks at {given} guesses and at one token more: what do {given + 1} cost?"
        if given > best
        else "One guess more costs nothing yet."
    )
    return Answer(False, f"With {given} it is {speeds[given]:.2f} times as fast. {more}")


STAIRS = Task(
    f"A machine checks {TILE} tokens in the time of one, 5 to {2 * TILE} in the time of two, and so"
    " on in steps. For json-lines, which number of guesses is the best, from 1 to"
    f" {_MOST}?",
    "Number of guesses",
    _check_stairs,
    level="thinking",
)
