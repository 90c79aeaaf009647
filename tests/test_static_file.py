"""Our own static file: what it holds and says, what it becomes, and what it refuses."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import golden
import numpy as np
import psutil
import pytest
from commands import good, run
from golden import Run
from hypothesis import given, settings
from hypothesis import strategies as st
from test_engine_golden import run_replay

import ngram_core as ng
from ngram_core.errors import FormatError, InputError, StateError
from ngram_core.static_file import StaticAbout
from ngram_core.tokenizers import get_tokenizer

NGC = ng.stage("precheck").toggles.set(static="ngc")
SAME = NGC.set(static="same")
MAPS = ng.stage("upstream").toggles

Table = dict[tuple[int, int], dict[int, int]]


def table_of(cache: ng.NgramCache) -> Table:
    table: Table = {}
    for gram in cache.ngrams():
        key = tuple(gram["tokens"][:2].tolist())
        tokens, counts = cache.followers(gram["tokens"][:2])
        table[key] = dict(zip(tokens.tolist(), counts.tolist(), strict=True))
        assert sum(table[key].values()) == gram["sum"]
    return table


def counted(tokens: list[int]) -> Table:
    """The 2-grams of a stream, counted in Python."""
    table: Table = {}
    for (a, b), (_, c) in pairwise(pairwise(tokens)):
        followers = table.setdefault((a, b), {})
        followers[c] = followers.get(c, 0) + 1
    return table


# ---- what it holds ------------------------------------------------------------------------


streams = st.one_of(
    st.lists(st.integers(0, 5), max_size=60),
    st.lists(st.sampled_from([0, 1, 2**31 - 2, 2**16, 2**17 + 1]), max_size=60),
    st.lists(st.integers(0, 2**31 - 2), max_size=60),
)


@settings(deadline=None)
@given(streams, st.sampled_from([0, 2**31 - 1]))
def test_it_holds_what_was_counted(tokens: list[int], n_vocab: int) -> None:
    about = StaticAbout(n_vocab=n_vocab)
    with ng.NgramCache.build_static(tokens, NGC, about=about) as cache:
        cache.validate()
        assert table_of(cache) == counted(tokens)
        assert cache.n_grams == len(counted(tokens))


@pytest.mark.parametrize("toggles", [SAME, MAPS, NGC, NGC.set(static="constmap")], ids=str)
def test_it_becomes_any_structure(toggles: ng.Toggles, tmp_path: Path) -> None:
    tokens = np.random.default_rng(1).integers(0, 30, 3000)
    path = tmp_path / "static.ngc"
    with ng.NgramCache.build_static(tokens, NGC) as ours:
        ours.save(path)
        wanted = table_of(ours)
    with ng.NgramCache.open(path, toggles, static=True) as cache:
        assert cache.kind == toggles.static
        assert cache.load_report is not None
        assert cache.load_report.n_bytes == path.stat().st_size
        assert (cache.load_report.converted_seconds > 0) == (toggles.static != "ngc")
        for key, followers in wanted.items():
            got = [x.tolist() for x in cache.followers(key)]
            assert dict(zip(*got, strict=True)) == followers


def test_llama_cpp_s_file_becomes_ours_and_ours_llama_cpp_s(tmp_path: Path) -> None:
    tokens = np.random.default_rng(2).integers(0, 30, 3000)
    with ng.NgramCache.build_static(tokens, MAPS) as maps:
        maps.save(tmp_path / "legacy")
    with ng.NgramCache.open(tmp_path / "legacy", NGC, static=True) as ours:
        assert ours.load_report is not None
        assert ours.load_report.converted_seconds > 0
        ours.save(tmp_path / "ngc")
    with ng.NgramCache.open(tmp_path / "ngc", MAPS, static=True) as back:
        back.save(tmp_path / "again")
    assert golden.read_table(tmp_path / "again") == golden.read_table(tmp_path / "legacy")


def test_the_bytes_depend_on_the_counts_alone(tmp_path: Path) -> None:
    """Two texts with the same 2-grams and followers in another order, and four ways to count."""
    one, other = [1, 2, 3, 9, 1, 2, 4, 9, 1, 2, 3], [1, 2, 4, 9, 1, 2, 3, 9, 1, 2, 3]
    files = []
    for tokens in (one, other):
        with ng.BigramCounter() as counter:
            for token in tokens:
                counter.add([token])
            counter.save(tmp_path / "a")
        with ng.BigramCounter(in_order=False) as counter:
            counter.add(tokens)
            counter.save(tmp_path / "d")
        with ng.NgramCache.build_static(tokens, SAME) as cache:
            cache.converted(NGC).save(tmp_path / "b")
        with ng.NgramCache.build_static(tokens, MAPS) as cache:
            cache.converted(NGC).save(tmp_path / "c")
        files += [(tmp_path / name).read_bytes() for name in "abcd"]
    assert counted(one) != counted(other) or files[0] == files[4]
    assert files[0] == files[1] == files[2] == files[3]
    assert files[4] == files[5] == files[6] == files[7]


def test_counts_without_their_order_make_this_file_alone(tmp_path: Path) -> None:
    with ng.BigramCounter(in_order=False) as counter:
        counter.add([1, 2, 3, 1, 2])
        for kind in ("legacy", "constmap"):
            with pytest.raises(InputError, match="in_order=True"):
                counter.save(tmp_path / kind, kind)
        for toggles in (SAME, MAPS, NGC.set(static="constmap")):
            with pytest.raises(InputError, match="in_order=True"):
                counter.cache(toggles)
        assert not list(tmp_path.iterdir())
        with counter.cache(NGC) as cache:
            assert [x.tolist() for x in cache.followers([1, 2])] == [[3], [1]]


@pytest.mark.parametrize("run", golden.params([r for r in golden.runs("innervector") if r.static]))
def test_golden_drafts_from_our_file(run: Run, tmp_path: Path) -> None:
    assert run.static is not None
    path = tmp_path / "static.ngc"
    with ng.NgramCache.open(run.static, NGC, static=True) as cache:
        cache.save(path)
        if run.static.stat().st_size > 100_000:  # and it is the smallest there is
            with ng.NgramCache.open(run.static, NGC.set(static="constmap"), static=True) as other:
                assert path.stat().st_size < 0.6 * other.memory().live_bytes
    for outer, followers in (("segmented", "sorted"), ("chained", "chained")):
        for precheck in (False, True):
            toggles = NGC.set(outer=outer, followers=followers, precheck=precheck, score=run.score)
            _, drafts = run_replay(run, toggles, static_file=path)
            golden.assert_drafts(run, drafts)


# ---- opening ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def big_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some 10 MB, of 2-grams that hardly repeat."""
    path = tmp_path_factory.mktemp("static") / "big.ngc"
    with ng.BigramCounter() as counter:
        counter.add(np.random.default_rng(3).integers(0, 100_000, 700_000))
        counter.save(path, about=StaticAbout("t", "ab" * 32, 100_000, "random", "a test"))
    return path


