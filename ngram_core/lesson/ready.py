"""Is this machine ready for the lessons? One line for each thing they need."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator

from .. import machine, reference
from ..errors import NgramError
from ..tokenizers import get_tokenizer
from .predict import Answer
from .stepper import StepperModel
from .story import Check, Settings

ENOUGH_MB = 400
"""Free memory that the largest lesson needs."""


def ready() -> None:
    """Check this machine and print what was found; the last line is the answer."""
    answers = list(checks())
    for answer in answers:
        print(_mark(answer), answer.line)
    missing = sum(not answer.right for answer in answers)
    print("This machine is ready." if not missing else f"{missing} of these need a look first.")


def _mark(answer: Answer) -> str:
    """A sign, or a word where what is printed to has no such sign."""
    sign, word = ("✓", "ok:") if answer.right else ("✕", "no:")
    try:
        sign.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return word
    return sign


def checks() -> Iterator[Answer]:
    """The findings, in the order in which the lessons need them."""
    yield _engine()
    yield _tokenizer()
    yield _widgets()
    yield _memory()


def _engine() -> Answer:
    """The engine's steps against the specification in plain Python, on the recipe."""
    story = StepperModel("recipe", settings=Settings(dynamic=False, static=False)).story
    plain = reference.Drafter()
    plain.feed(story.text[:1])
    compared, equal = 0, True
    for event in story.events:
        if isinstance(event, Check):
            plain.feed(story.text[event.length : event.length + event.n_new])
        elif not event.guesses:
            equal &= event.step == plain.step(1)[0]
            compared += 1
    if equal:
        return Answer(True, f"engine: {compared} drafts on the recipe are as specified")
    return Answer(False, "engine: it differs from its specification; run make test")


def _tokenizer() -> Answer:
    try:
        tokenizer = get_tokenizer("qwen2.5")
    except NgramError as error:
        return Answer(False, f"tokenizer: {error}")
    return Answer(True, f"tokenizer: {tokenizer.name}, {tokenizer.n_vocab:,} tokens, offline")


def _widgets() -> Answer:
    needed = ("anywidget", "ipywidgets", "plotly")
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        return Answer(
            False, f"widgets: {', '.join(missing)} missing; pip install 'ngram-core[lab]'"
        )
    return Answer(True, "widgets: the Stepper and the live plots can be shown")


def _memory() -> Answer:
    free = machine.memory_free_bytes()
    if free is None:
        return Answer(True, "memory: this system does not tell")
    mb = free // 2**20
    if mb < ENOUGH_MB:
        return Answer(False, f"memory: {mb:,} MB free; close something, {ENOUGH_MB} are needed")
    return Answer(True, f"memory: enough, {ENOUGH_MB} MB are needed")
