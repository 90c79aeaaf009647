"""The way of each search: what is known of it without running it, and where it ends."""

from __future__ import annotations

import bisect
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_engine_random import BIGGEST, examples

import ngram_core as ng
from ngram_core import inside
from ngram_core.errors import InputError
from ngram_core.inside.search import SEARCHES
from ngram_core.toggles import Search

sorted_tokens = st.lists(st.integers(0, BIGGEST) | st.integers(0, 60), unique=True).map(sorted)


def turns(length: int) -> int:
    """How often a list of this length can be halved, the longer half kept, until one is left."""
    return math.ceil(math.log2(length)) if length else 0


@examples(200)
@given(sorted_tokens, st.integers(0, BIGGEST) | st.integers(0, 60), st.sampled_from(SEARCHES))
def test_every_search_ends_where_the_token_belongs(
    tokens: list[int], token: int, search: Search
) -> None:
    path = inside.search_path(tokens, token, search)
    at = bisect.bisect_left(tokens, token)
    assert path.length == len(tokens)
    assert path.found == (token in tokens)
    assert path.final == (at if at < len(tokens) else None)
    for step in path.compared:
        assert step.position is not None
        read = tokens[step.position : step.position + step.n_pairs]
        assert (len(read), read[0]) == (step.n_pairs, step.token)
        assert step.n_below == sum(value < token for value in read)
        ends = step.position, step.position + step.n_pairs - 1
        assert step.lines == tuple(range(ends[0] * 8 // 64, ends[1] * 8 // 64 + 1))
    touched = [line for step in path.compared for line in step.lines]
    if path.final is not None:
        touched.append(path.final // 8)
    assert path.lines == tuple(dict.fromkeys(touched))


@examples(100)
@given(sorted_tokens, st.integers(0, 60))
def test_fixed_takes_the_length_s_number_of_steps(tokens: list[int], token: int) -> None:
    path = inside.search_path(tokens, token, "fixed")
    assert len(path.compared) == turns(len(tokens)) + bool(tokens)


def positions(tokens: list[int], token: int, search: Search) -> list[int | None]:
    return [step.position for step in inside.search_path(tokens, token, search).compared]


@examples(100)
@given(sorted_tokens, st.integers(0, 60))
def test_lower_bound_and_linear_as_everyone_knows_them(tokens: list[int], token: int) -> None:
    low, high, expected = 0, len(tokens), []
    while low < high:
        middle = (low + high) // 2
        expected.append(middle)
        if tokens[middle] < token:
            low = middle + 1
        else:
            high = middle
    assert positions(tokens, token, "lower_bound") == expected
    end = min(bisect.bisect_left(tokens, token) + 1, len(tokens))
    assert positions(tokens, token, "linear") == list(range(end))


@pytest.mark.parametrize("length", [*range(1, 40), 64, 100, 1000])
def test_simd_halves_and_then_reads_blocks_of_four(length: int) -> None:
    """Until 8 are left at most; which they are depends on the token, how many does not."""
    left, halvings = length, 0
    while left > 8:
        left -= left // 2
        halvings += 1
    tokens = list(range(0, 3 * length, 3))
    for token in (0, length, 3 * length // 2, 3 * length):
        path = inside.search_path(tokens, token, "simd")
        sizes = [step.n_pairs for step in path.compared]
        blocks = [4] * (left // 4) + [left % 4] * (left % 4 > 0)
        assert sizes == [1] * halvings + blocks


def test_fixed_is_worse_where_the_loop_could_have_stopped() -> None:
    """The first token of many: linear reads one pair, fixed as many as ever."""
    tokens = list(range(1024))
    assert len(inside.search_path(tokens, 0, "linear").compared) == 1
    assert len(inside.search_path(tokens, 0, "fixed").compared) == 11
    assert len(inside.search_path(tokens, 0, "fixed").lines) == 8


@pytest.mark.parametrize("stage", ["innervector", "precheck"])
def test_a_cache_s_list_where_it_lies(stage: str) -> None:
    """The same way as in a list by hand; lines are counted from that in which the list begins."""
    toggles = ng.STAGES[stage].toggles
    text = [token for follower in range(0, 90, 3) for token in (1, 2, follower + 3)]
    with ng.NgramCache.build_static(text, toggles) as cache:
        tokens, counts = cache.followers([1, 2])
        for search in SEARCHES:
            for token in (3, 4, 33, 90, 91):
                path = inside.search_path(cache, token, search, ngram=[1, 2])
                by_hand = inside.search_path(tokens, token, search)
                assert [c.position for c in path.compared] == [c.position for c in by_hand.compared]
                assert path.final == by_hand.final
                wanted = dict(zip(tokens.tolist(), counts.tolist(), strict=True)).get(token, 0)
                assert path.count == wanted
                assert path.lines
                assert max(path.lines) <= len(tokens) * 8 // 64 + 1
        nothing = inside.search_path(cache, 3, "fixed", ngram=[2, 1])
        assert (nothing.length, nothing.compared, nothing.final) == (0, (), None)


def test_a_map_of_followers_is_not_searched_but_hashed() -> None:
    """Tokens 13 apart share one of 13 buckets; the newest stands first."""
    cache = ng.NgramCache(n_min=1, n_max=1)
    cache.update([5, 1, 5, 14, 5, 27, 5, 2])
    path = inside.search_path(cache, 1, ngram=[5])
    assert [(step.position, step.token) for step in path.compared] == [
        (None, 27),
        (None, 14),
        (None, 1),
    ]
    assert (path.count, path.length) == (1, 4)
    assert inside.search_path(cache, 3, ngram=[5]).compared == ()
    with ng.Drafter() as drafter:
        drafter.feed([5, 1, 5, 14])
        assert inside.search_path(drafter, 14, ngram=[5]).found


def test_what_cannot_be_searched_says_so() -> None:
    with pytest.raises(InputError, match="ascending"):
        inside.search_path([1, 1], 1)
    with pytest.raises(InputError, match="does not exist"):
        inside.search_path([1], 1, "quick")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="token"):
        inside.search_path([1], -1)
    with pytest.raises(InputError, match="ngram="):
        inside.search_path(ng.NgramCache(), 1)
    closed = ng.NgramCache()
    closed.close()
    with pytest.raises(ng.StateError, match="closed"):
        inside.search_path(closed, 1, ngram=[1])
