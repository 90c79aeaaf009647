"""Guess first, then see: locked predictions and checked exercises, without any widget.

Neither stops a notebook that is run as a whole: an unanswered question waits, and the cells
below it show the result all the same. No answer is called stupid; each is told what it means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..errors import InputError, StateError

MOST_LETTERS = 2_000
"""Of an answer; no right one comes near."""


@dataclass(frozen=True)
class Answer:
    """What a reader is told: whether it is right, and one line that says why."""

    right: bool
    line: str


@dataclass(frozen=True)
class Question:
    """A question with choices, settled by what the engine computes when it is asked.

    Args:
        text: the question.
        choices: what can be guessed.
        settle: gives the right one of the choices; it runs when the guess is locked.
        source: what settles it: "the replay", "the trace", "the allocator".
        why: one line that explains the right answer.
        replies: for some wrong choices, what one who chose it may have had in mind.
    """

    text: str
    choices: tuple[str, ...]
    settle: Callable[[], str]
    source: str
    why: str
    replies: Mapping[str, str] = field(default_factory=dict)


class Prediction:
    """One reader's guess at a question: open, then locked for good."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.guess: str | None = None
        self.right: str | None = None  #: the right choice, known once the guess is locked
        self.answer: Answer | None = None

    def lock(self, guess: str) -> Answer:
        """Lock a guess and hear the answer.

        Raises:
            InputError: not one of the choices.
            StateError: another guess is locked already.
        """
        if guess not in self.question.choices:
            raise InputError(f"{guess!r} is not a choice here: {', '.join(self.question.choices)}")
        if self.answer is not None and guess != self.guess:
            raise StateError(f"your guess is locked: {self.guess}")
        if self.answer is None:
            right = self.question.settle()
            self.guess, self.right = guess, right
            self.answer = Answer(guess == right, _reply(self.question, guess, right))
        return self.answer

    def describe(self) -> str:
        """The question, and what became of it, in plain text."""
        choices = " / ".join(self.question.choices)
        state = self.answer.line if self.answer else "Not answered yet."
        return f"{self.question.text}  [{choices}]\n{state}"


def _reply(question: Question, guess: str, right: str) -> str:
    if guess == right:
        return f"You said {guess}, and so says {question.source}. {question.why}"
    kind = question.replies.get(guess, "")
    kind = f" {kind}" if kind else ""
    return f"You said {guess}; {question.source} says {right}.{kind} {question.why}"


@dataclass(frozen=True)
class Task:
    """A task with an answer to type, checked with a telling reply.

    Args:
        text: the task.
        label: what the answer field is for.
        check: looks at what was typed; it never raises for anything a reader can type.
        level: "easy" or "thinking".
        rows: lines of the answer field; 1 for a short answer.
        start: what stands in the field at first.
    """

    text: str
    label: str
    check: Callable[[str], Answer]
    level: str = "easy"
    rows: int = 1
    start: str = ""

    def answer(self, typed: str) -> Answer:
        """Check what was typed."""
        if not typed.strip():
            return Answer(False, "Nothing is there yet: type an answer first.")
        if len(typed) > MOST_LETTERS:
            return Answer(False, f"These are {len(typed):,} characters; the answer is shorter.")
        return self.check(typed)


def whole_numbers(typed: str, how_many: int) -> list[int]:
    """The whole numbers in what was typed.

    Raises:
        InputError: not that many; the message says what was found.
    """
    found = [
        int(word) for word in typed.replace(",", " ").replace(";", " ").split() if _is_int(word)
    ]
    if len(found) != how_many:
        wanted = "one whole number" if how_many == 1 else f"{how_many} whole numbers"
        raise InputError(f"This needs {wanted}; {len(found) or 'none'} could be read.")
    return found


def _is_int(word: str) -> bool:
    return word.lstrip("-").isdecimal() and len(word) < 12
