"""Texts that nobody quotes from: prose, and words by chance."""

from __future__ import annotations

import functools
import re

from ...tokenizers import get_tokenizer
from ..prose import Prose
from ..vocabulary import other_words
from .base import Dice, Task
from .reading import articles_text

_N_WORDS = 1500


def prose(dice: Dice) -> Task:
    """An article that says nothing new and nothing twice."""
    tokenizer = get_tokenizer_once()
    tokens = next(_prose().token_blocks(dice.number(0, 2**31 - 1)))
    return Task("Write an article.\n\n", tokenizer.decode(tokens))


def random(dice: Dice) -> Task:
    """Short words of our articles by chance, all equally often."""
    words = sorted(set(re.findall(r"\b[a-z]{3,7}\b", articles_text())))
    text = " ".join(dice.one_of(words) for _ in range(_N_WORDS))
    return Task("Write words without any sense.\n\n", f"{text}\n")


get_tokenizer_once = functools.cache(get_tokenizer)


@functools.cache
def _prose() -> Prose:
    tokenizer = get_tokenizer_once()
    text = tokenizer.encode(articles_text())
    return Prose(text, other_words(tokenizer, text), articles=1)
