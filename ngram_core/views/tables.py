"""Lesson 04's views: a look-up in chains and in slots, and how a table grows."""

from __future__ import annotations

from ..lesson.tables.growth import GrowthModel
from ..lesson.tables.lookup import LookupModel
from .assets import script, style
from .inside import Inside


class TableView(Inside):
    """An n-gram looked up in a chained and in a flat table, visit by visit."""

    _esm = script("lookup")
    _css = style("inside", "tables")

    def __init__(self, model: LookupModel | None = None) -> None:
        super().__init__(model or LookupModel())


class Growth(Inside):
    """A table that grows by doubling beside one that grows in segments."""

    _esm = script("growth")
    _css = style("inside", "followers", "tables")

    def __init__(self, model: GrowthModel | None = None) -> None:
        super().__init__(model or GrowthModel())
