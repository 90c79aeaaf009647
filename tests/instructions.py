"""Counts what each stage executes, in millions: a yardstick without noise.

Valgrind's callgrind counts while a golden text is replayed, so the same build gives the same figure
on any machine, however busy: instructions by what they are for, with the figures of llama.cpp's own
code and its author's variants in brackets, counted in the same way; then, of drafting and counting,
conditional branches and those that a simple model of a processor mispredicts, and reads and writes
that miss a model of its first cache (32 KB) and of its last (8 MB).
Instructions are not time: a table that misses the cache less is faster with as many.

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
    "merge": ["ngc_cache_merge", "ngc_drafter_end_text_slice"],
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
STAGES = (*REFERENCE, "places")

# Bytes, ways, bytes of a line: the same on every machine.
CACHES = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"]

# Callgrind's events, and what they are added up to.
EVENTS = {
    "branches": ["Bc"],
    "mispredicted": ["Bcm"],
    "first-cache misses": ["D1mr", "D1mw"],
    "last-cache misses": ["DLmr", "DLmw"],
}


@dataclass(frozen=True)
class Counted:
    """Millions, callees included."""

    instructions: dict[str, float]  #: by the keys of FUNCTIONS; those that ran
    events: dict[str, float]  #: of drafting and counting, by the keys of EVENTS
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
    simulated = ["--cache-sim=yes", "--branch-sim=yes", *CACHES]
    command = ["valgrind", "-q", "--tool=callgrind", *simulated, f"--callgrind-out-file={out}"]
    output = run([*command, driver, stage, GOLDEN / f"{text}_test.i32", static], seconds=3600)
    table = run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", out])
    rows = {what: row for what, names in FUNCTIONS.items() if (row := _row(table, names))}
    instructions = {what: row["Ir"] for what, row in rows.items()}
    of_both = {
        what: sum(rows[name][event] for name in ("draft", "update") for event in events)
        for what, events in EVENTS.items()
    }
    return Counted(instructions, of_both, output.splitlines()[-1])


def _row(table: str, names: list[str]) -> dict[str, float]:
    """Every event of the first of these functions that executed most; none: it did not run."""
    (events,) = set(re.findall(r"^Events shown: +(.+)$", table, re.M))
    found = re.findall(rf"^ *(\S.*?) +\S*:(?:{'|'.join(names)})\b", table, re.M)
    rows = [re.sub(r"\([^)]*\)", "", line).replace(",", "").split() for line in found]
    if not rows:
        return {}
    most = max(rows, key=lambda row: int(row[0]))
    numbers = zip(events.split(), most, strict=True)
    return {event: int(number.replace(".", "0")) / 1e6 for event, number in numbers}


def main(stages: list[str]) -> None:
    missing = [tool for tool in ("gcc", "valgrind") if shutil.which(tool) is None]
    if missing or not GOLDEN.is_dir():
        sys.exit(f"not installed: {', '.join(missing)}" if missing else WHY)
    driver = build()
    for text in TEXTS:
        for stage in stages:
            got = count(driver, stage, text)
            print(f"{text}, {stage}: {got.output}")
            wanted = dict(zip(FUNCTIONS, REFERENCE.get(stage, {}).get(text, ()), strict=False))
            for what, millions in got.instructions.items():
                beside = f" ({wanted[what]:g})" if what in wanted else ""
                print(f"  {what:18} {millions:8.4g}{beside}")
            for what, millions in got.events.items():
                print(f"  {what:18} {millions:8.4g}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or list(STAGES))
