"""The board of an experiment on the page: it draws a document and hears what was pressed."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from .assets import script, style


class Switchboard(anywidget.AnyWidget):
    """Sentence, buttons, progress, light and switches; see `lesson/board.py` for `board`.

    The page tells its width and colours in `page`, in `seen` the last frame it has drawn, and in
    `opened` whether all switches are open.
    """

    _esm = script("switchboard")
    _css = style("switchboard")

    board = traitlets.Dict().tag(sync=True)
    page = traitlets.Dict().tag(sync=True)
    seen = traitlets.Int(-1).tag(sync=True)
    opened = traitlets.Bool(False).tag(sync=True)


class Figures(anywidget.AnyWidget):
    """The results as a table; see `lesson/table.py`."""

    _esm = script("figures")
    _css = style("figures")

    table = traitlets.Dict().tag(sync=True)

    def __init__(self, table: dict[str, Any]) -> None:
        super().__init__(table=table)
