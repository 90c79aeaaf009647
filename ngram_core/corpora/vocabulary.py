"""Words to make prose of, taken from a tokenizer's vocabulary."""

from __future__ import annotations

import codecs
import re

import numpy as np

from ..tokenizers import Tokenizer, Tokens

_WORD = re.compile(rb" [A-Za-z][a-z]{2,}")

# Stems of words that nobody wants on a classroom's screen, in rot13 so as not to show them here.
# They cost harmless words too ("class"), of which there are plenty.
_STEMS = (
    "frk|cbea|nany|nff|chffl|cravf|intva|shpx|fuvg|ovgpu|juber|fyhg|qvpx|pbpx"
    "|phag|obbo|avccy|ahqr|rebg|betnfz|anmv|avtt|snt|encr|encv|znfghe|gvg|ergneq|ubeal"
)
_UNFIT = re.compile(codecs.decode(_STEMS, "rot13").encode(), re.IGNORECASE)


def other_words(tokenizer: Tokenizer, text: Tokens, n: int = 20_000) -> Tokens:
    """The n lowest ids that stand for a blank and a word, and are not in the text.

    A byte-pair vocabulary gives low ids to what is frequent.
    """
    known = set(text.tolist())
    found: list[int] = []
    for token in range(tokenizer.n_vocab):
        word = tokenizer.token_bytes(token)
        if _WORD.fullmatch(word) and token not in known and not _UNFIT.search(word):
            found.append(token)
            if len(found) == n:
                break
    return np.array(found, np.int32)
