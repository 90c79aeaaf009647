"""Lesson 10's view: whether drafting pays, for a workload and a machine."""

from __future__ import annotations

from ..lesson.payoff.board import PayoffModel
from .assets import script, style
from .inside import Inside


class Payoff(Inside):
    """Tokens per pass, the price of a pass and the speed-up, over the number of guesses.

    Args:
        model: what to show; by default all workloads, and this machine measured now.
    """

    _esm = script("payoff")
    _css = style("inside", "followers", "payoff")

    model: PayoffModel

    def __init__(self, model: PayoffModel | None = None) -> None:
        super().__init__(model or PayoffModel())

    def ask(self, typed: str) -> str:
        """Measures a text of the reader's own."""
        return self.model.measure(typed)
