"""The table around a key, held against the hashes and against libstdc++'s order, in Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from libstdcpp_order import LibraryCache
from test_engine_random import examples, seeds, stream, wide_vocabularies

import ngram_core as ng
from ngram_core import inside, reference
from ngram_core.errors import InputError

MASK = 2**64 - 1
GOLDEN = 11400714819323198485

FLAT = [
    (outer, followers, hash_)
    for outer, followers, hash_ in product(
        ("segmented", "dense"), ("chained", "sorted"), ("xor", "mixed")
    )
]


def hash_of(ngram: tuple[int, ...], kind: str) -> int:
    """llama.cpp's hash of an n-gram, or the mixed one: each half of the key is multiplied."""
    slots = [*ngram, -1, -1, -1, -1][:4]
    if kind == "xor":
        result = 0
        for token in slots:
            result ^= token * GOLDEN & MASK
        return result
    low, high = (slots[i] % 2**32 | slots[i + 1] % 2**32 << 32 for i in (0, 2))
    h = low * 0x9E3779B97F4A7C15 & MASK
    h = ((h ^ h >> 29) + high) * 0xBF58476D1CE4E5B9 & MASK
    return h ^ h >> 32


def spread(hash_: int) -> int:
    """A flat table's own last mixing."""
    hash_ = hash_ * 0x9FB21C651E98DF25 & MASK
    return hash_ ^ hash_ >> 32


def toggles_of(outer: str, followers: str = "chained", hash_: str = "xor") -> ng.Toggles:
    ties = "library" if followers == "chained" else "token"
    return ng.Toggles(outer=outer, followers=followers, hash=hash_, ties=ties)  # type: ignore[arg-type]


def ngrams_of(cache: ng.NgramCache) -> list[tuple[int, ...]]:
    return [tuple(int(t) for t in row["tokens"] if t >= 0) for row in cache.ngrams()]


def absent(cache: ng.NgramCache) -> list[tuple[int, ...]]:
    known = set(ngrams_of(cache))
    tried = [*product(range(4), repeat=2), (2**31 - 2,), (5, 4, 3, 2), (13, 26)]
    return [ngram for ngram in tried if ngram not in known]


# ---- chains ---------------------------------------------------------------------------


@examples(40)
@given(wide_vocabularies, seeds, st.integers(0, 120))
def test_a_chain_is_libstdcpp_s(vocabulary: list[int], seed: int, length: int) -> None:
    text = stream(vocabulary, seed, length)
    model = LibraryCache()
    reference.update(model, text, length)
    with ng.NgramCache(toggles_of("chained")) as cache:
        cache.update(text)
        for ngram in [*model, *absent(cache)]:
            around = cache.table_around(ngram)
            bucket = hash_of(ngram, "xor") % model.n_buckets
            chain = [g for g in model if hash_of(g, "xor") % model.n_buckets == bucket]
            assert around.n_buckets == model.n_buckets
            assert (around.home, around.hash) == (bucket, hash_of(ngram, "xor"))
            assert [place.tokens for place in around.places] == chain
            assert [place.hash for place in around.places] == [hash_of(g, "xor") for g in chain]
            assert [place.n_followers for place in around.places] == [len(model[g]) for g in chain]
            end = chain.index(ngram) + 1 if ngram in chain else len(chain)
            if length > 1:
                assert around.path == tuple(range(end))
            assert around.found == (chain.index(ngram) if ngram in chain else None)


# ---- slots ----------------------------------------------------------------------------


@pytest.mark.parametrize(("outer", "followers", "hash_"), FLAT)
@pytest.mark.parametrize("n_tokens", [2, 3, 30, 400])
def test_slots_stand_where_their_hashes_send_them(
    outer: str, followers: str, hash_: str, n_tokens: int
) -> None:
    text = stream(list(range(40)), n_tokens, n_tokens)
    with ng.NgramCache(toggles_of(outer, followers, hash_)) as cache:
        cache.update(text)
        known = ngrams_of(cache)
        n_slots = cache.facts()["n_buckets"]
        shift = 64 - (n_slots.bit_length() - 1)
        whole = cache.table_around(known[0], before=0, after=min(n_slots, 4096))
        slots = {place.index: place for place in whole.places}
        assert sorted(slots) == list(range(n_slots))
        assert sorted(place.tokens for place in whole.places if place.tokens) == sorted(known)
        for ngram in [*known, *absent(cache)]:
            mixed = spread(hash_of(ngram, hash_))
            home, fingerprint = mixed >> shift, mixed & 0xFF
            around = cache.table_around(ngram, before=3, after=2)
            assert (around.home, around.fingerprint) == (home, fingerprint)
            assert around.places[0].index == (home - 3) % n_slots or len(around.places) == n_slots
            row = [(around.places[0].index + i) % n_slots for i in range(len(around.places))]
            assert [place.index for place in around.places] == row
            assert all(place == slots[place.index] for place in around.places)
            assert around.path == tuple((home + i) % n_slots for i in range(len(around.path)))
            check_path(ngram, around, slots, fingerprint)


