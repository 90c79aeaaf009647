"""Views of the inside; see the section of that name in ngc.h."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from .caches import SLICE_GRAMS, NativeCache
from .drafting import NativeDrafter, Records, all_touches
from .engine import ffi, lib
from .handles import Handle
from .values import TOGGLE_CODES, Tokens, address_of, check, dtype_of

PLACE_DTYPE = dtype_of("ngc_place")
SPAN_DTYPE = dtype_of("ngc_span")
PEEL_DTYPE = dtype_of("ngc_peel_step")
ASSIGN_DTYPE = dtype_of("ngc_assign_step")

MOST_PEELED = int(lib.NGC_MOST_PEELED)


def _names(prefix: str) -> dict[int, str]:
    """The engine's codes with a prefix, each with the rest of its name in small letters."""
    codes = (name for name in dir(lib) if name.startswith(prefix))
    return {int(getattr(lib, name)): name[len(prefix) :].lower() for name in codes}


TOUCHED = _names("NGC_TOUCH_")
MEANINGS = _names("NGC_SPAN_")
FUSE_VERDICTS = _names("NGC_FUSE_")
FROM = _names("NGC_FROM_")


def _fields(c: Any, struct: str) -> dict[str, Any]:
    """The numbers of a structure; arrays as tuples."""
    return {
        name: tuple(getattr(c, name)) if field.type.kind == "array" else int(getattr(c, name))
        for name, field in ffi.typeof(struct).fields
        if name != "unused"
    }


@contextmanager
def _cache_of(handle: Handle) -> Iterator[Any]:
    """The engine's pointer to a cache, or to a drafter's context cache."""
    with handle.use() as pointer:
        is_drafter = isinstance(handle, NativeDrafter)
        yield lib.ngc_drafter_context_view(pointer) if is_drafter else pointer


def table_around(
    handle: Handle, ngram: Tokens, before: int, after: int
) -> tuple[dict[str, Any], npt.NDArray[np.void], npt.NDArray[np.void]]:
    """What stands around an n-gram, the places, and the touches of its look-up."""
    around = ffi.new("ngc_around *")
    n_places = 64
    with _cache_of(handle) as pointer:
        while True:
            places = Records(PLACE_DTYPE, "ngc_place", n_places)
            touches = all_touches(
                lambda *room, places=places: lib.ngc_cache_table_around(
                    pointer, address_of(ngram), len(ngram), before, after, around, places.pointer,
                    len(places.array), *room,
                )
            )  # fmt: skip
            if around.n_places <= n_places:
                break
            n_places = int(around.n_places)
    return _fields(around, "ngc_around"), places.array[: around.n_places].copy(), touches


def table_facts(handle: Handle) -> dict[str, Any]:
    facts = ffi.new("ngc_table_facts *")
    done = ffi.new("int32_t *")
    out = ffi.new("ngc_measuring **")
    with _cache_of(handle) as pointer:
        check(lib.ngc_measuring_begin(pointer, out), "measuring the table")
        measuring = ffi.gc(out[0], lib.ngc_measuring_free)
        while not done[0]:  # Ctrl-C is heard between slices
            status = lib.ngc_measuring_step(measuring, SLICE_GRAMS, facts, done)
            check(status, "measuring the table")
        ffi.release(measuring)
    return _fields(facts, "ngc_table_facts")


def search_path(pairs: Tokens, token: int, search: str) -> tuple[int, npt.NDArray[np.void]]:
    """The token's count and the touches of a search in pairs, shape (n, 2), ascending by token."""
    count = ffi.new("int32_t *")
    code = TOGGLE_CODES["search"][search]
    touches = all_touches(
        lambda *room: lib.ngc_search_path(address_of(pairs), len(pairs), token, code, count, *room)
    )
    return int(count[0]), touches


def time_searches(pairs: Tokens, tokens: Tokens, rounds: int, search: str) -> tuple[int, int]:
    """Tokens found, and ns for all rounds, of searches in pairs, shape (n, 2), ascending."""
    n_found, ns = ffi.new("int64_t *"), ffi.new("int64_t *")
    code = TOGGLE_CODES["search"][search]
    check(
        lib.ngc_time_searches(
            address_of(pairs),
            len(pairs),
            address_of(tokens),
            len(tokens),
            rounds,
            code,
            n_found,
            ns,
        ),
        "timing searches",
    )
    return int(n_found[0]), int(ns[0])


def cache_search_path(
    handle: Handle, ngram: Tokens, token: int, search: str
) -> tuple[int, int, npt.NDArray[np.void]]:
    """The token's count, the length of its list, and the touches of a search in it."""
    count, length = ffi.new("int32_t *"), ffi.new("size_t *")
    code = TOGGLE_CODES["search"][search]
    with _cache_of(handle) as pointer:
        touches = all_touches(
            lambda *room: lib.ngc_cache_search_path(
                pointer, address_of(ngram), len(ngram), token, code, count, length, *room
            )
        )
    return int(count[0]), int(length[0]), touches


