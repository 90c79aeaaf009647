"""A button that downloads the notebook: where it is used may forget it."""

from __future__ import annotations

from IPython.display import display

from .assets import script, style
from .base import View


class Keep(View):
    """Downloads the notebook that it is shown in, as it was saved last."""

    _esm = script("keep")
    _css = style("predict")

    def show(self) -> None:
        """Display it."""
        display(self)  # type: ignore[no-untyped-call]

    def describe(self) -> str:
        """Where there is no button."""
        return "To keep this notebook: save it, then choose File, Download in the menu."
