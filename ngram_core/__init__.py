"""Prompt lookup drafting, step by step, on a real C engine.

The draft rule of llama.cpp's n-gram caches, every optimisation of it as a switch, and what
each does to time and memory.

>>> import ngram_core as ng
>>> drafter = ng.Drafter()
>>> drafter.feed([1, 2, 3, 4, 1, 2, 3])
>>> drafter.draft(4).tolist()
[4, 1, 2, 3]
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .bounding import Bound
from .caches import LoadReport, Memory, NgramCache
from .counting import BigramCounter
from .drafter import Drafter
from .errors import EngineMemoryError, FormatError, InputError, NgramError, StateError
from .merging import merge_static
from .replay import Replay, Sample
from .rule import LLAMA_CPP, Rule
from .static_file import StaticAbout
from .toggles import (
    CONSTMAP,
    INNERVECTOR,
    NOCOPY,
    OUTERMAP,
    PLACES,
    PRECHECK,
    STAGES,
    UPSTREAM,
    Stage,
    Toggles,
    stage,
)
from .trace import Candidate, Row, Step

if TYPE_CHECKING:
    from . import inside as inside
    from .racing import race as race

__version__ = "0.1.0"

__all__ = [
    "CONSTMAP",
    "INNERVECTOR",
    "LLAMA_CPP",
    "NOCOPY",
    "OUTERMAP",
    "PLACES",
    "PRECHECK",
    "STAGES",
    "UPSTREAM",
    "BigramCounter",
    "Bound",
    "Candidate",
    "Drafter",
    "EngineMemoryError",
    "FormatError",
    "InputError",
    "LoadReport",
    "Memory",
    "NgramCache",
    "NgramError",
    "Replay",
    "Row",
    "Rule",
    "Sample",
    "Stage",
    "StateError",
    "StaticAbout",
    "Step",
    "Toggles",
    "merge_static",
    "stage",
]


def __getattr__(name: str) -> Any:
    """`ng.inside` and `ng.race` are loaded when they are first asked for."""
    if name == "inside":
        return importlib.import_module(".inside", __name__)
    if name == "race":  # the function; its package has another name, lest one hide the other
        return importlib.import_module(".racing", __name__).race
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
