"""The race: who runs when, what it says of drafts, noise, memory and time, and how it ends."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

import ngram_core as ng
from ngram_core import corpora, reference
from ngram_core.counting import FORMATS
from ngram_core.errors import EngineMemoryError, FormatError, InputError, NgramError
from ngram_core.published import PUBLISHED
from ngram_core.racing import (
    RaceResult,
    Spread,
    StageFigures,
    child,
    entrants,
    material,
    running,
)
from ngram_core.racing.process import Child
from ngram_core.racing.running import Race
from ngram_core.tokenizers import ByteTokenizer

DATA = Path(__file__).parent / "data"


def ids(name: str) -> np.ndarray:
    return np.fromfile(DATA / name, "<i4")


CORPUS, TEXT = ids("phrases_corpus.i32"), ids("phrases.i32")
SIZE_MB = len(CORPUS) * 4 / 1e6


@dataclass(frozen=True)
class Watched:
    """A race, what its processes had to do, and what it left in the temporary folder."""

    result: RaceResult
    jobs: list[dict[str, Any]]
    left: list[str]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    """Two stages of different structure, without and with a static cache."""
    folder = tmp_path_factory.mktemp("race")
    jobs: list[dict[str, Any]] = []
    start = Child.__init__

    def told(self: Child, job: dict[str, Any]) -> None:
        jobs.append(job)
        start(self, job)

    with mock.patch.object(Child, "__init__", told), mock.patch("tempfile.tempdir", str(folder)):
        raced = ng.race(["upstream", "precheck"], CORPUS, TEXT, sizes=[SIZE_MB, 0], runs=2, seed=5)
    return Watched(raced, jobs, os.listdir(folder))


@pytest.fixture
def result(watched: Watched) -> RaceResult:
    return watched.result


# ---- what it says -----------------------------------------------------------------------------


def test_every_stage_has_its_figures(result: RaceResult) -> None:
    assert result.complete
    assert [size.size_mb for size in result.sizes] == [0, SIZE_MB]
    names = ["upstream", "precheck", "upstream again"]
    for size in result.sizes:
        assert [figures.name for figures in size.stages] == names
        for figures in size.stages:
            assert figures.n_replayed == len(TEXT)
            assert figures.ns_per_replayed.n == 2
            assert sum(one.n_calls for one in figures.calls.histogram) == 2 * figures.n_calls
            calls = figures.calls
            assert calls.p50_ns.median <= calls.p99_ns.median <= calls.max_ns.median
            assert calls.mean_ns.low <= calls.mean_ns.median <= calls.mean_ns.high
    assert result.n_runs == 12
    assert set(result.surroundings.machine) >= {"cpu", "compiler", "python", "ngram_core"}
    assert result.surroundings.clock_cost_ns > 0


def test_counts_and_checksum_are_those_of_a_replay(result: RaceResult) -> None:
    toggles = ng.PRECHECK.toggles
    with (
        ng.NgramCache.build_static(CORPUS, toggles) as static,
        ng.Replay(TEXT, toggles, static=static) as replay,
    ):
        sample = replay.run()
        expected = (sample.n_calls, sample.n_drafted, sample.n_accept)
        n_grams, n_followers = static.n_grams, static.n_followers
    by_reference = reference.replay(TEXT, static=reference.count_bigrams(CORPUS), score="int32")
    assert expected == (by_reference.n_calls, by_reference.n_drafted, by_reference.n_accept)
    size = result.size(SIZE_MB)
    assert (size.corpus_tokens, size.n_grams, size.n_followers) == (
        len(CORPUS),
        n_grams,
        n_followers,
    )
    for figures in size.stages:
        assert (figures.n_calls, figures.n_drafted, figures.n_accept) == expected
        assert figures.checksums == (f"{sample.drafts_checksum:016x}",)
        assert figures.accept_pct == sample.accept_pct
    assert result.drafts_equal
    assert size.other_drafts == ()


def test_what_is_the_clock_s_is_said_where_it_counts(result: RaceResult) -> None:
    size = result.size(SIZE_MB)
    slow, fast = size.stage("upstream"), size.stage("precheck")
    calls_per_drafted = fast.n_calls / fast.n_drafted

    def said(fast_ns: float, reading_ns: int) -> str:
        stages = [
            replace(figures, ns_per_drafted=Spread(2, ns, ns, ns))
            for figures, ns in ((slow, 1000.0), (fast, fast_ns))
        ]
        timed = replace(
            result,
            sizes=(replace(size, stages=tuple(stages)),),
            surroundings=replace(result.surroundings, clock_cost_ns=reading_ns),
        )
        return " ".join(timed.to_text().split())

    share = 2 * 25 * calls_per_drafted
    net = f"{(1000 - share) / (300 - share):.3g} times as fast as upstream"
    assert (
        f"Of precheck's 300 ns per drafted token, {share:.0f} are the clock's; without that it"
        f" is {net}." in said(300.0, 25)
    )
    assert "the clock's" not in said(900.0, 1)
    assert "the clock's." in said(share, 25), "nothing is left to divide by"


def test_loads_are_of_each_stages_own_format(result: RaceResult) -> None:
    stages = result.size(SIZE_MB).stages
    assert [figures.load.format for figures in stages if figures.load] == [
        "legacy",
        "constmap",
        "legacy",
    ]
    assert {one.file_format for one in entrants.entrants()} <= set(FORMATS)
    load = result.size(SIZE_MB).stage("upstream").load
    assert load is not None
    assert load.file_bytes == (DATA / "phrases_corpus.legacy.cache").stat().st_size
    assert load.warm_ns.n == 2
    assert all(figures.load is None for figures in result.size(0).stages)


def test_memory_is_the_engines_and_the_systems(result: RaceResult) -> None:
    for figures in result.size(SIZE_MB).stages:
        toggles = ng.Toggles(**figures.toggles)  # type: ignore[arg-type]
        with ng.NgramCache.build_static(CORPUS, toggles) as static:
            assert figures.memory.static is not None
            assert figures.memory.static.live_bytes == static.memory().live_bytes
        with ng.Replay(TEXT, toggles) as replay:
            replay.run()
            dynamic = replay.dynamic.memory().live_bytes
        assert figures.memory.dynamic.live_bytes == dynamic
        with ng.Replay(TEXT, toggles) as replay:
            half = replay.advance(tokens=len(TEXT) // 2)
            counted = child._context_memory(TEXT, toggles, half.n_replayed)
        assert counted.live_bytes == half.context_bytes
        assert figures.memory.context.live_bytes > half.context_bytes
    assert result.size(0).stage("upstream").memory.static is None


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell")
def test_resident_memory_is_of_a_process_of_its_own() -> None:
    """A static cache of known size shows in its own stage's process, and there alone."""
    corpus = np.random.default_rng(1).integers(0, 30_000, 200_000, dtype=np.int32)
    ballast = np.ones(30_000_000, np.int8)  # of this process: must not show
    raced = ng.race(["nocopy"], corpus, TEXT, sizes=[0.8], runs=1)
    for figures in raced.sizes[0].stages:
        resident, static = figures.resident, figures.memory.static
        assert static is not None
        assert resident.before_bytes is not None
        assert resident.loaded_bytes is not None
        assert resident.end_bytes is not None
        assert resident.peak_bytes is not None
        grown = resident.loaded_bytes - resident.before_bytes
        assert 0.7 * static.live_bytes < grown < 1.3 * static.total_bytes + 2_000_000
        assert resident.loaded_bytes <= resident.end_bytes + 1_000_000
        assert resident.end_bytes <= resident.peak_bytes
        assert resident.before_bytes < 80_000_000
    assert ballast.sum() == 30_000_000


