"""Lesson 02: thresholds that are moved, three caches compared, a rule of the reader's own."""

from __future__ import annotations

import contextlib
import json
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import golden
import pytest
from running import Running
from tools import REPO

import ngram_core as ng
from ngram_core import reference
from ngram_core.lesson import lesson02, own_rule
from ngram_core.lesson.cases import cases, random_streams, text_stream
from ngram_core.lesson.comparison import Comparison, places
from ngram_core.lesson.longer import longer_texts, replayed
from ngram_core.lesson.misreadings import MISREADINGS, misread
from ngram_core.lesson.stepper import StepperModel
from ngram_core.lesson.story import Draft, Settings
from ngram_core.lesson.thresholds import as_numbers, changes, with_numbers
from ngram_core.published import PUBLISHED

NOTEBOOK = REPO / "notebooks" / "02_three_caches_and_a_weight.ipynb"


@pytest.fixture
def model() -> StepperModel:
    return StepperModel("recipe")


# ---- the figures that the lesson quotes -------------------------------------------------------


@pytest.mark.parametrize("word", [word for word, _, _ in lesson02.STOPS])
def test_the_stops_are_the_worked_steps(model: StepperModel, word: int) -> None:
    """Against running.json: the same decision with the same figures."""
    if not golden.RUNNING.exists():
        pytest.skip(golden.WHY)
    worked = json.loads(golden.RUNNING.read_text(encoding="utf-8"))["steps"]
    steps = [step for step in worked if (step["caches"], step["word"]) == ("cds", word)]
    event = model.story.events[model.event_of_word(word)]
    assert isinstance(event, Draft)
    token = event.step.token
    assert (None if token is None else model.shown([token])) == steps[-1]["drafted"]
    assert (event.step.source, event.step.n) == (steps[-1]["source"], steps[-1]["n"])


def test_the_question_is_settled_by_the_trace() -> None:
    assert lesson02.WORD_82.settle() == "nothing"
    assert set(lesson02.WORD_82.replies) == set(lesson02.WORD_82.choices) - {"nothing"}


def test_context_alone_on_the_recipe_and_on_a_text_where_it_suffices(
    model: StepperModel, capsys: pytest.CaptureFixture[str]
) -> None:
    lesson02.context_alone(model)
    said = capsys.readouterr().out
    assert "context alone:    88 passes, 28 of 50 guesses right" in said
    assert "all three caches: 79 passes, 37 of 64 guesses right" in said
    assert "word 40 “tin”" in said
    lesson02.context_alone(StepperModel("a b c d a b c d"))
    said = capsys.readouterr().out
    assert "On your text context alone misses nothing" in said
    assert "word 40 “tin”" in said


