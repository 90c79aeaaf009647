"""The experiment of lesson 03: state machine, equal work, the light, refusals, clean ends."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

import ngram_core as ng
from ngram_core.corpora import Corpus, from_files
from ngram_core.lesson import copying, lesson03
from ngram_core.lesson.board import board
from ngram_core.lesson.examples import EXAMPLES
from ngram_core.lesson.experiment import Experiment
from ngram_core.lesson.findings import (
    comparison,
    describe,
    light_words,
    plain_words,
    results,
    sentence,
)
from ngram_core.lesson.material import MEGABYTE, Material, python_material
from ngram_core.lesson.measured import PIECES, Line, Piece, is_clear, on_shared_part, spread
from ngram_core.lesson.pump import Pump
from ngram_core.lesson.runs import Setting
from ngram_core.lesson.same_drafts import Comparison, DraftLog
from ngram_core.lesson.switches import name_of
from ngram_core.lesson.table import table
from ngram_core.published import DRAFTING_US
from ngram_core.tokenizers import ByteTokenizer

N_TEXT = 3_600


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """2 MB of text: the examples over and over, shuffled by lines."""
    lines = "".join(example.text for example in EXAMPLES.values()).splitlines(keepends=True)
    rng = np.random.default_rng(3)
    path = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    with path.open("w") as file:
        while file.tell() < 2 * MEGABYTE:
            file.writelines(lines[i] for i in rng.permutation(len(lines)))
    return from_files([path])


@pytest.fixture(scope="module")
def material(corpus: Corpus) -> Material:
    tokenizer = ByteTokenizer()
    text = "".join(example.text + example.earlier for example in EXAMPLES.values())
    tokens = tokenizer.encode(text)[:N_TEXT]
    return Material(tokens, "the examples", tokenizer, corpus, corpus.n_bytes)


@pytest.fixture
def experiment(material: Material) -> Iterator[Experiment]:
    with Experiment(material, sizes=(0, 1, 2)) as made:
        yield made


def work_until(x: Experiment, fraction: float) -> None:
    """Goes on in the smallest slices until so much of the text is replayed."""
    while x.run is None or x.run.line.fraction < fraction:
        assert x.work(seconds=1e-6), x.error
        assert x.error == ""


# ---- the state machine ----------------------------------------------------------------------


def test_a_run_goes_through_its_states(experiment: Experiment) -> None:
    x = experiment
    x.choose(size_mb=1)
    assert (x.state, x.work()) == ("ready", False)
    x.start()
    seen = [x.state]
    while x.work(seconds=0.001):
        seen.append(x.state)
    assert list(dict.fromkeys(seen)) == ["preparing", "running"]
    assert x.state == "done"
    assert x.progress()[0] == 1.0
    assert x.run is not None
    assert x.run.line.sample is not None
    assert x.run.line.sample.n_replayed == N_TEXT
    assert x.run.replay is None, "the engine's part is given back when the run is over"


def test_pause_resume_and_stop(experiment: Experiment) -> None:
    x = experiment
    x.start()
    work_until(x, 0.2)
    x.pause()
    assert x.state == "paused"
    before = x.run and x.run.line.sample
    assert not x.work()
    assert x.run is not None
    assert x.run.line.sample == before, "nothing is replayed in a pause"
    x.resume()
    work_until(x, 0.5)
    x.stop()
    assert x.state == "stopped"
    assert 0.5 <= x.run.line.fraction < 1
    assert len(results(x)) == 1, "what was measured is kept"
    x.resume()  # there is nothing to resume
    assert x.state == "stopped"
    x.start()
    work_until(x, 1e-6)
    assert x.run.line.fraction < 0.2, "after a stop the run begins anew"


def test_a_pause_in_the_middle_changes_no_figure(experiment: Experiment) -> None:
    x = experiment
    x.start()
    while x.work(seconds=1e-6):
        x.pause()
        x.resume()
    with ng.Replay(x.material.text, x.setting.toggles) as whole:
        sample = whole.run()
    assert x.run is not None
    assert x.run.line.sample is not None
    for name in ("n_drafted", "n_accept", "n_calls", "drafts_checksum", "copied_bytes"):
        assert getattr(x.run.line.sample, name) == getattr(sample, name), name


def test_the_switch_in_the_middle_keeps_the_first_run(experiment: Experiment) -> None:
    x = experiment
    x.choose(size_mb=1)
    x.start()
    work_until(x, 0.4)
    upstream = x.run
    x.choose(copy_followers=False)
    assert x.state in ("preparing", "running")
    work_until(x, 0.6)
    assert upstream is not None
    assert x.run is not upstream
    assert 0.4 <= upstream.line.fraction < 0.6
    assert upstream.unfinished
    x.choose(copy_followers=True)
    x.run_to_end()
    assert x.run is upstream
    assert upstream.done, "the first run goes on where it was"
    static = [run.line.memory["static"].live_bytes for run in x.runs.values()]
    assert static[0] == static[1] > 0


def test_another_corpus_ends_the_runs_on_the_old_one(experiment: Experiment) -> None:
    x = experiment
    x.choose(size_mb=1)
    x.start()
    work_until(x, 0.3)
    old = x.run
    assert old is not None
    x.choose(size_mb=2)
    assert not old.unfinished
    x.run_to_end()
    assert [row.corpus_mb for row in results(x)] == [1, 2]
    assert not results(x)[0].done


def test_coming_back_to_a_run_that_was_ended_begins_it_anew(experiment: Experiment) -> None:
    x = experiment
    x.choose(size_mb=1)
    x.start()
    work_until(x, 0.3)
    x.choose(followers="sorted")
    work_until(x, 0.1)
    x.choose(followers="chained", ties="library")
    assert x.run is None, "it was ended in the middle"
    x.run_to_end()
    assert x.state == "done"
    x.choose(followers="sorted")
    x.start()
    work_until(x, 0.1)
    x.choose(followers="chained", ties="library")
    assert x.state == "done", "a run that is over stays over"
    assert not x.work()


def test_few_runs_are_kept_in_the_middle(experiment: Experiment) -> None:
    x = experiment
    x.start()
    for search in ("fixed", "lower_bound", "linear", "simd"):
        x.choose(search=search)
        work_until(x, 0.1)
    assert [run.unfinished for run in x.runs.values()] == [False, True, True, True]


def test_start_anew_forgets_the_old_figures(experiment: Experiment) -> None:
    x = experiment
    x.run_to_end()
    first = x.run
    x.run_to_end()
    assert x.run is not first
    assert len(x.runs) == 1


def test_wrong_choices_are_refused_and_change_nothing(experiment: Experiment) -> None:
    x = experiment
    before = x.setting
    with pytest.raises(ng.InputError, match="no corpus of 3 MB"):
        x.choose(size_mb=3)
    with pytest.raises(ng.InputError, match="no toggle"):
        x.choose(colour="red")
    assert x.setting == before
    x.start()
    with pytest.raises(ng.StateError, match="it is running"):
        x.start()


def test_interrupting_a_run_says_so(
    experiment: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = experiment

    def interrupt(*_args: object, **_named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ng.Replay, "advance", interrupt)
    with pytest.raises(KeyboardInterrupt):
        x.run_to_end()
    assert (x.state, x.error) == ("failed", "it was interrupted")
    assert "interrupted" in describe(x)


def test_a_corpus_that_vanishes_is_told_in_words(material: Material, tmp_path: object) -> None:
    gone = Corpus("gone", (material.corpus.files[0].with_name("gone.txt"),), 10**7, "0" * 64)
    lost = Material(material.text, "x", material.tokenizer, gone, 10**7)
    with Experiment(lost, sizes=(1,)) as x:
        x.run_to_end()
        assert x.state == "failed"
        assert "gone.txt" in plain_words(sentence(x))
        x.choose(copy_followers=False)
        assert x.state == "ready", "the reader can go on"


# ---- memory ---------------------------------------------------------------------------------


def test_what_cannot_fit_is_refused_with_a_hint(material: Material) -> None:
    with Experiment(material, sizes=(0, 1, 2), free_bytes=40 * MEGABYTE) as x:
        x.choose(size_mb=1)
        with pytest.raises(ng.InputError, match=r"needs up to 46 MB .* smaller corpus"):
            x.choose(size_mb=2)
        sizes = {size: refusal for size, _label, refusal, _on in board(x)["sizes"]}
    assert sizes[0] == sizes[1] == ""
    assert "40 MB are free" in sizes[2]


def test_more_than_the_corpus_has_is_refused(material: Material) -> None:
    with (
        Experiment(material, sizes=(0, 25)) as x,
        pytest.raises(ng.InputError, match="has 2 MB only"),
    ):
        x.choose(size_mb=25)


def test_closing_frees_everything(material: Material) -> None:
    x = Experiment(material, sizes=(1,))
    x.start()
    work_until(x, 0.2)
    run = x.run
    assert run is not None
    assert run.replay is not None
    dynamic, static = run.replay.dynamic, run.replay.static
    x.close()
    x.close()
    for cache in (dynamic, static):
        assert cache is not None
        with pytest.raises(ng.StateError, match="closed"):
            cache.memory()
    assert not x.work()
    assert len(results(x)) == 1, "the figures stay"
    with pytest.raises(ng.StateError, match="closed"):
        x.start()


# ---- the static cache, built in slices ------------------------------------------------------


def static_of(x: Experiment) -> ng.NgramCache:
    while not x.static.has(x.setting):
        assert x.work(0.001), x.error
    assert x.static.cache is not None
    return x.static.cache


def test_the_corpus_is_counted_once(
    experiment: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = experiment
    x.choose(size_mb=1, ties="token")
    x.start()
    assert x.material.corpus is not None
    tokens = x.material.corpus.tokens(x.material.tokenizer, MEGABYTE, keep=False)
    with ng.NgramCache.build_static(tokens, ng.UPSTREAM.toggles) as whole:
        np.testing.assert_array_equal(static_of(x).ngrams(), whole.ngrams())
        monkeypatch.setattr(Corpus, "token_blocks", None)  # it is not read again
        for outer in ("segmented", "dense", "chained"):
            x.choose(outer=outer, followers="sorted")
            made = static_of(x)
            assert made.facts()["n_followers"] == whole.facts()["n_followers"]
            assert made.toggles.outer == outer
        x.choose(static="constmap")
        assert static_of(x).kind == "constmap"
        held = static_of(x)
        x.choose(outer="dense", hash="mixed")
        assert static_of(x) is held, "a constmap has a table and a hash of its own"


def test_counts_that_are_too_big_are_not_kept(
    experiment: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = experiment
    x.choose(size_mb=1)
    x.start()
    static_of(x)
    assert x.static.has_counted(1)
    monkeypatch.setattr("ngram_core.lesson.experiment._COUNTS_SHARE", 0.0)
    x.choose(hash="mixed")
    static_of(x)
    assert not x.static.has_counted(1)
    x.choose(hash="xor")
    static_of(x)  # the corpus is read again


def test_counting_can_be_paused_and_given_up(experiment: Experiment) -> None:
    x = experiment
    x.choose(size_mb=2)
    x.start()
    x.work(0)
    x.pause()
    while x.static.fraction == 0:  # it rests where it next tells how far it is
        time.sleep(0.001)
    fraction = x.static.fraction
    time.sleep(0.05)
    assert x.static.fraction == fraction < 1
    assert "counting 2 MB" in describe(x) or x.what == "counting 2 MB of corpus"
    x.resume()
    x.work(0)
    x.choose(size_mb=1)
    x.run_to_end()
    assert x.state == "done"
    x.close()
    wait_for_threads()


def wait_for_threads(n: int = 1) -> None:
    deadline = time.monotonic() + 10
    while threading.active_count() > n:
        assert time.monotonic() < deadline, threading.enumerate()
        time.sleep(0.001)


# ---- pieces of equal work -------------------------------------------------------------------


def test_pieces_hold_the_same_work_for_both_stages(experiment: Experiment) -> None:
    x = experiment
    x.run_to_end()
    upstream = x.run
    x.choose(copy_followers=False)
    x.start()
    while x.work(seconds=1e-6):  # other slices, same pieces
        pass
    assert upstream is not None
    assert x.run is not None
    work = [
        [(piece.n_replayed, piece.n_drafted) for piece in run.line.pieces]
        for run in (upstream, x.run)
    ]
    assert work[0] == work[1]
    assert 0.9 * PIECES <= len(work[0]) <= PIECES
    assert all(piece.copied_bytes == 0 for piece in x.run.line.pieces)
    assert sum(piece.copied_bytes for piece in upstream.line.pieces) > 0
    for run in (upstream, x.run):
        sample = run.line.sample
        assert sample is not None
        assert sum(piece.n_drafted for piece in run.line.pieces) == sample.n_drafted


def test_the_shared_part_is_compared_by_medians() -> None:
    slow, fast = Line(100), Line(100)
    slow.pieces = [Piece(i, 10, ns, 0, 0) for i, ns in enumerate((100, 200, 9_000, 300))]
    fast.pieces = [Piece(i, 10, ns, 0, 0) for i, ns in enumerate((50, 50, 60))]
    assert on_shared_part(slow, fast) == (20.0, 5.0)
    assert on_shared_part(slow, Line(100)) is None
    assert spread([]) is None


def test_nothing_is_claimed_below_the_spread() -> None:
    one, same, fast = Line(100), Line(100), Line(100)
    one.pieces = [Piece(i, 10, ns, 0, 0) for i, ns in enumerate((100, 110, 120, 130))]
    same.pieces = [Piece(i, 10, ns, 0, 0) for i, ns in enumerate((105, 104, 126, 123))]
    fast.pieces = [Piece(i, 10, ns, 0, 0) for i, ns in enumerate((50, 50, 60, 70))]
    assert not is_clear(one, same)
    assert not is_clear(one, Line(100))
    assert is_clear(one, fast)
    assert is_clear(fast, one)
    assert "no telling" in comparison(10.0, 11.0, clear=False)
    assert comparison(10.0, 45.0) == "4.5 times faster"
    assert comparison(45.0, 10.0) == "4.5 times slower"


# ---- the light ------------------------------------------------------------------------------


def log(*drafts: list[int]) -> DraftLog:
    made = DraftLog()
    made.add([np.array(draft, dtype=np.int32) for draft in drafts])
    return made


def test_logs_are_compared_token_by_token() -> None:
    left, right = log([1, 2], [], [3]), log([1, 2])
    compared = Comparison(left, right)
    compared.update()
    assert (compared.n_calls, compared.n_tokens, compared.difference) == (1, 2, None)
    right.add([np.array([], np.int32), np.array([3], np.int32), np.array([4], np.int32)])
    compared.update()
    assert (compared.n_calls, compared.n_tokens, compared.difference) == (3, 3, None)


@pytest.mark.parametrize(
    ("left", "right", "call", "tokens"),
    [
        ([[1, 2], [3, 4]], [[1, 2], [3, 5]], 2, ((3, 4), (3, 5))),
        ([[1], [], [2]], [[1], [2], [2]], 2, ((), (2,))),
        ([[1, 1]], [[1]], 1, ((1, 1), (1,))),
        ([[2], [7]], [[7]], 1, ((2,), (7,))),
    ],
)
def test_the_first_difference_is_found(
    left: list[list[int]], right: list[list[int]], call: int, tokens: tuple[tuple[int, ...], ...]
) -> None:
    compared = Comparison(log(*left), log(*right))
    compared.update()
    assert compared.difference is not None
    assert compared.difference.call == call
    assert (compared.difference.left, compared.difference.right) == tokens
    compared.update()
    assert compared.difference.call == call, "it stays"


def test_same_lengths_do_not_hide_other_tokens() -> None:
    """What a checksum of counts would miss."""
    compared = Comparison(log([1], [2], [3]), log([1], [3], [2]))
    compared.update()
    assert compared.difference is not None


def test_the_light_is_green_for_both_stages(experiment: Experiment) -> None:
    x = experiment
    x.choose(size_mb=1)
    assert x.light().kind == "none"
    x.run_to_end()
    assert x.light().kind == "none"
    x.choose(copy_followers=False)
    assert x.light().kind == "none"
    x.start()
    work_until(x, 0.3)
    light = x.light()
    assert light.kind == "same"
    assert "as far as both have come" in light_words(light, x.run, x.material.tokenizer)[1]
    x.run_to_end()
    light = x.light()
    assert light.comparison is not None
    assert x.run is not None
    assert x.run.line.sample is not None
    assert light.comparison.n_tokens == x.run.line.sample.n_drafted
    assert light.comparison.n_calls == x.run.line.sample.n_calls


def test_the_light_sees_a_real_difference(experiment: Experiment) -> None:
    x = experiment
    x.run_to_end()
    x.choose(ties="token")
    x.run_to_end()
    light = x.light()
    assert (light.kind, light.expected) == ("other", True)
    head, body = light_words(light, x.run, x.material.tokenizer)
    assert head == "Other drafts, as expected."
    assert "drafted “" in body
    x.choose(ties="library", copy_followers=False)
    x.run_to_end()
    assert x.light().kind == "same", "compared with upstream, not with the odd one out"


def test_a_difference_that_must_not_be_is_called_so(experiment: Experiment) -> None:
    x = experiment
    x.run_to_end()
    x.choose(copy_followers=False)
    x.run_to_end()
    assert x.run is not None
    x.run.log = log([1])
    x._comparisons.clear()
    light = x.light()
    assert (light.kind, light.expected) == ("other", False)
    assert "must not be" in light_words(light, x.run, x.material.tokenizer)[0]


# ---- words and rows -------------------------------------------------------------------------


def test_words_and_rows_agree(experiment: Experiment) -> None:
    x = experiment
    assert "Press Start" in describe(x)
    assert table(x)["rows"] == []
    x.run_to_end()
    assert "bytes for each" in plain_words(sentence(x))
    x.choose(copy_followers=False)
    x.run_to_end()
    rows = results(x)
    assert [row.stage for row in rows] == ["upstream", "nocopy"]
    assert rows[0].drafted == rows[1].drafted
    assert rows[0].bytes_copied_per_drafted
    assert rows[1].bytes_copied_per_drafted == rows[1].allocations_per_call == 0
    assert rows[0].published_ns == 1000 * DRAFTING_US["upstream"][0]
    said = plain_words(sentence(x))
    assert said.startswith("nocopy takes ")
    assert "It copies nothing." in said
    shown = table(x)
    assert len(shown["rows"]) == 2
    assert all(len(row["cells"]) == len(shown["columns"]) for row in shown["rows"])
    assert [row["selected"] for row in shown["rows"]] == [False, True]
    assert sum(span for _text, span, _style in shown["groups"]) == len(shown["columns"])


def test_names_of_mixes() -> None:
    assert name_of(ng.NOCOPY.toggles) == "nocopy"
    assert name_of(ng.NOCOPY.toggles.set(score="exact")) == "nocopy + 64-bit score"
    assert Setting(0, ng.UPSTREAM.toggles).name == "upstream"


def test_published_figures_are_the_published_ones() -> None:
    assert DRAFTING_US["upstream"][541] == 165.48
    assert DRAFTING_US["nocopy"][541] == 6.47
    assert {len(by_corpus) for by_corpus in DRAFTING_US.values()} == {6}


# ---- the pump -------------------------------------------------------------------------------


def test_the_pump_works_shows_and_ends() -> None:
    left, shown = [50], []

    def work() -> bool:
        left[0] -= 1
        return left[0] > 0

    async def main() -> None:
        pump = Pump(work, shown.append, per_second=1000)
        pump.start()
        pump.start()  # twice is once
        while pump.running:
            await asyncio.sleep(0)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        assert not others, "no task is left"

    asyncio.run(main())
    assert left == [0]
    assert shown[-1] is True
    assert len(shown) > 1


def test_the_pump_waits_for_the_page_and_then_loses_patience() -> None:
    shown: list[bool] = []
    slices = iter(range(60))

    async def main() -> None:
        pump = Pump(
            lambda: next(slices, None) is not None,
            shown.append,
            keeps_up=lambda: False,
            per_second=1000,
            patience=0.03,
        )
        pump.start()
        while pump.running:
            await asyncio.sleep(0.001)

    asyncio.run(main())
    assert 2 <= len(shown) < 30


def test_without_an_event_loop_the_pump_says_what_to_do() -> None:
    with pytest.raises(ng.StateError, match="run_to_end"):
        Pump(lambda: False, lambda _whole: None).start()


def test_no_thread_is_left(material: Material) -> None:
    before = threading.active_count()
    for close_at in (0.0, 0.2, 0.9):
        x = Experiment(material, sizes=(1,))
        x.start()
        x.work(0)
        if close_at:
            work_until(x, close_at)
        x.close(wait=False)
        wait_for_threads(before)
        x.close()


# ---- the lesson's figures -------------------------------------------------------------------


def test_the_figures_of_lesson_03() -> None:
    counted = copying.copies()
    assert (counted.copied, counted.guesses, len(counted.calls)) == (450, 64, 79)
    call = counted.at(86)
    assert (call.copied, call.guesses) == (20, 0)
    assert copying.allocations_to_copy("the") == (12, 13)
    assert copying.copies(toggles=copying.READING).copied == 0
    longest = copying.one_copy(22_349)
    assert longest.allocations == 22_350


def test_rows_add_up_to_what_the_probe_counts() -> None:
    """The copies told by the trace are those that the engine's counter and allocator saw."""
    ready = EXAMPLES["recipe"]
    text, static, dynamic = copying.example_caches(ready, copying.COPYING)
    with ng.Drafter(copying.COPYING, static=static, dynamic=dynamic) as drafter:
        drafter.feed(text[:1])
        for token, at in zip(text[1:], range(1, len(text)), strict=True):
            most = min(ready.n_draft, len(text) - at)
            call = copying._call(drafter, most)
            assert call.copied == drafter.probe(most)["copied"]
            assert call.allocations == call.copied + len(call.copies)  # nodes and bucket arrays
            drafter.feed([token])


def test_prediction_and_exercises(experiment: Experiment) -> None:
    assert lesson03.ALLOCATIONS.settle() == "13"
    assert lesson03.WORD_86.answer("10 8 2").right
    assert "dynamic is not 7" in lesson03.WORD_86.answer("10 7 2").line
    assert "asked twice" in lesson03.WORD_86.answer("10 8 1").line
    assert not lesson03.WORD_86.answer("ten").right
    task = lesson03.time_of_copies(experiment)
    assert "1,000 ns" in task.answer("42,000").line
    assert not task.answer("x").right
    assert "Run both stages" in task.answer("42").line
    experiment.run_to_end()
    experiment.choose(copy_followers=False)
    experiment.run_to_end()
    assert "nocopy" in task.answer("42.1 µs").line


# ---- on Python's own source -----------------------------------------------------------------


def test_the_default_text_is_not_in_the_corpus() -> None:
    material = python_material(text_tokens=5_000)
    assert len(material.text) == 5_000
    assert material.corpus is not None
    assert 0 < material.corpus_bytes < material.corpus.n_bytes
    assert "Python" in material.text_name
