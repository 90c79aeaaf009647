"""Fixtures of the browser tests; the package's docstring shows how to use them."""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest

from .server import JupyterServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from .lesson import App, Lesson

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"

CHROMIUM_ARGUMENTS = [
    "--no-sandbox",  # CI runs as root
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--no-first-run",
]


def chromium_path() -> str | None:
    """The browser to drive: $CHROMIUM, or one that is installed."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = (os.environ.get("CHROMIUM"), *map(shutil.which, names))
    return next((path for path in found if path), None)


def missing() -> str | None:
    """Why browser tests cannot run here, or None."""
    for module in ("playwright", "jupyterlab", "notebook", "axe_playwright_python"):
        if importlib.util.find_spec(module) is None:
            return f"{module} is not installed: pip install -e '.[browser]'"
    if chromium_path() is None:
        return "no Chromium was found: install it (apt install chromium) or set CHROMIUM"
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    reason = missing()
    if reason:
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium_path(), args=CHROMIUM_ARGUMENTS
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server_for(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[App], JupyterServer]]:
    """Starts the server of an app when first asked for it; all tests of a run share it.

    One server can serve both apps, but then a page of the lab leaves its path in the page
    configuration of Notebook 7, which fails on it.
    """
    running: dict[App, JupyterServer] = {}

    def server_of(app: App) -> JupyterServer:
        if app not in running:
            home = tmp_path_factory.mktemp(app)
            module = {"lab": "jupyterlab", "notebook": "notebook"}[app]
            running[app] = JupyterServer(home, [sys.executable, "-m", module], root=home / "work")
        return running[app]

    yield server_of
    for server in running.values():
        server.stop()


@pytest.fixture
def open_notebook(
    chromium: Browser, server_for: Callable[[App], JupyterServer]
) -> Iterator[Callable[..., Lesson]]:
    with lessons(chromium, server_for) as opener:
        yield opener


@contextlib.contextmanager
def lessons(
    chromium: Browser, server_for: Callable[[App], JupyterServer]
) -> Iterator[Callable[..., Lesson]]:
    """Gives the function that opens notebooks; checks the pages and cleans up at the end."""
    from .lesson import Lesson

    opened: list[Lesson] = []
    with contextlib.ExitStack() as stack:

        def open_notebook(
            what: str | list[str],
            *,
            app: App = "lab",
            width: int = 1280,
            height: int = 900,
            dark: bool = False,
            reduced_motion: bool = False,
        ) -> Lesson:
            context = chromium.new_context(
                viewport={"width": width, "height": height},
                color_scheme="dark" if dark else "light",
                reduced_motion="reduce" if reduced_motion else "no-preference",
            )
            stack.callback(context.close)
            server = server_for(app)
            lesson = Lesson(context.new_page(), server, place(what, server.root), app)
            opened.append(lesson)
            lesson.open()
            theme = "JupyterLab Dark" if dark else "JupyterLab Light"
            lesson.command("apputils:change-theme", theme=theme)
            return lesson

        yield open_notebook
        errors = [error for lesson in opened for error in lesson.errors]
    for lesson in opened:
        lesson.server.clean()
    assert not errors, "\n".join(errors)


_counter = itertools.count(1)


def place(what: str | list[str], root: Path) -> str:
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
