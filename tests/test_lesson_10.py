"""Lesson 10: tokens per pass, the price of a pass, and whether drafting pays."""

from __future__ import annotations

import re

import pytest
from tools import REPO

from ngram_core.corpora import WORKLOADS
from ngram_core.corpora.workloads import Measured, Task, measure
from ngram_core.errors import InputError
from ngram_core.lesson import lesson10
from ngram_core.lesson.payoff import board, drafting, gains, prices
from ngram_core.lesson.steps import said
from ngram_core.published import DRAFTING_US, PUBLISHED
from ngram_core.tokenizers import WordTokenizer

LESSON = (REPO / "notebooks" / "10_should_i_use_it.ipynb").read_text(encoding="utf-8")
HERE = prices.Price("this machine", "of a test", ((1, 1.0), (9, 3.0), (17, 3.5)), True)


# ---- the formula -----------------------------------------------------------------------------


def test_passes_by_what_they_drafted() -> None:
    """Guesses begin after "a b c", seen once: one pass drafts four, three draft nothing."""
    got = measure(Task("a b c d ", "a b c d a b x"), WordTokenizer(), n_draft=8)
    assert got.by_drafted == (3, 0, 0, 0, 1)
    both = got + Measured(2, 2, 1, 0, (1, 1))
    assert both.by_drafted == (4, 1, 0, 0, 1)
    assert sum(both.by_drafted) == both.n_passes
    assert sum(k * n for k, n in enumerate(both.by_drafted)) == both.n_drafted


def test_the_formula_by_hand() -> None:
    """Two passes, one over 1 token and one over 4, bring 6 tokens."""
    counts = Measured(6, 2, 3, 3, (1, 0, 0, 1))
    assert gains.pass_price(counts, lambda n: float(n)) == 2.5
    assert gains.speed_up(counts, lambda n: float(n)) == pytest.approx(3 / 2.5)
    assert gains.speed_up(counts, lambda _n: 1.0, drafting=0.5) == pytest.approx(2.0)
    assert gains.speed_up(counts, lesson10.stairs) == 3.0


def test_a_straight_price_asks_for_the_mean_alone() -> None:
    """So the formula of the page, with guesses per pass, gives the same."""
    counts = gains.counted("json-lines")
    mean = 1 + gains.drafted_per_pass(counts)
    for of_nine, price in ((1, prices.FREE), (2, prices.CHEAP), (5, prices.DEAR)):
        assert price(1) == 1
        assert price(9) == of_nine
        assert gains.pass_price(counts, price) == pytest.approx(1 + (of_nine - 1) / 8 * (mean - 1))


@pytest.mark.parametrize("workload", WORKLOADS)
def test_counts_agree_with_each_other(workload: str) -> None:
    before = 0.0
    for n in (1, 2, 4, 8):
        counts = gains.counted(workload, n)
        assert counts.n_tokens >= gains.ENOUGH_TOKENS
        # the last pass of a task may have no token of the model's own
        spare = len(gains.tasks(workload))
        assert 0 <= counts.n_passes + counts.n_accept - counts.n_tokens <= spare
        assert len(counts.by_drafted) <= n + 1
        assert counts.tokens_per_pass >= before
        before = counts.tokens_per_pass


# ---- the price of a pass ----------------------------------------------------------------------


def test_a_price_is_linear_between_its_points() -> None:
    assert [HERE(n) for n in (1, 5, 9, 13)] == [1.0, 2.0, 3.0, 3.25]


def test_this_machine_is_measured() -> None:
    measured = prices.measure(runs=2)
    assert list(measured.ms) == list(prices.SIZES)
    assert all(len(runs) == 2 and min(runs) > 0 for runs in measured.ms.values())
    price = measured.price
    assert price(1) == 1.0
    assert price.is_measured
    assert f"for the price of {price(9):.1f} (" in str(measured)