def test_opening_reads_the_head_alone(big_file: Path) -> None:
    process = psutil.Process()
    before = process.memory_info().rss
    with ng.NgramCache.open(big_file, NGC, static=True) as cache:
        after = process.memory_info().rss
        memory = cache.memory()
        assert memory.mapped_bytes == big_file.stat().st_size > 8_000_000
        assert memory.live_bytes == 0
        assert cache.about == StaticAbout("t", "ab" * 32, 100_000, "random", "a test")
    assert after - before < 5_000_000  # the system maps some pages around those read


def test_a_file_that_is_in_use_stays_open(big_file: Path) -> None:
    cache = ng.NgramCache.open(big_file, NGC, static=True)
    with ng.Drafter(NGC, static=cache) as drafter:
        with pytest.raises(StateError):
            cache.close()
        drafter.feed([1, 2, 3])
        drafter.draft(4)
    cache.close()
    cache.close()
    with pytest.raises(StateError):
        cache.followers([1, 2])


def test_it_is_a_static_cache_only(big_file: Path) -> None:
    with pytest.raises(InputError, match="static cache"):
        ng.NgramCache.open(big_file, NGC)
    with ng.NgramCache.open(big_file, NGC, static=True) as cache:
        for change in (lambda: cache.update([1, 2, 3]), cache.clear):
            with pytest.raises(InputError):
                change()
        with pytest.raises(InputError, match="never changes"):
            ng.Drafter(NGC, dynamic=cache)
        with pytest.raises(InputError, match="static='same'"):
            ng.Drafter(SAME, static=cache)


def test_a_constmap_is_no_dynamic_cache() -> None:
    """It has no table of the kind that its toggles name."""
    toggles = ng.stage("constmap").toggles
    with ng.NgramCache.build_static([1, 2, 3, 1, 2], toggles) as cache:
        with pytest.raises(InputError, match="never changes"):
            ng.Drafter(toggles, dynamic=cache)
        with pytest.raises(InputError, match="never changes"):
            ng.Replay([1, 2, 3, 4], toggles, dynamic=cache)


def test_another_tokenizer_is_refused_with_both_names(tmp_path: Path) -> None:
    as_bytes, words = get_tokenizer("bytes"), get_tokenizer("words")
    tokens = as_bytes.encode("to be or not to be")
    path = tmp_path / "a.ngc"
    with ng.NgramCache.build_static(tokens, NGC, about=StaticAbout.of(as_bytes)) as cache:
        cache.save(path)
    with ng.NgramCache.open(path, NGC, static=True, tokenizer=as_bytes) as cache:
        assert cache.about is not None
        assert cache.about.n_vocab == 256
    for toggles in (NGC, MAPS):
        with pytest.raises(InputError, match=r"tokenizer bytes \(.*encoded with words \("):
            ng.NgramCache.open(path, toggles, static=True, tokenizer=words)


def test_a_token_above_the_vocabulary_is_refused() -> None:
    with pytest.raises(InputError, match="token"):
        ng.NgramCache.build_static([1, 2, 300], NGC, about=StaticAbout(n_vocab=256))
    with pytest.raises(InputError, match="zero character"):
        ng.NgramCache.build_static([1, 2, 3], NGC, about=StaticAbout(corpus="a\0b"))


