"""What runs on GitHub alone: its files fit their schema, and all that they name is here."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from tools import REPO, run

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

pytestmark = pytest.mark.slow

WORKFLOWS = sorted((REPO / ".github" / "workflows").glob("*.yml"))
SETTINGS = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))


def loaded(path: Path) -> dict[Any, Any]:
    yaml = pytest.importorskip("yaml")
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


def commands(path: Path) -> list[str]:
    jobs = loaded(path)["jobs"].values()
    return [step["run"] for job in jobs for step in job["steps"] if "run" in step]


def test_they_are_here() -> None:
    assert {path.stem for path in WORKFLOWS} == {"tests", "wheels", "binder"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_they_fit_the_schema(path: Path) -> None:
    pytest.importorskip("check_jsonschema")
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    run([*check, "vendor.github-workflows", path])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_their_commands_can_be_run(path: Path) -> None:
    """Each make has its target, and each file of ours is one that git has."""
    targets = set(re.findall(r"^([a-z]+):", (REPO / "Makefile").read_text(), re.M))
    lines = commands(path)
    assert lines
    for line in lines:
        assert set(re.findall(r"\bmake ([a-z]+)", line)) <= targets
        for word in line.split():
            if re.match(r"(\.ci|notebooks|tests|binder|csrc|ngram_core)/", word):
                assert (REPO / word).exists(), word
    assert os.access(REPO / ".ci" / "run", os.X_OK)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_starts_them_is_here(path: Path) -> None:
    started = loaded(path)[True]  # YAML reads a bare `on` as true
    for pattern in (started.get("pull_request") or {}).get("paths", []):
        assert list(REPO.glob(pattern)), pattern


def test_one_wheel_is_for_all_pythons() -> None:
    settings = SETTINGS["tool"]["cibuildwheel"]
    oldest = SETTINGS["project"]["requires-python"].removeprefix(">=").replace(".", "")
    assert settings["build"] == f"cp{oldest}-*"
    assert f'"py_limited_api": "cp{oldest}"' in (REPO / "setup.py").read_text()
    tests = re.findall(r"\{project\}/(\S+)", settings["test-command"])
    assert tests
    for name in tests:
        assert (REPO / name).is_file(), name
