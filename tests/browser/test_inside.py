"""The views of the inside as a reader uses them: real JupyterLab, real keys."""

from __future__ import annotations

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


def opened(open_notebook: Open, app: App = "lab", **how: Any) -> Lesson:
    """All views in one notebook, a cell each, each under its own name in the kernel."""
    cells = [f"{view.name} = {view.make}\n{view.name}.show()" for view in VIEWS]
    lesson = open_notebook([IMPORTS, *cells], app=app, **how)
    lesson.run_all()
    return lesson


def frame(lesson: Lesson, view: Shown) -> str:
    """Scrolls to a view and returns the selector of its frame."""
    lesson.cell_output(1 + VIEWS.index(view))
    selector = f"[data-view={view.name}]"
    lesson.find(f"{selector} .picture")
    return selector


def told(lesson: Lesson, view: Shown) -> str:
    """What the kernel says of the view, in one line."""
    return " ".join(lesson.kernel(f"print({view.name}.describe())").split())


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_with_keys_alone(open_notebook: Open, app: App) -> None:
    lesson = opened(open_notebook, app)
    cells = len(lesson.code_cells())
    for view in VIEWS:
        keys_alone(lesson, view, frame(lesson, view))
    assert len(lesson.code_cells()) == cells, "no key went to the notebook"


def keys_alone(lesson: Lesson, view: Shown, inside: str) -> None:
    lesson.find(inside).focus()
    lesson.press("Home")
    assert lesson.has_a_ring()
    begun = lesson.text(f"{inside} .words")
    assert lesson.page.locator(f"{inside} button:has-text('Back')").is_disabled()
    lesson.press("ArrowRight")
    assert lesson.text(f"{inside} .words") != begun, view.name
    lesson.wait_value(f"{view.name}.model.at", 1, 5)
    assert lesson.text(f"{inside} .words") in told(lesson, view), "page and kernel say the same"
    lesson.press("ArrowLeft")
    assert lesson.text(f"{inside} .words") == begun
    lesson.press("ArrowRight")
    lesson.find(f"{inside} button:has-text('Back')").focus()
    lesson.press("Enter")  # the button cannot be pressed any more: its frame has the focus
    assert lesson.page.evaluate("document.activeElement.dataset.view") == view.name
    lesson.press("Escape")
    assert lesson.in_command_mode(), "Escape leads back to the notebook"
    lesson.find(inside).focus()
    lesson.press("End")
    assert lesson.page.locator(f"{inside} button:has-text('Next')").is_disabled()

    chip = lesson.find(f"{inside} .chips button:text-is('{view.choice}')")
    assert chip.get_attribute("aria-pressed") == "false"
    chip.focus()
    lesson.press("Enter")
    assert chip.get_attribute("aria-pressed") == "true"
    lesson.wait_value(f"{view.choice!r} in {view.name}.describe()", True, 5)
    assert lesson.text(f"{inside} .words") in told(lesson, view)
    assert lesson.axe(inside) == []


@pytest.mark.parametrize(
    ("app", "looks"), [("lab", [(1280, False), (360, False)]), ("notebook", [(360, True)])]
)
def test_any_width_and_theme(open_notebook: Open, app: App, looks: list[tuple[int, bool]]) -> None:
    lesson = opened(open_notebook, app, height=1600, reduced_motion=True)
    for view in VIEWS:
        lesson.page.click(f"{frame(lesson, view)} .chips button:text-is('{view.choice}')")
    for width, dark in looks:
        lesson.dress(width, dark)
        for view in VIEWS:
            inside = frame(lesson, view)
            assert lesson.overflow(inside) == 0, view.name
            assert lesson.overflow(f"{inside} .picture") == 0, view.name
            assert lesson.overlaps(inside) == [], view.name
            assert lesson.axe(inside) == [], view.name
            lesson.screenshot(f"{view.name}-{app}-{width}-{'dark' if dark else 'light'}", inside)


def test_they_step_without_a_kernel(open_notebook: Open) -> None:
    lesson = opened(open_notebook)
    lesson.command("kernelmenu:shutdown")
    lesson.page.wait_for_timeout(500)
    for view in VIEWS:
        inside = frame(lesson, view)
        lesson.find(inside).focus()
        lesson.press("Home")
        begun = lesson.text(f"{inside} .words")
        lesson.press("ArrowRight")
        assert lesson.text(f"{inside} .words") != begun, view.name
    lesson.page.wait_for_timeout(1000)  # the last place is told later than it is shown
    lesson.errors.clear()  # the lab itself complains of the kernel that is gone


def test_a_text_of_the_readers_own(open_notebook: Open) -> None:
    lesson = open_notebook([IMPORTS, f"followers = {VIEWS[0].make}\nfollowers.show()"])
    lesson.run_all()
    field = lesson.find(".ask textarea")
    field.fill("one")
    lesson.page.click(".ask button")
    assert "three words" in lesson.find(".ask .line.no").inner_text()
    field.fill("a <b>b</b> 👩‍👧 a <b>b</b> c")
    field.press("Control+Enter")
    assert lesson.find(".ask .line.yes").inner_text().startswith("3 2-grams with 4 followers")
    assert "In your text" in lesson.text(".inside .words")
    assert "In your text" in told(lesson, VIEWS[0])
