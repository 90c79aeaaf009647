"""The only module that calls the C engine: handles, arrays in and out, errors by code.

Everything above it speaks Python and numpy; another loader of the same engine (WebAssembly,
say) would replace this file alone.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import EngineMemoryError, FormatError, InputError, NgramError, StateError
from .rule import Rule
from .toggles import Toggles
from .trace import CacheName, Candidate, Row, Step, Verdict

try:
    from ._ngram import ffi, lib
except ImportError as error:
    raise ImportError(
        "ngram_core's C engine is not built for this Python; in a checkout run "
        "`pip install -e .` (it needs a C compiler), elsewhere `pip install --force-reinstall "
        f"ngram-core` ({error})"
    ) from error

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


def _dtype_of(struct: str) -> np.dtype[np.void]:
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


PROBE_DTYPE = _dtype_of("ngc_probe")
TOUCH_DTYPE = _dtype_of("ngc_touch")

# ---- errors -----------------------------------------------------------------------------------

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
    lib.NGC_SMALL_BUFFER: (StateError, "a buffer is too small for one record"),
}


def error_of(status: int, what: str) -> NgramError:
    """The exception for a status of the engine, its message beginning with `what`."""
    kind, text = _ERRORS.get(status, (NgramError, f"unknown engine status {status}"))
    return kind(f"{what}: {text}")


def _check(status: int, what: str) -> None:
    if status != lib.NGC_OK:
        raise error_of(status, what)


# ---- arrays -----------------------------------------------------------------------------------


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


def _pointer(array: Tokens) -> Any:
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


# ---- settings ---------------------------------------------------------------------------------

_TOGGLE_CODES: dict[str, dict[Any, int]] = {
    "copy_followers": {False: 0, True: 1},
    "outer": {
        "chained": lib.NGC_OUTER_CHAINED,
        "segmented": lib.NGC_OUTER_SEGMENTED,
        "dense": lib.NGC_OUTER_DENSE,
    },
    "followers": {"chained": lib.NGC_FOLLOWERS_CHAINED, "sorted": lib.NGC_FOLLOWERS_SORTED},
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
}


def _c_toggles(toggles: Toggles) -> Any:
    c = ffi.new("ngc_toggles *")
    for name, codes in _TOGGLE_CODES.items():
        setattr(c, "static_cache" if name == "static" else name, codes[getattr(toggles, name)])
    return c


def _c_rule(rule: Rule) -> Any:
    c = ffi.new("ngc_rule *")
    for name in ("n_min", "n_max", "static_sum", "static_percent", "weight"):
        setattr(c, name, getattr(rule, name))
    for name in ("context_sum", "context_percent", "dynamic_sum", "dynamic_percent"):
        setattr(c, name, list(getattr(rule, name)))
    c.use_context = int(rule.use_context)
    c.eos = -1 if rule.eos is None else rule.eos
    return c


# ---- handles ----------------------------------------------------------------------------------


class Handle:
    """Owns one object of the engine: one caller at a time, closed once, never used after.

    A handle may borrow others for its life: many may read one, one alone may write. What is
    lent cannot be closed or changed by its owner until it is given back.
    """

    def __init__(self, what: str, pointer: Any, free: Any, loans: Loans | None = None) -> None:
        self.what = what
        self._pointer = ffi.gc(pointer, free)
        self._lock = threading.RLock()
        # Loans also end while garbage is collected, where no lock can be waited for: each of these
        # is changed in one operation that no other thread sees half done.
        self._readers: set[int] = set()  # ids of the loans that read it
        self._writer: int | None = None  # id of the one that writes it
        self._loans = loans

    @property
    def closed(self) -> bool:
        return self._pointer is None

    @contextmanager
    def use(self) -> Iterator[Any]:
        """The engine's pointer, for one call; waits while another thread is in one."""
        with ExitStack() as locks:
            locks.enter_context(self._lock)
            for written in self._loans.written if self._loans else ():
                locks.enter_context(written._lock)
            if self._pointer is None:
                raise StateError(f"this {self.what} was closed")
            yield self._pointer

    def _refuse_if_lent(self) -> None:
        if self._readers or self._writer is not None:
            raise StateError(
                f"this {self.what} is in use by a drafter or a replay; close that first"
            )

    @contextmanager
    def change(self) -> Iterator[Any]:
        """The same for a call that changes the object: refused while it is lent."""
        with self.use() as pointer:
            self._refuse_if_lent()
            yield pointer

    def close(self) -> None:
        with self._lock:
            if self._pointer is None:
                return
            self._refuse_if_lent()
            ffi.release(self._pointer)
            self._pointer = None
        if self._loans:
            self._loans.give_back()


