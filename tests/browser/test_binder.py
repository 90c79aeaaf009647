"""Binder, replayed without Docker: both links of the badge end with a Stepper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from binder_replay import replay, wanted_python
from tools import REPO, other_pythons

from .first_lesson import FIRST, draws_the_stepper, opened
from .lesson import App
from .server import JupyterServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def binder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JupyterServer]:
    python = other_pythons().get(wanted_python())
    if python is None:
        pytest.skip(f"Binder's Python {wanted_python()} is not on this machine")
    folder = tmp_path_factory.mktemp("binder")
    venv, repo = replay(folder, python)
    command = [venv, "-m", "notebook"]  # what the image starts, whichever link was clicked
    server = JupyterServer(folder / "jupyter", command, root=repo, cwd=repo, own=True)
    yield server
    server.stop()


@pytest.mark.parametrize(("app", "width"), [("notebook", 360), ("lab", 1280)], ids=["phone", "lab"])
def test_binder(chromium: Browser, binder: JupyterServer, app: App, width: int) -> None:
    with opened(chromium, binder, f"notebooks/{FIRST}", app, width) as lesson:
        draws_the_stepper(lesson)
        lesson.screenshot(f"binder-{app}")
        lesson.run_all()


def test_badge_links_open_what_was_tested() -> None:
    readme = (REPO / "README.md").read_text()
    links = re.findall(r"^\[(\w+)\]: https://mybinder\.org/v2/\S+\?urlpath=(\S+)$", readme, re.M)
    assert dict(links) == {
        "lab": f"lab/tree/notebooks/{FIRST}",
        "phone": f"notebooks/notebooks/{FIRST}",
    }