def test_cold_is_told_only_where_the_system_forgot_the_file(tmp_path: Path) -> None:
    path = tmp_path / "static"
    with ng.BigramCounter() as counter:
        counter.add(CORPUS)
        counter.save(path, "legacy")
    job = {"static": str(path), "toggles": asdict(ng.NOCOPY.toggles)}
    with mock.patch.object(child, "_in_memory", return_value=True):
        assert child._load_cold(job).cold_ns is None
    with mock.patch.object(child, "_in_memory", return_value=False):
        told = child._load_cold(job).cold_ns
        assert told is not None
        assert told > 0


def test_noise_is_of_the_first_stage_against_itself(result: RaceResult) -> None:
    size = result.sizes[1]
    once, again = (size.stage(name).ns_per_drafted for name in ("upstream", "upstream again"))
    assert once is not None
    assert again is not None
    noise = size.noise
    assert noise is not None
    low, high = min(once.low, again.low), max(once.high, again.high)
    assert noise.spread_pct == pytest.approx(100 * (high / low - 1))
    assert noise.apart_pct <= noise.spread_pct
    assert size.is_noise(0.999 * high / low)
    assert size.is_noise(1.001 * low / high)
    assert not size.is_noise(1.01 * high / low)
    apart = size.times_faster("upstream again", "upstream")
    assert apart is not None
    assert size.is_noise(apart)


