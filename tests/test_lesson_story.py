"""The story of a text: what is replayed, in the engine's own records, in windows."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import golden
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running import Running

import ngram_core as ng
from ngram_core.lesson import story as stories
from ngram_core.lesson.examples import EXAMPLES, example
from ngram_core.lesson.landmarks import landmarks
from ngram_core.lesson.stepper import StepperModel
from ngram_core.lesson.story import TOGGLES, Check, Draft, Settings, Story, tell
from ngram_core.tokenizers import get_tokenizer

CACHES = ("", "c", "cd", "cds", "cs", "ds")


@pytest.fixture(scope="module")
def running() -> Running:
    return Running()


def of(caches: str, **more: Any) -> Settings:
    return Settings("c" in caches, "d" in caches, "s" in caches, **more)


def told(running: Running, caches: str, **more: Any) -> Story:
    return tell(running.a, of(caches, **more), running.b, running.b)


@pytest.mark.parametrize(
    ("caches", "more", "totals"),
    [
        ("", {}, (116, 0, 0)),
        ("c", {}, (88, 50, 28)),
        ("cd", {}, (81, 56, 35)),
        ("cds", {}, (79, 64, 37)),
        ("c", {"rule": ng.Rule(context_sum=(1, 1, 1, 1))}, (83, 95, 33)),
        ("cds", {"n_draft": 1}, (94, 32, 22)),
        ("cds", {"n_draft": 2}, (86, 48, 30)),
        ("cds", {"n_draft": 8}, (77, 108, 39)),
    ],
)
def test_the_figures_of_the_lessons(
    running: Running, caches: str, more: dict[str, Any], totals: tuple[int, int, int]
) -> None:
    found = told(running, caches, **more).totals
    assert (found.passes, found.drafted, found.accepted) == totals
    assert found.tokens == 116


@pytest.fixture(scope="module")
def worked() -> dict[str, Any]:
    """running.json: the running text, and steps worked by another program."""
    if not golden.RUNNING.is_file():
        pytest.skip(golden.WHY)
    parsed: dict[str, Any] = json.loads(golden.RUNNING.read_text(encoding="utf-8"))
    return parsed


def test_the_recipe_is_the_running_text(worked: dict[str, Any]) -> None:
    words = get_tokenizer("words")
    ready = example("recipe")
    for name, text in (("text_a", ready.text), ("text_b", ready.earlier)):
        assert words.encode(text).tolist() == [worked["ids"][word] for word in worked[name]]
    assert ready.corpus == ready.earlier


def test_the_worked_steps(running: Running, worked: dict[str, Any]) -> None:
    """Each row of running.json, found in the story at its word, pass and tail."""
    stories_of = {caches: told(running, caches) for caches in ("c", "cds")}
    for step in worked["steps"]:
        story = stories_of[step["caches"]]
        event = step_of(story, step)
        drafted = event.step.token
        assert (None if drafted is None else running.words[drafted]) == step["drafted"]
        assert (event.step.source, event.step.n) == (step["source"], step["n"])
        rows = [row for row in event.step.rows if row.verdict != "too short"]
        if rows[-1].cache == "static" and rows[-1].verdict == "not seen":
            rows.pop()  # running.json leaves it out
        for row, expected in zip(rows, step["rows"], strict=True):
            assert (row.cache, row.n) == (expected["cache"], expected["n"])
            assert (row.verdict != "not seen") == expected.get("found", True)
            if row.verdict != "not seen":
                assert row.sum == expected["F"]
                assert running.words[row.best or 0] == expected["best"]
                counts = {running.words[c.token]: c.count for c in row.candidates}
                assert counts == expected["counts"]
                assert row.passes == (expected["ok_a"] and expected["ok_p"])


def step_of(story: Story, step: dict[str, Any]) -> Draft:
    passes = step["pass_"] - 1
    found = [
        event
        for event in story.events
        if isinstance(event, Draft) and event.word == step["word"] and event.totals.passes == passes
    ]
    assert len(found) == 1
    return found[0]


texts = st.lists(st.integers(0, 6), min_size=2, max_size=120)


@settings(deadline=None, max_examples=60)
@given(texts, st.lists(st.integers(0, 6), max_size=40), st.sampled_from(CACHES), st.integers(1, 9))
def test_a_story_is_the_replay(
    text: list[int], earlier: list[int], caches: str, n_draft: int
) -> None:
    story = tell(text, of(caches, n_draft=n_draft), earlier, earlier)
    sample = replayed(text, of(caches, n_draft=n_draft), earlier)
    totals = story.totals
    assert (totals.passes, totals.drafted, totals.accepted) == (
        sample.n_calls,
        sample.n_drafted,
        sample.n_accept,
    )
    assert totals.tokens == len(text) - 1
    assert story.complete
    assert list(story.text) == text


def replayed(text: list[int], settings: Settings, earlier: list[int]) -> ng.Sample:
    ids = np.asarray(earlier, np.int32)
    dynamic = ng.NgramCache(TOGGLES) if settings.dynamic else None
    if dynamic is not None:
        dynamic.update(ids)
    static = ng.NgramCache.build_static(ids, TOGGLES) if settings.static else None
    rule = settings.rule_in_force
    if dynamic is None:  # a replay always has one; this one is empty and never read
        dynamic = ng.NgramCache(TOGGLES)
    with ng.Replay(
        text, TOGGLES, rule, static, dynamic, n_ctx=1 << 20, n_draft=settings.n_draft
    ) as replay:
        return replay.run()


@settings(deadline=None, max_examples=40)
@given(texts, st.integers(1, 5))
def test_new_counts_are_those_of_the_text(text: list[int], n_draft: int) -> None:
    counts: Counter[tuple[int, ...]] = Counter()
    for event in tell(text, of("c", n_draft=n_draft)).events:
        if isinstance(event, Check):
            for i in range(event.length, event.length + event.n_new):
                for n in range(1, min(i, 4) + 1):
                    key = tuple(text[i - n : i + 1])
                    counts[key] += 1
                    known = [c for c in event.counted if (*c.ngram, c.follower) == key]
                    assert counts[key] in [c.count for c in known]


def test_events_are_ordered(running: Running) -> None:
    """Drafts of a pass, then its check; guesses pile up; the text grows by what a check adds."""
    length, open_guesses = 1, 0
    for event in told(running, "cds").events:
        assert event.length == length
        assert len(event.guesses) == open_guesses
        if isinstance(event, Draft):
            open_guesses += event.step.token is not None
        else:
            truth = running.a[length : length + event.accepted]
            assert [guess.token for guess in event.guesses[: event.accepted]] == truth
            length, open_guesses = length + event.n_new, 0
    assert length == 117


def test_windows_of_a_long_text() -> None:
    words = [i * i % 97 % 13 for i in range(5000)]
    first = tell(words, of("c"))
    second = tell(words, of("c"), start=len(first.text))
    assert first.start == 1
    assert not first.complete
    assert second.start == len(first.text)
    for story in (first, second):
        assert len(story.text) - story.start <= stories.MAX_TOKENS + stories.MAX_DRAFT
        assert len(story.events) <= stories.MAX_EVENTS
    joined = first.events + second.events
    assert joined[-1].totals.passes == sum(isinstance(event, Check) for event in joined)
    whole = replayed(words[: len(second.text)], of("c"), [])
    assert abs(second.totals.drafted - whole.n_drafted) <= Settings.n_draft  # the end shortens


@pytest.mark.parametrize("bad", [[], [1]])
def test_a_text_too_short(bad: list[int]) -> None:
    with pytest.raises(ng.InputError, match="at least two"):
        tell(bad)


@pytest.mark.parametrize("n_draft", [0, -1, 17])
def test_guesses_out_of_range(n_draft: int) -> None:
    with pytest.raises(ng.InputError, match="1 to 16"):
        Settings(n_draft=n_draft)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_instructive(name: str) -> None:
    """Each fits one story and shows something; prose shows that nothing is guessed."""
    model = StepperModel(name)
    assert model.story.complete
    labels = [mark.label for mark in landmarks(model.story)]
    totals = model.story.totals
    if name == "prose":
        assert totals.drafted == 0
    else:
        assert totals.accepted >= 15
        assert {"longest hit", "first miss", "too rare", "too split"} <= set(labels)
    assert len(EXAMPLES[name].watch) <= 100


def test_landmarks_of_the_recipe(running: Running) -> None:
    """They find the steps that the storyboard chose by hand."""
    story = told(running, "cds")
    words = {mark.label: getattr(story.events[mark.at], "word", None) for mark in landmarks(story)}
    assert words["static alone"] == 40
    assert words["falls to dynamic"] == 42
    assert words["× 100 vetoes"] == 82
    assert words["× 100 decides"] == 89
