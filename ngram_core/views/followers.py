"""Lesson 05's views: the curve of followers with their bytes, and followers coming in."""

from __future__ import annotations

from ..lesson.followers.arrival import ArrivalModel
from ..lesson.followers.curve import FollowersModel
from .assets import script, style
from .inside import Inside


class Followers(Inside):
    """How many followers 2-grams have, here and published, and what so many take in memory."""

    _esm = script("followers")
    _css = style("inside", "followers")

    model: FollowersModel

    def __init__(self, model: FollowersModel | None = None) -> None:
        super().__init__(model or FollowersModel())

    def ask(self, typed: str) -> str:
        """Counts a text of the reader's own."""
        return self.model.count(typed)


class Arrival(Inside):
    """The followers of one word coming in, in an array and in a map."""

    _esm = script("arrival")
    _css = style("inside", "followers")

    def __init__(self, model: ArrivalModel | None = None) -> None:
        super().__init__(model or ArrivalModel())
