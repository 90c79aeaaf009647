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

OUTERS = ["chained", "segmented", "dense", "places"]

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


def hash_of_last(ngram: tuple[int, ...], kind: str) -> int:
    """The same where hashes of longer n-grams are made from those of shorter ones, from the last
    token on."""
    h = 0
    for token in reversed(ngram):
        if kind == "xor":
            h ^= token * GOLDEN & MASK
        else:
            h = (h + token + 1) * 0x9E3779B97F4A7C15 & MASK
            h ^= h >> 32
    if kind == "xor":
        h = h * 0xD6E8FEB86659FD93 & MASK
        h ^= h >> 32
    return h


def spread(hash_: int) -> int:
    """A flat table's own last mixing."""
    hash_ = hash_ * 0x9FB21C651E98DF25 & MASK
    return hash_ ^ hash_ >> 32


def toggles_of(outer: str, followers: str = "chained", hash_: str = "xor") -> ng.Toggles:
    followers = "summed" if outer == "places" else followers
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


# ---- slots in lines -------------------------------------------------------------------


@pytest.mark.parametrize("hash_", ["xor", "mixed"])
@pytest.mark.parametrize("n_tokens", [3, 30, 600])
def test_places_stand_in_the_lines_of_their_hashes(hash_: str, n_tokens: int) -> None:
    """A table for each size; the n-gram is read in the text, where a byte of its hash agrees."""
    text = stream(list(range(25)), n_tokens, n_tokens)
    model: reference.Cache = {}
    reference.update(model, text, n_tokens)
    with ng.NgramCache(toggles_of("places", hash_=hash_)) as cache:
        cache.update(text)
        for n in range(1, 5):
            known = [ngram for ngram in model if len(ngram) == n]
            whole = cache.table_around(known[0] if known else (1,) * n, before=0, after=4096)
            assert (whole.outer, whole.slots_a_line) == ("places", 7)
            if whole.home is None:
                assert not known
                continue
            n_lines = whole.n_buckets // 7
            slots = {place.index: place for place in whole.places}
            assert sorted(slots) == list(range(whole.n_buckets))
            assert {p.tokens for p in whole.places if p.tokens} == set(known)
            for place in (p for p in whole.places if p.tokens):
                home = hash_of_last(place.tokens, hash_) * n_lines >> 64
                assert (home + place.distance) % n_lines == place.index // 7
                assert place.entry is not None
                assert place.n_followers == len(model[place.tokens])
            for ngram in [*known, *(g for g in absent(cache) if len(g) == n)]:
                around = cache.table_around(ngram, before=1, after=1)
                assert all(place == slots[place.index] for place in around.places)
                hash_now = hash_of_last(ngram, hash_)
                tag = (hash_now & 0xFF) or 1
                home = hash_now * n_lines >> 64
                assert (around.hash, around.fingerprint, around.home) == (hash_now, tag, home)
                assert around.path == tuple((home + i) % n_lines for i in range(len(around.path)))
                visited = [slots[7 * line + i] for line in around.path for i in range(7)]
                agree = [p.tokens for p in visited if p.tokens and p.fingerprint == tag]
                if ngram in model:
                    assert around.found is not None
                    assert around.found // 7 == around.path[-1]
                    assert slots[around.found].tokens == ngram
                    assert around.keys_compared == agree.index(ngram) + 1
                else:
                    assert around.found is None
                    assert around.keys_compared == len(agree)


def unmixed_home(ngram: tuple[int, ...], bits: int, n_homes: int) -> tuple[int, int]:
    """The line of a 2-gram in our own file, and its mixed key: RULE of ngc_packed_format.h."""
    mask = (1 << 2 * bits) - 1
    key = ngram[0] << bits | ngram[1]
    for factor in (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93):
        key ^= key >> bits
        key = key * factor & mask
    key ^= key >> bits
    fraction = key << (64 - 2 * bits)
    return fraction * n_homes >> 64, fraction


