"""The views of the inside as a reader uses them: real JupyterLab, real keys."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from .lesson import App, Lesson

Open = Callable[..., Lesson]


@dataclass(frozen=True)
class Shown:
    """A view, what makes it, and a choice that is not made at first."""

    name: str
    make: str
    choice: str


VIEWS = (
    Shown("followers", "Followers(FollowersModel(sizes=(1,)))", "1 MB of Python’s source"),
    Shown("lookup", "TableView()", "stir and stir and"),
    Shown("growth", "Growth()", "thirty followers each"),
    Shown("search", "Search()", "the last"),
    Shown("searchtimes", "SearchTimes(TimesModel((1, 4, 16, 64), 2))", "one key, again and again"),
    Shown("arrival", "Arrival()", "falling"),
)

IMPORTS = """
from ngram_core.views import *
from ngram_core.lesson.followers.curve import FollowersModel
from ngram_core.lesson.searches.times import TimesModel
"""

by_name = pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)


def opened(open_notebook: Open, view: Shown, **how: Any) -> Lesson:
    lesson = open_notebook([f"{IMPORTS}view = {view.make}\nview.show()"], **how)
    lesson.run_cell(0)
    lesson.find(f"[data-view={view.name}] .picture")
    return lesson


def text(lesson: Lesson, selector: str) -> str:
    return " ".join(lesson.page.locator(selector).first.inner_text().split())


def told(lesson: Lesson) -> str:
    """What the kernel says of the view, in one line."""
    return " ".join(lesson.kernel("print(view.describe())").split())


@by_name
@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_with_keys_alone(open_notebook: Open, view: Shown, app: App) -> None:
    lesson = opened(open_notebook, view, app=app)
    cells = len(lesson.code_cells())
    frame = lesson.find(f"[data-view={view.name}]")
    frame.focus()
    lesson.press("Home")
    begun = text(lesson, ".inside .words")
    assert lesson.page.locator(".inside button:has-text('Back')").is_disabled()
    lesson.press("ArrowRight")
    assert text(lesson, ".inside .words") != begun
    lesson.page.wait_for_timeout(500)
    assert json.loads(lesson.kernel("import json; print(json.dumps(view.model.at))")) == 1
    assert text(lesson, ".inside .words") in told(lesson), "page and describe() say the same"
    lesson.press("ArrowLeft")
    assert text(lesson, ".inside .words") == begun
    lesson.press("End")
    assert lesson.page.locator(".inside button:has-text('Next')").is_disabled()

    chip = lesson.find(f".inside .chips button:text-is('{view.choice}')")
    assert chip.get_attribute("aria-pressed") == "false"
    chip.focus()
    lesson.press("Enter")
    assert chip.get_attribute("aria-pressed") == "true"
    lesson.page.wait_for_timeout(500)
    assert view.choice in told(lesson)
    assert text(lesson, ".inside .words") in told(lesson)
    assert len(lesson.code_cells()) == cells, "no key went to the notebook"
    assert lesson.axe(".inside") == []


@by_name
def test_it_steps_without_a_kernel(open_notebook: Open, view: Shown) -> None:
    lesson = opened(open_notebook, view)
    lesson.command("kernelmenu:shutdown")
    lesson.page.wait_for_timeout(500)
    lesson.find(f"[data-view={view.name}]").focus()
    lesson.press("Home")
    begun = text(lesson, ".inside .words")
    lesson.press("ArrowRight")
    assert text(lesson, ".inside .words") != begun
    lesson.errors.clear()  # the lab itself complains of the kernel that is gone


@by_name
@pytest.mark.parametrize(
    ("app", "width", "dark"),
    [("lab", 1280, False), ("lab", 360, False), ("notebook", 360, True)],
)
def test_any_width_and_theme(
    open_notebook: Open, view: Shown, app: App, width: int, dark: bool
) -> None:
    lesson = opened(
        open_notebook, view, app=app, width=width, dark=dark, height=1600, reduced_motion=True
    )
    lesson.page.click(f".inside .chips button:text-is('{view.choice}')")
    assert lesson.overflow(".inside") == 0
    assert lesson.overflow(".inside .picture") == 0
    assert lesson.axe(".inside") == []
    lesson.screenshot(f"{view.name}-{app}-{width}-{'dark' if dark else 'light'}", ".inside")


def test_a_text_of_the_readers_own(open_notebook: Open) -> None:
    lesson = opened(open_notebook, VIEWS[0])
    field = lesson.find(".ask textarea")
    field.fill("one")
    lesson.page.click(".ask button")
    assert "three words" in lesson.find(".ask .line.no").inner_text()
    field.fill("a <b>b</b> 👩‍👧 a <b>b</b> c")
    field.press("Control+Enter")
    assert lesson.find(".ask .line.yes").inner_text().startswith("3 2-grams with 4 followers")
    assert "In your text" in text(lesson, ".inside .words")
    assert "In your text" in told(lesson)
