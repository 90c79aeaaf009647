"""What a measurement runs on: a text to replay, and a corpus that does not hold it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from .. import corpora
from ..corpora import Corpus
from ..errors import InputError
from ..tokenizers import Tokenizer, Tokens, get_tokenizer
from .runs import Setting

MEGABYTE = 1_000_000

# What a process grows by, malloc's own part included. Measured with 1, 5 and 25 MB of Python's
# source: a static cache of m MB takes m ** 0.85 times that of 1 MB at most, since texts repeat.
_GROWTH = 0.85
_STATIC_BYTES = {  # of 1 MB, by outer table and followers
    ("chained", "chained"): 17_200_000,
    ("segmented", "chained"): 16_200_000,
    ("dense", "chained"): 17_200_000,
    ("chained", "sorted"): 6_900_000,
    ("segmented", "sorted"): 5_300_000,
    ("dense", "sorted"): 5_500_000,
    ("places", "summed"): 4_500_000,
}
_PACKED_BYTES = 6_100_000  # a constmap with what building it takes
_COUNTING_BYTES = 8_000_000
_COUNTS_BYTES = 2_100_000  # what stays of it
_TOKEN_BYTES = {
    "chained": 470,
    "sorted": 150,
    "summed": 90,
}  # of a dynamic cache, for each token of the text
_OTHER_BYTES = 8_000_000  # what Python keeps of a run, and blocks that lie between others
_OPEN_RUNS = 2  # that the reader goes to and fro between


@dataclass(frozen=True)
class Material:
    """A text as tokens, and where the static cache's corpus comes from.

    Args:
        text: int32 ids of the replayed text.
        text_name: what it is, in a few words.
        tokenizer: what encoded it, and will encode the corpus.
        corpus: its first megabytes are counted; None if there is no static cache.
        corpus_bytes: only so much of the corpus may be taken; the text stands behind it.
    """

    text: Tokens
    text_name: str
    tokenizer: Tokenizer
    corpus: Corpus | None = None
    corpus_bytes: int = 0

    def refusal(
        self, setting: Setting, free_bytes: int | None, counted: bool = False
    ) -> str | None:
        """Why a setting cannot be run here, or None.

        Args:
            free_bytes: that may be taken; None if that is not known.
            counted: the corpus was counted already.
        """
        if setting.size_mb * MEGABYTE > self.corpus_bytes:
            has = self.corpus_bytes // MEGABYTE
            return f"the corpus has {has} MB only; choose less, or give a bigger one"
        need = self.need_bytes(setting, counted)
        if free_bytes is not None and need > free_bytes:
            return (
                f"it needs up to {size_of(need)} of memory and {size_of(free_bytes)} are free; "
                f"choose a smaller corpus, or close other notebooks"
            )
        return None

    def need_bytes(self, setting: Setting, counted: bool = False) -> int:
        """Memory that runs with this setting may take: a guess, 1.3 to 1.6 times what two runs on
        5 and 25 MB of source were seen to take."""
        toggles = setting.toggles
        runs = _OPEN_RUNS * len(self.text) * _TOKEN_BYTES[toggles.followers]
        packed = toggles.static != "same"
        static = _PACKED_BYTES if packed else _STATIC_BYTES[toggles.outer, toggles.followers]
        building = static if counted else static + _COUNTS_BYTES
        most: float = building if counted else max(building, _COUNTING_BYTES)
        return int(most * setting.size_mb**_GROWTH) + runs + _OTHER_BYTES


def python_material(text_tokens: int = 120_000, tokenizer: Tokenizer | None = None) -> Material:
    """Python's own library source: its last files are the text, its beginning is the corpus.

    Args:
        text_tokens: how long a text to replay, at most.
        tokenizer: Qwen2.5's by default.

    Raises:
        InputError: this Python has no source files.
    """
    tokenizer = tokenizer or get_tokenizer()
    source = corpora.python_source()
    files = _last_files(source, 6 * text_tokens)
    text = corpora.from_files(files)
    tokens = text.tokens(tokenizer, keep=False)[:text_tokens]
    root = Path(os.path.commonpath(source.files))
    first, last = (path.relative_to(root).parts[0] for path in (files[0], files[-1]))
    name = f"Python's library source from {first} to {last}"
    return Material(tokens, name, tokenizer, source, max(0, source.n_bytes - text.n_bytes))


def _last_files(source: Corpus, n_bytes: int) -> list[Path]:
    """The last files of a corpus, as many as hold so many bytes."""
    taken: list[Path] = []
    for path in reversed(source.files):
        if n_bytes <= 0:
            break
        taken.insert(0, path)
        n_bytes -= path.stat().st_size
    if not taken:
        raise InputError("this Python has no library source to replay; give a text of your own")
    return taken


def size_of(n_bytes: int) -> str:
    """Bytes in words, roughly: "108 MB", "11 GB"."""
    if n_bytes < 5_000 * MEGABYTE:
        return f"{n_bytes / MEGABYTE:,.0f} MB"
    return f"{n_bytes / 1000 / MEGABYTE:,.0f} GB"