def test_what_progress_raises_stops_the_building() -> None:
    class Stop(Exception):
        pass

    def stop(fraction: float) -> None:
        assert 0 <= fraction <= 1
        raise Stop

    with ng.BigramCounter() as counter:
        counter.add(np.arange(200_000) % 70_000)
        with pytest.raises(Stop):
            counter.group(progress=stop)
        with pytest.raises(InputError):
            counter.add([1])
        assert counter.facts() == {"n_grams": 70_000, "n_followers": 70_000}  # it goes on
        with pytest.raises(Stop):
            counter.cache(NGC, progress=stop)
        seen: list[float] = []
        with counter.cache(NGC, progress=seen.append) as cache:  # the counts are still there
            assert cache.n_grams == 70_000
        assert len(seen) > 3
        assert seen == sorted(seen)


# ---- damaged files ------------------------------------------------------------------------


def small_file(path: Path) -> bytes:
    with ng.NgramCache.build_static(np.arange(500) % 41, NGC) as cache:
        cache.save(path)
    return path.read_bytes()


def damages(whole: bytes) -> Iterator[tuple[bytes, str]]:
    yield whole[:100], "head, byte 100: the file ends in the middle"
    yield whole[:-1], "head, byte 16: the file ends in the middle"
    yield whole + b"\0", "head, byte 16: this is no record"
    yield whole[:8] + struct.pack("<I", 1) + whole[12:], "head, byte 8: its version is not one"
    yield whole[:24] + b"\1" + whole[25:], "head, byte 248: its checksum does not match"


def test_a_damaged_head_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "a.ngc"
    for data, said in damages(small_file(path)):
        path.write_bytes(data)
        with pytest.raises(FormatError, match=said) as caught:
            ng.NgramCache.open(path, NGC, static=True)
        assert str(path) in str(caught.value)


def test_a_damaged_part_is_found_by_looking_at_all(tmp_path: Path) -> None:
    whole = small_file(tmp_path / "whole")
    for i, part in enumerate(("lines", "followers", "texts")):
        (offset,) = struct.unpack_from("<Q", whole, 128 + 32 * i + 8)
        damaged = bytearray(whole)
        damaged[offset + 5] ^= 1
        path = tmp_path / part
        path.write_bytes(damaged)
        with (
            ng.NgramCache.open(path, NGC, static=True) as cache,
            pytest.raises(FormatError, match=rf"{part}, byte {offset}: its checksum"),
        ):
            cache.validate()


# ---- the command line ---------------------------------------------------------------------


@pytest.fixture
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_here")
def test_create_writes_our_file_and_inspect_tells_it() -> None:
    Path("text").write_text("to be or not to be, that is the question " * 3)
    said = good("create", "--text", "text", "--tokenizer", "bytes", "-o", "out")
    assert said.rstrip().endswith("(ngc)")
    found = json.loads(good("inspect", "out", "--json"))
    assert found["format"] == "ngc"
    assert found["bytes"] == Path("out").stat().st_size
    assert (found["tokenizer"], found["n_vocab"], found["corpus"]) == ("bytes", 256, "text")
    assert found["fingerprint"] == get_tokenizer("bytes").fingerprint
    good("create", "--text", "text", "--tokenizer", "bytes", "-o", "old", "--format", "legacy")
    wanted = json.loads(good("inspect", "old", "--json"))
    for name in ("n_grams", "n_followers", "n_counted", "most_followers", "follower_histogram"):
        assert found[name] == wanted[name]
    text = good("inspect", "out")
    assert "tokens below 256, tokenizer bytes (" in text
    assert "of text, built by ngram-core 0.1.0" in text


@pytest.mark.usefixtures("_here")
def test_stats_drafts_the_same_from_every_format() -> None:
    Path("text").write_text("to be or not to be, that is the question; to be is to be " * 5)
    source = ("--text", "text", "--tokenizer", "bytes")
    checksums = set()
    for format in ("ngc", "legacy", "constmap"):
        good("create", *source, "-o", format, "--format", format)
        for static in ("ngc", "constmap", "same") if format != "constmap" else ("constmap",):
            words = ("-lcs", format, "--stage", "precheck", "--set", f"static={static}")
            found = json.loads(good("stats", *source, *words, "--json"))
            checksums.add(found["drafts_checksum"])
            assert found["static_bytes"] > 0
    assert len(checksums) == 1


@pytest.mark.usefixtures("_here")
def test_stats_refuses_the_cache_of_another_tokenizer() -> None:
    Path("text").write_text("to be or not to be")
    good("create", "--text", "text", "--tokenizer", "bytes", "-o", "out")
    done = run("stats", "--text", "text", "-lcs", "out", "--tokenizer", "words")
    assert done.code == 1
    assert "out was counted with the tokenizer bytes (" in done.err.splitlines()[-1]
    done = run("stats", "--text", "text", "-lcs", "out", "--tokenizer", "bytes")
    assert done.code == 0
    assert "does not keep the order of llama.cpp's maps" in done.err
