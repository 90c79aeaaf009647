"""N-gram caches: build, count, merge, look up, save and load."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from . import _native
from ._native import NGRAM_DTYPE, Tokens, as_count, as_tokens
from .bounding import Bound, Thinned, thinned
from .closing import Closing
from .copying import copied
from .errors import FormatError, InputError, NgramError
from .files import atomic_write, locked, open_file
from .static_file import (
    MAGIC,
    StaticAbout,
    about_of,
    build_static,
    in_slices,
    open_static_file,
)
from .toggles import NOCOPY, Static, Toggles

if TYPE_CHECKING:
    from .inside import TableAround
    from .tokenizers import Tokenizer

Progress = Callable[[float], None]
"""Called with the fraction done, 0.0 to 1.0; what it raises stops the work."""

TokensLike = npt.NDArray[Any] | Sequence[int]

CONSTMAP_MAGIC = b"ggngcmap"

# How long Ctrl-C may wait: each is some 10 to 40 ms of work.
SLICE_TOKENS = 1 << 16  # counted by a counter
_SLICE_UPDATE = 1 << 13  # tokens counted into a cache, four n-grams each
_SLICE_GRAMS = 1 << 14
_LOADED_BYTES = 1 << 18
_PIECE_BYTES = 1 << 20


@dataclass(frozen=True)
class Memory:
    """Bytes asked of malloc by one structure, from the engine's own allocator.

    `slack_bytes`, in the others already, is room for n-grams and followers that are not there: what
    slots, arrays and blocks hold in reserve, and of a map's buckets, cells and records those beyond
    one for each entry; 0 of what is no cache. `overhead_bytes` is a model of what glibc's malloc
    adds in headers and rounding; the other figures are exact and do not include it. `mapped_bytes`
    are those of a file that is read where it lies; the system holds them, once for all that use the
    file, and they are in no other figure.
    """

    live_bytes: int
    peak_bytes: int
    ngrams_bytes: int
    index_bytes: int
    followers_bytes: int
    follower_index_bytes: int
    other_bytes: int
    slack_bytes: int
    overhead_bytes: int
    total_bytes: int
    allocations: int
    live_allocations: int
    mapped_bytes: int


@dataclass(frozen=True)
class LoadReport:
    """What a file held: `n_left_out` n-grams were of sizes that the cache does not hold."""

    n_bytes: int
    n_grams: int
    n_followers: int
    n_left_out: int
    converted_seconds: float = 0.0
    """Time spent in turning the file's structure into the one asked for; part of loading."""


