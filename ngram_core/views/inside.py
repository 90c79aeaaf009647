"""What the views of the inside share: pictures looked at step by step, in the browser."""

from __future__ import annotations

import traceback
from typing import Any

import traitlets

from ..errors import NgramError
from ..lesson.steps import StepsModel
from .base import PLACE, View, whole_text


class Inside(View):
    """A view of the inside: choices, steps, a sentence, a picture; see `lesson/steps.py`.

    A subclass names its script and style, and answers `ask` if its page has something to ask.
    """

    story = traitlets.Unicode().tag(sync=True)
    place: traitlets.List[int] = traitlets.List().tag(**PLACE)  #: choices in force, then the step

    def __init__(self, model: StepsModel) -> None:
        self.model = model
        super().__init__(story=model.json, place=self._place())
        self.on_msg(self._heard)

    def _place(self) -> list[int]:
        return [*self.model.chosen, self.model.at]

    @traitlets.observe("place")
    def _moved(self, change: Any) -> None:
        *chosen, at = change["new"] or [0]
        self.model.take(chosen, int(at))

    def go(self, at: int) -> None:
        """Show a step, counted from 0."""
        self.model.go(at)
        self.place = self._place()

    def choose(self, *labels: str) -> None:
        """Make choices by their labels, as if they were pressed."""
        self.model.choose(*labels)
        self.place = self._place()

    def ask(self, typed: str) -> str:
        """What the page asks for; returns the line that says what became of it."""
        raise NotImplementedError

    def _heard(self, _widget: Any, content: Any, _buffers: Any) -> None:
        try:
            line, ok = self.ask(whole_text(content["typed"])), True
        except NgramError as error:
            line, ok = str(error), False
        except Exception as error:
            traceback.print_exc()
            line, ok = f"Something went wrong in the kernel: {error!r}. Nothing was changed.", False
        if ok:
            self._show()
        self.send({"ok": ok, "line": line})

    def _show(self) -> None:
        with self.hold_sync():
            self.story = self.model.json
            self.place = self._place()

    def describe(self) -> str:
        """What is chosen, the step in view and its sentence."""
        return self.model.describe()

    def show(self) -> None:
        """Display it, and print what it says at first."""
        self.show_begun()
