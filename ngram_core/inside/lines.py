"""The cache lines that one draft call touches, in order, and what for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .._native import FROM, MAX_DRAFT, TOUCHED, as_count
from ..drafter import Drafter


@dataclass(frozen=True)
class LineTouch:
    """One cache line of one thing that was read, or, for a copy, written."""

    cache: str  #: whose n-gram: "context", "dynamic" or "static"
    n: int  #: of that n-gram
    step: int  #: tokens drafted before in this call
    #: "bucket", "node", "slot", "entry", "cell", "check", "order", "scanned", "scored",
    #: "searched", "final", "map_bucket", "map_node", "copied", "copy", "copy_index",
    #: "line", "text", "totals", "filter"
    what: str
    index: int | None  #: number of the bucket, slot, cell or pair in its array; None: a node
    line: int  #: lines are numbered by first touch
    array_line: int | None  #: lines from the start of its array; None: it stands in none
    is_first: bool  #: the first touch of this line in the call
    part: int  #: 0; 1 and on: further lines of the same thing


@dataclass(frozen=True)
class CacheLines:
    """What one draft call touched. `touches` has a row a touch (see `TOUCH_DTYPE`), of which there
    may be very many; `probe` counts them (see Drafter.probe)."""

    touches: npt.NDArray[np.void]
    probe: np.void

    @property
    def n_lines(self) -> int:
        """Distinct lines of 64 bytes."""
        return int(self.probe["cache_lines"])

    @cached_property
    def what(self) -> tuple[str, ...]:
        """What each touch is of, in words."""
        return tuple(TOUCHED[code] for code in self.touches["what"].tolist())

    def read(self, start: int = 0, stop: int | None = None) -> tuple[LineTouch, ...]:
        """Touches start..stop - 1 as records."""
        return tuple(map(_touch, self.touches[start:stop]))

    def first_touches(self) -> tuple[LineTouch, ...]:
        """One record a line: what it was fetched for."""
        return tuple(map(_touch, self.touches[self.touches["is_first"] == 1]))


def cache_lines(drafter: Drafter, n: int) -> CacheLines:
    """Drafts up to n tokens, recorded touch by touch; the text is not changed.

    >>> import ngram_core as ng
    >>> drafter = ng.Drafter()
    >>> drafter.feed([1, 2, 3, 4, 1, 2, 3])
    >>> ng.inside.cache_lines(drafter, 1).first_touches()[0].what
    'bucket'
    """
    touches, probe = drafter._handle.touches(as_count(n, "n", 0, MAX_DRAFT))
    return CacheLines(touches, probe)


def _touch(record: np.void) -> LineTouch:
    index, array_line = int(record["index"]), int(record["array_line"])
    return LineTouch(
        cache=FROM[int(record["cache"])],
        n=int(record["n"]),
        step=int(record["step"]),
        what=TOUCHED[int(record["what"])],
        index=None if index < 0 else index,
        line=int(record["line"]),
        array_line=None if array_line < 0 else array_line,
        is_first=bool(record["is_first"]),
        part=int(record["part"]),
    )