class NgramCache(Closing):
    """Follower counts of n-grams: what llama.cpp calls an n-gram cache.

    Args:
        toggles: how it is stored; structures must be those of the drafter that will read it.
        n_min: the shortest n-gram counted.
        n_max: the longest, at most 4.

    A context manager; `close()` frees its memory at once. Cost: one hash look-up a count.

    >>> cache = NgramCache(n_min=2, n_max=2)
    >>> cache.update([7, 8, 9, 7, 8, 9])
    >>> [x.tolist() for x in cache.followers([7, 8])]
    [[9], [2]]
    """

    def __init__(self, toggles: Toggles = NOCOPY.toggles, n_min: int = 1, n_max: int = 4) -> None:
        n_min, n_max = as_count(n_min, "n_min", 1, 4), as_count(n_max, "n_max", 1, 4)
        if n_min > n_max:
            raise InputError(f"n_min={n_min} is above n_max={n_max}: turn them around")
        self.toggles = toggles
        self.n_min = n_min
        self.n_max = n_max
        self.load_report: LoadReport | None = None
        self._kind: Static = "same"
        self._where = "the cache"  # what a message calls it
        self._handle = _native.NativeCache.empty(toggles, n_min, n_max)

    # ---- making -------------------------------------------------------------------------------

    @classmethod
    def build_static(
        cls,
        tokens: TokensLike,
        toggles: Toggles = NOCOPY.toggles,
        progress: Progress | None = None,
        about: StaticAbout | None = None,
    ) -> NgramCache:
        """A static cache: the 2-grams of a whole corpus.

        Counted in a flat table first, then put into the structure asked for, in the order that
        counting into it one by one would give. (With static="ngc" there is none to keep.)

        Args:
            tokens: int ids, shape (n,).
            progress: called with the fraction of the tokens counted; Ctrl-C is heard between
                slices.
            about: with static="ngc", what the file will say of itself.
        """
        array = as_tokens(tokens)
        counter = _native.NativeCounter(in_order=toggles.static != "ngc")
        try:
            done = 0
            while done < len(array):
                n_counted = counter.add(array[done : done + SLICE_TOKENS])
                done += n_counted
                if progress is not None and n_counted > 0:
                    progress(done / len(array))
            group(counter)
            return cls._from_counts(counter, toggles, about)
        finally:
            counter.close()

    @classmethod
    def _from_counts(
        cls,
        counter: _native.NativeCounter,
        toggles: Toggles,
        about: StaticAbout | None = None,
        progress: Progress | None = None,
    ) -> NgramCache:
        """A static cache of finished counts, in slices."""
        if toggles.static == "constmap":
            return cls._around(_build_constmap(counter, toggles, progress), toggles)
        if toggles.static == "ngc":
            about = about or StaticAbout.of(None)
            return cls._around(build_static(counter, toggles, about, progress), toggles)
        cache = cls(toggles, n_min=2, n_max=2)
        try:
            n_grams = counter.facts()["n_grams"]
            for first in range(0, n_grams, _SLICE_GRAMS):
                counter.fill(cache._handle, first, min(_SLICE_GRAMS, n_grams - first))
                if progress is not None:
                    progress(min(first + _SLICE_GRAMS, n_grams) / n_grams)
        except BaseException:
            cache._handle.drop()
            raise
        return cache

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        toggles: Toggles = NOCOPY.toggles,
        static: bool = False,
        progress: Progress | None = None,
        tokenizer: Tokenizer | None = None,
    ) -> NgramCache:
        """Loads a cache file: llama.cpp's, or (static) the fork's constmap or our own, which is
        mapped.

        Args:
            static: hold 2-grams only; others are counted in `load_report.n_left_out`. A file that
                is not of the kind of toggles.static is converted, and
                `load_report.converted_seconds` says what that took.
            tokenizer: of the text; a file that says it was counted with another one is refused.

        Raises:
            FormatError: the message names file, byte offset and what is wrong there.
            InputError: a constmap is asked to become something else, or another tokenizer.
            OSError: the file cannot be read.
        """
        with open_file(path) as (file, _):
            start = file.read(len(MAGIC))
        if start == CONSTMAP_MAGIC:
            return cls._open_constmap(Path(path), toggles, static, progress)
        if start == MAGIC:
            return cls._open_packed(Path(path), toggles, static, progress, tokenizer)
        structure = _while_counting(toggles) if static else toggles
        cache = cls(structure, 2 if static else 1, 2 if static else 4)
        try:
            cache.load_report = _load_legacy(cache._handle, Path(path), progress)
        except BaseException:
            cache._handle.drop()
            raise
        return cache._as_static(toggles, progress) if static else cache

    @classmethod
    def _open_packed(
        cls,
        path: Path,
        toggles: Toggles,
        static: bool,
        progress: Progress | None,
        tokenizer: Tokenizer | None,
    ) -> NgramCache:
        if not static:
            raise InputError(f"{path} is a static cache: it holds 2-grams only; give it as one")
        cache = cls._around(
            open_static_file(path, toggles), toggles.set(static="ngc", ties="token"), str(path)
        )
        try:
            about, facts = cache.about, cache.facts()
            if tokenizer is not None and about is not None:
                about.refuse_other(tokenizer, str(path))
            size = cache.memory().mapped_bytes
            cache.load_report = LoadReport(size, facts["n_grams"], facts["n_followers"], 0)
        except BaseException:
            cache.close()
            raise
        return cache._as_static(toggles, progress)

    @classmethod
    def _open_constmap(
        cls, path: Path, toggles: Toggles, static: bool, progress: Progress | None
    ) -> NgramCache:
        if not static or toggles.static != "constmap":
            raise InputError(
                f"{path} is a constmap file: it holds no keys, so it opens as a static cache with "
                f"static=constmap and as nothing else; give the corpus, or llama.cpp's file or ours"
            )
        handle = _load_constmap(path, toggles, progress)
        cache = cls._around(handle, toggles)
        facts = handle.facts()
        size = len(handle.constmap_bytes_view())
        cache.load_report = LoadReport(size, facts["n_grams"], facts["n_followers"], 0)
        return cache

    @classmethod
    def _around(
        cls,
        handle: _native.NativeCache,
        toggles: Toggles,
        where: str = "the static cache",
        sizes: tuple[int, int] = (2, 2),
    ) -> NgramCache:
        """A cache of the toggles' static kind around its handle; all but "same" never change."""
        cache = cls.__new__(cls)
        cache._kind = toggles.static
        cache._where = where
        cache.toggles = toggles
        cache.n_min, cache.n_max = sizes
        cache.load_report = None
        cache._handle = handle
        return cache

    def _as_static(self, toggles: Toggles, progress: Progress | None) -> NgramCache:
        """This cache of 2-grams in the structure asked for; self is closed if it is another."""
        if toggles.static == self._kind:
            return self
        start = time.perf_counter()
        try:
            with self:
                cache = self.converted(toggles, progress)
        except FormatError as error:
            raise FormatError(f"{self._where}: it is damaged ({error}); copy it again") from None
        if self.load_report is not None:
            seconds = time.perf_counter() - start
            cache.load_report = replace(self.load_report, converted_seconds=seconds)
        return cache

    def converted(self, toggles: Toggles, progress: Progress | None = None) -> NgramCache:
        """The same counts in another structure; this cache stays as it is.

        Args:
            progress: called with the fraction done; Ctrl-C is heard between slices.

        Raises:
            InputError: it is a constmap, which holds no keys, or holds more than the 2-grams of a
                static cache.
        """
        if self.kind == "constmap":
            raise InputError("a constmap holds no keys: it cannot become anything else")
        if toggles.static != "same" and (self.n_min, self.n_max) != (2, 2):
            raise InputError(f"static={toggles.static!r} holds 2-grams only")
        if toggles.static == "constmap":
            return self._around(_build_constmap(self._handle, toggles, progress), toggles)
        if toggles.static == "ngc":
            about = self.about or StaticAbout.of(None)
            return self._around(build_static(self._handle, toggles, about, progress), toggles)
        sizes = (self.n_min, self.n_max)
        handle = copied(self._handle, toggles, sizes, progress)
        return self._around(handle, toggles, "the cache", sizes)

    # ---- counting -----------------------------------------------------------------------------

    def update(
        self, text: TokensLike, n_new: int | None = None, progress: Progress | None = None
    ) -> None:
        """Counts the last `n_new` tokens of the text (default: all) as followers.

        For n = n_min..n_max in turn, each new token at position i >= n follows the n-gram that
        stands before it. More than 8,192 new tokens are counted in slices of so many, one after
        the other; but with chained maps the order, as llama.cpp's, is that of one call.

        Args:
            progress: called with the fraction done; Ctrl-C is heard between slices. The tokens of
                those before are counted then; with chained maps none, see `merge`.
        """
        array = as_tokens(text)
        count = len(array) if n_new is None else as_count(n_new, "n_new", 0, len(array))
        if count <= _SLICE_UPDATE:
            self._handle.update(array, count)
            return
        if self.toggles.outer == "chained":
            self._handle.update_whole(array, count, progress)
            return
        first = len(array) - count
        for start in range(first, len(array), _SLICE_UPDATE):
            end = min(start + _SLICE_UPDATE, len(array))
            self._handle.update(array[:end], end - start)
            if progress is not None:
                progress((end - first) / count)

    def merge(self, added: NgramCache, progress: Progress | None = None) -> None:
        """Adds the counts of another cache; a sum that would pass 2^31 - 1 stays there.

        Args:
            progress: called with the fraction done; Ctrl-C is heard between slices. All is added or
                nothing: what was added until then is taken back before this cache is used again,
                or `added` changed, which then takes about as long. (Tables that grew stay grown, so
                chained maps may be in another order.)
        """
        if added is self:
            raise InputError("a cache cannot be merged into itself")
        if added.n_min < self.n_min or added.n_max > self.n_max:
            raise InputError(
                f"a cache of {added.n_min}- to {added.n_max}-grams does not fit one of "
                f"{self.n_min}- to {self.n_max}-grams"
            )
        self._handle.merge(added._handle, progress)

    def keep_within(self, bound: Bound, progress: Progress | None = None) -> Thinned | None:
        """Leaves out the n-grams seen least often if it holds more than a bound allows; half of
        that is free then. See `ngram_core.bounding` for why these go.

        With chained maps the order of followers is that after saving and loading.

        Args:
            progress: called with the fraction done; Ctrl-C is heard between slices, and the cache
                is as it was.

        Returns:
            What is gone; None if it was within the bound.

        >>> cache = NgramCache(n_min=2, n_max=2)
        >>> cache.update([1, 2, 3, 1, 2, 3, 4, 5, 6, 7])
        >>> cache.keep_within(Bound(most_followers=6))
        Thinned(least_sum=2, n_grams_gone=4, n_followers_gone=4)
        >>> cache.n_grams
        2
        """
        if self.kind != "same":
            raise InputError(f"a static cache of kind {self.kind!r} never changes")
        with self._handle.change():  # refused while a drafter has it
            made = thinned(self._handle, self.toggles, (self.n_min, self.n_max), bound, progress)
            if made is None:
                return None
            old, (self._handle, gone) = self._handle, made
        old.close()
        return gone

    def clear(self) -> None:
        """Empties it, in one piece: chained maps of millions of n-grams take seconds."""
        self._handle.clear()

    # ---- looking ------------------------------------------------------------------------------

    def followers(self, ngram: TokensLike) -> tuple[Tokens, Tokens]:
        """Tokens and counts that followed an n-gram, in the order in which they are stored.

        Returns:
            Two int32 arrays of the same length, empty if the n-gram was never seen.
        """
        array = as_tokens(ngram)
        if not 1 <= len(array) <= 4:
            raise InputError(f"an n-gram has 1 to 4 tokens, not {len(array)}")
        return self._handle.followers(array)

    def table_around(self, ngram: TokensLike, before: int = 2, after: int = 2) -> TableAround:
        """The chain, or the slots, around an n-gram; see `ng.inside.table_around`."""
        from .inside import table_around

        return table_around(self, ngram, before, after)

    @property
    def kind(self) -> Static:
        """How it is held: "same" in the structure that its toggles say, or as a static cache that
        never changes: "constmap", which cannot be listed either, or "ngc"."""
        return self._kind

    @property
    def about(self) -> StaticAbout | None:
        """What the file says of itself, if this is our own static file's structure."""
        return about_of(self._handle)

    @property
    def n_grams(self) -> int:
        """Number of n-grams."""
        return int(self._handle.facts()["n_grams"])

    @property
    def n_followers(self) -> int:
        """Number of pairs of an n-gram and a follower."""
        return int(self._handle.facts()["n_followers"])

    def facts(self) -> dict[str, Any]:
        """n_grams, n_grams_by_n (of sizes 1 to 4), n_followers, n_buckets of the outer table."""
        return self._handle.facts()

    def memory(self) -> Memory:
        """Bytes by structure, from the engine's allocator."""
        return Memory(**self._handle.memory())

    def walk(self) -> Iterator[npt.NDArray[np.void]]:
        """Every n-gram in stored order, in arrays of fields tokens (4), n, n_followers, sum."""
        return self._handle.walk()

    def ngrams(self) -> npt.NDArray[np.void]:
        """The same in one array, shape (n_grams,)."""
        pieces = list(self.walk())
        return np.concatenate(pieces) if pieces else np.zeros(0, dtype=NGRAM_DTYPE)

    def validate(self) -> None:
        """Checks every invariant of the structure; NgramError says which is broken. Our own file
        is read whole, checksums included; FormatError says where it is damaged."""
        self.check_file()
        if self.kind != "ngc":  # that is all there is of it
            self._handle.validate()

    def check_file(self) -> None:
        """Reads all of our own file, in slices, and checks every sum and record; FormatError says
        where it is damaged. A cache of another kind has no file behind it: nothing is done."""
        while self.kind == "ngc" and not self._handle.check_packed(self._where):
            pass

    # ---- files --------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str], progress: Progress | None = None) -> None:
        """Writes llama.cpp's cache file, or a constmap its own, or a cache with static="ngc" ours,
        beside the target first, then renamed.

        With chained maps the bytes are those a Linux build of llama.cpp would write for the same
        history; with others n-grams ascend, shorter ones first.
        """
        whole = self._whole_file()
        if whole is not None:
            with atomic_write(path) as file:
                write_pieces(file, _pieces_of(whole), len(whole), progress)
            return
        facts = self._handle.facts()
        total = 20 * facts["n_grams"] + 8 * facts["n_followers"]
        toggles = self.toggles
        as_maps = (toggles.outer, toggles.followers) == ("chained", "chained")
        save = self._handle.save_legacy if as_maps else self._handle.save_sorted
        with atomic_write(path) as file:
            write_pieces(file, save(_PIECE_BYTES), total, progress)

    def add_to_file(self, path: str | PathLike[str], progress: Progress | None = None) -> None:
        """Adds these counts to those of a dynamic cache's file, or makes it.

        Of several kernels that do so with one file each waits for the others, and no count is lost,
        as it would be where each saves all it has: the last would win.

        Cost: the file is loaded, merged and written. A small file with a lock stays beside it.

        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "dynamic.cache")
        ...     for text in ([1, 2, 3], [1, 2, 4]):
        ...         with NgramCache() as own:
        ...             own.update(text)
        ...             own.add_to_file(path)
        ...     with NgramCache.open(path) as cache:
        ...         [x.tolist() for x in cache.followers([1, 2])]
        [[3, 4], [1, 1]]
        """
        if self.kind != "same":
            raise InputError(f"a static cache of kind {self.kind!r} is no dynamic one")
        with locked(path):
            if not Path(path).exists():
                self.save(path, progress)
                return
            with NgramCache.open(path, self.toggles) as sum_:
                sum_.merge(self)
                sum_.save(path, progress)

    def _whole_file(self) -> memoryview | None:
        """The bytes of a cache that is its own file; None for others."""
        if self.kind == "constmap":
            return self._handle.constmap_bytes_view()
        return self._handle.packed_bytes_view() if self.kind == "ngc" else None

    # ---- life ---------------------------------------------------------------------------------

    def close(self) -> None:
        """Frees its memory; twice is fine, use after it raises StateError. Ctrl-C is heard in
        between; the rest is freed in the background."""
        self._handle.close()

    def __repr__(self) -> str:
        if self._handle.closed:
            return "<NgramCache, closed>"
        live = self._handle.memory()["live_bytes"]
        return f"<NgramCache of {self.n_min}- to {self.n_max}-grams, {live:,} bytes>"


