"""`make lab`, as a newcomer runs it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tools import QUICK_BUILD, QUICK_PIP, copy_repository, need, run

from .first_lesson import FIRST, draws_the_stepper, opened
from .server import JupyterServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_make_lab(chromium: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a fresh copy, with a home of its own; then once more, after a change to the engine."""
    need("make", "sh")
    checkout = copy_repository(tmp_path / "a copy")  # with a blank in its path
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PIP_CACHE_DIR", os.environ.get("PIP_CACHE_DIR") or pip_cache())
    for name, value in {**QUICK_PIP, **QUICK_BUILD}.items():
        monkeypatch.setenv(name, value)
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