@pytest.mark.parametrize(
    ("name", "totals", "first"),
    [
        ("score tested", "38 of 74", "word 37: “batter” (id 16), the engine drafts nothing"),
        ("static of X_n", "38 of 64", "word 82: “rest” (id 17), the engine drafts nothing"),
        (
            "dynamic inside each n",
            "36 of 68",
            "word 102: “pink” (id 44), the engine drafts “and” (id 7)",
        ),
    ],
)
def test_misreadings(
    name: str, totals: str, first: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lesson02.misreading(name)
    said = capsys.readouterr().out
    assert f"{totals} guesses right, the engine’s 37 of 64" in said
    assert first in said


def test_the_overflow(capsys: pytest.CaptureFixture[str]) -> None:
    lesson02.overflow()
    exact, wrapped = capsys.readouterr().out.splitlines()
    assert exact.endswith("“bowl” 1 × 1, “tin” 1 × 2,147,483,700; drafted: “tin”")
    assert wrapped.endswith("“bowl” 1 × 1, “tin” 1 × -2,147,483,596; drafted: “bowl”")


@pytest.mark.parametrize(
    ("typed", "right", "telling"),
    [
        ("p1 = 67", True, "28 of 46 guesses right, where 28 of 50 were"),
        ("p₁ 67 %", True, "no hit lost"),
        ("p_1: 100", True, "4 misses fewer"),
        ("p1 = 66", False, "not one miss less or more"),
        ("a2 = 1", False, "more and"),
        ("a1 = 3", False, "guesses right"),
        ("p1 = 101", False, "from 0 to 100"),
        ("a9 = 1", False, "as in: a2 = 3"),
        ("67", False, "as in: a2 = 3"),
        ("", False, "Nothing is there yet"),
    ],
)
def test_one_threshold(typed: str, right: bool, telling: str) -> None:
    answer = lesson02.ONE_THRESHOLD.answer(typed)
    assert answer.right is right, answer.line
    assert telling in answer.line


def test_the_published_acceptance_is_quoted_rightly() -> None:
    share = {p.corpus_mb: p.accept_pct for p in PUBLISHED if p.stage == "innervector"}
    goals = NOTEBOOK.read_text(encoding="utf-8")
    assert f"*{share[0]:.1f} %* of the guesses accepted without a static cache" in goals
    assert f"*{share[541]:.1f} %* with one from 541 MB" in goals


# ---- moving the numbers -----------------------------------------------------------------------


def test_numbers_go_there_and_back() -> None:
    rule = ng.Rule(context_sum=(1, 2, 3, 4), static_percent=7, weight=0)
    assert with_numbers(ng.Rule(), as_numbers(rule)) == rule
    assert changes(ng.Rule()) == ()
    assert changes(ng.Rule(static_sum=3, weight=0)) == (
        "a₂ of static is 3, not 2",
        "the weight is 0, not 100",
    )


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"context_percent": [101, 50, 50, 50]}, "p₁ of context is a whole number from 0 to 100."),
        ({"dynamic_sum": [4, 3, -2, 2]}, "a₃ of dynamic is a whole number from 0 to 1,000."),
        ({"weight": 10**9}, "the weight is a whole number from 0 to 1,000,000."),
        ({"static_sum": 1.5}, "a₂ of static is a whole number"),
        ({"static_sum": True}, "a₂ of static is a whole number"),
        ({"context_sum": [1, 2]}, "context_sum needs 4 numbers"),
        ({"use_context": False}, "the rule's numbers are named"),
        ("bold", "the rule's numbers are named"),
    ],
)
def test_bad_numbers_change_nothing(model: StepperModel, given: object, line: str) -> None:
    before = model.inputs, model.json
    ok, said = model.answer({"rule": given})
    assert not ok
    assert line in said
    assert said.endswith("Nothing was changed.")
    assert (model.inputs, model.json) == before


def test_a_moved_number_keeps_the_word(model: StepperModel) -> None:
    model.at = model.event_of_word(82)
    assert model.answer({"rule": {"weight": 0}})[0]
    assert "Drafts “rest”" in model.describe()
    assert model.answer({"rule": as_numbers(ng.Rule())})[0]
    assert "Drafts nothing: context fails at n = 2 (“into” beats “rest”" in model.describe()
    model.at = len(model.story.events) - 1
    assert model.answer({"rule": {"weight": 0}})[0]
    assert model.at == len(model.story.events) - 1


@pytest.mark.parametrize(
    "rule",
    [
        ng.Rule(weight=0),
        ng.Rule(context_percent=(67, 50, 50, 50)),
        ng.Rule(dynamic_sum=(4, 1, 1, 1)),
        ng.Rule(static_sum=3),
        ng.Rule(context_sum=(1, 1, 1, 1), context_percent=(0, 0, 0, 0)),
    ],
)
def test_totals_are_those_of_the_reference(model: StepperModel, rule: ng.Rule) -> None:
    assert model.answer({"rule": as_numbers(rule)})[0]
    own = Comparison(model).own
    passes, drafted, accepted = Running().totals("cds", rule)
    assert (own.now.passes, own.now.drafted, own.now.accepted) == (passes, drafted, accepted)
    assert (own.then.passes, own.then.drafted, own.then.accepted) == (79, 64, 37)


def test_what_the_weight_changes_is_told(model: StepperModel) -> None:
    assert Comparison(model).line == (
        "llama.cpp’s numbers: 37 of 64 guesses right, 58 %, 79 passes."
    )
    model.answer({"rule": {"weight": 0}})
    compared = Comparison(model)
    assert [place.word for place in compared.places] == [82, 89]
    assert compared.line == (
        "Now the weight is 0, not 100: 37 of 68 guesses right, 54 %, 79 passes. With llama.cpp’s:"
        " 37 of 64 guesses right, 58 %, 79 passes. 2 words are drafted otherwise, first word 82:"
        " “rest”, not nothing."
    )
    document = compared.document()
    assert [model.story.events[at].step.length + 1 for at, _, _ in document["places"]] == [82, 89]
    assert document["places"][1][1:] == ["word 89", "“bowl”; llama.cpp: “tin”"]
    titles = [title for title, _, _ in document["rows"]]
    assert titles == ["This text", "Code, edited", "Quotations", "Prose"]


