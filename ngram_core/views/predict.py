"""Predict and Exercise: guess before the result shows, and have an answer checked."""

from __future__ import annotations

import traceback
from typing import Any

import traitlets
from IPython.display import display

from ..errors import NgramError
from ..lesson.predict import MOST_LETTERS, Answer, Prediction, Question, Task
from .assets import script, style
from .base import View, whole_text


class Asked(View):
    """What both have in common: a question, a typed or chosen answer, a reply."""

    _esm = script("predict")
    _css = style("predict")

    kind = traitlets.Unicode().tag(sync=True)
    text = traitlets.Unicode().tag(sync=True)
    options = traitlets.Dict().tag(sync=True)
    reply = traitlets.Dict().tag(sync=True)  #: {} or right, line, guess, answer

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self.on_msg(self._heard)

    def take(self, typed: str) -> Answer:
        """Take an answer, as if it were given on the page."""
        raise NotImplementedError

    def show(self) -> None:
        """Display it; and print, in one line, what was replied if it is answered already."""
        display(self)  # type: ignore[no-untyped-call]
        if self.reply:
            print(self.describe().splitlines()[-1])

    def _heard(self, _widget: Any, content: Any, _buffers: Any) -> None:
        try:
            self.take(whole_text(content["typed"]))
        except NgramError as error:
            self.reply = {**self.reply, "right": False, "line": str(error)}
        except Exception as error:
            traceback.print_exc()
            line = f"Something went wrong in the kernel: {error!r}"
            self.reply = {**self.reply, "right": False, "line": line}


class Predict(Asked):
    """A question to guess at before the result shows; the guess is locked.

    Args:
        question: see `ngram_core.lesson.predict.Question`.
    """

    def __init__(self, question: Question) -> None:
        self.model = Prediction(question)
        super().__init__(
            kind="predict", text=question.text, options={"choices": list(question.choices)}
        )

    def take(self, typed: str) -> Answer:
        """Lock this guess and hear the answer."""
        answer = self.model.lock(typed)
        self.reply = {
            "right": answer.right,
            "line": answer.line,
            "guess": self.model.guess,
            "answer": self.model.right,
        }
        return answer

    def describe(self) -> str:
        """The question and its state in words."""
        return self.model.describe()


class Exercise(Asked):
    """A task whose typed answer is checked, as often as the reader likes.

    Args:
        task: see `ngram_core.lesson.predict.Task`.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        super().__init__(
            kind="exercise",
            text=task.text,
            options={
                "label": task.label,
                "level": task.level,
                "rows": task.rows,
                "start": task.start,
            },
        )

    def take(self, typed: str) -> Answer:
        """Check this answer."""
        answer = self.task.answer(typed)
        kept = typed if len(typed) <= MOST_LETTERS else ""
        self.reply = {"right": answer.right, "line": answer.line, "guess": kept}
        return answer

    def describe(self) -> str:
        """The task and the last reply in words."""
        state = self.reply.get("line", "Not answered yet.")
        return f"Exercise ({self.task.level}): {self.task.text}\n{state}"
