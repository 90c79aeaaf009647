"""Followers as they come in one by one: where each goes in an array, and where in a map.

Both orders are read from the engine after each token it has counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ...caches import NgramCache
from ...toggles import NOCOPY
from ...tokenizers import get_tokenizer
from ..examples import RECIPE
from ..figures import plural
from ..steps import Case, Group, Pictures, Said, StepsModel
from .room import ARRAYS

WORD = "the"
MAP = NOCOPY.toggles
"""Followers in a chained map, in the order of GNU's library."""


def arrivals(word: str = WORD) -> tuple[list[int], dict[int, str]]:
    """The different followers of a word in the recipe, as they first come, with their words."""
    tokenizer = get_tokenizer("words")
    text = tokenizer.encode(RECIPE).tolist()
    token = tokenizer.encode(word).tolist()[0]
    after = [b for a, b in pairwise(text) if a == token]
    return list(dict.fromkeys(after)), {t: tokenizer.token_bytes(t).decode() for t in set(after)}


def orders(tokens: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """After each of these has been counted: the followers in the array, and in the map."""
    seen = []
    with (
        NgramCache(ARRAYS, n_min=1, n_max=1) as array,
        NgramCache(MAP, n_min=1, n_max=1) as chained,
    ):
        for token in tokens:
            array.update([0, token], 1)
            chained.update([0, token], 1)
            seen.append(tuple(cache.followers([0])[0].tolist() for cache in (array, chained)))
    return seen


def moves(tokens: Sequence[int]) -> int:
    """Pairs that move in the array while these come in: those behind each new one."""
    return sum(
        len(array) - 1 - array.index(token)
        for token, (array, _map) in zip(tokens, orders(tokens), strict=True)
    )


class ArrivalModel(StepsModel):
    """The twelve followers of "the", in three orders."""

    def __init__(self) -> None:
        came, words = arrivals()
        sets = (
            ("as they came", "In the order of the recipe.", came),
            ("rising", "Each new id is the largest.", sorted(came)),
            ("falling", "Each new id is the smallest.", sorted(came, reverse=True)),
        )
        super().__init__(
            Pictures(
                f"The followers of “{WORD}” come in",
                "An array keeps them by id; in a map the library decides. The small number is the"
                " token’s id: words are numbered as they first appear in the recipe.",
                (Group("Order", tuple((name, hint) for name, hint, _ in sets)),),
                [Case(_steps(tokens, words)) for _, _, tokens in sets],
            )
        )


def _steps(tokens: Sequence[int], words: dict[int, str]) -> list[dict[str, Any]]:
    steps, total = [], 0
    for i, (token, (array, chained)) in enumerate(zip(tokens, orders(tokens), strict=True)):
        behind = len(array) - 1 - array.index(token)
        total += behind
        steps.append(
            {
                "count": f"{i + 1} of {len(tokens)}",
                "say": _sentence(words[token], token, array, chained, behind, total),
                "token": token,
                "moved": behind,
                "array": [[t, words[t]] for t in array],
                "map": [[t, words[t]] for t in chained],
                "room": len(tokens),
            }
        )
    return steps


def _sentence(
    word: str, token: int, array: list[int], chained: list[int], behind: int, total: int
) -> Said:
    moved = f"{plural(behind, 'pair')} behind it {'moves' if behind == 1 else 'move'} up"
    if not behind:
        moved = "nothing has to move"
    place = f" goes to place {array.index(token) + 1} of {len(array)} in the array: "
    return [
        ["k", word],
        place,
        ["b", moved],
        f". {plural(total, 'move')} so far. In the map it stands at place"
        f" {chained.index(token) + 1} of {len(chained)}, where its bucket has put it.",
    ]