def test_equal_stories_part_nowhere(model: StepperModel) -> None:
    assert places(model.story, model.told_with(Settings())) == ()


def test_longer_texts_are_replayed_as_the_reference_does() -> None:
    text = longer_texts()[1]
    short = replace(
        text, text=text.text[:400], earlier=text.earlier[:300], corpus=text.corpus[:600]
    )
    for settings in (Settings(), Settings(dynamic=False, rule=ng.Rule(weight=0), n_draft=3)):
        dynamic: reference.Cache = {}
        if settings.dynamic:
            reference.update(dynamic, short.earlier.tolist(), len(short.earlier))
        plain = reference.replay(
            short.text.tolist(),
            settings.rule,
            reference.count_bigrams(short.corpus.tolist()),
            dynamic,
            n_draft=settings.n_draft,
        )
        totals = replayed(short, settings)
        assert totals.drafted == plain.n_drafted > 0
        assert (totals.accepted, totals.passes) == (plain.n_accept, plain.n_calls)
        assert totals.tokens == len(short.text) - 1


# ---- a rule of the reader's own ---------------------------------------------------------------


def reference_rule(text: Any, context: Any, dynamic: Any, static: Any) -> int | None:
    return reference.draft_one(text, context, dynamic, static).token


def test_the_reference_is_right_and_so_is_the_short_rule() -> None:
    for rule in (reference_rule, misread("")):
        report = own_rule.compare(rule)
        assert report.right, report
        assert "at all 115 words of the text and in all 1,800 random cases" in repr(report)


# All of them are told apart below; their words, which take a second each, in `make check`.
@pytest.mark.parametrize(
    "how",
    [
        pytest.param(how, marks=[pytest.mark.slow] if i % 4 else [])
        for i, how in enumerate(MISREADINGS)
    ],
)
def test_every_misreading_is_found_and_named(how: str) -> None:
    report = own_rule.compare(misread(how))
    assert not report.right
    assert f"It is just what would be drafted if {MISREADINGS[how]}." in report.lines


def test_random_cases_alone_tell_every_misreading() -> None:
    """So that a text on which nothing happens is no excuse."""
    seen = list(case_answers())
    for how in MISREADINGS:
        assert any(answers[how] != right for right, answers in seen), how


def case_answers() -> Iterator[tuple[int | None, dict[str, int | None]]]:
    for stream in random_streams():
        for case in cases(stream):
            yield case.step.token, {how: misread(how)(*case.inputs) for how in MISREADINGS}


def test_the_first_difference_is_telling() -> None:
    report = own_rule.compare(misread("score tested"))
    said = repr(report)
    assert "✕ 4 of 115 words of the text and" in said
    assert "The first is word 37, after “… rest for ten minutes pour the”, ids 17, 18" in said
    assert "your rule drafts  “batter” (id 16)" in said
    assert "the engine drafts nothing" in said
    assert "context n = 1: “batter” 1 × 100 = 100, “flour” 2 × 1 = 2" in said
    assert "F = 6 ≥ 2, 100 × 1 < 396: too split" in said
    assert "38 of 74 guesses right, the engine’s 37 of 64" in said
    assert report.inputs is not None
    assert misread("score tested")(*report.inputs) == 16
    assert misread("")(*report.inputs) is None


def test_ours_is_shown_when_theirs_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    own_rule.listing(own_rule.compare(misread("no weight")))
    assert capsys.readouterr().out.startswith("Not yet:")
    own_rule.listing(own_rule.compare(misread("")))
    assert capsys.readouterr().out.startswith("def draft_one(")


def test_not_yet() -> None:
    report = own_rule.compare(lambda text, context, dynamic, static: None)
    assert not report.right
    assert report.lines[0].startswith("Not yet: your rule drafts nothing anywhere")


def test_the_readers_own_text_is_asked() -> None:
    model = StepperModel("to be or not to be or not to be")
    report = own_rule.compare(misread("no first test"), model)
    assert " of 8 words of the text and" in report.lines[0]
    assert own_rule.compare(misread(""), model).right
    long = StepperModel(" ".join(str(i * i % 41) for i in range(3000)))
    assert len(text_stream(long).text) == 1000


