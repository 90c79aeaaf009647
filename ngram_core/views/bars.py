"""Figures as bars on the page; see `lesson/bars.py`."""

from __future__ import annotations

import traitlets
from IPython.display import display

from ..lesson.bars import Bars
from .assets import script, style
from .base import View


class BarTable(View):
    """A table of bars, measured here and published.

    Args:
        model: what to draw.
    """

    _esm = script("bars")
    _css = style("bars")

    bars = traitlets.Dict().tag(sync=True)

    def __init__(self, model: Bars) -> None:
        self.model: Bars = model
        super().__init__(bars=model.document())

    def show(self) -> None:
        """Display it."""
        display(self)  # type: ignore[no-untyped-call]

    def describe(self) -> str:
        """The table as lines of text."""
        return self.model.describe()
