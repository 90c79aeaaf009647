"""What all views share: one clean-up rule and a way to be read without a browser."""

from __future__ import annotations

import weakref
from typing import Any

import anywidget
from IPython.display import display

PLACE = {"sync": True, "echo_update": False}
"""Tags of a trait that says where the reader is: the kernel must not send it back, or a place told
while it was busy would come when the reader is further."""

_shown: dict[str, tuple[int, list[weakref.ref[anywidget.AnyWidget]]]] = {}
"""The widgets that each cell made in its latest run: cell id -> (run, widgets)."""


class View(anywidget.AnyWidget):
    """A widget that is closed when its cell runs again, and that says its state in text."""

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        _keep_only_latest(self)

    def close(self) -> None:
        """Close it, with its layout, which would stay behind in the page and the kernel."""
        layout = self.layout if self.comm is not None else None
        super().close()
        if layout is not None:
            layout.close()

    def describe(self) -> str:
        """The state in words."""
        raise NotImplementedError

    def show_begun(self) -> None:
        """Display it, and print what it says at first; the page goes on, the printed line stays."""
        display(self)  # type: ignore[no-untyped-call]
        print(f"At first: {self.describe().splitlines()[-1]}")

    def __repr__(self) -> str:
        return self.describe()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The live view, and its description wherever no live view can be."""
        bundle = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        if data is None:
            return {"text/plain": self.describe()}
        data["text/plain"] = self.describe()
        return bundle


def whole_text(typed: Any) -> str:
    """What the page sent, as text that can be sent back: half of a surrogate pair cannot."""
    return str(typed).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _keep_only_latest(widget: anywidget.AnyWidget) -> None:
    """Close the widgets that this cell made when it ran before; without a cell, keep all."""
    cell, run = _running_cell()
    if not cell:
        return
    known_run, widgets = _shown.get(cell, (run, []))
    if known_run != run:
        for made in widgets:
            old = made()
            if old is not None:
                old.close()
        widgets = []
    _shown[cell] = (run, [*widgets, weakref.ref(widget)])


def _running_cell() -> tuple[str, int]:
    """The id of the cell being run and the number of this run, or ("", 0)."""
    try:
        from IPython import get_ipython
    except ImportError:
        return "", 0
    shell = get_ipython()
    parent: Any = getattr(shell, "get_parent", dict)()
    cell = parent.get("metadata", {}).get("cellId", "") if isinstance(parent, dict) else ""
    return str(cell), int(getattr(shell, "execution_count", 0))
