"""Lesson 08's views: rows checked before they are scored, and the cache lines of a guess."""

from __future__ import annotations

from ..lesson.checking.lines import LinesModel
from ..lesson.checking.rows import CheckModel
from .assets import script, style
from .inside import Inside


class Check(Inside):
    """Rows at some words of the recipe: their largest count first, then, perhaps, the scores.

    Args:
        word: of the recipe: 42, 37, 86, 82 or 89.
    """

    _esm = script("checkrows")
    _css = style("inside", "checking")

    def __init__(self, word: int = 42) -> None:
        super().__init__(CheckModel(word))


class Lines(Inside):
    """The cache lines that one guess touches, step by step, for each stage.

    Args:
        stage: shown at first.
        word: of the recipe: 42, 82 or 89.
    """

    _esm = script("cachelines")
    _css = style("inside", "checking")

    def __init__(self, stage: str = "precheck", word: int = 42) -> None:
        super().__init__(LinesModel(stage, word))
