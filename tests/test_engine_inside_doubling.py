"""A dense table's last doubling holds the old array and the new one at once; segments never do.

Every byte is accounted for by a model of what each structure asks of malloc, in order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import golden
import numpy as np
import pytest
from libstdcpp_order import BUCKET_COUNTS

import ngram_core as ng

SEGMENT_BYTES = 4096
POINTER_BYTES = SLOT_BYTES = PAIR_BYTES = 8
NODE_BYTES = 16  # of a map of followers
LINK_BYTES = 16  # of a node of the outer map: the next one, and its whole hash
BLOCK_BYTES = 24  # before the followers of a place
KEY_BYTES = 16
FOLLOWERS_BYTES = {"chained": 56, "sorted": 16}  # inside an entry


@dataclass
class Heap:
    live: int = 0
    peak: int = 0

    def replace(self, old: int, new: int) -> None:
        """The new block is taken before the old one is given back."""
        self.live += new
        self.peak = max(self.peak, self.live)
        self.live -= old


def add_followers(heap: Heap, kind: str, n: int) -> None:
    if kind == "sorted":
        heap.replace(0, PAIR_BYTES * n)
        return
    buckets = 0
    for i in range(1, n + 1):
        heap.replace(0, NODE_BYTES)
        if i > buckets:
            more = next(size for size in BUCKET_COUNTS[1:] if size > buckets)
            heap.replace(POINTER_BYTES * buckets, POINTER_BYTES * more)
            buckets = more


def modelled(outer: str, kind: str, n_grams: int, n_followers: int) -> Heap:
    """Loading a file of so many n-grams with so many followers each."""
    heap = Heap()
    entry = KEY_BYTES + FOLLOWERS_BYTES[kind]
    per_segment = 1 << (SEGMENT_BYTES // entry).bit_length() - 1  # a power of two
    slots = room = entries = pointers = 0
    for length in range(n_grams):
        add_followers(heap, kind, n_followers)
        if length + 1 > room:
            more = 2 * slots or 16
            heap.replace(SLOT_BYTES * slots, SLOT_BYTES * more)
            slots, room = more, more * 4 // 5
        if length < entries:
            continue
        if outer == "dense":
            more = 2 * entries or 8
            heap.replace(entry * entries, entry * more)
            entries = more
        else:
            if entries == per_segment * pointers:
                more = 2 * pointers or 8
                heap.replace(POINTER_BYTES * pointers, POINTER_BYTES * more)
                pointers = more
            heap.replace(0, entry * per_segment)
            entries += per_segment
    return heap


def measured_memory(
    folder: Path, outer: str, kind: str, n_grams: int, n_followers: int
) -> tuple[ng.Memory, ng.NgramCache]:
    table = {(i, i + 1): dict.fromkeys(range(n_followers), 1) for i in range(n_grams)}
    path = folder / "table.cache"
    path.write_bytes(golden.write_table(table))
    ties = "library" if kind == "chained" else "token"
    toggles = ng.Toggles(outer=outer, followers=kind, ties=ties, hash="mixed")  # type: ignore[arg-type]
    cache = ng.NgramCache.open(path, toggles, static=True)
    return cache.memory(), cache


SIZES = [(1, 1), (8, 3), (9, 14), (129, 1), (1024, 2), (1025, 2), (4097, 4)]


@pytest.mark.parametrize("kind", ["chained", "sorted"])
@pytest.mark.parametrize("outer", ["segmented", "dense"])
@pytest.mark.parametrize(("n_grams", "n_followers"), SIZES)
def test_every_byte_is_accounted_for(
    tmp_path: Path, outer: str, kind: str, n_grams: int, n_followers: int
) -> None:
    memory, cache = measured_memory(tmp_path, outer, kind, n_grams, n_followers)
    model = modelled(outer, kind, n_grams, n_followers)
    assert (memory.live_bytes, memory.peak_bytes) == (model.live, model.peak)
    cache.close()


def test_the_doubling_peak(tmp_path: Path, measured: Callable[[str], None]) -> None:
    """One n-gram past a power of two, the dense array is at its worst: it has just been copied into
    one twice as long. How much that is of the whole depends on the followers."""
    n_grams = 2**12 + 1
    ratios = {}
    for kind, n_followers in (("chained", 1), ("chained", 4), ("chained", 30), ("sorted", 40)):
        peaks = {}
        for outer in ("segmented", "dense"):
            memory, cache = measured_memory(tmp_path, outer, kind, n_grams, n_followers)
            peaks[outer] = memory.peak_bytes
            cache.close()
        entry = KEY_BYTES + FOLLOWERS_BYTES[kind]
        old_and_new = entry * (2**12 + 2**13)
        assert (
            peaks["dense"] - peaks["segmented"] > old_and_new - entry * n_grams - 2 * SEGMENT_BYTES
        )
        ratios[kind, n_followers] = peaks["dense"] / peaks["segmented"]
        measured(
            f"dense against segmented, {kind}, {n_followers} followers each: peak "
            f"{ratios[kind, n_followers]:.2f} times"
        )
    assert ratios["chained", 1] > ratios["chained", 4] > ratios["chained", 30] > 1.1
    assert 1.1 < ratios["chained", 30] < 1.3


# ---- slack: room for what is not there ---------------------------------------------------------


def filled(outer: str, kind: str, cache: ng.NgramCache) -> int:
    """What its n-grams and followers fill: each an entry, and a slot or bucket that leads there."""
    n_grams, n_followers = cache.n_grams, cache.n_followers
    entry = KEY_BYTES + FOLLOWERS_BYTES[kind]
    found = n_grams * (entry + SLOT_BYTES)
    if outer == "chained":
        found += n_grams * LINK_BYTES
    if outer == "segmented":
        per_segment = 1 << (SEGMENT_BYTES // entry).bit_length() - 1
        found += -(-n_grams // per_segment) * POINTER_BYTES
    return found + n_followers * (PAIR_BYTES if kind == "sorted" else NODE_BYTES + POINTER_BYTES)


@pytest.fixture
def tokens() -> np.ndarray:
    return (np.random.default_rng(4).zipf(1.3, 5_000) % 700).astype(np.int32)


@pytest.mark.parametrize("kind", ["chained", "sorted"])
@pytest.mark.parametrize("outer", ["chained", "segmented", "dense"])
def test_slack_is_what_nothing_fills(outer: str, kind: str, tokens: np.ndarray) -> None:
    toggles = ng.Toggles(outer=outer, followers=kind, ties="token")  # type: ignore[arg-type]
    with ng.NgramCache(toggles) as cache:
        assert cache.memory().slack_bytes == 0
        for length in (1, 2, 9, 100, len(tokens)):
            cache.clear()
            cache.update(tokens[:length])
            memory = cache.memory()
            assert memory.live_bytes - memory.slack_bytes == filled(outer, kind, cache)
        cache.clear()
        memory = cache.memory()
        pointers = POINTER_BYTES * (memory.ngrams_bytes // SEGMENT_BYTES)
        held = pointers if outer == "segmented" else 0
        assert memory.slack_bytes == memory.live_bytes - held


def test_slack_in_a_cache_of_places(tokens: np.ndarray) -> None:
    with ng.NgramCache(ng.PLACES.toggles) as cache:
        for start in range(0, len(tokens), 500):
            cache.update(tokens[: start + 500], 500)
        lengths = np.concatenate([piece["n_followers"] for piece in cache.walk()])
        memory = cache.memory()
        in_pool = (BLOCK_BYTES + PAIR_BYTES * lengths[lengths > 1].astype(np.int64)).sum()
        assert memory.slack_bytes == (
            (memory.ngrams_bytes - 4 * len(tokens))
            + (cache.facts()["n_buckets"] - cache.n_grams) * (SLOT_BYTES + 1)
            + (memory.followers_bytes - in_pool)
        )
        assert 0 < memory.slack_bytes < memory.live_bytes / 2


def test_slack_in_static_caches(tokens: np.ndarray, tmp_path: Path) -> None:
    with ng.NgramCache.build_static(tokens, ng.CONSTMAP.toggles) as cache:
        spare = cache.facts()["n_buckets"] - cache.n_grams
        assert cache.memory().slack_bytes == 16 * spare > 0
    with ng.NgramCache.build_static(tokens, ng.PLACES.toggles) as cache:
        cache.save(tmp_path / "static.ngc")
        record_bytes = (tmp_path / "static.ngc").read_bytes()[65]
        spare = cache.facts()["n_buckets"] - cache.n_grams
        assert cache.memory().slack_bytes == record_bytes * spare > 0
    with ng.NgramCache.open(tmp_path / "static.ngc", ng.PLACES.toggles, static=True) as mapped:
        assert mapped.memory().slack_bytes == mapped.memory().live_bytes == 0
