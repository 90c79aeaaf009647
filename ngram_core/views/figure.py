"""One plotly figure that lives as long as the kernel and is only ever sent what changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import plotly.graph_objects as go

Trace = dict[str, Any]
Layout = dict[str, Any]

_PLAIN = {"type": "scatter", "showlegend": False}
_CONFIG = {"displayModeBar": False, "scrollZoom": False, "doubleClick": False}


class LiveFigure:
    """A FigureWidget with a fixed list of traces, brought up to date in one message.

    What is sent before the page has drawn the figure for the first time would be lost, since
    its 5 MB of JavaScript are still being read. So nothing is sent until the page has answered;
    then `draw_again` is called once.
    """

    def __init__(self, traces: list[Trace], layout: Layout) -> None:
        data = [{**_PLAIN, **trace} for trace in traces]
        self.widget = go.FigureWidget({"data": data, "layout": layout})
        self.widget._config = dict(_CONFIG)
        self.widget.observe(self._answered, "_js2py_layoutDelta")
        self.attached = False
        self.draw_again: Callable[[], None] = lambda: None
        self._traces = traces
        self._layout = layout

    def _answered(self, change: Any) -> None:
        if not self.attached and change["new"]:
            self.attached = True
            self.draw_again()

    def draw(self, traces: list[Trace], layout: Layout) -> None:
        """Sends what differs from the last time, if there is a page to send it to."""
        if not self.attached:
            return
        with self.widget.batch_update():
            if layout != self._layout:
                self.widget.update_layout(layout)
            for drawn, trace, before in zip(self.widget.data, traces, self._traces, strict=True):
                if trace != before:
                    drawn.update(trace)
        self._traces, self._layout = traces, layout


_figure: LiveFigure | None = None


def the_figure(traces: list[Trace], layout: Layout) -> LiveFigure:
    """The kernel's one figure; one that a page shows already is drawn over, not made anew."""
    global _figure
    if _figure is None or not _figure.attached:
        _figure = LiveFigure(traces, layout)
    else:
        _figure.draw(traces, layout)
    return _figure
