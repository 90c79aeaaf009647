"""Every lesson, both copies: no error on the page and nothing wider than it.

What a reader gets runs in the lab, where its questions and exercises are answered by keys; its
solution, which has the same views, on the phone; and the first lesson, which a phone opens, on
both, with its answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from .answering import answer_all
from .lesson import App, Lesson, wider
from .pages import NOTEBOOKS

if TYPE_CHECKING:
    from playwright.sync_api import Locator

WIDGET = "application/vnd.jupyter.widget-view+json"

LESSONS = sorted(
    path.relative_to(NOTEBOOKS).as_posix()
    for path in NOTEBOOKS.rglob("*.ipynb")
    if ".ipynb_checkpoints" not in path.parts
)


LAB: tuple[App, int, bool] = ("lab", 1280, False)
PHONE: tuple[App, int, bool] = ("notebook", 360, True)

VISITS = [
    pytest.param(lesson, *how, id=f"{name}-{lesson}")
    for name, how in (("lab", LAB), ("phone", PHONE))
    for lesson in LESSONS
    if (how is PHONE) == lesson.startswith("solutions/") or lesson.startswith("00")
]


def cut(area: Locator) -> int:
    """By how many pixels an output is taller than what is seen of it, if it scrolls in itself."""
    return int(
        area.evaluate(
            "e => getComputedStyle(e).overflowY === 'visible' ? 0 : e.scrollHeight - e.clientHeight"
        )
    )


@pytest.mark.parametrize(("lesson", "app", "width", "dark"), VISITS)
def test_runs_and_shows(
    open_notebook: Callable[..., Lesson], lesson: str, app: App, width: int, dark: bool
) -> None:
    page = open_notebook(lesson, app=app, width=width, dark=dark)
    page.run_all()
    shown = 0
    for index, cell in enumerate(page.code_cells()):
        area = page.cell_output(index)
        if any(WIDGET in output.get("data", {}) for output in cell["outputs"]):
            # the view, not the text that stands in its place
            drawn = area.locator(".jp-OutputArea-output.lm-Panel > .lm-Widget > *").first
            drawn.wait_for(state="visible", timeout=20_000)
            tall = page.settled(lambda here=area: cut(here), 1)
            page.screenshot(f"{lesson.replace('/', '-').removesuffix('.ipynb')}-{app}-{index}")
            assert tall <= 1, f"output {index} stands in a low box"
            shown += 1
        if cell["outputs"]:
            wide = page.settled(lambda here=area: wider(here), 1)
            assert wide <= 1, f"output {index} is wider than the page"
    assert shown > 0
    if not lesson.startswith("solutions/"):
        assert answer_all(page, lesson) >= 2
