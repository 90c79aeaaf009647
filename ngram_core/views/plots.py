"""The plots of an experiment as plain plotly traces; `plot_layout.py` says where they stand.

Four plots in one figure: A time along the text, B time by corpus, C memory by structure,
D bytes copied by corpus. Measured: solid line, filled mark. Published: dotted line, hollow
mark. A stage has a mark of its own and its name at its line; the one in hand is heavier.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..caches import Memory
from ..lesson.experiment import Experiment
from ..lesson.findings import mebibytes, microseconds
from ..lesson.published import DRAFTING_US
from ..lesson.runs import Run
from ..lesson.switches import nearest_stage, stage_name
from ..toggles import Toggles
from .figure import Trace
from .plot_layout import WIDE, Colours, corpus_place, faint

MARKS = {
    "upstream": "square",
    "nocopy": "diamond",
    "outermap": "triangle-up",
    "innervector": "triangle-down",
    "constmap": "cross",
    "precheck": "circle",
}
"""The mark of each stage; an own mix of switches has its stage's mark, rotated and open."""

SLOTS = 4
"""Runs shown at once: traces are made once and then filled, since plotly redraws less so."""

_STRUCTURES = (
    # title, field of Memory, pattern, fill
    ("followers", "followers_bytes", "", 1.0),
    ("buckets", "follower_index_bytes", "/", 1.0),
    ("n-grams", "ngrams_bytes", "", 0.3),
    ("table", "index_bytes", ".", 0.0),
)
_HUES = {"static": "sta", "dynamic": "dyn", "context": "ctx"}


def traces(x: Experiment, width: int, colours: Colours) -> list[Trace]:
    """All traces, always as many and in the same order; those behind come first."""
    in_hand = x.setting
    runs = sorted(x.of_size(in_hand.size_mb), key=lambda run: run.setting == in_hand)
    mixes = dict.fromkeys(run.setting.toggles for run in x.runs.values() if run.line.so_far)
    toggles = sorted(mixes, key=lambda one: one == in_hand.toggles)
    by_corpus = [_by_corpus(x, one, colours) for one in toggles]
    return [
        *_filled(4, [_along_the_text(x, run, width >= WIDE, colours) for run in runs]),
        *_filled(1, _published(x, colours), "2"),
        *_filled(1, [[time] for time, _ in by_corpus], "2"),
        *_filled(1, [[copied] for _, copied in by_corpus], "4"),
        *_memory(x.run, colours),
    ]


def _filled(size: int, groups: list[list[Trace]], axis: str = "") -> list[Trace]:
    """The latest groups of traces, and empty ones for the slots that are free."""
    free: list[Trace] = [{"x": [], "y": [], "text": [], "xaxis": f"x{axis}", "yaxis": f"y{axis}"}]
    groups = groups[-SLOTS:]
    return [*free * (size * (SLOTS - len(groups))), *(one for group in groups for one in group)]


# ---- A: time along the text ----------------------------------------------------------------


def _along_the_text(x: Experiment, run: Run, wide: bool, colours: Colours) -> list[Trace]:
    """The band's two edges, the line, and its end with the name."""
    line, name, in_hand = run.line, run.setting.name, run.setting == x.setting
    beside = _free_side(x, run, wide)
    places = [piece.n_replayed for piece in line.pieces]
    spreads = line.running()
    colour = colours["text"] if in_hand else colours["edge"]
    edge = {"x": places, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
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
            "hovertemplate": f"{name}: %{{y:.2f}} µs<extra></extra>",
        },
        {
            "x": places[-1:],
            "y": [s.median / 1000 for s in spreads[-1:]],
            "mode": "markers+text",
            "marker": _mark(run, colour, colours, 9),
            "text": [f" {_name(name, in_hand)} {microseconds(s.median)} " for s in spreads[-1:]],
            "textposition": beside,
            "textfont": {"color": colours["text"], "size": 13},
            "hoverinfo": "skip",
            "cliponaxis": False,
        },
    ]


def _free_side(x: Experiment, run: Run, wide: bool) -> str:
    """Where a name stands clear of the others: above the slower line, below the faster one."""
    below = _is_faster(x, run)
    long = not wide or len(run.setting.name) > 12
    side = "left" if long and run.line.fraction > 0.5 else "right"
    return f"{'bottom' if below else 'top'} {side}"


def _is_faster(x: Experiment, run: Run) -> bool:
    """Whether a run has a partner that takes longer."""
    partner, own = x.partner(run.setting), run.line.so_far
    other = partner.line.so_far if partner else None
    return own is not None and other is not None and own.median < other.median


