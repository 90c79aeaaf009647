"""The plots of an experiment as plain plotly traces; `plot_layout.py` says where they stand.

Four plots in one figure: A time along the text, B time by corpus, C memory by structure,
D bytes copied by corpus. Measured: solid line, filled mark. Published: dotted line, hollow
mark. A stage has a mark of its own and its name at its line; the one in hand is heavier. A mix
of switches has the mark of the nearest stage, open and with a dot.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..caches import Memory
from ..lesson.experiment import Experiment
from ..lesson.findings import mebibytes, microseconds
from ..lesson.runs import Run
from ..lesson.switches import (
    is_reference,
    nearest_stage,
    short_name_of,
    stage_name,
)
from ..published import DRAFTING_US
from ..toggles import Toggles
from .figure import Trace
from .figure_grid import Colours, apart, corpus_place, faint, words
from .plot_layout import along_the_text, by_corpus, with_figures

MARKS = {
    "upstream": "square",
    "nocopy": "diamond",
    "outermap": "triangle-up",
    "innervector": "triangle-down",
    "constmap": "cross",
    "precheck": "circle",
}
"""The mark of each stage; a stage that is not among these is a star."""

SLOTS = 6
"""Runs shown at once: traces are made once and then filled, since plotly redraws less so."""

STRUCTURES = (
    # title, field of Memory, pattern, fill
    ("followers", "followers_bytes", "", 1.0),
    ("buckets", "follower_index_bytes", "/", 1.0),
    ("n-grams", "ngrams_bytes", "", 0.3),
    ("table", "index_bytes", ".", 0.0),
)
_HUES = {"static": "sta", "dynamic": "dyn", "context": "ctx"}


def traces(x: Experiment, width: int, colours: Colours) -> list[Trace]:
    """All traces, always as many and in the same order; those behind come first."""
    runs = _shown(x, [run for run in x.of_size(x.setting.size_mb) if run.line.pieces])
    ends = [run.line.running()[-1].median / 1000 for run in runs]
    mixes = _shown(x, _biggest_of_each_mix(x))
    medians = [s.median / 1000 for run in mixes if (s := run.line.so_far)]
    along = [
        _along_the_text(x, run, at, width, colours)
        for run, at in zip(runs, apart(ends, along_the_text(x)), strict=True)
    ]
    times = [
        [_by_corpus(x, run, at, colours)]
        for run, at in zip(mixes, apart(medians, by_corpus(x)), strict=True)
    ]
    return [
        *_filled(5, along),
        *_filled(1, _published(x, colours), "2"),
        *_filled(1, times, "2"),
        *_filled(1, [[_copied(x, run, mixes, colours)] for run in mixes], "4"),
        *_memory(x.run, colours),
    ]


def _shown(x: Experiment, runs: Iterable[Run]) -> list[Run]:
    """As many as have room: the reference, the latest others, and last the one in hand."""
    kept = sorted(runs, key=lambda run: run.setting.toggles == x.setting.toggles)
    while len(kept) > SLOTS:
        oldest = next(run for run in kept if not is_reference(run.setting.toggles))
        kept.remove(oldest)
    return kept


def _biggest_of_each_mix(x: Experiment) -> Iterable[Run]:
    """For each mix of switches the run with the biggest corpus."""
    of_mix: dict[Toggles, Run] = {}
    for run in x.runs.values():
        known = of_mix.get(run.setting.toggles)
        if run.line.pieces and (known is None or known.setting.size_mb < run.setting.size_mb):
            of_mix[run.setting.toggles] = run
    return of_mix.values()


def _filled(size: int, groups: list[list[Trace]], axis: str = "") -> list[Trace]:
    """The latest groups of traces, and empty ones for the slots that are free."""
    free: list[Trace] = [{"x": [], "y": [], "text": [], "xaxis": f"x{axis}", "yaxis": f"y{axis}"}]
    groups = groups[-SLOTS:]
    return [*free * (size * (SLOTS - len(groups))), *(one for group in groups for one in group)]


# ---- A: time along the text ----------------------------------------------------------------


def _along_the_text(
    x: Experiment, run: Run, name_at: float, width: int, colours: Colours
) -> list[Trace]:
    """The band's two edges, the line, its end, and the name beside it."""
    line, in_hand = run.line, run.setting == x.setting
    places = [piece.n_replayed for piece in line.pieces]
    spreads = line.running()
    colour = colours["text"] if in_hand else colours["edge"]
    edge = {"x": places, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    wide = with_figures(width)
    figure = f" {microseconds(spreads[-1].median)}" if wide else ""
    return [
        {**edge, "y": [s.quarter / 1000 for s in spreads]},
        {
            **edge,
            "y": [s.three_quarters / 1000 for s in spreads],
            "fill": "tonexty",
            "fillcolor": faint(colours["edge"], 0.26 if in_hand else 0.16),
        },
        {
            "x": places,
            "y": [s.median / 1000 for s in spreads],
            "mode": "lines",
            "line": {"color": colour, "width": 2.5 if in_hand else 1.5},
            "hovertemplate": f"{run.setting.name}: %{{y:.2f}} µs<extra></extra>",
        },
        {
            "x": places[-1:],
            "y": [spreads[-1].median / 1000],
            "mode": "markers",
            "marker": _mark(run, colour, colours, 9),
            "hoverinfo": "skip",
            "cliponaxis": False,
        },
        {
            "x": places[-1:],
            "y": [name_at],
            "mode": "text",
            "text": [f"  {_name(run, in_hand)}{figure}"],
            "textposition": "middle right",
            "textfont": words(colours, 13 if wide else 11),
            "hoverinfo": "skip",
            "cliponaxis": False,
        },
    ]


# ---- B and D: by corpus ---------------------------------------------------------------------


def _published(x: Experiment, colours: Colours) -> list[list[Trace]]:
    """The published lines of the stages that have a run here: with many of them those of the
    reference and the one in hand; the table has all."""
    settings = [*x.runs, x.setting]
    stages = [name for setting in settings if (name := stage_name(setting.toggles)) in DRAFTING_US]
    stages.sort(key=lambda stage: stage == stage_name(x.setting.toggles))
    drawn = list(dict.fromkeys(stages[::-1]))[::-1]
    if len(drawn) > 2:
        drawn = [stage for stage in drawn[:-1] if stage == "upstream"] + drawn[-1:]
    return [[_published_line(stage, colours)] for stage in drawn]


def _published_line(stage: str, colours: Colours) -> Trace:
    us = DRAFTING_US[stage]
    last = f" <i>{microseconds(1000 * list(us.values())[-1])}</i>"
    return {
        "x": [corpus_place(size) for size in us],
        "y": list(us.values()),
        "mode": "lines+markers+text",
        "line": {"color": colours["edge"], "width": 1.25, "dash": "dot"},
        "marker": {
            "symbol": MARKS[stage],
            "size": 8,
            "color": colours["panel"],
            "line": {"color": colours["edge"], "width": 1.4},
        },
        "text": [""] * (len(us) - 1) + [last],
        "textposition": "middle right",
        "textfont": words(colours, 12, "mute"),
        "hovertemplate": f"published, {stage}: %{{y}} µs<extra></extra>",
        "xaxis": "x2",
        "yaxis": "y2",
        "cliponaxis": False,
    }


def _of_mix(x: Experiment, toggles: Toggles) -> list[Run]:
    """All runs with these switches, by corpus."""
    runs = [run for run in x.runs.values() if run.setting.toggles == toggles and run.line.pieces]
    return sorted(runs, key=lambda run: run.setting.size_mb)


def _style(x: Experiment, runs: list[Run], colours: Colours) -> Trace:
    """What the lines of one mix have in common in both plots."""
    in_hand = runs[0].setting.toggles == x.setting.toggles
    colour = colours["text"] if in_hand else colours["edge"]
    return {
        "x": [corpus_place(run.setting.size_mb) for run in runs],
        "mode": "lines+markers+text",
        "line": {"color": colour, "width": 2.5 if in_hand else 1.5},
        "marker": _mark(runs[0], colour, colours, 10),
        "textfont": words(colours),
        "cliponaxis": False,
    }


def _by_corpus(x: Experiment, last: Run, name_at: float, colours: Colours) -> Trace:
    """Time of one mix of switches over all corpora it ran on; behind a gap stands its name."""
    runs = _of_mix(x, last.setting.toggles)
    style = _style(x, runs, colours)
    spreads = [s for run in runs if (s := run.line.so_far)]
    in_hand = last.setting.toggles == x.setting.toggles
    return {
        **style,
        "x": [*style["x"], None, style["x"][-1]],
        "y": [*(s.median / 1000 for s in spreads), None, name_at],
        "marker": {**style["marker"], "size": [*[10] * len(runs), 0, 0]},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [*((s.three_quarters - s.median) / 1000 for s in spreads), 0, 0],
            "arrayminus": [*((s.median - s.quarter) / 1000 for s in spreads), 0, 0],
            "color": style["line"]["color"],
            "thickness": 1,
            "width": 4,
        },
        "text": [*[""] * (len(runs) + 1), f"   {_name(last, in_hand)}"],
        "textposition": "middle right",
        "hovertemplate": f"{last.setting.name}: %{{y:.2f}} µs, median<extra></extra>",
        "xaxis": "x2",
        "yaxis": "y2",
    }


