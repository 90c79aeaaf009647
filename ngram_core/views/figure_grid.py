"""Several plots in one figure: where they stand, with captions, in JupyterLab's colours.

From 720 pixels on two in a row, below that one under the other, down to 200 pixels.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

Colours = dict[str, str]
Box = tuple[float, float, float, float]  # left, right, bottom, top, in pixels from below left
Axes = tuple[dict[str, Any], dict[str, Any]]
"""Across, with its "title", and upward."""

LIGHT: Colours = {
    "text": "#1b1f24", "mute": "#59616b", "edge": "#858d97", "line": "#d5d9de", "panel": "#ffffff",
    "ctx": "#0072b2", "ctx-ink": "#005f96", "dyn": "#cc79a7", "dyn-ink": "#95406f",
    "sta": "#e69f00", "sta-ink": "#855600", "font": "sans-serif",
}  # fmt: skip
"""Colours until the page tells its own."""

WIDE = 720

_FOOT = 62  # height of the axis below a plot
_TITLE_LINE, _MORE_LINE = 19, 16  # heights of the two sizes of letters in a caption


@dataclass(frozen=True)
class Panel:
    """One plot: its caption, and the room it takes.

    Args:
        key_rows: rows of the key that stands under the title: with much room, and with little.
        left: pixels for the words of the upward axis.
        height: of the plot itself.
    """

    title: str
    more: str = ""
    key_rows: tuple[int, int] = (0, 0)
    left: int = 58
    height: int = 230


def grid_layout(
    panels: Mapping[str, Panel],
    rows: Sequence[str],
    axes: Mapping[str, Axes],
    width: int,
    colours: Colours,
) -> dict[str, Any]:
    """The figure's layout: size, colours, axes, captions.

    Args:
        panels: by a letter; the first has the axes x and y, the next x2 and y2.
        rows: the letters that stand side by side where there is room; one of them has the key.
        axes: of each plot.
    """
    left_ones = {row[0] for row in rows}
    across = {letter: _across(letter in left_ones, width) for letter in panels}
    heads = {letter: _head(panel, across[letter]) for letter, panel in panels.items()}
    boxes, height = _boxes(panels, rows, across, heads, width)
    rooms = _rooms(rows, heads, width)
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
            note
            for letter, box in boxes.items()
            for note in _caption(heads[letter], box, rooms[letter], panels[letter].left, colours)
        ],
    }
    for letter, head in heads.items():
        if head.key_rows:
            made["legend"] = _key(boxes[letter], panels[letter].left, head, width, height, colours)
    for number, letter in enumerate(panels, 1):
        suffix = "" if number == 1 else str(number)
        (left, right, bottom, top), (x_axis, y_axis) = boxes[letter], axes[letter]
        still = _still(colours)
        made[f"xaxis{suffix}"] = {
            **still, "showgrid": False, "showline": True, **x_axis,
            "domain": [left / width, right / width], "anchor": f"y{suffix}",
        }  # fmt: skip
        made[f"yaxis{suffix}"] = {
            **still,
            **y_axis,
            "domain": [bottom / height, top / height],
            "anchor": f"x{suffix}",
        }
        made[f"xaxis{suffix}"]["title"] = {
            "text": x_axis["title"],
            "font": {"color": colours["mute"], "size": 12},
            "standoff": 6,
        }
    return made


# ---- places -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Head:
    """A caption, its lines broken for the width it has."""

    title: list[str]
    more: list[str]
    key_rows: int

    @property
    def height(self) -> int:
        rows = len(self.more) + 1.3 * self.key_rows
        return round(_TITLE_LINE * len(self.title) + _MORE_LINE * rows) + 26


def _head(panel: Panel, across: float) -> _Head:
    return _Head(
        textwrap.wrap(panel.title, max(10, int(across / 8.6))),
        textwrap.wrap(panel.more, max(10, int(across / 6.8))),
        panel.key_rows[0] if across > 380 else panel.key_rows[1],
    )


def plot_width(panel: Panel, on_the_left: bool, width: int) -> float:
    """Pixels from left to right for a plot itself, without the words of its upward axis."""
    return min(_across(on_the_left, width), width - 12) - panel.left


def _across(on_the_left: bool, width: int) -> float:
    """Pixels from left to right for a plot and its caption."""
    if width < WIDE:
        return width - 8
    middle = round(0.56 * width)
    return middle if on_the_left else width - middle - 28


def _boxes(
    panels: Mapping[str, Panel],
    rows: Sequence[str],
    across: Mapping[str, float],
    heads: Mapping[str, _Head],
    width: int,
) -> tuple[dict[str, Box], int]:
    """The box of each plot, without caption and axis, and the height of all."""
    if width < WIDE:
        rows = [letter for row in rows for letter in row]
    row_head = [max(heads[letter].height for letter in row) for row in rows]
    row_plot = [max(panels[letter].height for letter in row) for row in rows]
    height = sum(row_head) + sum(row_plot) + _FOOT * len(rows)
    boxes: dict[str, Box] = {}
    top = height
    for row, head, plot in zip(rows, row_head, row_plot, strict=True):
        top -= head
        for letter in row:
            begin = 0 if letter == row[0] else width - across[letter]
            left = begin + panels[letter].left
            boxes[letter] = (left, min(begin + across[letter], width - 12), top - plot, top)
        top -= plot + _FOOT
    return {letter: boxes[letter] for letter in panels}, height


def _rooms(rows: Sequence[str], heads: Mapping[str, _Head], width: int) -> dict[str, int]:
    """The height above each plot; captions side by side begin at one height."""
    together = rows if width >= WIDE else list(heads)
    return {letter: max(heads[other].height for other in row) for row in together for letter in row}


def _caption(
    head: _Head, box: Box, above: int, room: int, colours: Colours
) -> Iterable[dict[str, Any]]:
    left, _right, _bottom, top = box
    at = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "top", "x": 0, "y": 0}
    at |= {"showarrow": False, "align": "left", "borderpad": 0, "xshift": left - room + 8}
    yield {
        **at,
        "text": "<br>".join(f"<b>{line}</b>" for line in head.title),
        "yshift": top + above - 8,
        "font": {"size": 14, "color": colours["text"]},
    }
    if head.more:
        yield {
            **at,
            "text": "<br>".join(head.more),
            "yshift": top + above - 10 - _TITLE_LINE * len(head.title),
            "font": {"size": 12},
        }


def _key(
    box: Box, room: int, head: _Head, width: int, height: int, colours: Colours
) -> dict[str, Any]:
    """The patterns of the memory bars, under that plot's title."""
    left, _right, _bottom, top = box
    return {
        "orientation": "h",
        "x": (left - room) / width,
        "y": (top + 16 + 21 * head.key_rows) / height,
        "xanchor": "left",
        "yanchor": "top",
        "bgcolor": "rgba(0,0,0,0)",
        "font": {"size": 12, "color": colours["mute"]},
        "itemclick": False,
        "itemdoubleclick": False,
        "itemwidth": 30,
        "traceorder": "normal",
    }


