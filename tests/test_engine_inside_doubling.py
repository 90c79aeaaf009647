"""A dense table's last doubling holds the old array and the new one at once; segments never do.

Every byte is accounted for by a model of what each structure asks of malloc, in order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import golden
import pytest
from libstdcpp_order import BUCKET_COUNTS

import ngram_core as ng

SEGMENT_BYTES = 4096
POINTER_BYTES = SLOT_BYTES = PAIR_BYTES = 8
NODE_BYTES = 16  # of a map of followers
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
