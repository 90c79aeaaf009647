"""Lesson 09, the race: its questions, its small races that go wrong, and its exercises."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..errors import InputError
from ..published import FIRST_RUN_CONSTMAP_US, PUBLISHED, Published
from ..racing import RaceResult, SizeFigures, race
from ..toggles import STAGES, Stage
from .findings import microseconds, times
from .live_race import LiveRace
from .predict import Answer, Question, Task
from .race_words import (
    HEADLINE_MB,
    cannot_tell,
    factor,
    light,
    noise_words,
    published,
    published_step,
    ratio_words,
    steps_words,
    with_corpus,
)


def _published(stage: str) -> Published:
    line = published(stage, HEADLINE_MB)
    assert line is not None
    return line


# ---- prediction ------------------------------------------------------------------------------

_CHANGES = {
    "nocopy": "read in place",
    "outermap": "a flat table",
    "innervector": "followers in order",
    "constmap": "a map that never changes",
    "precheck": "check first",
}


def _largest_step() -> str:
    named = [line.stage for line in PUBLISHED if line.corpus_mb == HEADLINE_MB]
    factors = {b: published_step(a, b) or 0.0 for a, b in pairwise(named)}
    return _CHANGES[max(factors, key=lambda stage: factors[stage])]


def _all_steps() -> str:
    named = [line.stage for line in PUBLISHED if line.corpus_mb == HEADLINE_MB]
    return ", ".join(
        f"{_CHANGES[b]} {ratio_words(published_step(a, b) or 0.0)}" for a, b in pairwise(named)
    )


LARGEST = Question(
    f"Each change of the article is measured against the one before it. With {HEADLINE_MB} MB of"
    " corpus, which gave the largest factor in time per drafted token?",
    tuple(_CHANGES.values()),
    _largest_step,
    "the published table",
    f"All of them: {_all_steps()} times. Your own race comes below.",
    {
        "a map that never changes": "That one is largest in loading, another factor altogether.",
        "check first": "It is the second largest.",
    },
)


# ---- races that go wrong ---------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """A small race and what it says, as one text to print."""

    result: RaceResult
    text: str

    def __str__(self) -> str:
        return self.text


def one_run_each(n_runs: int = 4, text_tokens: int = 5_000) -> Said:
    """One stage against itself, a run each: what a race without spread would report."""
    result = race(["upstream"], sizes=[0], runs=n_runs, text_tokens=text_tokens)
    size = result.sizes[0]
    first, again = (
        size.stage("upstream").ns_per_drafted,
        size.stage("upstream again").ns_per_drafted,
    )
    noise = size.noise
    assert first is not None
    assert again is not None
    assert noise is not None
    low, high = min(first.low, again.low), max(first.high, again.high)
    return Said(
        result,
        f"upstream, {2 * n_runs} runs of {result.text_tokens:,} tokens:"
        f" {microseconds(low)} to {microseconds(high)} µs a drafted token.\n"
        f"Take the luckiest and the unluckiest run, and upstream is"
        f" {ratio_words(high / low)} times faster than upstream.\n"
        f"Medians of {n_runs} and {n_runs} runs, in turn: {microseconds(first.median)} and"
        f" {microseconds(again.median)}, {noise.apart_pct:.1f} % apart.",
    )


def tiny_race(text_tokens: int = 1_000) -> Said:
    """All stages on a text so short that noise decides."""
    result = race("all", sizes=[0], runs=2, text_tokens=text_tokens)
    size = result.sizes[0]
    return Said(
        result,
        f"{result.text_tokens:,} tokens, two runs of each stage.\n"
        f"{noise_words(size)}\n{steps_words(size)}",
    )


def other_drafts() -> Said:
    """One stage with scores of 32 bits and with exact ones, on counts that are too large.

    A score is a count times 100 times a static count. Here the text says "a b c" four times of
    five, and the corpus says so 48,000 times, and "a b e" 72,000 times: 32 bits hold no such
    score, the sum wraps round below zero, and c is passed over.
    """
    a, b, c, d, e = range(5)
    corpus = np.tile(np.array([a, b, c] * 2 + [a, b, e] * 3, np.int32), 24_000)
    text = np.tile(np.array([a, b, c] * 4 + [a, b, d], np.int32), 250)
    base = STAGES["constmap"].toggles
    small = Stage("int32", base.set(score="int32"), "scores of 32 bits")
    exact = Stage("exact", base.set(score="exact"), "exact scores")
    mb = 4 * len(corpus) / 1e6
    result = race([small, exact], corpus, text, sizes=[mb], runs=1, score=None)
    _kind, head, body = light(result)
    size = result.sizes[0]
    shares = ", ".join(
        f"{one.name} {one.n_accept:,} of {one.n_drafted:,}" for one in size.stages if not one.again
    )
    return Said(result, f"{head} {body}\nAccepted: {shares}.")


# ---- the easy one: denominators -----------------------------------------------------------------


def _check_denominators(typed: str) -> Answer:
    found = re.findall(r"\d+(?:[.,]\d+)*", typed)
    if len(found) != 3:
        return Answer(False, "This needs three numbers. Write them as in: 1.5 2.5 900")
    given = [_number(word) for word in found]
    named = ("42", "140", "2.6")
    right = (
        FIRST_RUN_CONSTMAP_US,
        _published("precheck").us_per_drafted,
        float(_published("precheck").peak_mb),
    )
    top = _published("upstream")
    over = (top.us_per_drafted, top.us_per_drafted, float(top.peak_mb))
    for name, number, wanted, numerator in zip(named, given, right, over, strict=True):
        if number and abs(number - wanted) <= 0.002 * wanted:
            continue
        if not number:
            return Answer(False, f"Nothing can be divided by 0, and not {name}.")
        why = f"{numerator:g} / {number:g} is {numerator / number:.1f}, not {name}."
        if number == _published("constmap").us_per_drafted:
            why += " That one is of the later session; the 42 is of the first."
        return Answer(False, f"Not yet: {why}")
    return Answer(
        True,
        f"{over[0]:g} / {right[0]:g} = {times(over[0] / right[0])};"
        f" {over[1]:g} / {right[1]:g} = {times(over[1] / right[1])};"
        f" {over[2]:,.0f} / {right[2]:,.0f} = {times(over[2] / right[2])}: one numerator for the"
        " times, another for the memory, and three denominators.",
    )


def _number(word: str) -> float:
    """ "1,312" is a thousand, "3,98" is not."""
    if re.fullmatch(r"\d{1,3}(,\d{3})+", word):
        word = word.replace(",", "")
    try:
        return float(word.replace(",", "."))
    except ValueError:
        return 0.0


DENOMINATORS = Task(
    "42 times faster, 140 times faster, 2.6 times less memory at the peak: all three are true of"
    " 541 MB. What does each divide by? Look into the table above.",
    "Three numbers: µs, µs, MB",
    _check_denominators,
)


# ---- the thinking one: is outermap faster here? ---------------------------------------------

_FAST, _SLOW = "outermap", "nocopy"
_WORDS = ("yes", "no", "cannot tell")


def is_it_faster(x: LiveRace) -> Task:
    """A judgement on the reader's own figures; with none, it says what to do."""
    return Task(
        f"By your own race: is {_FAST} faster than {_SLOW}, with the largest corpus you raced?"
        " Type yes, no, or cannot tell. You are judged by the A/A run and by the spread.",
        "yes, no, or cannot tell",
        lambda typed: _check_faster(typed, x),
        level="thinking",
    )


