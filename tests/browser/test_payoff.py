"""Lesson 10's view: stepped by keys, chosen, asked for a text of one's own, in both apps."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .lesson import App, Lesson

Open = Callable[..., Lesson]

SHOW = """from ngram_core.views import Payoff
from ngram_core.lesson.payoff.board import PayoffModel
payoff = Payoff(PayoffModel()); payoff.show()"""
VIEW = '[data-view="payoff"]'


def opened(open_notebook: Open, **how: object) -> Lesson:
    lesson = open_notebook([SHOW], **how)
    lesson.run_all()
    lesson.find(VIEW).focus()
    return lesson


def same(lesson: Lesson) -> str:
    """The sentence on the page, which must be the one that the kernel would say."""
    shown = lesson.text(f"{VIEW} .words")
    lesson.wait_value("payoff.describe().splitlines()[-1].split(': ', 1)[1]", shown)
    return shown


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_by_keys(open_notebook: Open, app: App) -> None:
    lesson = opened(open_notebook, app=app)
    assert "json-lines, up to 8 guesses" in same(lesson)
    lesson.press("ArrowLeft")
    assert "up to 6 guesses" in same(lesson)
    lesson.press("Home")
    assert "without guesses" in same(lesson)
    lesson.press("End")
    assert "up to 16 guesses" in same(lesson)
    lesson.page.locator(f"{VIEW} .chips button", has_text="prose").press("Enter")
    lesson.page.locator(f"{VIEW} .chips button", has_text="price of 5").press("Enter")
    assert "slower than without" in same(lesson)
    assert lesson.page.locator(f"{VIEW} svg[role=img] path.mark.n").count() > 4
    cells = len(lesson.code_cells())
    lesson.find(VIEW).focus()
    lesson.press("a", "x", "d", "d")  # the notebook's own shortcuts
    assert len(lesson.code_cells()) == cells


def test_a_text_of_ones_own(open_notebook: Open) -> None:
    lesson = opened(open_notebook)
    field = lesson.page.locator(f"{VIEW} textarea")
    field.fill("short")
    field.press("Control+Enter")
    lesson.find(f"{VIEW} .line.no")
    assert "give 20 or more" in lesson.text(f"{VIEW} .line")
    field.fill("a line that comes again and again\n" * 6 + "<script>alert(1)</script>")
    field.press("Control+Enter")
    lesson.find(f"{VIEW} .line.yes")
    pressed = lesson.page.locator(f'{VIEW} .chips button[aria-pressed="true"]')
    assert pressed.first.inner_text() == "your text"
    assert same(lesson).startswith("your text, up to 8 guesses")


@pytest.mark.parametrize(
    ("app", "looks"), [("lab", [(1280, False), (360, False)]), ("notebook", [(360, True)])]
)
def test_looks_and_axe(open_notebook: Open, app: App, looks: list[tuple[int, bool]]) -> None:
    lesson = opened(open_notebook, app=app, reduced_motion=True)
    lesson.page.locator(f"{VIEW} summary").press("Enter")
    for width, dark in looks:
        lesson.dress(width, dark)
        assert lesson.overflow(VIEW) <= 0
        assert lesson.overlaps(VIEW) == []
        assert lesson.axe(VIEW) == []
        lesson.screenshot(f"payoff-{app}-{width}", VIEW)
