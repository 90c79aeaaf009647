"""The numbers of the draft rule, adjustable for experiments; the defaults are llama.cpp's.

Source: llama.cpp, common/ngram-cache.cpp.
"""

from __future__ import annotations

from dataclasses import dataclass

from .errors import InputError

N_MAX = 4
"""The longest n-gram the caches hold."""


def _most(name: str) -> int:
    """The largest value of a field: products with counts stay far inside 64 bits."""
    return 1_000 if name.endswith("percent") else 1_000_000


@dataclass(frozen=True)
class Rule:
    """Thresholds and weight of the draft rule.

    Tuples are indexed by n - 1. `weight` multiplies the static count of a candidate;
    0 switches the weighing off (every weight is 1). `eos` is the end-of-sequence token
    past which nothing is drafted, or None.
    """

    n_min: int = 1
    n_max: int = N_MAX
    context_sum: tuple[int, int, int, int] = (2, 2, 1, 1)
    context_percent: tuple[int, int, int, int] = (66, 50, 50, 50)
    dynamic_sum: tuple[int, int, int, int] = (4, 3, 2, 2)
    dynamic_percent: tuple[int, int, int, int] = (75, 66, 66, 66)
    static_sum: int = 2
    static_percent: int = 50
    weight: int = 100
    use_context: bool = True
    eos: int | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.n_min <= self.n_max <= N_MAX:
            raise InputError(
                f"n-gram sizes {self.n_min} to {self.n_max}: "
                f"need 1 <= smallest <= largest <= {N_MAX}"
            )
        for name in ("context_sum", "context_percent", "dynamic_sum", "dynamic_percent"):
            values = getattr(self, name)
            most = _most(name)
            if len(values) != N_MAX or not all(0 <= v <= most for v in values):
                raise InputError(f"{name}={values!r}: need four whole numbers from 0 to {most}")
        for name in ("static_sum", "static_percent", "weight"):
            if not 0 <= getattr(self, name) <= _most(name):
                raise InputError(
                    f"{name}={getattr(self, name)!r}: need a whole number from 0 to {_most(name)}"
                )
        if self.eos is not None and not 0 <= self.eos < 2**31 - 1:
            raise InputError(f"eos={self.eos!r}: need a token id from 0 to {2**31 - 2}, or None")


LLAMA_CPP = Rule()
"""The rule as llama.cpp ships it."""
