"""What the bytes of our own static file mean: held against the head's own numbers, against the
counts of the corpus, and byte against byte."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from test_engine_random import stream

import ngram_core as ng
from ngram_core import inside
from ngram_core.errors import FormatError
from ngram_core.inside import FileSpan

TOGGLES = ng.CONSTMAP.toggles.set(static="ngc")
# One follower, a few, and so many that a block has a head of its own.
TEXT = stream(list(range(9)), 4, 300) + [t for i in range(3000) for t in (0, 1, i % 1500)]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ngc") / "static.ngc"
    with ng.NgramCache.build_static(TEXT, TOGGLES) as cache:
        cache.save(path)
    return path


def all_spans(path: Path) -> list[FileSpan]:
    size = path.stat().st_size
    spans = inside.file_spans(path, 0, min(size, 1 << 20))
    assert size <= 1 << 20
    return list(spans)


def test_the_spans_are_the_file(path: Path) -> None:
    """Without gaps and overlaps; what is a number has its value."""
    file = path.read_bytes()
    at = 0
    for span in all_spans(path):
        assert span.offset == at, span
        at += span.length
        if span.meaning in ("record", "entry", "text", "spare", "free_record", "magic"):
            continue
        assert span.value == int.from_bytes(file[span.offset : at], "little"), span
    assert at == len(file)


def test_entries_hold_spread_tokens(path: Path) -> None:
    """A token times an odd number, in its bits, with the count above; ascending in each block."""
    file = path.read_bytes()
    bits, last, seen = file[64], -1, 0
    for span in all_spans(path):
        if span.meaning != "entry":
            continue
        entry = int.from_bytes(file[span.offset : span.offset + span.length], "little")
        spread = entry % 2**bits
        assert spread == int(span.value) * 0x9E3779B1 % 2**bits
        assert entry >> bits == span.detail["count"]
        assert span.index == 0 or spread > last
        last, seen = spread, seen + 1
    assert seen > 1500


def test_windows_are_parts(path: Path) -> None:
    spans = all_spans(path)
    size = path.stat().st_size
    for start in range(0, size - 40, size // 37):
        whole = [s for s in spans if s.offset < start + 40 and s.offset + s.length > start]
        told = inside.file_spans(path, start, 40)
        assert [s for s in told if s.meaning != "spare"] == [
            s for s in whole if s.meaning != "spare"
        ]


def test_the_head_says_what_follows(path: Path) -> None:
    file = path.read_bytes()
    spans = all_spans(path)
    one = {s.meaning: s.value for s in spans if s.meaning.startswith(("n_", "file", "head", "ver"))}
    assert (one["file_bytes"], one["head_bytes"], one["version"]) == (len(file), 256, 4)
    table = counted()
    assert one["n_grams"] == len(table)
    assert one["n_pairs"] == sum(map(len, table.values()))
    assert one["n_counted"] == sum(sum(row.values()) for row in table.values())
    most = [s.value for s in spans if s.meaning == "most_count"]
    assert most == [max(max(row.values()) for row in table.values())]
    offsets = [s.value for s in spans if s.meaning == "section_offset"]
    assert offsets == [struct.unpack_from("<Q", file, 136 + 32 * i)[0] for i in range(3)]


def counted() -> dict[tuple[int, int], dict[int, int]]:
    table: dict[tuple[int, int], dict[int, int]] = {}
    for a, b, c in zip(TEXT, TEXT[1:], TEXT[2:], strict=False):
        row = table.setdefault((a, b), {})
        row[c] = row.get(c, 0) + 1
    return table


def test_records_and_blocks_are_the_counts(path: Path) -> None:
    spans = all_spans(path)
    table = counted()
    rows: dict[tuple[int, int], dict[int, int]] = {}
    for span in spans:
        ngram = span.detail.get("first", -1), span.detail.get("second", -1)
        if span.meaning == "record":
            row = table[ngram]
            assert span.detail["n_followers"] == len(row)
            assert span.detail["sum"] == sum(row.values())
            assert span.detail["top_count"] == row[int(span.value)] == max(row.values())
            if len(row) == 1:
                rows[ngram] = {int(span.value): span.detail["top_count"]}
        elif span.meaning == "entry":
            assert span.index == len(rows.setdefault(ngram, {}))
            rows[ngram][int(span.value)] = span.detail["count"]
    assert rows == table
    assert any(s.meaning == "counts" for s in spans) == any(
        s.detail.get("big") for s in spans if s.meaning == "record"
    )


def test_a_look_up_and_a_search_in_it_are_recorded() -> None:
    with (
        ng.NgramCache.build_static(TEXT, TOGGLES) as cache,
        ng.Drafter(TOGGLES, static=cache) as drafter,
    ):
        drafter.feed([0, 1])
        lines = inside.cache_lines(drafter, 1)
        assert "line" in lines.what
        assert lines.probe["visited_nodes"] >= 1
        tokens, counts = cache.followers([0, 1])
        for token, count in zip(tokens.tolist()[::100], counts.tolist()[::100], strict=True):
            path = inside.search_path(cache, token, ngram=[0, 1])
            assert (path.count, path.length) == (count, len(tokens))
            if count < counts.max():  # the record itself names the most frequent one
                assert [c.token for c in path.compared].index(token) == len(path.compared) - 1
        assert cache.table_around([0, 1]).found is not None


def test_a_damaged_head_is_refused(path: Path, tmp_path: Path) -> None:
    changed = bytearray(path.read_bytes())
    changed[20] ^= 1
    broken = tmp_path / "broken.ngc"
    broken.write_bytes(changed)
    with pytest.raises(FormatError, match="head"):
        inside.file_spans(broken)


def test_damaged_records_are_spare(path: Path, tmp_path: Path) -> None:
    """Any byte of the lines may be wrong: nothing is told that no look-up would find."""
    file = path.read_bytes()
    (start,) = [s.value for s in all_spans(path) if (s.meaning, s.index) == ("section_offset", 0)]
    broken = tmp_path / "broken.ngc"
    for at in range(int(start), int(start) + 640, 3):
        changed = bytearray(file)
        changed[at] ^= 0xFF
        broken.write_bytes(changed)
        spans = inside.file_spans(broken, int(start), 640)
        assert sum(s.length for s in spans) >= 640