class Loans:
    """What one handle has borrowed from others. Gives all back if its `with` block fails, when
    the borrower is closed, or when it is dropped."""

    def __init__(self) -> None:
        self.read: list[Handle] = []
        self.written: list[Handle] = []

    def __enter__(self) -> Loans:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is not None:
            self.give_back()

    def reader(self, handle: Handle | None) -> Any:
        """A pointer to read through, NULL for None."""
        if handle is None:
            return ffi.NULL
        with handle.use() as pointer:
            if handle._writer is not None:
                handle._refuse_if_lent()
            handle._readers.add(id(self))
            self.read.append(handle)
            return pointer

    def writer(self, handle: Handle | None) -> Any:
        """A pointer to write through, NULL for None; nobody else may have it."""
        if handle is None:
            return ffi.NULL
        with handle.change() as pointer:
            handle._writer = id(self)
            self.written.append(handle)
            return pointer

    def give_back(self) -> None:
        for handle in self.read:
            handle._readers.discard(id(self))
        for handle in self.written:
            handle._writer = None
        self.read.clear()
        self.written.clear()

    def __del__(self) -> None:
        self.give_back()


def _memory(fill: Any, pointer: Any) -> dict[str, int]:
    memory = ffi.new("ngc_memory *")
    _check(fill(pointer, memory), "memory")
    return {name: int(getattr(memory, name)) for name, _ in ffi.typeof("ngc_memory").fields}


