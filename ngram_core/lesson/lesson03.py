"""Lesson 03, stop copying: its question and its exercises."""

from __future__ import annotations

import re

from ..errors import InputError
from .copying import allocations_to_copy, copies
from .experiment import Experiment
from .findings import Result, microseconds, results, times
from .predict import Answer, Question, Task, whole_numbers


def _allocations() -> str:
    _followers, allocations = allocations_to_copy("the")
    return str(allocations)


ALLOCATIONS = Question(
    "In the recipe “the” has 12 different followers. llama.cpp copies them, hash map and all,"
    " before it looks at them. How many allocations does that one copy take?",
    ("1", "12", "13"),
    _allocations,
    "the allocator",
    "A hash map is a node for each follower and one array of buckets: 12 + 1.",
    {
        "1": "That would be so for an array. The nodes of a hash map lie apart.",
        "12": "The nodes are 12. They hang in buckets, which are an array of their own.",
    },
)


# ---- the easy one: what is copied at word 86 -----------------------------------------------

_CACHES = ("context", "dynamic", "static")


def _check_word_86(typed: str) -> Answer:
    try:
        given = whole_numbers(typed, 3)
    except InputError as error:
        return Answer(False, f"{error} Write them as in: 5 3 1")
    call = copies().at(86)
    for cache, number in zip(_CACHES, given, strict=True):
        rows = [copy for copy in call.copies if copy.cache == cache]
        right = sum(copy.followers for copy in rows)
        if number != right:
            sizes = " and ".join(f"n = {n}" for n in sorted({copy.n for copy in rows}))
            why = "; it is asked twice" if cache == "static" else ""
            return Answer(False, f"Not yet: {cache} is not {number}. Look at {sizes}{why}.")
    told = ", ".join(f"{copy.cache} n = {copy.n}: {copy.followers}" for copy in call.copies)
    return Answer(True, f"{told}. In all {call.copied} copied, and nothing drafted.")


WORD_86 = Task(
    "How many followers are copied at word 86, from the context, the dynamic and the static cache?"
    " Each n-gram that is found is copied whole; the static 2-gram is copied for its weights, and"
    " once more when nothing else has passed.",
    "Three numbers",
    _check_word_86,
)


# ---- the thinking one: from copies to time -------------------------------------------------

_STATIC, _OTHER, _NS = 893, 42, 45


def time_of_copies(x: Experiment) -> Task:
    """Copies turned into time; the reply sets the reader's own ratio beside it."""
    return Task(
        "On another machine we counted: upstream, with a static cache from 541 MB of C, copies"
        f" {_STATIC} followers from it and {_OTHER} from the other caches for each drafted token."
        f" Copying one costs about {_NS} ns there, allocation included. How many µs a drafted token"
        " is that?",
        "µs",
        lambda typed: _check_time(typed, x),
        level="thinking",
    )


def _check_time(typed: str, x: Experiment) -> Answer:
    number = typed.replace("µs", "").strip()
    if re.fullmatch(r"\d{1,3}(,\d{3})+", number):  # as in 42,000
        number = number.replace(",", "")
    try:
        given = float(number.replace(",", "."))
    except ValueError:
        return Answer(False, "This needs a number of microseconds.")
    right = (_STATIC + _OTHER) * _NS / 1000
    if abs(given - right) > 0.6:
        hint = "1 µs is 1,000 ns." if given > 10 * right else f"({_STATIC} + {_OTHER}) × {_NS} ns."
        return Answer(False, f"Not {given:g}. Multiply: {hint}")
    return Answer(
        True,
        f"{right:.0f} µs, and 45 were measured: nearly all of the time is copying."
        f" {_own_ratio(results(x))}",
    )


def _own_ratio(rows: list[Result]) -> str:
    """What the reader's machine says, with the biggest corpus on which both stages ran."""
    for row in reversed(rows):
        slow = next(
            (r for r in rows if r.corpus_mb == row.corpus_mb and r.stage == "upstream"), None
        )
        if row.stage == "nocopy" and row.times_faster and slow:
            corpus = f"with {row.corpus_mb} MB of corpus" if row.corpus_mb else "with no corpus"
            return (
                f"Here, {corpus}, upstream takes {microseconds(slow.median_ns)} µs and nocopy"
                f" {microseconds(row.median_ns)}: {times(row.times_faster)} times."
            )
    return "Run both stages above, and your own ratio stands here."
