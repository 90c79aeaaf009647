"""What the bytes of a cache file mean, number by number.

Each format's spans come from the code that loads it. A new format adds its magic and a function
to `_BY_MAGIC`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

import numpy as np
import numpy.typing as npt

from .. import _native
from .._native import MEANINGS, as_count
from ..caches import CONSTMAP_MAGIC, NgramCache
from ..errors import FormatError
from ..files import open_file
from ..static_file import MAGIC as NGC_MAGIC
from ..static_file import open_static_file
from ..toggles import CONSTMAP

MOST_BYTES = 1 << 20
"""The longest window."""

_PIECE_BYTES = 1 << 20
_MAGICS = ("magic", "map_magic")
_SIGNED = ("token", "n_followers", "follower", "count")


@dataclass(frozen=True)
class FileSpan:
    """One number in a file: `length` bytes at `offset`."""

    offset: int
    length: int
    #: llama.cpp's file: "token" (of an n-gram; -1: unused), "n_followers", "follower", "count".
    #: Constmap: "magic", "n_entries", "map_bytes", "follower", "count", "map_magic", "seed",
    #: "segment_length", "segment_count", "data_len", "n_keys", "data", "check", "sum".
    #: Our own: numbers of the head by name; "record" (its most frequent follower), "free_record",
    #: "reach", "entry" (a follower; its bytes hold the token spread, see ngc_packed.h), before long
    #: lists "n_followers", "top_count" and "counts"; "text" (which one) and "spare".
    meaning: str
    value: int | str  #: a magic is text
    gram: int | None  #: number of the n-gram in the file; None where the format does not say
    index: int  #: of the token in its n-gram, the follower in its list, or the cell in its array
    #: what else stands in its bits: of a record "first", "second" (the 2-gram), "lines_from_home",
    #: "n_followers", "sum", "top_count", "place" (of its block) and "big"; of an entry "count"
    detail: dict[str, int] = field(default_factory=dict)


def file_spans(
    path: str | PathLike[str], start: int = 0, length: int = 256
) -> tuple[FileSpan, ...]:
    """What the bytes start..start + length - 1 of a cache file mean: every number of which a byte
    lies there, in order. Fewer if the file ends before.

    Args:
        length: at most 1 MiB.

    Cost: llama.cpp's file says nowhere where its records begin, so it is read from its start on;
    a constmap is opened and checked whole; of our own, its lines are walked for a window among
    the followers.

    Raises:
        FormatError: it is broken before or in the window, in a constmap anywhere, in ours in its
            head; damaged records of ours are "spare".
    """
    start = as_count(start, "start", 0, 2**62)
    length = as_count(length, "length", 0, MOST_BYTES)
    with open_file(path) as (file, size):
        head = file.read(8)
    end = min(start + length, size)
    if start >= end:
        return ()
    spans = next(
        (read for magic, read in _BY_MAGIC.items() if head.startswith(magic)), _legacy_spans
    )
    return tuple(map(_span, spans(Path(path), start, end)))


def _legacy_spans(path: Path, start: int, end: int) -> npt.NDArray[np.void]:
    walker = _native.LegacySpans(start, end)
    found: list[npt.NDArray[np.void]] = []
    piece = b""
    with open_file(path) as (file, size):
        wanted = _PIECE_BYTES
        while walker.offset < end:
            more = file.read(wanted)
            piece = (piece + more)[: size - walker.offset]
            status, used, spans = walker.walk(piece, size - walker.offset)
            if status != 0:
                raise _native.error_of(status, f"{path}, byte {walker.offset}")
            found.append(spans)
            if not used and not more:
                raise FormatError(f"{path}: it became shorter while it was read")
            wanted = _PIECE_BYTES if used else max(_PIECE_BYTES, len(piece))
            piece = piece[used:]
    return np.concatenate(found)


def _constmap_spans(path: Path, start: int, end: int) -> npt.NDArray[np.void]:
    with NgramCache.open(path, CONSTMAP.toggles, static=True) as cache:
        return _native.constmap_spans(cache._handle, start, end)


def _packed_spans(path: Path, start: int, end: int) -> npt.NDArray[np.void]:
    handle = open_static_file(path, CONSTMAP.toggles.set(static="ngc"))
    try:
        return _native.packed_spans(handle, start, end)
    finally:
        handle.close()


_BY_MAGIC: dict[bytes, Callable[[Path, int, int], npt.NDArray[np.void]]] = {
    CONSTMAP_MAGIC: _constmap_spans,
    NGC_MAGIC: _packed_spans,
}

_RECORD = ("first", "second", "lines_from_home", "n_followers", "sum", "top_count", "place", "big")
_ENTRY = ("first", "second", "count")
_TEXTS = ("tokenizer", "corpus", "built_by")
_DETAILS = {"record": _RECORD, "entry": _ENTRY}


def _span(record: np.void) -> FileSpan:
    meaning = MEANINGS[int(record["meaning"])]
    n_bytes, number = int(record["n_bytes"]), int(record["value"])
    value: int | str = number
    if meaning not in _SIGNED and n_bytes <= 8:
        value = number % (1 << 8 * n_bytes)
    if meaning in _MAGICS:
        value = number.to_bytes(8, "little", signed=True).decode("latin-1")
    if meaning == "text":
        value = _TEXTS[number]
    gram = int(record["gram"])
    return FileSpan(
        offset=int(record["offset"]),
        length=n_bytes,
        meaning=meaning,
        value=value,
        gram=None if gram < 0 else gram,
        index=int(record["index"]),
        detail=dict(zip(_DETAILS.get(meaning, ()), record["detail"].tolist(), strict=False)),
    )
