"""The switches of lesson 03's page: all of them, every mix that exists, and work in the
background."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ngram_core as ng
from ngram_core.closing import Closing
from ngram_core.corpora import Corpus, from_files
from ngram_core.lesson.background import GivenUp, Job, Sweeper
from ngram_core.lesson.board import board
from ngram_core.lesson.examples import EXAMPLES
from ngram_core.lesson.experiment import Experiment
from ngram_core.lesson.findings import light_words, results
from ngram_core.lesson.material import MEGABYTE, Material
from ngram_core.lesson.switches import (
    GROUPS,
    SWITCHES,
    fitted,
    idle,
    moved_words,
    name_of,
    short_name_of,
)
from ngram_core.toggles import STAGES, Toggles, choices
from ngram_core.tokenizers import ByteTokenizer

TOGGLES = tuple(field.name for field in fields(Toggles))


def legal() -> list[Toggles]:
    made = []
    for values in itertools.product(*(choices(name) for name in TOGGLES)):
        try:
            made.append(Toggles(**dict(zip(TOGGLES, values, strict=True))))
        except ng.InputError:
            continue
    return made


LEGAL = legal()


# ---- words ----------------------------------------------------------------------------------


def test_each_toggle_has_a_switch_and_each_value_a_label() -> None:
    assert set(SWITCHES) == set(TOGGLES)
    for switch in SWITCHES.values():
        assert set(switch.values) == set(choices(switch.toggle))
        assert switch.group in GROUPS
        for value in switch.values:
            assert value in switch.labels, f"{switch.toggle}={value!r} has no words yet"


def test_every_mix_has_a_name_of_its_own() -> None:
    names = [name_of(toggles) for toggles in LEGAL]
    assert len(set(names)) == len(LEGAL) > 500
    assert max(len(short_name_of(toggles)) for toggles in LEGAL) <= 32
    for stage in STAGES.values():
        assert name_of(stage.toggles) == short_name_of(stage.toggles) == stage.name


@given(st.sampled_from(LEGAL), st.sampled_from(TOGGLES), st.data())
def test_each_switch_can_be_pressed_in_each_setting(
    toggles: Toggles, name: str, data: st.DataObject
) -> None:
    value = data.draw(st.sampled_from(choices(name)))
    made, moves = fitted(toggles, **{name: value})
    assert getattr(made, name) == value
    for other in TOGGLES:
        expected = value if other == name else moves.get(other, getattr(toggles, other))
        assert getattr(made, other) == expected
    assert bool(moved_words(made, moves)) == bool(moves)


def test_what_is_moved_is_told_with_its_reason() -> None:
    toggles, moves = fitted(ng.NOCOPY.toggles, static="constmap")
    assert moved_words(toggles, moves).endswith("a packed static cache has no hash order.")
    toggles, moves = fitted(ng.CONSTMAP.toggles, ties="library")
    assert moves == {"followers": "chained", "static": "same"}
    assert moved_words(toggles, moves) == (
        "“Followers” went to “hash map” and “Static cache” went to “as the others”:"
        " hash order needs hash maps."
    )
    with pytest.raises(ng.InputError, match="no toggle"):
        fitted(toggles, colour="red")
    with pytest.raises(ng.InputError, match="hash map's order"):
        fitted(toggles, ties="library", followers="sorted")


def test_a_switch_is_idle_where_it_changes_nothing() -> None:
    arrays = ng.INNERVECTOR.toggles
    assert idle(ng.NOCOPY.toggles, "search", True) == "No effect now: hash maps are not searched."
    mapped = ng.NOCOPY.toggles.set(static="ngc", ties="token")
    assert idle(mapped, "search", True).endswith("a token’s place is computed (lesson 08).")
    assert idle(arrays, "search", True) == idle(arrays, "search", False) == ""
    assert idle(ng.NOCOPY.toggles.set(static="constmap", ties="token"), "search", False)
    assert idle(ng.NOCOPY.toggles.set(static="constmap", ties="token"), "search", True) == ""
    assert "without a static cache" in idle(arrays, "static", False)
    assert "asked for early" in idle(arrays, "prefetch", True)
    assert "keep such bits" in idle(arrays, "glance", True)
    ours = ("prefetch", "glance")
    assert all(idle(arrays, name, True) == "" for name in TOGGLES if name not in ours)
    counting = idle(ng.PLACES.toggles, "search", True)
    assert counting.startswith("Now for counting only: in the mapped file")
    assert idle(ng.PLACES.toggles, "search", False) == ""
    assert all(idle(ng.PLACES.toggles, name, True) == "" for name in TOGGLES if name != "search")


@pytest.mark.parametrize("toggles", [ng.PRECHECK.toggles, ng.PLACES.toggles])
def test_what_search_says_of_itself_is_so(toggles: ng.Toggles) -> None:
    """Steps of a guess's searches depend on the switch, but for the mapped file's."""
    text = (np.random.default_rng(9).zipf(1.3, 6_000) % 500).astype(np.int32)
    steps = set()
    for search in ("fixed", "linear"):
        chosen = toggles.set(search=search)
        with (
            ng.NgramCache.build_static(text, chosen) as static,
            ng.Replay(text[:1_500], chosen, static=static, record_probes=True) as replay,
        ):
            replay.run()
            steps.add(int(replay.probe_sum()["search_steps"]))
    assert min(steps) > 0
    assert len(steps) == (1 if "counting only" in idle(toggles, "search", True) else 2)


# ---- every mix drafts the same --------------------------------------------------------------


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    """A short text, and 1 MB of the same kind by another order of its lines."""
    text = "".join(example.text + example.earlier for example in EXAMPLES.values())
    lines = text.splitlines(keepends=True)
    rng = np.random.default_rng(5)
    path = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    with path.open("w") as file:
        while file.tell() < MEGABYTE:
            file.writelines(lines[i] for i in rng.permutation(len(lines)))
    tokenizer = ByteTokenizer()
    corpus: Corpus = from_files([path])
    return Material(tokenizer.encode(text)[:1_200], "examples", tokenizer, corpus, corpus.n_bytes)


@pytest.fixture
def experiment(material: Material) -> Iterator[Experiment]:
    with Experiment(material, sizes=(0, 1)) as made:
        yield made


def some_of_each_structure(ties: str) -> list[Toggles]:
    """For each structure and score one of the settings; in a soak all."""
    mixes = [toggles for toggles in LEGAL if toggles.ties == ties]
    if os.environ.get("NGRAM_SOAK"):
        return mixes
    random.Random(7).shuffle(mixes)
    by_structure = {(t.outer, t.followers, t.static, t.hash, t.score): t for t in mixes}
    return list(by_structure.values())


@pytest.mark.parametrize("ties", choices("ties"))
@pytest.mark.parametrize("size_mb", [0, 1])
def test_the_light_is_same_for_every_mix(experiment: Experiment, size_mb: int, ties: str) -> None:
    """Settings that differ in no switch that may change drafts must draft the same."""
    x = experiment
    compared = 0
    for toggles in some_of_each_structure(ties):
        x.choose(size_mb=size_mb, **{name: getattr(toggles, name) for name in TOGGLES})
        x.run_to_end()
        assert x.error == ""
        light = x.light()
        if light.partner is not None and not light.expected:
            assert light.kind == "same", (x.setting.name, light_words(light, x.run, BYTES))
            compared += 1
    assert compared >= len(some_of_each_structure(ties)) - 2
    rows = results(x)
    assert len({row.stage for row in rows}) == len(rows)


BYTES = ByteTokenizer()


def test_the_ladder_parts_once_where_ties_move(experiment: Experiment) -> None:
    x = experiment
    x.choose(size_mb=1)
    partners = {}
    for name in STAGES:
        x.choose(**{t: getattr(STAGES[name].toggles, t) for t in TOGGLES})
        x.run_to_end()
        light = x.light()
        partners[name] = light.partner and light.partner.setting.name
        if name == "innervector":
            assert [switch.toggle for switch in light.differing] == ["ties"]
        elif name != "upstream":
            assert (light.kind, light.expected) == ("same", False)
        baseline = x.baseline()
        assert baseline is None or baseline.setting.name == "upstream", "times: always upstream"
    assert partners["outermap"] == partners["innervector"] == "upstream"
    assert partners["constmap"] == "innervector"
    assert all(row.times_faster for row in results(x)[1:])
    x.choose(**{t: getattr(ng.UPSTREAM.toggles, t) for t in TOGGLES} | {"ties": "token"})
    x.run_to_end()
    assert x.light().kind == "same"
    x.choose(**{t: getattr(ng.PRECHECK.toggles, t) for t in TOGGLES})
    assert x.light().partner is not None
    assert x.light().partner.setting.name == "upstream + smaller id"


def test_other_drafts_are_explained(experiment: Experiment) -> None:
    x = experiment
    x.run_to_end()
    x.choose(followers="sorted")
    x.run_to_end()
    light = x.light()
    assert (light.kind, light.expected) == ("other", True), "this text has ties"
    head, body = light_words(light, x.run, BYTES)
    assert head == "Other drafts, as expected."
    assert body.startswith("Who wins an equal score: hash order there, smaller id here. In call ")
    assert body.endswith(" Run upstream with “smaller id”, too, and these two must draft the same.")
    x.choose(followers="chained", ties="token")
    x.run_to_end()
    assert x.light().kind == "same"
    x.choose(followers="sorted")
    assert x.light().kind == "same", "as was foretold"


def test_all_switches_fit_on_the_board(experiment: Experiment) -> None:
    made = board(experiment)
    shown = [switch["toggle"] for group in made["groups"] for switch in group["switches"]]
    assert sorted([*shown, "copy_followers"]) == sorted(TOGGLES)
    assert [switch["toggle"] for switch in made["front"]] == ["copy_followers"]
    assert [name for name, _on, front in made["presets"] if front] == ["upstream", "nocopy"]
    assert [name for name, _on, _front in made["presets"]] == list(STAGES)


# ---- memory ---------------------------------------------------------------------------------

_GROWS = """
import sys
from ngram_core.lesson.experiment import Experiment
from ngram_core.lesson.material import python_material
from ngram_core.toggles import STAGES
from dataclasses import asdict

