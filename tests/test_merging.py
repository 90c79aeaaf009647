"""Parts of a corpus counted apart and merged are, byte for byte, what one pass over them writes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import golden
import numpy as np
import pytest
from commands import good, run
from hypothesis import given, settings
from hypothesis import strategies as st
from test_static_file import NGC, Table, counted, table_of

import ngram_core as ng
from ngram_core.errors import FormatError, InputError
from ngram_core.merging import joined
from ngram_core.static_file import StaticAbout

TEXTS = ("to be or not to be, that is the question", "is it to be?", "be that as it may, it is")


def added(tables: list[Table]) -> Table:
    """Their sum, in Python."""
    total: Table = {}
    for table in tables:
        for key, followers in table.items():
            row = total.setdefault(key, {})
            for token, count in followers.items():
                row[token] = row.get(token, 0) + count
    return total


def counted_file(path: Path, tokens: list[int]) -> Path:
    with ng.NgramCache.build_static(tokens, NGC) as cache:
        cache.save(path)
    return path


tokens = st.lists(st.integers(0, 4), max_size=40) | st.lists(
    st.sampled_from([0, 7, 2**16, 2**31 - 2]), max_size=40
)


@settings(deadline=None)
@given(tokens, tokens)
def test_the_sum_of_two(
    tmp_path_factory: pytest.TempPathFactory, a: list[int], b: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    parts = [counted_file(folder / name, part) for name, part in (("a", a), ("b", b))]
    with ng.merge_static(*parts) as cache:
        cache.validate()
        assert table_of(cache) == added([counted(a), counted(b)])
        cache.save(folder / "merged")
    with ng.BigramCounter() as counter:
        for part in (a, b):
            counter.add(part)
            counter.end_text()
        counter.save(folder / "whole")
    assert (folder / "merged").read_bytes() == (folder / "whole").read_bytes()


def test_a_sum_stays_at_the_greatest_count(tmp_path: Path) -> None:
    table: golden.Table = {(1, 2): {3: 2**31 - 2, 4: 5}}
    (tmp_path / "old").write_bytes(golden.write_table(table))
    with ng.NgramCache.open(tmp_path / "old", NGC, static=True) as cache:
        cache.save(tmp_path / "a")
    with ng.merge_static(tmp_path / "a", tmp_path / "a") as cache:
        assert table_of(cache) == {(1, 2): {3: 2**31 - 1, 4: 10}}


def test_what_is_said_of_the_sum() -> None:
    one = StaticAbout("t", "ab" * 32, 100, "a, b", "then")
    other = StaticAbout("t", "ab" * 32, 90, "c and 4 more", "long ago")
    both = joined(one, other, ("x", "y"))
    assert both == StaticAbout("t", "ab" * 32, 100, "a, b, c and 4 more", both.built_by)
    assert both.built_by == StaticAbout.of(None).built_by
    unknown = joined(one, StaticAbout(n_vocab=300), ("x", "y"))
    assert unknown == StaticAbout("", "", 300, "a, b and 1 more", both.built_by)


# ---- what cannot be merged ----------------------------------------------------------------


def test_damaged_parts_are_refused_with_their_place(tmp_path: Path) -> None:
    path = counted_file(tmp_path / "a", list(range(40)))
    whole = path.read_bytes()
    for at in range(256, len(whole), 37):
        damaged = bytearray(whole)
        damaged[at] ^= 0x41
        (tmp_path / "b").write_bytes(damaged)
        for parts in ((path, tmp_path / "b"), (tmp_path / "b", path)):
            with pytest.raises(FormatError, match=r"b, \w+, byte \d+"):
                ng.merge_static(*parts)


def test_other_kinds_are_refused(tmp_path: Path) -> None:
    path = counted_file(tmp_path / "a", [1, 2, 3])
    (tmp_path / "b").write_bytes(golden.write_table({(1, 2): {3: 1}}))
    for parts in ((path, tmp_path / "b"), (tmp_path / "b", path)):
        with pytest.raises(InputError, match="b is no static file of ours"):
            ng.merge_static(*parts)


def test_what_progress_raises_stops_the_merge(tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def stop(fraction: float) -> None:
        assert 0 <= fraction <= 1
        raise Stop

    path = counted_file(tmp_path / "a", list(range(200_000)))
    with pytest.raises(Stop):
        ng.merge_static(path, path, stop)
    seen: list[float] = []
    with ng.merge_static(path, path, seen.append) as cache:
        assert cache.n_grams == 199_998
    assert 5 < len(seen) < 500, "a slice for each n-gram would take minutes"
    assert seen == sorted(seen)


# ---- the command line ---------------------------------------------------------------------


@pytest.fixture
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in zip("abc", TEXTS, strict=True):
        Path(name).write_text(text)


@pytest.mark.usefixtures("_here")
def test_merged_parts_are_one_pass_over_all() -> None:
    source = ("--tokenizer", "bytes", "--text")
    for name in "abc":
        good("create", *source, name, "-o", f"{name}.ngc")
    good("create", "--apart", *source, *"abc", "-o", "whole")
    good("merge", "a.ngc", "b.ngc", "-o", "ab")
    said = good("merge", "ab", "c.ngc", "-o", "ab")  # over its own input
    assert said.rstrip().endswith(f" {Path('ab').stat().st_size:,} bytes (ngc)")
    assert Path("ab").read_bytes() == Path("whole").read_bytes()
    assert json.loads(good("inspect", "ab", "--json"))["corpus"] == "a, b, c"
    good("create", *source, *"abc", "-o", "through")  # with what stands across the borders
    n_counted = [
        json.loads(good("inspect", name, "--json"))["n_counted"] for name in ("ab", "through")
    ]
    assert n_counted[1] == n_counted[0] + 4
    assert n_counted[0] == sum(len(text) - 2 for text in TEXTS)


@pytest.mark.usefixtures("_here")
def test_texts_apart_in_every_format() -> None:
    source = ("--tokenizer", "bytes", "--apart", "--text", *"abc")
    tables = [counted(list(text.encode())) for text in TEXTS]
    good("create", *source, "-o", "legacy", "--format", "legacy")
    assert golden.read_table(Path("legacy")) == added(tables)
    good("create", *source, "-o", "ngc")
    with ng.NgramCache.open("ngc", NGC, static=True) as cache:
        assert table_of(cache) == added(tables)
    Path("d").write_text("xy")
    Path("e").write_text("z")
    done = run("create", "--tokenizer", "bytes", "--apart", "--text", "d", "e", "-o", "none")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "too few tokens (3)" in done.err
    assert not Path("none").exists()


@pytest.mark.usefixtures("_here")
def test_what_merge_refuses_it_says_in_one_line() -> None:
    good("create", "--text", "a", "--tokenizer", "bytes", "-o", "bytes")
    good("create", "--text", "a", "--tokenizer", "words", "-o", "words")
    good("create", "--text", "a", "--tokenizer", "bytes", "-o", "old", "--format", "legacy")
    good("create", "--text", "a", "--tokenizer", "bytes", "-o", "map", "--format", "constmap")
    for parts, words in {
        ("bytes", "words"): "bytes was counted with the tokenizer bytes (",
        ("words", "bytes"): "and bytes with bytes (",
        ("bytes", "old"): "'bytes' is a static file (ngc) and 'old' is not",
        ("old", "bytes"): "'bytes' is a static file (ngc) and 'old' is not",
        ("map", "bytes"): "'bytes' is a static file (ngc) and 'map' is not",
        ("old", "map"): "map is a constmap file",
    }.items():
        done = run("merge", *parts, "-o", "out")
        assert (done.code, done.out, done.err.count("\n")) == (1, "", 1), done
        assert words in done.err
        assert not Path("out").exists()
    assert not list(Path().glob(".*"))


@pytest.mark.usefixtures("_here")
def test_ctrl_c_leaves_what_was_there() -> None:
    rng = np.random.default_rng(4)
    for name in "xy":
        with ng.BigramCounter() as counter:
            counter.add(rng.integers(0, 100_000, 1_500_000))
            counter.save(name)
    Path("out").write_bytes(b"old")
    command = [sys.executable, "-m", "ngram_core", "merge", "x", "y", "-o", "out"]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not list(Path().glob(".out.*.part")):
        assert child.poll() is None
        time.sleep(0.005)
    os.kill(child.pid, signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert (child.returncode, err.count("\n")) == (130, 1), err
    assert Path("out").read_bytes() == b"old"
    assert not list(Path().glob(".*"))
