"""Where the four plots of an experiment stand in their figure, with axes and captions.

From 720 pixels on two and two, below that one under the other, down to 200 pixels.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ..lesson.experiment import Experiment
from ..lesson.findings import corpus_name
from ..lesson.switches import short_name_of

Colours = dict[str, str]
Box = tuple[float, float, float, float]  # left, right, bottom, top, in pixels from below left

WIDE = 720

LONG_NAME = 12
"""Letters of the longest name of a stage, about."""

_PLOT, _FOOT = 230, 62  # heights: a plot, its axis below
_TITLE_LINE, _MORE_LINE = 19, 16  # heights of the two sizes of letters in a caption
_LEFT = 58  # room for the numbers of an axis

_CAPTIONS = {
    "A": ("Time per drafted token, µs", "median and middle half of 20 pieces of the text"),
    "B": ("The same by corpus", "hollow, dotted: published, Apple M4 Pro"),
    "C": ("Memory by structure", ""),
    "D": ("Bytes copied per drafted token", "counted by the allocator"),
}


def layout(x: Experiment, width: int, colours: Colours) -> dict[str, Any]:
    """The figure's layout: size, colours, axes, captions."""
    wide = width >= WIDE
    heads = {plot: _head(plot, _across(plot, width)) for plot in _CAPTIONS}
    boxes, height = _boxes(width, wide, {plot: head.height for plot, head in heads.items()})
    made: dict[str, Any] = {
        "width": width,
        "height": height,
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": colours["font"], "size": 12, "color": colours["mute"]},
        "hovermode": "closest",
        "dragmode": False,
        "barmode": "stack",
        "bargap": 0.5,
        "hoverlabel": {
            "bgcolor": colours["panel"],
            "bordercolor": colours["edge"],
            "font": {"color": colours["text"], "size": 13},
        },
        "annotations": [
            note for plot, box in boxes.items() for note in _caption(heads[plot], box, colours)
        ],
        "legend": _key(boxes["C"], width, height, colours),
    }
    for number, (plot, (left, right, bottom, top)) in enumerate(boxes.items(), 1):
        suffix = "" if number == 1 else str(number)
        across, up = _AXES[plot](x, width)
        x_domain, y_domain = [left / width, right / width], [bottom / height, top / height]
        still = _still(colours)
        made[f"xaxis{suffix}"] = {
            **still, "showgrid": False, "showline": True, **across,
            "domain": x_domain, "anchor": f"y{suffix}",
        }  # fmt: skip
        made[f"yaxis{suffix}"] = {**still, **up, "domain": y_domain, "anchor": f"x{suffix}"}
        made[f"xaxis{suffix}"]["title"] = {
            "text": across["title"],
            "font": {"color": colours["mute"], "size": 12},
            "standoff": 6,
        }
    return made


# ---- places -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Head:
    """A caption, its lines broken for the width it has."""

    title: list[str]
    more: list[str]
    key_rows: int  # rows of the key that stands there instead of `more`

    @property
    def height(self) -> int:
        rows = len(self.more) + 1.3 * self.key_rows
        return round(_TITLE_LINE * len(self.title) + _MORE_LINE * rows) + 26


def _head(plot: str, across: float) -> Head:
    title, more = _CAPTIONS[plot]
    return Head(
        textwrap.wrap(title, max(10, int(across / 8))),
        textwrap.wrap(more, max(10, int(across / 6.4))),
        0 if plot != "C" else 1 if across > 380 else 2,
    )


def _across(plot: str, width: int) -> float:
    """Pixels from left to right for a plot and its caption."""
    if width < WIDE:
        return width - 8
    middle = round(0.56 * width)
    return middle if plot in "AC" else width - middle - 28


def _boxes(width: int, wide: bool, heads: dict[str, int]) -> tuple[dict[str, Box], int]:
    """The box of each plot, without caption and axis, and the height of all."""
    rows = ["AB", "CD"] if wide else list("ABCD")
    height = sum(_PLOT + _FOOT + max(heads[plot] for plot in row) for row in rows)
    boxes: dict[str, Box] = {}
    top = height
    for row in rows:
        top -= max(heads[plot] for plot in row)
        for plot in row:
            left = _LEFT + (0 if plot in "AC" or not wide else width - _across(plot, width))
            right = left - _LEFT + _across(plot, width)
            boxes[plot] = (left, min(right, width - 12), top - _PLOT, top)
        top -= _PLOT + _FOOT
    return boxes, height


def _caption(head: Head, box: Box, colours: Colours) -> Iterable[dict[str, Any]]:
    left, _right, _bottom, top = box
    at = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "top", "x": 0, "y": 0}
    at |= {"showarrow": False, "align": "left", "borderpad": 0, "xshift": left - _LEFT + 8}
    yield {
        **at,
        "text": "<br>".join(f"<b>{line}</b>" for line in head.title),
        "yshift": top + head.height - 8,
        "font": {"size": 14, "color": colours["text"]},
    }
    if head.more:
        yield {
            **at,
            "text": "<br>".join(head.more),
            "yshift": top + head.height - 10 - _TITLE_LINE * len(head.title),
            "font": {"size": 12},
        }


