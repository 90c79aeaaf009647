"""What lessons 00, 01 and 03 say in figures is what the engine counts, or what was published.

The other lessons' words are held in the tests of those lessons.
"""

from __future__ import annotations

import dataclasses
import re

import copies
import pytest
from tools import REPO

import ngram_core as ng
from ngram_core.corpora import WORKLOADS
from ngram_core.lesson import copying, lesson00, lesson01
from ngram_core.lesson.checking.counts import savings
from ngram_core.lesson.examples import EXAMPLES, RECIPE
from ngram_core.lesson.payoff.gains import counted
from ngram_core.lesson.stepper import StepperModel
from ngram_core.lesson.story import Draft, Settings, Totals
from ngram_core.published import DRAFTING_US, FIRST_RUN_CONSTMAP_US
from ngram_core.trace import Row, Step


def words(lesson: str) -> str:
    """All prose of a lesson as one line."""
    (path,) = (REPO / "notebooks").glob(f"{lesson}_*.ipynb")
    cells = copies.read(path)["cells"]
    text = " ".join(cell["source"] for cell in cells if cell["cell_type"] == "markdown")
    return " ".join(re.sub(r"<[^>]+>|\*\*", "", text).split())


def recipe(caches: str = "cds", **more: object) -> Totals:
    settings = Settings("c" in caches, "d" in caches, "s" in caches).set(**more)
    return StepperModel("recipe", settings=settings).story.totals


# ---- 00 ------------------------------------------------------------------------------------------


def test_lesson_00() -> None:
    text = words("00")
    edit, prose = (f"{counted(name).tokens_per_pass:.2f}" for name in ("code-edit", "prose"))
    assert f"an edit to code comes at {edit} tokens a pass, made-up prose at {prose}" in text
    assert len(WORKLOADS) == 11
    assert "lesson 10 counts eleven kinds of work" in text
    assert f"{len(RECIPE.split())} words for the recipe" in text
    few, many = recipe(n_draft=1), recipe(n_draft=8)
    percent = [round(100 * totals.accepted / totals.drafted) for totals in (few, many)]
    assert f"Passes fall, from {few.passes} to {many.passes}" in text
    assert f"acceptance, from {percent[0]} to {percent[1]} %" in text


def test_one_of_its_six_texts_guesses_nothing() -> None:
    text = words("00")
    assert len(EXAMPLES) == 6
    assert "has six ready ones; in one of them nothing is ever guessed" in text
    nothing = [name for name in EXAMPLES if not StepperModel(name).story.totals.drafted]
    assert len(nothing) == 1


def test_what_caches_save_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    lesson00.by_caches(StepperModel("recipe"))
    on_the_recipe = capsys.readouterr().out
    assert on_the_recipe.splitlines() == [
        "no cache:  116 passes, 0 of 0 guesses accepted",
        "context:   88 passes, 28 of 50 guesses accepted",
        "all three: 79 passes, 37 of 64 guesses accepted",
    ]
    lesson00.by_caches(StepperModel("a b c d e"))
    said = capsys.readouterr().out
    assert said.startswith("no cache:  4 passes, 0 of 0")
    assert "No guess is right in your text" in said
    assert said.endswith(on_the_recipe)


# ---- 01 ------------------------------------------------------------------------------------------


def step_at(word: int) -> Step:
    model = StepperModel("recipe", settings=lesson01.CONTEXT_ONLY)
    event = model.story.events[model.event_of_word(word)]
    assert isinstance(event, Draft)
    return event.step


def row_of(word: int, n: int) -> Row:
    return next(row for row in step_at(word).rows if row.cache == "context" and row.n == n)


