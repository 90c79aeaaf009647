"""The Stepper as a reader uses it: real JupyterLab, real keys, the engine behind it."""

from __future__ import annotations

from collections.abc import Callable

from .lesson import Lesson

Open = Callable[..., Lesson]
SHOW = "from ngram_core.views import Stepper; stepper = Stepper(word=42); stepper.show()"
WORDS = ".stepper .words"


def sentence(lesson: Lesson) -> str:
    return " ".join(lesson.find(WORDS).inner_text().split())


def test_look(open_notebook: Open) -> None:
    lesson = open_notebook([SHOW])
    lesson.run_all()
    lesson.find(".stepper")
    lesson.screenshot("stepper-lab")
    print(sentence(lesson))
