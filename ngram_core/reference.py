"""The draft rule in plain, slow, obvious Python: what every engine must compute.

This file is the specification. The C engine is compared with it step by step, and lesson 02
shows it. It trades all speed for being readable from top to bottom: count n-grams, judge one
n-gram, run the rule once, draft several tokens, replay a text.

A cache is a dict from an n-gram (a tuple of 1 to 4 tokens) to its followers (a dict from a
token to how often it came right after that n-gram). Equal scores go to the smaller token id.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from .errors import InputError
from .rule import LLAMA_CPP, Rule
from .trace import MAX_CANDIDATES, CacheName, Candidate, Row, Step, Verdict

Ngram = tuple[int, ...]
Followers = dict[int, int]
Cache = dict[Ngram, Followers]
Score = Literal["int32", "exact"]

MAX_COUNT = 2**31 - 1
"""A count that reaches this stays there."""

MAX_SCORE = 2**63 - 1
"""So does an exact score that reaches this."""


# ---- counting -------------------------------------------------------------------------


def update(cache: Cache, text: Sequence[int], n_new: int, n_min: int = 1, n_max: int = 4) -> None:
    """Count each of the last `n_new` tokens as a follower of the n-grams right before it."""
    for n in range(n_min, n_max + 1):
        for i in range(max(len(text) - n_new, n), len(text)):
            followers = cache.setdefault(tuple(text[i - n : i]), {})
            followers[text[i]] = min(followers.get(text[i], 0) + 1, MAX_COUNT)


def merge(into: Cache, other: Cache) -> None:
    """Add all counts of `other` to those of `into`."""
    for ngram, counts in other.items():
        followers = into.setdefault(ngram, {})
        for token, count in counts.items():
            followers[token] = min(followers.get(token, 0) + count, MAX_COUNT)


def count_bigrams(tokens: Iterable[int]) -> Cache:
    """The static cache of a corpus: the followers of its 2-grams alone."""
    text = [int(token) for token in tokens]
    cache: Cache = {}
    update(cache, text, len(text), n_min=2, n_max=2)
    return cache


# ---- judging one n-gram ---------------------------------------------------------------


def wrap_int32(product: int) -> int:
    """What is left of a product in 32 bits: llama.cpp's scores overflow like this."""
    return (product + 2**31) % 2**32 - 2**31


def visiting_order(followers: Followers) -> list[int]:
    """The order in which followers are looked at; of equal scores the first one wins."""
    return sorted(followers)


def weight_of(token: int, static_followers: Followers, factor: int, score: Score) -> int:
    """How much one count of a token is worth.

    The static cache speaks for those it knows: they weigh `factor` times their static count.
    All others weigh 1, and so does everyone where `factor` is 0.
    """
    weight = factor * static_followers.get(token, 0) or 1
    return wrap_int32(weight) if score == "int32" else weight


def give_scores(
    followers: Followers, static_followers: Followers, factor: int, score: Score
) -> list[Candidate]:
    """All followers in visiting order, each with count, weight and score."""
    candidates = []
    for token in visiting_order(followers):
        count = followers[token]
        weight = weight_of(token, static_followers, factor, score)
        product = count * weight
        product = wrap_int32(product) if score == "int32" else min(product, MAX_SCORE)
        candidates.append(Candidate(token, count, weight, product))
    return candidates


def as_counted(followers: Followers) -> list[Candidate]:
    """The same without weights: the score is the count."""
    return give_scores(followers, {}, 0, "exact")


def judge(
    cache: CacheName,
    n: int,
    candidates: list[Candidate],
    min_sum: int,
    min_percent: int,
    wrap_share: bool = False,
) -> Row:
    """Find the best follower of one n-gram, then test whether it may be drafted.

    The score finds the best one. The tests then use plain counts: was the n-gram seen often
    enough (F >= a_n), and does the best follower have a large enough share of that?
    """
    if not candidates:
        return Row(cache, n, "not seen", min_sum=min_sum, min_percent=min_percent)

    total = sum(c.count for c in candidates)
    best = max(candidates, key=lambda c: c.score)  # max keeps the first of equals
    found = best.score > 0  # False only where 32 bits overflowed
    share = 100 * best.count if found else 0
    if wrap_share:
        share = wrap_int32(share)
    needed = min_percent * total

    shown = sorted(candidates, key=lambda c: -c.score)[:MAX_CANDIDATES]  # equals keep their order
    return Row(
        cache,
        n,
        verdict_of(found, total >= min_sum, share >= needed),
        sum=total,
        min_sum=min_sum,
        share=share,
        needed=needed,
        min_percent=min_percent,
        best=best.token if found else None,
        best_count=best.count if found else 0,
        best_score=best.score if found else 0,
        n_followers=len(candidates),
        candidates=tuple(shown),
        rest_followers=len(candidates) - len(shown),
        rest_sum=total - sum(c.count for c in shown),
    )


