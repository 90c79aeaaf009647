"""The Stepper: a text drafted step by step, in the notebook."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from typing import Any

import traitlets
from IPython.display import display

from ..errors import InputError
from ..lesson.comparison import Comparison
from ..lesson.examples import EXAMPLES
from ..lesson.stepper import MAX_CHARACTERS, TOKENIZERS, Inputs, StepperModel, Stop
from ..lesson.story import Settings
from ..lesson.thresholds import MOST, as_numbers
from ..rule import LLAMA_CPP, Rule
from .assets import script, style
from .base import PLACE, View


class Stepper(View):
    """A text, drafted token by token; the reader plays, steps, jumps, and changes the text.

    Args:
        text: an example ("recipe", "house", "code", "json", "log", "prose") or any text.
        caches: which caches take part, by first letters: "cds", "c", "" for none.
        n_draft: guesses a pass, 1 to 16; by default the example's own number, else 4.
        word: show the step that guesses this word, counted from 1.
        rule: thresholds and weight.
        tokenizer: "words", "bytes" or "qwen2.5".
        stops: what to offer under "See": (word, label, hint) each; by default what is found.
        thresholds: show the rule's numbers to be moved, and what they change.
        earlier, corpus: texts behind the dynamic and the static cache, instead of the example's.

    Raises:
        InputError: see the message; it says what to change.
    """

    _esm = script("stepper")
    _css = style("stepper", "thresholds")

    story = traitlets.Unicode().tag(sync=True)
    at = traitlets.Int(0).tag(**PLACE)
    inputs = traitlets.Dict().tag(sync=True)
    choices = traitlets.Dict().tag(sync=True)
    compared = traitlets.Dict().tag(sync=True)  #: with llama.cpp's numbers; {} without thresholds

    def __init__(
        self,
        text: str = "recipe",
        *,
        caches: str = "cds",
        n_draft: int | None = None,
        word: int | None = None,
        rule: Rule = LLAMA_CPP,
        tokenizer: str = "words",
        earlier: str | None = None,
        corpus: str | None = None,
        stops: Sequence[Stop] = (),
        thresholds: bool = False,
    ) -> None:
        self.model = StepperModel(
            text,
            earlier=earlier,
            corpus=corpus,
            tokenizer=tokenizer,
            settings=_settings(text, caches, n_draft, rule),
            word=word,
            stops=stops,
        )
        self._thresholds = thresholds
        super().__init__(
            story=self.model.json,
            at=self.model.at,
            inputs=_as_dict(self.model.inputs),
            choices=_choices(),
            compared=self._compare(),
        )
        self.on_msg(self._heard)

    @traitlets.observe("at")
    def _moved(self, change: Any) -> None:
        self._be_at(change["new"])

    def _be_at(self, at: Any) -> None:
        self.model.at = max(0, min(int(at), len(self.model.story.events) - 1))

    def _heard(self, _widget: Any, content: Any, _buffers: Any) -> None:
        """Answer a request from the page; whatever goes wrong, the reader is told."""
        try:
            request = content["request"]
            self._be_at(content.get("at", self.at))
            ok, line = self.model.answer(request)
            if ok:
                self._show_story()
                line = self.compared["line"] if self.compared and "rule" in request else line
        except Exception as error:
            traceback.print_exc()
            ok, line = False, f"Something went wrong in the kernel: {error!r}. Nothing was changed."
            self.inputs = _as_dict(self.model.inputs)
        self.send({"kind": "answer", "ok": ok, "line": line})

    def _show_story(self) -> None:
        with self.hold_sync():
            self.at = self.model.at
            self.story = self.model.json
            self.inputs = _as_dict(self.model.inputs)
            self.compared = self._compare()

    def _compare(self) -> dict[str, Any]:
        return Comparison(self.model).document() if self._thresholds else {}

    def go(self, word: int) -> None:
        """Show the step that guesses this word, counted from 1."""
        self.at = self.model.event_of_word(word)

    def describe(self) -> str:
        """The step in view, in words: the sentence, each n-gram tried, the totals."""
        return self.model.describe()

    def show(self) -> None:
        """Display it, and print the totals it begins with; the page goes on, the line stays."""
        display(self)  # type: ignore[no-untyped-call]
        print(f"At first: {self.model.made()}")


def _settings(text: str, caches: str, n_draft: int | None, rule: Rule) -> Settings:
    if not isinstance(text, str):
        raise InputError(f"text must be a string, not {type(text).__name__}")
    if not set(caches) <= set("cds"):
        raise InputError(f"caches={caches!r}: give first letters, as in 'c', 'cds' or ''")
    if n_draft is None:
        n_draft = EXAMPLES[text].n_draft if text in EXAMPLES else Settings.n_draft
    return Settings("c" in caches, "d" in caches, "s" in caches, n_draft, rule)


def _as_dict(inputs: Inputs) -> dict[str, Any]:
    settings = inputs.settings
    return {
        "text": inputs.text,
        "earlier": inputs.earlier,
        "corpus": inputs.corpus,
        "tokenizer": inputs.tokenizer,
        "example": inputs.example,
        "context": settings.context,
        "dynamic": settings.dynamic,
        "static": settings.static,
        "n_draft": settings.n_draft,
        "rule": as_numbers(settings.rule),
    }


def _choices() -> dict[str, Any]:
    return {
        "examples": [[ready.name, ready.title, ready.watch] for ready in EXAMPLES.values()],
        "tokenizers": list(map(list, TOKENIZERS.items())),
        "max_characters": MAX_CHARACTERS,
        "rule": as_numbers(LLAMA_CPP),
        "most": MOST,
    }
