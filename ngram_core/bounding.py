"""A dynamic cache that stays small: what goes when it has grown too big, and how it grew.

It grows with every text that is merged into it. An n-gram that was seen once can draft nothing (the
strict thresholds want sums of 4, 3, 2 and 2 for n = 1 to 4), and most n-grams are such. So those
that were seen least often go first, whole n-grams, until half of what is allowed is free: new ones
then have room to become frequent. What goes is forgotten, and begins at 0 if it comes back; what is
frequent stays, however old it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import _native
from ._native import as_count
from .copying import copied
from .errors import InputError
from .toggles import Toggles


@dataclass(frozen=True)
class Bound:
    """The most that a dynamic cache may hold; at least one of the two is given.

    Args:
        most_followers: pairs of an n-gram and a follower.
        most_bytes: bytes asked of malloc.
    """

    most_followers: int | None = None
    most_bytes: int | None = None

    def __post_init__(self) -> None:
        if self.most_followers is None and self.most_bytes is None:
            raise InputError("a bound needs most_followers or most_bytes")
        for name in ("most_followers", "most_bytes"):
            value = getattr(self, name)
            if value is not None:
                as_count(value, name, 1, 2**62)

    def passed_by(self, n_followers: int, live_bytes: int) -> bool:
        """Whether that is more than may be held."""
        return (self.most_followers is not None and n_followers > self.most_followers) or (
            self.most_bytes is not None and live_bytes > self.most_bytes
        )


@dataclass(frozen=True)
class Thinned:
    """What was left out of a cache: n-grams whose counts add up to less than `least_sum`."""

    least_sum: int
    n_grams_gone: int
    n_followers_gone: int


@dataclass(frozen=True)
class Grown:
    """A dynamic cache after a text was merged into it."""

    n_texts: int  #: merged so far by this drafter
    live_bytes: int
    n_grams_gone: int  #: left out then, to stay within the bound


def thinned(
    source: _native.NativeCache,
    toggles: Toggles,
    sizes: tuple[int, int],
    bound: Bound,
    progress: Callable[[float], None] | None = None,
) -> tuple[_native.NativeCache, Thinned] | None:
    """A copy of a cache without its rarest n-grams, half of what the bound allows at most, and
    what is gone; None if the cache is within the bound."""
    facts, live_bytes = source.facts(), source.memory()["live_bytes"]
    if not bound.passed_by(facts["n_followers"], live_bytes):
        return None
    sums, lengths = _rows(source)
    limits = (bound.most_followers, bound.most_bytes)
    half = Bound(*(None if limit is None else max(1, limit // 2) for limit in limits))
    kept = facts["n_followers"]
    if half.most_followers is not None:
        kept = min(kept, half.most_followers)
    if half.most_bytes is not None:
        kept = min(kept, int(kept * half.most_bytes / max(live_bytes, 1)))
    while True:
        least = _least_sum(sums, lengths, kept)
        stays = sums >= least
        handle = copied(source, toggles, sizes, progress, least)
        live_bytes = handle.memory()["live_bytes"]
        if not stays.any() or not half.passed_by(0, live_bytes):
            gone = ~stays
            return handle, Thinned(least, int(gone.sum()), int(lengths[gone].sum()))
        handle.close()  # smaller ones take more bytes each
        kept = min(kept - 1, int(kept * (half.most_bytes or 0) / live_bytes))


def _rows(source: _native.NativeCache) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The sum of counts, and the number of followers, of every n-gram."""
    parts = [(piece["sum"].copy(), piece["n_followers"].copy()) for piece in source.walk()]
    sums, lengths = (np.concatenate(column).astype(np.int64) for column in zip(*parts, strict=True))
    return sums, lengths


def _least_sum(sums: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64], kept: int) -> int:
    """The least sum with which at most `kept` followers stay; above all sums if there is none."""
    order = np.argsort(-sums, kind="stable")
    fits = np.cumsum(lengths[order]) <= kept
    n = int(fits.sum())  # the most frequent ones that fit
    if n == len(sums):
        return 0
    return int(sums[order[n]]) + 1
