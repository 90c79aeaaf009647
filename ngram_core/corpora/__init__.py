"""Texts to count and to replay: what is on every machine, the reader's own, and made ones.

    >>> corpus = python_source()
    >>> text = b"".join(corpus.blocks(n_bytes=1000))
    >>> len(text) <= 1000, text.endswith(b"\\n")
    (True, True)
    >>> b"".join(get_corpus("json-lines", n_bytes=2000).blocks()).splitlines()[0]
    b'Write 40 orders as JSON, one a line.'

The tokens of a text are kept in the user's cache folder, so that the second time costs nothing.
"""

from __future__ import annotations

from .base import Progress, Text, cache_folder
from .files import Corpus, from_files, from_folder, python_source, sizes_for_memory
from .made import MadeProse, MadeTasks
from .names import CORPORA, get_corpus
from .prose import WIKITEXT_LIKE, Prose, Recipe, fitted
from .shape import FollowerShape, follower_shape
from .wikitexts import wikitext
from .workloads import WORKLOADS, Task, Workload, measure

__all__ = [
    "CORPORA",
    "WIKITEXT_LIKE",
    "WORKLOADS",
    "Corpus",
    "FollowerShape",
    "MadeProse",
    "MadeTasks",
    "Progress",
    "Prose",
    "Recipe",
    "Task",
    "Text",
    "Workload",
    "cache_folder",
    "fitted",
    "follower_shape",
    "from_files",
    "from_folder",
    "get_corpus",
    "measure",
    "python_source",
    "sizes_for_memory",
    "wikitext",
]
