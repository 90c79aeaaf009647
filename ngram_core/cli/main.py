"""From the words of a command line to an exit code."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from types import FrameType

from ..errors import NgramError
from ..files import explain
from . import create, inspect, lab, merge, race, stages, stats
from .arguments import Parser, UsageError

DONE, FAILED, STOPPED, TERMINATED = 0, 1, 130, 143  # and 2, argparse's, for wrong usage

COMMANDS = (create, stats, merge, inspect, race, stages, lab)


def parser() -> Parser:
    """The grammar of all commands."""
    top = Parser(prog="ngram-core", description="N-gram caches for prompt lookup drafting.")
    top.add_argument("--version", action="version", version=f"ngram-core {_version()}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_to(commands)
    return top


def main(words: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        words: the command line without the program's name, by default this process's own.

    Returns:
        The exit code. Errors in the input never raise; they stand on stderr in one line.
    """
    _make_every_text_printable()
    code = _run(words)
    try:
        sys.stdout.flush()
    except OSError as error:
        _forget_stdout()
        if code == DONE:
            quiet = isinstance(error, BrokenPipeError)  # whoever read our output has seen enough
            code = FAILED if quiet else _say(explain(error), FAILED)
    return code


def _run(words: Sequence[str] | None) -> int:
    try:
        arguments = parser().parse_args(words)
        try:
            with _ended_by_sigterm():
                arguments.run(arguments)
        except UsageError as error:
            arguments.parser.error(str(error))
    except SystemExit as end:  # --help, --version, wrong usage
        return end.code if isinstance(end.code, int) else FAILED
    except NgramError as error:
        return _say(str(error), FAILED)
    except BrokenPipeError:
        return FAILED
    except OSError as error:
        return _say(explain(error), FAILED)
    except MemoryError:
        return _say("not enough memory; take a smaller text or close other programs", FAILED)
    except KeyboardInterrupt as stop:
        said = str(stop) or "stopped; files that were to be written are as they were"
        return _say(said, STOPPED)
    return DONE


def _version() -> str:
    from .. import __version__

    return __version__


def _say(message: str, code: int) -> int:
    line = " ".join(message.split())  # one line, whatever stands in a file's name
    with contextlib.suppress(OSError):
        print(f"ngram-core: {line}", file=sys.stderr)
    return code


def _make_every_text_printable() -> None:
    """Names of files can hold what the terminal's encoding cannot; show that escaped."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _forget_stdout() -> None:
    """Nothing more can be written there; keep Python from trying again when it ends."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextlib.contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end the command as an exception, so that half-written files are removed."""

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(TERMINATED)

    ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    )
    if ours:
        signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
