"""The fork's constmap file and its fuse map, written and read in Python from their description."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

MASK = 2**64 - 1


def xxh3(a: int, b: int) -> int:
    """XXH3-64 of two int32 tokens as 8 bytes, seed 0: its path for 4 to 8 bytes."""
    k = (b | a << 32) ^ 0xC73AB174C5ECD5A2
    k ^= rotated(k, 49) ^ rotated(k, 24)
    k = k * 0x9FB21C651E98DF25 & MASK
    k ^= (k >> 35) + 8
    k = k * 0x9FB21C651E98DF25 & MASK
    return k ^ k >> 28


def rotated(x: int, n: int) -> int:
    return (x << n | x >> (64 - n)) & MASK


def murmur64(h: int) -> int:
    h ^= h >> 33
    h = h * 0xFF51AFD7ED558CCD & MASK
    h ^= h >> 33
    h = h * 0xC4CEB9FE1A85EC53 & MASK
    return h ^ h >> 33


@dataclass(frozen=True)
class FuseMap:
    """The map at the end of a constmap file: "VCMP0002"."""

    seed: int
    segment_length: int
    segment_count: int
    n_keys: int
    data: Any
    checks: Any

    @classmethod
    def parse(cls, block: bytes) -> FuseMap:
        magic, seed, length, count, data_len, n_keys = struct.unpack_from("<8sQ4I", block)
        assert magic == b"VCMP0002"
        assert len(block) == 40 + 16 * data_len
        cells = np.frombuffer(block, "<u8", 2 * data_len, 32)
        return cls(seed, length, count, n_keys, cells[:data_len], cells[data_len:])

    def hash_of(self, a: int, b: int) -> int:
        return murmur64(xxh3(a, b) + self.seed & MASK)

    def cells_of(self, a: int, b: int) -> tuple[int, int, int]:
        h, mask = self.hash_of(a, b), self.segment_length - 1
        first = h * self.segment_count * self.segment_length >> 64
        second = (first + self.segment_length) ^ (h >> 18 & mask)
        return first, second, (first + 2 * self.segment_length) ^ (h & mask)

    def xors(self, a: int, b: int) -> tuple[int, int]:
        """Value and check of a 2-gram."""
        value = check = 0
        for cell in self.cells_of(a, b):
            value ^= int(self.data[cell])
            check ^= int(self.checks[cell])
        return value, check

    def find(self, a: int, b: int) -> int | None:
        h = self.hash_of(a, b)
        value, check = self.xors(a, b)
        return value if check == h ^ h >> 32 else None


@dataclass(frozen=True)
class ConstmapFile:
    pairs: Any  #: int32, shape (n_entries, 2)
    block: bytes  #: the map

    @classmethod
    def parse(cls, file: bytes) -> ConstmapFile:
        magic, n_entries, map_bytes = struct.unpack_from("<8sQQ", file)
        assert magic == b"ggngcmap"
        assert len(file) == 24 + 8 * n_entries + map_bytes
        pairs = np.frombuffer(file, "<i4", 2 * n_entries, 24).reshape(-1, 2)
        return cls(pairs, file[24 + 8 * n_entries :])

    def bytes(self) -> bytes:
        head = struct.pack("<8sQQ", b"ggngcmap", len(self.pairs), len(self.block))
        return head + np.ascontiguousarray(self.pairs, "<i4").tobytes() + self.block