def check_path(
    ngram: tuple[int, ...],
    around: inside.TableAround,
    slots: dict[int, inside.Place],
    fingerprint: int,
) -> None:
    """It stops at the n-gram, or at the first slot whose own n-gram is nearer to its home. Keys are
    compared where distance and fingerprint agree."""
    visited = [slots[index] for index in around.path]
    same = [
        place.tokens
        for steps, place in enumerate(visited)
        if (place.distance, place.fingerprint) == (steps, fingerprint)
    ]
    assert around.keys_compared == len(same)
    if around.found is not None:
        assert around.found == around.path[-1]
        assert visited[-1].tokens == ngram == same[-1]
        assert visited[-1].distance == len(visited) - 1
        return
    assert ngram not in same
    poorer = [(p.distance, p.fingerprint) < (i, fingerprint) for i, p in enumerate(visited)]
    assert poorer == [False] * (len(visited) - 1) + [True]


@pytest.mark.parametrize("outer", ["chained", "segmented", "dense"])
def test_an_empty_table(outer: str) -> None:
    with ng.NgramCache(toggles_of(outer)) as cache:
        around = cache.table_around([1, 2])
        assert (around.places, around.path, around.found) == ((), (), None)
        report = inside.table_report(cache)
        assert (report.n_grams, report.longest, report.mean_visited) == (0, 0, None)
        assert report.shared_hash is None


def test_a_drafter_s_context_cache_is_a_table_too() -> None:
    with ng.Drafter() as drafter:
        drafter.feed([1, 2, 1, 2, 3])
        around = inside.table_around(drafter, [2, 1])
        assert {place.tokens for place in around.places} >= {(1, 2), (2, 1)}
        assert inside.table_report(drafter).n_grams == 7


def test_what_has_no_table_says_so() -> None:
    with ng.NgramCache.build_static([1, 2, 3], ng.CONSTMAP.toggles) as cache:
        for call in (inside.table_report, lambda c: inside.table_around(c, [1, 2])):
            with pytest.raises(InputError, match="constmap"):
                call(cache)
    with ng.NgramCache() as cache:
        for ngram in ([], [1] * 5):
            with pytest.raises(InputError, match="1 to 4"):
                cache.table_around(ngram)
        with pytest.raises(InputError, match="before"):
            cache.table_around([1], before=-1)


# ---- the whole table ------------------------------------------------------------------


@pytest.mark.parametrize("hash_", ["xor", "mixed"])
@pytest.mark.parametrize("outer", ["chained", "segmented", "dense"])
def test_the_report_is_the_sum_of_all_look_ups(outer: str, hash_: str) -> None:
    text = stream(list(range(30)), 3, 600)
    with ng.NgramCache(toggles_of(outer, "chained", hash_)) as cache:
        cache.update(text)
        known = ngrams_of(cache)
        visited = {ngram: len(cache.table_around(ngram).path) for ngram in known}
        hashes = Counter(hash_of(ngram, hash_) for ngram in known)
        shared = {h: n for h, n in hashes.items() if n > 1}
        report = inside.table_report(cache)
    assert report.n_grams == len(known)
    assert report.longest == max(visited.values()) == visited[report.longest_ngram]
    assert report.mean_visited == pytest.approx(sum(visited.values()) / len(known))
    assert report.n_sharing == sum(shared.values())
    assert report.most_sharing == max(hashes.values())
    if shared:
        assert report.shared_hash is not None
        assert shared[report.shared_hash] == max(shared.values())
    else:
        assert report.shared_hash is None
    if outer == "chained":
        used = len({hash_of(ngram, hash_) % report.n_buckets for ngram in known})
        assert report.n_empty == report.n_buckets - used
    else:
        assert report.n_empty == report.n_buckets - len(known)


@pytest.mark.parametrize("outer", ["chained", "segmented", "dense"])
def test_a_pair_and_its_mirror_collide_with_xor_alone(outer: str) -> None:
    text = [token for a in range(0, 400, 2) for token in (a, a + 1, a, 10_000)]
    reports = {}
    for hash_ in ("xor", "mixed"):
        with ng.NgramCache(toggles_of(outer, "chained", hash_), n_min=2, n_max=2) as cache:
            cache.update(text)
            here, there = cache.table_around([6, 7]), cache.table_around([7, 6])
            assert (here.hash == there.hash) == (hash_ == "xor")
            reports[hash_] = inside.table_report(cache)
    assert reports["xor"].n_sharing >= 400
    assert reports["mixed"].n_sharing == 0


def test_consecutive_ids_in_both_hashes(measured: Callable[[str], None]) -> None:
    """Ids next to each other, as in an ordered vocabulary: how long the longest probe is.

    All doubles (a, a) share one hash with xor, so the last of 2,999 takes that many slots.
    """
    texts = {
        "consecutive ids": list(range(20_000)),
        "doubles": [token for a in range(3_000) for token in (a, a)],
    }
    found = {}
    for name, text in texts.items():
        for outer, hash_ in product(("chained", "segmented"), ("xor", "mixed")):
            with ng.NgramCache(toggles_of(outer, "chained", hash_), n_min=2, n_max=2) as cache:
                cache.update(text)
                report = inside.table_report(cache)
            found[name, outer, hash_] = report
            measured(
                f"{name}, {outer}, {hash_}: longest probe {report.longest}, mean "
                f"{report.mean_visited:.2f}, {report.n_sharing} of {report.n_grams} share a hash"
            )
    assert found["doubles", "segmented", "xor"].longest >= 2_999
    assert found["doubles", "chained", "xor"].longest >= 2_999
    for report in (r for key, r in found.items() if key[2] == "mixed"):
        assert report.n_sharing == 0
        assert report.longest < 60
