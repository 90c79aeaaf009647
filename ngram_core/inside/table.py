"""The outer table around one n-gram, and how well its hash spreads all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .. import _native
from .._native import TOUCHED, as_count
from ..caches import NgramCache, TokensLike
from ..drafter import Drafter
from ..errors import InputError
from .arguments import as_ngram, handle_of

Table = NgramCache | Drafter


@dataclass(frozen=True)
class Place:
    """A slot of a flat table or of a line, or a node of a chain."""

    index: int  #: number of the slot in the table, or of the node in its chain
    tokens: tuple[int, ...]  #: of the n-gram that stands there; () in an empty slot
    n_followers: int
    hash: int  #: of that n-gram, all 64 bits; "ngc": its mixed key, which no other 2-gram has
    distance: int  #: slots or lines from its home, or nodes from the chain's start; -1: empty
    fingerprint: int  #: slots: the bits of the hash that stand there and are compared first
    entry: int | None
    """Slots: number of the entry that holds the followers; "places": the n-gram's place in the
    cache's text; "ngc": where its block of followers begins, in bytes; None if it has none."""


@dataclass(frozen=True)
class TableAround:
    """What stands around an n-gram in its table, and the way that a look-up of it took.

    In a chained table `places` is the chain of the n-gram's bucket, in order; in a flat one the
    slots around its home, in a row that may wrap around the table's end. A table of places, and
    our own static file, have `slots_a_line` slots in a line that is read as a whole: slot i stands
    in line i // slots_a_line, `home` is a line, and `path` names lines. A table of places is one
    for each size of n-gram.
    """

    outer: str  #: "chained", "segmented", "dense", "places", or "ngc" for our own static file
    ngram: tuple[int, ...]
    hash: int
    fingerprint: int  #: of the n-gram, in tables of slots
    n_buckets: int  #: of the table, or slots
    slots_a_line: int  #: 0: slots do not stand in lines
    home: int | None
    """The n-gram's bucket, slot or line; None if the table has none yet, or cannot hold it."""
    found: int | None  #: index of its place; None: it is absent
    places: tuple[Place, ...]
    path: tuple[int, ...]  #: indices of the places, or lines, that the look-up visited, in order
    keys_compared: int
    """N-grams that were compared with it token by token, or hash by hash; "ngc": none, since the
    bits that stand there tell its n-grams apart."""
    touches: npt.NDArray[np.void]  #: of the look-up, see `TOUCH_DTYPE`


@dataclass(frozen=True)
class TableReport:
    """How far look-ups go in a table, and how many n-grams its hash cannot tell apart."""

    n_grams: int
    n_buckets: int  #: or slots, of all sizes of n-grams
    n_empty: int  #: buckets or slots without an n-gram
    longest: int  #: the most nodes, slots or lines visited to find one n-gram
    longest_ngram: tuple[int, ...]  #: which one that is
    mean_visited: float | None  #: over all n-grams, each looked up once; None without any
    n_sharing: int  #: n-grams whose 64-bit hash another one in their table has as well
    most_sharing: int  #: the most n-grams with one and the same hash
    shared_hash: int | None  #: that hash; None if no two share one


def table_around(table: Table, ngram: TokensLike, before: int = 2, after: int = 2) -> TableAround:
    """Looks an n-gram up in a cache, or in a drafter's context cache, and shows what stands there.

    Args:
        before, after: tables of slots: how many slots, or lines, to show before its home and
            behind the last one that was visited.

    Raises:
        InputError: a constmap has no such table; `fuse_look_up` shows how it is read.

    >>> import ngram_core as ng
    >>> cache = ng.NgramCache(n_min=2, n_max=2)
    >>> cache.update([7, 8, 7, 8, 9])
    >>> around = cache.table_around([8, 7])  # (7, 8) and (8, 7) have the same hash
    >>> [place.tokens for place in around.places], around.path
    ([(8, 7), (7, 8)], (0,))
    """
    array = as_ngram(ngram)
    before, after = as_count(before, "before", 0, 4096), as_count(after, "after", 0, 4096)
    _refuse_static(table)
    facts, places, touches = _native.table_around(handle_of(table), array, before, after)
    whole = touches[touches["part"] == 0]
    what = [TOUCHED[int(code)] for code in whole["what"]]
    slots = [int(t["index"]) for t, w in zip(whole, what, strict=True) if w in ("slot", "line")]
    compared = sum(name in ("entry", "node", "text") for name in what)
    outer = _outer(table)
    return TableAround(
        outer=outer,
        ngram=tuple(array.tolist()),
        hash=facts["hash"],
        fingerprint=facts["fingerprint"],
        n_buckets=facts["n_buckets"],
        slots_a_line=facts["slots_a_line"],
        home=None if facts["home"] < 0 else facts["home"],
        found=None if facts["found"] < 0 else facts["found"],
        places=tuple(map(_place, places)),
        path=tuple(slots) if outer != "chained" else tuple(range(what.count("node"))),
        keys_compared=compared,
        touches=touches,
    )


def table_report(table: Table) -> TableReport:
    """Measures the whole table of a cache, or of a drafter's context cache.

    Cost: a walk over it, and a sort of all hashes.

    >>> import ngram_core as ng
    >>> cache = ng.NgramCache(n_min=2, n_max=2)
    >>> cache.update([1, 2, 1, 2, 3])
    >>> ng.inside.table_report(cache).n_sharing  # (1, 2) and (2, 1)
    2
    """
    _refuse_static(table)
    facts = _native.table_facts(handle_of(table))
    n_grams, most = facts["n_grams"], facts["most_sharing"]
    return TableReport(
        n_grams=n_grams,
        n_buckets=facts["n_buckets"],
        n_empty=facts["n_empty"],
        longest=facts["longest"],
        longest_ngram=_tokens(facts["longest_tokens"]) if n_grams else (),
        mean_visited=facts["sum_visited"] / n_grams if n_grams else None,
        n_sharing=facts["n_sharing"],
        most_sharing=most,
        shared_hash=facts["shared_hash"] if most > 1 else None,
    )


def _outer(table: Table) -> str:
    """What kind of table it is."""
    ours = isinstance(table, NgramCache) and table.kind == "ngc"
    return "ngc" if ours else table.toggles.outer


def _refuse_static(table: Table) -> None:
    if isinstance(table, NgramCache) and table.kind == "constmap":
        raise InputError(
            "a static cache of kind 'constmap' keeps no n-grams, so it has no table of them;"
            " see ng.inside.fuse_look_up"
        )


def _tokens(slots: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(token) for token in slots if token >= 0)


def _place(record: np.void) -> Place:
    return Place(
        index=int(record["index"]),
        tokens=_tokens(tuple(record["tokens"].tolist())),
        n_followers=int(record["n_followers"]),
        hash=int(record["hash"]),
        distance=int(record["distance"]),
        fingerprint=int(record["fingerprint"]),
        entry=None if record["entry"] < 0 else int(record["entry"]),
    )
