"""Where the six plots of a race stand in their figure, with axes and captions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..lesson.race_words import HEADLINE_MB, published, steps, widest
from ..published import PUBLISHED
from ..racing import RaceResult, SizeFigures, Spread, StageFigures
from ..toggles import STAGES
from .figure_grid import (
    WIDE,
    Axes,
    Colours,
    Panel,
    corpus_axis,
    corpus_place,
    grid_layout,
    log_axis,
    plot_width,
    round_up,
)
from .plots import MARKS

_NAMES = 92  # pixels for the names of stages

_PANELS = {
    "A": Panel(
        "Time per drafted token, µs",
        "median, fastest to slowest run; grey: the first stage against itself;"
        " hollow, dotted: published, Apple M4 Pro",
        height=340,
    ),
    "B": Panel(
        "Each step, times faster than the one before",
        f"grey: within the noise; hollow: published, {HEADLINE_MB} MB",
        left=_NAMES,
        height=340,
    ),
    "C": Panel(
        "Memory by structure, MiB",
        "orange: static cache, purple: dynamic, blue: context; hollow: published",
        key_rows=(1, 2),
        left=_NAMES,
    ),
    "D": Panel(
        "How long a call took, µs",
        "mark: half of the calls, bar: 99 of 100, cross: the longest",
        left=_NAMES,
    ),
    "E": Panel("Loading the static cache, ms", "from memory; hollow, dotted: published"),
    "F": Panel("Accepted of the drafted tokens, %", "hollow, dotted: published, WikiText-103"),
}
_ROWS = ("AB", "CD", "EF")

HEIGHT_A = _PANELS["A"].height
HEIGHT_E = _PANELS["E"].height


def layout(result: RaceResult | None, width: int, colours: Colours) -> dict[str, Any]:
    """The figure's layout: size, colours, axes, captions."""
    size = widest(result)
    axes = {
        "A": (_corpora(result, width, "A"), drafting_axis(result)),
        "B": _steps(size, width),
        "C": _memory(size, width),
        "D": _calls(size, width),
        "E": (_corpora(result, width, "E"), loading_axis(result)),
        "F": (_corpora(result, width, "F"), _accepted(result)),
    }
    made = grid_layout(_panels(width), _ROWS, axes, width, colours)
    made["barmode"] = "stack"
    made["bargap"] = 0.35
    return made


def measured(result: RaceResult | None) -> list[StageFigures]:
    """All figures of all sizes."""
    return [] if result is None else [f for size in result.sizes for f in size.stages]


def shown(size: SizeFigures | None) -> list[StageFigures]:
    """The stages of a size, each once."""
    return [] if size is None else [f for f in size.stages if not f.again]


_BEGIN, _END = -0.25, corpus_place(HEADLINE_MB)
_NARROW = 400  # pixels of a plot, below which names come without figures
_TIGHT = 240  # and below which they stand in the caption, beside their marks

_GLYPHS = {
    "square": "■",
    "diamond": "◆",
    "triangle-up": "▲",
    "triangle-down": "▼",
    "cross": "✚",
    "circle": "●",
    "star": "★",
}


def mark(stage: str) -> str:
    """The mark of a stage in all plots, by plotly's name for it."""
    return MARKS.get(stage, "star")


def with_figures(width: int) -> bool:
    """Whether names at the ends of lines have room for their figures."""
    return _plot(width, "A") >= _NARROW


def with_names(width: int) -> bool:
    """Whether lines have room for names at their ends."""
    return _plot(width, "A") >= _TIGHT


def _panels(width: int) -> dict[str, Panel]:
    """The plots; where lines go without names, the first caption says what each mark is."""
    if with_names(width):
        return _PANELS
    marks = ", ".join(f"{_GLYPHS[mark(stage)]}\u00a0{stage}" for stage in STAGES)
    first = _PANELS["A"]
    return {**_PANELS, "A": replace(first, more=f"{marks}; {first.more}")}


def names_place(width: int, letter: str) -> float:
    """Where the names of lines begin: behind the last published figure, so that they cover no
    point, wherever the lines themselves end."""
    return _END + _room(width, letter)[0]


def _plot(width: int, letter: str) -> float:
    return plot_width(_PANELS[letter], letter in (row[0] for row in _ROWS), width)


