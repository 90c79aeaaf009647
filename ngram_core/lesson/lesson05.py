"""Lesson 05, followers in order: its question, what it prints, and its exercises."""

from __future__ import annotations

import re

from ..errors import InputError
from ..published import LONGEST_FOLLOWERS
from ..tokenizers import get_tokenizer
from .examples import RECIPE
from .followers.curve import PUBLISHED
from .followers.order import drafts_either_way, long_lists, saved_and_loaded
from .followers.room import Both, both, first_piece_sizes
from .predict import Answer, Question, Task, whole_numbers


def _bytes_asked() -> str:
    return str(sum(first_piece_sizes()))


def _why() -> str:
    node, buckets, follower = first_piece_sizes()
    return (
        f"In three pieces: {node} for the 2-gram’s node, {buckets} for the 13 buckets of a map of"
        f" its own, {follower} for the follower’s node."
    )


BYTES = Question(
    "A 2-gram is seen for the first time, so it has one follower: a token and a count, 8 bytes of"
    " news. How many bytes does a map in a map ask for?",
    ("24", "80", "208"),
    _bytes_asked,
    "the allocator",
    _why(),
    {
        "24": "That is about what the follower’s node takes by itself.",
        "80": "Each map has buckets of its own, and begins with 13.",
    },
)


def in_bytes(text: str = RECIPE) -> Both:
    """A text's 2-grams, in words, in both structures."""
    return both(get_tokenizer("words").encode(text).tolist())


def same_cache_twice() -> None:
    """Prints what word 48 drafts from one cache: built, and saved and loaded."""
    for drafted in saved_and_loaded():
        print(drafted)


def falling() -> None:
    """Prints how long it takes to count the longest published list, in two orders."""
    for row in long_lists(LONGEST_FOLLOWERS):
        print(
            f"{LONGEST_FOLLOWERS:,} followers with {row.how}: {row.maps_ms:.0f} ms as a map,"
            f" {row.arrays_ms:.0f} ms as an array, in which pairs moved {row.moves:,} times"
        )
    print("(medians of 5 runs, measured here)")


# ---- the easy one: the share with few followers ----------------------------------------------

_FEW = 4


def _check_share(typed: str) -> Answer:
    found = re.findall(r"\d+(?:[.,]\d+)?", typed)
    if len(found) != 1:
        return Answer(False, "This needs one number, in per cent.")
    given = float(found[0].replace(",", "."))
    right = 100 * PUBLISHED.up_to(_FEW) / PUBLISHED.total
    if abs(given - right) <= 0.15:
        return Answer(
            True,
            f"{PUBLISHED.up_to(_FEW):,} of {PUBLISHED.total:,}: {right:.1f} %. An array for them"
            " takes 32 bytes at most, and fits into one line of the processor’s cache.",
        )
    exactly = 100 * PUBLISHED.counts[_FEW - 1] / PUBLISHED.total
    if abs(given - exactly) <= 0.15:
        return Answer(False, f"That many have exactly {_FEW}. Those with 1, 2 and 3 count, too.")
    where = "more" if given < right else "fewer"
    return Answer(False, f"Not {given:g} %: it is {where}. Add the shares for 1 to {_FEW}.")


WITH_FOUR = Task(
    f"How many per cent of the published 2-grams have at most {_FEW} followers? The curve above"
    " says so, and its table has the figures.",
    "Per cent",
    _check_share,
)


# ---- the thinking one: a tie that matters ----------------------------------------------------

_MOST = 40


def _check_tie(typed: str) -> Answer:
    try:
        one, static_one, other, static_other = whole_numbers(typed, 4)
    except InputError as error:
        return Answer(False, f"{error} Write them as in: 5 1 3 0")
    if min(one, other) < 1 or min(static_one, static_other) < 0:
        return Answer(False, "A follower was seen at least once; a static count may be 0.")
    if max(one, other, static_one, static_other) > _MOST:
        return Answer(False, f"Small numbers will do: {_MOST} at most.")
    scores = [
        count * (100 * static if static else 1)
        for count, static in ((one, static_one), (other, static_other))
    ]
    if scores[0] != scores[1]:
        return Answer(
            False,
            f"No tie: the one scores {scores[0]:,}, the other {scores[1]:,}. A score is the count"
            " times 100 times the static count.",
        )
    first, second = drafts_either_way((one, other), (static_one, static_other))
    orders = (
        f"Both score {scores[0]:,}. If the one has the smaller id, {first}; if the other has it,"
        f" {second}."
    )
    if sum(said.endswith("from dynamic") for said in (first, second)) == 1:
        return Answer(True, f"{orders} One of them passes 66 %, and the other does not.")
    return Answer(
        False,
        f"{orders} But dynamic lets neither pass: make the plain counts less equal, and let the"
        " static counts even out the scores.",
    )


A_TIE = Task(
    "Find a tie that decides. One 2-gram has two followers in the dynamic cache (n = 2: at least 3"
    " sightings, 66 %). Give both a count and a static count, so that their scores are equal, and"
    " only one of them would pass.",
    "Count and static count of the one, then of the other",
    _check_tie,
    level="thinking",
)
