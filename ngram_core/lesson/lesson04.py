"""Lesson 04, a flat table: its question, what it prints, and its exercises."""

from __future__ import annotations

import re
import time
from itertools import permutations
from statistics import median

import numpy as np

from .. import corpora
from ..caches import NgramCache
from ..errors import InputError
from ..inside import table_report
from ..toggles import Hash, Toggles
from ..tokenizers import get_tokenizer
from .examples import RECIPE
from .material import MEGABYTE
from .predict import Answer, Question, Task, whole_numbers
from .tables.growth import Peak, peaks, places_at_peak
from .tables.lookup import CHAINED, FLAT, Tables, tables

RECIPE_NGRAMS = 272


def _at_last_growth() -> str:
    return str(places_at_peak(RECIPE_NGRAMS))


PLACES = Question(
    f"A flat table keeps its entries in one array. When it is full, it takes one twice as long,"
    f" copies, and gives the old one back. The recipe has {RECIPE_NGRAMS} n-grams. How many places"
    " for entries are there at the same time, at the last growth?",
    ("272", "512", "768"),
    _at_last_growth,
    "the allocator",
    "256 in the old array and 512 in the new one: until everything is copied, both are there.",
    {
        "272": "An array is never just as long as what is in it, unless one knows that beforehand.",
        "512": "That is the new array alone.",
    },
)


def spread(hash_name: Hash = "xor", text: str = RECIPE) -> None:
    """Prints how far look-ups go in both tables of a text, and how many n-grams share a hash."""
    both = Tables(hash_name, text)
    chained, flat = both.reports()
    print(
        f"{chained.n_grams:,} n-grams, hash {hash_name}: {chained.n_sharing:,} share their hash"
        f" with another.\nChains: {chained.mean_visited or 0:.2f} nodes a look-up,"
        f" {chained.longest} at most. Slots: {flat.mean_visited or 0:.2f}, {flat.longest} at most."
    )


def collisions() -> None:
    """Prints the groups of the recipe's n-grams that have one hash."""
    for group in tables("xor").sharing():
        print(" = ".join(group))


# ---- where the hash breaks -------------------------------------------------------------------


def doubled_words(words: int = 3_000) -> None:
    """Prints what happens to a text in which every word stands twice."""
    text = np.repeat(np.arange(words, dtype=np.int32), 2)
    for name, toggles in (("chains", CHAINED), ("slots", FLAT)):
        hashes: tuple[Hash, ...] = ("xor", "mixed")
        for hash_name in hashes:
            visited, longest, ms = _counted(text, toggles.set(hash=hash_name))
            print(
                f"{name}, {hash_name}: {visited:,.1f} visits a look-up, {longest:,} at most;"
                f" counting {len(text):,} tokens took {ms:,.1f} ms"
            )
    print("(2-grams alone; medians of 3 runs, measured here)")


def _counted(text: np.typing.NDArray[np.int32], toggles: Toggles) -> tuple[float, int, float]:
    times = []
    for _ in range(3):
        with NgramCache(toggles, n_min=2, n_max=2) as table:
            begun = time.perf_counter()
            table.update(text)
            times.append(1000 * (time.perf_counter() - begun))
            report = table_report(table)
    return report.mean_visited or 0.0, report.longest, median(times)


# ---- a real corpus ---------------------------------------------------------------------------


def corpus_peaks(megabytes: int = 5) -> tuple[Peak, ...]:
    """Prints and returns the peaks of both tables for the first megabytes of Python's source."""
    source = corpora.python_source()
    found = peaks(source.tokens(get_tokenizer(), n_bytes=megabytes * MEGABYTE))
    for dense, segmented in (found[:2], found[2:]):
        print(
            f"{dense.n_grams:,} 2-grams, followers in {dense.followers}: peak"
            f" {dense.peak / 1e6:.1f} MB when doubling, {segmented.peak / 1e6:.1f} MB with"
            f" segments, {dense.peak / segmented.peak:.2f} times"
        )
    return found


# ---- the easy one: two that collide ----------------------------------------------------------


def _check_collision(typed: str) -> Answer:
    parts = [part.split() for part in re.split(r"[,;/=\n]", typed.lower()) if part.split()]
    if len(parts) != 2:
        return Answer(False, "This needs two n-grams with a comma between them.")
    both = tables("xor")
    names = [" ".join(part) for part in parts]
    known = RECIPE.split()
    for part, name in zip(parts, names, strict=True):
        if len(part) > 4:
            return Answer(False, f"“{name}” has {len(part)} words; an n-gram has 4 at most.")
        if not set(part) <= set(known) or both.around(name)[1].found is None:
            return Answer(False, f"“{name}” is not in the recipe’s table.")
    first, second = (both.around(name)[1] for name in names)
    if names[0] == names[1]:
        return Answer(False, "That is one n-gram, twice.")
    if first.hash != second.hash:
        return Answer(
            False,
            f"Not these: {first.hash:016x} and {second.hash:016x}. A word that stands twice drops"
            " out of an xor; which n-gram has one?",
        )
    if tuple(parts[1]) in permutations(parts[0]):
        return Answer(
            False, "They collide, but they are the same words in another order. Find two others."
        )
    return Answer(
        True, f"Both hash to {first.hash:016x}. What stands twice drops out, wherever it stands."
    )


COLLISION = Task(
    "Name two n-grams of the recipe that have the same xor hash, and are not the same words in"
    " another order.",
    "Two n-grams, with a comma",
    _check_collision,
)


# ---- the thinking one: the worst and the best size -------------------------------------------

_LOW, _HIGH = 200, 500


def _check_sizes(typed: str) -> Answer:
    try:
        worst, best = whole_numbers(typed, 2)
    except InputError as error:
        return Answer(False, f"{error} Write them as in: 300 400")
    if not all(_LOW <= n <= _HIGH for n in (worst, best)):
        return Answer(False, f"Both are numbers from {_LOW} to {_HIGH}.")
    ratios = {n: places_at_peak(n) / n for n in range(_LOW, _HIGH + 1)}
    told = (
        f"Yours: {worst} has {ratios[worst]:.2f} places an n-gram, {best} has {ratios[best]:.2f}."
    )
    if ratios[worst] < max(ratios.values()):
        return Answer(False, f"{told} There is a worse one: just after what happens?")
    if ratios[best] > min(ratios.values()):
        return Answer(False, f"{told} There is a better one: just before what happens?")
    return Answer(True, f"{told} One n-gram more, and the peak has doubled.")


SIZES = Task(
    f"Between {_LOW} and {_HIGH} n-grams: for which number has a table that doubles the most places"
    " for entries at its peak, for each n-gram in it, and for which the fewest?",
    "The worst and the best number",
    _check_sizes,
    level="thinking",
)
