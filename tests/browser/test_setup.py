"""What readers start with, in places of their own: Binder, `make lab`, an installed wheel.

Each ends with the first lesson on the screen, run, and its Stepper drawn by the engine.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest
from binder_replay import copy_repository, replay, wanted_python
from tools import (
    ENGINE_TESTS,
    REPO,
    SHORT,
    committed_files,
    need,
    new_venv,
    other_pythons,
    pip_install,
    run,
)

from .lesson import App, Lesson
from .server import JupyterServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FIRST = "00_start_here.ipynb"


@pytest.fixture(scope="module", autouse=True)
def _no_import_of_the_checkout() -> Iterator[None]:
    """What is installed must do without the environment that runs these tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("PYTHONPATH", "VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL"):
            patch.delenv(name, raising=False)
        yield


@contextlib.contextmanager
def opened(
    chromium: Browser, server: JupyterServer, path: str, app: App = "lab", width: int = 1280
) -> Iterator[Lesson]:
    """The lesson where it lies, in a fresh browser; no settings but the server's own."""
    context = chromium.new_context(viewport={"width": width, "height": 900})
    try:
        lesson = Lesson(context.new_page(), server, path, app)
        lesson.open()
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


def test_make_lab(chromium: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a fresh copy, with a home of its own; then once more, after a change to the engine."""
    need("make", "sh")
    checkout = copy_repository(tmp_path / "a copy")  # with a blank in its path
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PIP_CACHE_DIR", os.environ.get("PIP_CACHE_DIR") or pip_cache())
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    for turn in ("first", "second"):
        home = tmp_path / turn
        server = JupyterServer(home, ["make", "lab"], cwd=checkout, own=True, seconds=300)
        try:
            address = f":{server.port}/lab/tree/notebooks/{FIRST}?token="
            log = server.log.read_text()
            assert address in log
            assert "Open one of the addresses below" in log
            assert ("Installing" in log) is (turn == "first")
            assert ("compiling" in log) is (turn == "second")
            with opened(chromium, server, f"notebooks/{FIRST}") as lesson:
                draws_the_stepper(lesson)
        finally:
            server.stop()
        (checkout / "csrc" / "ngc.h").touch()


def pip_cache() -> str:
    return run([sys.executable, "-m", "pip", "cache", "dir"]).strip().splitlines()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the source distribution, which is built from a copy: as for publishing."""
    folder = tmp_path_factory.mktemp("wheel")
    repo = copy_repository(folder / "repo")
    run([sys.executable, "-m", "build", "--outdir", folder / "dist", repo])
    (built,) = (folder / "dist").glob("*.whl")
    return built


def test_the_wheel_is_whole(wheel: Path) -> None:
    assert re.fullmatch(r"ngram_core-[\d.]+-cp310-abi3-\w+\.whl", wheel.name)
    names = set(ZipFile(wheel).namelist())
    for folder, inside in (("notebooks", "ngram_core/_lessons"), ("ngram_core", "ngram_core")):
        for path in committed_files():
            if path.is_relative_to(REPO / folder):
                expected = f"{inside}/{path.relative_to(REPO / folder).as_posix()}"
                assert expected in names, f"{expected} is not in the wheel"
    foreign = {n for n in names if not n.startswith(("ngram_core/", "ngram_core-"))}
    assert foreign == set()


def test_an_installed_wheel_draws_a_stepper(chromium: Browser, wheel: Path, tmp_path: Path) -> None:
    """Far from the repository, by `ngram-core lab FOLDER`."""
    venv = new_venv(tmp_path / "env")
    pip_install(venv, f"{wheel}[lab]", cwd=tmp_path)
    where = run([venv, "-c", "import ngram_core; print(ngram_core.__file__)"], cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(tmp_path / "env")
    command = [venv.parent / "ngram-core", "lab", "lessons"]
    server = JupyterServer(tmp_path / "jupyter", command, cwd=tmp_path, own=True)
    try:
        with opened(chromium, server, FIRST) as lesson:
            draws_the_stepper(lesson)
        assert (tmp_path / "lessons" / FIRST).is_file()
    finally:
        server.stop()


@pytest.mark.parametrize("version", [f"3.{minor}" for minor in range(10, 15)])
def test_the_wheel_on_other_pythons(wheel: Path, version: str, tmp_path: Path) -> None:
    """One wheel for all of them: the stable ABI."""
    python = other_pythons().get(version)
    if python is None or version == f"{sys.version_info[0]}.{sys.version_info[1]}":
        pytest.skip("this is what all tests run on" if python else f"there is no Python {version}")
    venv = new_venv(tmp_path / "env", python)
    pip_install(venv, wheel, "pytest", "hypothesis", "psutil", cwd=tmp_path)
    shutil.copytree(REPO / "tests", tmp_path / "tests")
    shutil.copy(REPO / "pyproject.toml", tmp_path)
    tests = [Path("tests", path.name) for path in ENGINE_TESTS]
    out = run([venv, "-m", "pytest", *SHORT, *tests], cwd=tmp_path, seconds=900)
    assert f"ngram_core: {tmp_path}/env" in out
