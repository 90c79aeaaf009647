"""Lesson 04: look-ups in chains and slots, collisions, and the peak of a growing table."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from tools import REPO

from ngram_core.lesson import lesson04
from ngram_core.lesson.examples import RECIPE
from ngram_core.lesson.steps import said
from ngram_core.lesson.tables import growth, lookup
from ngram_core.published import PUBLISHED

NOTEBOOK = REPO / "notebooks" / "04_a_flat_table.ipynb"


# ---- look-ups -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model() -> lookup.LookupModel:
    return lookup.LookupModel()


def all_cases(model: lookup.LookupModel) -> Iterator[tuple[lookup.Tables, str]]:
    for name, _ in lookup.HASHES:
        for key, _ in lookup.KEYS:
            model.choose(name, key)
            yield lookup.tables(name), key


def test_each_look_up_is_told_to_its_end(model: lookup.LookupModel) -> None:
    """By the engine's own record: visits, keys read, found or not."""
    for both, key in all_cases(model):
        chain, slots = both.around(key)
        there = f" {key} " in f" {' '.join(RECIPE.split()[:-1])} "
        assert (chain.found is not None, slots.found is not None) == (there, there)
        steps = model.case.steps
        assert len(steps) == max(len(chain.path), len(slots.path), 1)
        end = said(steps[-1]["say"])
        assert ("Found: " if there else "Not there: ") in end
        assert f"{len(slots.path)} slot" in end
        assert f"{slots.keys_compared} key" in end
        read = sum("agrees in distance" in said(step["say"]) for step in steps)
        assert read == slots.keys_compared, "a key is read where the picture says so"
        assert [step["slot"] for step in steps][-1] == len(slots.path) - 1


def test_the_question_of_the_title_picture(model: lookup.LookupModel) -> None:
    model.choose("xor", "and stir")
    model.go(1)
    assert "goes on to stir and, which has the same hash" in model.describe()
    assert "its key is read: it is stir and" in model.describe()
    json.loads(model.json)


def test_collisions_are_those_of_the_report() -> None:
    chained, flat = lookup.tables("xor").reports()
    groups = lookup.tables("xor").sharing()
    assert chained.n_sharing == flat.n_sharing == sum(map(len, groups)) == 36
    assert ("flour into", "the flour into the") in groups
    assert lookup.tables("mixed").sharing() == ()


def test_spread_and_collisions_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    lesson04.spread()
    lesson04.collisions()
    printed = capsys.readouterr().out
    assert "272 n-grams, hash xor: 36 share their hash with another" in printed
    assert "stir and = and stir" in printed


def test_a_text_said_twice_breaks_both_tables(capsys: pytest.CaptureFixture[str]) -> None:
    lesson04.doubled_words(300)
    lines = capsys.readouterr().out.splitlines()
    longest = [int(line.split(" look-up, ")[1].split(" at most")[0]) for line in lines[:4]]
    assert [line.split(":")[0] for line in lines[:4]] == [
        "chains, xor",
        "chains, mixed",
        "slots, xor",
        "slots, mixed",
    ]
    assert min(longest[0], longest[2]) > 290
    assert max(longest[1], longest[3]) < 30


# ---- growth -------------------------------------------------------------------------------------


@pytest.mark.parametrize("followers", [1, 30])
def test_old_and_new_array_are_in_the_allocators_peak(followers: int) -> None:
    dense = growth.grown("dense", followers)
    doublings = [moment for moment in dense if moment.old]
    assert [moment.n_grams for moment in doublings] == [9, 17, 33, 65, 129, 257]
    for moment in doublings:
        assert moment.entries == 2 * moment.old
        assert moment.entries == growth.ENTRY_BYTES * 2 * (moment.n_grams - 1)
        assert moment.peak >= moment.live + moment.old - 1000 * (followers > 1)
        if followers == 1:
            assert moment.peak == moment.live + moment.old
    for moment in growth.grown("segmented", followers):
        assert moment.old == 0
        assert moment.entries - growth.ENTRY_BYTES * moment.n_grams < 4096


