"""The measurements that the lessons' pictures show are of the stages and lists of now."""

from __future__ import annotations

import recorded

from ngram_core.lesson.checking.counts import RACED
from ngram_core.lesson.checking.ideas import ideas
from ngram_core.lesson.race_board import board
from ngram_core.lesson.race_words import describe
from ngram_core.lesson.searches.times import LENGTHS
from ngram_core.toggles import STAGES


def test_a_race_that_is_over_is_shown_as_one() -> None:
    race = recorded.race()
    assert not race.working
    assert race.result is not None
    assert [figures.stage for figures in race.result.size(5).stages if not figures.again] == list(
        STAGES
    )
    shown = board(race)
    assert shown["light"][0] == "same"
    assert shown["progress"][1] == f"all {race.result.n_runs} runs, {race.result.seconds:.0f} s"
    assert "upstream raced against itself" in describe(race)


def test_searches_are_of_all_lengths() -> None:
    model = recorded.searches()
    assert {length for _, length in model.times} == set(LENGTHS)
    assert "followers, random keys: classic" in model.describe()


def test_bars_have_the_rows_of_now() -> None:
    assert recorded.bars("ideas").rows == list(ideas())
    assert recorded.bars("profile", 0).rows == list(RACED)
    assert "ours, mapped" in recorded.bars("loads").describe()