def verdict_of(found: bool, often: bool, sure: bool) -> Verdict:
    """The outcome of both tests in words."""
    if not found:
        return "no score"
    if often:
        return "passes" if sure else "too split"
    return "too rare" if sure else "too rare and too split"


def show_weights(static_followers: Followers, factor: int, score: Score) -> Row:
    """A row for the reader: the static followers, each with the weight that it gives."""
    row = judge("static", 2, as_counted(static_followers), min_sum=0, min_percent=0)
    shown = [
        replace(c, weight=weight_of(c.token, static_followers, factor, score))
        for c in row.candidates
    ]
    return replace(row, candidates=tuple(shown))


# ---- the rule -------------------------------------------------------------------------


def draft_one(
    text: Sequence[int],
    context: Cache,
    dynamic: Cache | None = None,
    static: Cache | None = None,
    rule: Rule = LLAMA_CPP,
    score: Score = "exact",
) -> Step:
    """Run the rule once: draft the token to come after `text`, or nothing.

    Args:
        text: the text so far, at least two tokens, followed by the tokens drafted so far.
        context: counts of the text so far; drafted tokens are not counted.
        dynamic, static: the other caches; one that is None is passed over.
    """
    rows: list[Row] = []
    weights: Row | None = None

    def stop() -> Step:
        return Step(len(text), None, None, None, tuple(rows), weights)

    def drafted(row: Row) -> Step:
        return Step(len(text), row.best, row.cache, row.n, tuple(rows), weights)

    # What the corpus saw after the last two tokens, whichever n is tried below.
    static_followers: Followers = {}
    if static is not None:
        static_followers = static.get(tuple(text[-2:]), {})
        weights = show_weights(static_followers, rule.weight, score)

    # Context with lax thresholds; only if no n passed, dynamic with strict ones.
    turns: list[tuple[CacheName, Cache, Sequence[int], Sequence[int]]] = []
    if rule.use_context:
        turns.append(("context", context, rule.context_sum, rule.context_percent))
    if dynamic is not None:
        turns.append(("dynamic", dynamic, rule.dynamic_sum, rule.dynamic_percent))

    for name, cache, min_sums, min_percents in turns:
        a, p = (0, *min_sums), (0, *min_percents)  # so that a[n] is the a_n of this cache
        for n in range(rule.n_max, rule.n_min - 1, -1):  # the longest n-gram goes first
            if len(text) < n:
                rows.append(Row(name, n, "too short", min_sum=a[n], min_percent=p[n]))
                continue
            followers = cache.get(tuple(text[-n:]), {})
            candidates = give_scores(followers, static_followers, rule.weight, score)
            row = judge(name, n, candidates, a[n], p[n])
            rows.append(row)
            if row.passes:
                return drafted(row)

    # The static cache alone, as a last resort.
    if static is not None:
        candidates = as_counted(static_followers)
        wrap_share = score == "int32"
        row = judge("static", 2, candidates, rule.static_sum, rule.static_percent, wrap_share)
        rows.append(row)
        if row.passes:
            return drafted(row)
    return stop()


# ---- drafting in a text that grows ----------------------------------------------------