def _copied(x: Experiment, last: Run, shown: list[Run], colours: Colours) -> Trace:
    """Bytes copied by one mix of switches over all corpora; of those that copy nothing, which
    lie on one another, one is named."""
    runs = _of_mix(x, last.setting.toggles)
    copied = [run.line.bytes_copied_per_drafted or 0.0 for run in runs]
    still = [run for run in shown if not run.line.bytes_copied_per_drafted]
    in_hand = last.setting.toggles == x.setting.toggles
    named = copied[-1] > 0 or last is still[-1]
    name = f" {_name(last, in_hand)} {copied[-1]:,.0f} " if named else ""
    far = corpus_place(last.setting.size_mb) > corpus_place(max(x.sizes)) / 2
    return {
        **_style(x, runs, colours),
        "y": copied,
        "text": [*[""] * (len(runs) - 1), name],
        "textposition": "top left" if far else "top right",
        "hovertemplate": f"{last.setting.name}: %{{y:,.0f}} bytes<extra></extra>",
        "xaxis": "x4",
        "yaxis": "y4",
    }


# ---- C: memory -------------------------------------------------------------------------------


def _memory(run: Run | None, colours: Colours) -> list[Trace]:
    """Bars of bytes by structure, one row a cache: hue names the cache, pattern the structure.

    The context cache, at most a whole context of tokens, is told as a total alone.
    """
    held: dict[str, Memory] = dict(run.line.memory) if run else {}
    rows = ["static", "dynamic"]
    made: list[Trace] = [
        {
            **_ACROSS,
            "y": rows,
            "x": [getattr(held[row], field) / 2**20 if row in held else 0 for row in rows],
            "name": title,
            "showlegend": True,
            "marker": bar(rows, pattern, fill, colours),
            "hovertemplate": f"{title}: %{{x:.1f}} MiB<extra>%{{y}}</extra>",
        }
        for title, field, pattern, fill in STRUCTURES
    ]
    context = run.line.sample.context_bytes if run and run.line.sample else 0
    whole = {
        **_ACROSS,
        "y": ["context"],
        "x": [context / 2**20],
        "marker": bar(["context"], "", 0.0, colours),
        "hovertemplate": "all of it: %{x:.1f} MiB<extra>%{y}</extra>",
    }
    live = {row: held[row].live_bytes if row in held else 0 for row in rows}
    totals = {"context": context} | live
    names = {
        "mode": "text",
        "x": [n / 2**20 for n in totals.values()],
        "y": list(totals),
        "text": [f" {mebibytes(n)} MiB" if n else " –" for n in totals.values()],
        "textposition": "middle right",
        "textfont": words(colours),
        "hoverinfo": "skip",
        "xaxis": "x3",
        "yaxis": "y3",
        "cliponaxis": False,
    }
    return [*made, whole, names]


