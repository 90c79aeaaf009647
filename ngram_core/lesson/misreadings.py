"""The draft rule as it is often misread: each misreading as a rule of its own, in plain Python.

`draft` is the rule in as few lines as it takes, with a switch for each way to get it wrong. It
names what a reader's own rule does; what is right is said by the engine alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ..rule import LLAMA_CPP

Followers = Mapping[int, int]
Cache = Mapping[tuple[int, ...], Followers]
Drafting = Callable[[Sequence[int], Cache, Cache, Cache], "int | None"]
"""A rule: text, context, dynamic and static cache -> the token to draft, or None."""

MISREADINGS = {
    "score tested": "the share test took the weighted score, not the plain count",
    "static of X_n": "the weight came from the static followers of the last n tokens, not of"
    " the last 2",
    "dynamic inside each n": "dynamic were asked at each n, not after all context n failed",
    "dynamic first": "dynamic were asked before context",
    "shortest first": "n = 1 came first and n = 4 last",
    "lax for dynamic": "dynamic had the thresholds of context",
    "strict for context": "context had the thresholds of dynamic",
    "no weight": "static counts weighed nothing",
    "weight without 100": "a static count weighed its count, not 100 times that",
    "unknown weigh 0": "a token that static does not know weighed 0, not 1",
    "no last resort": "static never drafted by itself",
    "more than": "a share had to be above p, not at least p",
    "seen more than": "an n-gram had to be seen more than a times, not at least a times",
    "larger id": "the larger token id won equal scores, not the smaller",
    "check only": "the row’s largest count were tested, not the winner’s own",
    "no first test": "it did not matter how often an n-gram was seen",
    "no second test": "the share did not matter",
}
"""Misreading -> what would have to be so for it to be right."""

_CONTEXT = (LLAMA_CPP.context_sum, LLAMA_CPP.context_percent)
_DYNAMIC = (LLAMA_CPP.dynamic_sum, LLAMA_CPP.dynamic_percent)


def misread(how: str) -> Drafting:
    """The rule with one misreading; "" is the rule itself."""
    return lambda text, context, dynamic, static: draft(text, context, dynamic, static, how)


def draft(
    text: Sequence[int], context: Cache, dynamic: Cache, static: Cache, how: str
) -> int | None:
    """The token to draft after `text`, if the rule is read like this."""
    for cache, n, least, percent in _turns(context, dynamic, how):
        if n > len(text):
            continue
        pair = text[-n:] if how == "static of X_n" else text[-2:]
        token = _best_that_passes(
            cache.get(tuple(text[-n:]), {}), static.get(tuple(pair), {}), least, percent, how
        )
        if token is not None:
            return token
    if how == "no last resort":
        return None
    followers = static.get(tuple(text[-2:]), {})
    a, p = LLAMA_CPP.static_sum, LLAMA_CPP.static_percent
    return _best_that_passes(followers, {}, a, p, how)


def _turns(context: Cache, dynamic: Cache, how: str) -> Iterator[tuple[Cache, int, int, int]]:
    """Cache, n, a_n and p_n in the order in which they are tried."""
    lax = _DYNAMIC if how == "strict for context" else _CONTEXT
    strict = _CONTEXT if how == "lax for dynamic" else _DYNAMIC
    caches = [(context, lax), (dynamic, strict)]
    sizes = [1, 2, 3, 4] if how == "shortest first" else [4, 3, 2, 1]
    order = [(cache, n) for cache in caches for n in sizes]
    if how == "dynamic first":
        order = order[4:] + order[:4]
    if how == "dynamic inside each n":
        order.sort(key=lambda turn: -turn[1])  # stable: context stays before dynamic
    for (cache, (sums, percents)), n in order:
        yield cache, n, sums[n - 1], percents[n - 1]


def _best_that_passes(
    followers: Followers, static: Followers, least: int, percent: int, how: str
) -> int | None:
    """The follower with the largest score, if both tests let it through."""
    if not followers:
        return None
    factor = {"no weight": 0, "weight without 100": 1}.get(how, 100)
    unknown = 0 if how == "unknown weigh 0" and static else 1
    scores = {y: count * (factor * static.get(y, 0) or unknown) for y, count in followers.items()}
    sign = 1 if how == "larger id" else -1
    best = max(followers, key=lambda y: (scores[y], sign * y))
    total = sum(followers.values())
    tested = {"score tested": scores[best], "check only": max(followers.values())}
    share = 100 * tested.get(how, followers[best])
    often = total > least if how == "seen more than" else total >= least
    sure = share > percent * total if how == "more than" else share >= percent * total
    passes = (often or how == "no first test") and (sure or how == "no second test")
    return best if passes and scores[best] > 0 else None