def key_hash(first: int, second: int) -> int:
    """The hash of a 2-gram by which a constmap knows it."""
    return int(lib.ngc_constmap_key_hash(first, second))


def fuse_look_up(cache: NativeCache, ngram: Tokens) -> dict[str, Any]:
    lookup = ffi.new("ngc_fuse_lookup *")
    with cache.use() as pointer:
        check(lib.ngc_constmap_look_up(pointer, address_of(ngram), lookup), "looking up")
    return _fields(lookup, "ngc_fuse_lookup")


def fuse_peeling(
    ngrams: Tokens, values: npt.NDArray[np.uint64]
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """How the map of these 2-grams, shape (n, 2), is built: its shape, and arrays."""
    peeling = ffi.new("ngc_peeling *")
    n_keys, n_cells = len(ngrams), 0
    steps = Records(PEEL_DTYPE, "ngc_peel_step", n_keys)
    assigned = Records(ASSIGN_DTYPE, "ngc_assign_step", n_keys)
    cells = np.zeros((n_keys, 3), dtype=np.uint32)
    value_pointer = ffi.cast("uint64_t *", values.ctypes.data)
    while True:
        data, checks = (np.zeros(n_cells, dtype=np.uint64) for _ in range(2))
        status = lib.ngc_fuse_peeling(
            address_of(ngrams), value_pointer, n_keys, peeling,
            ffi.cast("uint32_t *", cells.ctypes.data), steps.pointer, assigned.pointer,
            ffi.cast("uint64_t *", data.ctypes.data), ffi.cast("uint64_t *", checks.ctypes.data),
            n_cells,
        )  # fmt: skip
        if status != lib.NGC_SMALL_BUFFER:
            break
        n_cells = int(peeling.n_cells)
    check(status, "building a fuse map")
    arrays = {
        "cells": cells, "peeled": steps.array, "assigned": assigned.array, "data": data,
        "checks": checks,
    }  # fmt: skip
    return _fields(peeling, "ngc_peeling"), arrays


def fuse_attempt(ngrams: Tokens, nth: int) -> tuple[int, npt.NDArray[np.uint32]]:
    """The seed of the nth attempt at a map of these 2-grams, shape (n, 2), and each one's cells."""
    peeling = ffi.new("ngc_peeling *")
    cells = np.zeros((len(ngrams), 3), dtype=np.uint32)
    pointer = ffi.cast("uint32_t *", cells.ctypes.data)
    status = lib.ngc_fuse_attempt(address_of(ngrams), len(ngrams), nth, peeling, pointer)
    check(status, "hashing into a fuse map")
    return int(peeling.seed), cells


class LegacySpans:
    """Walks llama.cpp's cache file in pieces, for the spans of one window."""

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end
        self._place = ffi.new("ngc_file_place *")

    @property
    def offset(self) -> int:
        """How far it came."""
        return int(self._place.offset)

    def walk(
        self, piece: bytes | memoryview, file_left: int
    ) -> tuple[int, int, npt.NDArray[np.void]]:
        """Status, bytes of the piece that were walked, and the spans found in them."""
        n_spans, n_used = ffi.new("size_t *"), ffi.new("size_t *")
        capacity = (self.end - self.start) // 4 + 2  # each has 4 bytes
        spans = Records(SPAN_DTYPE, "ngc_span", capacity)
        with ffi.from_buffer("uint8_t[]", piece) as buffer:
            status = lib.ngc_legacy_spans(
                buffer, len(piece), file_left, self.start, self.end, self._place, spans.pointer,
                capacity, n_spans, n_used,
            )  # fmt: skip
        return int(status), int(n_used[0]), spans.array[: n_spans[0]]


def constmap_spans(cache: NativeCache, start: int, end: int) -> npt.NDArray[np.void]:
    return _spans(lib.ngc_constmap_spans, cache, start, end)


def packed_spans(cache: NativeCache, start: int, end: int) -> npt.NDArray[np.void]:
    return _spans(lib.ngc_packed_spans, cache, start, end)


def _spans(tell: Any, cache: NativeCache, start: int, end: int) -> npt.NDArray[np.void]:
    n_spans = ffi.new("size_t *")
    capacity = end - start + 2  # some have one byte
    spans = Records(SPAN_DTYPE, "ngc_span", capacity)
    with cache.use() as pointer:
        check(
            tell(pointer, start, end, spans.pointer, capacity, n_spans), "telling what bytes mean"
        )
    return spans.array[: n_spans[0]].copy()
