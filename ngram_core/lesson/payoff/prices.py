"""What it costs a model to look at several tokens in one pass, instead of at one.

Models, said to be models; and one curve measured here, on the one thing that a pass mostly is: a
product of many weights with the numbers of each token. The weights are read from memory once,
whatever the number of tokens, so a machine that waits for its memory checks guesses for little.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import median

import numpy as np

MOST_TOKENS = 17
"""In one pass: 16 guesses, and the token before them."""


@dataclass(frozen=True)
class Price:
    """The price of a pass over some tokens, in passes over one.

    Args:
        name: to choose it by.
        what: in one line.
        points: (tokens, price), ascending; in between it is linear.
        is_measured: here, and no model.
    """

    name: str
    what: str
    points: tuple[tuple[int, float], ...]
    is_measured: bool = False

    def __call__(self, n_tokens: int) -> float:
        """The price of a pass over so many tokens."""
        tokens, prices = zip(*self.points, strict=True)
        return float(np.interp(n_tokens, tokens, prices))


def _line(name: str, what: str, of_nine: float) -> Price:
    """A straight line through 1 token for 1 pass."""
    per_token = (of_nine - 1) / 8
    return Price(name, what, ((1, 1.0), (MOST_TOKENS, 1 + per_token * (MOST_TOKENS - 1))))


FREE = _line("checking is free", "a model: a big GPU that serves one reader", 1)
CHEAP = _line("9 for the price of 2", "a model: a processor that waits for its memory", 2)
DEAR = _line("9 for the price of 5", "a model: a processor that is busy computing", 5)
MODELS = (FREE, CHEAP, DEAR)


# ---- measured here ------------------------------------------------------------------------------

SIZES = (1, 2, 3, 4, 5, 7, 9, 13, MOST_TOKENS)
_SIDE = 4096
WEIGHTS_MB = 64


@dataclass(frozen=True)
class Measured:
    """Milliseconds of a product of the weights with so many tokens: all rounds, by size.

    A round has all sizes, one after the other, so prices are taken within it: a slow moment hits
    both sides of the ratio.
    """

    ms: dict[int, list[float]]

    def ratios(self, n_tokens: int) -> list[float]:
        """The price of so many tokens, round by round."""
        return [many / one for one, many in zip(self.ms[1], self.ms[n_tokens], strict=True)]

    @property
    def price(self) -> Price:
        points = tuple((n, median(self.ratios(n))) for n in self.ms)
        return Price("this machine", "measured here: one product of weights", points, True)

    def __str__(self) -> str:
        def told(n: int) -> str:
            runs = self.ms[n]
            return f"{median(runs):.1f} ms ({min(runs):.1f} – {max(runs):.1f})"

        nine = self.ratios(9)
        return (
            f"{WEIGHTS_MB} MB of weights, times the numbers of 1 token: {told(1)}; of 9 tokens:"
            f" {told(9)}.\nRound by round, here 9 tokens are checked for the price of"
            f" {median(nine):.1f} ({min(nine):.1f} – {max(nine):.1f})."
        )


def measure(runs: int = 7) -> Measured:
    """Times the product for all sizes in turn, round by round.

    Cost: some 64 MB, and a second or two.
    """
    rows = WEIGHTS_MB * 1_000_000 // (4 * _SIDE)
    weights = np.full((rows, _SIDE), 0.01, np.float32)
    inputs = {n: np.ones((_SIDE, n), np.float32) for n in SIZES}
    ms: dict[int, list[float]] = {n: [] for n in SIZES}
    for n in SIZES:
        weights @ inputs[n]  # the first touch is not what is measured
    for _ in range(runs):
        for n in SIZES:
            start = time.perf_counter_ns()
            weights @ inputs[n]
            ms[n].append((time.perf_counter_ns() - start) / 1e6)
    return Measured(ms)
