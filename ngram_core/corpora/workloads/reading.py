"""Answers about a text that stands in the prompt."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from .base import Dice, Task

Article = tuple[str, tuple[str, ...]]
"""A title and its sentences."""

_FILE = Path(__file__).with_name("articles.txt")

_N_READ = 3  # articles in a prompt

_BEFORE_QUOTE = (
    "The article says it in these words: ",
    "On this there is one clear sentence: ",
    "Further on it reads: ",
    "It also tells us: ",
    "This is what the text has to say about it: ",
    "The passage that answers the question is ",
)


@functools.cache
def articles() -> tuple[Article, ...]:
    """Ten short articles on things that do not exist."""
    parts = articles_text().strip().split("\n\n")
    pairs = (part.split("\n") for part in parts)
    return tuple((title, tuple(re.split(r"(?<=\.) ", body))) for title, body in pairs)


def articles_text() -> str:
    return _FILE.read_text(encoding="utf-8")


def quote(dice: Dice) -> Task:
    """Whole sentences of the article, with a few words around them."""
    read = dice.some_of(articles(), _N_READ)
    answer = []
    for title, sentences in read:
        answer.append(f"On {title[0].lower()}{title[1:]}:")
        for _ in range(4):
            first = dice.number(0, len(sentences) - 2)
            passage = " ".join(sentences[first : first + dice.number(1, 2)])
            before = dice.one_of(_BEFORE_QUOTE) if dice.chance(0.2) else "- "
            answer.append(f'{before}"{passage}"')
    return Task(_prompt(read, "Answer with quotations."), _lines(answer))


def extract(dice: Dice) -> Task:
    """Parts of sentences, shortened and joined anew."""
    read = dice.some_of(articles(), _N_READ)
    answer = []
    for title, sentences in read:
        answer.append(f"{title}:")
        for sentence in dice.some_of(sentences, 6):
            answer.append(f"- {_shortened(dice, sentence)}")
    return Task(_prompt(read, "Sum up each article in a few points."), _lines(answer))


def _shortened(dice: Dice, sentence: str) -> str:
    """Runs of words of a sentence, with some words between them left out."""
    words = sentence.rstrip(".").split()
    kept: list[str] = []
    while words:
        n = dice.number(6, 16)
        kept += words[:n]
        words = words[n + dice.number(1, 2) :]
    return " ".join(kept).rstrip(",")


def _prompt(read: list[Article], wanted: str) -> str:
    texts = "".join(f"{title}\n{' '.join(sentences)}\n\n" for title, sentences in read)
    return f"{texts}{wanted}\n\n"


def _lines(rows: list[str]) -> str:
    return "".join(f"{row}\n" for row in rows)
