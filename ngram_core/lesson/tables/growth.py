"""A flat table that grows, byte by byte: one array that doubles, and segments that stay.

Each n-gram is added by itself, and the engine's allocator is read after it. A dense array grows
by taking a new one, copying, and giving the old one back: both are there for a moment, and the
allocator's peak has seen it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ...caches import NgramCache, TokensLike
from ...toggles import INNERVECTOR, OUTERMAP, Outer, Toggles
from ...tokenizers import get_tokenizer
from ..examples import RECIPE
from ..figures import plural
from ..steps import Case, Group, Pictures, Said, StepsModel

FLAT = OUTERMAP.toggles
ENTRY_BYTES = 72
"""Of an entry with a map of followers: 16 for the key, 56 for the head of the map."""

MOST = 300


@dataclass(frozen=True)
class Moment:
    """A table after so many n-grams: live bytes by kind, and the peak so far."""

    n_grams: int
    live: int
    peak: int
    entries: int  #: bytes of the array or the segments of entries
    slots: int
    followers: int
    old: int  #: bytes of the array given back when the last n-gram came; 0: none


def grown(outer: Outer, followers: int = 1, most: int = MOST) -> list[Moment]:
    """A table with so many followers for each n-gram, after each n-gram."""
    updates = ([[gram, most + follower] for follower in range(followers)] for gram in range(most))
    with NgramCache(FLAT.set(outer=outer), n_min=1, n_max=1) as table:
        return list(_moments(table, updates))


def recipe_grown(outer: Outer) -> list[Moment]:
    """The recipe's table, after each word."""
    text = get_tokenizer("words").encode(RECIPE)
    with NgramCache(FLAT.set(outer=outer)) as table:
        return list(_moments(table, ([text[: i + 1]] for i in range(len(text)))))


def _moments(table: NgramCache, updates: Any) -> Iterator[Moment]:
    before = 0
    for texts in updates:
        for text in texts:
            table.update(text, 1)
        memory = table.memory()
        n_grams = table.n_grams
        if n_grams == 0:
            continue
        # segments are never given back
        doubled = table.toggles.outer == "dense" and memory.ngrams_bytes > before
        yield Moment(
            n_grams,
            memory.live_bytes,
            memory.peak_bytes,
            memory.ngrams_bytes,
            memory.index_bytes,
            memory.followers_bytes + memory.follower_index_bytes,
            before if doubled else 0,
        )
        before = memory.ngrams_bytes


def places_at_peak(n_grams: int) -> int:
    """Places for entries that a dense table of so many n-grams once held at the same time."""
    moments = dense()[:n_grams]
    return max(moment.entries + moment.old for moment in moments) // ENTRY_BYTES


@cache
def dense() -> list[Moment]:
    """A dense table with one follower for each n-gram, up to 600."""
    return grown("dense", 1, 600)


class GrowthModel(StepsModel):
    """Both tables growing side by side; a step is an n-gram at which one of them grows."""

    def __init__(self) -> None:
        pairs = {
            "one follower each": (grown("dense"), grown("segmented")),
            "thirty followers each": (grown("dense", 30), grown("segmented", 30)),
            "the recipe": (recipe_grown("dense"), recipe_grown("segmented")),
        }
        super().__init__(
            Pictures(
                "How a table grows",
                "Bytes asked of malloc while n-grams come in, followers kept in maps. Pale:"
                " entries. Dotted: room for more. Hatched: slots. Solid: followers. Dashed: the old"
                " array, until it is copied.",
                (Group("N-grams with", tuple((name, "") for name in pairs)),),
                [_case(one, other) for one, other in pairs.values()],
            )
        )


def _case(one: Sequence[Moment], other: Sequence[Moment]) -> Case:
    last = len(one) - 1
    steps = [i for i in range(1, last) if _grows(one, i) or _grows(other, i)]
    shown = [0, *steps, last]
    return Case(
        [_step(one[i], other[i], one[last]) for i in shown],
        shared={
            "most": max(one[-1].peak, other[-1].peak),
            "lines": [[[m.n_grams, m.live, m.peak] for m in moments] for moments in (one, other)],
        },
    )


def _grows(moments: Sequence[Moment], i: int) -> bool:
    return moments[i].entries > moments[i - 1].entries


def _step(one: Moment, other: Moment, end: Moment) -> dict[str, Any]:
    return {
        "count": f"{one.n_grams} of {end.n_grams} n-grams",
        "say": _sentence(one, other),
        "n": one.n_grams,
        "bars": [_bar(one), _bar(other)],
    }


def _bar(moment: Moment) -> dict[str, Any]:
    used = ENTRY_BYTES * moment.n_grams
    return {
        "old": moment.old,
        "used": used,
        "room": moment.entries - used,
        "slots": moment.slots,
        "followers": moment.followers,
        "live": moment.live,
        "peak": moment.peak,
    }


def _sentence(one: Moment, other: Moment) -> Said:
    now = plural(one.n_grams, "n-gram")
    if one.old:
        old, new = one.old // ENTRY_BYTES, one.entries // ENTRY_BYTES
        told: Said = [
            f"With {now} the array doubles: for a moment ",
            ["b", f"{old} + {new} = {old + new} places"],
            " for entries are there.",
        ]
    else:
        places = plural(one.entries // ENTRY_BYTES, "place")
        told = [f"{now}: the array has {places} for entries."]
    return [
        *told,
        f" Segments have {other.entries // ENTRY_BYTES}, and never two copies. Peak so far:"
        f" {one.peak:,} bytes when doubling, {other.peak:,} with segments, ",
        ["b", f"{one.peak / other.peak:.2f} times"],
        ".",
    ]


# ---- a real corpus ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Peak:
    """Live bytes at the end and the peak on the way, of one corpus in one table."""

    outer: Outer
    followers: str  #: "maps" or "arrays"
    n_grams: int
    live: int
    peak: int


def peaks(tokens: TokensLike) -> tuple[Peak, ...]:
    """The 2-grams of a corpus, added one by one, in four tables."""
    structures: tuple[tuple[str, Toggles], ...] = (("maps", FLAT), ("arrays", INNERVECTOR.toggles))
    outers: tuple[Outer, ...] = ("dense", "segmented")
    found = []
    for name, toggles in structures:
        for outer in outers:
            with NgramCache(toggles.set(outer=outer), n_min=2, n_max=2) as table:
                table.update(tokens)
                memory = table.memory()
                found.append(Peak(outer, name, table.n_grams, memory.live_bytes, memory.peak_bytes))
    return tuple(found)
