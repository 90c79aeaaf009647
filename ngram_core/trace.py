"""The record of one step of the draft rule, as the engine and the reference both write it.

A *step* is one run of the rule: one token drafted, or nothing. It holds a row for every
n-gram that was tried, in the order tried: context n = 4..1, then dynamic n = 4..1, then
the static fallback (always n = 2). Rows that were not reached are absent.

The engine fills these records while it drafts; pictures and sentences only read them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CacheName = Literal["context", "dynamic", "static"]

Verdict = Literal[
    "too short",  # the text has fewer than n tokens
    "not seen",  # the cache does not hold this n-gram
    "too rare",  # F < a_n
    "too split",  # 100 * P[y*] < p_n * F
    "too rare and too split",
    "no score",  # no score above 0 (score="int32" only)
    "passes",
]

MAX_CANDIDATES = 12
"""A row shows at most this many followers, the rest is `rest_followers` and `rest_sum`."""


@dataclass(frozen=True)
class Candidate:
    """One follower of an n-gram: its count, its weight and their product."""

    token: int
    count: int
    weight: int
    score: int


@dataclass(frozen=True)
class Row:
    """One n-gram tried in one cache, with both sides of both threshold tests.

    `candidates` stand highest score first, equal scores in the order the rule visits
    them, so `candidates[0].token == best` whenever a best one exists.
    """

    cache: CacheName
    n: int
    verdict: Verdict
    sum: int = 0  #: F, the sum of all counts
    min_sum: int = 0  #: a_n
    share: int = 0  #: left side of the second test, 100 * count of the best
    needed: int = 0  #: its right side, p_n * F
    min_percent: int = 0  #: p_n
    best: int | None = None  #: y*, the token with the highest score
    best_count: int = 0
    best_score: int = 0
    n_followers: int = 0
    candidates: tuple[Candidate, ...] = ()
    rest_followers: int = 0  #: followers that are not among `candidates`
    rest_sum: int = 0  #: and the sum of their counts
    #: failed by its largest count, `best_count`, before anything was scored (precheck): there is
    #: no best one, and `candidates` stand highest count first, without weights and scores
    prechecked: bool = False
    #: decided by a bound of the scores (the toggle `bound`): those told here were not needed
    bounded: bool = False

    @property
    def passes(self) -> bool:
        return self.verdict == "passes"


@dataclass(frozen=True)
class Step:
    """One run of the rule on a text of `length` tokens (text so far and drafted so far)."""

    length: int
    token: int | None  #: the drafted token, None if the rule stopped
    source: CacheName | None
    n: int | None
    rows: tuple[Row, ...]
    #: the static followers of the last two tokens (verdict "not seen" or "passes"); None
    #: without a static cache
    weights: Row | None