def test_live_bytes_are_the_parts() -> None:
    for moment in growth.recipe_grown("segmented") + growth.recipe_grown("dense"):
        assert moment.live == moment.entries + moment.slots + moment.followers


def test_the_prose_on_peaks() -> None:
    """At its worst 1.56 to 1.68 times with few followers, 1.2 or less with long lists."""
    few = growth.grown("dense")[256].peak / growth.grown("segmented")[256].peak
    many = growth.grown("dense", 30)[256].peak / growth.grown("segmented", 30)[256].peak
    recipe = growth.recipe_grown("dense")[-1].peak / growth.recipe_grown("segmented")[-1].peak
    assert 1.5 < recipe < few < 1.7
    assert 1.05 < many < 1.25


def test_growth_is_told() -> None:
    model = growth.GrowthModel()
    model.choose("one follower each")
    at = [step["n"] for step in model.case.steps].index(257)
    model.go(at)
    assert "256 + 512 = 768 places" in model.describe()
    assert (
        sum(model.step["bars"][0][part] for part in ("used", "room", "slots", "followers"))
        == (model.step["bars"][0]["live"])
    )


def test_a_real_corpus(capsys: pytest.CaptureFixture[str]) -> None:
    found = lesson04.corpus_peaks(1)
    assert {(peak.outer, peak.followers) for peak in found} == {
        (outer, followers) for outer in ("dense", "segmented") for followers in ("maps", "arrays")
    }
    for dense, segmented in (found[:2], found[2:]):
        assert dense.peak > segmented.peak
        assert segmented.peak >= segmented.live
    assert "times" in capsys.readouterr().out


# ---- questions and exercises --------------------------------------------------------------------


def test_the_question_is_settled_by_the_allocator() -> None:
    assert lesson04.PLACES.settle() == "768"
    assert set(lesson04.PLACES.replies) == set(lesson04.PLACES.choices) - {"768"}


@pytest.mark.parametrize(
    ("typed", "right", "line"),
    [
        ("flour into, the flour into the", True, "Both hash to"),
        ("and; stir and stir", True, "drops out"),
        ("stir and, and stir", False, "same words in another order"),
        ("the, flour", False, "Not these"),
        ("stir and, stir and", False, "one n-gram, twice"),
        ("stir", False, "two n-grams"),
        ("golden the, the", False, "“golden the” is not in the recipe"),
        ("<b>, 💥", False, "is not in the recipe"),
        ("a b c d e, the", False, "4 at most"),
        (",,,", False, "two n-grams"),
    ],
)
def test_the_collision(typed: str, right: bool, line: str) -> None:
    answer = lesson04.COLLISION.answer(typed)
    assert answer.right is right, answer
    assert line in answer.line


@pytest.mark.parametrize(
    ("typed", "right", "line"),
    [
        ("257 256", True, "257 has 2.99 places an n-gram, 256 has 1.50"),
        ("300 256", False, "a worse one"),
        ("257 300", False, "a better one"),
        ("2 3", False, "from 200 to 500"),
        ("all", False, "2 whole numbers"),
    ],
)
def test_the_sizes(typed: str, right: bool, line: str) -> None:
    answer = lesson04.SIZES.answer(typed)
    assert answer.right is right
    assert line in answer.line


def test_the_prose_quotes_the_published_table() -> None:
    prose = NOTEBOOK.read_text(encoding="utf-8")
    line = {one.stage: one for one in PUBLISHED if one.corpus_mb == 541}
    nocopy, outermap = line["nocopy"], line["outermap"]
    assert (
        f"*{(nocopy.load_ms or 0) / 1000:.1f}* to *{(outermap.load_ms or 0) / 1000:.1f} s*" in prose
    )
    assert f"*{nocopy.us_per_drafted / outermap.us_per_drafted:.2f} times*" in prose