def _key(box: Box, width: int, height: int, colours: Colours) -> dict[str, Any]:
    """The patterns of the memory bars, under that plot's title."""
    left, right, _bottom, top = box
    rows = 1 if right - left + _LEFT > 380 else 2
    return {
        "orientation": "h",
        "x": (left - _LEFT) / width,
        "y": (top + 16 + 21 * rows) / height,
        "xanchor": "left",
        "yanchor": "top",
        "bgcolor": "rgba(0,0,0,0)",
        "font": {"size": 12, "color": colours["mute"]},
        "itemclick": False,
        "itemdoubleclick": False,
        "itemwidth": 30,
        "traceorder": "normal",
    }


# ---- axes ---------------------------------------------------------------------------------

Axes = tuple[dict[str, Any], dict[str, Any]]


def _still(colours: Colours) -> dict[str, Any]:
    return {
        "fixedrange": True,
        "zeroline": False,
        "gridcolor": colours["line"],
        "linecolor": colours["line"],
        "tickfont": {"color": colours["mute"], "size": 12},
    }


def along_the_text(x: Experiment) -> dict[str, Any]:
    """The upward axis of plot A."""
    spreads = [s for run in x.of_size(x.setting.size_mb) for s in run.line.running()]
    return _log_axis([value for s in spreads for value in (s.quarter, s.three_quarters)])


def by_corpus(x: Experiment) -> dict[str, Any]:
    """The upward axis of plot B."""
    spreads = [s for run in x.runs.values() if (s := run.line.so_far)]
    values = [value for s in spreads for value in (s.quarter, s.three_quarters)]
    return _log_axis([*values, 1_890, 165_480])


def names_beside(n_names: int, width: int) -> bool:
    """Whether names stand to the right of the lines, in room of their own."""
    return width >= WIDE or (n_names > 2 and width >= 320)


def _along_the_text(x: Experiment, width: int) -> Axes:
    n = len(x.material.text)
    names = [short_name_of(run.setting.toggles) for run in x.of_size(x.setting.size_mb)]
    long = any(len(name) > LONG_NAME for name in names)
    room = 1.14
    if names_beside(len(names), width):
        room = (1.55 if long else 1.26) if width >= WIDE else (2.1 if long else 1.7)
    across = {
        "range": [0, room * n],
        "tickvals": [0, n // 2, n],
        "ticktext": ["0", f"{n // 2:,}", f"{n:,}"],
        "title": "tokens replayed",
    }
    return across, along_the_text(x)


def _by_corpus(x: Experiment, width: int) -> Axes:
    across = _corpora(sorted({*x.sizes, 25, 100, 541}), 1.16 if width >= WIDE else 1.24)
    return across, by_corpus(x)


def _memory(x: Experiment, width: int) -> Axes:
    held = [memory for run in x.runs.values() for memory in run.line.memory.values()]
    most = _round_up(max((memory.live_bytes for memory in held), default=0) / 2**20)
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
    across = _corpora(list(x.sizes), 1.1)
    most = _round_up(1.1 * max([800.0, *copied]))
    return across, {"range": [-0.02 * most, 1.1 * most], "nticks": 5, "tickformat": ","}


_AXES = {"A": _along_the_text, "B": _by_corpus, "C": _memory, "D": _copied}


def corpus_place(size_mb: int) -> float:
    """Where a corpus stands on its axis: none, then in steps of five times as much."""
    return 0.0 if size_mb == 0 else 1 + math.log(size_mb, 5)


def _corpora(sizes: list[int], room: float) -> dict[str, Any]:
    return {
        "range": [-0.25, max(1.0, corpus_place(sizes[-1])) * room],
        "tickvals": [corpus_place(size) for size in sizes],
        "ticktext": [corpus_name(size).removesuffix(" MB") for size in sizes],
        "title": "static cache from … MB",
    }


def apart(us: Sequence[float], axis: dict[str, Any], gap: float = 16) -> list[float]:
    """Places in µs on a log axis for names at these values, so many pixels apart at least."""
    low, high = axis["range"]
    step = gap * (high - low) / _PLOT
    places = [math.log10(value) for value in us]
    order = sorted(range(len(places)), key=lambda i: places[i])
    for _pass in range(4 * len(places)):  # neighbours push each other away
        for below, above in pairwise(order):
            close = step - (places[above] - places[below])
            if close > 0:
                places[below] -= close / 2
                places[above] += close / 2
    return [10**place for place in places]


def _round_up(value: float) -> float:
    """To the next of 1, 2, 3, 5, 10, 20, ...: axes that follow each figure would never rest."""
    steps = (digit * 10.0**power for power in range(8) for digit in (1, 2, 3, 5))
    return next(step for step in steps if step >= value)


def _log_axis(values_ns: Iterable[float]) -> dict[str, Any]:
    """A log axis in µs with ticks at 1, 2 and 5, wide enough for the values."""
    us = [value / 1000 for value in values_ns] or [1.0, 10.0]
    ticks = [digit * 10.0**power for power in range(-3, 6) for digit in (1, 2, 5)]
    below = max(tick for tick in ticks if tick <= max(min(us), ticks[0]))
    above = min(tick for tick in ticks if tick >= min(max(us), ticks[-1]))
    shown = [tick for tick in ticks if below <= tick <= above]
    return {
        "type": "log",
        "range": [math.log10(0.93 * below), math.log10(1.07 * max(above, 2 * below))],
        "tickvals": shown,
        "ticktext": [f"{tick:g}" for tick in shown],
    }


def faint(colour: str, alpha: float) -> str:
    """A colour "#rrggbb" made translucent."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"
