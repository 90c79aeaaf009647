"""A plotly figure that is sent only what changed, and only when a page is there to take it."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

Trace = dict[str, Any]
Layout = dict[str, Any]

_PLAIN = {"type": "scatter", "showlegend": False}
_CONFIG = {"displayModeBar": False, "scrollZoom": False, "doubleClick": False}


class LiveFigure:
    """A FigureWidget with a fixed list of traces, brought up to date in one message.

    What is sent while the page is still making the plots (it reads 5 MB of JavaScript first) is
    lost or an error there. So nothing is sent before `attached` is set.
    """

    def __init__(self, traces: list[Trace], layout: Layout) -> None:
        data = [{**_PLAIN, **trace} for trace in traces]
        self.widget = go.FigureWidget({"data": data, "layout": layout})
        self.widget._config = dict(_CONFIG)
        self.attached = False  #: the page has drawn the plots, and takes changes from now on
        self._traces = traces
        self._layout = layout

    def draw(self, traces: list[Trace], layout: Layout) -> None:
        """Sends what differs from the last time, if there is a page to send it to."""
        if not self.attached:
            return
        with self.widget.batch_update():
            self.widget.update_layout(_changed(self._layout, layout))
            for drawn, before, trace in zip(self.widget.data, self._traces, traces, strict=True):
                drawn.update(_changed(before, trace))
        self._traces, self._layout = traces, layout

    def close(self) -> None:
        """Takes it off the page. It is never shown again: plotly's views listen for ever, and
        one whose cell was run again answers each change with an error on the console."""
        self.attached = False
        self.widget.close()


def _changed(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """The entries that are new or other; plotly takes a tenth of a second to check all."""
    return {name: value for name, value in now.items() if before.get(name) != value}
