"""Whatever a reader types into an exercise, the reply is one short line, and soon there."""

from __future__ import annotations

import importlib
import pkgutil
import time

import pytest

from ngram_core import lesson
from ngram_core.lesson.predict import Prediction, Question, Task

LESSONS = sorted(m.name for m in pkgutil.iter_modules(lesson.__path__) if m.name[-2:].isdecimal())


def found(kind: type) -> list[tuple[str, object]]:
    """(lesson and name, question) for all of a kind."""
    return [
        (f"{name}.{key}", value)
        for name in LESSONS
        for key, value in vars(importlib.import_module(f"ngram_core.lesson.{name}")).items()
        if isinstance(value, kind)
    ]


TASKS: list[tuple[str, Task]] = found(Task)  # type: ignore[assignment]
QUESTIONS: list[tuple[str, Question]] = found(Question)  # type: ignore[assignment]

STRANGE = {
    "empty": "",
    "blanks": " \n\t ",
    "emoji": "👩‍👩‍👧 e\u0301 👩‍👩‍👧 🇩🇪 e\u0301",
    "script": "<script>alert(1)</script> <img src=x onerror=alert(1)>",
    "control": "a\u0000b \u202e c \ud800 d",
    "huge numbers": "99999999999999999999 -1 340282366920938463463374607431768211456",
    "not whole": "nan inf -0.0 1e309",
    "other digits": "٣ ² ௧ ３",
    "megabytes": "word " * 1_048_576,
    "one long word": "x" * 5_000_000,
    "megabytes of digits": "9" * 5_000_000,
    "many numbers": "1 " * 1_000_000,
}


def test_each_lesson_asks() -> None:
    assert len(LESSONS) == 11
    for name in LESSONS:
        assert sum(key.startswith(f"{name}.") for key, _ in QUESTIONS) == 1, name
    assert len(TASKS) >= 17  # the others are made from what the reader measured, or are cells


@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize("task", [task for _, task in TASKS], ids=[name for name, _ in TASKS])
def test_strange_answers(task: Task, kind: str) -> None:
    start = time.process_time()
    answer = task.answer(STRANGE[kind])
    assert not answer.right
    assert 10 < len(answer.line) <= 400
    assert "\n" not in answer.line
    assert time.process_time() - start < 5


@pytest.mark.parametrize("question", [q for _, q in QUESTIONS], ids=[n for n, _ in QUESTIONS])
def test_every_choice_is_answered(question: Question) -> None:
    """With the same right one, and a reply that says so."""
    assert len(question.choices) >= 3
    answers = {choice: Prediction(question).lock(choice) for choice in question.choices}
    assert [answer.right for answer in answers.values()].count(True) == 1
    for choice, answer in answers.items():
        assert answer.line.startswith(f"You said {choice}")
        assert question.why in answer.line