def field(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name))

x = Experiment(python_material(60_000), sizes=(1,), free_bytes=10**12)
x.choose(**asdict(STAGES[sys.argv[1]].toggles))
before = field("VmRSS")
need = x.material.need_bytes(x.setting)
x.run_to_end()
x.choose(precheck=not x.setting.toggles.precheck)
x.run_to_end()
assert x.state == "done", x.error
print(need, field("VmHWM") - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell")
@pytest.mark.parametrize(
    "stage",
    [
        "upstream",
        pytest.param("outermap", marks=pytest.mark.slow),
        pytest.param("innervector", marks=pytest.mark.slow),
        "constmap",
    ],
)
def test_the_estimate_holds_and_is_not_far_off(stage: str) -> None:
    command = [sys.executable, "-c", _GROWS, stage]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    need, grown = map(int, ran.stdout.split())
    assert grown <= need, "what does not fit must be refused"
    assert need <= 3 * grown + 10 * MEGABYTE, "what fits must not be"


# ---- in the background ----------------------------------------------------------------------


class Thing(Closing):
    def __init__(self, closed: list[int], number: int) -> None:
        self.closed = closed
        self.number = number

    def close(self) -> None:
        self.closed.append(self.number)


def test_a_job_works_while_others_wait() -> None:
    go = threading.Event()

    def work(tell: object) -> str:
        go.wait(10)
        return "done"

    job = Job(work, lambda _result: None)
    assert not job.wait(0)
    go.set()
    assert job.wait(10)
    assert job.result() == "done"
    assert job.seconds > 0


def test_a_job_that_is_given_up_ends_and_frees_its_result() -> None:
    told, closed = threading.Event(), []

    def work(tell: object) -> Thing:
        try:
            while True:
                tell(0.5)
                told.set()
        except GivenUp:
            return Thing(closed, 1)

    job = Job(work, Thing.close)
    job.wait(0)
    assert told.wait(10)
    job.close()
    job.close()
    assert closed == [1]
    assert job.fraction == 0.5
    finished = Job(lambda _tell: Thing(closed, 2), Thing.close)
    assert finished.wait(10)
    finished.give_up()
    assert closed == [1, 2]
    never = Job(lambda _tell: Thing(closed, 3), Thing.close)
    never.close()
    assert closed == [1, 2], "it was never begun"


def test_errors_reach_whoever_asks_for_the_result() -> None:
    job = Job(lambda _tell: 1 / 0, lambda _result: None)
    assert job.wait(10)
    with pytest.raises(ZeroDivisionError):
        job.result()


def test_without_threads_the_work_is_done_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    job = Job(lambda tell: tell(1.0) or 7, lambda _result: None)
    assert job.wait(0)
    assert job.result() == 7


def test_the_sweeper_keeps_the_order() -> None:
    closed: list[int] = []
    sweeper = Sweeper()
    assert sweeper.wait(0)
    for number in range(20):
        sweeper.sweep([Thing(closed, 2 * number), Thing(closed, 2 * number + 1)])
    sweeper.sweep([])
    assert sweeper.wait(10)
    assert closed == list(range(40))
    assert not sweeper.busy
