"""Tokens made visible: nothing unseen, nothing lost, nothing harmful; and exact figures."""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ngram_core.lesson.figures import percent, plural, times
from ngram_core.lesson.pieces import MAX_SHOWN, Part, piece_of, plain


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"the", "the"),
        (b" the\n", "·the↵"),
        (b"\t\r\x00\x7f", "⇥␍␀␡"),
        ("a\u200bb".encode(), "aU+200Bb"),
        ("\u202eabc".encode(), "U+202Eabc"),
        ("\u0301x".encode(), "◌\u0301x"),
        ("e\u0301".encode(), "e\u0301"),
        ("👩\u200d👧".encode(), "👩\u200d👧"),
        ("\u200d".encode(), "U+200D"),
        ("🎂".encode()[:2], "F0 9F"),
        (b"a\xffb", "aFFb"),
        (b"<script>", "<script>"),
        (b"", "nothing"),
    ],
)
def test_what_is_shown(data: bytes, shown: str) -> None:
    assert plain(piece_of(data)) == shown


def test_a_real_dot_is_not_a_blank() -> None:
    assert piece_of("·".encode()) == (Part("·", ""),)
    assert piece_of(b" ") == (Part("·", "mark"),)


def test_a_long_token_is_cut_and_says_by_how_much() -> None:
    piece = piece_of(b"x" * 1_000_000)
    assert piece == (Part("x" * MAX_SHOWN), Part(f"… +{1_000_000 - MAX_SHOWN:,}", "cut"))


@given(st.binary(max_size=200))
def test_nothing_unseen_is_left(data: bytes) -> None:
    for part in piece_of(data):
        assert part.text
        for char in part.text.replace("\u200d", ""):
            assert unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp"), part


@given(st.binary(min_size=1, max_size=MAX_SHOWN))
def test_short_pieces_hold_every_byte(data: bytes) -> None:
    """Hex parts give their bytes, ordinary parts their characters: a cut is never silent."""
    shown = sum(len(part.text.split()) for part in piece_of(data) if part.kind == "hex")
    whole = len(data.decode("utf-8", "ignore").encode())
    assert shown == len(data) - whole


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.one_of(st.none(), st.integers(0, 100)))
def test_a_share_never_crosses_what_is_needed(total: int, count: int, needed: int | None) -> None:
    count = min(count, total)
    shown = Fraction(percent(count, total, needed).removesuffix(" %"))
    exact = Fraction(100 * count, total)
    for limit in (0, 100, *([] if needed is None else [needed])):
        assert (shown < limit) == (exact < limit)
        assert (shown > limit) == (exact > limit)
    assert abs(shown - exact) <= Fraction(1, 20)


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        ((3, 5, 66), "60 %"),
        ((2, 3, 66), "66.7 %"),
        ((2, 3, 67), "66.7 %"),
        ((6597, 10000, 66), "65.97 %"),
        ((1, 3000, 50), "0.03 %"),
        ((9999, 10000, 50), "99.99 %"),
        ((7, 7, None), "100 %"),
    ],
)
def test_shares(share: tuple[int, int, int | None], shown: str) -> None:
    assert percent(*share) == shown


def test_words_for_numbers() -> None:
    assert [times(n) for n in (1, 2, 3, 1200)] == ["once", "twice", "3 times", "1,200 times"]
    assert [plural(n, w) for n, w in ((1, "pass"), (2, "pass"), (2, "guess"), (1000, "token"))] == [
        "1 pass",
        "2 passes",
        "2 guesses",
        "1,000 tokens",
    ]
    assert not re.search(r"\d{4}", plural(12345, "token"))
