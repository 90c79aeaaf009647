"""Made prose: deterministic, bounded, and with the followers that were asked for."""

from __future__ import annotations

import csv
import hashlib
import itertools
import tracemalloc
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace

import golden
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ngram_core import Replay
from ngram_core.corpora import (
    WIKITEXT_LIKE,
    MadeProse,
    Prose,
    Recipe,
    fitted,
    follower_shape,
    get_corpus,
)
from ngram_core.corpora.prose import ARTICLE_TOKENS
from ngram_core.corpora.vocabulary import other_words
from ngram_core.corpora.workloads.reading import articles_text
from ngram_core.errors import InputError
from ngram_core.tokenizers import ByteTokenizer, QwenTokenizer, Tokenizer, Tokens, WordTokenizer

TEXT = np.array([1, 2, 3, 1, 2, 4, 1, 3, 3, 2, 1, 5, 2, 3, 4, 6, 1, 2, 3], np.int32)
"""Its last two tokens stood together before: it can go on for ever."""

WORDS = np.arange(100, 200, dtype=np.int32)

# WikiText-103's 541 MB, published: 2-grams with 1 to 8 and with 33 or more followers, in %.
PUBLISHED = (63.7, 13.6, 6.0, 3.4, 2.3, 1.6, 1.2, 0.9)
PUBLISHED_33 = 1.7


@pytest.fixture(scope="module")
def qwen() -> Tokenizer:
    return QwenTokenizer()


@pytest.fixture(scope="module")
def prose(qwen: Tokenizer) -> MadeProse:
    return MadeProse(made_for=qwen)


@pytest.fixture(scope="module")
def small(qwen: Tokenizer) -> tuple[Tokens, Tokens]:
    """Our articles, and other words."""
    text = qwen.encode(articles_text())
    return text, other_words(qwen, text)


def made(recipe: Recipe, articles: int = 8, seed: int = 1) -> Tokens:
    """Articles as rows, without the token that ends each."""
    tokens = next(Prose(TEXT, WORDS, recipe, articles=articles).token_blocks(seed))
    return tokens.reshape(articles, ARTICLE_TOKENS)[:, :-1]


def grams(tokens: Tokens, n: int) -> set[tuple[int, ...]]:
    windows = np.lib.stride_tricks.sliding_window_view(tokens, n, axis=-1)
    return set(map(tuple, windows.reshape(-1, n).tolist()))


PLAIN = Recipe(repeat=0, any_word=0, one_token=0, new_words=0)


# ---- the recipe, ingredient by ingredient -----------------------------------------------------


def test_order_two_repeats_the_texts_3_grams() -> None:
    assert grams(made(PLAIN), 3) == grams(TEXT, 3)


def test_order_one_repeats_the_texts_2_grams_alone() -> None:
    rows = made(replace(PLAIN, one_token=1.0))
    assert grams(rows, 2) == grams(TEXT, 2)
    assert grams(rows, 3) > grams(TEXT, 3)


def test_followers_come_as_often_as_in_the_text() -> None:
    """After 1 the text has 2 three times, 3 once and 5 once."""
    rows = made(replace(PLAIN, one_token=1.0), articles=64)
    after_1 = Counter(rows[:, 1:][rows[:, :-1] == 1].tolist())
    shares = {token: 5 * n / after_1.total() for token, n in after_1.items()}
    assert shares == pytest.approx({2: 3, 3: 1, 5: 1}, rel=0.03)


def test_any_word_forgets_what_stood_before() -> None:
    rows = made(replace(PLAIN, any_word=1.0))
    assert len(grams(rows, 2)) == 36  # each of 6 tokens after each


def test_new_words_get_rarer_down_the_list() -> None:
    rows = made(replace(PLAIN, any_word=1.0, new_words=0.5, slope=1.0), articles=64)
    counts = np.bincount(rows.ravel(), minlength=200)
    assert set(np.flatnonzero(counts)) == {*range(1, 7), *WORDS.tolist()}
    assert counts[100:].sum() / rows.size == pytest.approx(0.5, abs=0.01)
    assert counts[100] / counts[100 + 18] == pytest.approx(10, rel=0.2)  # weights 1/2 and 1/20


def test_repeated_phrases_are_repeated() -> None:
    """In words by chance, 5-grams come again only where a phrase does."""
    chance = replace(PLAIN, any_word=0.9, new_words=0.9, slope=0.0)

    def again(recipe: Recipe) -> float:
        row = made(recipe, articles=1)[0]
        seen = Counter(map(tuple, np.lib.stride_tricks.sliding_window_view(row, 5).tolist()))
        return 1 - len(seen) / (len(row) - 4)

    assert again(chance) < 0.02
    assert again(replace(chance, repeat=0.05, phrase_tokens=10.0)) > 0.1