def group(counter: _native.NativeCounter, progress: Progress | None = None) -> None:
    """Groups what was counted, in slices; twice is fine."""
    while not counter.finish(SLICE_TOKENS):
        if progress is not None:
            progress(counter.fraction())


def _pieces_of(whole: memoryview) -> Iterator[memoryview]:
    for start in range(0, len(whole), 16 * _PIECE_BYTES):
        yield whole[start : start + 16 * _PIECE_BYTES]


def write_pieces(
    file: BinaryIO, pieces: Iterable[memoryview], total: int, progress: Progress | None
) -> None:
    """Writes pieces to a file, telling the fraction of `total` bytes done."""
    done = 0
    for piece in pieces:
        file.write(piece)
        done += len(piece)
        if progress is not None:
            progress(done / total)


def _while_counting(toggles: Toggles) -> Toggles:
    """The structure in which a file is gathered: what is packed is made from compact arrays."""
    if toggles.static == "same":
        return toggles
    return toggles.set(static="same", outer="segmented", followers="sorted", ties="token")


def _build_constmap(
    source: _native.NativeCache | _native.NativeCounter,
    toggles: Toggles,
    progress: Progress | None,
) -> _native.NativeCache:
    return in_slices(_native.NativeConstmapBuilder(toggles, source), progress)