class NativeCache(Handle):
    """A cache of the engine."""

    def __init__(self, pointer: Any, data: Any = None) -> None:
        super().__init__("cache", pointer, lib.ngc_cache_free)
        self._data = data  # the engine reads it where it lies

    @classmethod
    def empty(cls, toggles: Toggles, n_min: int, n_max: int) -> NativeCache:
        out = ffi.new("ngc_cache **")
        _check(lib.ngc_cache_new(_c_toggles(toggles), n_min, n_max, out), "new cache")
        return cls(out[0])

    @classmethod
    def constmap(cls, toggles: Toggles, n_bytes: int) -> tuple[NativeCache, memoryview]:
        """An unchecked constmap and the bytes to fill with its file."""
        out = ffi.new("ngc_cache **")
        data = ffi.new("uint8_t **")
        _check(lib.ngc_constmap_new(_c_toggles(toggles), n_bytes, out, data), "new constmap")
        return cls(out[0]), memoryview(ffi.buffer(data[0], n_bytes))

    def check_constmap(self) -> tuple[int, bool]:
        """One slice of checking: the status, and whether it was the last."""
        done = ffi.new("int32_t *")
        with self.use() as pointer:
            status = lib.ngc_constmap_check(pointer, done)
        return int(status), bool(done[0])

    def to_constmap(self, toggles: Toggles) -> NativeCache:
        out = ffi.new("ngc_cache **")
        with self.use() as pointer:
            _check(lib.ngc_constmap_build(_c_toggles(toggles), pointer, out), "building a constmap")
        return NativeCache(out[0])

    def constmap_bytes_view(self) -> memoryview:
        """Its file, valid until it is closed."""
        n_bytes = ffi.new("size_t *")
        with self.use() as pointer:
            data = lib.ngc_constmap_bytes_view(pointer, n_bytes)
            return memoryview(ffi.buffer(data, n_bytes[0])).toreadonly()

    @classmethod
    def packed(cls, toggles: Toggles, data: Any, where: str) -> NativeCache:
        """A static cache over the bytes of our own file, kept until it is closed."""
        out = ffi.new("ngc_cache **")
        fault = ffi.new("ngc_fault *")
        buffer = ffi.from_buffer("uint8_t[]", data)
        status = lib.ngc_packed_open(_c_toggles(toggles), buffer, len(data), out, fault)
        if status != lib.NGC_OK:
            ffi.release(buffer)
            raise error_of(status, _at_fault(where, fault))
        return cls(out[0], (buffer, data))

    def check_packed(self, where: str) -> bool:
        """One slice of checking all of our own file; True after the last."""
        done = ffi.new("int32_t *")
        fault = ffi.new("ngc_fault *")
        with self.use() as pointer:
            status = lib.ngc_packed_check(pointer, done, fault)
        if status != lib.NGC_OK:
            raise error_of(status, _at_fault(where, fault))
        return bool(done[0])

    def packed_about(self) -> tuple[int, bytes, str, str, str] | None:
        """n_vocab, fingerprint, tokenizer, corpus and builder of our own file; None if it is not
        one."""
        about = ffi.new("ngc_packed_about *")
        with self.use() as pointer:
            if lib.ngc_packed_about_of(pointer, about) != lib.NGC_OK:
                return None
            texts = [
                ffi.string(text).decode(errors="replace")
                for text in (about.tokenizer, about.corpus, about.built_by)
            ]
            return int(about.n_vocab), bytes(about.fingerprint), texts[0], texts[1], texts[2]

    def packed_bytes_view(self) -> memoryview:
        """Its file, valid until it is closed."""
        n_bytes = ffi.new("size_t *")
        with self.use() as pointer:
            data = lib.ngc_packed_bytes_view(pointer, n_bytes)
            return memoryview(ffi.buffer(data, n_bytes[0])).toreadonly()

    def take(self, source: NativeCache, cursor: Any, n_grams: int) -> int:
        """Puts up to n_grams of another cache into this one, from a cursor on; how many."""
        n_done = ffi.new("size_t *")
        with source.use() as other, self.change() as pointer:
            _check(lib.ngc_cache_take(pointer, other, cursor, n_grams, n_done), "converting")
        return int(n_done[0])

    def close(self) -> None:
        super().close()
        if self._data is not None:
            buffer, data = self._data
            self._data = None
            ffi.release(buffer)
            if hasattr(data, "close"):
                data.close()

    def clear(self) -> None:
        with self.change() as pointer:
            _check(lib.ngc_cache_clear(pointer), "clearing")

    def update(self, text: Tokens, n_new: int) -> None:
        with self.change() as pointer:
            _check(lib.ngc_cache_update(pointer, _pointer(text), len(text), n_new), "counting")

    def merge(self, added: NativeCache) -> None:
        # Always in the same order, or two threads that merge both ways would wait for each other.
        first, second = sorted((self, added), key=id)
        with first.use(), second.use(), self.change() as pointer, added.use() as other:
            _check(lib.ngc_cache_merge(pointer, other), "merging")

    def followers(self, ngram: Tokens) -> tuple[Tokens, Tokens]:
        n_followers = ffi.new("size_t *")
        with self.use() as pointer:
            for capacity in (16, None):
                size = n_followers[0] if capacity is None else capacity
                tokens = np.empty(size, dtype=np.int32)
                counts = np.empty(size, dtype=np.int32)
                status = lib.ngc_cache_followers(
                    pointer, _pointer(ngram), len(ngram), _pointer(tokens), _pointer(counts), size,
                    n_followers,
                )  # fmt: skip
                _check(status, "followers")
                if n_followers[0] <= size:
                    break
        return tokens[: n_followers[0]].copy(), counts[: n_followers[0]].copy()

    def facts(self) -> dict[str, Any]:
        facts = ffi.new("ngc_cache_facts *")
        with self.use() as pointer:
            _check(lib.ngc_cache_facts_of(pointer, facts), "facts")
        return _facts(facts)

    def memory(self) -> dict[str, int]:
        with self.use() as pointer:
            return _memory(lib.ngc_cache_memory, pointer)

    def validate(self) -> None:
        reason = ffi.new("char **")
        with self.use() as pointer:
            status = lib.ngc_cache_validate(pointer, reason)
        if status != lib.NGC_OK:
            raise NgramError(f"the cache is broken: {ffi.string(reason[0]).decode()}")

    def walk(self, chunk: int = 65536) -> Iterator[npt.NDArray[np.void]]:
        """All n-grams in list order, as arrays of NGRAM_DTYPE."""
        cursor = ffi.new("ngc_cursor *")
        n_written = ffi.new("size_t *")
        while True:
            facts = np.empty(chunk, dtype=NGRAM_DTYPE)
            with self.use() as pointer:
                buffer = ffi.cast("ngc_ngram_facts *", facts.ctypes.data)
                _check(lib.ngc_cache_walk(pointer, cursor, buffer, chunk, n_written), "walking")
            if n_written[0] == 0:
                return
            yield facts[: n_written[0]]

    def load_legacy(
        self, piece: bytes | memoryview, file_left: int, report: Any
    ) -> tuple[int, int]:
        """Status and how many bytes of the piece were used; see ngc.h."""
        n_used = ffi.new("size_t *")
        with self.change() as pointer, ffi.from_buffer("uint8_t[]", piece) as buffer:
            status = lib.ngc_cache_load_legacy(
                pointer, buffer, len(piece), file_left, n_used, report
            )
        return int(status), int(n_used[0])

    def save_legacy(self, chunk: int = 1 << 20) -> Iterator[memoryview]:
        """The cache as llama.cpp's file, in pieces that are valid until the next one."""
        yield from _save_pieces(self, lib.ngc_cache_save_legacy, ffi.new("ngc_cursor *"), chunk)

    def save_sorted(self, chunk: int = 1 << 20) -> Iterator[memoryview]:
        """The same with n-grams ascending."""
        n_grams = self.facts()["n_grams"]
        places = np.empty(n_grams, dtype=np.uintp)
        cursor = ffi.new("ngc_cursor *")
        array = ffi.cast("void const **", places.ctypes.data)
        with self.use() as pointer:
            _check(lib.ngc_cache_sort(pointer, array, cursor), "sorting")

        def save(pointer: Any, cursor: Any, *buffer: Any) -> int:
            status: int = lib.ngc_cache_save_sorted(pointer, array, n_grams, cursor, *buffer)
            return status

        yield from _save_pieces(self, save, cursor, chunk)

    def fail_allocation(self, nth: int) -> None:
        """For tests: the nth allocation from now on fails."""
        with self.use() as pointer:
            lib.ngc_cache_fail_allocation(pointer, nth)


