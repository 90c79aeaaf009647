"""Views of the inside as data: what the engine does where, written down by itself as it runs.

Nothing here is computed a second time in Python: each record is made by the same C code that
looks up, searches, builds and drafts, compiled once more with a recorder.

>>> import ngram_core as ng
>>> path = ng.inside.search_path([2, 3, 5, 7, 11, 13, 17], 11)
>>> [(step.position, step.token, step.n_below) for step in path.compared]
[(3, 7, 1), (5, 13, 0), (4, 11, 0), (3, 7, 1)]
"""

from __future__ import annotations

from .._native import PROBE_DTYPE, TOUCH_DTYPE
from .files import FileSpan, file_spans
from .fuse import FuseLookup, Peeling, fuse_attempt, fuse_look_up, key_hash, peeling
from .lines import CacheLines, LineTouch, cache_lines
from .search import Compared, SearchPath, search_ns, search_path
from .table import Place, TableAround, TableReport, table_around, table_report

__all__ = [
    "PROBE_DTYPE",
    "TOUCH_DTYPE",
    "CacheLines",
    "Compared",
    "FileSpan",
    "FuseLookup",
    "LineTouch",
    "Peeling",
    "Place",
    "SearchPath",
    "TableAround",
    "TableReport",
    "cache_lines",
    "file_spans",
    "fuse_attempt",
    "fuse_look_up",
    "key_hash",
    "peeling",
    "search_ns",
    "search_path",
    "table_around",
    "table_report",
]
