"""Counting a corpus, and packing a static cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..toggles import Toggles
from .caches import SLICE_GRAMS, NativeCache, facts_of, memory_of, save_pieces
from .engine import ffi, lib
from .handles import Handle, Loans
from .values import Tokens, address_of, c_toggles, check


class NativeCounter(Handle):
    """Counts the 2-grams of a stream."""

    def __init__(self, in_order: bool = True) -> None:
        out = ffi.new("ngc_counter **")
        check(lib.ngc_counter_new(out), "new counter")
        super().__init__("counter", out[0], lib.ngc_counter_free)
        if not in_order:
            with self.use() as pointer:
                check(lib.ngc_counter_in_any_order(pointer), "new counter")

    def add(self, tokens: Tokens) -> int:
        """Counts some of them, maybe none while its table grows; how many."""
        n_done = ffi.new("size_t *")
        with self.use() as pointer:
            arguments = address_of(tokens), len(tokens), n_done
            check(lib.ngc_counter_add_slice(pointer, *arguments), "counting")
        return int(n_done[0])

    def end_text(self) -> None:
        with self.use() as pointer:
            check(lib.ngc_counter_end_text(pointer), "counting")

    def tokens(self) -> int:
        with self.use() as pointer:
            return int(lib.ngc_counter_tokens(pointer))

    def finish(self, n_pairs: int) -> bool:
        """Groups some n_pairs of what was counted; True when all is done."""
        done = ffi.new("int32_t *")
        with self.use() as pointer:
            status = lib.ngc_counter_finish_slice(pointer, n_pairs, done)
            check(status, "grouping what was counted")
        return bool(done[0])

    def fraction(self) -> float:
        with self.use() as pointer:
            return float(lib.ngc_counter_fraction(pointer))

    def facts(self) -> dict[str, Any]:
        facts = ffi.new("ngc_cache_facts *")
        with self.use() as pointer:
            check(lib.ngc_counter_facts(pointer, facts), "facts")
        return facts_of(facts)

    def memory(self) -> dict[str, int]:
        with self.use() as pointer:
            return memory_of(lib.ngc_counter_memory, pointer)

    def fill(self, cache: NativeCache, first: int, n_grams: int) -> None:
        n_done, end, status = ffi.new("int64_t *"), first + n_grams, lib.NGC_NOT_YET
        with self.use() as pointer, cache.change() as target:
            while status == lib.NGC_NOT_YET:
                status = lib.ngc_counter_fill(pointer, target, first, end - first, n_done)
                first += int(n_done[0])
            check(status, "filling a cache")

    def save_legacy(self, chunk: int = 1 << 20) -> Iterator[memoryview]:
        """The counts as llama.cpp's file, in pieces that are valid until the next one."""
        done = ffi.new("int32_t *")
        while not done[0]:
            with self.use() as pointer:
                status = lib.ngc_counter_begin_save_slice(pointer, SLICE_GRAMS, done)
                check(status, "saving")
        yield from save_pieces(self, lib.ngc_counter_save_legacy, ffi.new("ngc_cursor *"), chunk)

    def fail_allocation(self, nth: int) -> None:
        """For tests: the nth allocation from now on fails."""
        with self.use() as pointer:
            lib.ngc_counter_fail_allocation(pointer, nth)


def _utf8(text: str) -> bytes:
    """A text's bytes. Names of files that the locale could not read become the bytes they are."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


class _Builder(Handle):
    """What the engine builds in slices; `begun` points at the builder, made by a call of `name`."""

    def __init__(self, name: str, what: str, begun: Any, loans: Loans) -> None:
        self._name, self._doing = name, what
        super().__init__("builder", begun, self._call("builder_free"), loans)

    def _call(self, name: str) -> Any:
        return getattr(lib, f"{self._name}_{name}")

    def step(self, n_grams: int) -> bool:
        """Does one slice; True when all is done."""
        done = ffi.new("int32_t *")
        with self.use() as pointer:
            check(self._call("step")(pointer, n_grams, done), self._doing)
        return bool(done[0])

    def fraction(self) -> float:
        with self.use() as pointer:
            return float(self._call("fraction")(pointer))

    def take(self) -> NativeCache:
        out = ffi.new("ngc_cache **")
        with self.use() as pointer:
            check(self._call("take")(pointer, out), self._doing)
        return NativeCache(out[0])

    def fail_allocation(self, nth: int) -> None:
        """For tests: the nth allocation from now on fails."""
        with self.use() as pointer:
            self._call("builder_fail_allocation")(pointer, nth)


class NativeConstmapBuilder(_Builder):
    """Makes a constmap of a cache or of finished counts, which it borrows."""

    def __init__(self, toggles: Toggles, source: NativeCache | NativeCounter) -> None:
        begin = (
            lib.ngc_constmap_begin_counts
            if isinstance(source, NativeCounter)
            else lib.ngc_constmap_begin
        )
        out = ffi.new("ngc_constmap_builder **")
        with Loans() as loans:
            status = begin(c_toggles(toggles), loans.reader(source), out)
            check(status, "building a constmap")
        super().__init__("ngc_constmap", "building a constmap", out[0], loans)


class NativePackedBuilder(_Builder):
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
        kept = [ffi.new("char[]", _utf8(text)) for text in texts]
        about.tokenizer, about.corpus, about.built_by = kept
        settings = c_toggles(toggles)
        out = ffi.new("ngc_packed_builder **")
        with Loans() as loans:
            first = loans.reader(source)
            if isinstance(source, NativeCounter):
                status = lib.ngc_packed_begin_counts(settings, first, about, out)
            else:
                second = loans.reader(added)
                status = lib.ngc_packed_begin_merge(settings, first, second, about, out)
            check(status, "building a static file")
        super().__init__("ngc_packed", "building a static file", out[0], loans)
