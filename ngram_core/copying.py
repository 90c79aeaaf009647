"""A cache of chains or tables, filled in slices with what another one holds."""

from __future__ import annotations

from collections.abc import Callable

from . import _native
from .toggles import Toggles

_SLICE_GRAMS = 1 << 14


def copied(
    source: _native.NativeCache,
    toggles: Toggles,
    sizes: tuple[int, int],
    progress: Callable[[float], None] | None = None,
    least_sum: int = 0,
) -> _native.NativeCache:
    """A new cache of n-grams of `sizes` (n_min, n_max) with those of the source whose counts add up
    to `least_sum` at least; Ctrl-C is heard between slices."""
    handle = _native.NativeCache.empty(toggles, *sizes)
    try:
        cursor, done, n_grams = _native.new_cursor(), 0, source.facts()["n_grams"]
        while n := handle.take(source, cursor, _SLICE_GRAMS, least_sum):
            done += n
            if progress is not None:
                progress(done / n_grams)
    except BaseException:
        handle.drop()
        raise
    return handle