# ---- axes and names -----------------------------------------------------------------------


def _still(colours: Colours) -> dict[str, Any]:
    return {
        "fixedrange": True,
        "zeroline": False,
        "gridcolor": colours["line"],
        "linecolor": colours["line"],
        "tickfont": {"color": colours["mute"], "size": 12},
    }


def corpus_place(size_mb: float) -> float:
    """Where a corpus stands on its axis: none, then in steps of five times as much."""
    return 0.0 if size_mb == 0 else max(0.3, 1 + math.log(size_mb, 5))


def corpus_axis(sizes: Sequence[float], room: float, narrow: bool = False) -> dict[str, Any]:
    """The axis of corpora, with so many times the room; a word would stand on its neighbour where
    it is narrow."""
    none = "0" if narrow else "none"
    return {
        "range": [-0.25, max(1.0, corpus_place(sizes[-1])) * room],
        "tickvals": [corpus_place(size) for size in sizes],
        "ticktext": [f"{size:g}" if size else none for size in sizes],
        "title": "static cache from … MB",
        "tickangle": 0,
    }


def round_up(value: float) -> float:
    """To the next of 1, 2, 3, 5, 10, 20, ...: axes that follow each figure would never rest."""
    steps = (digit * 10.0**power for power in range(8) for digit in (1, 2, 3, 5))
    return next(step for step in steps if step >= value)


def log_axis(values: Iterable[float], digits: Sequence[int] = (1, 2, 5)) -> dict[str, Any]:
    """A log axis with ticks at these digits, wide enough for the values."""
    held = list(values) or [1.0, 10.0]
    ticks = [digit * 10.0**power for power in range(-3, 6) for digit in digits]
    below = max(tick for tick in ticks if tick <= max(min(held), ticks[0]))
    above = min(tick for tick in ticks if tick >= min(max(held), ticks[-1]))
    shown = [tick for tick in ticks if below <= tick <= above]
    return {
        "type": "log",
        "range": [math.log10(0.93 * below), math.log10(1.07 * max(above, 2 * below))],
        "tickvals": shown,
        "ticktext": [f"{tick:,g}" for tick in shown],
    }


def apart(
    values: Sequence[float], axis: dict[str, Any], gap: float = 16, height: float = 230
) -> list[float]:
    """Places on a log axis for names at these values, so many pixels apart at least."""
    low, high = axis["range"]
    step = gap * (high - low) / height
    places = [math.log10(value) for value in values]
    order = sorted(range(len(places)), key=lambda i: places[i])
    for _pass in range(4 * len(places)):  # neighbours push each other away
        for below, above in pairwise(order):
            close = step - (places[above] - places[below])
            if close > 0:
                places[below] -= close / 2
                places[above] += close / 2
    return [10**place for place in places]


def words(colours: Colours, size: int = 13, ink: str = "text") -> dict[str, Any]:
    """Letters that lines pass behind: around each lies a little of the page's own colour."""
    page = colours["panel"]
    around = ", ".join(f"{x}px {y}px 1px {page}" for x in (-2, 0, 2) for y in (-2, 0, 2) if x or y)
    return {"color": colours[ink], "size": size, "shadow": around}


def faint(colour: str, alpha: float) -> str:
    """A colour "#rrggbb" made translucent."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"
