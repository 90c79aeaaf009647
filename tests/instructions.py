"""Counts what each stage executes, in millions of instructions: a yardstick without noise.

Valgrind's callgrind counts while a golden text is replayed, so the same build gives the same figure
on any machine, however busy. Instructions are not time: a table that misses the cache less is
faster with as many. The figures in brackets are those of llama.cpp's own code and its author's
variants, counted in the same way.

Usage: instructions.py [STAGE ...]      (needs valgrind and gcc; some minutes a stage)
"""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from golden import GOLDEN, WHY
from tools import BUILD, REPO, run

TEXTS = ("py", "wiki")
FOLDER = BUILD / "instructions"

# The engine's functions behind each figure.
FUNCTIONS = {
    "draft": ["ngc_drafter_draft"],
    "update": ["ngc_drafter_feed"],
    "merge": ["ngc_cache_merge"],
    "load": ["ngc_cache_load_legacy", "ngc_constmap_check"],
}

# Published beside the golden data: draft, update, merge, load; by stage and text.
REFERENCE: dict[str, dict[str, tuple[float, float, float, float]]] = {
    "upstream": {"py": (809, 165, 193, 11.2), "wiki": (3179, 196, 230, 151)},
    "nocopy": {"py": (205, 179, 193, 11.2), "wiki": (276, 206, 229, 151)},
    "outermap": {"py": (207, 157, 186, 11.0), "wiki": (278, 180, 231, 149)},
    "innervector": {"py": (225, 92, 96, 7.5), "wiki": (401, 103, 126, 103)},
    "constmap": {"py": (225, 92, 96, 0.7), "wiki": (398, 103, 126, 8.8)},
    "precheck": {"py": (176, 92, 96, 0.7), "wiki": (171, 103, 126, 8.8)},
}


@dataclass(frozen=True)
class Counted:
    """Millions of instructions, callees included."""

    draft: float
    update: float
    merge: float
    load: float
    output: str  #: what the driver printed: tokens drafted and accepted


def build() -> Path:
    """The driver, compiled as a user's engine is."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    driver = FOLDER / "driver"
    sources = [*sorted((REPO / "csrc").glob("*.c")), REPO / "tests" / "c" / "instructions.c"]
    run(["gcc", "-std=c11", "-O3", "-DNDEBUG", "-Icsrc", "-o", driver, *sources], seconds=900)
    return driver


def count(driver: Path, stage: str, text: str) -> Counted:
    """Replays one golden text with its static cache, n_ctx 4096 and n_draft 8."""
    kind = "constmap" if stage in ("constmap", "precheck") else "legacy"
    static = GOLDEN / f"{text}_corpus.{kind}.cache"
    out = FOLDER / f"{stage}.{text}.callgrind"
    command = ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}"]
    output = run([*command, driver, stage, GOLDEN / f"{text}_test.i32", static], seconds=3600)
    table = run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", out])
    return Counted(*(_millions(table, names) for names in FUNCTIONS.values()), output.strip())


def _millions(table: str, names: list[str]) -> float:
    found = re.findall(rf"^ *([\d,]+) \(.*:({'|'.join(names)})\b", table, re.M)
    return max(int(number.replace(",", "")) for number, _ in found) / 1e6


def main(stages: list[str]) -> None:
    missing = [tool for tool in ("gcc", "valgrind") if shutil.which(tool) is None]
    if missing or not GOLDEN.is_dir():
        sys.exit(f"not installed: {', '.join(missing)}" if missing else WHY)
    driver = build()
    print(f"{'millions of instructions':25}{'draft':>16}{'update':>14}{'merge':>14}{'load':>16}")
    for text in TEXTS:
        for stage in stages:
            got = count(driver, stage, text)
            ours = (got.draft, got.update, got.merge, got.load)
            cells = [f"{x:.4g} ({r:g})" for x, r in zip(ours, REFERENCE[stage][text], strict=True)]
            columns = "".join(f"{c:>{w}}" for c, w in zip(cells, (16, 14, 14, 16), strict=True))
            print(f"{text + ', ' + stage:25}{columns}   {got.output}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or list(REFERENCE))
