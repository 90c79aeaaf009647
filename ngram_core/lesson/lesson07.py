"""Lesson 07, a map that never changes: its question and its exercises."""

from __future__ import annotations

from .constmap.fuse_map import LETTERS, NOTES, RHYME, FuseMap, Hand
from .constmap.loading import PUBLISHED_FILE_MB
from .predict import Answer, Question, Task

FILE_SIZE = Question(
    f"From 541 MB of text llama.cpp’s static cache has a file of {PUBLISHED_FILE_MB['legacy']} MB."
    " The new format writes down no 2-gram at all. How large is its file?",
    ("48 MB", "240 MB", "467 MB"),
    lambda: f"{PUBLISHED_FILE_MB['constmap']} MB",
    "the published table",
    "Cells and checks take nearly the room of the keys, and most of both files are the followers"
    " and their counts, 8 bytes a pair.",
    {
        "48 MB": "That would be compression, and nothing is compressed here.",
        "240 MB": "Our own format, further down, has about half. This one is made for speed.",
    },
)


# ---- the easy one: an order of peeling -----------------------------------------------------


def _check_order(typed: str) -> Answer:
    model = FuseMap(RHYME)
    letters = [key.letter for key in model.keys]
    given = [sign for sign in typed.upper() if sign in LETTERS]
    if sorted(given) != letters:
        return Answer(False, f"This needs each of {' '.join(letters)} once, in some order.")
    hand = Hand(attempt=len(model.attempts) - 1)
    for letter in given:
        key = letters.index(letter)
        alone = [cell for cell in model.cells(-1)[key] if model.inside_cell(hand, cell) == [key]]
        if not alone:
            shared = ", ".join(
                f"{cell} with {' and '.join(letters[k] for k in others)}"
                for cell in model.cells(-1)[key]
                if (others := [k for k in model.inside_cell(hand, cell) if k != key])
            )
            done = " ".join(given[: len(hand.taken)]) or "nothing"
            return Answer(
                False, f"Not yet: after {done}, {letter} is nowhere alone. It shares cell {shared}."
            )
        model.press(hand, alone[0])
    last = given[-1]
    return Answer(
        True,
        f"That works. {last} was peeled last, so it is written first, and {given[0]} at the very"
        " end. Several orders do; each gives other cells and the same answers.",
    )


PEELING_ORDER = Task(
    f"Peel the map of “{RHYME}” with its second seed, by hand. In what order do its keys go? Type"
    " their letters, first to last.",
    "Order",
    _check_order,
)


# ---- the thinking one: a forged key --------------------------------------------------------


def _check_forged(typed: str) -> Answer:
    model = FuseMap(NOTES)
    words = typed.split()
    if len(words) != 2 or not set(words) <= set(model.words):
        return Answer(False, f"This needs two of these words: {' '.join(model.words)}.")
    first, second = map(model.words.index, words)
    look = model.lookups[first][second]
    name = " ".join(words)
    if look.verdict == "found":
        return Answer(False, f"“{name}” is in the map: that is no forgery.")
    said = model.said(look, verify=False)
    read = [word for word, _ in model.pairs[look.position : look.position + look.length]]
    if not model.plausible(look) or "cake" not in read:
        return Answer(False, f"Not this one. {said}")
    return Answer(
        True,
        f"{said} With the check: {model.digits(look.check)} is not {model.digits(look.needed)},"
        " refused. To pass it by luck, 64 bits must agree.",
    )


FORGED_KEY = Task(
    "Two words of “do not tell ada about the party” can be a key that was never put in, and a map"
    " without checks still reads “cake” for it. Find such a pair.",
    "Two words",
    _check_forged,
    level="thinking",
)