class NativeCounter(Handle):
    """Counts the 2-grams of a stream."""

    def __init__(self) -> None:
        out = ffi.new("ngc_counter **")
        _check(lib.ngc_counter_new(out), "new counter")
        super().__init__("counter", out[0], lib.ngc_counter_free)

    def add(self, tokens: Tokens) -> None:
        with self.use() as pointer:
            _check(lib.ngc_counter_add(pointer, _pointer(tokens), len(tokens)), "counting")

    def end_text(self) -> None:
        with self.use() as pointer:
            _check(lib.ngc_counter_end_text(pointer), "counting")

    def tokens(self) -> int:
        with self.use() as pointer:
            return int(lib.ngc_counter_tokens(pointer))

    def finish(self, n_pairs: int) -> bool:
        """Groups some n_pairs of what was counted; True when all is done."""
        done = ffi.new("int32_t *")
        with self.use() as pointer:
            status = lib.ngc_counter_finish_slice(pointer, n_pairs, done)
            _check(status, "grouping what was counted")
        return bool(done[0])

    def fraction(self) -> float:
        with self.use() as pointer:
            return float(lib.ngc_counter_fraction(pointer))

    def facts(self) -> dict[str, Any]:
        facts = ffi.new("ngc_cache_facts *")
        with self.use() as pointer:
            _check(lib.ngc_counter_facts(pointer, facts), "facts")
        return _facts(facts)

    def memory(self) -> dict[str, int]:
        with self.use() as pointer:
            return _memory(lib.ngc_counter_memory, pointer)

    def fill(self, cache: NativeCache, first: int, n_grams: int) -> None:
        with self.use() as pointer, cache.change() as target:
            _check(lib.ngc_counter_fill(pointer, target, first, n_grams), "filling a cache")

    def to_constmap(self, toggles: Toggles) -> NativeCache:
        out = ffi.new("ngc_cache **")
        with self.use() as pointer:
            _check(lib.ngc_constmap_count(_c_toggles(toggles), pointer, out), "building a constmap")
        return NativeCache(out[0])

    def save_legacy(self, chunk: int = 1 << 20) -> Iterator[memoryview]:
        """The counts as llama.cpp's file, in pieces that are valid until the next one."""
        with self.use() as pointer:
            _check(lib.ngc_counter_begin_save(pointer), "saving")
        yield from _save_pieces(self, lib.ngc_counter_save_legacy, ffi.new("ngc_cursor *"), chunk)

    def fail_allocation(self, nth: int) -> None:
        """For tests: the nth allocation from now on fails."""
        with self.use() as pointer:
            lib.ngc_counter_fail_allocation(pointer, nth)


class NativePackedBuilder(Handle):
    """Makes a packed cache of a cache, of two, or of finished counts, which it borrows."""

    def __init__(
        self,
        toggles: Toggles,
        source: NativeCache | NativeCounter,
        n_vocab: int,
        fingerprint: bytes,
        *texts: str,
        added: NativeCache | None = None,
    ) -> None:
        about = ffi.new("ngc_packed_about *")
        about.n_vocab = n_vocab
        about.fingerprint = fingerprint.ljust(32, b"\0")
        kept = [ffi.new("char[]", text.encode()) for text in texts]
        about.tokenizer, about.corpus, about.built_by = kept
        c_toggles = _c_toggles(toggles)
        out = ffi.new("ngc_packed_builder **")
        with Loans() as loans:
            first = loans.reader(source)
            if isinstance(source, NativeCounter):
                status = lib.ngc_packed_begin_counts(c_toggles, first, about, out)
            else:
                second = loans.reader(added)
                status = lib.ngc_packed_begin_merge(c_toggles, first, second, about, out)
            _check(status, "building a static file")
        super().__init__("builder", out[0], lib.ngc_packed_builder_free, loans)

    def step(self, n_grams: int) -> bool:
        """Does one slice; True when all is done."""
        done = ffi.new("int32_t *")
        with self.use() as pointer:
            _check(lib.ngc_packed_step(pointer, n_grams, done), "building a static file")
        return bool(done[0])

    def fraction(self) -> float:
        with self.use() as pointer:
            return float(lib.ngc_packed_fraction(pointer))

    def take(self) -> NativeCache:
        out = ffi.new("ngc_cache **")
        with self.use() as pointer:
            _check(lib.ngc_packed_take(pointer, out), "building a static file")
        return NativeCache(out[0])

    def fail_allocation(self, nth: int) -> None:
        """For tests: the nth allocation from now on fails."""
        with self.use() as pointer:
            lib.ngc_packed_builder_fail_allocation(pointer, nth)


def _at_fault(where: str, fault: Any) -> str:
    part = ffi.string(fault.part).decode()
    return f"{where}, {part}, byte {int(fault.at_byte)}"


def new_cursor() -> Any:
    return ffi.new("ngc_cursor *")


