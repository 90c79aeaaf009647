"""Running the command line inside the test's own process."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from io import StringIO
from unittest import mock

from ngram_core.cli import main


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


def run(*words: object) -> Done:
    """`ngram-core WORDS`: its exit code and what it wrote."""
    out, err = StringIO(), StringIO()
    with mock.patch.object(sys, "stdout", out), mock.patch.object(sys, "stderr", err):
        code = main([str(word) for word in words])
    return Done(code, out.getvalue(), err.getvalue())


def good(*words: object) -> str:
    """The same, where all is well: what it wrote."""
    done = run(*words)
    assert (done.code, done.err) == (0, ""), done
    return done.out