def test_steps_that_are_slower_are_named(result: RaceResult) -> None:
    upstream, precheck, again = result.size(0).stages

    def timed(figures: StageFigures, ns: float) -> StageFigures:
        return replace(figures, ns_per_drafted=Spread(2, ns, ns, ns))

    def named(ns: float) -> tuple[str, ...]:
        stages = (timed(upstream, 100), timed(precheck, ns), timed(again, 110))
        return replace(result.size(0), stages=stages).slower_steps

    assert named(90) == named(100) == named(109) == ()
    assert named(111) == ("precheck",)
    assert named(200) == ("precheck",)
    slow = replace(result.size(0), stages=(timed(upstream, 1), timed(precheck, 9), timed(again, 1)))
    told = unwrapped(replace(result, sizes=(slow,)))
    assert "Slower than the stage before, by more than that: precheck." in told


def test_a_busy_machine_is_told(result: RaceResult) -> None:
    def with_load(load: float | None) -> str:
        around = replace(result.surroundings, load_average=load)
        return unwrapped(replace(result, surroundings=around))

    assert "expect noise" in with_load(1000.0)
    assert "expect noise" not in with_load(0.0)
    assert "load average" not in with_load(None)


def test_drafts_that_differ_are_found() -> None:
    """With 32 bits the best token's score, 60,000 * 100 * 400, wraps and loses; and the static
    cache alone, where it has less than half, does not draft it either."""
    wraps = ng.INNERVECTOR
    exact = replace(wraps, name="exact", toggles=wraps.toggles.set(score="exact"))
    corpus = np.array([0, 1, 2] * 60_000 + [0, 1, 4] * 40_000 + [0, 1, 5] * 40_000, np.int32)
    size_mb = 4 * len(corpus) / 1e6
    text = np.array(([0, 1, 2, 9] * 40 + [0, 1, 3, 8]) * 20, np.int32)
    raced = ng.race([wraps, exact], corpus, text, sizes=[size_mb], runs=1, score=None)
    (size,) = raced.sizes
    checksums = [figures.checksums[0] for figures in size.stages]
    assert checksums[0] == checksums[2] != checksums[1]
    assert not raced.drafts_equal
    assert size.other_drafts == ("exact",)
    assert f"NOT the same: exact; checksums: innervector {checksums[0]}" in unwrapped(raced)
    one, other, _ = entrants.entrants([wraps, exact])
    assert one.toggles == other.toggles  # with one score for all


def test_sizes_that_do_not_fit_are_left_out_with_a_line() -> None:
    raced = ng.race(["nocopy"], CORPUS, None, sizes=[0, 5], runs=1)
    assert [size.size_mb for size in raced.sizes] == [0]
    (left,) = raced.left_out
    assert (left.size_mb, left.stage) == (5, None)
    assert "Left out: 5 MB: of the token ids given only 0.0 MB can be counted." in unwrapped(raced)
    assert raced.complete


def test_memory_that_does_not_suffice_leaves_out_maps_alone() -> None:
    corpus = np.random.default_rng(1).integers(0, 30_000, 250_000, dtype=np.int32)
    raced = ng.race(["nocopy", "constmap"], corpus, TEXT, sizes=[1], runs=1, free_bytes=100_000_000)
    assert [figures.name for figures in raced.sizes[0].stages] == ["constmap"]
    assert [left.stage for left in raced.left_out] == ["nocopy", "nocopy again"]
    assert "of which 100 MB may be taken" in raced.left_out[0].why
    with pytest.raises(InputError, match="nothing could be raced: counting it takes up to 69 MB"):
        ng.race(["nocopy"], corpus, TEXT, sizes=[1], runs=1, free_bytes=65_000_000)


# ---- in which order ---------------------------------------------------------------------------