def _save_pieces(handle: Handle, save: Any, cursor: Any, chunk: int) -> Iterator[memoryview]:
    n_written = ffi.new("size_t *")
    buffer = bytearray(chunk)
    while True:
        with handle.use() as pointer, ffi.from_buffer("uint8_t[]", buffer) as view:
            status = save(pointer, cursor, view, len(buffer), n_written)
        if status == lib.NGC_SMALL_BUFFER:
            buffer = bytearray(2 * len(buffer))
            continue
        _check(status, "saving")
        if n_written[0] == 0:
            return
        yield memoryview(buffer)[: n_written[0]]


def _facts(facts: Any) -> dict[str, Any]:
    return {
        "n_grams": int(facts.n_grams),
        "n_grams_by_n": tuple(int(x) for x in facts.n_grams_by_n),
        "n_followers": int(facts.n_followers),
        "n_buckets": int(facts.n_buckets),
    }


def new_load_report() -> Any:
    return ffi.new("ngc_load_report *")


# ---- records ----------------------------------------------------------------------------------


class _Records:
    """Room for structures of the engine, as a numpy array and as a pointer to it."""

    def __init__(self, dtype: np.dtype[np.void], struct: str, length: int = 1) -> None:
        self.array = np.zeros(length, dtype=dtype)
        self.pointer = ffi.cast(f"{struct} *", self.array.ctypes.data)

    def one(self) -> np.void:
        record: np.void = self.array[0]
        return record


def _all_touches(record: Any) -> npt.NDArray[np.void]:
    """Calls what writes touches, a second time with more room if the first was not enough."""
    n_touches = ffi.new("size_t *")
    capacity = 1024
    while True:
        touches = _Records(TOUCH_DTYPE, "ngc_touch", capacity)
        _check(record(touches.pointer, capacity, n_touches), "recording what is touched")
        if n_touches[0] <= capacity:
            return touches.array[: n_touches[0]].copy()
        capacity = int(n_touches[0])


# ---- drafting ---------------------------------------------------------------------------------

_CACHES: dict[int, CacheName] = {
    lib.NGC_FROM_CONTEXT: "context",
    lib.NGC_FROM_DYNAMIC: "dynamic",
    lib.NGC_FROM_STATIC: "static",
}
_VERDICTS: dict[int, Verdict] = {
    lib.NGC_ROW_TOO_SHORT: "too short",
    lib.NGC_ROW_NOT_SEEN: "not seen",
    lib.NGC_ROW_TOO_RARE: "too rare",
    lib.NGC_ROW_TOO_SPLIT: "too split",
    lib.NGC_ROW_RARE_AND_SPLIT: "too rare and too split",
    lib.NGC_ROW_NO_SCORE: "no score",
    lib.NGC_ROW_PASSES: "passes",
}


def _row(c: Any) -> Row:
    shown = tuple(
        Candidate(int(x.token), int(x.count), int(x.weight), int(x.score))
        for x in c.shown[0 : c.n_shown]
    )
    return Row(
        cache=_CACHES[getattr(c, "from")],
        n=c.n,
        verdict=_VERDICTS[c.verdict],
        sum=c.sum,
        min_sum=c.min_sum,
        share=c.share,
        needed=c.needed,
        min_percent=c.min_percent,
        best=None if c.best_token == -1 else c.best_token,
        best_count=c.best_count,
        best_score=c.best_score,
        n_followers=c.n_followers,
        prechecked=bool(c.prechecked),
        candidates=shown,
        rest_followers=c.n_followers - len(shown),
        rest_sum=c.rest_sum,
    )


def _step(c: Any) -> Step:
    drafted = c.token != -1
    return Step(
        length=c.length_tokens,
        token=c.token if drafted else None,
        source=_CACHES[getattr(c, "from")] if drafted else None,
        n=c.n if drafted else None,
        rows=tuple(_row(row) for row in c.rows[0 : c.n_rows]),
        weights=_row(c.weights) if c.has_weights else None,
    )


