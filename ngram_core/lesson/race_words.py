"""A race in words: what the board, the table and `describe` say, read off its own figures.

A sentence is a list of strings and of pairs ["b", text], which is text to stress.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ..published import PUBLISHED, Published
from ..racing import RaceResult, SizeFigures, StageFigures
from .figures import plural
from .findings import microseconds, times
from .live_race import LiveRace

Words = list[Any]

HEADLINE_MB = 541
"""The published corpus that the article's factors are of."""

# ---- sentence -----------------------------------------------------------------------------


def sentence(x: LiveRace) -> Words:
    """What is going on and what it shows, in one or two sentences."""
    if x.state == "failed":
        return [["b", "It did not work: "], f"{x.error}."]
    size = widest(x.result)
    if size is None:
        return _invitation(x)
    head, (first, *rest) = _HEADS[x.state], headline(size)
    return [head + first if head else first[:1].upper() + first[1:], *rest]


_HEADS = {
    "ready": "",
    "preparing": "",
    "running": "So far ",
    "paused": "Paused. So far ",
    "stopped": "Stopped. Up to there ",
    "done": "",
}


def _invitation(x: LiveRace) -> Words:
    chosen = x.choice if x.state in ("ready", "stopped") or x.raced is None else x.raced
    n_stages = len(chosen.stages)
    who = f"{plural(n_stages, 'stage')} will race" if x.state == "ready" else "The race is"
    along = f" along {chosen.text_tokens:,} tokens, {_corpora(chosen.sizes)}"
    runs = f": {x.n_planned} runs" if x.state == "ready" else ""
    go = ["Press Start: "] if x.state == "ready" else []
    return [*go, ["b", who], f"{along}{runs}."]


def _corpora(sizes: tuple[int, ...]) -> str:
    if sizes == (0,):
        return "without a static cache"
    some = " and ".join(f"{size} MB" for size in sizes if size)
    return f"without a static cache and with one from {some} of corpus"


def widest(result: RaceResult | None) -> SizeFigures | None:
    """The figures with the largest corpus in which the first and another stage have a time."""
    if result is None:
        return None
    return next((size for size in reversed(result.sizes) if len(_timed(size)) > 1), None)


def _timed(size: SizeFigures) -> list[StageFigures]:
    return [f for f in size.stages if f.ns_per_drafted is not None and not f.again]


def headline(size: SizeFigures) -> Words:
    """The last stage against the first one."""
    first, last = _timed(size)[0], _timed(size)[-1]
    assert first.ns_per_drafted is not None
    assert last.ns_per_drafted is not None
    ratio = first.ns_per_drafted.median / last.ns_per_drafted.median
    return [
        f"{with_corpus(size.size_mb)} ",
        ["b", last.name],
        f" takes {microseconds(last.ns_per_drafted.median)} µs for a drafted token where ",
        ["b", first.name],
        f" takes {microseconds(first.ns_per_drafted.median)}: ",
        ["b", f"{factor(ratio)}{', within the noise' if cannot_tell(size, first, last) else ''}"],
        ".",
    ]


def cannot_tell(size: SizeFigures, one: StageFigures, other: StageFigures) -> bool:
    """Whether two stages are apart by no more than the A/A run is, or have runs that overlap.

    One run alone has no spread, and tells nothing.
    """
    a, b = one.ns_per_drafted, other.ns_per_drafted
    if a is None or b is None or min(a.n, b.n) < 2:
        return True
    return size.is_noise(a.median / b.median) or max(a.low, b.low) <= min(a.high, b.high)


def factor(ratio: float) -> str:
    """ "4.5 times faster" or "1.3 times slower"."""
    word = "faster" if ratio >= 1 else "slower"
    return f"{ratio_words(max(ratio, 1 / ratio))} times {word}"


def ratio_words(ratio: float) -> str:
    """ "1.07", "0.93", "4.5" or "26": near 1 the second decimal counts."""
    return f"{ratio:.2f}" if ratio < 1.995 else times(ratio)


def with_corpus(size_mb: float) -> str:
    return f"with {size_mb:g} MB of corpus" if size_mb else "without a static cache"


def corpus_name(size_mb: float) -> str:
    return f"{size_mb:g} MB" if size_mb else "none"


# ---- light ----------------------------------------------------------------------------------


