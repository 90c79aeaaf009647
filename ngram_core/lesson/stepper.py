"""The model behind the Stepper: inputs, the story they make, the place in it, its words.

It knows no widget. A view hands it requests as the reader makes them; each is answered by a
new story or by one line that says what is wrong, and a refused request changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import InputError, NgramError
from ..tokenizers import Tokenizer, get_tokenizer
from .document import document, summary, to_json
from .examples import EXAMPLES, example
from .figures import plural
from .pieces import piece_of, plain
from .sentences import Segment, Sentence, sentence, share_of
from .story import Check, Draft, Event, Settings, Story, tell
from .thresholds import with_numbers

MAX_CHARACTERS = 200_000
"""A longer text is refused: the page would wait for it too long."""

TOKENIZERS = {"words": "words", "bytes": "bytes", "qwen2.5": "Qwen 2.5"}
"""The tokenizers the reader can choose, with the names shown."""


@dataclass(frozen=True)
class Inputs:
    """All that makes a story: three texts, a tokenizer, the settings, the window."""

    text: str
    earlier: str = ""
    corpus: str = ""
    tokenizer: str = "words"
    settings: Settings = field(default_factory=Settings)
    start: int = 1
    example: str = ""  #: the name of the example this is, "" for the reader's own text


Stop = tuple[int, str, str]
"""A word to visit, counted from 1, a short label, and what to see there."""


class StepperModel:
    """A text drafted step by step, and the step being looked at.

    Args:
        text: the name of an example, or any text.
        earlier, corpus: texts behind the dynamic and the static cache; an example brings its own.
        tokenizer: "words", "bytes" or "qwen2.5".
        settings: caches, guesses a pass, rule; by default an example's own number of guesses.
        word: show the step that guesses this word, counted from 1; else the first step.
        stops: what to offer under "See" instead of the landmarks found: (word, label, hint).

    Raises:
        InputError: the text is too short, too long or not text; no such word is guessed.
    """

    def __init__(
        self,
        text: str = "recipe",
        earlier: str | None = None,
        corpus: str | None = None,
        tokenizer: str = "words",
        settings: Settings | None = None,
        word: int | None = None,
        stops: Sequence[Stop] = (),
    ) -> None:
        inputs = Inputs(text, tokenizer=tokenizer)
        if text in EXAMPLES:
            inputs = of_example(text, inputs)
        settings = settings or inputs.settings
        inputs = replace(
            inputs,
            settings=settings,
            earlier=inputs.earlier if earlier is None else earlier,
            corpus=inputs.corpus if corpus is None else corpus,
        )
        self.at = 0
        self._stops = tuple(stops)
        self._stops_for = (inputs.text, tokenizer)
        self._make(inputs)
        if word is not None:
            self.at = self.event_of_word(word)

    def _make(self, inputs: Inputs) -> None:
        """Tell the story of these inputs; on an error all stays as it was."""
        tokenizer = get_tokenizer(inputs.tokenizer)
        text, earlier, corpus = (
            _encode(tokenizer, name, given)
            for name, given in (
                ("text", inputs.text),
                ("earlier text", inputs.earlier),
                ("corpus", inputs.corpus),
            )
        )
        story = tell(text, inputs.settings, earlier, corpus, inputs.start)
        self.told = (text, earlier, corpus, inputs.start)  #: ids, and where the window begins
        between = _between(tokenizer)
        self.document = document(story, tokenizer.token_bytes, between)
        self.inputs, self.story, self._tokenizer = inputs, story, tokenizer
        self.at = min(self.at, len(story.events) - 1)
        if self._stops and self._stops_for == (inputs.text, inputs.tokenizer):
            self.document["see"] = [
                [self.event_of_word(word), label, hint] for word, label, hint in self._stops
            ]

    @property
    def json(self) -> str:
        """The story as the view gets it."""
        return to_json(self.document)

    @property
    def event(self) -> Event:
        """The step being looked at."""
        return self.story.events[self.at]

    def answer(self, request: Mapping[str, Any]) -> tuple[bool, str]:
        """Do what the reader asks for; (True, what was made) or (False, what is wrong).

        Args:
            request: `text`, `earlier`, `corpus`, `tokenizer`, `start`, `example`, `n_draft`,
                `context`, `dynamic`, `static` as true or false, and `rule`, numbers by name (see
                thresholds.py); what is absent stays.
        """
        try:
            inputs = _changed(self.inputs, request)
            if inputs != self.inputs:
                event, same_text = self.event, not _other_text(inputs, self.inputs)
                self._make(inputs)
                self.at = self._place_of(event) if same_text else 0
        except NgramError as error:
            return False, f"{error} Nothing was changed."
        except (TypeError, ValueError) as error:
            return False, f"The kernel could not read this: {error}. Nothing was changed."
        return True, self.made()

    def made(self) -> str:
        """One line about the story: its tokens, its totals, its window."""
        story = self.story
        line = f"{plural(story.n_tokens, 'token')}, the first one given. {summary(story)}."
        if not story.complete or story.start > 1:
            line += f" Shown: tokens {story.start:,} to {len(story.text):,}."
        return line

    def told_with(self, settings: Settings) -> Story:
        """The same text and window, told with other settings."""
        text, earlier, corpus, start = self.told
        return tell(text, settings, earlier, corpus, start)

    def _place_of(self, event: Event) -> int:
        """Where this story is at the word of an event of another one about the same text."""
        if isinstance(event, Draft):
            first, last = self.story.start + 1, len(self.story.text)
            return self.event_of_word(max(first, min(event.word, last)))
        written = event.length + event.n_new
        checks = (
            i
            for i, other in enumerate(self.story.events)
            if isinstance(other, Check) and other.length + other.n_new >= written
        )
        return next(checks, len(self.story.events) - 1)

    def event_of_word(self, word: int) -> int:
        """The event to show for a word, counted from 1: the last that guesses it, or, if none
        does, the pass in which the model writes it.

        Raises:
            InputError: the word is not in this window, or it is the first one, which is given.
        """
        guessed = written = -1
        for i, event in enumerate(self.story.events):
            if isinstance(event, Draft) and event.word == word:
                guessed = i
            elif isinstance(event, Check) and event.length < word <= event.length + event.n_new:
                written = i
        if max(guessed, written) < 0:
            first, last = self.story.start + 1, len(self.story.text)
            raise InputError(f"word {word} is not written here: choose from {first} to {last}")
        return guessed if guessed >= 0 else written

    # ---- in words ---------------------------------------------------------------------

    def describe(self, at: int | None = None) -> str:
        """The step in plain text: where it is, the sentence, all n-grams tried, the totals."""
        at = self.at if at is None else at
        event = self.story.events[at]
        lines = [
            f"Step {at + 1} of {len(self.story.events)}: {self._ending(event)}",
            self.words(sentence(event, self.story.text)),
        ]
        if isinstance(event, Draft):
            lines += [self._row(row) for row in event.step.rows]
        totals = event.totals
        lines.append(
            f"So far {plural(totals.tokens, 'token')} in {plural(totals.passes, 'pass')}:"
            f" {totals.drafted} drafted, {totals.accepted} accepted."
        )
        return "\n".join(lines)

    def words(self, spoken: Sentence) -> str:
        """A sentence as plain text, tokens in quotation marks."""
        said = ""
        for part in spoken:
            if isinstance(part, str):
                said += part
            elif part.kind == "t":
                said += f"“{self._tokens(part)}”"
            else:
                said += self.words(part.content)  # type: ignore[arg-type]
        return said

    def _tokens(self, segment: Segment) -> str:
        return self.shown([token for token in segment.content if isinstance(token, int)])

    def shown(self, ids: Sequence[int]) -> str:
        """These tokens as the page shows them."""
        between = _between(self._tokenizer)
        return between.join(plain(piece_of(self._tokenizer.token_bytes(i))) for i in ids)

    def _ending(self, event: Event) -> str:
        tail = [*self.story.text[: event.length], *(guess.token for guess in event.guesses)]
        return ("… " if len(tail) > 8 else "") + self.shown(tail[-8:])

    def _row(self, row: Any) -> str:
        head = f"  {row.cache} n = {row.n}: {row.verdict}"
        if row.best is None:
            return head
        return (
            f"{head}: seen {row.sum:,} (needed {row.min_sum:,}), “{self.shown([row.best])}”"
            f" {share_of(row)} (needed {row.min_percent} %)"
        )


def of_example(name: str, inputs: Inputs) -> Inputs:
    """These inputs with an example's texts and its number of guesses."""
    ready = example(name)
    settings = replace(inputs.settings, n_draft=ready.n_draft)
    return replace(
        inputs,
        text=ready.text,
        earlier=ready.earlier,
        corpus=ready.corpus,
        settings=settings,
        start=1,
        example=name,
    )


