"""What the views that measure while one watches have in common: board, plots, table, pump.

One class, since it is all about one thing: work in slices, shown no faster than the page draws,
paused when the page is gone, and nothing left behind when the cell runs again.
"""

from __future__ import annotations

import time
import traceback
from typing import Any, Protocol

import anywidget
import ipywidgets as W
from IPython.display import display

from ..errors import NgramError
from ..lesson.pump import Pump
from .figure import Layout, LiveFigure, Trace
from .figure_grid import LIGHT, Colours
from .switchboard import Figures

GONE_SECONDS = 20
"""A page that has drawn nothing for so long was closed: the work pauses."""

_open: Measuring | None = None
"""The one view of this kernel: each brings 5 MB of JavaScript to the page."""


class Model(Protocol):
    """What is measured."""

    @property
    def working(self) -> bool:
        """Whether there is more to do now."""

    def work(self) -> bool:
        """One short slice; True while there is more."""

    def pause(self) -> None:
        """Rests."""


class Measuring(W.VBox):  # type: ignore[misc]  # ipywidgets ships no types
    """A board to steer with, a figure and a table, over a model that works in slices.

    There is one in a kernel: a new one closes the one before, its work and its memory.

    Args:
        model: what works.
        board: a widget with `board`, `page` and `seen`; see `web/board_parts.js`.
    """

    per_second = 5.0
    """How often it is shown, at most."""

    def __init__(self, model: Model, board: anywidget.AnyWidget) -> None:
        global _open
        if _open is not None:
            _open.close()
        self.model = model
        self.pump = Pump(self._work, self._show, self._keeps_up, self.per_second)
        self._error = ""
        self._frame = 0
        self._heard_at = 0.0
        self._tabled_at = 0.0
        self.board = board
        self.figures = Figures(self.make_table())
        self.plots = LiveFigure(*self._pictures())
        self._show(True)
        super().__init__([self.board, self.plots.widget, self.figures])
        self.add_class("ngram-live")
        self.board.on_msg(self._pressed)
        self.board.observe(self._seen, "seen")
        self.board.observe(self._page_changed, "page")
        _open = self

    # ---- what a view of this kind makes ----------------------------------------------------

    def make_board(self) -> dict[str, Any]:
        """The board's document, less "frame" and "error"."""
        raise NotImplementedError

    def make_table(self) -> dict[str, Any]:
        """The table's document."""
        raise NotImplementedError

    def make_plots(self, width: int, colours: Colours) -> tuple[list[Trace], Layout]:
        """The figure's traces and layout."""
        raise NotImplementedError

    def act(self, action: str, value: Any) -> None:
        """Does what was pressed."""
        raise NotImplementedError

    def describe(self) -> str:
        """The state in words."""
        raise NotImplementedError

    def end(self) -> None:
        """Ends the work and frees its memory."""
        raise NotImplementedError

    # ---- what the reader does -------------------------------------------------------------

    def do(self, action: str, value: Any = None) -> None:
        """What a press does, by its name on the board."""
        self.act(action, value)
        if self.model.working:
            self._heard_at = time.monotonic()
            self.pump.start()

    def _pressed(self, _widget: Any, content: Any, _buffers: Any) -> None:
        """A press on the board; whatever goes wrong, the reader is told."""
        self._error = ""
        try:
            self.do(content["action"], content.get("value"))
        except (NgramError, OSError) as error:
            self._error = f"{str(error)[:1].upper()}{str(error)[1:]}."
        except Exception as error:
            self._went_wrong(error)
        self._show(True)

    def _went_wrong(self, error: Exception) -> None:
        traceback.print_exc()
        self._error = f"Something went wrong in the kernel: {error!r}."

    # ---- work and show --------------------------------------------------------------------

    def _work(self) -> bool:
        silent = time.monotonic() - self._heard_at
        if self.board.seen >= 0 and not self._keeps_up() and silent > GONE_SECONDS:
            self.model.pause()
        try:
            return self.model.work()
        except Exception as error:
            self._went_wrong(error)
            return False

    def _keeps_up(self) -> bool:
        return bool(self.board.seen < 0 or self.board.seen >= self._frame)

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
                **self.make_board(),
                "frame": self._frame,
                "error": self._error,
            }
            if whole or time.monotonic() - self._tabled_at >= 1:
                self.figures.table = self.make_table()
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
        width = max(200, min(1172, int(page.get("width") or 900) - 8))
        return self.make_plots(width, page.get("colours") or LIGHT)

    # ---- reading it -----------------------------------------------------------------------

    def __repr__(self) -> str:
        return self.describe()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The live view, and its description wherever no live view can be."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is not None:
            bundle["text/plain"] = self.describe()
        return bundle

    def show(self) -> None:
        """Displays it."""
        display(self)  # type: ignore[no-untyped-call]

    def close(self) -> None:
        """Ends the work, frees its memory, takes the view off the page; twice is fine."""
        global _open
        if _open is self:
            _open = None
        self.pump.stop()
        self.end()
        self.plots.close()
        for widget in (self.board, self.figures, self):
            widget.layout.close()  # a widget of its own, which would stay
        self.board.close()
        self.figures.close()
        super().close()
