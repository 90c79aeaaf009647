"""The widgets of the lessons: thin views over the models in `ngram_core.lesson`.

>>> from ngram_core.views import Stepper
>>> Stepper("recipe")  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .bars import BarTable
    from .checking import Check, Lines
    from .file_bytes import FileView
    from .followers import Arrival, Followers
    from .fuse_map import LookUp, Peel
    from .keep import Keep
    from .live import Live
    from .payoff import Payoff
    from .predict import Exercise, Predict
    from .race import Race
    from .searches import Search, SearchTimes
    from .stepper import Stepper
    from .tables import Growth, TableView

_HOMES = {
    "Stepper": "stepper",
    "Predict": "predict",
    "Exercise": "predict",
    "Followers": "followers",
    "Arrival": "followers",
    "TableView": "tables",
    "Search": "searches",
    "SearchTimes": "searches",
    "Growth": "tables",
    "Keep": "keep",
    "Live": "live",
    "Race": "race",
    "Peel": "fuse_map",
    "LookUp": "fuse_map",
    "FileView": "file_bytes",
    "BarTable": "bars",
    "Check": "checking",
    "Lines": "checking",
    "Payoff": "payoff",
}

__all__ = [
    "Arrival",
    "BarTable",
    "Check",
    "Exercise",
    "FileView",
    "Followers",
    "Growth",
    "Keep",
    "Lines",
    "Live",
    "LookUp",
    "Payoff",
    "Peel",
    "Predict",
    "Race",
    "Search",
    "SearchTimes",
    "Stepper",
    "TableView",
]


def __getattr__(name: str) -> Any:
    """Load a view when it is first asked for: none of them waits for another's libraries."""
    if name not in _HOMES:
        raise AttributeError(f"there is no view {name!r}; there are: {', '.join(_HOMES)}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