# ---- B and D: by corpus ---------------------------------------------------------------------


def _published(x: Experiment, colours: Colours) -> list[list[Trace]]:
    """The published line of each stage that has a run here, or is in hand."""
    settings = [*x.runs, x.setting]
    stages = dict.fromkeys(stage_name(setting.toggles) for setting in settings)
    return [[_published_line(stage, colours)] for stage in stages if stage in DRAFTING_US]


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
        "textfont": {"color": colours["mute"], "size": 12},
        "hovertemplate": f"published, {stage}: %{{y}} µs<extra></extra>",
        "xaxis": "x2",
        "yaxis": "y2",
        "cliponaxis": False,
    }


def _by_corpus(x: Experiment, toggles: Toggles, colours: Colours) -> tuple[Trace, Trace]:
    """Time and bytes copied of one mix of switches, over all corpora it ran on."""
    runs = [run for run in x.runs.values() if run.setting.toggles == toggles and run.line.so_far]
    runs.sort(key=lambda run: run.setting.size_mb)
    name, in_hand = runs[0].setting.name, toggles == x.setting.toggles
    colour = colours["text"] if in_hand else colours["edge"]
    spreads = [s for run in runs if (s := run.line.so_far)]
    style: Trace = {
        "x": [corpus_place(run.setting.size_mb) for run in runs],
        "mode": "lines+markers+text",
        "line": {"color": colour, "width": 2.5 if in_hand else 1.5},
        "marker": _mark(runs[0], colour, colours, 10),
        "textfont": {"color": colours["text"], "size": 13},
        "textposition": "bottom right" if _is_faster(x, runs[-1]) else "top right",
        "cliponaxis": False,
    }
    copied = [run.line.bytes_copied_per_drafted or 0.0 for run in runs]
    before = [""] * (len(runs) - 1)
    time = {
        **style,
        "y": [s.median / 1000 for s in spreads],
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [(s.three_quarters - s.median) / 1000 for s in spreads],
            "arrayminus": [(s.median - s.quarter) / 1000 for s in spreads],
            "color": colour,
            "thickness": 1,
            "width": 4,
        },
        "text": [*before, f" {_name(name, in_hand)}"],
        "hovertemplate": f"{name}: %{{y:.2f}} µs, median<extra></extra>",
        "xaxis": "x2",
        "yaxis": "y2",
    }
    bytes_copied = {
        **style,
        "y": copied,
        "text": [*before, f" {_name(name, in_hand)} {copied[-1]:,.0f}"],
        "textposition": "top right",
        "hovertemplate": f"{name}: %{{y:,.0f}} bytes<extra></extra>",
        "xaxis": "x4",
        "yaxis": "y4",
    }
    return time, bytes_copied


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
            "marker": _bar(rows, pattern, fill, colours),
            "hovertemplate": f"{title}: %{{x:.1f}} MiB<extra>%{{y}}</extra>",
        }
        for title, field, pattern, fill in _STRUCTURES
    ]
    context = run.line.sample.context_bytes if run and run.line.sample else 0
    whole = {
        **_ACROSS,
        "y": ["context"],
        "x": [context / 2**20],
        "marker": _bar(["context"], "", 0.0, colours),
        "hovertemplate": "all of it: %{x:.1f} MiB<extra>%{y}</extra>",
    }
    totals = {"context": context} | {row: memory.live_bytes for row, memory in held.items()}
    names = {
        "mode": "text",
        "x": [n / 2**20 for n in totals.values()],
        "y": list(totals),
        "text": [f" {mebibytes(n)} MiB" if n else " –" for n in totals.values()],
        "textposition": "middle right",
        "textfont": {"color": colours["text"], "size": 13},
        "hoverinfo": "skip",
        "xaxis": "x3",
        "yaxis": "y3",
        "cliponaxis": False,
    }
    return [*made, whole, names]


_ACROSS = {"type": "bar", "orientation": "h", "xaxis": "x3", "yaxis": "y3"}


def _bar(rows: Sequence[str], pattern: str, fill: float, colours: Colours) -> dict[str, Any]:
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


# ---- marks and colours -----------------------------------------------------------------------


def _mark(run: Run, colour: str, colours: Colours, size: int) -> dict[str, Any]:
    toggles = run.setting.toggles
    symbol = MARKS[nearest_stage(toggles)]
    if stage_name(toggles) is None:
        symbol += "-open-dot"
    return {
        "symbol": symbol,
        "size": size,
        "color": colour,
        "line": {"color": colours["panel"], "width": 1},
    }


def _name(name: str, in_hand: bool) -> str:
    return f"<b>{name}</b>" if in_hand else name
