"""The other end of `child`: a process that is started, listened to, and ended at once."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from .. import errors
from .._native import Tokens
from ..closing import Closing
from ..errors import EngineMemoryError, NgramError

_PACKAGE = str(Path(__file__).parents[2])

# Ctrl-C reaches all processes of a terminal: ours stops the others by itself. The package is
# this very one, wherever the process starts.
_CODE = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.path[:] = [{_PACKAGE!r}, *filter(None, sys.path)]
from ngram_core.racing.child import main
main()
"""

_GONE_SECONDS = 0.02
_KILLED = -9


class Child(Closing):
    """One process with one job. `close` ends it, whatever it does.

    Args:
        job: plain values; "task" says which of `child`'s.
    """

    def __init__(self, job: dict[str, Any]) -> None:
        self.fraction = 0.0
        self.result: Any = None
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 (closed in `close`)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CODE, json.dumps(job)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # numpy's threads would only wait
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                with contextlib.suppress(ValueError):  # half a line, of one that was killed
                    self._messages.put(json.loads(line))
        self._process.wait()
        self._messages.put(None)

    def send(self, tokens: Tokens) -> None:
        """Token ids for its standard input."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended, and `wait` will say why
            self._process.stdin.write(tokens.astype("<i4", copy=False).tobytes())

    def end_input(self) -> None:
        """No more will be sent."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()

    def wait(self, seconds: float) -> bool:
        """Waits so long for news; whether the result is there.

        Raises:
            NgramError: what went wrong in the process, as the class it had there;
                EngineMemoryError if the system killed it.
        """
        try:
            message = self._messages.get(timeout=seconds)
        except queue.Empty:
            return False
        if message is None:
            raise self._died()
        if "error" in message:
            raise _error(message)
        self.fraction = message.get("fraction", self.fraction)
        self.result = message.get("result")
        return self.result is not None

    def _died(self) -> NgramError:
        code = self._process.returncode
        if code == _KILLED:
            return EngineMemoryError("its process was killed, as systems do when memory runs out")
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").strip().splitlines() or [
            "it said nothing"
        ]
        return NgramError(f"a process of the race ended with code {code}: {lines[-1]}")

    def close(self) -> None:
        self._process.kill()
        self.end_input()
        # One with gigabytes takes a moment to vanish; the thread sees to that.
        self._listener.join(_GONE_SECONDS)
        self._said.close()


def _error(message: dict[str, Any]) -> NgramError:
    kind = getattr(errors, message["kind"], NgramError)
    error: NgramError = kind(message["error"])
    return error
