"""Timings and counts of one replay, cut into pieces of equal work.

The text is cut at the same places for every stage. Since all stages draft the same tokens,
piece i holds the same work for each, and their times may be divided by one another.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..caches import Memory
from ..replay import Sample

PIECES = 200
"""Pieces a text is cut into: some milliseconds each, far above the cost of reading the clock."""

WINDOW = 20
"""The line shows the median of so many pieces, the last ones."""


@dataclass(frozen=True)
class Spread:
    """What n timings say: the median, the middle half around it, the smallest, the largest."""

    median: float
    quarter: float
    three_quarters: float
    low: float
    high: float
    n: int


def spread(values: Sequence[float]) -> Spread | None:
    """The spread of some values; None if there are none.

    >>> spread([3.0, 1.0, 2.0, 9.0, 4.0])
    Spread(median=3.0, quarter=2.0, three_quarters=4.0, low=1.0, high=9.0, n=5)
    """
    if not values:
        return None
    quarter, median, three_quarters = (
        statistics.quantiles(values, n=4, method="inclusive")
        if len(values) > 1
        else 3 * [values[0]]
    )
    return Spread(median, quarter, three_quarters, min(values), max(values), len(values))


@dataclass(frozen=True)
class Piece:
    """One piece of the text: where it ends, and what drafting it took."""

    n_replayed: int
    n_drafted: int
    time_ns: int
    copied_bytes: int
    copied_allocations: int

    @property
    def ns_per_drafted(self) -> float:
        return self.time_ns / self.n_drafted


@dataclass
class Line:
    """The pieces of one replay so far, and the bytes it holds."""

    n_tokens: int
    pieces: list[Piece] = field(default_factory=list)
    sample: Sample | None = None  #: the engine's own totals
    memory: dict[str, Memory] = field(default_factory=dict)  #: by cache
    _begun: Sample | None = None  # where the piece in work began
    _running: list[Spread] = field(default_factory=list)

    @property
    def piece_end(self) -> int:
        """The place in the text where the piece in work ends."""
        done = self._begun.n_replayed if self._begun else 0
        number = done * PIECES // self.n_tokens + 1
        return min(self.n_tokens, -(-number * self.n_tokens // PIECES))

    def begin(self, sample: Sample) -> None:
        """The state before anything was replayed."""
        self.sample = self._begun = sample

    def add(self, sample: Sample) -> None:
        """The state after some more of the text; closes the piece in work if it is at its end."""
        assert self._begun is not None, "begin() comes first"
        self.sample = sample
        if sample.n_replayed < self.piece_end and not sample.done:
            return
        old, self._begun = self._begun, sample
        if sample.n_drafted == old.n_drafted:
            return  # nothing drafted: there is no time per drafted token
        self.pieces.append(
            Piece(
                sample.n_replayed,
                sample.n_drafted - old.n_drafted,
                sample.draft_ns + sample.update_ns - old.draft_ns - old.update_ns,
                sample.copied_bytes - old.copied_bytes,
                sample.copied_allocations - old.copied_allocations,
            )
        )

    @property
    def fraction(self) -> float:
        return self.sample.n_replayed / self.n_tokens if self.sample else 0.0

    @property
    def timings(self) -> list[float]:
        """ns per drafted token of each piece."""
        return [piece.ns_per_drafted for piece in self.pieces]

    @property
    def now(self) -> Spread | None:
        """ns per drafted token in the last pieces."""
        return spread(self.timings[-WINDOW:])

    @property
    def so_far(self) -> Spread | None:
        """ns per drafted token over all pieces."""
        return spread(self.timings)

    def running(self) -> list[Spread]:
        """`now` as it was at each piece: the line with its band. Each is worked out once."""
        values = self.timings
        for end in range(len(self._running) + 1, len(values) + 1):
            found = spread(values[max(0, end - WINDOW) : end])
            assert found is not None, "there is one value at least"
            self._running.append(found)
        return self._running

    @property
    def bytes_copied_per_drafted(self) -> float | None:
        """Bytes that copying followers allocated, per drafted token."""
        return _per(self.sample, "copied_bytes", "n_drafted")

    @property
    def allocations_per_call(self) -> float | None:
        """Allocations for copies, per draft call."""
        return _per(self.sample, "copied_allocations", "n_calls")


def _per(sample: Sample | None, what: str, each: str) -> float | None:
    if sample is None or not getattr(sample, each):
        return None
    return float(getattr(sample, what) / getattr(sample, each))


def on_shared_part(one: Line, other: Line) -> tuple[float, float] | None:
    """Median ns per drafted token of both, over the pieces that both have replayed.

    Medians, since another program that takes the processor for a moment makes a piece or two
    many times slower, and would carry a mean along.
    """
    n = min(len(one.pieces), len(other.pieces))
    if n == 0:
        return None
    return statistics.median(one.timings[:n]), statistics.median(other.timings[:n])


def is_clear(one: Line, other: Line) -> bool:
    """Whether one is faster beyond the spread: piece by piece, the middle half of the ratios
    must lie on one side of 1."""
    ratios = [a / b for a, b in zip(one.timings, other.timings, strict=False) if b]
    found = spread(ratios)
    return found is not None and not found.quarter <= 1 <= found.three_quarters
