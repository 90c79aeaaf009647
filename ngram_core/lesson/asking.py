"""Asking a rule that the reader wrote: whatever it does, one line says what.

An error is told with its place in the reader's cell, what is no token is refused, and a rule
that does not come back is stopped.
"""

from __future__ import annotations

import contextlib
import linecache
import operator
import signal
import threading
import traceback
from collections.abc import Iterator
from types import FrameType

import numpy as np

from .cases import Inputs
from .misreadings import Drafting


class Trouble(Exception):
    """The reader's rule gave no answer; the message says why in one line."""


class TooSlow(BaseException):
    """The time is up. Not an Exception, so that the rule's own `except` does not catch it."""


def ask(rule: Drafting, inputs: Inputs) -> int | None:
    """What the rule drafts.

    Raises:
        Trouble: it raised, or returned what is no token.
    """
    try:
        answer = rule(*inputs)
    except (Exception, SystemExit) as error:
        raise Trouble(_told(rule, error)) from None
    if answer is None:
        return None
    try:
        if not isinstance(answer, (bool, np.bool_)):
            return operator.index(answer)
    except TypeError:
        pass
    shown = short(repr(answer))
    raise Trouble(
        f"returned {shown}, which is of type {type(answer).__name__}; return a token’s id, or None"
    )


_HINTS = {
    KeyError: "an n-gram that was never seen is not in a cache; cache.get(ngram, {}) is then {}",
    RecursionError: "it calls itself without an end",
}


def _told(rule: Drafting, error: BaseException) -> str:
    """An error of the reader's as one line: what, and in which of their lines."""
    what = f"raised {type(error).__name__}"
    if str(error):
        what += f" ({short(str(error))})"
    code = getattr(rule, "__code__", None)
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if code is not None and frame.filename == code.co_filename]
    if own and own[-1].lineno:
        source = linecache.getline(own[-1].filename, own[-1].lineno).strip()
        what += f" in line {own[-1].lineno} of its cell"
        what += f": {short(source)}" if source else ""
    hint = next((said for kind, said in _HINTS.items() if isinstance(error, kind)), "")
    return f"{what} ({hint})" if hint else what


def short(text: str, most: int = 90) -> str:
    """The text on one line, cut if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises TooSlow in the block after that time, where the system can do so."""
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)  # again, if the rule swallows it
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
