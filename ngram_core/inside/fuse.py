"""A look-up in a constmap's fuse map, and how such a map is built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from .. import _native
from .._native import FUSE_VERDICTS, MOST_PEELED, as_count, as_tokens
from ..caches import NgramCache, TokensLike
from ..errors import InputError
from .arguments import as_ngram

Verdict = Literal["found", "absent", "no_place", "empty"]


@dataclass(frozen=True)
class FuseLookup:
    """One look-up: three cells, each with data and a check, and what their xors say.

    Of a 2-gram that was never put in, `value` is noise and `check` is not `needed`: "absent". With
    the right check but no such followers ("no_place") the file is broken.
    """

    ngram: tuple[int, int]
    key_hash: int  #: XXH3-64 of the two tokens
    h: int  #: the same, spread with the map's seed
    cells: tuple[int, int, int]
    data: tuple[int, int, int]
    checks: tuple[int, int, int]
    value: int  #: the three data, xored: position << 24 | length
    check: int  #: the three checks, xored
    needed: int  #: what that must be: h ^ (h >> 32)
    position: int  #: of the first follower, in pairs
    length: int
    verdict: Verdict


@dataclass(frozen=True)
class Peeling:
    """How a map of a few 2-grams is built, step by step.

    Arrays have one row a key, in the order of `ngrams`, or one a step, in the order of time.
    """

    ngrams: npt.NDArray[np.int32]  #: shape (n, 2)
    values: npt.NDArray[np.uint64]  #: shape (n,)
    seed: int
    n_attempts: int  #: seeds tried; with those before, some keys could not be peeled
    segment_length: int
    n_segments: int
    n_cells: int
    cells: npt.NDArray[np.uint32]  #: each key's three, shape (n, 3)
    peeled: npt.NDArray[np.void]  #: key, cell in which it was alone, n_waiting further such cells
    assigned: npt.NDArray[np.void]  #: key, cell, data and check written there: the reverse order
    data: npt.NDArray[np.uint64]  #: the finished cells, shape (n_cells,)
    checks: npt.NDArray[np.uint64]


def key_hash(ngram: TokensLike) -> int:
    """The hash by which a constmap knows a 2-gram.

    Source: XXH3-64 of its eight bytes (Yann Collet, xxHash).
    """
    first, second = as_ngram(ngram, 2).tolist()
    return _native.key_hash(first, second)


def fuse_look_up(cache: NgramCache, ngram: TokensLike) -> FuseLookup:
    """Looks a 2-gram up in a constmap, recorded.

    Raises:
        InputError: the cache is no constmap.

    >>> import ngram_core as ng
    >>> cache = ng.NgramCache.build_static([1, 2, 3, 1, 2, 4], ng.CONSTMAP.toggles)
    >>> ng.inside.fuse_look_up(cache, [1, 2]).length, ng.inside.fuse_look_up(cache, [2, 1]).verdict
    (2, 'absent')
    """
    array = as_ngram(ngram, 2)
    if cache.kind != "constmap":
        raise InputError("this cache is no constmap; build or open it with static='constmap'")
    fields = _native.fuse_look_up(cache._handle, array)
    first, second = array.tolist()
    verdict = FUSE_VERDICTS.get(fields.pop("verdict"), "empty")
    return FuseLookup(ngram=(first, second), verdict=verdict, **fields)  # type: ignore[arg-type]


def fuse_attempt(
    ngrams: npt.NDArray[np.int32] | list[tuple[int, int]], nth: int
) -> tuple[int, npt.NDArray[np.uint32]]:
    """The seed of the nth attempt at a map of a few 2-grams, and the cells it gives to each.

    With the seeds before `Peeling.n_attempts` some keys could not be peeled: these are their cells.

    Args:
        ngrams: up to 4,096, shape (n, 2).
        nth: from 1 on.

    Returns:
        The seed, and cells of shape (n, 3), uint32.

    Raises:
        InputError: none, too many, or no such attempt.
    """
    return _native.fuse_attempt(_as_keys(ngrams), as_count(nth, "nth", 1, 2**31 - 1))


def peeling(
    ngrams: npt.NDArray[np.int32] | list[tuple[int, int]],
    values: npt.NDArray[np.uint64] | list[int] | None = None,
) -> Peeling:
    """Builds the fuse map of a few 2-grams, recorded.

    Args:
        ngrams: up to 4,096 different ones, shape (n, 2).
        values: 64-bit numbers, shape (n,); 0, 1, 2, ... if not given.

    Raises:
        InputError: none, or too many. FormatError: one stands twice.

    >>> import ngram_core as ng
    >>> built = ng.inside.peeling([(1, 2), (2, 3), (3, 4)])
    >>> built.peeled["key"].tolist() == built.assigned["key"].tolist()[::-1]
    True
    """
    keys = _as_keys(ngrams)
    given = np.arange(len(keys)) if values is None else values
    try:  # at once: numpy would make floats of numbers below and above 2^63 together
        numbers: npt.NDArray[np.uint64] = np.ascontiguousarray(given, dtype=np.uint64)
    except (OverflowError, TypeError, ValueError) as error:
        raise InputError(f"values: need whole numbers from 0 to 2^64 - 1; {error}") from None
    if numbers.shape != (len(keys),):
        raise InputError(f"{len(keys)} 2-grams need as many values, not {numbers.shape}")
    shape, arrays = _native.fuse_peeling(keys, numbers)
    return Peeling(
        ngrams=keys,
        values=numbers,
        seed=shape["seed"],
        n_attempts=shape["n_attempts"],
        segment_length=shape["segment_length"],
        n_segments=shape["segment_count"] + 2,
        n_cells=shape["n_cells"],
        **arrays,
    )


def _as_keys(ngrams: npt.NDArray[np.int32] | list[tuple[int, int]]) -> npt.NDArray[np.int32]:
    flat = as_tokens(np.asarray(ngrams).reshape(-1))
    keys = flat.reshape(-1, 2) if len(flat) % 2 == 0 else flat.reshape(0, 2)
    if not 1 <= len(keys) <= MOST_PEELED:
        raise InputError(f"{len(keys)} 2-grams: from 1 to {MOST_PEELED} can be shown, shape (n, 2)")
    return keys