def test_stages_are_interleaved_and_the_order_rotates(watched: Watched) -> None:
    laps = [job for job in watched.jobs if job["task"] == "lap"]
    order = ["upstream again", "upstream", "precheck", "upstream", "precheck", "upstream again"]
    copies = [name != "precheck" for name in order]
    assert [job["toggles"]["copy_followers"] for job in laps] == 2 * copies
    assert [job["static"] is None for job in laps] == [True] * 6 + [False] * 6
    runners = entrants.entrants(["upstream", "precheck"])
    rounds = [one.name for run in range(2) for one in entrants.in_turn(runners, run, seed=5)]
    assert rounds == order


def test_a_file_is_written_once_for_all_that_read_it(watched: Watched) -> None:
    (counting,) = [job for job in watched.jobs if job["task"] == "count"]
    laps = [job for job in watched.jobs if job["task"] == "lap" and job["static"]]
    assert sorted(counting["files"]) == sorted({job["static"] for job in laps})
    assert len(counting["files"]) == 2
    assert len([job for job in watched.jobs if job["task"] == "load"]) == 2
    assert watched.left == []


def test_all_stages_take_part_by_default() -> None:
    runners = entrants.entrants()
    assert [one.name for one in runners] == [*ng.STAGES, "upstream again"]
    assert {(one.toggles.ties, one.toggles.score) for one in runners} == {("token", "int32")}
    assert [one.again for one in runners] == [False] * len(ng.STAGES) + [True]


def test_steps_are_short_and_the_result_grows() -> None:
    longest, fractions, n_runs = 0.0, [], set()
    with Race(["nocopy"], CORPUS, TEXT, sizes=[0, SIZE_MB], runs=1) as race:
        assert race.n_planned == 4
        assert race.result().n_runs == 0
        more = True
        while more:
            begun = time.monotonic()
            more = race.step(seconds=0.01)
            longest = max(longest, time.monotonic() - begun)
            fractions.append(race.fraction)
            n_runs.add(race.result().n_runs)
        assert not race.step()
    assert n_runs == set(range(5))
    assert fractions[-1] == 1
    assert all(0 <= fraction <= 1 for fraction in fractions)
    assert race.result().complete
    assert longest < 5  # a hung step would show; times themselves are not tested


def test_a_race_that_is_closed_leaves_nothing() -> None:
    race = Race(["nocopy"], CORPUS, TEXT, sizes=[0], runs=50)
    while not race.result().n_runs:
        race.step()
    folder, process = Path(race._folder.name), race._child
    race.close()
    race.close()
    assert not folder.exists()
    assert process is None or process._process.wait(timeout=60) is not None
    assert not race.step()
    stopped = race.result()
    assert not stopped.complete
    assert f"it was stopped after {stopped.n_runs} runs" in unwrapped(stopped)


