"""Three searches for one follower, comparison by comparison, from the engine's own record."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ... import corpora
from ...caches import NgramCache
from ...inside import SearchPath, search_path
from ...toggles import INNERVECTOR, Search
from ...tokenizers import Tokenizer, get_tokenizer
from ..examples import RECIPE
from ..figures import plural
from ..pieces import piece_of, plain
from ..steps import Case, Group, Pictures, Said, StepsModel

SEARCHES: tuple[tuple[Search, str], ...] = (
    ("lower_bound", "classic"),
    ("fixed", "fixed"),
    ("linear", "linear"),
)
"""In the order in which they are shown, with the lesson's names."""

TITLES = {"lower_bound": "Classic", "fixed": "Fixed", "linear": "Linear"}

PROSE_BYTES = 300_000

List = tuple[str, list[int], dict[int, str]]
"""A name, token ids in ascending order, and their words."""


@cache
def lists() -> tuple[List, ...]:
    """Lists of followers: of "the" in the recipe, and of 8 and 44 in made prose, which is the same
    on every machine. Cost: about a second, the first time."""
    words, qwen = get_tokenizer("words"), get_tokenizer()
    recipe = words.encode(RECIPE)
    prose = corpora.get_corpus("prose", PROSE_BYTES).tokens(qwen, keep=False)
    found = [_followers(recipe, words, 12, n=1)]
    found += [_followers(prose, qwen, length, n=2) for length in (8, 44)]
    return tuple(sorted(found, key=lambda one: len(one[1])))


def _followers(tokens: Any, tokenizer: Tokenizer, length: int, n: int) -> List:
    """The most frequent n-gram of a text that has about so many followers."""
    with NgramCache(INNERVECTOR.toggles, n_min=n, n_max=n) as counted:
        counted.update(tokens)
        grams = counted.ngrams()
        grams = grams[grams["n_followers"] >= length]
        grams = grams[grams["n_followers"] == grams["n_followers"].min()]
        best = grams[np.argmax(grams["sum"])]
        ngram = [int(t) for t in best["tokens"] if t >= 0]
        ids = counted.followers(ngram)[0].tolist()
    shown = {token: plain(piece_of(tokenizer.token_bytes(token))) for token in [*ids, *ngram]}
    gap = " " if tokenizer.between else ""
    return gap.join(shown[token] for token in ngram), ids, shown


def keys_of(ids: list[int]) -> list[tuple[str, int]]:
    """Four tokens to look for: the first, one from the middle, the last, and one that is absent."""
    absent = next(token for token in range(ids[len(ids) // 3] + 1, ids[-1] + 2) if token not in ids)
    return [
        ("the first", ids[0]),
        ("one inside", ids[2 * len(ids) // 3]),
        ("the last", ids[-1]),
        ("an absent one", absent),
    ]


class SearchModel(StepsModel):
    """Each list with four keys, in three searches."""

    def __init__(self) -> None:
        super().__init__(
            Pictures(
                "One follower, three searches",
                "A row is one cache line: 64 bytes, 8 followers. Boxed rows were read. The number"
                " in a round badge is the order of comparisons; yellow is what is compared now;"
                " struck out is what can be ruled out. A · is a blank.",
                (
                    Group(
                        "List",
                        tuple((f"{len(ids)} after “{name}”", "") for name, ids, _ in lists()),
                    ),
                    Group("Look for", tuple((label, "") for label, _ in keys_of(lists()[0][1]))),
                ),
                [
                    _case(ids, words, label, key)
                    for _, ids, words in lists()
                    for label, key in keys_of(ids)
                ],
            )
        )


def _case(ids: list[int], words: dict[int, str], label: str, key: int) -> Case:
    paths = [search_path(ids, key, search) for search, _ in SEARCHES]
    n_steps = max(len(path.compared) for path in paths) + 1
    return Case(
        [_step(ids, words, key, paths, i, i == n_steps - 1) for i in range(n_steps)],
        shared={
            "ids": ids,
            "words": [words[token] for token in ids],
            "key": key,
            "searches": [
                {
                    "name": search,
                    "title": TITLES[search],
                    "compared": [[c.position, c.n_below] for c in path.compared],
                    "final": path.final,
                    "lines": len(path.lines),
                    "found": path.found,
                }
                for (search, _), path in zip(SEARCHES, paths, strict=True)
            ],
        },
    )


def left(path: SearchPath, upto: int) -> tuple[int, int]:
    """Positions from .. to - 1 that may still hold the token, after so many comparisons."""
    low, high = 0, path.length
    for compared in path.compared[:upto]:
        assert compared.position is not None
        if compared.n_below:
            low = max(low, compared.position + 1)
        else:
            high = min(high, compared.position + 1)
    return low, high


def _step(
    ids: list[int], words: dict[int, str], key: int, paths: list[SearchPath], at: int, last: bool
) -> dict[str, Any]:
    most = max(len(path.compared) for path in paths)
    return {
        "count": "the end" if last else f"comparison {at + 1} of {most}",
        "say": _end(words, key, paths) if last else _compared(words, key, paths, at),
        "done": [min(at + 1, len(path.compared)) for path in paths],
        "left": [left(path, at) for path in paths],
    }


def _compared(words: dict[int, str], key: int, paths: list[SearchPath], at: int) -> Said:
    told: Said = [f"Looking for {key}", *_word(words, key), ". "]
    for (search, _), path in zip(SEARCHES, paths, strict=True):
        told += [f"{TITLES[search]}: "]
        if at >= len(path.compared):
            told += ["done. "]
            continue
        compared = path.compared[at]
        sign, go = ("<", "right") if compared.n_below else ("≥", "left")
        if search == "linear":
            go = "on" if compared.n_below else "stop"
        elif search == "fixed" and at == len(path.compared) - 1:
            go = "one more" if compared.n_below else "here"
        told += [f"{compared.token} {sign} {key}, ", ["b", go], ". "]
    return told


def _word(words: dict[int, str], key: int) -> Said:
    return [" (", ["k", words[key]], ")"] if key in words else [", which is absent"]


def _end(words: dict[int, str], key: int, paths: list[SearchPath]) -> Said:
    steps = ", ".join(
        f"{TITLES[search].lower()} {len(path.compared)}"
        for (search, _), path in zip(SEARCHES, paths, strict=True)
    )
    lines = ", ".join(str(len(path.lines)) for path in paths)
    trips = len(paths[1].compared) - 1
    return [
        ["y", "Found"] if paths[0].found else ["n", "Not there"],
        f": {key}",
        *_word(words, key),
        f". Comparisons: {steps}; the place found is compared once more. Fixed takes"
        f" {plural(trips, 'halving')} and one comparison for ",
        ["b", "every"],
        f" key in a list of {paths[0].length}. Cache lines: {lines}.",
    ]


# ---- steps over all keys ---------------------------------------------------------------------


def halvings(length: int) -> int:
    """How often the fixed search halves a list of so many, by the engine's record."""
    return len(search_path(range(length), 0, "fixed").compared) - 1


def comparisons(length: int, search: Search, every: int = 1) -> list[int]:
    """Comparisons of a search for each key of a list, or for one in so many, as recorded."""
    text = np.zeros(2 * length, dtype=np.int32)  # token 0, followed by each of the others
    text[1::2] = np.arange(1, length + 1)
    with NgramCache(INNERVECTOR.toggles, n_min=1, n_max=1) as cache:
        cache.update(text)
        return [
            len(search_path(cache, key, search, ngram=[0]).compared)
            for key in range(1, length + 1, every)
        ]
