"""Caches of the engine, and files of them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import NgramError
from ..toggles import Toggles
from .adding import Adding
from .engine import ffi, lib
from .handles import Handle, in_background
from .values import NGRAM_DTYPE, Tokens, address_of, c_toggles, check, error_of

SLICE_GRAMS = 1 << 15  # some 10 to 40 ms of going over a cache


def memory_of(fill: Any, pointer: Any) -> dict[str, int]:
    memory = ffi.new("ngc_memory *")
    check(fill(pointer, memory), "memory")
    return {name: int(getattr(memory, name)) for name, _ in ffi.typeof("ngc_memory").fields}


class NativeCache(Handle):
    """A cache of the engine."""

    def __init__(self, pointer: Any, data: Any = None) -> None:
        super().__init__("cache", pointer, lib.ngc_cache_free)
        self._data = data  # the engine reads it where it lies
        self._owing: weakref.WeakSet[NativeCache] = weakref.WeakSet()  # stopped adding this one

    @contextmanager
    def change(self) -> Iterator[Any]:
        self._settle()
        with super().change() as pointer:
            yield pointer

    def _settle(self) -> None:
        """What others have still to take back is read from this one: it must be as it was."""
        for cache in list(self._owing):
            if not cache.closed:
                with cache.use():
                    pass
            self._owing.discard(cache)

    def _add(
        self,
        begin: Any,
        doing: str,
        read: object,
        arguments: tuple[Any, ...],
        progress: Callable[[float], None] | None,
    ) -> None:
        """Adds what a function of the engine begins; it is in use already."""
        out = ffi.new("ngc_adding **")
        check(begin(self._pointer, *arguments, out), doing)
        adding = Adding(out[0], self._pointer, doing, read)
        try:
            adding.run(progress)
        except BaseException:
            self._stop(adding, read if isinstance(read, NativeCache) else None)
            raise
        adding.close()

    def _stop(self, adding: Adding, added: NativeCache | None) -> None:
        if added is not None and added._writer is not None:  # it may be changed at any time
            adding.take_back_at_once()
            return
        self._stopped = adding
        if added is not None:
            adding.loans.reader(added)
            added._owing.add(self)

    @classmethod
    def empty(cls, toggles: Toggles, n_min: int, n_max: int) -> NativeCache:
        out = ffi.new("ngc_cache **")
        check(lib.ngc_cache_new(c_toggles(toggles), n_min, n_max, out), "new cache")
        return cls(out[0])

    @classmethod
    def constmap(cls, toggles: Toggles, n_bytes: int) -> tuple[NativeCache, memoryview]:
        """An unchecked constmap and the bytes to fill with its file."""
        out = ffi.new("ngc_cache **")
        data = ffi.new("uint8_t **")
        check(lib.ngc_constmap_new(c_toggles(toggles), n_bytes, out, data), "new constmap")
        return cls(out[0]), memoryview(ffi.buffer(data[0], n_bytes))

    def check_constmap(self) -> tuple[int, bool]:
        """One slice of checking: the status, and whether it was the last."""
        done = ffi.new("int32_t *")
        with self.use() as pointer:
            status = lib.ngc_constmap_check(pointer, done)
        return int(status), bool(done[0])

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
        status = lib.ngc_packed_open(c_toggles(toggles), buffer, len(data), out, fault)
        if status != lib.NGC_OK:
            ffi.release(buffer)
            raise error_of(status, at_fault(where, fault))
        return cls(out[0], (buffer, data))

    def check_packed(self, where: str) -> bool:
        """One slice of checking all of our own file; True after the last."""
        done = ffi.new("int32_t *")
        fault = ffi.new("ngc_fault *")
        with self.use() as pointer:
            status = lib.ngc_packed_check(pointer, done, fault)
        if status != lib.NGC_OK:
            raise error_of(status, at_fault(where, fault))
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

    def take(self, source: NativeCache, cursor: Any, n_grams: int, least_sum: int = 0) -> int:
        """Goes over up to n_grams of another cache, from a cursor on, and puts those into this one
        whose counts add up to `least_sum`; how many it went over."""
        n_done, done, status = ffi.new("size_t *"), 0, lib.NGC_NOT_YET
        with source.use() as other, self.change() as pointer:
            while status == lib.NGC_NOT_YET:
                status = lib.ngc_cache_take_frequent(
                    pointer, other, cursor, n_grams - done, least_sum, n_done
                )
                done += int(n_done[0])
            check(status, "converting")
        return done

    def drop(self) -> None:
        """Closes what nobody else has, in a thread: to free millions of nodes takes seconds, which
        who was interrupted does not wait for."""
        in_background(self.close, "free")

    def _size_bytes(self) -> int:
        return memory_of(lib.ngc_cache_memory, self._pointer)["live_bytes"]

    def close(self) -> None:
        self._settle()
        super().close()
        if self._data is not None:
            buffer, data = self._data
            self._data = None
            ffi.release(buffer)
            if hasattr(data, "close"):
                data.close()

    def clear(self) -> None:
        with self.change() as pointer:
            check(lib.ngc_cache_clear(pointer), "clearing")

    def update(self, text: Tokens, n_new: int) -> None:
        with self.change() as pointer:
            check(lib.ngc_cache_update(pointer, address_of(text), len(text), n_new), "counting")

    def update_whole(
        self, text: Tokens, n_new: int, progress: Callable[[float], None] | None
    ) -> None:
        """In slices, in the order of one call."""
        with self.change():
            arguments = address_of(text), len(text), n_new
            self._add(lib.ngc_adding_begin_update, "counting", text, arguments, progress)

    def merge(self, added: NativeCache, progress: Callable[[float], None] | None = None) -> None:
        self._settle()
        # Always in the same order, or two threads that merge both ways would wait for each other.
        first, second = sorted((self, added), key=id)
        with first.use(), second.use(), self.change(), added.use() as other:
            self._add(lib.ngc_adding_begin_merge, "merging", added, (other,), progress)

    def followers(self, ngram: Tokens) -> tuple[Tokens, Tokens]:
        n_followers = ffi.new("size_t *")
        with self.use() as pointer:
            for capacity in (16, None):
                size = n_followers[0] if capacity is None else capacity
                tokens = np.empty(size, dtype=np.int32)
                counts = np.empty(size, dtype=np.int32)
                out = address_of(tokens), address_of(counts), size, n_followers
                status = lib.ngc_cache_followers(pointer, address_of(ngram), len(ngram), *out)
                check(status, "followers")
                if n_followers[0] <= size:
                    break
        return tokens[: n_followers[0]].copy(), counts[: n_followers[0]].copy()

    def facts(self) -> dict[str, Any]:
        facts = ffi.new("ngc_cache_facts *")
        with self.use() as pointer:
            check(lib.ngc_cache_facts_of(pointer, facts), "facts")
        return facts_of(facts)

    def memory(self) -> dict[str, int]:
        with self.use() as pointer:
            return memory_of(lib.ngc_cache_memory, pointer)

    def validate(self) -> None:
        reason = ffi.new("char **")
        checking = ffi.new("ngc_checking *")
        while not checking.done:
            with self.use() as pointer:
                status = lib.ngc_cache_validate_slice(pointer, checking, SLICE_GRAMS, reason)
            if reason[0] != ffi.NULL:
                raise NgramError(f"the cache is broken: {ffi.string(reason[0]).decode()}")
            check(status, "checking the cache")

    def walk(self, chunk: int = 65536) -> Iterator[npt.NDArray[np.void]]:
        """All n-grams in list order, as arrays of NGRAM_DTYPE."""
        cursor = ffi.new("ngc_cursor *")
        n_written = ffi.new("size_t *")
        while True:
            facts = np.empty(chunk, dtype=NGRAM_DTYPE)
            with self.use() as pointer:
                buffer = ffi.cast("ngc_ngram_facts *", facts.ctypes.data)
                check(lib.ngc_cache_walk(pointer, cursor, buffer, chunk, n_written), "walking")
            if n_written[0] == 0:
                return
            yield facts[: n_written[0]]

    def load_legacy(
        self, piece: bytes | memoryview, file_left: int, report: Any
    ) -> tuple[int, int]:
        """Status and how many bytes of the piece were used; see ngc.h."""
        n_used, used, status = ffi.new("size_t *"), 0, lib.NGC_NOT_YET
        with self.change() as pointer, ffi.from_buffer("uint8_t[]", piece) as buffer:
            while status == lib.NGC_NOT_YET:
                rest = buffer + used, len(piece) - used, file_left - used
                status = lib.ngc_cache_load_legacy(pointer, *rest, n_used, report)
                used += int(n_used[0])
        return int(status), used

    def save_legacy(self, chunk: int = 1 << 20) -> Iterator[memoryview]:
        """The cache as llama.cpp's file, in pieces that are valid until the next one."""
        yield from save_pieces(self, lib.ngc_cache_save_legacy, ffi.new("ngc_cursor *"), chunk)

    def save_sorted(self, chunk: int = 1 << 20) -> Iterator[memoryview]:
        """The same with n-grams ascending."""
        out = ffi.new("ngc_sorter **")
        with self.use() as pointer:
            check(lib.ngc_sorter_begin(pointer, out), "sorting")
        sorter, done = ffi.gc(out[0], lib.ngc_sorter_free), ffi.new("int32_t *")
        while not done[0]:
            with self.use():  # it reads this cache
                check(lib.ngc_sorter_step(sorter, SLICE_GRAMS, done), "sorting")

        def save(_pointer: Any, _cursor: Any, *buffer: Any) -> int:
            status: int = lib.ngc_sorter_save(sorter, *buffer)
            return status

        yield from save_pieces(self, save, None, chunk)
        ffi.release(sorter)

    def fail_allocation(self, nth: int) -> None:
        """For tests: the nth allocation from now on fails."""
        with self.use() as pointer:
            lib.ngc_cache_fail_allocation(pointer, nth)


def at_fault(where: str, fault: Any) -> str:
    part = ffi.string(fault.part).decode()
    return f"{where}, {part}, byte {int(fault.at_byte)}"


def new_cursor() -> Any:
    return ffi.new("ngc_cursor *")


def save_pieces(handle: Handle, save: Any, cursor: Any, chunk: int) -> Iterator[memoryview]:
    n_written = ffi.new("size_t *")
    buffer = bytearray(chunk)
    while True:
        with handle.use() as pointer, ffi.from_buffer("uint8_t[]", buffer) as view:
            status = save(pointer, cursor, view, len(buffer), n_written)
        if status == lib.NGC_SMALL_BUFFER:
            buffer = bytearray(2 * len(buffer))
            continue
        check(status, "saving")
        if n_written[0] == 0:
            return
        yield memoryview(buffer)[: n_written[0]]


def facts_of(facts: Any) -> dict[str, Any]:
    return {
        "n_grams": int(facts.n_grams),
        "n_grams_by_n": tuple(int(x) for x in facts.n_grams_by_n),
        "n_followers": int(facts.n_followers),
        "n_buckets": int(facts.n_buckets),
    }


def new_load_report() -> Any:
    return ffi.new("ngc_load_report *")
