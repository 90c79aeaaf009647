"""When the order of followers decides: equal scores, and a cache that was saved and loaded."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from ...caches import NgramCache
from ...drafter import Drafter
from ...rule import Rule
from ...toggles import NOCOPY, Toggles
from ...tokenizers import Tokens, get_tokenizer
from ..examples import NOTES, RECIPE
from .room import ARRAYS

WORD = 48
"""After "is golden" yesterday's notes have pour and whip, once each."""

MAPS = NOCOPY.toggles


@dataclass(frozen=True)
class Drafted:
    """What was drafted at word 48, and the followers in the order in which they were met."""

    how: str
    token: str
    order: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.how}: met {', '.join(self.order)}; drafts {self.token}"


def saved_and_loaded() -> tuple[Drafted, ...]:
    """The static cache of the notes, built, and saved and loaded, with maps and with arrays."""
    words = get_tokenizer("words")
    text, notes = words.encode(RECIPE).tolist()[: WORD - 1], words.encode(NOTES)
    found = []
    for structure, toggles in (("maps", MAPS), ("arrays", ARRAYS)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "notes.cache")
            with NgramCache.build_static(notes, toggles) as built:
                built.save(path)
                found.append((f"{structure}, just built", *_draft(text, built, toggles)))
            with NgramCache.open(path, toggles, static=True) as loaded:
                found.append((f"{structure}, saved and loaded", *_draft(text, loaded, toggles)))
    return tuple(
        Drafted(
            how,
            words.token_bytes(token).decode(),
            tuple(words.token_bytes(t).decode() for t in order),
        )
        for how, token, order in found
    )


def _draft(text: Sequence[int], static: NgramCache, toggles: Toggles) -> tuple[int, list[int]]:
    with Drafter(toggles, static=static) as drafter:
        drafter.feed(text)
        return int(drafter.draft(1)[0]), static.followers(text[-2:])[0].tolist()


# ---- a tie that matters ----------------------------------------------------------------------

_FIRST, _SECOND = 0, 1  # the 2-gram


def drafts_either_way(counts: Sequence[int], static_counts: Sequence[int]) -> tuple[str, str]:
    """Two followers, one and other, of one 2-gram in the dynamic cache, n = 2 alone, and their
    static counts: what is drafted if one has the smaller id, and if the other has."""
    return (
        _which(counts, static_counts, (2, 3)),
        _which(counts, static_counts, (3, 2)),
    )


def _which(counts: Sequence[int], static_counts: Sequence[int], ids: tuple[int, int]) -> str:
    toggles = ARRAYS.set(score="exact")
    with NgramCache(toggles) as dynamic, NgramCache(toggles, n_min=2, n_max=2) as static:
        for cache, numbers in ((dynamic, counts), (static, static_counts)):
            for token, count in zip(ids, numbers, strict=True):
                for _ in range(count):
                    cache.update([_FIRST, _SECOND, token], 1)
        with Drafter(toggles, Rule(n_min=2, n_max=2), static=static, dynamic=dynamic) as drafter:
            drafter.feed([_FIRST, _SECOND])
            steps = drafter.step(1)
            drafter.close()
    step = steps[0]
    if step.token is None:
        return "nothing is drafted"
    name = ("the one", "the other")[ids.index(step.token)]
    return f"{name} is drafted, from {step.source}"


# ---- where arrays lose -----------------------------------------------------------------------


@dataclass(frozen=True)
class Counting:
    """How long it takes to count so many followers of one token, ms, the median of some runs."""

    how: str
    maps_ms: float
    arrays_ms: float
    moves: int  #: pairs that move in the array


def long_lists(followers: int, runs: int = 5) -> tuple[Counting, Counting]:
    """One token with so many followers: ids that rise, and ids that fall, in maps and arrays."""
    rising = np.arange(1, followers + 1, dtype=np.int32)
    rows = (("rising ids", rising, 0), ("falling ids", rising[::-1], followers - 1))
    return tuple(  # type: ignore[return-value]
        Counting(
            how,
            _count_ms(ids, MAPS, runs),
            _count_ms(ids, ARRAYS, runs),
            most * (most + 1) // 2,
        )
        for how, ids, most in rows
    )


def _count_ms(ids: Tokens, toggles: Toggles, runs: int) -> float:
    text = np.zeros(2 * len(ids), dtype=np.int32)
    text[1::2] = ids
    times = []
    for _ in range(runs):
        with NgramCache(toggles, n_min=1, n_max=1) as cache:
            begun = time.perf_counter()
            cache.update(text)
            times.append(1000 * (time.perf_counter() - begun))
    return median(times)
