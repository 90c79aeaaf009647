"""Lesson 08's views: rows that are checked, and cache lines, by keys, in both apps and themes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .lesson import App, Lesson

Open = Callable[..., Lesson]

SHOW = "from ngram_core.views import BarTable, Check, Lines\ncheck = Check(); check.show()"
LINES = "lines = Lines(word=82); lines.show()"
BARS = """from ngram_core.lesson.checking import counts
BarTable(counts.share_bars()).show()"""
CHECK, GRID = '[data-view="check"]', '[data-view="lines"]'


def opened(open_notebook: Open, **how: object) -> Lesson:
    lesson = open_notebook([SHOW, LINES, BARS], **how)
    lesson.run_all()
    lesson.find(CHECK).focus()
    return lesson


def same(lesson: Lesson, view: str, name: str) -> str:
    """The sentence on the page, which must be the one that the kernel would say."""
    shown = " ".join(lesson.page.locator(f"{view} .words").inner_text().split())
    lesson.page.wait_for_timeout(400)
    told = lesson.kernel(f"print({name}.describe().splitlines()[-1])").split(": ", 1)[1]
    assert shown == " ".join(told.split())
    return shown


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_rows_by_keys(open_notebook: Open, app: App) -> None:
    lesson = opened(open_notebook, app=app)
    assert "300 < 330" in same(lesson, CHECK, "check")
    assert lesson.page.locator(f"{CHECK} .fol1").count() == 3
    lesson.press("ArrowRight")
    assert "bake wins with 2 × 200" in same(lesson, CHECK, "check")
    lesson.press("End")
    assert "3 of them not scored" in same(lesson, CHECK, "check")
    cells = len(lesson.code_cells())
    lesson.press("a", "x", "d", "d")  # the notebook's own shortcuts
    assert len(lesson.code_cells()) == cells
    lesson.page.locator(f"{CHECK} .chips button", has_text="82").press("Enter")
    assert "fails: 100 < 150" in same(lesson, CHECK, "check")
    assert lesson.page.locator(f"{CHECK} .best .t").inner_text().startswith("into")


def test_lines_by_keys(open_notebook: Open) -> None:
    lesson = opened(open_notebook)
    lesson.find(GRID).focus()
    assert "lines in all" in same(lesson, GRID, "lines")
    lesson.press("Home")
    assert same(lesson, GRID, "lines").startswith("static n = 2, look up the n-gram: 3 cells")
    assert lesson.page.locator(f"{GRID} li.now").count() > 0
    precheck = lesson.page.locator(f"{GRID} li:not(.none)").count()
    lesson.page.locator(f"{GRID} .chips button", has_text="upstream").press("Enter")
    assert same(lesson, GRID, "lines").startswith("upstream:")
    assert lesson.page.locator(f"{GRID} li:not(.none)").count() > precheck


@pytest.mark.parametrize(
    ("app", "looks"), [("lab", [(1280, False), (360, False)]), ("notebook", [(360, True)])]
)
def test_looks_and_axe(open_notebook: Open, app: App, looks: list[tuple[int, bool]]) -> None:
    lesson = opened(open_notebook, app=app, reduced_motion=True)
    for width, dark in looks:
        lesson.dress(width, dark)
        for i, view in enumerate((CHECK, GRID, ".bars")):
            lesson.find(view)
            assert lesson.overflow(view) <= 0
            assert lesson.axe(view) == []
            lesson.screenshot(f"checking-{app}-{width}-{i}")
