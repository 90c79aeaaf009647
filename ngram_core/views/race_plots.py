"""The plots of a race as plain plotly traces; `race_layout.py` says where they stand.

Six plots in one figure: A time by corpus, B steps and noise, C memory by structure, D calls,
E loading by corpus, F acceptance by corpus. Measured: solid line, filled mark. Published: dotted
line, hollow mark. Each stage has a mark of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..caches import Memory
from ..lesson.findings import mebibytes, microseconds
from ..lesson.race_words import published, ratio_words, steps, widest
from ..published import PUBLISHED, Published
from ..racing import RaceResult, SizeFigures, Spread, StageFigures
from ..toggles import STAGES
from .figure import Trace
from .figure_grid import Colours, apart, corpus_place, faint, words
from .plots import STRUCTURES, bar
from .race_layout import (
    HEIGHT_A,
    HEIGHT_E,
    drafting_axis,
    loading_axis,
    mark,
    names_place,
    shown,
    with_figures,
    with_names,
)

Getter = Callable[[StageFigures], Spread | None]


def traces(result: RaceResult | None, width: int, colours: Colours) -> list[Trace]:
    """All traces, always as many and in the same order; those behind come first."""
    size = widest(result)
    return [
        *_noise_band(result, colours),
        *_published_lines(lambda line: line.us_per_drafted, "µs", "", colours),
        *_lines(result, _drafting, 1e3, drafting_axis(result), HEIGHT_A, "A", width, colours),
        *_steps(size, colours),
        *_memory(size, colours),
        *_calls(size, colours),
        *_published_lines(lambda line: line.load_ms, "ms", "5", colours),
        *_lines(result, _loading, 1e6, loading_axis(result), HEIGHT_E, "E", width, colours),
        *_accepted(result, width, colours),
    ]


def _on(axis: str) -> Trace:
    return {"xaxis": f"x{axis}", "yaxis": f"y{axis}"}


def _drafting(figures: StageFigures) -> Spread | None:
    return figures.ns_per_drafted


def _loading(figures: StageFigures) -> Spread | None:
    return figures.load.warm_ns if figures.load else None


# ---- A and E: lines by corpus -------------------------------------------------------------------


def _noise_band(result: RaceResult | None, colours: Colours) -> list[Trace]:
    """From the fastest to the slowest run of the stage that was raced twice."""
    places, low, high = [], [], []
    for size in result.sizes if result else ():
        twice = {f.stage for f in size.stages if f.again}
        both = [s for f in size.stages if f.stage in twice and (s := f.ns_per_drafted)]
        if len(both) > 1:
            places.append(corpus_place(size.size_mb))
            low.append(min(s.low for s in both) / 1000)
            high.append(max(s.high for s in both) / 1000)
    edge: Trace = {"x": places, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    filled = {"fill": "tonexty", "fillcolor": faint(colours["edge"], 0.35)}
    return [{**edge, "y": low}, {**edge, "y": high, **filled}]


def _published_lines(
    value: Callable[[Published], float | None], unit: str, axis: str, colours: Colours
) -> list[Trace]:
    """One for each published stage; the first and the last are joined by a dotted line."""
    names = list(dict.fromkeys(line.stage for line in PUBLISHED))
    made = []
    for name in names:
        lines = [line for line in PUBLISHED if line.stage == name and value(line) is not None]
        figures = [value(line) for line in lines]
        end = name in (names[0], names[-1])
        made.append(
            {
                "x": [corpus_place(line.corpus_mb) for line in lines],
                "y": figures,
                "mode": "lines+markers+text" if end else "markers",
                "line": {"color": colours["edge"], "width": 1.2, "dash": "dot"},
                "marker": _hollow(name, colours),
                "text": [""] * (len(lines) - 1) + [f" <i>{figures[-1]:,g}</i>" if end else ""],
                "textposition": "middle right",
                "textfont": words(colours, 12, "mute"),
                "hovertemplate": f"published, {name}: %{{y:,}} {unit}<extra></extra>",
                "cliponaxis": False,
                **_on(axis),
            }
        )
    return made


def _hollow(stage: str, colours: Colours) -> Trace:
    return {
        "symbol": mark(stage),
        "size": 8,
        "color": colours["panel"],
        "line": {"color": colours["edge"], "width": 1.4},
    }


def _solid(stage: str, colours: Colours, size: int = 10) -> Trace:
    return {
        "symbol": mark(stage),
        "size": size,
        "color": colours["text"],
        "line": {"color": colours["panel"], "width": 1},
    }


def _lines(
    result: RaceResult | None,
    value: Getter,
    unit_ns: float,
    axis: dict[str, Any],
    height: int,
    letter: str,
    width: int,
    colours: Colours,
) -> list[Trace]:
    """One for each stage, with its spread, and its name at the right end."""
    found = {name: _points(result, name, value) for name in STAGES}
    ends = {name: points[-1][1].median / unit_ns for name, points in found.items() if points}
    places = dict(zip(ends, apart(list(ends.values()), axis, height=height), strict=True))
    axis_number = _AXIS[letter]
    lines = [_line(name, points, unit_ns, axis_number, colours) for name, points in found.items()]
    names = []
    for name in STAGES:
        end = found[name][-1:]
        last = [(place, spread.median / unit_ns) for place, spread in end]
        figure = [microseconds(1000 * y) for _, y in last]
        names.append(_name(name, last, places.get(name), figure, letter, width, colours))
    return [*names, *lines]


_AXIS = {"A": "", "E": "5", "F": "6"}


def _shift(name: str) -> float:
    return 0.05 * (list(STAGES).index(name) - (len(STAGES) - 1) / 2)


def _points(result: RaceResult | None, name: str, value: Getter) -> list[tuple[float, Spread]]:
    """Places, a little apart for each stage so that their spreads can be seen, and figures."""
    points = []
    for size in result.sizes if result else ():
        for figures in size.stages:
            spread = value(figures) if figures.name == name else None
            if spread is not None:
                points.append((corpus_place(size.size_mb) + _shift(name), spread))
    return points


def _line(
    name: str,
    points: list[tuple[float, Spread]],
    unit_ns: float,
    letter: str,
    colours: Colours,
) -> Trace:
    spreads = [spread for _, spread in points]
    return {
        "x": [place for place, _ in points],
        "y": [s.median / unit_ns for s in spreads],
        "mode": "lines+markers",
        "line": {"color": colours["text"], "width": 1.6},
        "marker": _solid(name, colours),
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [(s.high - s.median) / unit_ns for s in spreads],
            "arrayminus": [(s.median - s.low) / unit_ns for s in spreads],
            "color": colours["text"],
            "thickness": 1,
            "width": 3,
        },
        "hovertemplate": f"{name}: %{{y:.3g}}, median<extra></extra>",
        "cliponaxis": False,
        **_on(letter),
    }


def _name(
    name: str,
    last: list[tuple[float, float]],
    name_at: float | None,
    figure: list[str],
    letter: str,
    width: int,
    colours: Colours,
) -> Trace:
    """A name with its figure at the right end, and a faint line to it from the last point; none
    where there is no room, and marks alone tell the stages."""
    wide = with_figures(width)
    if not with_names(width):
        last, figure = [], []
    return {
        "x": [place for at, _ in last for place in (at, names_place(width, letter))],
        "y": [height for _, y in last for height in (y, name_at)],
        "mode": "lines+text",
        "line": {"color": colours["line"], "width": 1},
        "text": ["", *(f" {name} <b>{told}</b>" if wide else f" {name}" for told in figure)],
        "textposition": "middle right",
        "textfont": words(colours, 13 if wide else 11),
        "hoverinfo": "skip",
        "cliponaxis": False,
        **_on(_AXIS[letter]),
    }


# ---- B: steps ------------------------------------------------------------------------------------


def _steps(size: SizeFigures | None, colours: Colours) -> list[Trace]:
    """The band of noise, the line of no difference, published steps, and those measured."""
    made = steps(size) if size else []
    rows = list(range(len(made)))
    noise = size.noise if size else None
    limit = 1 + noise.spread_pct / 100 if noise else 1.0
    top, bottom = -0.75, len(rows) - 0.4
    there = [(row, s) for row, s in zip(rows, made, strict=True) if s.published is not None]
    band = {
        "x": [1 / limit, limit, limit, 1 / limit] if made else [],
        "y": [top, top, bottom, bottom] if made else [],
        "mode": "lines",
        "line": {"width": 0},
        "fill": "toself",
        "fillcolor": faint(colours["edge"], 0.35),
        "hoverinfo": "skip",
        **_on("2"),
    }
    even = {
        "x": [1, 1] if made else [],
        "y": [top, bottom] if made else [],
        "mode": "lines",
        "line": {"color": colours["edge"], "width": 1},
        "hoverinfo": "skip",
        **_on("2"),
    }
    published_ones = {
        "x": [s.published for _, s in there],
        "y": [row + 0.22 for row, _ in there],
        "mode": "markers+text",
        "marker": {**_hollow("", colours), "symbol": [mark(s.stage) for _, s in there]},
        "text": [f"  <i>{ratio_words(s.published or 0)}</i>" for _, s in there],
        "textposition": "middle right",
        "textfont": words(colours, 12, "mute"),
        "hovertemplate": "published: %{x:.2f} times<extra></extra>",
        "cliponaxis": False,
        **_on("2"),
    }
    measured = {
        "x": [s.ratio for s in made],
        "y": [row - 0.12 for row in rows],
        "mode": "markers",
        "marker": {**_solid("", colours), "symbol": [mark(s.stage) for s in made]},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [s.high - s.ratio for s in made],
            "arrayminus": [s.ratio - s.low for s in made],
            "color": colours["text"],
            "thickness": 1,
            "width": 4,
        },
        "hovertemplate": "here: %{x:.2f} times<extra></extra>",
        **_on("2"),
    }
    names = {
        "x": [s.high for s in made],
        "y": [row - 0.12 for row in rows],
        "mode": "text",
        "text": [f"  <b>{'~' if s.noise else ''}{ratio_words(s.ratio)}</b>" for s in made],
        "textposition": "middle right",
        "textfont": words(colours),
        "hoverinfo": "skip",
        "cliponaxis": False,
        **_on("2"),
    }
    return [band, even, published_ones, measured, names]


# ---- C: memory -----------------------------------------------------------------------------------

_CACHES = ("static", "dynamic", "context")


def _memory(size: SizeFigures | None, colours: Colours) -> list[Trace]:
    """Bars, one row a stage: hue names the cache, pattern the structure; then totals."""
    stages = shown(size)
    rows = list(range(len(stages)))
    made: list[Trace] = []
    totals = [0.0] * len(stages)
    for cache in _CACHES:
        held = [_memory_of(figures, cache) for figures in stages]
        for title, field, pattern, fill in STRUCTURES:
            made.append(
                {
                    "type": "bar",
                    "orientation": "h",
                    "x": [getattr(m, field) / 2**20 if m else 0 for m in held],
                    "y": rows,
                    "name": title,
                    "showlegend": cache == "static",
                    "marker": bar([cache] * len(rows), pattern, fill, colours),
                    "hovertemplate": f"{cache}, {title}: %{{x:.1f}} MiB<extra></extra>",
                    **_on("3"),
                }
            )
        totals = [t + (m.live_bytes / 2**20 if m else 0) for t, m in zip(totals, held, strict=True)]
    lines = [published(f.stage, size.size_mb) if size else None for f in stages]
    there = [(r, line) for r, line in zip(rows, lines, strict=True) if line and line.static_mb]
    hollow = {
        "x": [(line.static_mb or 0) * 1e6 / 2**20 for _, line in there],
        "y": [row for row, _ in there],
        "mode": "markers",
        "marker": {**_hollow("", colours), "symbol": [mark(line.stage) for _, line in there]},
        "hovertemplate": "published, static cache: %{x:.0f} MiB<extra></extra>",
        **_on("3"),
    }
    names = {
        "x": totals,
        "y": rows,
        "mode": "text",
        "text": [f" {mebibytes(round(n * 2**20))}" for n in totals],
        "textposition": "middle right",
        "textfont": words(colours),
        "hoverinfo": "skip",
        "cliponaxis": False,
        **_on("3"),
    }
    return [*made, hollow, names]


def _memory_of(figures: StageFigures, cache: str) -> Memory | None:
    found: Memory | None = getattr(figures.memory, cache)
    return found


# ---- D: calls ------------------------------------------------------------------------------------


def _calls(size: SizeFigures | None, colours: Colours) -> list[Trace]:
    """For each stage how its calls are spread, then the marks at p50, p99 and the longest."""
    stages = {figures.name: figures for figures in shown(size)}
    rows = {name: row for row, name in enumerate(stages)}
    hills = [
        _hill(stages[name], rows[name], colours) if name in stages else _no_hill()
        for name in STAGES
    ]
    return [*hills, *_marks(list(stages.values()), colours)]


def _no_hill() -> Trace:
    return {"x": [], "y": [], **_on("4")}


def _hill(figures: StageFigures, row: int, colours: Colours) -> Trace:
    """The histogram of its calls, standing on its row."""
    bins = [b for b in figures.calls.histogram if b.n_calls]
    most = max((b.n_calls for b in bins), default=1)
    tops = [row + 0.25 - 0.75 * b.n_calls / most for b in bins]
    places = [b.below_ns / 1000 for b in bins]
    return {
        "x": [*places[:1], *places, *places[-1:]],
        "y": [row + 0.25, *tops, row + 0.25],
        "mode": "lines",
        "line": {"color": colours["edge"], "width": 1, "shape": "vh"},
        "fill": "toself",
        "fillcolor": faint(colours["edge"], 0.3),
        "hoverinfo": "skip",
        **_on("4"),
    }


def _marks(stages: Sequence[StageFigures], colours: Colours) -> list[Trace]:
    rows = [row + 0.25 for row in range(len(stages))]
    ink = colours["text"]
    symbols: dict[str, Any] = {
        "p50": [mark(figures.stage) for figures in stages],
        "p99": "line-ns",
        "max": "x-thin",
    }
    made = []
    for what, symbol in symbols.items():
        spreads: list[Spread] = [getattr(f.calls, f"{what}_ns") for f in stages]
        made.append(
            {
                "x": [s.median / 1000 for s in spreads],
                "y": rows,
                "mode": "markers",
                "marker": {
                    "symbol": symbol,
                    "size": 10 if what != "max" else 7,
                    "color": ink,
                    "line": {"color": colours["panel"] if what == "p50" else ink, "width": 1.6},
                },
                "hovertemplate": f"{what}: %{{x:.3g}} µs<extra></extra>",
                **_on("4"),
            }
        )
    return made


# ---- F: acceptance -------------------------------------------------------------------------------


def _accepted(result: RaceResult | None, width: int, colours: Colours) -> list[Trace]:
    """The published share of the last stage, and ours of the first, which all have."""
    last = PUBLISHED[-1].stage
    lines = [line for line in PUBLISHED if line.stage == last]
    there = {
        "x": [corpus_place(line.corpus_mb) for line in lines],
        "y": [line.accept_pct for line in lines],
        "mode": "lines+markers+text",
        "line": {"color": colours["edge"], "width": 1.2, "dash": "dot"},
        "marker": _hollow(last, colours),
        "text": [*[""] * (len(lines) - 1), f" <i>{lines[-1].accept_pct:.1f}</i>"],
        "textposition": "middle right",
        "textfont": words(colours, 12, "mute"),
        "hovertemplate": "published: %{y:.1f} %<extra></extra>",
        "cliponaxis": False,
        **_on("6"),
    }
    sizes = [s for s in (result.sizes if result else ()) if s.accept_pct is not None]
    shares = [size.accept_pct or 0.0 for size in sizes]
    equal = all(size.drafts_equal for size in sizes)
    said = "all stages" if equal or not sizes else sizes[0].stages[0].name
    here = {
        "x": [corpus_place(size.size_mb) for size in sizes],
        "y": shares,
        "mode": "lines+markers",
        "line": {"color": colours["text"], "width": 1.6},
        "marker": _solid(sizes[0].stages[0].stage if sizes else "", colours),
        "hovertemplate": "here: %{y:.1f} %<extra></extra>",
        "cliponaxis": False,
        **_on("6"),
    }
    end = [(corpus_place(size.size_mb), size.accept_pct or 0.0) for size in sizes[-1:]]
    figure = [f"{y:.1f}" for _, y in end]
    at = _clear_of(lines[-1].accept_pct, end[0][1]) if end else None
    return [there, _name(said, end, at, figure, "F", width, colours), here]


def _clear_of(figure: float, height: float) -> float:
    """A height near this one at which a name does not stand beside that figure."""
    near = figure - height
    return height if abs(near) > 2 else figure - math.copysign(2, near)