_ACROSS = {"type": "bar", "orientation": "h", "xaxis": "x3", "yaxis": "y3"}


def bar(rows: Sequence[str], pattern: str, fill: float, colours: Colours) -> dict[str, Any]:
    """Fill and outline of the bars of one structure; plotly draws a pattern in their colours."""
    hues = [colours[_HUES[row]] for row in rows]
    inks = [colours[f"{_HUES[row]}-ink"] for row in rows]
    plain = [hue if fill == 1 else faint(hue, fill) for hue in hues]
    made: dict[str, Any] = {
        "color": inks if pattern == "." else plain,
        "line": {"color": inks, "width": 1},
    }
    if pattern:
        made["pattern"] = {
            "shape": pattern,
            "fillmode": "replace",
            "fgcolor": made["color"],
            "bgcolor": [colours["panel"]] * len(rows),
            "size": 5 if pattern == "." else 6,
            "solidity": 0.3 if pattern == "." else 0.5,
        }
    return made


# ---- marks and names -------------------------------------------------------------------------


def _mark(run: Run, colour: str, colours: Colours, size: int) -> dict[str, Any]:
    toggles = run.setting.toggles
    symbol = MARKS.get(nearest_stage(toggles), "star")
    if stage_name(toggles) is None:
        symbol += "-open-dot"
    return {
        "symbol": symbol,
        "size": size,
        "color": colour,
        "line": {"color": colours["panel"], "width": 1},
    }


def _name(run: Run, in_hand: bool) -> str:
    name = short_name_of(run.setting.toggles)
    return f"<b>{name}</b>" if in_hand else name