def test_lesson_01() -> None:
    text = words("01")
    shipped = recipe("c")
    bold = recipe("c", rule=ng.Rule(context_sum=(1, 1, 1, 1)))
    assert f"gets {bold.drafted} guesses, {bold.accepted} of them right" in text
    assert f"ships them, {shipped.drafted} guesses, {shipped.accepted} right" in text
    assert f"has the sum: {bold.drafted} drafted, {bold.accepted} accepted" in text
    rule = ng.Rule()
    for said, numbers in (("F ≥ aₙ", rule.context_sum), ("pₙ × F", rule.context_percent)):
        assert f"{said} | {' | '.join(map(str, numbers))} |" in text


def test_the_stops_of_lesson_01() -> None:
    said = RECIPE.split()
    for word in (20, 54, 78, 42, 56):
        assert f"Word {word}." in words("01")
    flour = row_of(20, 2)
    assert (flour.sum, flour.min_sum, flour.passes) == (1, 2, False)
    assert step_at(20).token is None
    assert said[19] != "into", "the guess kept back would be wrong"
    eggs = row_of(54, 2)
    assert (eggs.sum, eggs.min_sum, step_at(54).token) == (1, 2, None)
    assert said[53] == "eggs"
    split = row_of(42, 1)
    assert (split.share, split.needed, split.sum) == (300, 330, 5)
    assert (row_of(56, 4).sum, row_of(56, 4).passes) == (1, True)
    sure = row_of(78, 4)
    assert (sure.sum, sure.share, sure.passes) == (1, 100, True)
    ids = {token: word for word, token in zip(said, StepperModel("recipe").story.text, strict=True)}
    assert ids[step_at(78).token or 0] != said[77], "1 of 1, and wrong"


# ---- 03 ------------------------------------------------------------------------------------------


def test_lesson_03() -> None:
    text = words("03")
    counts = copying.copies()
    assert round(counts.copied / counts.guesses) == 7
    assert "each guess costs seven copied followers in the recipe" in text
    call = counts.at(86)
    assert (len(call.copies), call.copied, call.guesses) == (6, 20, 0)
    assert "six look-ups find something, 20 followers are copied, and nothing is drafted" in text
    assert len(dataclasses.fields(ng.Toggles)) == 13
    assert "one switch of thirteen" in text
    upstream, nocopy = (DRAFTING_US[stage][541] for stage in ("upstream", "nocopy"))
    assert f"*{upstream:.0f} µs* for each drafted token. One change brought it down to" in text
    assert f"down to *{nocopy:.1f} µs*" in text
    assert f"{upstream:.0f} to {nocopy:.1f} µs, {upstream / nocopy:.0f} times" in text
    assert f"to constmap is {upstream / FIRST_RUN_CONSTMAP_US:.0f} times" in text


OWN_TEXTS = ("", "one", "a b", "a b c d e f", "a b c a b c a b c", "<b> 👩‍👧 \ud7ff e\u0301 " * 50)


@pytest.mark.parametrize("own", OWN_TEXTS)
def test_copies_along_a_text_of_ones_own(own: str) -> None:
    told = str(copying.copies(own))
    assert told.startswith("Your text: ")
    assert ("was seen before" in told) == ("0 followers for 0 guesses" in told)
    assert ("A recipe: " in told) == ("was seen before" in told), "then another one shows it"


@pytest.mark.parametrize("own", OWN_TEXTS)
def test_savings_on_a_text_of_ones_own(own: str) -> None:
    saved = savings(own)
    assert saved.skipped <= saved.failing <= saved.candidates
    assert str(saved).startswith("your text: ")
    assert ("the recipe: 392" in str(saved)) == (saved.skipped == 0)


def test_the_cells_of_the_lessons_show_it() -> None:
    """What stands between the quotes at first is a text on which it can be seen."""
    for lesson, pattern in (("03", r'copies\("(.+)"\)'), ("08", r'savings\("(.+)"\)')):
        (path,) = (REPO / "notebooks").glob(f"{lesson}_*.ipynb")
        source = "\n".join(cell["source"] for cell in copies.read(path)["cells"])
        (own,) = re.findall(pattern, source)
        assert copying.copies(own).copied > 20
        assert savings(own).skipped > 10
