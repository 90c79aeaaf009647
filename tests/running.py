"""The worked steps of the running text, and a way to record every step of a replay."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import golden

from ngram_core import reference
from ngram_core.rule import LLAMA_CPP, Rule
from ngram_core.trace import Step


@dataclass(frozen=True)
class Recorded:
    """A step of a replay: which model pass it belongs to, and whether its guess was accepted."""

    pass_: int
    step: Step
    accepted: bool


def record(
    drafter: Any, tokens: list[int], n_draft: int = 4
) -> Iterator[Recorded]:  # drafter: the reference's or the engine's
    """Replay one text whole, drafts ending with it, and yield each run of the rule."""
    drafter.feed(tokens[:1])
    pass_ = 0
    while drafter.length < len(tokens):
        pass_ += 1
        alive = True
        for step in drafter.step(min(n_draft, len(tokens) - drafter.length)):
            alive = alive and step.token == tokens[step.length]
            yield Recorded(pass_, step, alive)
            if alive:
                drafter.feed([step.token])
        drafter.feed(tokens[drafter.length :][:1])


class Running:
    """The running texts A and B as ids, and the caches that B gives."""

    def __init__(self) -> None:
        data = json.loads(golden.RUNNING.read_text(encoding="utf-8"))
        self.ids: dict[str, int] = data["ids"]
        self.words = {token: word for word, token in self.ids.items()}
        self.a = [self.ids[word] for word in data["text_a"]]
        self.b = [self.ids[word] for word in data["text_b"]]
        self.steps: list[dict[str, Any]] = data["steps"]

    @cached_property
    def static(self) -> reference.Cache:
        return reference.count_bigrams(self.b)

    @property
    def dynamic(self) -> reference.Cache:
        cache: reference.Cache = {}
        reference.update(cache, self.b, len(self.b))
        return cache

    def drafter(self, caches: str, rule: Rule = LLAMA_CPP) -> reference.Drafter:
        """The reference over the caches named by their first letters, as in the steps."""
        return reference.Drafter(
            rule,
            static=self.static if "s" in caches else None,
            dynamic=self.dynamic if "d" in caches else None,
        )

    def totals(self, caches: str, rule: Rule = LLAMA_CPP, n_draft: int = 4) -> tuple[int, int, int]:
        """Passes, drafted, accepted."""
        drafter = self.drafter(caches, rule)
        result = reference.replay(self.a, rule, drafter.static, drafter.dynamic, n_draft=n_draft)
        return result.n_calls, result.n_drafted, result.n_accept
