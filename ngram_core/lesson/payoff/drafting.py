"""Faster drafting against a pass of a model: what the factor of the race is worth in text."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from ...corpora import MadeProse
from ...counting import BigramCounter
from ...published import DRAFTING_US
from ...replay import Replay
from ...toggles import STAGES
from ..checking.recipe import exact
from .gains import tokenizer_once

CORPUS_MB, TEXT_BYTES = 2, 60_000

PASS_MS = 8.3
"""A pass of a model with 135 million weights on two cores, 121 tokens a second: measured by us on
another machine. Bigger models take longer, and make drafting matter less."""

WIKITEXT_GUESSES_A_PASS = 1.2
"""15 % of the guesses are right and a pass brings 1.18 tokens: 0.18 / 0.15."""


@dataclass(frozen=True)
class Drafting:
    """What one stage took, run by run; what it drafted is the same in all."""

    stage: str
    ns: list[float]  #: drafting and counting, for each guess
    guesses_per_pass: float
    tokens_per_pass: float

    @property
    def us_per_pass(self) -> float:
        return median(self.ns) * self.guesses_per_pass / 1000

    @property
    def share(self) -> float:
        """Of a pass."""
        return self.us_per_pass / (1000 * PASS_MS)

    @property
    def text_gain(self) -> float:
        """How many times as fast text comes as without drafting, if checking is free."""
        return self.tokens_per_pass / (1 + self.share)


@dataclass(frozen=True)
class Naive:
    """The slowest stage and the last one."""

    slow: Drafting
    fast: Drafting

    def __str__(self) -> str:
        def told(one: Drafting) -> str:
            us = [ns / 1000 for ns in one.ns]
            return (
                f"{one.stage}: {median(us):.2f} µs a guess ({min(us):.2f} – {max(us):.2f}), that is"
                f" {100 * one.share:.3f} % of a pass"
            )

        slow, fast = self.slow, self.fast
        return (
            f"{told(slow)}\n{told(fast)}\n"
            f"{fast.tokens_per_pass:.3f} tokens a pass. If checking were free, text would come"
            f" {slow.text_gain:.3f} times as fast with {slow.stage}, {fast.text_gain:.3f} with"
            f" {fast.stage}.\n"
            f"Drafting: {median(slow.ns) / median(fast.ns):.1f} times faster. Text:"
            f" {fast.text_gain / slow.text_gain:.3f} times faster."
        )


def naive(runs: int = 5) -> Naive:
    """Replays made prose with the first and the last stage in turn, with a static cache."""
    tokenizer = tokenizer_once()
    stages = {name: exact(name) for name in ("upstream", list(STAGES)[-1])}
    text = MadeProse(TEXT_BYTES, seed=3, made_for=tokenizer).tokens(tokenizer, keep=False)
    with BigramCounter() as counter:
        for block in MadeProse(made_for=tokenizer).token_blocks(tokenizer, CORPUS_MB * 1_000_000):
            counter.add(block)
        counter.group()
        statics = {name: counter.cache(toggles) for name, toggles in stages.items()}
    ns: dict[str, list[float]] = {name: [] for name in stages}
    try:
        for _ in range(runs):
            for name, toggles in stages.items():
                with Replay(text, toggles=toggles, static=statics[name]) as replay:
                    sample = replay.run()
                    ns[name].append(sample.ns_per_drafted or 0.0)
    finally:
        for cache in statics.values():
            cache.close()
    per_pass = sample.n_drafted / sample.n_calls, sample.n_replayed / sample.n_calls
    slow, fast = (Drafting(name, ns[name], *per_pass) for name in stages)
    return Naive(slow, fast)


def published_share() -> float:
    """Percent of a pass that `upstream` drafts with 541 MB, by published figures."""
    us = DRAFTING_US["upstream"][541] * WIKITEXT_GUESSES_A_PASS
    return 100 * us / (1000 * PASS_MS)
