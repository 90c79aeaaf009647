"""The results of an experiment as a table in words: every figure that the plots show."""

from __future__ import annotations

from functools import cache
from typing import Any

from .. import machine
from ..published import SOURCE
from .experiment import Experiment
from .findings import Result, corpus_name, mebibytes, microseconds, results, times
from .measured import PIECES

_GROUPS = [
    ["", 2, ""],
    ["µs per drafted token, by piece", 3, ""],
    ["copied", 2, ""],
    ["memory, MiB", 3, ""],
    ["published", 1, "pub"],
]
_COLUMNS = [
    ["corpus, stage", ""],
    ["of the text", ""],
    ["median", ""],
    ["from – to", ""],
    ["times faster", ""],
    ["bytes a token", ""],
    ["allocations a call", ""],
    ["context", ""],
    ["dynamic", ""],
    ["static", ""],
    ["µs", "pub"],
]


def table(x: Experiment) -> dict[str, Any]:
    """Title, groups and columns as [text, span or style], rows of cells, notes."""
    return {
        "title": "The same figures",
        "groups": _GROUPS,
        "columns": _COLUMNS,
        "rows": [
            {"cells": _cells(x, row), "selected": (row.corpus_mb, row.stage) == _in_hand(x)}
            for row in results(x)
        ],
        "empty": "Nothing is measured yet.",
        "notes": f"{measured_here(x)} {SOURCE} Machines and corpora differ: compare ratios.",
    }


def measured_here(x: Experiment) -> str:
    """What was measured, how and on what machine."""
    facts = _machine()
    return (
        f"Measured here: {facts['cpu']}, {facts['cores']} cores, {facts['compiler']}; drafting and"
        f" counting, by the engine's own clock, over {PIECES} pieces of"
        f" {len(x.material.text):,} tokens; context {x.n_ctx:,}, {x.n_draft} guesses a draft."
        " Times faster: by the medians, against upstream, on the part that both have replayed;"
        " where equal scores fall otherwise, the work is not quite the same."
        " Memory: bytes asked of malloc."
    )


@cache
def _machine() -> dict[str, Any]:
    return dict(machine.describe())


def _in_hand(x: Experiment) -> tuple[int, str]:
    return x.setting.size_mb, x.setting.name


def _cells(x: Experiment, row: Result) -> list[str]:
    copied, allocations = row.bytes_copied_per_drafted, row.allocations_per_call
    return [
        f"{corpus_name(row.corpus_mb)}, {row.stage}",
        f"{100 * row.replayed // len(x.material.text)} %",
        microseconds(row.median_ns),
        f"{microseconds(row.low_ns)} – {microseconds(row.high_ns)}",
        "–" if row.times_faster is None else times(row.times_faster),
        "–" if copied is None else f"{copied:,.0f}",
        "–" if allocations is None else f"{allocations:,.1f}",
        mebibytes(row.context_bytes),
        mebibytes(row.dynamic_bytes),
        mebibytes(row.static_bytes),
        microseconds(row.published_ns),
    ]
