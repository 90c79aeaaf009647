"""Lesson 08: rows checked before they are scored, what that saves, cache lines of a guess."""

from __future__ import annotations

import re

import pytest
from tools import REPO

import ngram_core as ng
from ngram_core.lesson import lesson08
from ngram_core.lesson.checking import counts, ideas, lines, rows
from ngram_core.lesson.checking.recipe import at_word
from ngram_core.lesson.examples import example
from ngram_core.lesson.lesson02 import misreading
from ngram_core.lesson.steps import said
from ngram_core.published import DRAFTING_US

# ---- the check ------------------------------------------------------------------------------


def test_what_the_check_saves_on_the_recipe() -> None:
    """Failing rows hold 329 of 392 candidates; the check finds all but 4 of these."""
    saved = counts.savings()
    assert (saved.candidates, saved.failing, saved.skipped, saved.drafted) == (392, 329, 325, 64)
    assert lesson08.SAVED.settle() == "83 %"
    assert f"{saved.candidates} candidates are scored for {saved.drafted}" in lesson08.SAVED.text


def test_a_row_that_fails_its_check_fails_when_it_is_scored() -> None:
    n_words = len(example("recipe").text.split())
    checked = 0
    for word in range(3, n_words + 1):
        for row, scored in rows.rows(word):
            checked += row.prechecked
            assert (row.cache, row.n, row.sum) == (scored.cache, scored.n, scored.sum)
            fails = row.sum < row.min_sum or rows.share_fails(row)
            assert row.prechecked == fails
            assert not (row.prechecked and scored.passes)
            assert row.passes == scored.passes
    assert checked > 100


@pytest.mark.parametrize("word", [word for word, _ in rows.WORDS])
def test_rows_are_told_as_the_engine_has_them(word: int) -> None:
    model = rows.CheckModel(word)
    *steps, end = model.case.steps
    for step, (row, _) in zip(steps, rows.rows(word), strict=True):
        told = said(step["say"])
        assert told.startswith(f"{row.cache} n = {row.n}: ")
        assert ("not scored" in told) == row.prechecked
        assert [follower[1] for follower in step["followers"]] == [c.count for c in row.candidates]
        assert (row.passes) == ("passes:" in told)
    with at_word("upstream", word) as drafter:
        token = drafter.step(1)[0].token
    drafted = "nothing" if token is None else f"“{model.words[token]}”"
    assert f"Drafted: {drafted}, with the check" in said(end["say"])


def test_the_words_show_what_they_promise() -> None:
    saved = {}
    for word, _ in rows.WORDS:
        both = rows.rows(word)
        saved[word] = sum(row.n_followers for row, _ in both if row.prechecked)
    assert saved == {42: 3, 37: 13, 86: 18, 82: 2, 89: 0}
    first = said(rows.CheckModel(42).step["say"])
    assert "the largest count is 3, and 300 < 330" in first
    assert "3 candidates are not scored" in first


def test_the_final_test_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    misreading("check only")
    told = capsys.readouterr().out
    assert "other drafts at 1 word of the recipe" in told
    assert "first at word 82: “into”" in told
    assert "on the recipe 37 of 68 guesses right, the engine’s 37 of 64" in told


def test_nothing_is_saved_where_every_row_passes() -> None:
    told = counts.nothing_saved(length=300, runs=1)
    assert "1.00 candidates scored a guess without the check, 1.00 with it, and 1.00" in told


# ---- where the work goes ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def profile() -> counts.Profile:
    return counts.measure(text_bytes=40_000, probed=4_000, runs=1)


def test_the_check_saves_scores_and_no_lines(profile: counts.Profile) -> None:
    before, after = profile.stages["constmap"], profile.stages["precheck"]
    assert after.per_guess("scored") < before.per_guess("scored") / 5
    assert after.per_guess("search_steps") < before.per_guess("search_steps") / 5
    assert after.per_guess("scanned") > before.per_guess("scanned")
    assert after.per_guess("cache_lines") == pytest.approx(before.per_guess("cache_lines"), rel=0.1)
    assert len({stage.checksum for stage in profile.stages.values()}) == 1
    assert list(profile.stages) == list(ng.STAGES)[list(ng.STAGES).index("innervector") :]


def test_ideas_are_undone_one_by_one() -> None:
    """Each variant is the last stage but for the changes that must go together."""
    before, last = list(ng.STAGES)[-2:]
    found = ideas.ideas()
    assert next(iter(found)) == last
    assert list(found)[-1] == before
    assert len(set(found.values())) == len(found)
    profile = counts.measure(found, text_bytes=20_000, probed=2_000, runs=1)
    assert len({stage.checksum for stage in profile.stages.values()}) == 1
    assert counts.bars(profile, "title", "row").rows == list(found)


def test_bars_beside_published_ones(profile: counts.Profile) -> None:
    told = counts.bars(profile).describe()
    assert f"(published {DRAFTING_US['constmap'][541]:.2f})" in told
    assert "not measured here" in counts.share_bars().describe()


def test_the_limit_stands_beside_what_was_measured(profile: counts.Profile) -> None:
    *_, last = ng.STAGES
    told = counts.limit_bars(profile).describe().splitlines()
    ours = profile.stages[last].median_us
    assert told[1].endswith("(published 3.0)") or "3.0" in told[1]
    assert told[2].strip().startswith(f"{last}: µs a guess {ours:.2f} (")
    assert told[3].strip() == "the limit (a model): µs a guess 0.35 to 0.4, not measured here"


def test_the_prose_quotes_published_figures() -> None:
    text = (REPO / "notebooks" / "08_check_first.ipynb").read_text(encoding="utf-8")
    for stage in ("constmap", "precheck"):
        assert f"*{DRAFTING_US[stage][541]:.2f} µs*" in text


# ---- cache lines --------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", ng.STAGES)
@pytest.mark.parametrize("word", [word for word, _ in lines.WORDS])
def test_lines_are_those_of_the_engine(stage: str, word: int) -> None:
    """Numbers of lines hang on where malloc puts nodes; each picture must agree with itself."""
    model = lines.LinesModel(stage, word)
    shared, steps = model.case.shared, model.case.steps
    *steps, end = steps
    seen: set[int] = set()
    for step in steps:
        new = set(step["lines"]) - seen
        seen |= new
        assert step["seen"] == len(seen)
        told = re.search(r"(\d+|No) new line", said(step["say"]))
        assert told is not None
        assert (0 if told[1] == "No" else int(told[1])) == len(new)
    assert len(seen) == len(shared["all"]) == end["seen"] <= shared["most"]
    assert f"{len(seen)} lines in all" in said(end["say"])


def test_upstream_touches_most() -> None:
    for stages in lines.table().values():
        assert max(stages, key=lambda name: stages[name]) == "upstream"


# ---- exercises ---------------------------------------------------------------------------


def test_verdicts_of_the_check() -> None:
    check = lesson08.VERDICTS.answer
    assert check("fail, fail, pass").right
    assert check("F f P").right
    assert "word 82" in check("fail fail fail").line
    assert "word 37" in check("pass fail pass").line
    assert "three answers" in check("maybe").line


def test_the_second_test() -> None:
    check = lesson08.SECOND_TEST.answer
    assert check("100 < 150").right
    assert "the check itself" in check("200 150").line
    assert not check("66 100").right
    assert "two whole numbers" in check("2 whole").line or "2 whole numbers" in check("x").line