def _room(width: int, letter: str) -> tuple[float, float]:
    """What the published figure takes, and all that stands behind the last corpus, on the axis."""
    figure, names = (54, 122) if with_figures(width) else (44, 72 if with_names(width) else 0)
    plot = _plot(width, letter)
    unit = max(plot - figure - names, 0.3 * plot) / (_END - _BEGIN)
    return figure / unit, (figure + names) / unit


def _corpora(result: RaceResult | None, width: int, letter: str) -> dict[str, Any]:
    raced = [size.size_mb for size in result.sizes] if result else [0.0]
    few = {0, 25, HEADLINE_MB} if with_figures(width) else {0, HEADLINE_MB}
    axis = corpus_axis(sorted({*raced, *few}), 1.0, not with_figures(width))
    return {**axis, "range": [_BEGIN, _END + _room(width, letter)[1]]}


def _ends(spreads: Iterable[Spread | None], unit_ns: float) -> list[float]:
    return [value / unit_ns for s in spreads if s is not None for value in (s.low, s.high)]


def drafting_axis(result: RaceResult | None) -> dict[str, Any]:
    """The upward axis of plot A."""
    here = _ends((figures.ns_per_drafted for figures in measured(result)), 1e3)
    return log_axis([*here, *(line.us_per_drafted for line in PUBLISHED)])


def loading_axis(result: RaceResult | None) -> dict[str, Any]:
    """The upward axis of plot E."""
    here = _ends((f.load.warm_ns for f in measured(result) if f.load), 1e6)
    there = [float(line.load_ms) for line in PUBLISHED if line.load_ms]
    return log_axis([*here, *there], digits=(1,))


def _accepted(result: RaceResult | None) -> dict[str, Any]:
    here = [f.accept_pct for f in measured(result) if f.accept_pct is not None]
    most = 5 * math.ceil(1.1 * max([*here, *(line.accept_pct for line in PUBLISHED)]) / 5)
    return {"range": [0, min(100, most)], "nticks": 6}


def _names(names: list[str]) -> dict[str, Any]:
    """An upward axis of stages, the first one on top."""
    return {
        "range": [max(len(names), 1) - 0.4, -0.75],
        "tickvals": list(range(len(names))),
        "ticktext": names,
        "showgrid": False,
    }


def _steps(size: SizeFigures | None, width: int) -> Axes:
    made = steps(size) if size else []
    noise = size.noise if size else None
    limit = 1 + noise.spread_pct / 100 if noise else 1.0
    held = [v for s in made for v in (s.low, s.high, s.published or 1.0)]
    across = _few_ticks(log_axis([0.8, 10.0, limit, 1 / limit, *held]), width)
    low, high = across["range"]
    figures = 48 * (high - low) / max(_plot(width, "B") - 48, 48)  # room for them at the right
    across |= {"range": [low, high + figures], "title": "times faster"}
    return across, _names([step.stage for step in made])


def _few_ticks(axis: dict[str, Any], width: int) -> dict[str, Any]:
    """A log axis with words that lie flat; where they would not, at some powers of ten alone."""
    kept = [(at, told) for at, told in zip(axis["tickvals"], axis["ticktext"], strict=True)]
    if not with_figures(width):
        tens = [(at, told) for at, told in kept if math.log10(at) % 1 < 1e-9]
        kept = tens[:: 1 + len(tens) // 4]
    ticks = {"tickvals": [at for at, _ in kept], "ticktext": [told for _, told in kept]}
    return {**axis, **ticks, "tickangle": 0}


def _memory(size: SizeFigures | None, width: int) -> Axes:
    held = [0.0]
    for figures in shown(size):
        memory = figures.memory
        parts = (memory.static, memory.dynamic, memory.context)
        held.append(sum(part.live_bytes for part in parts if part) / 2**20)
        line = published(figures.stage, size.size_mb) if size else None
        held.append((line.static_mb or 0) * 1e6 / 2**20 if line else 0.0)
    across = {"range": [0, (1.2 if width >= WIDE else 1.5) * round_up(max(held))], "title": "MiB"}
    return across, _names([figures.name for figures in shown(size)])


def _calls(size: SizeFigures | None, width: int) -> Axes:
    held = [
        value / 1000
        for figures in shown(size)
        for value in (figures.calls.p50_ns.low / 3, figures.calls.max_ns.high)
    ]
    across = _few_ticks(log_axis(held, digits=(1,)), width)
    return {**across, "title": "µs"}, _names([figures.name for figures in shown(size)])
