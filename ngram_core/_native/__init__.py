"""The only package that calls the C engine: handles, arrays in and out, errors by code.

Everything above it speaks Python and numpy; another loader of the same engine (WebAssembly,
say) would replace this package alone.
"""

from .caches import NativeCache, new_cursor, new_load_report
from .counting import NativeConstmapBuilder, NativeCounter, NativePackedBuilder
from .drafting import NativeDrafter, NativeReplay
from .handles import Handle
from .inside import (
    FROM,
    FUSE_VERDICTS,
    MEANINGS,
    MOST_PEELED,
    TOUCHED,
    LegacySpans,
    cache_search_path,
    constmap_spans,
    fuse_attempt,
    fuse_look_up,
    fuse_peeling,
    key_hash,
    packed_spans,
    search_path,
    table_around,
    table_facts,
    time_searches,
)
from .machine import clock_cost_ns, compiler
from .values import (
    MAX_DRAFT,
    MAX_TOKEN,
    NGRAM_DTYPE,
    PROBE_DTYPE,
    TOUCH_DTYPE,
    Tokens,
    as_count,
    as_tokens,
    error_of,
)

__all__ = [
    "FROM",
    "FUSE_VERDICTS",
    "MAX_DRAFT",
    "MAX_TOKEN",
    "MEANINGS",
    "MOST_PEELED",
    "NGRAM_DTYPE",
    "PROBE_DTYPE",
    "TOUCHED",
    "TOUCH_DTYPE",
    "Handle",
    "LegacySpans",
    "NativeCache",
    "NativeConstmapBuilder",
    "NativeCounter",
    "NativeDrafter",
    "NativePackedBuilder",
    "NativeReplay",
    "Tokens",
    "as_count",
    "as_tokens",
    "cache_search_path",
    "clock_cost_ns",
    "compiler",
    "constmap_spans",
    "error_of",
    "fuse_attempt",
    "fuse_look_up",
    "fuse_peeling",
    "key_hash",
    "new_cursor",
    "new_load_report",
    "packed_spans",
    "search_path",
    "table_around",
    "table_facts",
    "time_searches",
]
