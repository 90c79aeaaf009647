"""Notebooks opened in pages of a browser; a page that was used well is used again."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat

from .lesson import App, Lesson, Look
from .server import JupyterServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"

Cells = list[str]


@dataclass
class Opened:
    lesson: Lesson
    what: str | Cells


class Pages:
    """Opens notebooks, each in a browser context of its own.

    A page with cells of a test's own outlives the test: the next one that wants the same cells in
    the same app gets it with its outputs cleared, and need not wait for another page, kernel and
    plotly. No more than one is kept for each app. Lessons are always opened anew.
    """

    def __init__(self, chromium: Browser, server_for: Callable[[App], JupyterServer]) -> None:
        self._chromium = chromium
        self._server_for = server_for
        self._kept: dict[App, Opened] = {}
        self._in_use: list[Opened] = []

    def open(
        self,
        what: str | Cells,
        *,
        app: App = "lab",
        width: int = 1280,
        height: int = 900,
        dark: bool = False,
        reduced_motion: bool = False,
    ) -> Lesson:
        look = Look(width, height, dark, reduced_motion)
        opened = self._kept.pop(app, None)
        if opened is not None and opened.what != what:
            self._close(opened)
            opened = None
        if opened is None:
            opened = Opened(self._new_page(what, app), what)
            self._in_use.append(opened)
            opened.lesson.look(look)
            opened.lesson.open()
            opened.lesson.take_theme(dark)
        else:
            self._in_use.append(opened)
            opened.lesson.renew(look)
        return opened.lesson

    def end_test(self, failed: bool = False) -> None:
        """Keeps what the next test may use, closes the rest; fails on what pages complained of."""
        errors = [error for opened in self._in_use for error in opened.lesson.errors]
        for opened in self._in_use:
            app = opened.lesson.app
            good = not failed and not errors and isinstance(opened.what, list)
            if good and app not in self._kept and opened.lesson.is_whole(opened.what):
                self._kept[app] = opened
            else:
                self._close(opened)
        self._in_use.clear()
        assert not errors, "\n".join(errors)

    def close(self) -> None:
        for opened in (*self._in_use, *self._kept.values()):
            self._close(opened)
        self._in_use.clear()
        self._kept.clear()

    def _new_page(self, what: str | Cells, app: App) -> Lesson:
        server = self._server_for(app)
        page = self._chromium.new_context().new_page()
        return Lesson(page, server, place(what, server.root), app)

    def _close(self, opened: Opened) -> None:
        lesson = opened.lesson
        lesson.page.context.close()
        kept = self._kept.get(lesson.app)
        lesson.server.clean(but=kept.lesson.path if kept else "")


_counter = itertools.count(1)


def place(what: str | Cells, root: Path) -> str:
    """Puts a copy of a lesson, or a notebook of the given cells, below the server's root."""
    folder = root / f"test{next(_counter)}"
    folder.mkdir(parents=True)
    if isinstance(what, str):
        shutil.copytree(NOTEBOOKS, folder, dirs_exist_ok=True)
        assert (folder / what).is_file(), f"there is no notebook {what}"
        return f"{folder.name}/{what}"
    cells: list[Any] = [nbformat.v4.new_code_cell(source) for source in what]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), folder / "cells.ipynb")
    return f"{folder.name}/cells.ipynb"