class NativeDrafter(Handle):
    """A drafter of the engine; borrows its static and dynamic cache until it is closed."""

    def __init__(
        self,
        toggles: Toggles,
        rule: Rule,
        static: NativeCache | None,
        dynamic: NativeCache | None,
    ) -> None:
        out = ffi.new("ngc_drafter **")
        with Loans() as loans:
            borrowed = loans.reader(static), loans.writer(dynamic)
            status = lib.ngc_drafter_new(_c_toggles(toggles), _c_rule(rule), *borrowed, out)
            _check(status, "new drafter")
        super().__init__("drafter", out[0], lib.ngc_drafter_free, loans)

    def feed(self, tokens: Tokens) -> None:
        n_done = ffi.new("size_t *")
        with self.use() as pointer:
            _check(lib.ngc_drafter_feed(pointer, _pointer(tokens), len(tokens), n_done), "feeding")

    def draft(self, n_draft: int) -> Tokens:
        tokens = np.empty(n_draft, dtype=np.int32)
        n_drafted = ffi.new("int32_t *")
        with self.use() as pointer:
            status = lib.ngc_drafter_draft(pointer, n_draft, _pointer(tokens), n_drafted)
            _check(status, "drafting")
        return tokens[: n_drafted[0]].copy()

    def trace(self, n_draft: int) -> tuple[tuple[Step, ...], np.void]:
        steps = ffi.new("ngc_step[]", n_draft + 1)
        n_steps = ffi.new("int32_t *")
        probe = _Records(PROBE_DTYPE, "ngc_probe")
        with self.use() as pointer:
            status = lib.ngc_drafter_trace(pointer, n_draft, steps, n_steps, probe.pointer)
            _check(status, "drafting")
        return tuple(_step(steps[i]) for i in range(n_steps[0])), probe.one()

    def touches(self, n_draft: int) -> tuple[npt.NDArray[np.void], np.void]:
        """What a draft call touches, in order, and its probe."""
        probe = _Records(PROBE_DTYPE, "ngc_probe")
        with self.use() as pointer:
            touches = _all_touches(
                lambda *room: lib.ngc_drafter_touches(pointer, n_draft, *room, probe.pointer)
            )
        return touches, probe.one()

    def rewind(self, length: int) -> None:
        with self.use() as pointer:
            _check(lib.ngc_drafter_rewind(pointer, length), "rewinding")

    def end_text(self) -> None:
        with self.use() as pointer:
            _check(lib.ngc_drafter_end_text(pointer), "ending the text")

    def length(self) -> int:
        with self.use() as pointer:
            return int(lib.ngc_drafter_length(pointer))

    def text(self) -> Tokens:
        with self.use() as pointer:
            length = int(lib.ngc_drafter_length(pointer))
            if length == 0:
                return np.zeros(0, dtype=np.int32)
            view = ffi.buffer(lib.ngc_drafter_text_view(pointer), 4 * length)
            return np.frombuffer(view, dtype=np.int32).copy()

    def context_followers(self, ngram: Tokens) -> tuple[Tokens, Tokens]:
        n_followers = ffi.new("size_t *")
        with self.use() as pointer:
            context = lib.ngc_drafter_context_view(pointer)
            args = (context, _pointer(ngram), len(ngram))
            _check(lib.ngc_cache_followers(*args, ffi.NULL, ffi.NULL, 0, n_followers), "followers")
            tokens = np.empty(n_followers[0], dtype=np.int32)
            counts = np.empty(n_followers[0], dtype=np.int32)
            status = lib.ngc_cache_followers(
                *args, _pointer(tokens), _pointer(counts), len(tokens), n_followers
            )
            _check(status, "followers")
        return tokens, counts

    def context_memory(self) -> dict[str, int]:
        with self.use() as pointer:
            return _memory(lib.ngc_cache_memory, lib.ngc_drafter_context_view(pointer))

    def scratch_memory(self) -> dict[str, int]:
        with self.use() as pointer:
            return _memory(lib.ngc_drafter_scratch_memory, pointer)

    def fail_allocation(self, nth: int) -> None:
        """For tests: the nth allocation of each of its allocators fails."""
        with self.use() as pointer:
            lib.ngc_drafter_fail_allocation(pointer, nth)


