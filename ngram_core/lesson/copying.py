"""What copying followers costs on a small text, call by call, from the engine's own counters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..caches import NgramCache
from ..drafter import Drafter
from ..rule import Rule
from ..toggles import UPSTREAM, Toggles
from ..tokenizers import get_tokenizer
from ..trace import CacheName, Step
from .examples import Example, example, ready_text
from .figures import plural

COPYING = UPSTREAM.toggles.set(ties="token", score="exact")
READING = COPYING.set(copy_followers=False)


@dataclass(frozen=True)
class Copy:
    """One look-up that found its n-gram: so many followers were copied."""

    cache: CacheName
    n: int
    followers: int
    what: str  #: "tried", "weights" or "fallback"


@dataclass(frozen=True)
class Call:
    """One draft call: the word it guesses first, the guesses, the copies."""

    word: int
    guesses: int
    copies: tuple[Copy, ...]
    allocations: int
    bytes: int

    @property
    def copied(self) -> int:
        return sum(copy.followers for copy in self.copies)


@dataclass(frozen=True)
class Copies:
    """All draft calls of one text."""

    calls: tuple[Call, ...]
    title: str = "A recipe"

    @property
    def copied(self) -> int:
        return sum(call.copied for call in self.calls)

    @property
    def guesses(self) -> int:
        return sum(call.guesses for call in self.calls)

    def at(self, word: int) -> Call:
        """The call that guesses this word first, counted from 1."""
        return next(call for call in self.calls if call.word == word)

    def __str__(self) -> str:
        allocations = sum(call.allocations for call in self.calls)
        n_bytes = sum(call.bytes for call in self.calls)
        told = (
            f"{self.title}: {plural(len(self.calls), 'draft call')} copied"
            f" {plural(self.copied, 'follower')} for {plural(self.guesses, 'guess')}:"
            f" {plural(allocations, 'allocation')}, {plural(n_bytes, 'byte')}"
        )
        if self.copied:
            return told
        return f"{told}\nNo ending of this text was seen before, so nothing was found.\n{copies()}"


def copies(text: str = "recipe", toggles: Toggles = COPYING) -> Copies:
    """Drafts along a text with all caches on, and counts what look-ups copy.

    Args:
        text: the name of an example, or any text, in words.
    """
    ready = ready_text(text)
    tokens, static, dynamic = example_caches(ready, toggles)
    with static, dynamic, Drafter(toggles, static=static, dynamic=dynamic) as drafter:
        calls: list[Call] = []
        drafter.feed(tokens[:1])
        while drafter.length < len(tokens):
            most = min(ready.n_draft, len(tokens) - drafter.length)
            calls.append(_call(drafter, most))
            gained = _hits(drafter.draft(most).tolist(), tokens[drafter.length :]) + 1
            drafter.feed(tokens[drafter.length : drafter.length + gained])
        drafter.close()
    return Copies(tuple(calls), ready.title[:1].upper() + ready.title[1:])


def allocations_to_copy(word: str, name: str = "recipe") -> tuple[int, int]:
    """Followers of a word at the end of an example, and the allocations that a copy takes.

    The word stands where no longer ending was seen, so one n-gram is found and copied once.
    """
    tokenizer = get_tokenizer("words")
    text = tokenizer.encode(f"{example(name).text} {word}")
    with Drafter(COPYING) as drafter:
        drafter.feed(text)
        followers, _ = drafter.followers(text[-1:])
        drafter.draft(1)
        return len(followers), drafter.copied().allocations


def example_caches(ready: Example, toggles: Toggles) -> tuple[list[int], NgramCache, NgramCache]:
    """An example's text, and its static and dynamic cache."""
    tokenizer = get_tokenizer("words")
    text, earlier, corpus = (
        tokenizer.encode(part) for part in (ready.text, ready.earlier, ready.corpus)
    )
    dynamic = NgramCache(toggles)
    dynamic.update(earlier)
    return text.tolist(), NgramCache.build_static(corpus, toggles), dynamic


def _call(drafter: Drafter, most: int) -> Call:
    before = drafter.copied()
    guesses = len(drafter.draft(most))
    after = drafter.copied()
    found = tuple(copy for step in drafter.step(most) for copy in _copies(step, drafter.toggles))
    return Call(
        drafter.length + 1,
        guesses,
        found,
        after.allocations - before.allocations,
        after.total_bytes - before.total_bytes,
    )


def _copies(step: Step, toggles: Toggles) -> list[Copy]:
    """The look-ups of a step that found something, in the order in which they were made."""
    if not toggles.copy_followers:
        return []
    found = []
    if step.weights is not None and step.weights.n_followers:
        found.append(Copy("static", 2, step.weights.n_followers, "weights"))
    for row in step.rows:
        if row.n_followers:
            what = "fallback" if row.cache == "static" else "tried"
            found.append(Copy(row.cache, row.n, row.n_followers, what))
    return found


def _hits(guesses: Sequence[int], truth: Sequence[int]) -> int:
    """How many leading guesses are right."""
    hits = 0
    while hits < min(len(guesses), len(truth)) and guesses[hits] == truth[hits]:
        hits += 1
    return hits


@dataclass(frozen=True)
class OneCopy:
    """One copy of one list of followers, as the allocator counted it."""

    followers: int
    allocations: int
    bytes: int

    def __str__(self) -> str:
        return (
            f"one copy of {self.followers:,} followers: {self.allocations:,} allocations,"
            f" {self.bytes:,} bytes"
        )


def one_copy(followers: int) -> OneCopy:
    """Copies the followers of a 2-gram that has so many, once."""
    first = 2  # tokens 0 and 1 are the 2-gram, each followed by another token
    text = [token for i in range(followers) for token in (0, 1, first + i)]
    with Drafter(COPYING, Rule(n_min=2, n_max=2)) as drafter:
        drafter.feed([*text, 0, 1])
        drafter.draft(1)
        copied = drafter.copied()
    return OneCopy(followers, copied.allocations, copied.total_bytes)
