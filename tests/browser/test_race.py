"""Lesson 09's race as a reader uses it: real JupyterLab, real keys, real runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .lesson import App, Lesson

Open = Callable[..., Lesson]

SHOW = """
from ngram_core.views import Race
race = Race(text_tokens=1_000, runs=1, stages=("upstream", "nocopy", "precheck"))
race.show()
"""


def opened(open_notebook: Open, more: str = "", **how: Any) -> Lesson:
    lesson = open_notebook([SHOW, more], new_kernel=True, **how)
    lesson.run_cell(0)
    lesson.wait_plots("race", "Memory by structure")
    return lesson


def rows(lesson: Lesson, at_least: int) -> None:
    lesson.page.wait_for_function(
        "n => document.querySelectorAll('.figures tbody th').length >= n",
        arg=at_least,
        timeout=60_000,
    )


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_with_keys_alone(open_notebook: Open, app: App) -> None:
    lesson = opened(open_notebook, app=app)
    n_cells = len(lesson.code_cells())
    page = lesson.page
    lesson.find("button[data-name=start]").focus()
    lesson.press("Enter")
    rows(lesson, 1)
    assert page.evaluate("document.activeElement.dataset.name") == "start", "focus stays"

    lesson.press("Tab", "Enter")  # Pause
    lesson.wait_value("race.race.state", "paused", 5)
    assert lesson.text("button[data-name=start]") == "▶ Resume"
    lesson.press("Shift+Tab", "Enter")  # Resume
    lesson.wait_value("race.race.state == 'paused'", False, 5)

    lesson.press("Tab", "Tab", "Enter")  # Stop
    lesson.wait_value("race.race.state in ('stopped', 'done')", True, 10)
    kept = lesson.value("race.result.n_runs")
    assert kept >= 1
    lesson.wait_value("race.pump.running", False, 5)

    lesson.find("[data-field=largest_mb] input >> nth=1").focus()
    lesson.press("ArrowLeft")  # none
    lesson.wait_value("race.race.choice.largest_mb", 0)
    assert lesson.text(".moved") == "What is chosen now is raced at the next Start."
    lesson.find("button[data-name=start]").focus()
    lesson.press("Enter")
    lesson.wait_value("race.race.state", "done")
    page.wait_for_function("document.querySelector('.light').dataset.kind === 'same'")
    page.wait_for_function("document.querySelector('.left').textContent.startsWith('all 4 runs')")
    assert lesson.text(".words").startswith("Without a static cache precheck takes")
    assert len(lesson.code_cells()) == n_cells, "no key went to the notebook"
    said = lesson.value("race.describe()")
    assert lesson.text(".words") in said
    for note in page.locator(".notes li").all_inner_texts():
        assert note in said
    assert lesson.axe(".ngram-live") == []


def test_the_report_is_downloaded_and_saved(open_notebook: Open) -> None:
    lesson = opened(open_notebook)
    assert not lesson.page.locator(".report").is_visible()
    lesson.kernel("race.race.choose(largest_mb=0); race.run()", 60)
    for kind, begin in (("html", "<!doctype html>"), ("markdown", "# A race"), ("json", "{")):
        with lesson.page.expect_download() as arriving:
            lesson.find(f"button[data-kind={kind}]").press("Enter")
        path = Path(arriving.value.path())
        assert path.read_text(encoding="utf-8").startswith(begin)
        assert arriving.value.suggested_filename.startswith("race-")
    lesson.page.click(".report button:has-text('Save')")
    said = lesson.find(".report .hint:not(:empty)").inner_text()
    names = said.removeprefix("Saved beside the notebook: ").rstrip(".").split(", ")
    folder = lesson.server.root / Path(lesson.path).parent
    assert [(folder / name).is_file() for name in names] == [True] * 3


def test_a_corpus_of_the_readers_own(open_notebook: Open) -> None:
    lesson = opened(open_notebook)
    field = lesson.find(".own input")
    field.fill("no <b>such</b> file")
    field.press("Enter")
    lesson.wait_value("race.race.choice.corpus", "no <b>such</b> file")
    lesson.page.click("button[data-name=start]")
    lesson.wait_value("race.race.state", "failed")
    lesson.page.wait_for_function(
        "document.querySelector('.words').innerText.includes('there is no corpus')"
    )
    field.fill("")
    lesson.page.click(".own button")
    assert "no corpus is named" in lesson.find(".board .error:not(:empty)").inner_text().lower()


@pytest.mark.parametrize(
    ("app", "looks"), [("lab", [(1280, True), (360, False)]), ("notebook", [(360, True)])]
)
def test_any_width_and_theme(open_notebook: Open, app: App, looks: list[tuple[int, bool]]) -> None:
    lesson = opened(open_notebook, app=app, height=2400, reduced_motion=True)
    lesson.kernel("race.run()", 60)
    rows(lesson, 8)
    for width, dark in looks:
        lesson.dress(width, dark)
        looks_right(lesson, dark)
        assert moving(lesson) == [], "less motion was asked for"
        name = f"race-{app}-{width}-{'dark' if dark else 'light'}"
        lesson.screenshot(name, ".ngram-live")


def looks_right(lesson: Lesson, dark: bool) -> None:
    for part in (".board", ".figures"):
        assert lesson.overflow(part) == 0
    lesson.wait_plots_fit()
    lesson.wait_plots_ink(dark)
    assert lesson.overlaps(".ngram-live") == []
    assert lesson.axe(".ngram-live") == []


def moving(lesson: Lesson) -> list[str]:
    """Parts of the board that would move by themselves."""
    found: list[str] = lesson.page.evaluate(
        """() => [...document.querySelectorAll('.board, .board *')]
            .filter((e) => [null, '::before', '::after'].some((part) => {
                const style = getComputedStyle(e, part);
                return parseFloat(style.transitionDuration) || parseFloat(style.animationDuration);
            })).map((e) => e.className || e.tagName)"""
    )
    return found


def test_running_the_cell_again_leaves_nothing(open_notebook: Open) -> None:
    lesson = opened(open_notebook, more=SHOW)
    before = lesson.left()
    assert (before["figures"], before["boards"], before["pumps"]) == (1, 1, 0)
    lesson.page.click("button[data-name=start]")
    rows(lesson, 1)
    lesson.run_cell(0)  # in the middle of the race
    lesson.wait_plots("race", "Memory by structure")
    assert lesson.left() == before
    assert lesson.page.locator(".board").count() == 1
    lesson.page.click("button[data-name=start]")
    rows(lesson, 1)
    lesson.run_cell(1)  # another race, in another cell, in the middle of this one
    lesson.page.wait_for_function("document.querySelectorAll('.board').length === 1")
    lesson.wait_plots("race", "Memory by structure")
    assert lesson.left() == before
