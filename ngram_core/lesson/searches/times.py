"""How long searches take over the length of the list, measured here in the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import quantiles
from typing import Any

import numpy as np

from ...inside import search_ns
from ...published import LONGEST_FOLLOWERS
from ...toggles import Search
from ..figures import plural
from ..steps import Case, Group, Pictures, Said, StepsModel

LENGTHS = (1, 2, 4, 8, 16, 33, 64, 128, 512, 2048, LONGEST_FOLLOWERS)

TIMED: tuple[tuple[Search, str], ...] = (
    ("lower_bound", "classic"),
    ("fixed", "fixed"),
    ("linear", "linear"),
    ("simd", "simd"),
)

KEYS = (
    ("random keys", "each search looks for another token, half of them absent"),
    ("512 keys, over and over", "random ones, but always the same, in the same order"),
    ("one key, again and again", "the processor learns the way"),
)

N_KEYS = 1 << 18
"""Random keys, of which each run takes the next ones: a few hundred, searched for again and again,
are a way that a processor learns by heart."""

FEW = 512

RUNS = 25
NS_A_RUN = 150_000
"""Each run is a batch of searches that takes about so long: longer ones are seldom left alone by
other programs, and the middle half of few runs is then no better than chance."""


@dataclass(frozen=True)
class Timed:
    """Nanoseconds a search: the median of the runs, and where their middle half begins and ends."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, runs: Sequence[float]) -> Timed:
        """Of the runs' times, two at least."""
        low, middle, high = quantiles(runs, n=4, method="inclusive")
        return cls(middle, low, high)


Times = dict[tuple[str, int], dict[str, Timed]]
"""(kind of keys, length of the list) -> search -> how long it takes."""


def measure(lengths: Sequence[int] = LENGTHS, runs: int = RUNS, seed: int = 6) -> Times:
    """Times all searches in turn, run by run, so that a slow moment hits all of them.

    Cost: some 2 ms for each length, kind of keys and search.
    """
    random = np.random.default_rng(seed)
    times: Times = {}
    for length in lengths:
        followers = np.arange(1, 2 * length, 2, dtype=np.int32)  # odd ids: even ones are absent
        keys = random.integers(0, 2 * length + 1, N_KEYS, dtype=np.int32)
        few, one = np.resize(keys[:FEW], N_KEYS), np.full_like(keys, keys[0])
        for (kind, _), wanted in zip(KEYS, (keys, few, one), strict=True):
            times[kind, length] = _in_turn(followers, wanted, runs)
    return times


def _in_turn(followers: Any, keys: Any, runs: int) -> dict[str, Timed]:
    found: dict[str, list[float]] = {search: [] for search, _ in TIMED}
    sizes = {search: _batch(followers, keys, search) for search, _ in TIMED}
    for run in range(runs):
        for search, _name in TIMED:
            start = run * sizes[search] % (N_KEYS - sizes[search] + 1)
            batch = keys[start : start + sizes[search]]
            found[search].append(search_ns(followers, batch, search))
    return {search: Timed.of(values) for search, values in found.items()}


def _batch(followers: Any, keys: Any, search: Search) -> int:
    """So many searches take `NS_A_RUN`."""
    ns = search_ns(followers, keys[-64:], search)
    return max(64, min(N_KEYS // 2, round(NS_A_RUN / max(ns, 0.1))))


class TimesModel(StepsModel):
    """What was measured here; a step is a length of the list.

    Args:
        times: as measured before, with as many runs of these lengths; by default they are now.
    """

    def __init__(
        self,
        lengths: Sequence[int] = LENGTHS,
        runs: int = RUNS,
        times: Times | None = None,
    ) -> None:
        self.times = times or measure(lengths, runs)
        super().__init__(
            Pictures(
                "Time of one search, ns",
                "Measured here and now: lists of followers in ascending order, keys one after the"
                f" other, medians of {plural(runs, 'run')}; bars hold the middle half"
                " of them. Logarithmic axes. Run the cell again to measure anew.",
                (Group("Keys", KEYS),),
                [self._case(kind, lengths) for kind, _ in KEYS],
                keep=True,
            )
        )
        self.go(len(lengths) // 2)

    def _case(self, kind: str, lengths: Sequence[int]) -> Case:
        rows = [self.times[kind, length] for length in lengths]
        return Case(
            [
                {
                    "count": f"{length:,} in the list",
                    "say": _sentence(kind, length, row),
                    "length": length,
                }
                for length, row in zip(lengths, rows, strict=True)
            ],
            shared={
                "lengths": list(lengths),
                "lines": [
                    [
                        name,
                        [
                            [
                                _round(v)
                                for v in (row[search].median, row[search].low, row[search].high)
                            ]
                            for row in rows
                        ],
                    ]
                    for search, name in TIMED
                ],
            },
        )


def _round(ns: float) -> float:
    return float(f"{ns:.3g}")


def _sentence(kind: str, length: int, row: dict[str, Timed]) -> Said:
    classic, fixed = row["lower_bound"], row["fixed"]
    each = ", ".join(f"{name} {row[search].median:,.1f}" for search, name in TIMED)
    told: Said = [f"{plural(length, 'follower')}, {kind}: {each} ns. "]
    if fixed.high < classic.low:
        return [
            *told,
            ["b", f"Fixed is {classic.median / fixed.median:.1f} times faster"],
            " than classic.",
        ]
    if classic.high < fixed.low:
        return [
            *told,
            ["b", f"Classic is {fixed.median / classic.median:.1f} times faster"],
            " than fixed.",
        ]
    return [
        *told,
        "Between classic and fixed ",
        ["b", "one cannot tell"],
        ": the middle halves of their runs overlap.",
    ]
