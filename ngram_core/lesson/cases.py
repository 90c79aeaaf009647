"""The places at which a rule is asked and compared: every word of a text, and random streams.

At each place there are the inputs a rule gets and the step that the engine took with the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from .. import reference
from ..caches import NgramCache
from ..drafter import Drafter
from ..trace import Step
from .misreadings import Cache
from .stepper import StepperModel
from .story import MAX_TOKENS, TOGGLES

N_STREAMS, STREAM_TOKENS = 60, 32


class Inputs(NamedTuple):
    """What a rule gets: the text so far, and the caches, {n-gram: {token: count}}."""

    text: tuple[int, ...]
    context: Cache
    dynamic: Cache
    static: Cache


@dataclass(frozen=True)
class Stream:
    """A text with what stands behind the other caches, as ids, and how to name its tokens."""

    title: str
    text: Sequence[int]
    earlier: Sequence[int]
    corpus: Sequence[int]
    name: Callable[[int], str] = str


@dataclass(frozen=True)
class Case:
    """One place of a stream, and what the engine did there."""

    stream: Stream
    inputs: Inputs
    step: Step

    @property
    def place(self) -> str:
        """Where it is, the word to come counted from 1."""
        return f"word {len(self.inputs.text) + 1}{self.stream.title}"

    def named(self, token: int | None) -> str:
        """A drafted token in words."""
        if token is None:
            return "nothing"
        shown = self.stream.name(token)
        return shown if shown == str(token) else f"{shown} (id {token})"


# ---- the cases ------------------------------------------------------------------------------


def text_stream(model: StepperModel) -> Stream:
    """The text in a Stepper, the first 1,000 tokens of it, with its earlier text and corpus."""
    text, earlier, corpus, _ = model.told
    return Stream("", text[:MAX_TOKENS], earlier, corpus, lambda token: f"“{model.shown([token])}”")


def random_streams() -> Iterator[Stream]:
    """Always the same ones; few different tokens, so that counts grow, split and tie."""
    for seed in range(N_STREAMS):
        chance = Random(seed).random
        n_vocab = 3 + seed % 4
        text, earlier = (_stream(chance, STREAM_TOKENS, n_vocab) for _ in range(2))
        corpus = _stream(chance, 2 * STREAM_TOKENS, n_vocab)
        yield Stream(f" of random text {seed + 1}", text, earlier, corpus)


def _stream(chance: Callable[[], float], length: int, n_vocab: int) -> list[int]:
    """Each token is often the one that follows its forerunner in a fixed round, else any."""
    tokens = [0]
    while len(tokens) < length:
        goes_on = chance() < 0.55
        tokens.append((tokens[-1] + 1 if goes_on else int(chance() * n_vocab)) % n_vocab)
    return tokens


def cases(stream: Stream) -> Iterator[Case]:
    """Every place of a stream with at least two tokens before it; caches are live views."""
    dynamic: reference.Cache = {}
    reference.update(dynamic, stream.earlier, len(stream.earlier))
    static = reference.count_bigrams(stream.corpus)
    context: reference.Cache = {}
    seen: dict[tuple[int, ...], Any] = {}
    views = [MappingProxyType(seen), _read_only(dynamic), _read_only(static)]
    with _engine(stream) as engine:
        for place, token in enumerate(stream.text[:-1], start=1):
            engine.feed([token])
            so_far = tuple(stream.text[:place])
            reference.update(context, so_far, 1)
            for n in range(1, min(4, place - 1) + 1):
                ngram = so_far[-n - 1 : -1]
                seen[ngram] = MappingProxyType(context[ngram])
            if place >= 2:
                yield Case(stream, Inputs(so_far, *views), engine.step(1)[0])


@contextlib.contextmanager
def _engine(stream: Stream) -> Iterator[Drafter]:
    with contextlib.ExitStack() as stack:
        dynamic = stack.enter_context(NgramCache(TOGGLES))
        dynamic.update(np.asarray(stream.earlier, np.int32))
        corpus = np.asarray(stream.corpus, np.int32)
        static = stack.enter_context(NgramCache.build_static(corpus, TOGGLES))
        yield stack.enter_context(Drafter(TOGGLES, static=static, dynamic=dynamic))


def _read_only(cache: reference.Cache) -> Cache:
    """The same counts, which a rule can read and not change."""
    return MappingProxyType({ngram: MappingProxyType(found) for ngram, found in cache.items()})