def _check_faster(typed: str, x: LiveRace) -> Answer:
    said = re.sub(r"[^a-z ]", "", typed.lower().replace("can't", "cannot")).strip()
    said = {"can not tell": "cannot tell", "no telling": "cannot tell"}.get(said, said)
    if said not in _WORDS:
        return Answer(False, "Type yes, no, or cannot tell.")
    try:
        size = _raced(x)
    except InputError as error:
        return Answer(False, str(error))
    fast, slow = size.stage(_FAST), size.stage(_SLOW)
    right, ratio = _judged(size), size.times_faster(_FAST, _SLOW)
    assert ratio is not None
    a, b = slow.ns_per_drafted, fast.ns_per_drafted
    assert a is not None
    assert b is not None
    why = (
        f"{with_corpus(size.size_mb)} {_SLOW} took {microseconds(a.low)} to {microseconds(a.high)}"
        f" µs, {_FAST} {microseconds(b.low)} to {microseconds(b.high)}; the medians say"
        f" {factor(ratio)}. {noise_words(size)}"
    )
    why = why[:1].upper() + why[1:]
    if said == right:
        more = " More runs or a longer text might tell." if right == "cannot tell" else ""
        return Answer(True, f"{said.capitalize()}. {why}{more}")
    return Answer(False, f"Not {said}: look again. {why}")


def judged(x: LiveRace) -> str:
    """The right answer: "yes", "no" or "cannot tell".

    Raises:
        InputError: the two stages were not raced yet.
    """
    return _judged(_raced(x))


def _judged(size: SizeFigures) -> str:
    fast, slow = size.stage(_FAST), size.stage(_SLOW)
    if cannot_tell(size, slow, fast):
        return "cannot tell"
    return "yes" if (size.times_faster(_FAST, _SLOW) or 0.0) > 1 else "no"


def _raced(x: LiveRace) -> SizeFigures:
    """The largest corpus on which both have run, in the latest race that has it.

    Raises:
        InputError: there is none.
    """
    for result in reversed(x.results):
        for size in reversed(result.sizes):
            timed = {f.name for f in size.stages if f.ns_per_drafted is not None}
            if {_FAST, _SLOW} <= timed and size.noise is not None:
                return size
    raise InputError(f"Race {_SLOW} and {_FAST} above first: press Start and wait for the end.")