def test_the_default_is_as_repetitive_as_wikitext(prose: MadeProse, qwen: Tokenizer) -> None:
    """WikiText's test text: 15 % accepted, 1.18 tokens per pass."""
    sample = Replay(prose.tokens(qwen, 300_000)).run()
    assert sample.accept_pct == pytest.approx(15, abs=2)
    assert sample.n_replayed / sample.n_calls == pytest.approx(1.18, abs=0.06)


@pytest.mark.parametrize(
    "wrong",
    [
        {"repeat": -0.1},
        {"any_word": 0.9, "one_token": 0.2},
        {"new_words": 1.1},
        {"phrase_tokens": 0.5},
        {"slope": -1.0},
    ],
)
def test_recipes_that_cannot_be(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        Recipe(**wrong)


def test_what_no_prose_can_be_made_of() -> None:
    with pytest.raises(InputError, match="2 tokens are too small"):
        Prose(TEXT[:2])
    with pytest.raises(InputError, match="-1 is no seed"):
        next(Prose(TEXT).token_blocks(seed=-1))
    with pytest.raises(InputError, match="words has no token for a line's end"):
        MadeProse(made_for=WordTokenizer())


# ---- deterministic and bounded ----------------------------------------------------------------


def test_a_seed_gives_one_text_on_every_machine(small: tuple[Tokens, Tokens]) -> None:
    prose = Prose(*small, articles=16)
    blocks = list(itertools.islice(prose.token_blocks(seed=1), 2))
    digests = [hashlib.sha256(block.astype("<i4").tobytes()).hexdigest() for block in blocks]
    assert [digest[:16] for digest in digests] == ["fd4415107399392c", "9dd5228c9906cf00"]
    assert (next(prose.token_blocks(seed=1, first=1)) == blocks[1]).all()
    assert (next(prose.token_blocks(seed=2)) != blocks[0]).any()


def test_memory_does_not_grow_with_the_text(small: tuple[Tokens, Tokens]) -> None:
    blocks = Prose(*small, articles=8).token_blocks()

    def peak(n: int) -> int:
        tracemalloc.reset_peak()
        for _ in range(n):
            next(blocks)
        return tracemalloc.get_traced_memory()[1]

    tracemalloc.start()
    try:
        assert peak(3) == pytest.approx(peak(1), rel=0.01)
    finally:
        tracemalloc.stop()


# ---- as a text --------------------------------------------------------------------------------


def test_text_and_tokens_are_the_same_prose(prose: MadeProse, qwen: Tokenizer) -> None:
    tokens = prose.tokens(qwen, 200_000)
    text = b"".join(prose.blocks(200_000))
    assert qwen.decode_bytes(tokens) == text
    assert text.endswith(b"\n")
    assert 190_000 < len(text) <= 200_000
    longer = b"".join(prose.blocks(300_000))
    assert longer.startswith(text)
    assert bytes(prose.tokens(ByteTokenizer(), 200_000, keep=False).astype("u1")) == text


def test_encoding_the_text_anew_changes_little(prose: MadeProse, qwen: Tokenizer) -> None:
    tokens = prose.tokens(qwen, 200_000)
    again = qwen.encode(qwen.decode_bytes(tokens))
    ends = [np.cumsum([len(qwen.token_bytes(t)) for t in some]) for some in (tokens, again)]
    assert len(np.intersect1d(*ends)) / len(tokens) > 0.995


def test_tokens_are_never_put_on_the_disk(
    prose: MadeProse,
    qwen: Tokenizer,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    prose.tokens(qwen, 10_000)
    assert list(folder.iterdir()) == []
    prose.tokens(ByteTokenizer(), 10_000)
    assert len(list(folder.rglob("*.i32"))) == 1


def test_progress_and_sizes(prose: MadeProse, qwen: Tokenizer) -> None:
    seen: list[float] = []
    prose.tokens(qwen, 4_000_000, progress=seen.append)
    assert seen == sorted(seen)
    assert len(seen) == 3
    assert seen[-1] == 1.0
    with pytest.raises(InputError, match="no newline in the first 2 bytes"):
        prose.tokens(qwen, 2)
    with pytest.raises(InputError, match="need at least 1"):
        prose.tokens(qwen, 0)


def test_prose_by_name_by_seed_and_after_ones_own_text(qwen: Tokenizer) -> None:
    corpus = get_corpus("prose", n_bytes=5000, seed=3)
    assert (corpus.name, corpus.n_bytes) == ("prose", 5000)
    assert MadeProse(made_for=qwen).n_bytes == 541_000_000
    own = MadeProse(5000, 3, "one two three\nfour two one\n", PLAIN, qwen)
    assert own.digest != corpus.digest
    assert set(b"".join(own.blocks()).split()) == {b"one", b"two", b"three", b"four"}


# ---- the shape of followers -------------------------------------------------------------------


@given(
    tokens=st.lists(st.integers(0, 4), max_size=60),
    cut=st.integers(0, 60),
)
def test_the_shape_is_what_counting_by_hand_gives(tokens: list[int], cut: int) -> None:
    followers: dict[tuple[int, int], set[int]] = defaultdict(set)
    for a, b, c in zip(tokens, tokens[1:], tokens[2:], strict=False):
        followers[a, b].add(c)
    sizes = Counter(map(len, followers.values()))
    blocks = [np.array(tokens[:cut], np.int32), np.array(tokens[cut:], np.int32)]
    shape = follower_shape(blocks)
    assert shape.n_tokens == len(tokens)
    assert shape.n_grams == len(followers)
    assert shape.n_pairs == sum(map(len, followers.values()))
    assert shape.histogram == tuple(sizes[i] for i in range(34))
    assert shape.longest == max(sizes, default=0)


def test_a_sample_stands_for_all(small: tuple[Tokens, Tokens]) -> None:
    tokens = next(Prose(*small, articles=64).token_blocks())
    whole, sample = follower_shape([tokens]), follower_shape([tokens], sample=8)
    assert sample.n_grams == pytest.approx(whole.n_grams, rel=0.03)
    assert sample.n_pairs == pytest.approx(whole.n_pairs, rel=0.05)
    assert sample.share(1) == pytest.approx(whole.share(1), abs=0.01)


def test_each_knob_turns_its_count(small: tuple[Tokens, Tokens]) -> None:
    def shape(**changes: float) -> tuple[int, int]:
        prose = Prose(*small, replace(WIKITEXT_LIKE, **changes), articles=64)
        got = follower_shape([next(prose.token_blocks())])
        return got.n_grams, got.n_pairs

    default = shape()
    assert shape(slope=1.5)[0] < 0.8 * default[0]
    assert shape(new_words=0.3)[0] < 0.8 * default[0]
    assert shape(any_word=0.2)[1] < 0.8 * default[1]
    assert shape(one_token=0.5)[1] > default[1]


def test_a_recipe_for_wanted_counts(small: tuple[Tokens, Tokens]) -> None:
    """Found again from its counts: those of a recipe that the search does not know."""
    hidden = replace(WIKITEXT_LIKE, any_word=0.42, slope=0.95)
    n_tokens = 64 * ARTICLE_TOKENS
    wanted = follower_shape([next(Prose(*small, hidden, articles=64).token_blocks())])
    found = fitted(*small, n_tokens, wanted.n_grams, wanted.n_pairs, sample=4, rounds=3)
    got = follower_shape([next(Prose(*small, found, articles=64).token_blocks())])
    assert got.n_grams == pytest.approx(wanted.n_grams, rel=0.03)
    assert got.n_pairs == pytest.approx(wanted.n_pairs, rel=0.03)


def test_the_shape_at_a_small_size(prose: MadeProse, qwen: Tokenizer) -> None:
    """2 MB, exact: many 2-grams have one follower, and few have very many."""
    shape = follower_shape(prose.token_blocks(qwen, 2_000_000))
    assert (shape.n_tokens, shape.n_grams, shape.n_pairs, shape.longest) == (
        419_281,
        135_625,
        263_760,
        565,
    )


@pytest.mark.soak
def test_541_mb_have_the_published_shape(
    prose: MadeProse, qwen: Tokenizer, measured: Callable[[str], None]
) -> None:
    shape = follower_shape(prose.token_blocks(qwen), sample=32)
    shares = [100 * shape.share(i) for i in range(1, 9)]
    many = 100 * shape.share(33)
    measured(
        f"prose of 541 MB: {shape.n_tokens / 1e6:.1f} M tokens, {shape.n_grams / 1e6:.2f} M"
        f" 2-grams, {shape.n_pairs / 1e6:.1f} M pairs; with 1 to 8 followers"
        f" {[round(share, 1) for share in shares]} %, with 33 and more {many:.1f} %"
    )
    assert shape.n_grams == pytest.approx(8_879_640, rel=0.05)
    assert shape.n_pairs == pytest.approx(38_400_000, rel=0.05)
    assert shares == pytest.approx(PUBLISHED, abs=1.5)
    assert many == pytest.approx(PUBLISHED_33, abs=0.4)


def test_the_published_shape_is_quoted_rightly() -> None:
    path = golden.SHARED / "published" / "followers.csv"
    if not path.exists():
        pytest.skip(golden.WHY)
    with open(path, encoding="utf-8") as file:
        rows = {row["followers"]: int(row["ngrams"]) for row in csv.DictReader(file)}
    total = sum(rows.values())
    assert total == 8_879_640
    shares = [round(100 * rows[str(i)] / total, 1) for i in range(1, 9)]
    assert shares == list(PUBLISHED)
    assert round(100 * rows["33+"] / total, 1) == PUBLISHED_33
