"""Fixtures of the browser tests; the package's docstring shows how to use them."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .server import JupyterServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from .lesson import App, Lesson
    from .pages import Pages

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


@pytest.fixture(scope="session")
def pages(chromium: Browser, server_for: Callable[[App], JupyterServer]) -> Iterator[Pages]:
    from .pages import Pages

    pages = Pages(chromium, server_for)
    yield pages
    pages.close()


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    item.stash[FAILED] = call.excinfo is not None
    return (yield)


@pytest.fixture
def open_notebook(pages: Pages, request: pytest.FixtureRequest) -> Iterator[Callable[..., Lesson]]:
    yield pages.open
    pages.end_test(failed=request.node.stash.get(FAILED, False))