# ---- what goes wrong --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"stages": []}, "a race needs a stage"),
        ({"stages": "fastest"}, "there is no stage 'fastest'"),
        ({"stages": ["nocopy", "nocopy"]}, "nocopy is in the race twice"),
        ({"sizes": []}, "a race needs a size"),
        ({"sizes": [-1]}, "a size of -1 MB"),
        ({"sizes": [float("nan")]}, "a size of nan MB"),
        ({"runs": 0}, "runs"),
        ({"corpus": None, "text": None}, "needs a text to replay"),
        ({"corpus": "no-such"}, "there is no corpus, file or folder 'no-such'"),
        ({"text": np.zeros(0, np.int32)}, "has no tokens"),
        ({"text": [1, 2, 3], "tail": "drop"}, "nothing would be replayed"),
        ({"n_draft": 0}, "n_draft"),
    ],
)
def test_wrong_words(words: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Race(**{"corpus": CORPUS, "text": TEXT, **words})  # type: ignore[arg-type]


def test_a_process_that_dies_is_told() -> None:
    with Race(["nocopy"], None, TEXT, sizes=[0], runs=2) as race:
        while not race.result().n_runs:
            race.step()
        (Path(race._folder.name) / "text.i32").write_bytes(b"12345")
        with pytest.raises(FormatError, match="ends inside a token"):
            race.run()
        assert race.result().n_runs >= 1
        assert not race.step()
        assert not race.result().complete
    with pytest.raises(NgramError, match="code 1: KeyError"):
        ended(Child({"task": "lap"}))
    killed = Child({"task": "count", "files": {}})
    killed._process.kill()
    with pytest.raises(EngineMemoryError, match="was killed"):
        ended(killed)


def ended(process: Child) -> None:
    with process:
        while not process.wait(1):
            pass


# ---- texts ------------------------------------------------------------------------------------


def test_the_text_is_no_part_of_the_corpus(tmp_path: Path) -> None:
    lines = [f"line {i:04}\n" for i in range(1000)]
    for name, part in (("a.txt", lines[:300]), ("b.txt", lines[300:])):
        (tmp_path / name).write_text("".join(part), encoding="utf-8")
    wanted = material.Wanted(text_tokens=1000)
    found = material.material(str(tmp_path), None, wanted, ByteTokenizer())
    assert found.corpus is not None
    assert found.corpus.n_bytes == 5000
    corpus = np.concatenate(list(found.corpus.blocks(5000))).astype(np.uint8).tobytes().decode()
    text = found.text.astype(np.uint8).tobytes().decode()
    assert corpus == "".join(lines[:500])
    assert text == "".join(lines[900:])


def test_the_end_of_a_text_begins_a_line(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\ntwo\n", encoding="utf-8")
    (tmp_path / "b").write_text("three\nfour\n", encoding="utf-8")
    (tmp_path / "c").write_text("ééé", encoding="utf-8")
    text = corpora.from_files([tmp_path / "a", tmp_path / "b"])
    assert text.last_bytes(4) == b""
    assert text.last_bytes(5) == b"four\n"
    assert text.last_bytes(10) == b"four\n"
    assert text.last_bytes(11) == b"three\nfour\n"
    assert text.last_bytes(1000) == b"one\ntwo\nthree\nfour\n"
    assert corpora.from_files([tmp_path / "c"]).last_bytes(3).decode() == "é"


def test_a_made_corpus_is_replayed_by_another_seed() -> None:
    wanted = material.Wanted(text_tokens=2000, most_mb=0.1)
    found = material.material("json-lines", None, wanted, None)
    assert found.text_name == "json-lines of seed 2"
    assert found.corpus is not None
    corpus = np.concatenate(list(found.corpus.blocks(100_000)))
    assert len(found.text) == 2000
    assert not np.array_equal(corpus[:2000], found.text)


def test_wikitext_is_raced_on_its_test_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And 541 MB are all of it, though it is not to the byte."""
    texts = {"wikitext-103": b"a line of it\n" * 153_840, "wikitext-test": b"another\n" * 100}
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text)
    files = {name: corpora.from_files([tmp_path / name]) for name in texts}
    monkeypatch.setattr(corpora, "get_corpus", lambda name, *_, **__: files[name])
    with Race(["nocopy"], "wikitext-103", tokenizer=ByteTokenizer(), sizes=[2, 3]) as race:
        assert bytes(race.material.text.astype(np.uint8)) == texts["wikitext-test"]
        corpus = race.material.corpus
        assert corpus is not None
        assert corpus.n_bytes == 1_999_920
        assert [running._bytes_of(size, corpus) for size in (1, 2, 3)] == [
            1_000_000,
            1_999_920,
            3_000_000,
        ]


def test_all_of_a_corpus() -> None:
    with Race(["nocopy"], CORPUS, TEXT, sizes=[math.inf, 0, 0.01]) as race:
        assert race.sizes == (0, SIZE_MB, 0.01)
    with Race(["nocopy"], CORPUS, None, sizes=[math.inf], text_tokens=10) as race:
        assert race.sizes == (SIZE_MB - 4e-5,)
    with Race(["nocopy"], "json-lines", None, sizes=[math.inf]) as race:
        assert race.sizes == (1,)


def test_files_of_token_ids(tmp_path: Path) -> None:
    CORPUS.tofile(tmp_path / "c.i32")
    wanted = material.Wanted(text_tokens=100)
    by_file = material.material(tmp_path / "c.i32", None, wanted, None)
    by_array = material.material(CORPUS, None, wanted, None)
    assert np.array_equal(by_file.text, CORPUS[-100:])
    assert np.array_equal(by_array.text, CORPUS[-100:])
    for found in (by_file, by_array):
        assert found.corpus is not None
        assert found.corpus.n_bytes == 4 * (len(CORPUS) - 100)
        assert np.array_equal(np.concatenate(list(found.corpus.blocks(4000))), CORPUS[:1000])


def test_a_megabyte_of_python() -> None:
    raced = ng.race(["innervector"], "python", sizes=[1], runs=1, text_tokens=4000)
    (size,) = raced.sizes
    assert raced.tokenizer == "qwen2.5"
    assert raced.text_tokens == 4000
    assert 150_000 < size.corpus_tokens < 500_000
    assert size.accept_pct is not None
    assert 2 < size.accept_pct < 60


# ---- what it is written as --------------------------------------------------------------------


def test_json_is_read_back(result: RaceResult) -> None:
    assert RaceResult.from_json(result.to_json()) == result


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (lambda plain: plain.pop("sizes"), "RaceResult needs the fields"),
        (lambda plain: plain.update(seconds="long"), "RaceResult.seconds is 'long'"),
        (lambda plain: plain["sizes"][0].update(n_grams=1.5), r"RaceResult.sizes\[0\].n_grams"),
    ],
)
def test_json_that_is_something_else(result: RaceResult, break_it: object, said: str) -> None:
    plain = json.loads(result.to_json())
    assert callable(break_it)
    break_it(plain)
    with pytest.raises(FormatError, match=said):
        RaceResult.from_json(json.dumps(plain))
    with pytest.raises(FormatError, match="not JSON"):
        RaceResult.from_json("{")


def test_csv_is_read_back(result: RaceResult) -> None:
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    measured = [row for row in rows if row["source"] == "measured"]
    published = [row for row in rows if row["source"] == "published"]
    assert len(measured) == 6
    assert len(published) == 12
    for row in measured:
        figures = result.size(float(row["size_mb"])).stage(row["stage"])
        assert figures.ns_per_drafted is not None
        assert float(row["ns_per_drafted_median"]) == figures.ns_per_drafted.median
        assert int(row["context_live_bytes"]) == figures.memory.context.live_bytes
        assert row["drafts_checksum"] == figures.checksums[0]
        assert row["cpu"] == result.surroundings.machine["cpu"]
    at_541 = next(r for r in published if (r["stage"], r["size_mb"]) == ("upstream", "541.0"))
    assert float(at_541["ns_per_drafted_median"]) == 165_480
    assert at_541["n_accept"] == "63775"


def test_markdown_tables_hold_the_figures(result: RaceResult) -> None:
    parts = result.to_markdown().split("\n\n")
    assert parts[0] == "# A race of the stages"
    found = [[cells(row) for row in part.splitlines()] for part in parts if part.startswith("| ")]
    assert all(len({len(row) for row in table}) == 1 for table in found)
    times = next(table for table in found if "replayed" in table[0])
    median = result.sizes[0].stage("upstream").ns_per_drafted
    assert median is not None
    assert [row[0] for row in times[2:]] == ["upstream", "precheck", "upstream again"]
    assert float(times[2][1].replace(",", "")) == pytest.approx(median.median / 1000, rel=0.05)
    assert times[2][-1] == "8.54"  # published, without a static cache


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split("|")]


def test_text_fits_a_terminal(result: RaceResult) -> None:
    assert max(map(len, result.to_text().splitlines())) <= 80
    assert "Drafts: the same in all runs of all stages" in unwrapped(result)


def unwrapped(result: RaceResult) -> str:
    return " ".join(result.to_text().split())


def test_a_text_in_which_nothing_is_drafted() -> None:
    raced = ng.race(["nocopy"], None, np.arange(300), sizes=[0], runs=1)
    (size,) = raced.sizes
    assert size.stages[0].ns_per_drafted is None
    assert size.accept_pct is None
    assert size.noise is None
    assert RaceResult.from_json(raced.to_json()) == raced
    assert "Noise: not known." in unwrapped(raced)
    assert raced.to_csv()
    assert raced.to_markdown()


def test_published_figures_are_the_authors() -> None:
    assert len(PUBLISHED) == 36
    line = next(p for p in PUBLISHED if (p.stage, p.corpus_mb) == ("constmap", 541))
    assert (line.us_per_drafted, line.load_ms, line.static_mb, line.peak_mb) == (
        4.29,
        324,
        464,
        1312,
    )
    assert round(line.accept_pct, 3) == 19.931


def test_spread() -> None:
    assert Spread.of([4, 1, 2]) == Spread(3, 2.0, 1.0, 4.0)
