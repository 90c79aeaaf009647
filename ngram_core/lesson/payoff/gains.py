"""What drafting gains: tokens per pass of each workload, counted here, and the formula.

speed-up = tokens per pass / (price of a pass + time to draft / time of a pass)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

from ...corpora import WORKLOADS
from ...corpora.workloads import Measured, Task, measure
from ...rule import LLAMA_CPP, Rule
from ...tokenizers import get_tokenizer
from ..bars import Bar, Bars, Column

N_DRAFTS = (1, 2, 3, 4, 6, 8, 12, 16)
ENOUGH_TOKENS = 2_000
"""Tasks of a workload are taken until their answers have so many tokens."""

tokenizer_once = functools.cache(get_tokenizer)
"""Reading a vocabulary takes most of a second."""

Price = Callable[[int], float]
"""What a pass over so many tokens costs, in passes over one."""


def speed_up(counts: Measured, price: Price, drafting: float = 0.0) -> float:
    """How many times as fast text comes as without drafting.

    Args:
        drafting: time to draft, for each pass, as a share of a pass over one token.
    """
    return counts.tokens_per_pass / (pass_price(counts, price) + drafting)


def pass_price(counts: Measured, price: Price) -> float:
    """The mean price of a pass: each looks at what was drafted, and at one token more."""
    paid = sum(passes * price(1 + drafted) for drafted, passes in enumerate(counts.by_drafted))
    return paid / counts.n_passes


def played(tasks: Iterable[Task], n_draft: int, rule: Rule = LLAMA_CPP) -> Measured:
    """All of these tasks, with Qwen2.5's tokens."""
    tokenizer = tokenizer_once()
    return sum((measure(task, tokenizer, n_draft, rule=rule) for task in tasks), Measured())


@functools.cache
def tasks(workload: str) -> tuple[Task, ...]:
    """The first tasks of a workload, always the same."""
    tokenizer = tokenizer_once()
    found: list[Task] = []
    n_tokens = 0
    for task in WORKLOADS[workload].tasks():
        found.append(task)
        n_tokens += len(tokenizer.encode(task.output))
        if n_tokens >= ENOUGH_TOKENS:
            break
    return tuple(found)


@functools.cache
def counted(workload: str, n_draft: int = 8) -> Measured:
    """What drafting does for this workload; counted once, and kept."""
    return played(tasks(workload), n_draft)


@functools.cache
def by_gain() -> tuple[str, ...]:
    """All workloads, those that gain most first."""
    return tuple(sorted(WORKLOADS, key=lambda name: -counted(name).tokens_per_pass))


def drafted_per_pass(counts: Measured) -> float:
    return counts.n_drafted / counts.n_passes


def bars(n_draft: int = 8) -> Bars:
    """All workloads: acceptance, guesses and tokens per pass."""
    found = {name: counted(name, n_draft) for name in by_gain()}
    columns = (
        ("tokens per pass", lambda c: c.tokens_per_pass, "{:.2f}"),
        ("guesses per pass", drafted_per_pass, "{:.2f}"),
        ("acceptance", lambda c: c.accept_pct or 0.0, "{:.0f} %"),
    )
    return Bars(
        f"What up to {n_draft} guesses a pass gain",
        "workload",
        [f"{name}: {WORKLOADS[name].about}" for name in found],
        [
            Column(title, [Bar(get(c), told.format(get(c))) for c in found.values()])
            for title, get, told in columns
        ],
        "Counted here: llama.cpp’s rule, Qwen2.5’s tokens, context cache alone; the prompt is"
        f" known, and answers have {ENOUGH_TOKENS:,} tokens or more. Texts and answers are made,"
        " the same on every machine.",
    )