def test_a_slow_round_does_not_move_a_price() -> None:
    rounds = prices.Measured({1: [2.0, 20.0, 2.0], 9: [6.0, 60.0, 8.0]})
    assert rounds.ratios(9) == [3.0, 3.0, 4.0]
    assert rounds.price(9) == 3.0
    assert "for the price of 3.0 (3.0 – 4.0)" in str(rounds)


# ---- faster drafting ---------------------------------------------------------------------------


def test_faster_drafting_is_no_faster_text() -> None:
    found = drafting.naive(runs=1)
    assert (found.slow.stage, found.fast.stage) == ("upstream", "places")
    assert found.slow.tokens_per_pass == found.fast.tokens_per_pass > 1
    assert found.fast.text_gain <= found.fast.tokens_per_pass
    told = re.search(r"Drafting: ([\d.]+) times faster. Text: ([\d.]+) times", str(found))
    assert told is not None
    assert float(told[2]) < float(told[1])


def test_the_share_of_the_published_time() -> None:
    assert drafting.published_share() == pytest.approx(2.4, abs=0.05)
    assert f"*{DRAFTING_US['upstream'][541]:.2f} µs*" in LESSON
    assert "2.4 % of 8.3 ms" in LESSON
    assert f"*{drafting.PASS_MS} ms*" in LESSON
    assert round(1000 / drafting.PASS_MS, -1) == 120


# ---- the view ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model() -> board.PayoffModel:
    return board.PayoffModel(here=HERE)


def test_every_step_says_what_was_counted(model: board.PayoffModel) -> None:
    cases = iter(model.pictures.cases)
    for name in gains.by_gain():
        for price in model.prices:
            case = next(cases)
            for n, step in zip(gains.N_DRAFTS, case.steps[1:], strict=True):
                counts = gains.counted(name, n)
                speed = gains.speed_up(counts, price)
                told = said(step["say"])
                assert f"{counts.tokens_per_pass:.3f} tokens a pass" in told
                assert f"= {speed:.2f} times as fast" in told
                assert ("slower than without" in told) == (speed < 1)
                assert ("it pays" in told) == (speed >= 1.05)
            assert case.shared["speeds"][0] == 1.0
    assert next(cases, None) is None


def test_a_workload_and_a_machine(model: board.PayoffModel) -> None:
    model.choose("prose", "9 for the price of 5")
    model.go(6)
    assert "slower than without. Without guesses it would be fastest." in model.describe()
    model.choose("code-edit", "9 for the price of 2")
    assert "it pays" in model.describe()
    with pytest.raises(InputError, match="no choice 'chess'"):
        model.choose("chess")


def test_the_fewest_guesses_of_equal_ones() -> None:
    assert board.best([1.0, 1.204, 1.199, 1.2]) == 1
    assert board.best([1.0, 0.9]) == 0


def test_a_text_of_ones_own() -> None:
    model = board.PayoffModel(here=HERE)
    model.choose("prose", "checking is free")
    words = "one two three four five six seven\n" * 4
    line = model.measure(words)
    assert "tokens written" in line
    assert model.describe().splitlines()[1] == "Workload: your text; Checking: checking is free"
    alone = model.counts[board.OWN][-1]
    model.measure(f"{words}---\n{words}")
    told = model.counts[board.OWN][-1]
    assert told.n_tokens == alone.n_tokens
    assert told.n_passes < alone.n_passes  # the prompt has it all


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("", "0 tokens; give 20"),
        ("too short", "2 tokens; give 20"),
        ("a prompt of many words, many words, many words\n---\n", "0 tokens"),
        ("x" * 20_001, "more than 20,000"),
        ("a \ud800" * 30, "lone surrogate"),
    ],
)
def test_texts_that_cannot_be_measured(model: board.PayoffModel, typed: str, why: str) -> None:
    before = model.json
    with pytest.raises(InputError, match=why):
        model.measure(typed)
    assert model.json == before


