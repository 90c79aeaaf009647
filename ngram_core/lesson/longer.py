"""Longer texts to try thresholds on, replayed by the engine: code, quotations, prose.

All three are made on the spot, so they are the same on every machine. One text is cut in three:
the first half is the corpus behind the static cache, the next quarter the earlier text behind
the dynamic one, and the last quarter is what is drafted.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, lru_cache

from .. import machine
from ..caches import NgramCache
from ..corpora import get_corpus
from ..replay import Replay
from ..tokenizers import Tokens, get_tokenizer
from .story import TOGGLES, Settings, Totals

N_BYTES = 120_000
"""Of each text, parts behind the caches included."""

NEEDED_BYTES = 120 * 10**6
"""Of memory, for a moment: the vocabulary alone asks for 107 MB while it is read."""

NAMES = {"code-edit": "Code, edited", "quoting": "Quotations", "prose": "Prose"}
"""Corpus -> what the reader calls it."""


@dataclass(frozen=True, eq=False)
class LongerText:
    """One of the texts in its three parts; int32 ids, shape (n,)."""

    title: str
    corpus: Tokens
    earlier: Tokens
    text: Tokens


def longer_texts() -> tuple[LongerText, ...]:
    """The three texts; none where there is too little memory. Cost: about a second, the
    first time."""
    free = machine.memory_free_bytes()
    known = _all_made.cache_info().currsize > 0
    return _all_made() if known or free is None or free >= NEEDED_BYTES else ()


@cache
def _all_made() -> tuple[LongerText, ...]:
    return tuple(_made(name, title) for name, title in NAMES.items())


def _made(name: str, title: str) -> LongerText:
    tokens = get_corpus(name, N_BYTES).tokens(get_tokenizer(), keep=False)
    half, last = len(tokens) // 2, len(tokens) * 3 // 4
    return LongerText(title, tokens[:half], tokens[half:last], tokens[last:])


@cache
def _static(text: LongerText) -> NgramCache:
    return NgramCache.build_static(text.corpus, TOGGLES)


@lru_cache(maxsize=64)
def replayed(text: LongerText, settings: Settings) -> Totals:
    """What drafting that text comes to, with these caches, guesses and this rule."""
    with ExitStack() as stack:
        dynamic = stack.enter_context(NgramCache(TOGGLES))
        if settings.dynamic:
            dynamic.update(text.earlier)
        static = _static(text) if settings.static else None
        replay = stack.enter_context(
            Replay(
                text.text,
                TOGGLES,
                settings.rule_in_force,
                static,
                dynamic,
                n_ctx=len(text.text),
                n_draft=settings.n_draft,
            )
        )
        sample = replay.run()
    return Totals(sample.n_drafted, sample.n_accept, sample.n_calls, sample.n_replayed - 1)
