"""Owning and lending objects of the engine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ..errors import StateError
from .engine import ffi


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
