"""Tokens per pass against the price of a pass, guess by guess, for a workload and a machine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ...corpora import WORKLOADS
from ...corpora.workloads import Measured, Task
from ...errors import InputError
from ..figures import plural
from ..steps import Case, Group, Pictures, Said, StepsModel
from .gains import N_DRAFTS, by_gain, counted, pass_price, played, speed_up, tokenizer_once
from .prices import MODELS, Price, measure

OWN = "your text"
MOST_CHARACTERS = 20_000
FEWEST_TOKENS = 20
STEPS = (0, *N_DRAFTS)

WITHOUT = Measured(1, 1, 0, 0, (1,))
"""A pass without a guess: one token for one pass."""

PAYS, COSTS = 1.05, 1.0
"""From here on it pays; below the other it costs; in between it does not matter."""


class PayoffModel(StepsModel):
    """All workloads on all machines; a step is the number of guesses a pass.

    Args:
        workload, machine, n_draft: what is shown at first.
        here: the price curve of this machine; measured now if it is None.
    """

    def __init__(
        self,
        workload: str = "json-lines",
        machine: str = "9 for the price of 2",
        n_draft: int = 8,
        here: Price | None = None,
    ) -> None:
        self.prices = (*MODELS, here or measure().price)
        self.counts = {name: [counted(name, n) for n in N_DRAFTS] for name in by_gain()}
        super().__init__(self._pictures())
        self.choose(workload, machine)
        if n_draft not in STEPS:
            raise InputError(f"n_draft={n_draft}: need one of {', '.join(map(str, STEPS))}")
        self.go(STEPS.index(n_draft))

    def measure(self, typed: str) -> str:
        """Takes a reader's own text as another workload.

        Args:
            typed: what the model writes; with a line of three dashes, the prompt stands before it.

        Raises:
            InputError: it is too short or too long.
        """
        if len(typed) > MOST_CHARACTERS:
            raise InputError(f"that is more than {MOST_CHARACTERS:,} characters; give a part of it")
        parts = re.split(r"^---+[ \t]*$\n?", typed, maxsplit=1, flags=re.MULTILINE)
        task = Task("".join(parts[:-1]), parts[-1])
        n_tokens = len(tokenizer_once().encode(task.output))
        if n_tokens < FEWEST_TOKENS:
            raise InputError(
                f"what the model writes has {plural(n_tokens, 'token')}; give {FEWEST_TOKENS} or"
                " more"
            )
        self.counts[OWN] = [played([task], n) for n in N_DRAFTS]
        at, machine = self.at, self.chosen[1]
        self.show(self._pictures(), [list(self.counts).index(OWN), machine])
        self.go(at)
        eight = self.counts[OWN][N_DRAFTS.index(8)]
        return (
            f"{plural(n_tokens, 'token')} written, {eight.tokens_per_pass:.2f} a pass with up to 8"
            " guesses."
        )

    def _pictures(self) -> Pictures:
        return Pictures(
            "Does it pay?",
            "More guesses a pass bring more tokens, and cost more checking. Their quotient is the"
            " speed-up. Solid: counted or measured here. Dotted: a model, or made of one.",
            (
                Group("Workload", tuple((name, _about(name)) for name in self.counts)),
                Group("Checking", tuple((price.name, price.what) for price in self.prices)),
            ),
            [
                _case(name, counts, price)
                for name, counts in self.counts.items()
                for price in self.prices
            ],
            keep=True,
        )


def _about(name: str) -> str:
    return "typed or pasted below" if name == OWN else WORKLOADS[name].about


def _case(name: str, counts: Sequence[Measured], price: Price) -> Case:
    rows = [WITHOUT, *counts]
    speeds = [speed_up(row, price) for row in rows]
    return Case(
        [_step(name, i, rows, speeds, price) for i in range(len(STEPS))],
        shared={
            "about": _about(name),
            "machine": price.what,
            "measured": price.is_measured,
            "guesses": list(STEPS),
            "tokens": [round(row.tokens_per_pass, 3) for row in rows],
            "prices": [round(pass_price(row, price), 3) for row in rows],
            "speeds": [round(speed, 3) for speed in speeds],
            "accepted": [
                None if row.accept_pct is None else round(row.accept_pct, 1) for row in rows
            ],
            "pays": [_verdict(speed) for speed in speeds],
        },
    )


def _verdict(speed: float) -> str:
    return "y" if speed >= PAYS else "n" if speed < COSTS else "b"


def best(speeds: Sequence[float]) -> int:
    """Which step is fastest; the fewest guesses of those that look the same in two decimals."""
    shown = [round(speed, 2) for speed in speeds]
    return shown.index(max(shown))


def _step(
    name: str, i: int, rows: Sequence[Measured], speeds: Sequence[float], price: Price
) -> dict[str, Any]:
    row, n = rows[i], STEPS[i]
    if n == 0:
        say: Said = [
            f"{name} without guesses: one token a pass, for the price of one pass. Step on to allow"
            " some."
        ]
        return {"count": "n_draft = 0", "say": say}
    speed, cost = speeds[i], pass_price(row, price)
    told = f"{speed:.2f} times as fast"
    words = {"y": ", it pays. ", "b": ": no gain to speak of. ", "n": ": slower than without. "}
    top = best(speeds)
    better = (
        "No number of guesses is faster here."
        if top == i
        else "Without guesses it would be fastest."
        if top == 0
        else f"Fastest here: up to {plural(STEPS[top], 'guess')}, {speeds[top]:.2f}."
    )
    say = [
        f"{name}, up to {plural(n, 'guess')}: {row.tokens_per_pass:.3f} tokens a pass, and a pass"
        f" costs {cost:.3f}. ",
        [_verdict(speed), f"{row.tokens_per_pass:.3f} / {cost:.3f} = {told}"],
        words[_verdict(speed)],
        better,
    ]
    return {"count": f"n_draft = {n}", "say": say}
