"""The recipe with all caches on, drafted by any stage, at any of its words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...drafter import Drafter
from ...toggles import STAGES, Toggles
from ...tokenizers import get_tokenizer
from ..copying import example_caches
from ..examples import Example, example


def exact(stage: str) -> Toggles:
    """A stage's switches with exact scores and ties by token: all stages draft the same."""
    return STAGES[stage].toggles.set(ties="token", score="exact")


@contextmanager
def at_word(stage: str, word: int) -> Iterator[Drafter]:
    """A drafter that is about to guess this word of the recipe, counted from 1."""
    ready, toggles = example("recipe"), exact(stage)
    text, static, dynamic = example_caches(ready, toggles)
    with static, dynamic, Drafter(toggles, static=static, dynamic=dynamic) as drafter:
        drafter.feed(text[: word - 1])
        yield drafter


def names(ready: Example) -> dict[int, str]:
    """The words of an example by their tokens."""
    tokenizer = get_tokenizer("words")
    tokens = tokenizer.encode(f"{ready.text} {ready.earlier} {ready.corpus}").tolist()
    return {token: tokenizer.token_bytes(token).decode() for token in set(tokens)}
