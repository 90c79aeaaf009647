"""The head of a constmap file: llama.cpp's static cache as one array and a fuse map.

    u64 "ggngcmap"   u64 n_entries   u64 map_bytes
    n_entries times  int32 token, int32 count
    map_bytes bytes  "VCMP0002", u64 seed, u32 segment_length, u32 segment_count,
                     u32 data_len, u32 n_keys, u64 data[data_len], u64 checks[data_len],
                     u64 checksum

The keys themselves are not in the file, so it can be described but not listed.
"""

from __future__ import annotations

import struct
from io import FileIO
from typing import Any

from ..errors import FormatError

MAGIC = struct.pack("<Q", 0x70616D63676E6767)
START_BYTES = 24

_MAP_HEAD = struct.Struct("<8sQIIII")
_MAP_MAGIC = b"VCMP0002"
_MAP_EXTRA_BYTES = _MAP_HEAD.size + 8  # head and checksum
_MAX_SEGMENT = 1 << 18


def is_one(start: bytes) -> bool:
    """Whether a file that begins like this is one."""
    return start.startswith(MAGIC)


def describe(path: str, file: FileIO, start: bytes, size: int) -> dict[str, Any]:
    """What the head says, checked against the file's size.

    Args:
        file: open behind its first START_BYTES, which are `start`.
        size: of the whole file, in bytes.

    Raises:
        FormatError: the head does not fit the file; the message names the byte offset.
    """
    if len(start) < START_BYTES:
        raise FormatError(f"{path!r}, byte {size}: a constmap file that ends inside its head")
    n_entries, map_bytes = struct.unpack_from("<QQ", start, 8)
    at = START_BYTES + 8 * n_entries
    if at + map_bytes != size or map_bytes < _MAP_EXTRA_BYTES:
        raise FormatError(
            f"{path!r}, byte 8: a constmap file of {n_entries} entries and {map_bytes} map bytes"
            f" would have {at + map_bytes} bytes, not {size}; it is cut short or damaged"
        )
    file.seek(at)
    magic, seed, segment_length, segment_count, data_len, n_keys = _MAP_HEAD.unpack(
        file.read(_MAP_HEAD.size)
    )
    whole = (
        magic == _MAP_MAGIC
        and map_bytes == _MAP_EXTRA_BYTES + 16 * data_len
        and (data_len == 0 or _fits(segment_length, segment_count, data_len))
    )
    if not whole:
        raise FormatError(f"{path!r}, byte {at}: the head of the map is damaged")
    return {
        "file": path,
        "format": "constmap",
        "bytes": size,
        "n_grams": n_keys,
        "n_grams_by_n": {"2": n_keys},
        "n_followers": n_entries,
        "seed": f"{seed:016x}",
        "segment_length": segment_length,
        "segment_count": segment_count,
        "tokenizer": None,  # this format does not say
        "checks": ["the head fits the file's size (the content is not looked at)"],
    }


def _fits(segment_length: int, segment_count: int, data_len: int) -> bool:
    power_of_two = segment_length > 0 and segment_length & (segment_length - 1) == 0
    return (
        power_of_two
        and segment_length <= _MAX_SEGMENT
        and data_len == (segment_count + 2) * segment_length
    )
