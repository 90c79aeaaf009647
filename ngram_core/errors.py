"""Every error this package raises on purpose.

One base class, so that a caller can catch all of them; each is also the built-in
error a Python programmer expects. The message is one line: what, where, what to do.
"""

from __future__ import annotations


class NgramError(Exception):
    """Base of all errors raised on purpose by this package."""


class FormatError(NgramError, ValueError):
    """A file or a text is not what it claims to be."""


class InputError(NgramError, ValueError):
    """An argument is out of range or of the wrong kind."""


class StateError(NgramError, RuntimeError):
    """The object cannot do this now (closed, in use, already running)."""


class EngineMemoryError(NgramError, MemoryError):
    """The engine could not get memory; the object is as it was before the call."""