@pytest.mark.parametrize("n_tokens", [4, 60, 2000])
def test_records_stand_in_the_lines_of_their_keys(n_tokens: int) -> None:
    """Our own static file: every 2-gram is told by its line and what is left of its key."""
    text = stream(list(range(50)), 5, n_tokens)
    ours = ng.CONSTMAP.toggles.set(static="ngc")
    with ng.NgramCache.build_static(text, ours) as cache:
        known = ngrams_of(cache)
        assert cache.about is not None
        bits = (cache.about.n_vocab - 1).bit_length()
        whole = cache.table_around(known[0], before=0, after=4096)
        assert (whole.outer, whole.keys_compared) == ("ngc", 0)
        assert sorted(p.index for p in whole.places) == list(range(whole.n_buckets))
        assert sorted(p.tokens for p in whole.places if p.tokens) == sorted(known)
        n_lines = whole.n_buckets // whole.slots_a_line
        n_homes = next(
            n
            for n in range(n_lines, 0, -1)
            if all(
                unmixed_home(p.tokens, bits, n)[0] + p.distance == p.index // whole.slots_a_line
                for p in whole.places
                if p.tokens
            )
        )
        assert n_lines - n_homes <= 256
        for ngram in [*known, *(g for g in absent(cache) if len(g) == 2)]:
            around = cache.table_around(ngram, before=1, after=1)
            if around.home is None:
                assert max(ngram) >= cache.about.n_vocab
                continue
            assert (around.home, around.hash) == unmixed_home(ngram, bits, n_homes)
            assert around.path == tuple(around.home + i for i in range(len(around.path)))
            places = {place.index: place for place in around.places}
            if ngram in known:
                assert around.found is not None
                assert places[around.found].tokens == ngram
                assert places[around.found].distance == len(around.path) - 1
                assert places[around.found].fingerprint == around.fingerprint
                n_followers = len(cache.followers(ngram)[0])
                assert places[around.found].n_followers == n_followers
                assert (places[around.found].entry is None) == (n_followers == 1)
            else:
                assert around.found is None
        report = inside.table_report(cache)
        paths = {ngram: len(cache.table_around(ngram).path) for ngram in known}
    assert report.n_grams == len(known)
    assert report.n_empty == report.n_buckets - len(known)
    assert report.longest == max(paths.values()) == paths[report.longest_ngram]
    assert report.mean_visited == pytest.approx(sum(paths.values()) / len(known))
    assert (report.n_sharing, report.shared_hash) == (0, None)


@pytest.mark.parametrize("outer", OUTERS)
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
@pytest.mark.parametrize("outer", OUTERS)
def test_the_report_is_the_sum_of_all_look_ups(outer: str, hash_: str) -> None:
    text = stream(list(range(30)), 3, 600)
    with ng.NgramCache(toggles_of(outer, "chained", hash_)) as cache:
        cache.update(text)
        known = ngrams_of(cache)
        visited = {ngram: len(cache.table_around(ngram).path) for ngram in known}
        if outer == "places":  # a table for each size
            hashes = Counter((len(g), hash_of_last(g, hash_)) for g in known)
        else:
            hashes = Counter((0, hash_of(ngram, hash_)) for ngram in known)
        shared = {h: n for h, n in hashes.items() if n > 1}
        report = inside.table_report(cache)
    assert report.n_grams == len(known)
    assert report.longest == max(visited.values()) == visited[report.longest_ngram]
    assert report.mean_visited == pytest.approx(sum(visited.values()) / len(known))
    assert report.n_sharing == sum(shared.values())
    assert report.most_sharing == max(hashes.values())
    if shared:
        assert report.shared_hash is not None
        most = [h for (_, h), n in shared.items() if n == max(shared.values())]
        assert report.shared_hash in most
    else:
        assert report.shared_hash is None
    if outer == "chained":
        used = len({hash_of(ngram, hash_) % report.n_buckets for ngram in known})
        assert report.n_empty == report.n_buckets - used
    else:
        assert report.n_empty == report.n_buckets - len(known)


@pytest.mark.parametrize("outer", OUTERS)
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
