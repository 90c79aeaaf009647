"""A text drafted from its first token to its last, as an ordered list of events.

The text plays the model, as in a replay (the same rule: `Replay` counts the same calls, drafts
and hits). Two kinds of event take turns:

    Draft   one run of the rule: a token guessed, or nothing
    Check   one pass of the model: guesses accepted or rejected, its own token written,
            all new tokens counted into the context cache

A story holds at most 1,000 tokens. A longer text is told in windows; each window starts where
the one before ended, with all that came before already counted.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..caches import NgramCache
from ..drafter import Drafter
from ..errors import InputError
from ..rule import LLAMA_CPP, N_MAX, Rule
from ..toggles import NOCOPY
from ..trace import CacheName, Row, Step
from .figures import plural

TOGGLES = NOCOPY.toggles.set(ties="token", score="exact")
"""Equal scores go to the smaller id, so that a reader can tell who wins; nothing overflows."""

MAX_TOKENS = 1_000
"""A story tells at most this many tokens of a text."""

MAX_EVENTS = 3_000
"""And at most about this many events: many guesses that miss make long stories."""

MAX_DRAFT = 16
"""The most guesses in one pass."""


@dataclass(frozen=True)
class Settings:
    """What the reader can change; the rule holds the thresholds and the weight."""

    context: bool = True
    dynamic: bool = True
    static: bool = True
    n_draft: int = 4
    rule: Rule = LLAMA_CPP

    def __post_init__(self) -> None:
        if not 1 <= self.n_draft <= MAX_DRAFT:
            raise InputError(f"{self.n_draft} guesses a pass: choose from 1 to {MAX_DRAFT}.")

    def set(self, **changes: object) -> Settings:
        """A copy with some settings changed."""
        return replace(self, **changes)  # type: ignore[arg-type]

    @property
    def rule_in_force(self) -> Rule:
        """The rule, without the context cache if that is switched off."""
        return replace(self.rule, use_context=self.context and self.rule.use_context)


@dataclass(frozen=True)
class Guess:
    """One drafted token and where it came from."""

    token: int
    source: CacheName
    n: int


@dataclass(frozen=True)
class Totals:
    """Counts since the text began; `tokens` were written in `passes`, the given one left out."""

    drafted: int = 0
    accepted: int = 0
    passes: int = 0
    tokens: int = 0

    def after_pass(self, drafted: int, accepted: int, tokens: int) -> Totals:
        """The counts after one more pass that checked, accepted and wrote so many."""
        return Totals(
            self.drafted + drafted,
            self.accepted + accepted,
            self.passes + 1,
            self.tokens + tokens,
        )


@dataclass(frozen=True)
class Counted:
    """A follower counted into the context cache, with its new count."""

    ngram: tuple[int, ...]
    follower: int
    count: int


@dataclass(frozen=True)
class Draft:
    """One run of the rule, after `guesses` that are still unchecked."""

    step: Step
    guesses: tuple[Guess, ...]
    totals: Totals

    @property
    def length(self) -> int:
        """Tokens of the text itself, guesses left out."""
        return self.step.length - len(self.guesses)

    @property
    def word(self) -> int:
        """The place of the token being guessed, counted from 1."""
        return self.step.length + 1


@dataclass(frozen=True)
class Check:
    """One pass of the model over a text of `length` tokens and the guesses behind it."""

    length: int
    guesses: tuple[Guess, ...]
    accepted: int
    own: int | None  #: the token the model writes itself; None at the end of the text
    counted: tuple[Counted, ...]
    totals: Totals
    held_back: Row | None  #: nothing was drafted: the first n-gram that failed a test
    last: bool  #: the text is complete

    @property
    def n_new(self) -> int:
        """How many tokens the pass adds to the text."""
        return self.accepted + (self.own is not None)

    @property
    def n_dropped(self) -> int:
        """Guesses after the rejected one: nobody looks at them."""
        return max(0, len(self.guesses) - self.accepted - 1)


Event = Draft | Check


@dataclass(frozen=True)
class Story:
    """The events of one window of a text; `text` ends where the window ends."""

    text: tuple[int, ...]
    start: int  #: tokens written before the window, the given first one included
    n_tokens: int  #: of the whole text
    settings: Settings
    events: tuple[Event, ...]
    n_earlier: int = 0  #: tokens behind the dynamic cache, 0 if it is off
    n_corpus: int = 0  #: tokens behind the static cache, 0 if it is off

    @property
    def totals(self) -> Totals:
        """Counts at the end of the window."""
        return self.events[-1].totals if self.events else Totals()

    @property
    def complete(self) -> bool:
        """Whether the window reaches the end of the text."""
        return len(self.text) == self.n_tokens


def tell(
    tokens: Sequence[int],
    settings: Settings | None = None,
    earlier: Sequence[int] = (),
    corpus: Sequence[int] = (),
    start: int = 1,
) -> Story:
    """Draft a text and write down all that happens in one window of it.

    Args:
        tokens: ids of the whole text, which plays the model; the first one is given.
        settings: caches, guesses a pass, rule.
        earlier: ids of an earlier text, behind the dynamic cache.
        corpus: ids of a corpus, whose 2-grams are the static cache.
        start: the window begins with the first pass on a text of at least this length.

    Raises:
        InputError: fewer than two tokens, or a window that begins past the end.
    """
    settings = settings or Settings()
    text = [int(token) for token in tokens]
    if len(text) < 2:
        given = plural(len(text), "token")
        raise InputError(f"a text of {given} leaves nothing to guess: give at least two.")
    if not 1 <= start < len(text):
        raise InputError(f"the window begins at token {start}, the text has {len(text)}.")

    behind = {"dynamic": earlier, "static": corpus}
    sizes = {name: len(given) * getattr(settings, name) for name, given in behind.items()}
    events: list[Event] = []
    first = end = 0
    with contextlib.ExitStack() as stack:
        drafter = _drafter(settings, earlier, corpus, stack)
        for passed in _passes(text, settings.n_draft, drafter, start):
            length = passed[-1].totals.tokens + 1
            too_long = length - start > MAX_TOKENS or len(events) + len(passed) > MAX_EVENTS
            if events and too_long:
                break
            first = first or passed[0].length
            events += passed
            end = length
    return Story(
        tuple(text[:end]),
        first,
        len(text),
        settings,
        tuple(events),
        sizes["dynamic"],
        sizes["static"],
    )


def _drafter(
    settings: Settings, earlier: Sequence[int], corpus: Sequence[int], stack: contextlib.ExitStack
) -> Drafter:
    """The engine with these caches; all of it is freed with the stack."""
    dynamic = static = None
    if settings.dynamic and len(earlier):
        dynamic = stack.enter_context(NgramCache(TOGGLES))
        dynamic.update(np.asarray(earlier, np.int32))
    if settings.static and len(corpus):
        corpus_ids = np.asarray(corpus, np.int32)
        static = stack.enter_context(NgramCache.build_static(corpus_ids, TOGGLES))
    return stack.enter_context(Drafter(TOGGLES, settings.rule_in_force, static, dynamic))


def _passes(text: list[int], n_draft: int, drafter: Drafter, start: int) -> Iterator[list[Event]]:
    """The events of each pass that ends past `start`: drafts, then the check."""
    drafter.feed(text[:1])
    length, totals = 1, Totals()
    while length < len(text):
        n = min(n_draft, len(text) - length)
        if length + n + 1 <= start:  # nobody will see this pass, so nothing is recorded
            drafted = drafter.draft(n).tolist()
            accepted = _leading_hits(drafted, text[length : length + n])
            n_new = min(accepted + 1, len(text) - length)
            drafter.feed(text[length : length + n_new])
            totals = totals.after_pass(len(drafted), accepted, n_new)
            length += n_new
            continue

        events: list[Event] = []
        guesses: tuple[Guess, ...] = ()
        for step in drafter.step(n):
            events.append(Draft(step, guesses, totals))
            if step.token is not None and step.source is not None and step.n is not None:
                guesses += (Guess(step.token, step.source, step.n),)
        check = _check(drafter, text, length, events, guesses, totals)
        length, totals = length + check.n_new, check.totals
        if length > start:
            yield [*events, check]


def _check(
    drafter: Drafter,
    text: list[int],
    length: int,
    drafts: Sequence[Event],
    guesses: tuple[Guess, ...],
    totals: Totals,
) -> Check:
    """The model's pass over these guesses; the new tokens are fed to the drafter."""
    accepted = _leading_hits([guess.token for guess in guesses], text[length : length + MAX_DRAFT])
    end = min(length + accepted + 1, len(text))
    own = text[end - 1] if end > length + accepted else None
    return Check(
        length,
        guesses,
        accepted,
        own,
        _feed(drafter, text, length, end),
        totals.after_pass(len(guesses), accepted, end - length),
        _held_back(drafts[0]) if drafts and not guesses else None,
        last=end == len(text),
    )


def _feed(drafter: Drafter, text: list[int], before: int, length: int) -> tuple[Counted, ...]:
    """Count the new tokens one by one; what the engine's counts are then, longest n first."""
    news = []
    for i in range(before, length):
        drafter.feed(text[i : i + 1])
        for n in range(1, min(i, N_MAX) + 1):
            ngram = tuple(text[i - n : i])
            tokens, counts = drafter.followers(ngram)
            news.append(Counted(ngram, text[i], int(counts[tokens == text[i]][0])))
    return tuple(sorted(news, key=lambda counted: -len(counted.ngram)))


def _leading_hits(guesses: Sequence[int], truth: Sequence[int]) -> int:
    """How many guesses are right with all guesses before them right too."""
    hits = 0
    for guess, token in zip(guesses, truth, strict=False):
        if guess != token:
            break
        hits += 1
    return hits


def _held_back(draft: Event) -> Row | None:
    """The first n-gram that was seen but failed a test: what boldness would have drafted."""
    rows = draft.step.rows if isinstance(draft, Draft) else ()
    return next((row for row in rows if row.best is not None and not row.passes), None)
