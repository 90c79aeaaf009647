"""Owning and lending objects of the engine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol

from ..errors import StateError
from .engine import ffi

SLICE_PAIRS = 1 << 13  # n-grams or followers added or taken back: 10 to 40 ms at most
LARGE_BYTES = 1 << 24


def in_background(call: Callable[[], object], name: str) -> threading.Thread | None:
    """What nobody waits for, in a thread; or here, where there are none, or no more of them."""
    thread = threading.Thread(target=call, name=f"ngram-core {name}", daemon=True)
    try:
        thread.start()
    except RuntimeError:
        call()
        return None
    return thread


def release(pointer: Any, n_bytes: int) -> None:
    """Frees an object of the engine. Where it holds much, a thread does: millions of blocks take
    seconds, and who is interrupted does not wait for them."""
    if n_bytes <= LARGE_BYTES:
        ffi.release(pointer)
        return
    thread = in_background(lambda: ffi.release(pointer), "free")
    if thread is not None:
        thread.join()


class Stopped(Protocol):
    """What a call that was interrupted has left half done in an object of the engine."""

    def settle(self) -> None:
        """Takes it back or does the rest; interrupted, it can be called again."""

    def close(self) -> None:
        """The object is about to be freed as it is."""


class Rest:
    """The same where a function of the engine does the rest, in slices.

    Args:
        pointer: what it does it with.
        owned: of an object that nobody else frees when this is closed.
    """

    def __init__(self, pointer: Any, step: Any, owned: bool = False) -> None:
        self._pointer = pointer
        self._step = step
        self._owned = owned

    def settle(self) -> None:
        done = ffi.new("int32_t *")
        while not done[0]:
            self._step(self._pointer, SLICE_PAIRS, done)

    def close(self) -> None:
        if self._owned:
            ffi.release(self._pointer)


class Handle:
    """Owns one object of the engine: one caller at a time, closed once, never used after.

    A handle may borrow others for its life: many may read one, one alone may write. What is
    lent cannot be closed or changed by its owner until it is given back. What an interrupted call
    has left half done is settled before the next one: nobody sees a part of it.
    """

    def __init__(self, what: str, pointer: Any, free: Any, loans: Loans | None = None) -> None:
        self.what = what
        self._pointer = ffi.gc(pointer, free)
        self._stopped: Stopped | None = None
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
                locks.enter_context(written.use())
            if self._pointer is None:
                raise StateError(f"this {self.what} was closed")
            if self._stopped is not None:
                self._stopped.settle()
                self._stopped = None
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
        """Frees it. Who is interrupted meanwhile does not wait for the rest."""
        with self._lock:
            if self._pointer is None:
                return
            self._refuse_if_lent()
            for written in self._loans.written if self._loans else ():
                with written.use():  # what is half done there may read this one
                    pass
            if self._stopped is not None:
                self._stopped.close()
                self._stopped = None
            n_bytes = self._size_bytes()
            pointer, self._pointer = self._pointer, None
        try:
            release(pointer, n_bytes)
        finally:
            if self._loans:
                self._loans.give_back()

    def _size_bytes(self) -> int:
        """About what freeing it frees, in blocks of its own."""
        return 0


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

    def swap_written(self, old: Handle, new: Handle) -> None:
        """The new one is lent from here on in the old one's place."""
        self.writer(new)
        self.written.remove(old)
        old._writer = None

    def give_back(self) -> None:
        for handle in self.read:
            handle._readers.discard(id(self))
        for handle in self.written:
            handle._writer = None
        self.read.clear()
        self.written.clear()

    def __del__(self) -> None:
        self.give_back()
