"""The wheel, installed far from the repository, has all that the lessons need."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

from tools import REPO, committed_files, run

from .first_lesson import FIRST, draws_the_stepper, opened
from .server import JupyterServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser


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


def test_an_installed_wheel_draws_a_stepper(
    chromium: Browser, classroom: Path, tmp_path: Path
) -> None:
    """Far from the repository, by `ngram-core lab FOLDER`."""
    programs = classroom / "a class" / "bin"
    code = "import ngram_core; print(ngram_core.__file__)"
    where = run([programs / "python", "-c", code], cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(classroom / "a class")
    command = [programs / "ngram-core", "lab", "lessons"]
    server = JupyterServer(tmp_path / "jupyter", command, cwd=tmp_path, own=True)
    try:
        with opened(chromium, server, FIRST) as lesson:
            draws_the_stepper(lesson)
        assert (tmp_path / "lessons" / FIRST).is_file()
    finally:
        server.stop()
