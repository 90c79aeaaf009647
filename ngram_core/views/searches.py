"""Lesson 06's views: searches side by side, and how long they take."""

from __future__ import annotations

from ..lesson.searches.paths import SearchModel
from ..lesson.searches.times import TimesModel
from .assets import script, style
from .inside import Inside


class Search(Inside):
    """Three searches for one follower, comparison by comparison."""

    _esm = script("search")
    _css = style("inside", "tables", "searches")

    def __init__(self, model: SearchModel | None = None) -> None:
        super().__init__(model or SearchModel())


class SearchTimes(Inside):
    """Time of one search over the length of the list, measured when this is made."""

    _esm = script("searchtimes")
    _css = style("inside", "followers", "searches")

    def __init__(self, model: TimesModel | None = None) -> None:
        super().__init__(model or TimesModel())
