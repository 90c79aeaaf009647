"""Where the four plots of an experiment stand in their figure, with axes and captions."""

from __future__ import annotations

from typing import Any

from ..lesson.experiment import Experiment
from ..lesson.switches import short_name_of
from .figure_grid import (
    WIDE,
    Axes,
    Colours,
    Panel,
    corpus_axis,
    grid_layout,
    log_axis,
    round_up,
)

LONG_NAME = 12
"""Letters of the longest name of a stage, about."""

_PANELS = {
    "A": Panel("Time per drafted token, µs", "median and middle half of 20 pieces of the text"),
    "B": Panel("The same by corpus", "hollow, dotted: published, Apple M4 Pro"),
    "C": Panel("Memory by structure", key_rows=(1, 2)),
    "D": Panel("Bytes copied per drafted token", "counted by the allocator"),
}
_ROWS = ("AB", "CD")


def layout(x: Experiment, width: int, colours: Colours) -> dict[str, Any]:
    """The figure's layout: size, colours, axes, captions."""
    axes = {plot: made(x, width) for plot, made in _AXES.items()}
    return grid_layout(_PANELS, _ROWS, axes, width, colours)


# ---- axes ---------------------------------------------------------------------------------


def along_the_text(x: Experiment) -> dict[str, Any]:
    """The upward axis of plot A."""
    spreads = [s for run in x.of_size(x.setting.size_mb) for s in run.line.running()]
    return log_axis([value / 1000 for s in spreads for value in (s.quarter, s.three_quarters)])


def by_corpus(x: Experiment) -> dict[str, Any]:
    """The upward axis of plot B."""
    spreads = [s for run in x.runs.values() if (s := run.line.so_far)]
    values = [value / 1000 for s in spreads for value in (s.quarter, s.three_quarters)]
    return log_axis([*values, 1.89, 165.48])


def with_figures(width: int) -> bool:
    """Whether names at the ends of lines have room for their figures."""
    return width >= 300


def _along_the_text(x: Experiment, width: int) -> Axes:
    n = len(x.material.text)
    names = [short_name_of(run.setting.toggles) for run in x.of_size(x.setting.size_mb)]
    long = any(len(name) > LONG_NAME for name in names)
    room = (1.55 if long else 1.26) if width >= WIDE else (2.1 if long else 1.7)
    across = {
        "range": [0, room * n],
        "tickvals": [0, n // 2, n],
        "ticktext": ["0", f"{n // 2:,}", f"{n:,}"],
        "title": "tokens replayed",
    }
    return across, along_the_text(x)


def _by_corpus(x: Experiment, width: int) -> Axes:
    some = {25, 100, 541} if with_figures(width) else {541}
    across = corpus_axis(sorted({*x.sizes, *some}), 1.16 if width >= WIDE else 1.24, width < WIDE)
    return across, by_corpus(x)


def _memory(x: Experiment, width: int) -> Axes:
    held = [memory for run in x.runs.values() for memory in run.line.memory.values()]
    most = round_up(max((memory.live_bytes for memory in held), default=0) / 2**20)
    up = {
        "range": [2.6, -0.6],
        "type": "category",
        "categoryorder": "array",
        "categoryarray": ["static", "dynamic", "context"],
        "showgrid": False,
    }
    return {"range": [0, (1.25 if width >= WIDE else 1.6) * most], "title": "MiB"}, up


def _copied(x: Experiment, width: int) -> Axes:
    copied = [run.line.bytes_copied_per_drafted or 0 for run in x.runs.values()]
    across = corpus_axis(list(x.sizes), 1.1, width < WIDE)
    most = round_up(1.1 * max([800.0, *copied]))
    return across, {"range": [-0.02 * most, 1.1 * most], "nticks": 5, "tickformat": ","}


_AXES = {"A": _along_the_text, "B": _by_corpus, "C": _memory, "D": _copied}
