"""One mapped static cache for a whole class: its pages are in memory once, not once a kernel."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import ngram_core as ng

LEARNERS = 10

# As a kernel would: opens the cache, reads every byte of it, and stays.
LEARNER = """
import sys
import ngram_core as ng
with ng.NgramCache.open(sys.argv[1], ng.PRECHECK.toggles.set(static="ngc"), static=True) as cache:
    cache.check_file()
    print("ready", flush=True)
    sys.stdin.read()
"""


def kilobytes(text: str, name: str) -> int:
    return sum(int(n) for n in re.findall(rf"^{name}:\s+(\d+) kB", text, re.M))


def of_file(pid: int, path: Path) -> str:
    """What smaps says of the places where a process has this file."""
    parts = re.split(
        r"^(?=[0-9a-f]+-[0-9a-f]+ )", Path(f"/proc/{pid}/smaps").read_text(), flags=re.M
    )
    return "".join(part for part in parts if str(path) in part.partition("\n")[0])


@pytest.mark.skipif(
    not Path("/proc/self/smaps_rollup").exists(), reason="only Linux tells proportional memory"
)
@pytest.mark.parametrize(
    "n_tokens", [350_000, pytest.param(7_000_000, marks=pytest.mark.slow)], ids=["small", "large"]
)
def test_ten_kernels_hold_a_tenth_each(
    n_tokens: int, tmp_path: Path, measured: Callable[[str], None]
) -> None:
    path = tmp_path / "class.ngc"
    with ng.BigramCounter() as counter:
        counter.add(np.random.default_rng(6).integers(0, 100_000, n_tokens))
        counter.save(path)
    size = path.stat().st_size / 1024
    assert size > n_tokens / 100  # some 14 bytes a token: 5 and 100 MB
    learners = [
        subprocess.Popen(
            [sys.executable, "-c", LEARNER, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(LEARNERS)
    ]
    try:
        for learner in learners:
            assert learner.stdout is not None
            assert learner.stdout.readline() == "ready\n"
        shares, rests = [], []
        for learner in learners:
            mapped = of_file(learner.pid, path)
            whole = Path(f"/proc/{learner.pid}/smaps_rollup").read_text()
            assert kilobytes(mapped, "Rss") == pytest.approx(size, rel=0.02)
            shares.append(kilobytes(mapped, "Pss"))
            rests.append(kilobytes(whole, "Pss") - shares[-1])
            # The whole process, too, is charged less than a tenth more than without the file.
            assert kilobytes(whole, "Rss") - kilobytes(whole, "Pss") > 0.88 * size
        assert shares == pytest.approx([size / LEARNERS] * LEARNERS, rel=0.02)
        measured(
            f"{LEARNERS} kernels on one cache of {size / 1024:.0f} MB: {max(shares) / 1024:.1f} MB"
            f" of it each, beside {max(rests) / 1024:.0f} MB of their own"
        )
    finally:
        for learner in learners:
            learner.communicate(timeout=60)
