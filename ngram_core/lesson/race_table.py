"""The figures of a race as a table in words: every figure that its plots show."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from .. import machine
from ..published import SOURCE
from ..racing import SizeFigures, Spread, StageFigures
from ..racing.tables import loaded_bytes
from .findings import mebibytes, microseconds
from .live_race import LiveRace
from .race_words import (
    cannot_tell,
    corpus_name,
    milliseconds,
    published,
    published_step,
    ratio_words,
)

_GROUPS = [
    ["", 1, ""],
    ["µs per drafted token", 2, ""],
    ["times faster than", 2, ""],
    ["a call, µs", 3, ""],
    ["static cache", 3, ""],
    ["own caches, MiB", 2, ""],
    ["accepted", 1, ""],
    ["published", 4, "pub"],
]
_COLUMNS = [
    ["corpus, stage", ""],
    ["median", ""],
    ["min – max", ""],
    ["the first", ""],
    ["the one before", ""],
    ["p50", ""],
    ["p99", ""],
    ["max", ""],
    ["load, ms", ""],
    ["min – max", ""],
    ["MiB, live / grown", ""],
    ["context", ""],
    ["dynamic", ""],
    ["%", ""],
    ["µs", "pub"],
    ["than before", "pub"],
    ["load, ms", "pub"],
    ["accepted, %", "pub"],
]

_NONE = "–"


def table(x: LiveRace) -> dict[str, Any]:
    """Title, groups and columns as [text, span or style], rows of cells, notes."""
    result = x.result
    rows = [] if result is None else [row for size in result.sizes for row in _rows(size)]
    return {
        "title": "The same figures",
        "groups": _GROUPS,
        "columns": _COLUMNS,
        "rows": [{"cells": cells, "selected": False} for cells in rows],
        "empty": "Nothing is measured yet.",
        "notes": f"{measured_here(x)} {SOURCE} Machines and corpora differ: compare ratios.",
    }


def measured_here(x: LiveRace) -> str:
    """What is measured, how, and on what machine."""
    facts = machine.describe()
    result = x.result
    runs = result.setting.runs if result else x.choice.runs
    text = f"replayed: {result.text_tokens:,} tokens, {result.text}; " if result else ""
    return (
        f"Measured here: {facts['cpu']}, {facts['cores']} cores, {facts['compiler']}; {text}medians"
        f" of {runs} {'run' if runs == 1 else 'runs'}, each in a process of its own, stages in"
        " turn, from the slowest to the fastest run. ~: within the noise, no difference. A call"
        " is one draft and the counting after it. live: bytes by the engine's allocator; grown:"
        " by how much the process grew."
    )


def _rows(size: SizeFigures) -> list[list[str]]:
    before: dict[str, StageFigures] = {
        b.name: a for a, b in pairwise(f for f in size.stages if not f.again)
    }
    return [_cells(size, figures, before.get(figures.name)) for figures in size.stages]


def _cells(size: SizeFigures, figures: StageFigures, before: StageFigures | None) -> list[str]:
    load, memory = figures.load, figures.memory
    static = memory.static.live_bytes if memory.static else None
    return [
        f"{corpus_name(size.size_mb)}, {figures.name}",
        _median(figures.ns_per_drafted),
        _range(figures.ns_per_drafted),
        _ratio(size, size.stages[0], figures) if figures is not size.stages[0] else "1",
        _ratio(size, before, figures),
        _median(figures.calls.p50_ns),
        _median(figures.calls.p99_ns),
        _median(figures.calls.max_ns),
        milliseconds(load.warm_ns.median) if load else _NONE,
        f"{milliseconds(load.warm_ns.low)} – {milliseconds(load.warm_ns.high)}" if load else _NONE,
        f"{mebibytes(static)} / {mebibytes(loaded_bytes(figures))}" if load else _NONE,
        mebibytes(memory.context.live_bytes),
        mebibytes(memory.dynamic.live_bytes),
        _percent(figures.accept_pct),
        *_published(size, figures, before),
    ]


def _ratio(size: SizeFigures, slow: StageFigures | None, fast: StageFigures) -> str:
    if slow is None:
        return _NONE
    ratio = size.times_faster(fast.name, slow.name)
    if ratio is None:
        return _NONE
    return f"{'~' if cannot_tell(size, slow, fast) else ''}{ratio_words(ratio)}"


def _published(
    size: SizeFigures, figures: StageFigures, before: StageFigures | None
) -> tuple[str, ...]:
    line = None if figures.again else published(figures.stage, size.size_mb)
    if line is None:
        return (_NONE,) * 4
    step = published_step(before.stage, figures.stage, line.corpus_mb) if before else None
    return (
        f"{line.us_per_drafted:g}",
        ratio_words(step) if step else _NONE,
        f"{line.load_ms:,}" if line.load_ms is not None else _NONE,
        _percent(line.accept_pct),
    )


def _median(spread: Spread | None) -> str:
    return microseconds(spread.median if spread else None)


def _range(spread: Spread | None) -> str:
    return f"{microseconds(spread.low)} – {microseconds(spread.high)}" if spread else _NONE


def _percent(share: float | None) -> str:
    return _NONE if share is None else f"{share:.1f}"
