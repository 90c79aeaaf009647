"""How many followers the 2-grams of a corpus have, beside the published ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ... import corpora
from ...caches import NgramCache, TokensLike
from ...errors import InputError
from ...published import FOLLOWERS, LONGEST_FOLLOWERS
from ...tokenizers import get_tokenizer
from ..examples import RECIPE
from ..figures import percent, plural
from ..material import MEGABYTE
from ..steps import Case, Group, Pictures, Said, StepsModel
from .room import ARRAYS, MAPS, Both, both, room

MOST_SHOWN = len(FOLLOWERS)
"""The last column counts all with so many followers or more, as the published table does."""

MOST_CHARACTERS = 200_000


@dataclass(frozen=True)
class Curve:
    """Followers of the 2-grams of one corpus.

    Args:
        counts: [k - 1] 2-grams with k followers; the last with `MOST_SHOWN` or more.
        places: [k - 1] places of the text that end with such a 2-gram.
        longest: the most followers of one 2-gram.
        memory: in both structures; None for the published one.
    """

    counts: tuple[int, ...]
    places: tuple[int, ...]
    longest: int
    memory: Both | None = None

    @property
    def total(self) -> int:
        return sum(self.counts)

    def up_to(self, followers: int) -> int:
        """2-grams with at most so many followers."""
        return sum(self.counts[:followers])


PUBLISHED = Curve(FOLLOWERS, (), LONGEST_FOLLOWERS)


def curve(tokens: TokensLike) -> Curve:
    """Counts a text's 2-grams with the engine, and reads their followers off its walk."""
    with NgramCache.build_static(tokens, ARRAYS) as counted:
        grams = counted.ngrams()
    followers = np.minimum(grams["n_followers"], MOST_SHOWN)
    counts = np.bincount(followers, minlength=MOST_SHOWN + 1)[1:]
    places = np.bincount(followers, weights=grams["sum"], minlength=MOST_SHOWN + 1)[1:]
    return Curve(
        tuple(counts.tolist()),
        tuple(places.astype(np.int64).tolist()),
        int(grams["n_followers"].max()),
        both(tokens),
    )


@cache
def recipe_curve() -> Curve:
    """Of the recipe of all lessons, in words."""
    return curve(get_tokenizer("words").encode(RECIPE))


@cache
def source_curve(megabytes: int) -> Curve:
    """Of the first megabytes of Python's own library source. Cost: some 0.5 s each."""
    source = corpora.python_source()
    return curve(source.tokens(get_tokenizer(), n_bytes=megabytes * MEGABYTE))


class FollowersModel(StepsModel):
    """The curves of the recipe, of Python's source, and of a text of the reader's own.

    A step is a number of followers; each curve keeps the step.
    """

    def __init__(self, sizes: Sequence[int] = (1, 5)) -> None:
        self.curves = {"the recipe": recipe_curve()}
        for size in sizes:
            self.curves[f"{size} MB of Python’s source"] = source_curve(size)
        super().__init__(pictures(self.curves))

    def count(self, text: str) -> str:
        """Takes a text of the reader's own; returns a line that says what it holds.

        Raises:
            InputError: it is too short or too long.
        """
        tokens = get_tokenizer("words").encode(text[: MOST_CHARACTERS + 1])
        if len(text) > MOST_CHARACTERS:
            raise InputError(f"that is more than {MOST_CHARACTERS:,} characters; give a part of it")
        if len(tokens) < 3:
            raise InputError("type three words at least: a 2-gram, and what follows it")
        self.curves["your text"] = own = curve(tokens)
        at = self.at
        self.show(pictures(self.curves), [list(self.curves).index("your text")])
        self.go(at)
        return str(own.memory)


def pictures(curves: dict[str, Curve]) -> Pictures:
    """All curves as pictures, with the bytes of one 2-gram beside them."""
    return Pictures(
        "Followers of a 2-gram",
        "How many different tokens came after each 2-gram, on logarithmic axes, and what that"
        " many followers take in memory. Filled: counted here. Hollow, dotted: published for"
        f" {PUBLISHED.total:,} 2-grams of WikiText (541 MB).",
        (Group("Corpus", tuple((name, "") for name in curves)),),
        [_case(name, one) for name, one in curves.items()],
        keep=True,
        shared={
            "published": [count / PUBLISHED.total for count in PUBLISHED.counts],
            "rooms": [_rooms(followers) for followers in range(1, MOST_SHOWN + 1)],
        },
    )


def _rooms(followers: int) -> list[list[float]]:
    return [
        [one.ngram, one.index, one.pairs, one.pieces, round(one.total + one.overhead)]
        for one in (room(followers, MAPS), room(followers, ARRAYS))
    ]


def _case(name: str, one: Curve) -> Case:
    return Case(
        [_step(name, one, followers) for followers in range(1, MOST_SHOWN + 1)],
        shared={
            "name": name,
            "counts": list(one.counts),
            "total": one.total,
            "summary": _summary(one),
        },
    )


def _summary(one: Curve) -> str:
    assert one.memory is not None
    m = one.memory
    less, factor = ("less", m.maps / m.arrays) if m.maps > m.arrays else ("more", m.arrays / m.maps)
    return (
        f"All {plural(m.n_grams, '2-gram')}, outer table included: {m.maps:,} bytes as maps in a"
        f" map, {m.arrays:,} as arrays in a flat table, {factor:.1f} times {less}."
    )


def _step(name: str, one: Curve, followers: int) -> dict[str, Any]:
    last = followers == MOST_SHOWN
    return {
        "count": f"{followers} or more" if last else plural(followers, "follower"),
        "say": _sentence(name, one, followers, last),
        "k": followers,
    }


def _sentence(name: str, one: Curve, followers: int, last: bool) -> Said:
    count, published = one.counts[followers - 1], PUBLISHED.counts[followers - 1]
    many = f"{followers} followers or more" if last else plural(followers, "follower")
    told: Said = [
        f"In {name}, ",
        ["b", f"{count:,} of the {plural(one.total, '2-gram')}"],
        f" {'has' if count == 1 else 'have'} {many}: {percent(count, one.total)}; published"
        f" {percent(published, PUBLISHED.total)}. ",
    ]
    share = percent(one.places[followers - 1], sum(one.places))
    if last:
        return [
            *told,
            f"They stand at {share} of all places in the text. The longest list here has"
            f" {one.longest:,}, the published one {PUBLISHED.longest:,}.",
        ]
    if followers == 1:
        told.append(f"They stand at {share} of all places in the text. ")
    if followers > 1:
        told.append(
            f"With at most {followers}: {percent(one.up_to(followers), one.total)} here,"
            f" {percent(PUBLISHED.up_to(followers), PUBLISHED.total)} published. "
        )
    maps, arrays = room(followers, MAPS), room(followers, ARRAYS)
    return [
        *told,
        f"One such 2-gram takes {maps.total:,} bytes as a map in a map, ",
        ["b", f"{arrays.total:,} as an array"],
        ".",
    ]