def light(result: RaceResult | None) -> tuple[str, str, str]:
    """Kind ("none", "same" or "other"), headline, and what stands behind it."""
    compared = [] if result is None else [s for s in result.sizes if _n_checksums(s) > 1]
    if result is None or not compared:
        return (
            "none",
            "Not compared yet.",
            "Each run gives a checksum of all that it drafted; two runs can be compared.",
        )
    other = [size for size in compared if size.other_drafts]
    if other:
        return "other", "Other drafts.", " ".join(_other(size) for size in other)
    told = "; ".join(
        f"{with_corpus(size.size_mb)} {size.stages[0].n_drafted:,} tokens,"
        f" checksum {size.stages[0].checksums[0]}"
        for size in compared
    )
    runs = sum(_n_checksums(size) for size in compared)
    return "same", "Same drafts.", f"All {runs} runs of a corpus drafted the same: {told}."


def _n_checksums(size: SizeFigures) -> int:
    return sum(figures.ns_per_replayed.n for figures in size.stages)


def _other(size: SizeFigures) -> str:
    first = size.stages[0]
    others = ", ".join(
        f"{name} ({'/'.join(size.stage(name).checksums)})" for name in size.other_drafts
    )
    corpus = with_corpus(size.size_mb)
    return (
        f"{corpus[:1].upper()}{corpus[1:]} {first.name} drafted {first.n_drafted:,} tokens"
        f" ({first.checksums[0]}), others drafted otherwise: {others}."
    )


# ---- what it shows, beside the article ---------------------------------------------------------


def notes(x: LiveRace) -> list[str]:
    """What else there is to say: noise, steps, the article, and what was left out."""
    result = x.result
    size = widest(result)
    if result is None or size is None:
        return []
    told = [noise_words(size), steps_words(size)]
    if result.complete:
        told += [article_words(result, size), *load_words(size)]
    for left in result.left_out:
        told.append(f"Left out: {_left_out(left.size_mb, left.stage)}: {left.why}.")
    if not result.complete and x.state in ("stopped", "failed"):
        told.append(f"It was stopped after {result.n_runs} of {x.n_planned} runs.")
    return [words for words in told if words]


def _left_out(size_mb: float, stage: str | None) -> str:
    return corpus_name(size_mb) + (f", {stage}" if stage else "")


def noise_words(size: SizeFigures) -> str:
    """The A/A run, and what can no longer be claimed for it."""
    noise = size.noise
    if noise is None:
        return ""
    name = size.stages[0].stage
    limit = 1 + noise.spread_pct / 100
    return (
        f"Noise: {name} raced against itself; its two medians are {noise.apart_pct:.1f} % apart,"
        f" its slowest run took {limit:.2f} times as long as its fastest. A factor below"
        f" {limit:.2f} says nothing here, nor one of two stages whose runs overlap."
    )


@dataclass(frozen=True)
class Step:
    """One stage against the one before: how many times faster, here and published."""

    stage: str
    before: str
    ratio: float
    low: float  #: its slowest run against the fastest one of the stage before
    high: float
    noise: bool
    published: float | None  #: with 541 MB


def steps(size: SizeFigures) -> list[Step]:
    """All steps that have both times."""
    made = []
    for before, after in pairwise(_timed(size)):
        a, b = before.ns_per_drafted, after.ns_per_drafted
        assert a is not None
        assert b is not None
        ratio = a.median / b.median
        made.append(
            Step(
                after.stage,
                before.stage,
                ratio,
                a.low / b.high,
                a.high / b.low,
                cannot_tell(size, before, after),
                published_step(before.stage, after.stage),
            )
        )
    return made


def published_step(before: str, after: str, size_mb: int = HEADLINE_MB) -> float | None:
    """The same factor in the published table; None for a stage that is not in it."""
    a, b = published(before, size_mb), published(after, size_mb)
    return None if a is None or b is None else a.us_per_drafted / b.us_per_drafted


def published(stage: str, size_mb: float) -> Published | None:
    """The published line of a stage with a corpus."""
    return next(
        (line for line in PUBLISHED if (line.stage, line.corpus_mb) == (stage, size_mb)), None
    )


def steps_words(size: SizeFigures) -> str:
    """Each step, and whether it can be told from noise."""
    made = steps(size)
    if not made:
        return ""
    told = ", ".join(
        f"{step.stage} {ratio_words(step.ratio)}{' (within the noise)' if step.noise else ''}"
        for step in made
    )
    single = all(figures.ns_per_replayed.n < 2 for figures in size.stages)
    lone = " One run has no spread: take more, and some may show." if single else ""
    return (
        f"Each step, times faster than the one before, {with_corpus(size.size_mb)}: {told}.{lone}"
    )


