"""What drafting does for a task."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import zip_longest

from ...drafter import Drafter
from ...rule import LLAMA_CPP, Rule
from ...toggles import NOCOPY, Toggles
from ...tokenizers import Tokenizer
from .base import Task


@dataclass(frozen=True)
class Measured:
    """Counts of one task, or of several added up.

    Args:
        n_tokens: of the output.
        n_passes: how often the model was asked; without drafting, once a token.
        n_drafted: tokens guessed.
        n_accept: guesses that were right.
        by_drafted: [k]: passes for which k tokens were guessed.
    """

    n_tokens: int = 0
    n_passes: int = 0
    n_drafted: int = 0
    n_accept: int = 0
    by_drafted: tuple[int, ...] = ()

    @property
    def accept_pct(self) -> float | None:
        """None if nothing was drafted."""
        return 100 * self.n_accept / self.n_drafted if self.n_drafted else None

    @property
    def tokens_per_pass(self) -> float:
        return self.n_tokens / self.n_passes if self.n_passes else 0.0

    def __add__(self, other: Measured) -> Measured:
        return Measured(
            self.n_tokens + other.n_tokens,
            self.n_passes + other.n_passes,
            self.n_drafted + other.n_drafted,
            self.n_accept + other.n_accept,
            tuple(a + b for a, b in zip_longest(self.by_drafted, other.by_drafted, fillvalue=0)),
        )


def measure(
    task: Task,
    tokenizer: Tokenizer,
    n_draft: int = 8,
    toggles: Toggles = NOCOPY.toggles,
    rule: Rule = LLAMA_CPP,
) -> Measured:
    """Plays a task: the prompt is known, the output is guessed at and checked as in the replay.

    Drafts end at the end of the output. The prompt and the output are encoded apart, as in use.
    """
    prompt = tokenizer.encode(task.prompt)
    output = tokenizer.encode(task.output)
    accepted = position = 0
    by_drafted: Counter[int] = Counter()
    with Drafter(toggles, rule) as drafter:
        drafter.feed(prompt)
        while position < len(output):
            draft = drafter.draft(min(n_draft, len(output) - position))
            wrong = (draft != output[position : position + len(draft)]).nonzero()[0]
            hits = int(wrong[0]) if len(wrong) else len(draft)
            by_drafted[len(draft)] += 1
            accepted += hits
            end = min(position + hits + 1, len(output))  # the model itself gives one more
            drafter.feed(output[position:end])
            position = end
    return Measured(
        len(output),
        by_drafted.total(),
        sum(k * passes for k, passes in by_drafted.items()),
        accepted,
        tuple(by_drafted[k] for k in range(max(by_drafted, default=-1) + 1)),
    )
