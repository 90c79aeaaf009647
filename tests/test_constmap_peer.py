"""Our constmaps and those of the package fastconstmap: each opens the other's."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from constmap_format import ConstmapFile
from test_engine_random import BIGGEST, stream

import ngram_core as ng

peer = pytest.importorskip("fastconstmap", reason="fastconstmap is not installed")

TEXTS = {
    "short": [1, 2, 3],
    "small": stream(list(range(12)), 1, 300),
    "wide": stream([BIGGEST - i * 7919 for i in range(500)], 2, 30_000),
}


def values_of(text: list[int]) -> tuple[dict[bytes, int], list[tuple[int, int]]]:
    """Place and length of each 2-gram's followers, and the followers, counted in Python."""
    table: dict[tuple[int, int], dict[int, int]] = {}
    for a, b, c in zip(text, text[1:], text[2:], strict=False):
        row = table.setdefault((a, b), {})
        row[c] = row.get(c, 0) + 1
    values, pairs = {}, []  # type: dict[bytes, int], list[tuple[int, int]]
    for ngram, row in table.items():
        values[struct.pack("<2i", *ngram)] = len(pairs) << 24 | len(row)
        pairs += sorted(row.items())
    return values, pairs


@pytest.mark.parametrize("name", TEXTS)
def test_ours_opens_there(name: str, tmp_path: Path, measured: Callable[[str], None]) -> None:
    path = tmp_path / "ours.cache"
    with ng.NgramCache.build_static(TEXTS[name], ng.CONSTMAP.toggles) as cache:
        cache.save(path)
    file = ConstmapFile.parse(path.read_bytes())
    values, pairs = values_of(TEXTS[name])
    assert [tuple(pair) for pair in file.pairs.tolist()] == pairs
    opened: Any = peer.VerifiedConstMap.from_bytes(file.block)
    assert (len(opened), opened.hash) == (len(values), "xxh3")
    assert opened.get_many(values) == list(values.values())
    assert opened.get(struct.pack("<2i", 3, 1 << 30)) is None
    same = peer.VerifiedConstMap(values, hash="xxh3").to_bytes() == file.block
    measured(f"constmap of {len(values)} 2-grams: {'the same' if same else 'other'} bytes as there")


@pytest.mark.parametrize("name", TEXTS)
def test_theirs_opens_here(name: str, tmp_path: Path) -> None:
    values, pairs = values_of(TEXTS[name])
    block = peer.VerifiedConstMap(values, hash="xxh3").to_bytes()
    path = tmp_path / "theirs.cache"
    path.write_bytes(ConstmapFile(pairs, block).bytes())
    with ng.NgramCache.open(path, ng.CONSTMAP.toggles, static=True) as cache:
        cache.validate()
        assert cache.n_grams == len(values)
        for key, value in values.items():
            tokens, counts = cache.followers(struct.unpack("<2i", key))
            place = pairs[value >> 24 : (value >> 24) + value % 2**24]
            assert list(zip(tokens.tolist(), counts.tolist(), strict=True)) == place
        assert cache.followers([3, 1 << 30])[0].tolist() == []
