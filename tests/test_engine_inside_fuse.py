"""Fuse maps: each look-up held against the format's description, each step of building against
what peeling means."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from constmap_format import ConstmapFile, FuseMap, xxh3
from hypothesis import given
from hypothesis import strategies as st
from test_engine_random import BIGGEST, examples, stream

import ngram_core as ng
from ngram_core import inside
from ngram_core.errors import FormatError, InputError

TEXT = stream(list(range(30)), 1, 500)

# From the xxHash library itself: XXH3-64, seed 0, of two little-endian int32.
KNOWN = {
    (0, 0): 0xC77B3ABB6F87ACD9,
    (1, 2): 0x0389E2C8892D5450,
    (2, 1): 0x2B0B237ED148B1E8,
    (7, 7): 0xD676B615805B6410,
    (151643, 13): 0x3CE09DECA44B1F7D,
    (BIGGEST, 0): 0x9FE3B7920D18AAD9,
    (0, BIGGEST): 0x06B461B184BB03F7,
    (BIGGEST, BIGGEST): 0xCBA173F3F571796D,
}


@pytest.mark.parametrize("ngram", KNOWN, ids=str)
def test_keys_are_hashed_as_xxhash_does(ngram: tuple[int, int]) -> None:
    assert inside.key_hash(ngram) == KNOWN[ngram] == xxh3(*ngram)


def constmap(tmp_path: Path) -> tuple[ng.NgramCache, ConstmapFile]:
    cache = ng.NgramCache.build_static(TEXT, ng.CONSTMAP.toggles)
    cache.save(tmp_path / "constmap.cache")
    return cache, ConstmapFile.parse((tmp_path / "constmap.cache").read_bytes())


def test_a_look_up_is_what_the_format_says(tmp_path: Path) -> None:
    cache, file = constmap(tmp_path)
    fuse = FuseMap.parse(file.block)
    known = set(pairwise(TEXT[:-1]))
    verdicts = {"found": 0, "absent": 0}
    for ngram in [(a, b) for a in range(32) for b in range(32)]:
        lookup = inside.fuse_look_up(cache, ngram)
        assert lookup.key_hash == xxh3(*ngram)
        assert lookup.h == fuse.hash_of(*ngram)
        assert lookup.cells == fuse.cells_of(*ngram)
        assert lookup.data == tuple(int(fuse.data[cell]) for cell in lookup.cells)
        assert lookup.checks == tuple(int(fuse.checks[cell]) for cell in lookup.cells)
        assert (lookup.value, lookup.check) == fuse.xors(*ngram)
        assert lookup.needed == lookup.h ^ lookup.h >> 32
        assert (lookup.position, lookup.length) == (lookup.value >> 24, lookup.value % 2**24)
        assert (lookup.verdict == "found") == (ngram in known) == (lookup.check == lookup.needed)
        verdicts[lookup.verdict] += 1
        if lookup.verdict == "found":
            place = file.pairs[lookup.position : lookup.position + lookup.length]
            assert place[:, 0].tolist() == cache.followers(ngram)[0].tolist()
        else:
            assert cache.followers(ngram)[0].tolist() == []
    assert verdicts == {"found": len(known), "absent": 32 * 32 - len(known)}


def test_a_draft_touches_the_three_cells_of_its_key() -> None:
    toggles = ng.CONSTMAP.toggles
    with (
        ng.NgramCache.build_static(TEXT, toggles) as cache,
        ng.Drafter(toggles, static=cache) as drafter,
    ):
        drafter.feed(TEXT[:2])
        lines = inside.cache_lines(drafter, 1)
        cells = sorted(inside.fuse_look_up(cache, TEXT[:2]).cells)
        for part in ("cell", "check"):
            touched = [
                int(touch["index"])
                for touch, what in zip(lines.touches, lines.what, strict=True)
                if what == part and touch["part"] == 0
            ]
            assert sorted(touched[:3]) == cells


def test_a_key_that_was_forged_into_the_cells_finds_no_place(tmp_path: Path) -> None:
    """Its check is right, as the file's checksum is; where its value leads nobody has followers."""
    _, file = constmap(tmp_path)
    fuse = FuseMap.parse(file.block)
    ngram = (TEXT[0], TEXT[1])
    block = bytearray(file.block)
    cell = fuse.cells_of(*ngram)[0]
    forged = int(fuse.data[cell]) ^ fuse.xors(*ngram)[0] ^ (10**6 << 24 | 1)
    block[32 + 8 * cell : 40 + 8 * cell] = forged.to_bytes(8, "little")
    sum_ = 0xCBF29CE484222325
    for byte in block[:-8]:
        sum_ = (sum_ ^ byte) * 0x100000001B3 % 2**64
    block[-8:] = sum_.to_bytes(8, "little")
    path = tmp_path / "forged.cache"
    path.write_bytes(ConstmapFile(file.pairs, bytes(block)).bytes())
    with ng.NgramCache.open(path, ng.CONSTMAP.toggles, static=True) as cache:
        lookup = inside.fuse_look_up(cache, ngram)
        assert (lookup.verdict, lookup.position, lookup.length) == ("no_place", 10**6, 1)
        assert lookup.check == lookup.needed
        assert cache.followers(ngram)[0].tolist() == []