def article_words(result: RaceResult, size: SizeFigures) -> str:
    """The largest step here and there, and the steps of the article that do not show here."""
    known = [step for step in steps(size) if step.published is not None]
    if not known:
        return ""
    here = max(known, key=lambda step: step.ratio)
    there = max(known, key=lambda step: step.published or 0.0)
    said = (
        f"The largest step here is {here.stage}, {ratio_words(here.ratio)} times; in the article,"
        f" with {HEADLINE_MB} MB, it is {there.stage}, {ratio_words(there.published or 0.0)} times."
    )
    return " ".join([said, *_missing(size, known), *_shorter(size, there)])


def _missing(size: SizeFigures, known: list[Step]) -> Iterator[str]:
    gone = [step for step in known if step.noise or step.ratio < 1]
    if gone:
        named = ", ".join(f"{s.stage} ({ratio_words(s.published or 0.0)})" for s in gone)
        yield (
            f"Of the article's factors {named} cannot be seen here:"
            f" {'it is' if len(gone) == 1 else 'they are'} too small for this noise, or this"
            " machine has another cache and another compiler than its M4 Pro."
        )


def _shorter(size: SizeFigures, there: Step) -> Iterator[str]:
    here = next((s for s in steps(size) if s.stage == there.stage), None)
    much = there.published or 0.0
    if here and here.stage == "nocopy" and size.size_mb < HEADLINE_MB and here.ratio < much:
        yield (
            f"That nocopy gives {ratio_words(here.ratio)} and not {ratio_words(much)} is the"
            " corpus: a smaller one has shorter lists of followers, and a copy costs as much as"
            " its list is long."
        )


def load_words(size: SizeFigures) -> Iterator[str]:
    """Loading: constmap's factor here and there."""
    loads = {f.stage: f.load.warm_ns.median for f in size.stages if f.load and not f.again}
    a, b = published("innervector", HEADLINE_MB), published("constmap", HEADLINE_MB)
    if not {"innervector", "constmap"} <= loads.keys() or not a or not b:
        return
    assert a.load_ms is not None
    assert b.load_ms is not None
    here, there = loads["innervector"] / loads["constmap"], a.load_ms / b.load_ms
    said = (
        f"Loading: constmap opens its file in {milliseconds(loads['constmap'])} ms where"
        f" innervector takes {milliseconds(loads['innervector'])}: {ratio_words(here)} times;"
        f" published with {HEADLINE_MB} MB: {ratio_words(there)}."
    )
    if here < there:
        said += (
            " Two things make it less here: our innervector fills its arrays faster than the"
            " article's, so there was less to gain; and a good part of opening a constmap is a"
            " checksum over its map, byte after byte, which no machine can hurry."
        )
    yield said


def milliseconds(ns: float | None) -> str:
    """ns as ms with three digits that count; a dash for None."""
    return microseconds(None if ns is None else ns / 1000)


# ---- all of it ---------------------------------------------------------------------------------


def describe(x: LiveRace) -> str:
    """The race in plain text: sentence, light, notes, one line for each stage and size."""
    _kind, head, body = light(x.result)
    said = "".join(part if isinstance(part, str) else part[1] for part in sentence(x))
    lines = [said, f"{head} {body}", *notes(x)]
    for size in x.result.sizes if x.result else ():
        for figures in size.stages:
            lines.append(f"  corpus {corpus_name(size.size_mb)}, {_line(figures)}")
    return "\n".join(lines)


def _line(figures: StageFigures) -> str:
    spread, load = figures.ns_per_drafted, figures.load
    took = (
        f"{microseconds(spread.median)} µs a drafted token"
        f" ({microseconds(spread.low)} to {microseconds(spread.high)}, {plural(spread.n, 'run')})"
        if spread
        else "nothing drafted"
    )
    calls = (
        f"a call {microseconds(figures.calls.p50_ns.median)} µs in the middle,"
        f" 99 of 100 within {microseconds(figures.calls.p99_ns.median)}"
    )
    loaded = f", loaded in {milliseconds(load.warm_ns.median)} ms" if load else ""
    return f"{figures.name}: {took}; {calls}{loaded}"
