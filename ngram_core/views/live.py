"""Live: an experiment with its board, its plots and its table, in the notebook."""

from __future__ import annotations

import time
import traceback
from dataclasses import asdict
from typing import Any

import ipywidgets as W
from IPython.display import display

from ..errors import NgramError
from ..lesson.board import STOP_COPYING, Front, board
from ..lesson.experiment import Experiment
from ..lesson.findings import Result, corpus_name, describe, results
from ..lesson.pump import Pump
from ..lesson.table import table
from .figure import Layout, LiveFigure, Trace
from .plot_layout import Colours, layout
from .plots import traces
from .switchboard import Figures, Switchboard

_LIGHT: Colours = {
    "text": "#1b1f24", "mute": "#59616b", "edge": "#858d97", "line": "#d5d9de", "panel": "#ffffff",
    "ctx": "#0072b2", "ctx-ink": "#005f96", "dyn": "#cc79a7", "dyn-ink": "#95406f",
    "sta": "#e69f00", "sta-ink": "#855600", "font": "sans-serif",
}  # fmt: skip
"""Colours until the page tells its own."""

_GONE_SECONDS = 20
"""A page that has drawn nothing for so long was closed: the run pauses."""

_open: Live | None = None
"""The one view of this kernel: each brings 5 MB of JavaScript to the page."""


class Live(W.VBox):  # type: ignore[misc]  # ipywidgets ships no types
    """An experiment that the reader steers, measured and drawn while it runs.

    Args:
        experiment: what to steer; by default one on Python's own library source.
        front: switches and stages that stand in front of all others.

    There is one in a kernel: a new one closes the one before, its runs and its memory.
    """

    def __init__(self, experiment: Experiment | None = None, front: Front = STOP_COPYING) -> None:
        global _open
        if _open is not None:
            _open.close()
        self.experiment = experiment or Experiment()
        self._front = front
        self.pump = Pump(self._work, self._show, self._keeps_up)
        self._error = ""
        self._frame = 0
        self._heard_at = 0.0
        self._tabled_at = 0.0
        self.board = Switchboard()
        self.figures = Figures(table(self.experiment))
        self.plots = LiveFigure(*self._pictures())
        self._show(True)
        super().__init__([self.board, self.plots.widget, self.figures])
        self.add_class("ngram-live")
        self.board.on_msg(self._pressed)
        self.board.observe(self._seen, "seen")
        self.board.observe(self._page_changed, "page")
        _open = self

    # ---- what the reader does -------------------------------------------------------------

    def _pressed(self, _widget: Any, content: Any, _buffers: Any) -> None:
        """A press on the board; whatever goes wrong, the reader is told."""
        self._error = ""
        try:
            self.do(content["action"], content.get("value"))
        except NgramError as error:
            self._error = f"{str(error)[:1].upper()}{str(error)[1:]}."
        except Exception as error:
            self._went_wrong(error)
        self._show(True)

    def _went_wrong(self, error: Exception) -> None:
        traceback.print_exc()
        self._error = f"Something went wrong in the kernel: {error!r}."

    def do(self, action: str, value: Any = None) -> None:
        """What a press does: start, resume, pause, stop, size, switch or preset."""
        x = self.experiment
        if action == "size":
            x.choose(size_mb=value)
        elif action == "switch":
            x.choose(**dict([value]))
        elif action == "preset":
            x.choose(**asdict(x.stages[value]))
        else:
            {"start": x.start, "resume": x.resume, "pause": x.pause, "stop": x.stop}[action]()
        if x.working:
            self._heard_at = time.monotonic()
            self.pump.start()

    def run(self, stage: str, size_mb: int = 0) -> None:
        """Runs one stage on one corpus to its end, here and now; the view follows at the end."""
        self.do("size", size_mb)
        self.do("preset", stage)
        self.experiment.run_to_end()
        self._show(True)

    # ---- work and show --------------------------------------------------------------------

    def _work(self) -> bool:
        silent = time.monotonic() - self._heard_at
        if self.board.seen >= 0 and not self._keeps_up() and silent > _GONE_SECONDS:
            self.experiment.pause()
        try:
            return self.experiment.work()
        except Exception as error:
            self._went_wrong(error)
            return False

    def _keeps_up(self) -> bool:
        return self.board.seen < 0 or self.board.seen >= self._frame

    def _seen(self, _change: Any) -> None:
        self._heard_at = time.monotonic()

    def _page_changed(self, _change: Any) -> None:
        self.plots.attached = bool(self.board.page.get("drawn"))
        self._draw()

    def _show(self, whole: bool) -> None:
        """Brings all parts up to date; the table once a second, unless `whole`."""
        try:
            self._frame += 1
            self.board.board = {
                **board(self.experiment, self._front),
                "frame": self._frame,
                "error": self._error,
            }
            if whole or time.monotonic() - self._tabled_at >= 1:
                self.figures.table = table(self.experiment)
                self._tabled_at = time.monotonic()
            self._draw()
        except Exception as error:
            traceback.print_exc()
            message = f"The figures could not be drawn: {error!r}."
            self.board.board = {**self.board.board, "error": message, "frame": self._frame}

    def _draw(self) -> None:
        self.plots.draw(*self._pictures())

    def _pictures(self) -> tuple[list[Trace], Layout]:
        """What the figure is to show, in the page's colours and for its width."""
        page = self.board.page
        colours = page.get("colours") or _LIGHT
        width = max(200, min(1172, int(page.get("width") or 900) - 8))
        made = traces(self.experiment, width, colours)
        return made, layout(self.experiment, width, colours)

    # ---- reading it -----------------------------------------------------------------------

    def results(self) -> list[Result]:
        """One row a run, as in the table."""
        return results(self.experiment)

    def describe(self) -> str:
        """What is going on, the light, and one line a run."""
        return describe(self.experiment)

    def __repr__(self) -> str:
        return self.describe()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The live view, and its description wherever no live view can be."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is not None:
            bundle["text/plain"] = self.describe()
        return bundle

    def show(self) -> None:
        """Displays it, and prints in one line what it will measure."""
        display(self)  # type: ignore[no-untyped-call]
        x = self.experiment
        corpora = ", ".join(corpus_name(size) for size in x.sizes)
        print(f"{len(x.material.text):,} tokens to replay; static cache: {corpora}")

    def close(self) -> None:
        """Stops the run, frees its memory, takes the view off the page; twice is fine."""
        global _open
        if _open is self:
            _open = None
        self.pump.stop()
        self.experiment.close(wait=False)
        self.plots.close()
        for widget in (self.board, self.figures, self):
            widget.layout.close()  # a widget of its own, which would stay
        self.board.close()
        self.figures.close()
        super().close()