class Drafter:
    """Drafts for one text at a time, and remembers finished texts in the dynamic cache.

    Args:
        rule: thresholds and weight.
        static: a cache of 2-grams, only read; None if there is none.
        dynamic: counts of earlier texts, to which `reset` adds; None keeps none.
        score: "exact", or "int32" to overflow as llama.cpp does.

    >>> drafter = Drafter()
    >>> drafter.feed([1, 2, 3, 4, 1, 2, 3])
    >>> drafter.draft(4)
    [4, 1, 2, 3]
    """

    def __init__(
        self,
        rule: Rule = LLAMA_CPP,
        static: Cache | None = None,
        dynamic: Cache | None = None,
        score: Score = "exact",
    ) -> None:
        self.rule, self.static, self.dynamic, self.score = rule, static, dynamic, score
        self.text: list[int] = []
        self.context: Cache = {}

    @property
    def length(self) -> int:
        """How many tokens the text has."""
        return len(self.text)

    def feed(self, tokens: Iterable[int]) -> None:
        """Append tokens to the text and count them, one by one."""
        for token in tokens:
            self.text.append(int(token))
            update(self.context, self.text, 1)

    def step(self, n: int) -> tuple[Step, ...]:
        """Draft up to n tokens; one record per run of the rule, the last may have stopped.

        Before two tokens the rule is not run.
        """
        steps: list[Step] = []
        text = list(self.text)
        if len(text) < 2:
            return ()
        while len(steps) < n:
            step = draft_one(text, self.context, self.dynamic, self.static, self.rule, self.score)
            steps.append(step)
            if step.token is None or step.token == self.rule.eos:
                break
            text.append(step.token)
        return tuple(steps)

    def draft(self, n: int) -> list[int]:
        """Draft up to n tokens."""
        return [step.token for step in self.step(n) if step.token is not None]

    def rewind(self, length: int) -> None:
        """Take back all tokens after the first `length`, as if they were never fed."""
        if not 0 <= length <= self.length:
            raise InputError(f"cannot rewind to {length} tokens: the text has {self.length}")
        kept = self.text[:length]
        self.text, self.context = [], {}
        self.feed(kept)

    def reset(self) -> None:
        """End the text: add its counts to the dynamic cache, then start an empty text."""
        if self.dynamic is not None:
            merge(self.dynamic, self.context)
        self.text, self.context = [], {}


# ---- replaying a text as if a model said it -------------------------------------------


@dataclass(frozen=True)
class Replayed:
    """What a replay drafted, call by call, and its totals."""

    drafts: list[list[int]]
    n_accept: int
    n_replayed: int
    n_left_out: int

    @property
    def n_calls(self) -> int:
        return len(self.drafts)

    @property
    def n_drafted(self) -> int:
        return sum(len(draft) for draft in self.drafts)


def replay(
    tokens: Iterable[int],
    rule: Rule = LLAMA_CPP,
    static: Cache | None = None,
    dynamic: Cache | None = None,
    n_ctx: int = 4096,
    n_draft: int = 8,
    tail: Literal["keep", "drop"] = "keep",
    score: Score = "exact",
) -> Replayed:
    """Replay a text in chunks of `n_ctx` tokens, as llama.cpp's lookup-stats does.

    "drop" leaves out the last chunk and lets drafts run past the end of a chunk, as
    llama.cpp does; "keep" does neither.

    Raises:
        InputError: the text is so short that nothing would be replayed.
    """
    text = [int(token) for token in tokens]
    if len(text) <= (n_ctx if tail == "drop" else 1):
        hint = "; use a smaller n_ctx or tail='keep'" if tail == "drop" else ""
        raise InputError(f"a text of {len(text)} tokens replays nothing{hint}")
    end = len(text) - n_ctx if tail == "drop" else len(text)

    drafter = Drafter(rule, static, {} if dynamic is None else dynamic, score)
    drafts: list[list[int]] = []
    n_accept = n_replayed = 0
    for start in range(0, end, n_ctx):
        chunk = text[start : start + n_ctx]
        drafter.feed(chunk[:1])
        while drafter.length < len(chunk):
            left = len(chunk) - drafter.length
            draft = drafter.draft(n_draft if tail == "drop" else min(n_draft, left))
            drafts.append(draft)
            for guess in draft[:left]:
                if guess != chunk[drafter.length]:
                    break
                drafter.feed([guess])
                n_accept += 1
            drafter.feed(chunk[drafter.length :][:1])  # the one token that the model gives
        n_replayed += len(chunk)
        drafter.reset()

    return Replayed(drafts, n_accept, n_replayed, len(text) - n_replayed)
