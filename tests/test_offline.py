"""`make offline`, then a machine without a network: it installs and passes the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import offline
import pytest
from tools import REPO, clean_environment, need, run

import ngram_core as ng

# In a name space of its own there is no network but the loopback, which has to be switched on:
# SIOCSIFFLAGS with IFF_UP.
CUT_OFF = ("unshare", "-rn", sys.executable, "-c")
LOOPBACK = """
import fcntl, os, socket, struct, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", b"lo", 1))
os.execvp(sys.argv[1], sys.argv[1:])
"""
SHORT = ("cli", "merging", "notebooks", "tokenizers", "repository")


def cut_off(*command: str | os.PathLike[str], cwd: Path, seconds: float) -> str:
    return run([*CUT_OFF, LOOPBACK, *command], cwd=cwd, seconds=seconds)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need("unshare")
    allowed = [*CUT_OFF, LOOPBACK, "true"]
    if subprocess.run(allowed, capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine does not let us cut off the network")
    target = tmp_path_factory.mktemp("offline") / "stick"
    offline.collect(target)
    return target


@pytest.mark.slow
def test_the_network_is_cut_off(tmp_path: Path) -> None:
    need("unshare")
    code = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=5)"
    command = [*CUT_OFF, LOOPBACK, sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "unreachable" in done.stderr or "not permitted" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("all_tests", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_a_class_without_a_network(folder: Path, tmp_path: Path, all_tests: bool) -> None:
    where = tmp_path / "a class"
    env = clean_environment()
    assert "PIP_NO_INDEX" not in env
    said = cut_off("sh", folder / "install.sh", where, cwd=tmp_path, seconds=600)
    assert f"{where}/bin/ngram-core lab my-lessons" in said
    stages = cut_off(where / "bin" / "ngram-core", "stages", cwd=tmp_path, seconds=60)
    assert tuple(stages.split()) == tuple(ng.STAGES)
    tests = [] if all_tests else [f"tests/test_{name}.py" for name in SHORT]
    python = where / "bin" / "python"
    out = cut_off(python, "-m", "pytest", "-q", *tests, cwd=folder / "ngram-core", seconds=1800)
    assert " passed" in out
    assert not (folder / "ngram-core" / ".git").exists()
    assert (REPO / "tests" / "offline_install.sh").read_text() == (
        folder / "install.sh"
    ).read_text()
