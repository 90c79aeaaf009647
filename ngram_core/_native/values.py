"""What goes into the engine and comes out of it: arrays, records, errors, settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import EngineMemoryError, FormatError, InputError, NgramError, StateError
from ..rule import Rule
from ..toggles import Toggles
from .engine import ffi, lib

Tokens = npt.NDArray[np.int32]

MAX_TOKEN = 2**31 - 2
MAX_DRAFT = int(lib.NGC_MAX_DRAFT)

CALL_DTYPE = np.dtype(
    [("draft_ns", "<i4"), ("update_ns", "<i4"), ("n_drafted", "<i4"), ("n_accept", "<i4")]
)
NGRAM_DTYPE = np.dtype(
    [("tokens", "<i4", (4,)), ("n", "<i4"), ("n_followers", "<i4"), ("sum", "<i8")]
)

_NUMBERS = {"int32_t": "i4", "int64_t": "i8", "uint32_t": "u4", "uint64_t": "u8"}


def dtype_of(struct: str) -> np.dtype[np.void]:
    """A structure of ngc.h as a numpy type, field by field, `unused` ones left out."""
    names, formats, offsets = [], [], []
    for name, field in ffi.typeof(struct).fields:
        number = field.type
        shape: tuple[int, ...] = ()
        while number.kind == "array":
            number, shape = number.item, (*shape, number.length)
        if name != "unused":
            names.append(name)
            formats.append((_NUMBERS[number.cname], shape))
            offsets.append(field.offset)
    layout = {"names": names, "formats": formats, "offsets": offsets}
    return np.dtype({**layout, "itemsize": ffi.sizeof(struct)})  # type: ignore[call-overload, no-any-return]


PROBE_DTYPE = dtype_of("ngc_probe")
TOUCH_DTYPE = dtype_of("ngc_touch")


_ERRORS: dict[int, tuple[type[NgramError], str]] = {
    lib.NGC_NO_MEMORY: (EngineMemoryError, "not enough memory; nothing was changed"),
    lib.NGC_BAD_ARGUMENT: (InputError, "an argument is out of range"),
    lib.NGC_BAD_TOKEN: (InputError, f"a token id is not in 0..{MAX_TOKEN}"),
    lib.NGC_TRUNCATED: (FormatError, "the file ends in the middle of a record"),
    lib.NGC_BAD_RECORD: (FormatError, "this is no record of an n-gram cache"),
    lib.NGC_DUPLICATE: (FormatError, "an n-gram or a follower stands twice"),
    lib.NGC_UNSUPPORTED: (InputError, "these toggles do not go together"),
    lib.NGC_CHANGED: (StateError, "the cache was changed in the meantime; begin again"),
    lib.NGC_BAD_SUM: (FormatError, "its checksum does not match its bytes; copy it again"),
    lib.NGC_BAD_VERSION: (
        FormatError,
        "its version is not one that this program knows; update, or write the file again",
    ),
    lib.NGC_CROWDED: (
        FormatError,
        "too many of its n-grams share a hash, as no text's do: it was made to be slow",
    ),
    lib.NGC_SMALL_BUFFER: (StateError, "a buffer is too small for one record"),
    lib.NGC_NOT_YET: (StateError, "it is half done; the same call goes on"),
}


def error_of(status: int, what: str) -> NgramError:
    """The exception for a status of the engine, its message beginning with `what`."""
    kind, text = _ERRORS.get(status, (NgramError, f"unknown engine status {status}"))
    return kind(f"{what}: {text}")


def check(status: int, what: str) -> None:
    if status != lib.NGC_OK:
        raise error_of(status, what)


def as_tokens(tokens: npt.NDArray[Any] | Sequence[int], n_vocab: int | None = None) -> Tokens:
    """Token ids as a contiguous one-dimensional int32 array, each in range.

    Raises:
        InputError: not integers, not one-dimensional, or an id outside 0..n_vocab - 1 (without a
            vocabulary 0..2^31 - 2); the message names the first bad position.
    """
    try:
        array = np.asarray(tokens)
    except (TypeError, ValueError) as error:  # rows of different lengths
        raise InputError(f"token ids: need a one-dimensional array of integers; {error}") from None
    if array.size == 0:
        return np.zeros(0, dtype=np.int32)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(
            f"token ids: need a one-dimensional array of integers, got {array.ndim} dimensions of "
            f"{array.dtype}"
        )
    end = MAX_TOKEN + 1 if n_vocab is None else n_vocab
    bad = (array < 0) | (array >= end)
    if bad.any():
        at = int(np.argmax(bad))
        raise InputError(f"token id {int(array[at])} at position {at} is not in 0..{end - 1}")
    return np.ascontiguousarray(array, dtype=np.int32)


def address_of(array: Tokens) -> Any:
    return ffi.cast("int32_t *", array.ctypes.data)


def as_count(value: int, name: str, low: int, high: int) -> int:
    """An integer argument in low..high, or InputError naming it."""
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name}={value!r}: need a whole number from {low} to {high}") from None
    if number != value or not low <= number <= high:
        raise InputError(f"{name}={value!r}: need a whole number from {low} to {high}")
    return number


TOGGLE_CODES: dict[str, dict[Any, int]] = {
    "copy_followers": {False: 0, True: 1},
    "outer": {
        "chained": lib.NGC_OUTER_CHAINED,
        "segmented": lib.NGC_OUTER_SEGMENTED,
        "dense": lib.NGC_OUTER_DENSE,
        "places": lib.NGC_OUTER_PLACES,
    },
    "followers": {
        "chained": lib.NGC_FOLLOWERS_CHAINED,
        "sorted": lib.NGC_FOLLOWERS_SORTED,
        "summed": lib.NGC_FOLLOWERS_SUMMED,
    },
    "search": {
        "fixed": lib.NGC_SEARCH_FIXED,
        "lower_bound": lib.NGC_SEARCH_LOWER_BOUND,
        "linear": lib.NGC_SEARCH_LINEAR,
        "simd": lib.NGC_SEARCH_SIMD,
    },
    "static": {
        "same": lib.NGC_STATIC_SAME,
        "constmap": lib.NGC_STATIC_CONSTMAP,
        "ngc": lib.NGC_STATIC_NGC,
    },
    "precheck": {False: 0, True: 1},
    "hash": {"xor": lib.NGC_HASH_XOR, "mixed": lib.NGC_HASH_MIXED},
    "ties": {"library": lib.NGC_TIES_LIBRARY, "token": lib.NGC_TIES_TOKEN},
    "score": {"int32": lib.NGC_SCORE_INT32, "exact": lib.NGC_SCORE_EXACT},
    "bound": {False: 0, True: 1},
    "late_static": {False: 0, True: 1},
    "prefetch": {False: 0, True: 1},
    "glance": {False: 0, True: 1},
}


def c_toggles(toggles: Toggles) -> Any:
    c = ffi.new("ngc_toggles *")
    for name, codes in TOGGLE_CODES.items():
        setattr(c, "static_cache" if name == "static" else name, codes[getattr(toggles, name)])
    return c


def c_rule(rule: Rule) -> Any:
    c = ffi.new("ngc_rule *")
    for name in ("n_min", "n_max", "static_sum", "static_percent", "weight"):
        setattr(c, name, getattr(rule, name))
    for name in ("context_sum", "context_percent", "dynamic_sum", "dynamic_percent"):
        setattr(c, name, list(getattr(rule, name)))
    c.use_context = int(rule.use_context)
    c.eos = -1 if rule.eos is None else rule.eos
    return c