def _load_constmap(path: Path, toggles: Toggles, progress: Progress | None) -> _native.NativeCache:
    with open_file(path) as (file, size):
        handle, data = _native.NativeCache.constmap(toggles, size)
        try:
            filled = 0
            while filled < size:
                n_read = file.readinto(data[filled : filled + (16 << 20)])
                if not n_read:
                    raise FormatError(f"{path}: it became shorter while it was read")
                filled += n_read
                if progress is not None:
                    progress(filled / size)
            done = False
            while not done:
                status, done = handle.check_constmap()
                if status != 0:
                    raise _native.error_of(status, f"{path}, a constmap file")
        except BaseException:
            handle.close()
            raise
    return handle


def _load_legacy(handle: _native.NativeCache, path: Path, progress: Progress | None) -> LoadReport:
    report = _native.new_load_report()
    # One buffer for the whole file: what Python allocates in between would end up between the
    # entries of the cache, and a map's speed depends on how they lie.
    buffer = bytearray(_LOADED_BYTES)
    filled = 0
    with open_file(path) as (file, size):
        while report.n_bytes < size:
            if filled == len(buffer):  # one record is longer than all of it
                buffer.extend(bytes(len(buffer)))
            with memoryview(buffer) as view:
                n_read = file.readinto(view[filled:])
                if not n_read:
                    raise FormatError(f"{path}: it became shorter while it was read")
                filled = min(filled + n_read, size - report.n_bytes)
                status, used = handle.load_legacy(view[:filled], size - report.n_bytes, report)
                view[: filled - used] = view[used:filled]
            filled -= used
            if status != 0:
                raise _at_offset(_native.error_of(status, f"{path}, byte {report.n_bytes}"))
            if progress is not None:
                progress(report.n_bytes / size)
    if size == 0:
        raise FormatError(f"{path}: it is empty; a cache file holds at least one n-gram")
    return LoadReport(report.n_bytes, report.n_grams, report.n_followers, report.n_left_out)


def _at_offset(error: NgramError) -> NgramError:
    if isinstance(error, FormatError):
        return FormatError(f"{error}; is it a cache file of llama.cpp, copied whole?")
    return error
