"""`make offline`, then a machine without a network: it installs and passes the tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from cut_off import CUT_OFF, allowed, cut_off
from tools import REPO, clean_environment

import ngram_core as ng

SHORT = [f"tests/test_{name}.py" for name in ("cli", "merging", "notebooks", "tokenizers")]
# A solution asks for nothing that its lesson does not; nor do lessons that have the recipe alone;
# nor does one draft more than another.
TOYS = "(runs_whole and (01_ or 02_ or 04_ or 08_))"
SHORT += ["tests/test_repository.py", "-k", f"not (solutions or drafts_what_llama or {TOYS})"]


def need_no_network() -> None:
    if not allowed():
        pytest.skip("this machine does not let us cut off the network")


@pytest.mark.slow
def test_the_network_is_cut_off(tmp_path: Path) -> None:
    need_no_network()
    code = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=5)"
    command = [*CUT_OFF, "python3", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "unreachable" in done.stderr or "not permitted" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("all_tests", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_a_class_without_a_network(classroom: Path, tmp_path: Path, all_tests: bool) -> None:
    """It was installed cut off, where that can be done; so are its commands run."""
    need_no_network()
    stick, where = classroom / "stick", classroom / "a class"
    assert "PIP_NO_INDEX" not in clean_environment()
    assert f"{where}/bin/ngram-core lab my-lessons" in (classroom / "said").read_text()
    stages = cut_off(where / "bin" / "ngram-core", "stages", cwd=tmp_path, seconds=60)
    assert tuple(stages.split()) == tuple(ng.STAGES)
    tests = [] if all_tests else SHORT
    python = where / "bin" / "python"
    a_class = ("env", "-u", "NGRAM_SOAK", python)  # it runs the quick tier, as quickly
    out = cut_off(*a_class, "-m", "pytest", "-q", *tests, cwd=stick / "ngram-core", seconds=3600)
    assert " passed" in out
    assert not (stick / "ngram-core" / ".git").exists()
    assert (REPO / "tests" / "offline_install.sh").read_text() == (stick / "install.sh").read_text()
