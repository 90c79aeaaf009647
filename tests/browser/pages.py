"""Notebooks opened in pages of a browser; a page that was left well is used again."""

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
    """Opens notebooks in pages of a browser.

    A page outlives its test, one for each app, since a JupyterLab takes seconds to start. The next
    test of the same cells gets it with its outputs cleared, and need not wait for a kernel and
    plotly either; for another notebook the lab opens another tab, with a kernel of its own.
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
        new_kernel: bool = False,
        new_page: bool = False,
    ) -> Lesson:
        opened = self._kept.pop(app, None)
        again = (
            opened is not None
            and not (new_kernel or new_page)
            and opened.what == what
            and opened.lesson.is_whole(what)
        )
        if opened is not None and (new_page or (app == "notebook" and not again)):
            self._close(opened)
            opened = None
        if opened is None:
            opened = Opened(self._new_page(app), what)
        self._in_use.append(opened)
        lesson = opened.lesson
        lesson.look(Look(width, height, dark, reduced_motion))
        if again:
            lesson.renew()
        else:
            opened.what = what
            lesson.open(place(what, lesson.server.root))
            self._clean(lesson.server)
        lesson.take_theme(dark)
        return lesson

    def end_test(self, failed: bool = False) -> None:
        """Keeps what the next test may use, closes the rest; fails on what pages complained of."""
        errors = [error for opened in self._in_use for error in opened.lesson.errors]
        while self._in_use:
            opened = self._in_use.pop(0)
            app = opened.lesson.app
            if failed or errors or app in self._kept or not opened.lesson.is_usable():
                self._close(opened)
            else:
                self._kept[app] = opened
        assert not errors, "\n".join(errors)

    def close(self) -> None:
        for opened in (*self._in_use, *self._kept.values()):
            self._close(opened)

    def _new_page(self, app: App) -> Lesson:
        return Lesson(self._chromium.new_context().new_page(), self._server_for(app), app)

    def _close(self, opened: Opened) -> None:
        opened.lesson.page.context.close()
        self._clean(opened.lesson.server)

    def _clean(self, server: JupyterServer) -> None:
        """Ends the kernels that no page here has."""
        pages = (*self._in_use, *self._kept.values())
        server.clean(but={opened.lesson.path for opened in pages})


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
