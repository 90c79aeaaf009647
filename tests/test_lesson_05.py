"""Lesson 05: followers of the reader's corpus, their bytes, their order."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from statistics import mean

import golden
import pytest
from tools import REPO

import ngram_core as ng
from ngram_core.errors import InputError
from ngram_core.lesson import lesson05
from ngram_core.lesson.examples import RECIPE
from ngram_core.lesson.followers import arrival, curve, order, room
from ngram_core.lesson.steps import StepsModel, said
from ngram_core.published import FOLLOWERS

NOTEBOOK = REPO / "notebooks" / "05_followers_in_order.ipynb"


@pytest.fixture(scope="module")
def model() -> curve.FollowersModel:
    return curve.FollowersModel(sizes=(1,))


# ---- the curve ----------------------------------------------------------------------------------


def test_the_published_curve_is_the_published_table() -> None:
    path = golden.SHARED / "published" / "followers.csv"
    if not path.exists():
        pytest.skip(golden.WHY)
    rows = [line.split(",") for line in path.read_text().split()[1:]]
    assert [int(count) for _, count in rows] == list(FOLLOWERS)
    assert sum(FOLLOWERS) == 8_879_640


def counted_plainly(words: list[str]) -> dict[tuple[str, str], Counter[str]]:
    found: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for a, b, c in zip(words, words[1:], words[2:], strict=False):
        found[a, b][c] += 1
    return found


def test_the_recipes_curve_counted_plainly() -> None:
    grams = counted_plainly(RECIPE.split())
    one = curve.recipe_curve()
    assert one.total == len(grams)
    for k in range(1, curve.MOST_SHOWN):
        these = [followers for followers in grams.values() if len(followers) == k]
        assert one.counts[k - 1] == len(these)
        assert one.places[k - 1] == sum(followers.total() for followers in these)
    assert one.longest == max(map(len, grams.values()))


def test_long_lists_are_counted_in_the_last_column() -> None:
    tokens = [t for i in range(40) for t in (0, 1, 2 + i)]
    one = curve.curve(tokens)
    assert one.counts[-1] == 1
    assert one.longest == 40


def test_each_sentence_says_its_figures(model: curve.FollowersModel) -> None:
    for name, one in model.curves.items():
        model.choose(name)
        for k in range(1, curve.MOST_SHOWN + 1):
            model.go(k - 1)
            assert f"{one.counts[k - 1]:,} of the {one.total:,} 2-grams" in model.describe()
            assert model.step["k"] == k
    json.loads(model.json)


def test_a_text_of_the_readers_own(model: curve.FollowersModel) -> None:
    model.choose("the recipe")
    model.go(1)
    assert model.count("a b c a b d") == str(model.curves["your text"].memory)
    assert "In your text, 1 of the 3 2-grams has 2 followers" in model.describe()
    before = model.json
    for bad, line in (("one two", "three words"), ("x " * 200_000, "200,000 characters")):
        with pytest.raises(InputError, match=line):
            model.count(bad)
    assert model.json == before


# ---- bytes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("followers", [1, 2, 5, 13, 14, 33])
def test_bytes_are_those_of_the_structures(followers: int) -> None:
    """Node 88, buckets of 8 by the library's sizes, nodes of 16; entry 32, pairs of 8 in powers of
    two."""
    buckets = next(size for size in (13, 29, 59) if size >= followers)
    maps, arrays = room.room(followers, room.MAPS), room.room(followers, room.ARRAYS)
    assert (maps.ngram, maps.index, maps.pairs) == (88, 8 * buckets, 16 * followers)
    assert maps.pieces == 2 + followers
    capacity = 1 << (followers - 1).bit_length()
    assert (arrays.ngram, arrays.index, arrays.pairs) == (32, 0, 8 * capacity)
    assert arrays.pieces == 1


def test_both_structures_of_the_recipe() -> None:
    both = lesson05.in_bytes()
    assert (both.n_grams, both.n_followers) == (68, 80)
    assert both.maps == 68 * (88 + 104) + 80 * 16 + 8 * 127
    assert both.arrays < both.maps / 2
    small = lesson05.in_bytes("to be or not to be, that is the question")
    assert small.arrays > small.maps, "the notebook says that a handful of 2-grams costs more"
    assert "Here maps take less" in str(small), "and so does the line that shows it"
    assert "Here maps" not in str(both)


def test_it_pays_from_a_corpus_on(model: curve.FollowersModel) -> None:
    memory = model.curves["1 MB of Python’s source"].memory
    assert memory is not None
    assert memory.maps > 3 * memory.arrays


# ---- order --------------------------------------------------------------------------------------


def test_arrivals_are_sorted_in_the_array_and_not_in_the_map() -> None:
    tokens, words = arrival.arrivals()
    assert len(tokens) == 12
    assert set(words) == set(tokens)
    for array, chained in arrival.orders(tokens):
        assert array == sorted(array) == sorted(chained)
    assert chained != array
    assert arrival.moves(sorted(tokens)) == 0
    assert arrival.moves(sorted(tokens, reverse=True)) == 66
    assert arrival.moves(tokens) == sum(a > b for i, b in enumerate(tokens) for a in tokens[:i])


def test_arrivals_are_told() -> None:
    model = arrival.ArrivalModel()
    model.choose("falling")
    model.go(11)
    assert "11 pairs behind it move up. 66 moves so far" in model.describe()


def test_saving_changes_what_a_map_drafts() -> None:
    drafted = {one.how: one.token for one in order.saved_and_loaded()}
    assert drafted == {
        "maps, just built": "whip",
        "maps, saved and loaded": "pour",
        "arrays, just built": "pour",
        "arrays, saved and loaded": "pour",
    }


def test_moves_of_a_long_list_are_those_of_short_ones() -> None:
    rising, falling = order.long_lists(40, runs=1)
    assert rising.moves == arrival.moves(range(1, 41)) == 0
    assert falling.moves == arrival.moves(range(40, 0, -1)) == 780
    assert min(rising.maps_ms, rising.arrays_ms, falling.maps_ms, falling.arrays_ms) > 0


# ---- questions and exercises --------------------------------------------------------------------


def test_the_question_is_settled_by_the_allocator() -> None:
    assert lesson05.BYTES.settle() == "208"
    assert set(lesson05.BYTES.replies) == set(lesson05.BYTES.choices) - {"208"}


@pytest.mark.parametrize(
    ("typed", "right", "line"),
    [
        ("86.7", True, "7,701,690 of 8,879,640"),
        ("86,7 %", True, "86.7 %"),
        ("3.4", False, "exactly 4"),
        ("64", False, "it is more"),
        ("99", False, "it is fewer"),
        ("most", False, "one number"),
    ],
)
def test_the_share(typed: str, right: bool, line: str) -> None:
    answer = lesson05.WITH_FOUR.answer(typed)
    assert answer.right is right
    assert line in answer.line


@pytest.mark.parametrize(
    ("typed", "right", "line"),
    [
        ("4 1 2 2", True, "the one is drafted, from dynamic; if the other has it, the other"),
        ("2, 2, 4, 1", True, "One of them passes 66 %"),
        ("3 1 3 1", False, "lets neither pass"),
        ("5 0 5 0", False, "nothing is drafted"),
        ("4 1 3 1", False, "the one scores 400, the other 300"),
        ("4 1", False, "4 whole numbers"),
        ("0 1 1 1", False, "at least once"),
        ("41 1 1 41", False, "40 at most"),
    ],
)
def test_the_tie(typed: str, right: bool, line: str) -> None:
    answer = lesson05.A_TIE.answer(typed)
    assert answer.right is right
    assert line in answer.line


def test_the_tie_by_the_rule_itself() -> None:
    """What is drafted from maps with the order of arrays is the same."""
    assert order.ARRAYS.ties == "token"
    first, second = order.drafts_either_way((4, 2), (1, 2))
    assert first.endswith("dynamic")
    assert second.endswith("static")


# ---- what the notebook quotes -------------------------------------------------------------------


def test_the_prose_says_what_is_counted() -> None:
    prose = NOTEBOOK.read_text(encoding="utf-8")
    both = lesson05.in_bytes()
    assert "some 190" in prose
    assert round(both.maps / both.n_followers, -1) == 190
    line = {one.stage: one for one in ng.published.PUBLISHED if one.corpus_mb == 541}
    assert f"*{line['outermap'].static_mb:,} MB*" in prose
    assert f"*{line['innervector'].static_mb} MB*" in prose
    assert f"*{line['outermap'].n_accept:,}*" in prose
    assert f"*{line['innervector'].n_accept:,}*" in prose
    assert "only 1.7 % have 33 or more" in prose
    assert round(100 * FOLLOWERS[-1] / sum(FOLLOWERS), 1) == 1.7
    assert mean(range(12)) * 12 == 66


def test_a_model_stays_in_bounds() -> None:
    model: StepsModel = arrival.ArrivalModel()
    model.take([99], 99)
    assert (model.chosen, model.at) == ([2], 11)
    model.take([], -5)
    assert model.at == 0
    with pytest.raises(InputError, match="there is no choice 'sideways'"):
        model.choose("sideways")
    assert said(["a ", ["b", "c"], "."]) == "a c."