def _encode(tokenizer: Tokenizer, name: str, text: str) -> list[int]:
    """The ids of one of the texts.

    Raises:
        InputError: the text is too long, or holds half a character.
    """
    if len(text) > MAX_CHARACTERS:
        raise InputError(
            f"The {name} has {len(text):,} characters, and the stepper takes up to"
            f" {MAX_CHARACTERS:,}: give a part of it."
        )
    for i, char in enumerate(text):
        if "\ud800" <= char <= "\udfff":
            raise InputError(
                f"Character {i + 1:,} of the {name} is half of a pair (U+{ord(char):X}): retype it."
            )
    return [int(token) for token in tokenizer.encode(text)]


def _between(tokenizer: Tokenizer) -> str:
    """What stood between two tokens and is in neither: a blank between words."""
    return getattr(tokenizer, "between", b"").decode()


def _changed(inputs: Inputs, request: Mapping[str, Any]) -> Inputs:
    """The inputs with what the request asks for; wrong kinds raise InputError."""
    if request.get("example"):
        inputs = of_example(_of_kind(request, "example", str), inputs)
    for name in ("text", "earlier", "corpus", "tokenizer"):
        given = _of_kind(request, name, str) if name in request else getattr(inputs, name)
        if given != getattr(inputs, name):
            known = "" if name == "text" else inputs.example  # no longer the example's text
            inputs = replace(inputs, **{name: given}, start=1, example=known)
    if "start" in request:
        inputs = replace(inputs, start=_of_kind(request, "start", int))
    changes: dict[str, Any] = {
        name: _of_kind(request, name, bool)
        for name in ("context", "dynamic", "static")
        if name in request
    }
    if "n_draft" in request:
        changes["n_draft"] = _of_kind(request, "n_draft", int)
    if "rule" in request:
        changes["rule"] = with_numbers(inputs.settings.rule, request["rule"])
    return replace(inputs, settings=inputs.settings.set(**changes))


def _of_kind(request: Mapping[str, Any], name: str, kind: type) -> Any:
    value = request[name]
    if type(value) is not kind:
        raise InputError(f"{name} must be {kind.__name__}, not {type(value).__name__}.")
    return value


def _other_text(new: Inputs, old: Inputs) -> bool:
    """Whether places in the old story mean nothing in the new one."""
    return (new.text, new.tokenizer, new.start) != (old.text, old.tokenizer, old.start)


def totals_line(text: str = "recipe", caches: str = "cds", n_draft: int = 4) -> str:
    """What a text comes to with these caches (first letters) and guesses a pass, in one line."""
    settings = Settings("c" in caches, "d" in caches, "s" in caches, n_draft)
    totals = StepperModel(text, settings=settings).story.totals
    share = f", {100 * totals.accepted / totals.drafted:.0f} %" if totals.drafted else ""
    return (
        f"caches {caches or '-':4} up to {n_draft} guesses: {totals.passes:3} passes,"
        f" {totals.accepted} of {totals.drafted} guesses accepted{share}"
    )
