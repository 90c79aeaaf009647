"""One wheel for all Pythons that can be had: the stable ABI."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from tools import BRIEF, ENGINE_TESTS, REPO, SHORT, new_venv, other_pythons, pip_install, run

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("version", [f"3.{minor}" for minor in range(10, 15)])
def test_the_wheel_on_other_pythons(wheel: Path, version: str, tmp_path: Path) -> None:
    python = other_pythons().get(version)
    if python is None or version == f"{sys.version_info[0]}.{sys.version_info[1]}":
        pytest.skip("this is what all tests run on" if python else f"there is no Python {version}")
    venv = new_venv(tmp_path / "env", python)
    pip_install(venv, wheel, "pytest", "hypothesis", "psutil", cwd=tmp_path)
    shutil.copytree(REPO / "tests", tmp_path / "tests")
    shutil.copy(REPO / "pyproject.toml", tmp_path)
    tests = [Path("tests", path.name) for path in ENGINE_TESTS]
    out = run([venv, "-m", "pytest", *SHORT, *tests], cwd=tmp_path, env=BRIEF, seconds=900)
    assert f"ngram_core: {tmp_path}/env" in out
