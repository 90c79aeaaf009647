"""Lesson 06: searches step by step, how long they take, and one of the reader's own."""

from __future__ import annotations

import bisect
import contextlib
import json
from collections.abc import Sequence

import pytest
from tools import REPO

import ngram_core as ng
from ngram_core.errors import InputError
from ngram_core.lesson import lesson06
from ngram_core.lesson.searches import own, paths, times
from ngram_core.lesson.steps import said
from ngram_core.published import PUBLISHED

NOTEBOOK = REPO / "notebooks" / "06_the_same_number_of_steps.ipynb"


# ---- step by step -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model() -> paths.SearchModel:
    return paths.SearchModel()


def test_the_lists_are_in_order_and_of_the_lengths_that_the_lesson_names() -> None:
    assert [len(ids) for _, ids, _ in paths.lists()] == [8, 12, 44]
    for _, ids, words in paths.lists():
        assert ids == sorted(set(ids))
        assert set(ids) <= set(words)
        absent = paths.keys_of(ids)[-1][1]
        assert absent not in ids


def test_every_step_narrows_to_the_place(model: paths.SearchModel) -> None:
    """What is struck out never holds the key, and the end says what the engine found."""
    for case in model.pictures.cases:
        ids, key = case.shared["ids"], case.shared["key"]
        place = bisect.bisect_left(ids, key)
        for step in case.steps:
            for low, high in step["left"]:
                assert low <= place <= high
        end = case.steps[-1]
        assert said(end["say"]).startswith("Found" if key in ids else "Not there")
        for search, done in zip(case.shared["searches"], end["done"], strict=True):
            assert search["found"] == (key in ids)
            assert search["final"] == (place if place < len(ids) else None)
            assert done == len(search["compared"])
            if search["name"] == "fixed":
                assert done == paths.halvings(len(ids)) + 1, "whatever the key"
    json.loads(model.json)


def test_classic_needs_3_or_4_in_a_list_of_8() -> None:
    assert set(paths.comparisons(8, "lower_bound")) == {3, 4}
    assert set(paths.comparisons(8, "fixed")) == {4}
    assert paths.comparisons(8, "linear") == [*range(1, 9)]


@pytest.mark.parametrize("length", [1, 2, 3, 33, 64, 65, 1000])
def test_halvings_follow_the_length(length: int) -> None:
    n, left = 0, length
    while left > 1:
        n, left = n + 1, left - left // 2
    assert paths.halvings(length) == n


def test_the_code_shown_is_the_engines() -> None:
    """Line by line what csrc/ngc_slice.h computes, in the picture's short names."""
    shown = (REPO / "ngram_core/views/web/search.js").read_text(encoding="utf-8")
    source = (REPO / "csrc/ngc_slice.h").read_text(encoding="utf-8")
    for line, real in (
        ("first += half + 1;", "first += half + 1;"),
        ("length -= half + 1;", "length -= half + 1;"),
        ("length -= half;", "length -= half;"),
        (
            "mask(a[base + half] < key)",
            "half & ngc_mask_if(pairs[base + half].token < token)",
        ),
        ("base + (a[base] < key)", "base + (size_t)(pairs[base].token < token)"),
    ):
        assert line in shown
        assert real in source


# ---- time ---------------------------------------------------------------------------------------


def test_search_ns_refuses_what_makes_no_sense() -> None:
    assert ng.inside.search_ns([1, 2, 3], [2], "simd", rounds=10) > 0
    assert ng.inside.search_ns([], [2]) >= 0
    for bad, line in (
        ({"search": "magic"}, "does not exist"),
        ({"rounds": 0}, "rounds"),
        ({"tokens": []}, "at least one"),
        ({"followers": [2, 1]}, "ascending"),
    ):
        with pytest.raises(InputError, match=line):
            ng.inside.search_ns(**{"followers": [1, 2], "tokens": [1], **bad})