class NativeReplay(Handle):
    """A replay of the engine; borrows tokens, static and dynamic cache until it is closed."""

    def __init__(
        self,
        toggles: Toggles,
        rule: Rule,
        tokens: Tokens,
        static: NativeCache | None,
        dynamic: NativeCache | None,
        n_ctx: int,
        n_draft: int,
        keep_tail: bool,
        record_drafts: bool,
        record_calls: bool,
        record_probes: bool,
    ) -> None:
        options = ffi.new("ngc_replay_options *")
        options.n_ctx = n_ctx
        options.n_draft = n_draft
        options.tail = lib.NGC_TAIL_KEEP if keep_tail else lib.NGC_TAIL_DROP
        options.record = (
            record_drafts * lib.NGC_RECORD_DRAFTS
            + record_calls * lib.NGC_RECORD_CALLS
            + record_probes * lib.NGC_RECORD_PROBES
        )
        out = ffi.new("ngc_replay **")
        with Loans() as loans:
            borrowed = loans.reader(static), loans.writer(dynamic)
            settings = _c_toggles(toggles), _c_rule(rule), options
            text = _pointer(tokens), len(tokens)
            _check(lib.ngc_replay_new(*settings, *text, *borrowed, out), "new replay")
        super().__init__("replay", out[0], lib.ngc_replay_free, loans)
        self._tokens = tokens  # the engine reads them where they lie
        self._n_draft = n_draft

    def advance(self, max_tokens: int, max_ns: int) -> dict[str, int]:
        sample = ffi.new("ngc_sample *")
        with self.use() as pointer:
            _check(lib.ngc_replay_advance(pointer, max_tokens, max_ns, sample), "replaying")
        return {name: int(getattr(sample, name)) for name, _ in ffi.typeof("ngc_sample").fields}

    def take_drafts(self) -> list[Tokens]:
        buffer = np.empty(65536 + self._n_draft, dtype=np.int32)
        n_written = ffi.new("size_t *")
        drafts: list[Tokens] = []
        while True:
            with self.use() as pointer:
                status = lib.ngc_replay_take_drafts(
                    pointer, _pointer(buffer), len(buffer), n_written
                )
                _check(status, "taking drafts")
            if n_written[0] == 0:
                return drafts
            at = 0
            while at < n_written[0]:
                length = int(buffer[at])
                drafts.append(buffer[at + 1 : at + 1 + length].copy())
                at += 1 + length

    def take_calls(self) -> npt.NDArray[np.void]:
        return self._take(lib.ngc_replay_take_calls, CALL_DTYPE, "ngc_call")

    def take_probes(self) -> npt.NDArray[np.void]:
        return self._take(lib.ngc_replay_take_probes, PROBE_DTYPE, "ngc_probe")

    def _take(self, take: Any, dtype: np.dtype[np.void], struct: str) -> npt.NDArray[np.void]:
        n_written = ffi.new("size_t *")
        pieces: list[npt.NDArray[np.void]] = []
        while True:
            piece = _Records(dtype, struct, 65536)
            with self.use() as pointer:
                _check(take(pointer, piece.pointer, 65536, n_written), "taking records")
            if n_written[0] == 0:
                return np.concatenate(pieces) if pieces else piece.array[:0]
            pieces.append(piece.array[: n_written[0]])

    def probe(self) -> np.void:
        sum = _Records(PROBE_DTYPE, "ngc_probe")
        with self.use() as pointer:
            _check(lib.ngc_replay_probe(pointer, sum.pointer), "adding up probes")
        return sum.one()

    def fail_allocation(self, nth: int) -> None:
        """For tests: the nth allocation of each of its allocators fails."""
        with self.use() as pointer:
            lib.ngc_replay_fail_allocation(pointer, nth)


# ---- the machine ------------------------------------------------------------------------------


def clock_cost_ns() -> int:
    """What one reading of the engine's clock costs here, in ns, measured now."""
    return int(lib.ngc_clock_cost_ns())


def compiler() -> str:
    """Name and version of the compiler that built the engine."""
    return str(ffi.string(lib.ngc_compiler()).decode())


# ---- views of the inside ----------------------------------------------------------------------

PLACE_DTYPE = _dtype_of("ngc_place")
SPAN_DTYPE = _dtype_of("ngc_span")
PEEL_DTYPE = _dtype_of("ngc_peel_step")
ASSIGN_DTYPE = _dtype_of("ngc_assign_step")

MOST_PEELED = int(lib.NGC_MOST_PEELED)


def _names(prefix: str) -> dict[int, str]:
    """The engine's codes with a prefix, each with the rest of its name in small letters."""
    codes = (name for name in dir(lib) if name.startswith(prefix))
    return {int(getattr(lib, name)): name[len(prefix) :].lower() for name in codes}


TOUCHED = _names("NGC_TOUCH_")
MEANINGS = _names("NGC_SPAN_")
FUSE_VERDICTS = _names("NGC_FUSE_")
FROM = _names("NGC_FROM_")


def _fields(c: Any, struct: str) -> dict[str, Any]:
    """The numbers of a structure; arrays as tuples."""
    return {
        name: tuple(getattr(c, name)) if field.type.kind == "array" else int(getattr(c, name))
        for name, field in ffi.typeof(struct).fields
        if name != "unused"
    }


@contextmanager
def _cache_of(handle: Handle) -> Iterator[Any]:
    """The engine's pointer to a cache, or to a drafter's context cache."""
    with handle.use() as pointer:
        is_drafter = isinstance(handle, NativeDrafter)
        yield lib.ngc_drafter_context_view(pointer) if is_drafter else pointer


def table_around(
    handle: Handle, ngram: Tokens, before: int, after: int
) -> tuple[dict[str, Any], npt.NDArray[np.void], npt.NDArray[np.void]]:
    """What stands around an n-gram, the places, and the touches of its look-up."""
    around = ffi.new("ngc_around *")
    n_places = 64
    with _cache_of(handle) as pointer:
        while True:
            places = _Records(PLACE_DTYPE, "ngc_place", n_places)
            touches = _all_touches(
                lambda *room, places=places: lib.ngc_cache_table_around(
                    pointer, _pointer(ngram), len(ngram), before, after, around, places.pointer,
                    len(places.array), *room,
                )
            )  # fmt: skip
            if around.n_places <= n_places:
                break
            n_places = int(around.n_places)
    return _fields(around, "ngc_around"), places.array[: around.n_places].copy(), touches


def table_facts(handle: Handle) -> dict[str, Any]:
    facts = ffi.new("ngc_table_facts *")
    with _cache_of(handle) as pointer:
        _check(lib.ngc_cache_table_facts(pointer, facts), "measuring the table")
    return _fields(facts, "ngc_table_facts")