def raises(text: Any, context: Any, dynamic: Any, static: Any) -> int:
    return max(context[text[-4:]])


def reads_past(text: Any, context: Any, dynamic: Any, static: Any) -> int:
    return [][len(text)]  # type: ignore[no-any-return]


def changes_the_cache(text: Any, context: Any, dynamic: Any, static: Any) -> None:
    context[text] = {}


def leaves(text: Any, context: Any, dynamic: Any, static: Any) -> None:
    raise SystemExit(3)


def for_ever(text: Any, context: Any, dynamic: Any, static: Any) -> int:
    return for_ever(text, context, dynamic, static)


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        (raises, "raised KeyError ((0, 1)) in line"),
        (raises, "return max(context[text[-4:]])"),
        (raises, "cache.get(ngram, {})"),
        (reads_past, "raised IndexError (list index out of range)"),
        (changes_the_cache, "raised TypeError"),
        (leaves, "raised SystemExit (3)"),
        (for_ever, "it calls itself without an end"),
        (lambda text: 1, "raised TypeError"),
        (lambda *inputs: "the", "returned 'the', which is of type str"),
        (lambda *inputs: 1.0, "of type float; return a token’s id, or None"),
        (lambda *inputs: True, "of type bool"),
        (lambda *inputs: (yield), "of type generator"),
        ("not a function", "This is no function: 'not a function'."),
    ],
)
def test_an_error_is_one_line(rule: Any, line: str) -> None:
    report = own_rule.compare(rule)
    assert not report.right
    assert len(report.lines) == 1
    assert "\n" not in report.lines[0]
    assert report.lines[0].startswith("✕ ")
    assert line in report.lines[0]


def test_what_a_rule_prints_is_shown_where_it_differs(capsys: pytest.CaptureFixture[str]) -> None:
    def chatty(text: Any, context: Any, dynamic: Any, static: Any) -> int | None:
        print("the text has", len(text))
        return misread("no weight")(text, context, dynamic, static)

    report = own_rule.compare(chatty)
    assert "  your rule prints  the text has 81" in report.lines
    assert capsys.readouterr().out == ""


def loop(text: Any, context: Any, dynamic: Any, static: Any) -> None:
    while True:
        with contextlib.suppress(Exception):
            time.sleep(0.01)


def test_a_rule_that_does_not_come_back_is_stopped() -> None:
    before = signal.getsignal(signal.SIGALRM)
    report = own_rule.compare(loop, seconds=0.3)
    assert report.lines == ("✕ Stopped after 0.3 s, at word 3. Is there a loop without an end?",)
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_it_works_outside_the_main_thread() -> None:
    reports = []
    thread = threading.Thread(target=lambda: reports.append(own_rule.compare(misread(""))))
    thread.start()
    thread.join(60)
    assert reports[0].right


HANGS = """
from ngram_core.lesson import own_rule
def my_rule(text, context, dynamic, static):
    while True:
        pass
print("looping", flush=True)
own_rule.compare(my_rule, seconds=120)
"""


def test_the_stop_button_stops_it() -> None:
    """In a real kernel: interrupted as JupyterLab does it, told in a line, and alive after."""
    manager_module = pytest.importorskip("jupyter_client.manager")
    manager, client = manager_module.start_new_kernel(kernel_name="python3")
    try:
        client.execute(HANGS)
        said = until(client, lambda text: "looping" in text)
        time.sleep(1)
        manager.interrupt_kernel()
        said = until(client, lambda text: "You stopped it" in text)
        assert "✕ You stopped it at word 3" in said
        assert "Traceback" not in said
        client.execute("print(6 * 7)")
        assert "42" in until(client, lambda text: "42" in text)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def until(client: Any, done: Callable[[str], bool], seconds: float = 60) -> str:
    """What the kernel says until that is said."""
    said = ""
    deadline = time.monotonic() + seconds
    while not done(said):
        assert time.monotonic() < deadline, said
        try:
            content = client.get_iopub_msg(timeout=1)["content"]
        except queue.Empty:
            continue
        said += content.get("text", "") + content.get("data", {}).get("text/plain", "")
        said += "\n".join(content.get("traceback", []))
    return said
