"""How much memory there is: the limits of containers and of a process are read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ngram_core import machine

MB = 1 << 20

LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (900 << 20, 900 << 20))
from ngram_core import machine
print(machine.memory_limit_bytes(), machine.memory_free_bytes())
"""


@pytest.mark.parametrize(
    "files",
    [
        {"memory.max": 300 * MB, "memory.current": 100 * MB},
        {"memory/memory.limit_in_bytes": 300 * MB, "memory/memory.usage_in_bytes": 100 * MB},
    ],
    ids=["cgroup v2", "cgroup v1"],
)
def test_a_container_s_limit(
    files: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, number in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{number}\n")
    monkeypatch.setattr(machine, "_CGROUP", tmp_path)
    assert machine.memory_limit_bytes() == 300 * MB
    free = machine.memory_free_bytes()
    assert free is not None
    assert free <= 200 * MB


@pytest.mark.parametrize("written", ["max\n", f"{2**63 - 4096}\n", "", "?"])
def test_no_limit(written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "memory.max").write_text(written)
    before = machine.memory_limit_bytes()
    monkeypatch.setattr(machine, "_CGROUP", tmp_path)
    after = machine.memory_limit_bytes()
    assert before is not None
    assert after is not None
    assert after >= before


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
def test_a_process_s_own_limit() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED], capture_output=True, text=True, check=True
    )
    limit, free = map(int, done.stdout.split())
    assert limit == 900 * MB
    assert 0 < free < limit