def search_path(pairs: Tokens, token: int, search: str) -> tuple[int, npt.NDArray[np.void]]:
    """The token's count and the touches of a search in pairs, shape (n, 2), ascending by token."""
    count = ffi.new("int32_t *")
    code = _TOGGLE_CODES["search"][search]
    touches = _all_touches(
        lambda *room: lib.ngc_search_path(_pointer(pairs), len(pairs), token, code, count, *room)
    )
    return int(count[0]), touches


def cache_search_path(
    handle: Handle, ngram: Tokens, token: int, search: str
) -> tuple[int, int, npt.NDArray[np.void]]:
    """The token's count, the length of its list, and the touches of a search in it."""
    count, length = ffi.new("int32_t *"), ffi.new("size_t *")
    code = _TOGGLE_CODES["search"][search]
    with _cache_of(handle) as pointer:
        touches = _all_touches(
            lambda *room: lib.ngc_cache_search_path(
                pointer, _pointer(ngram), len(ngram), token, code, count, length, *room
            )
        )
    return int(count[0]), int(length[0]), touches


def key_hash(first: int, second: int) -> int:
    """The hash of a 2-gram by which a constmap knows it."""
    return int(lib.ngc_constmap_key_hash(first, second))


def fuse_look_up(cache: NativeCache, ngram: Tokens) -> dict[str, Any]:
    lookup = ffi.new("ngc_fuse_lookup *")
    with cache.use() as pointer:
        _check(lib.ngc_constmap_look_up(pointer, _pointer(ngram), lookup), "looking up")
    return _fields(lookup, "ngc_fuse_lookup")


def fuse_peeling(
    ngrams: Tokens, values: npt.NDArray[np.uint64]
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """How the map of these 2-grams, shape (n, 2), is built: its shape, and arrays."""
    peeling = ffi.new("ngc_peeling *")
    n_keys, n_cells = len(ngrams), 0
    steps = _Records(PEEL_DTYPE, "ngc_peel_step", n_keys)
    assigned = _Records(ASSIGN_DTYPE, "ngc_assign_step", n_keys)
    cells = np.zeros((n_keys, 3), dtype=np.uint32)
    value_pointer = ffi.cast("uint64_t *", values.ctypes.data)
    while True:
        data, checks = (np.zeros(n_cells, dtype=np.uint64) for _ in range(2))
        status = lib.ngc_fuse_peeling(
            _pointer(ngrams), value_pointer, n_keys, peeling,
            ffi.cast("uint32_t *", cells.ctypes.data), steps.pointer, assigned.pointer,
            ffi.cast("uint64_t *", data.ctypes.data), ffi.cast("uint64_t *", checks.ctypes.data),
            n_cells,
        )  # fmt: skip
        if status != lib.NGC_SMALL_BUFFER:
            break
        n_cells = int(peeling.n_cells)
    _check(status, "building a fuse map")
    arrays = {
        "cells": cells, "peeled": steps.array, "assigned": assigned.array, "data": data,
        "checks": checks,
    }  # fmt: skip
    return _fields(peeling, "ngc_peeling"), arrays


class LegacySpans:
    """Walks llama.cpp's cache file in pieces, for the spans of one window."""

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end
        self._place = ffi.new("ngc_file_place *")

    @property
    def offset(self) -> int:
        """How far it came."""
        return int(self._place.offset)

    def walk(
        self, piece: bytes | memoryview, file_left: int
    ) -> tuple[int, int, npt.NDArray[np.void]]:
        """Status, bytes of the piece that were walked, and the spans found in them."""
        n_spans, n_used = ffi.new("size_t *"), ffi.new("size_t *")
        capacity = (self.end - self.start) // 4 + 2  # each has 4 bytes
        spans = _Records(SPAN_DTYPE, "ngc_span", capacity)
        with ffi.from_buffer("uint8_t[]", piece) as buffer:
            status = lib.ngc_legacy_spans(
                buffer, len(piece), file_left, self.start, self.end, self._place, spans.pointer,
                capacity, n_spans, n_used,
            )  # fmt: skip
        return int(status), int(n_used[0]), spans.array[: n_spans[0]]


def constmap_spans(cache: NativeCache, start: int, end: int) -> npt.NDArray[np.void]:
    return _spans(lib.ngc_constmap_spans, cache, start, end)


def packed_spans(cache: NativeCache, start: int, end: int) -> npt.NDArray[np.void]:
    return _spans(lib.ngc_packed_spans, cache, start, end)


def _spans(tell: Any, cache: NativeCache, start: int, end: int) -> npt.NDArray[np.void]:
    n_spans = ffi.new("size_t *")
    capacity = end - start + 2  # some have one byte
    spans = _Records(SPAN_DTYPE, "ngc_span", capacity)
    with cache.use() as pointer:
        _check(
            tell(pointer, start, end, spans.pointer, capacity, n_spans), "telling what bytes mean"
        )
    return spans.array[: n_spans[0]].copy()