def test_odd_texts_are_texts(model: board.PayoffModel) -> None:
    assert "tokens written" in model.measure("<script>é😀\r\n --- not a line of dashes\n" * 5)


# ---- what the page says --------------------------------------------------------------------------


def test_the_prose_quotes_what_is_counted() -> None:
    copy, random = gains.counted("copy"), gains.counted("random")
    assert f"copied code with {copy.tokens_per_pass:.2f} tokens a pass" in LESSON
    assert f"random words with {random.tokens_per_pass:.2f}" in LESSON
    prose = gains.counted("prose")
    assert f"let it guess {gains.drafted_per_pass(prose):.2f} times a pass" in LESSON
    speeds = [gains.speed_up(gains.counted("json-lines", n), prices.CHEAP) for n in gains.N_DRAFTS]
    assert f"rises to {max(speeds):.1f} and stays" in LESSON
    edit = [gains.speed_up(gains.counted("code-edit", n), prices.CHEAP) for n in gains.N_DRAFTS]
    assert edit == sorted(edit)  # "beyond 16 if checking is cheap"
    story = [gains.speed_up(gains.counted("prose", n), prices.CHEAP) for n in gains.N_DRAFTS]
    assert gains.N_DRAFTS[board.best(story)] == 2  # "for prose it ends after two"


def test_the_static_cache_of_ones_own_kind_is_the_published_one() -> None:
    accepted = {line.corpus_mb: line.n_accept for line in PUBLISHED if line.stage == "upstream"}
    assert f"*{accepted[0] / 1000:.1f}* to *{accepted[541] / 1000:.1f} thousand*" in LESSON


def test_workloads_stand_in_the_order_of_their_gain() -> None:
    rows = gains.bars().rows
    assert [row.split(":")[0] for row in rows] == list(gains.by_gain())
    per_pass = [gains.counted(name).tokens_per_pass for name in gains.by_gain()]
    assert per_pass == sorted(per_pass, reverse=True)


def test_acceptance_is_not_speed(capsys: pytest.CaptureFixture[str]) -> None:
    lesson10.by_acceptance()
    _head, *rows, told = capsys.readouterr().out.splitlines()
    assert len(rows) == len(gains.N_DRAFTS)
    assert "The highest acceptance is at 1, the highest speed at 16: 1.54 and 2.40" in told


def test_thresholds_keep_prose_from_losing(capsys: pytest.CaptureFixture[str]) -> None:
    lesson10.without_thresholds()
    shipped, speeds, always, lower = capsys.readouterr().out.splitlines()
    assert "0.88 guesses a pass, 16.4 % accepted, 1.15 tokens a pass" in shipped
    assert "1.03 (9 for the price of 2), 0.79 (9 for the price of 5)" in speeds
    assert "4.66 guesses a pass, 5.1 % accepted, 1.24 tokens a pass" in always
    assert "0.78 (9 for the price of 2), 0.37 (9 for the price of 5)" in lower


# ---- the question and the exercises -----------------------------------------------------------


def test_a_story_gains_nothing() -> None:
    assert lesson10.STORY.settle() == "no gain"
    assert set(lesson10.STORY.replies) | {"no gain"} == set(lesson10.STORY.choices)


def test_break_even_prices() -> None:
    check = lesson10.BREAK_EVEN.answer
    assert check("7.01 3.38 1.15").right
    assert check("7; 3,4; 1.1").right
    assert "guesses per pass" in check("7.01 3.38 0.88").line
    assert "Not 2 for json-lines" in check("7 2 1.1").line
    assert "three numbers" in check("seven").line


def test_stairs() -> None:
    check = lesson10.STAIRS.answer
    assert check("3").right
    assert "what do 5 cost?" in check("4").line
    assert "One guess more costs nothing yet" in check("2").line
    assert "Between 1 and 8" in check("0").line
    assert "one whole number" in check("few").line
    assert [lesson10.stairs(n) for n in (1, 4, 5, 8, 9)] == [1, 1, 2, 2, 3]