def test_an_empty_map_and_what_is_no_map() -> None:
    with ng.NgramCache.build_static([], ng.CONSTMAP.toggles) as cache:
        assert inside.fuse_look_up(cache, [1, 2]).verdict == "empty"
        with pytest.raises(InputError, match="2 tokens"):
            inside.fuse_look_up(cache, [1])
    with ng.NgramCache() as cache, pytest.raises(InputError, match="no constmap"):
        inside.fuse_look_up(cache, [1, 2])


# ---- building -------------------------------------------------------------------------

two_grams = st.lists(st.tuples(*[st.integers(0, BIGGEST) | st.integers(0, 9)] * 2), unique=True)


@examples(100)
@given(two_grams.filter(bool), st.randoms(use_true_random=False))
def test_each_peeled_key_was_alone_and_each_cell_is_filled_once(
    ngrams: list[tuple[int, int]], random: object
) -> None:
    values = [random.randrange(2**64) for _ in ngrams]  # type: ignore[attr-defined]
    built = inside.peeling(ngrams, values)
    fuse = FuseMap(
        built.seed, built.segment_length, built.n_segments - 2, len(ngrams), built.data,
        built.checks,
    )  # fmt: skip
    assert [tuple(cells) for cells in built.cells.tolist()] == [
        fuse.cells_of(*ngram) for ngram in ngrams
    ]
    assert built.n_cells == len(built.data) == built.n_segments * built.segment_length
    left = [set() for _ in range(built.n_cells)]  # type: list[set[int]]
    for key, cells in enumerate(built.cells.tolist()):
        for cell in cells:
            left[cell].add(key)
    for step in built.peeled:
        assert left[step["cell"]] == {step["key"]}
        for cell in built.cells[step["key"]]:
            left[cell].remove(step["key"])
    assert not any(left)
    assert built.assigned["key"].tolist() == built.peeled["key"].tolist()[::-1]
    assert built.assigned["cell"].tolist() == built.peeled["cell"].tolist()[::-1]
    for step in built.assigned:
        assert built.data[step["cell"]] == step["data"]
        assert built.checks[step["cell"]] == step["check"]
    assert [fuse.find(*ngram) for ngram in ngrams] == values


def test_values_have_all_their_64_bits() -> None:
    """Small and large ones in one list are floats to numpy."""
    values = [0, 2**63 + 1, 2**64 - 1]
    built = inside.peeling([(0, 0), (0, 1), (0, 2)], values)
    assert built.values.tolist() == values
    for bad in ([0, 1, 2**64], ["a", "b", "c"]):
        with pytest.raises(InputError, match="whole numbers"):
            inside.peeling([(0, 0), (0, 1), (0, 2)], bad)  # type: ignore[arg-type]


def test_the_recorded_build_is_the_real_one(tmp_path: Path) -> None:
    """The same 2-grams, in the order in which they were counted, give the file's own cells."""
    _, file = constmap(tmp_path)
    fuse = FuseMap.parse(file.block)
    ngrams = list(dict.fromkeys(pairwise(TEXT[:-1])))
    values = [fuse.find(*ngram) for ngram in ngrams]
    assert None not in values
    built = inside.peeling(ngrams, [value for value in values if value is not None])
    assert (built.seed, built.segment_length) == (fuse.seed, fuse.segment_length)
    assert np.array_equal(built.data, fuse.data)
    assert np.array_equal(built.checks, fuse.checks)


def test_some_keys_need_a_second_seed() -> None:
    """Three cells a key in a map this small cannot always be told apart at the first try."""
    attempts = [inside.peeling([(i, j) for j in range(8)]).n_attempts for i in range(60)]
    assert min(attempts) == 1 < max(attempts)


def test_what_cannot_be_peeled_says_so() -> None:
    with pytest.raises(FormatError, match="twice"):
        inside.peeling([(1, 2), (3, 4), (1, 2)])
    for wrong in ([], [(i, i) for i in range(4097)]):
        with pytest.raises(InputError, match="4096"):
            inside.peeling(wrong)
    with pytest.raises(InputError, match="values"):
        inside.peeling([(1, 2)], [1, 2])
    assert len(inside.peeling([(i, i) for i in range(4096)]).peeled) == 4096


def test_attempts_that_failed_can_be_looked_at() -> None:
    """Their cells are those of the seed; what is left of the keys has no cell of its own."""
    text = stream(list(range(8)), 3, 200)
    several = 0
    for start in range(0, 180):
        ngrams = sorted(set(pairwise(text[start : start + 9])))
        built = inside.peeling(ngrams)
        several += built.n_attempts > 1
        for nth in range(1, built.n_attempts + 1):
            seed, cells = inside.fuse_attempt(ngrams, nth)
            assert (nth == 1) == (seed == 0x910A2DEC89025CC1)
            left = set(range(len(ngrams)))
            while alone := [
                key
                for key in left
                if any(sum(cell in cells[k] for k in left) == 1 for cell in cells[key])
            ]:
                left -= set(alone)
            assert (left == set()) == (nth == built.n_attempts)
        assert (seed, cells.tolist()) == (built.seed, built.cells.tolist())
    assert several > 0
    with pytest.raises(InputError):
        inside.fuse_attempt([(1, 2)], 0)
    with pytest.raises(InputError):
        inside.fuse_attempt([(1, 2)], 10_000)
