"""What the followers of one 2-gram cost in memory, as the engine's allocator counts it.

A table of many equal 2-grams is built in both structures, and its bytes are shared out. The
outer table's own buckets or slots are left out: they are lesson 04's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ...caches import Memory, NgramCache, TokensLike
from ...toggles import INNERVECTOR, UPSTREAM, Toggles

MAPS = UPSTREAM.toggles
ARRAYS = INNERVECTOR.toggles
NEWS_BYTES = 8
"""Of one follower: its token and its count."""

SEGMENT_BYTES = 4096
"""In which the flat table takes its memory (`csrc/ngc_outer_flat.h`)."""

_EQUAL = 128  # 2-grams: as many entries as fill a segment of the flat table


@dataclass(frozen=True)
class Room:
    """Bytes of one 2-gram with so many followers, asked of malloc."""

    followers: int
    ngram: int  #: the node or entry that holds the key and leads to the followers
    index: int  #: buckets of the map of followers; none with an array
    pairs: int  #: the nodes, or the array
    pieces: int  #: blocks of memory that are this 2-gram's own
    overhead: float  #: what malloc adds in headers and rounding: a model of glibc

    @property
    def total(self) -> int:
        return self.ngram + self.index + self.pairs


@cache
def room(followers: int, toggles: Toggles) -> Room:
    """What a 2-gram with so many followers takes.

    >>> room(1, MAPS).total, room(1, ARRAYS).total
    (208, 40)
    """
    memory = _many(followers, toggles)
    outer = 1 if toggles.outer == "chained" else 3  # buckets; or slots, a segment and its list
    return Room(
        followers,
        memory.ngrams_bytes // _EQUAL,
        memory.follower_index_bytes // _EQUAL,
        memory.followers_bytes // _EQUAL,
        (memory.live_allocations - outer) // _EQUAL,
        memory.overhead_bytes / _EQUAL,
    )


def _many(followers: int, toggles: Toggles) -> Memory:
    with NgramCache(toggles, n_min=2, n_max=2) as table:
        for gram in range(_EQUAL):
            for follower in range(followers):
                table.update([gram, _EQUAL + gram, follower], 1)
        return table.memory()


def first_piece_sizes() -> tuple[int, ...]:
    """What malloc is asked for when the first follower of a new 2-gram is counted, piece by piece,
    in maps; the outer table's buckets left out."""
    with NgramCache(MAPS, n_min=2, n_max=2) as table:
        table.update([0, 1, 2], 1)
        memory = table.memory()
    return memory.ngrams_bytes, memory.follower_index_bytes, memory.followers_bytes


@dataclass(frozen=True)
class Both:
    """The same 2-grams as maps in a map and as arrays: live bytes, the outer table included."""

    n_grams: int
    n_followers: int
    maps: int
    arrays: int

    def __str__(self) -> str:
        news = NEWS_BYTES * self.n_followers
        few = (
            f"\nHere maps take less: the flat table begins with {SEGMENT_BYTES:,} bytes, which so"
            " few 2-grams do not fill. “Break it” comes back to this; longer texts show the rest."
            if self.maps < self.arrays
            else ""
        )
        return (
            f"{self.n_grams:,} 2-grams with {self.n_followers:,} followers: {news:,} bytes of news."
            f" As maps in a map {self.maps:,} bytes ({self.maps / self.n_grams:.0f} a 2-gram),"
            f" as arrays {self.arrays:,} ({self.arrays / self.n_grams:.0f}).{few}"
        )


def both(tokens: TokensLike) -> Both:
    """A text's 2-grams in both structures."""
    with NgramCache.build_static(tokens, MAPS) as maps:
        facts, in_maps = maps.facts(), maps.memory().live_bytes
    with NgramCache.build_static(tokens, ARRAYS) as arrays:
        in_arrays = arrays.memory().live_bytes
    return Both(facts["n_grams"], facts["n_followers"], in_maps, in_arrays)