def test_all_is_timed_and_told() -> None:
    model = times.TimesModel((1, 8, 40), runs=3)
    for kind, _ in times.KEYS:
        model.choose(kind)
        for at, length in enumerate((1, 8, 40)):
            model.go(at)
            row = model.times[kind, length]
            assert set(row) == {search for search, _ in times.TIMED}
            assert all(0 < one.low <= one.median <= one.high for one in row.values())
            told = model.describe()
            assert f"{length} follower" in told
            assert f"fixed {row['fixed'].median:,.1f}" in told
    json.loads(model.json)


@pytest.mark.parametrize(
    ("classic", "fixed", "line"),
    [
        ((9.0, 8.0, 10.0), (6.0, 5.0, 7.0), "Fixed is 1.5 times faster"),
        ((6.0, 5.0, 7.0), (9.0, 8.0, 10.0), "Classic is 1.5 times faster"),
        ((6.0, 5.0, 8.5), (9.0, 8.0, 10.0), "one cannot tell"),
    ],
)
def test_what_is_faster_goes_by_the_spread(
    classic: Sequence[float], fixed: Sequence[float], line: str
) -> None:
    other = times.Timed(1, 1, 1)
    row = {"linear": other, "simd": other}
    row |= {"lower_bound": times.Timed(*classic), "fixed": times.Timed(*fixed)}
    assert line in said(times._sentence("random keys", 8, row))


# ---- questions and exercises --------------------------------------------------------------------


def test_the_question_is_settled_by_the_counter() -> None:
    assert lesson06.FEWER.settle() == "the classic one"
    classic, fixed = lesson06._averages()
    assert 14.4 < classic < 14.7
    assert fixed == 16
    assert set(lesson06.FEWER.replies) == set(lesson06.SIDES[1:])


def test_linear_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    lesson06.linear(8)
    printed = capsys.readouterr().out
    assert "from the front: 4.5 comparisons a key on average, 1 to 8" in printed
    assert "fixed: 4.0 comparisons" in printed


@pytest.mark.parametrize(
    ("typed", "right", "line"),
    [
        ("6 10", True, "whatever the key"),
        ("7 11", False, "one comparison after the loop"),
        ("6 9", False, "1000, 500, 250"),
        ("5 10", False, "33, 17, 9"),
        ("six", False, "2 whole numbers"),
    ],
)
def test_the_halvings(typed: str, right: bool, line: str) -> None:
    answer = lesson06.HALVINGS.answer(typed)
    assert answer.right is right
    assert line in answer.line


def fixed(tokens: Sequence[int], key: int) -> int:
    base, length = 0, len(tokens)
    while length > 1:
        half = length // 2
        base += half * (tokens[base + half] < key)
        length -= half
    return base + (tokens[base] < key)


def endless(tokens: Sequence[int], key: int) -> int:
    while True:
        with contextlib.suppress(Exception):
            key += 1


@pytest.mark.parametrize(
    ("search", "line"),
    [
        (lambda tokens, key: None, "not yet"),
        (bisect.bisect_left, "depend on the length alone"),
        (lambda tokens, key: bisect.bisect_left(list(tokens), key), "halve the list"),
        (lambda tokens, key: bisect.bisect_right(tokens, key), "(which is there) it says 1"),
        (lambda tokens, key: tokens.index(key), "raised ValueError"),
        (lambda tokens, key: tokens[7], "raised IndexError"),
        (lambda tokens, key: 0.5, "return a position"),
        (lambda tokens, key: min(fixed(tokens, key), len(tokens) - 1), "(which is absent)"),
        (endless, "does its loop always end"),
    ],
)
def test_a_search_that_is_wrong_is_told_why(
    search: own.Searching, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own, "SECONDS", 2)
    report = lesson06.compare(search)
    assert not report.right
    assert line in repr(report)


def test_a_search_that_is_right() -> None:
    report = lesson06.compare(fixed)
    assert report.right, report
    assert "a list of 100 is read 8 times" in repr(report)


def test_the_prose_quotes_the_published_table() -> None:
    prose = NOTEBOOK.read_text(encoding="utf-8")
    line = {one.stage: one for one in PUBLISHED if one.corpus_mb == 0}
    assert (
        f"*{line['outermap'].us_per_drafted}* to *{line['innervector'].us_per_drafted} µs*" in prose
    )
