"""A plotly figure that is sent only what changed, and only when a page is there to take it."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import plotly.graph_objects as go
import traitlets

from .assets import WEB, script

Trace = dict[str, Any]
Layout = dict[str, Any]

_PLAIN = {"type": "scatter", "showlegend": False}
_CONFIG = {"displayModeBar": False, "scrollZoom": False, "doubleClick": False}


def _guarded(bundle: str) -> str:
    """plotly's widget script with our guard behind it; see `web/plot_guard.js`."""
    named = re.search(r"([\w$]+) as FigureView\b", bundle[bundle.rfind("export{") :])
    if named is None:  # another plotly: as it is
        return bundle
    guard = (WEB / "plot_guard.js").read_text(encoding="utf-8")
    return f"{bundle}\n{guard.replace('VIEW', named[1])}"


SCRIPT = _guarded(str(go.FigureWidget._esm))
"""What draws the figures, for a page that does not have it yet."""


class Plot(go.FigureWidget):  # type: ignore[misc]  # plotly ships no types
    """plotly's figure, whose views share one script and say nothing once they are off the page.

    The first of a kernel brings the script, which is faster than to be asked for it behind the
    cells that wait to be run; the page that is shown later ones has it, or asks.
    """

    _esm = script("plot")

    _script = traitlets.Unicode().tag(sync=True)
    _script_name = traitlets.Unicode(hashlib.sha256(SCRIPT.encode()).hexdigest()).tag(sync=True)

    _sent = False  #: by one of this kernel's figures

    @traitlets.default("_script")
    def _first_one_brings_it(self) -> str:
        first, Plot._sent = not Plot._sent, True
        return SCRIPT if first else ""

    _whole = False  #: what the page is to draw is there

    def __init__(self, figure: dict[str, Any]) -> None:
        super().__init__(figure)
        self._config = dict(_CONFIG)
        # plotly asks for views to be counted and reads the count nowhere. A page that takes a view
        # off counts down, and if the kernel has closed the figure by then, that is an error on it.
        self._view_count = None
        self.on_msg(self._asked)
        self._whole = True
        self.open()

    def open(self) -> None:
        """plotly opens its model empty and fills it in messages of their own. A busy page that
        draws in between would show an empty plot for good: so we open it when it is whole."""
        if self._whole:
            super().open()

    def _asked(self, _widget: Any, content: Any, _buffers: Any) -> None:
        if content.get("kind") == "script":
            self.send({"kind": "script", "source": SCRIPT})


class LiveFigure:
    """A plotly figure with a fixed list of traces, brought up to date in one message.

    What is sent while the page is still making the plots (it reads 5 MB of JavaScript first) is
    lost or an error there. So nothing is sent before `attached` is set.
    """

    def __init__(self, traces: list[Trace], layout: Layout) -> None:
        data = [{**_PLAIN, **trace} for trace in traces]
        self.widget = Plot({"data": data, "layout": layout})
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
                if changed := _changed(before, trace):
                    drawn.update(changed)
        self._traces, self._layout = traces, layout

    def close(self) -> None:
        """Takes it off the page."""
        self.attached = False
        self.widget.close()


def _changed(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """The entries that are new or other; plotly takes a tenth of a second to check all."""
    return {name: value for name, value in now.items() if before.get(name) != value}
