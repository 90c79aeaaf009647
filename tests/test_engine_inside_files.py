"""What the bytes of cache files mean: together the spans are the file, number by number."""

from __future__ import annotations

import struct
from pathlib import Path

import golden
import pytest
from constmap_format import ConstmapFile, FuseMap
from test_engine_random import stream

import ngram_core as ng
from ngram_core import inside
from ngram_core.errors import FormatError, InputError
from ngram_core.inside import FileSpan

TEXT = stream(list(range(9)), 4, 200)


@pytest.fixture
def legacy(tmp_path: Path) -> Path:
    path = tmp_path / "legacy.cache"
    with ng.NgramCache() as cache:
        cache.update(TEXT)
        cache.save(path)
    return path


@pytest.fixture
def constmap(tmp_path: Path) -> Path:
    path = tmp_path / "constmap.cache"
    with ng.NgramCache.build_static(TEXT, ng.CONSTMAP.toggles) as cache:
        cache.save(path)
    return path


def written(span: FileSpan) -> bytes:
    if isinstance(span.value, str):
        return span.value.encode("ascii")
    if span.value < 0:
        return span.value.to_bytes(span.length, "little", signed=True)
    return span.value.to_bytes(span.length, "little")


def check_whole(path: Path) -> tuple[FileSpan, ...]:
    """The spans of the whole file are its bytes; any window is a part of them."""
    file = path.read_bytes()
    spans = inside.file_spans(path, 0, len(file))
    assert b"".join(map(written, spans)) == file
    assert [span.offset for span in spans] == [
        sum(s.length for s in spans[:i]) for i in range(len(spans))
    ]
    for start, length in ((0, 1), (3, 9), (21, 200), (len(file) - 5, 100), (len(file), 4)):
        expected = [s for s in spans if s.offset < start + length and s.offset + s.length > start]
        assert list(inside.file_spans(path, start, length)) == (expected if length else [])
    return spans


def test_llama_cpp_s_file_is_its_table(legacy: Path) -> None:
    spans = check_whole(legacy)
    table: golden.Table = {}
    for span in spans:
        if span.meaning == "token":
            ngram = (*ngram, span.value) if span.index else (span.value,)  # noqa: F821
        elif span.meaning == "n_followers":
            row = table.setdefault(tuple(t for t in ngram if t != -1), {})
            assert span.gram == len(table) - 1
            n_followers = span.value
        elif span.meaning == "follower":
            assert span.index == len(row) < n_followers
            follower = span.value
        else:
            assert span.meaning == "count"
            row[follower] = span.value
    assert table == golden.read_table(legacy)


def test_a_constmap_s_numbers_are_those_of_its_format(constmap: Path) -> None:
    spans = check_whole(constmap)
    file = ConstmapFile.parse(constmap.read_bytes())
    fuse = FuseMap.parse(file.block)
    one = {s.meaning: s.value for s in spans if s.meaning not in LISTS}
    assert (one["magic"], one["map_magic"]) == ("ggngcmap", "VCMP0002")
    assert (one["n_entries"], one["map_bytes"]) == (len(file.pairs), len(file.block))
    assert (one["seed"], one["n_keys"]) == (fuse.seed, fuse.n_keys)
    assert one["segment_length"] == fuse.segment_length
    assert one["segment_count"] == fuse.segment_count
    assert one["data_len"] == len(fuse.data)
    assert one["sum"] == struct.unpack("<Q", file.block[-8:])[0]
    lists = {
        meaning: [(s.index, s.value) for s in spans if s.meaning == meaning] for meaning in LISTS
    }
    assert lists["follower"] == list(enumerate(file.pairs[:, 0].tolist()))
    assert lists["count"] == list(enumerate(file.pairs[:, 1].tolist()))
    assert lists["data"] == list(enumerate(fuse.data.tolist()))
    assert lists["check"] == list(enumerate(fuse.checks.tolist()))
    assert len(one) == 10


LISTS = ("follower", "count", "data", "check")


def test_a_record_longer_than_a_piece(tmp_path: Path) -> None:
    """Two MiB of one n-gram's followers, and one n-gram after it."""
    path = tmp_path / "long.cache"
    n = 270_000
    path.write_bytes(golden.write_table({(1, 2): dict.fromkeys(range(n), 1), (3,): {4: 5}}))
    last = inside.file_spans(path, 20 + 8 * n, 100)
    assert [(s.meaning, s.value, s.gram) for s in last] == [
        ("token", 3, 1),
        *[("token", -1, 1)] * 3,
        ("n_followers", 1, 1),
        ("follower", 4, 1),
        ("count", 5, 1),
    ]
    (middle,) = inside.file_spans(path, 20 + 8 * 200_000, 4)
    assert (middle.meaning, middle.value, middle.index) == ("follower", 200_000, 200_000)


def test_a_broken_file_is_told_where(legacy: Path, constmap: Path) -> None:
    file = legacy.read_bytes()
    legacy.write_bytes(file[:-2])
    assert inside.file_spans(legacy, 0, 20)[4].meaning == "n_followers"  # before the end
    with pytest.raises(FormatError, match="middle of a record"):
        inside.file_spans(legacy, len(file) - 8, 8)
    legacy.write_bytes(file[:16] + b"\0" * 4 + file[20:])
    with pytest.raises(FormatError, match="byte 0"):
        inside.file_spans(legacy)
    changed = bytearray(constmap.read_bytes())
    changed[-1] ^= 1
    constmap.write_bytes(changed)
    with pytest.raises(FormatError, match="checksum"):
        inside.file_spans(constmap)


@pytest.mark.parametrize("window", [(-1, 4), (0, -1), (0, 1 << 21), (0.5, 4)])
def test_what_is_no_window_is_refused(legacy: Path, window: tuple[int, int]) -> None:
    with pytest.raises(InputError):
        inside.file_spans(legacy, *window)
