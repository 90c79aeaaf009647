"""What a reader does first, wherever the lessons were set up: opens lesson 00 and runs a cell."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .lesson import App, Lesson
from .server import JupyterServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FIRST = "00_start_here.ipynb"


@contextlib.contextmanager
def opened(
    chromium: Browser, server: JupyterServer, path: str, app: App = "lab", width: int = 1280
) -> Iterator[Lesson]:
    """The lesson where it lies, in a fresh browser; no settings but the server's own."""
    context = chromium.new_context(viewport={"width": width, "height": 900})
    try:
        lesson = Lesson(context.new_page(), server, app)
        lesson.open(path)
        yield lesson
        assert lesson.errors == []
    finally:
        context.close()
        server.clean()


def draws_the_stepper(lesson: Lesson) -> None:
    lesson.page.wait_for_timeout(2000)  # the news would come now
    assert lesson.page.locator(".jp-toast-message, .Toastify__toast").count() == 0
    lesson.run_cell(0)
    stepper = lesson.find(".stepper")
    before = stepper.inner_text()
    stepper.focus()
    lesson.press("ArrowRight")
    lesson.page.wait_for_timeout(300)
    assert stepper.inner_text() != before, "the arrow key did nothing"
