"""The cache whose n-grams are places in a text: what no other structure has to do."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import golden
import pytest

import ngram_core as ng
from ngram_core import reference
from ngram_core.corpora import python_source
from ngram_core.errors import EngineMemoryError
from ngram_core.tokenizers import get_tokenizer

PLACES = ng.PLACES.toggles
SATURATED = 2**31 - 1


def row_of(cache: ng.NgramCache, ngram: Sequence[int]) -> dict[int, int]:
    tokens, found = cache.followers(ngram)
    return dict(zip(tokens.tolist(), found.tolist(), strict=True))


def counts(cache: ng.NgramCache) -> reference.Cache:
    ngrams = (tuple(row["tokens"][: row["n"]].tolist()) for row in cache.ngrams())
    return {ngram: row_of(cache, ngram) for ngram in ngrams}


def counted(*texts: list[int]) -> reference.Cache:
    table: reference.Cache = {}
    for text in texts:
        reference.update(table, text, len(text))
    return table


@pytest.mark.parametrize("hash_", ["xor", "mixed"])
def test_thousands_of_ngrams_may_share_a_hash(hash_: str) -> None:
    """With llama.cpp's hash every doubled token has the same: far more than a line can hold, and
    more lines on than its byte for that can tell."""
    text = [token for token in range(2_500) for _ in range(3)]
    with ng.NgramCache(PLACES.set(hash=hash_)) as cache:
        cache.update(text)
        cache.validate()
        assert cache.n_grams == len(counted(text))
        for token in (0, 1, 1_789, 2_499):
            assert row_of(cache, [token, token]) == counted(text)[token, token]
        assert not row_of(cache, [2_500, 2_500])


def test_counting_token_by_token_or_at_once_is_the_same() -> None:
    rng = random.Random(3)
    text = rng.choices(range(12), k=600)
    with ng.NgramCache(PLACES) as whole, ng.NgramCache(PLACES) as parts:
        whole.update(text)
        at = 0
        while at < len(text):
            step = rng.choice((1, 1, 2, 5, 40))
            parts.update(text[: at + step], n_new=min(step, len(text) - at))
            at += step
        parts.validate()
        whole.validate()
        assert counts(whole) == counts(parts) == counted(text)


def failures(cache: ng.NgramCache, act: object) -> Iterator[int]:
    """Lets each allocation of an act fail in turn, until it goes through."""
    assert callable(act)
    for nth in itertools.count(1):
        cache._handle.fail_allocation(nth)
        try:
            act()
        except EngineMemoryError:
            yield nth
        else:
            cache._handle.fail_allocation(0)
            return


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.slow), 7, 400])
def test_counting_that_fails_changes_nothing_even_where_counts_are_full(
    step: int, tmp_path: Path
) -> None:
    """Its counts at 2^31 - 1 stay there; taking back what was added would lower them."""
    rng = random.Random(step)
    text = rng.choices(range(30), k=400)
    full = {(text[0], text[1]): {text[2]: SATURATED}, (text[5],): {text[6]: SATURATED - 1}}
    (tmp_path / "full").write_bytes(golden.write_table(full))
    with ng.NgramCache.open(tmp_path / "full", PLACES) as cache:
        n_failures = 0
        for end in range(step, len(text) + 1, step):
            before = counts(cache)
            for _ in failures(cache, lambda end=end: cache.update(text[:end], n_new=step)):
                assert counts(cache) == before
                n_failures += 1
            cache.validate()
        assert n_failures >= 10
        assert row_of(cache, text[:2])[text[2]] == SATURATED


def test_merging_that_fails_changes_nothing() -> None:
    rng = random.Random(5)
    first, second = (rng.choices(range(25), k=500) for _ in range(2))
    with ng.NgramCache(PLACES) as cache, ng.NgramCache(PLACES) as added:
        cache.update(first)
        added.update(second)
        before = counts(cache)
        n_failures = 0
        for _ in failures(cache, lambda: cache.merge(added)):
            assert counts(cache) == before
            cache.validate()
            n_failures += 1
        assert n_failures >= 5
        cache.validate()
        assert counts(cache) == counted(first, second)
        assert counts(added) == counted(second)


def test_it_takes_half_the_memory_of_arrays() -> None:
    text = python_source().tokens(get_tokenizer(), 400_000, keep=False)
    sizes = {}
    for stage in (ng.INNERVECTOR, ng.PLACES):
        with ng.NgramCache(stage.toggles) as cache:
            cache.update(text)
            sizes[stage.name] = cache.memory().live_bytes
    assert sizes["places"] <= sizes["innervector"] / 2
