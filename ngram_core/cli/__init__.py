"""The command `ngram-core`: build, replay, merge and inspect n-gram caches, race the stages, open
the lessons.

Exit codes: 0 done, 1 could not do it, 2 wrong usage, 130 stopped by Ctrl-C. What went wrong
stands on stderr in one line.
"""

from __future__ import annotations

from .main import main

__all__ = ["main"]
