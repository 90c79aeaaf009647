"""Lesson 08, check first: its question and its exercises."""

from __future__ import annotations

import re

from ..errors import InputError
from .checking.counts import savings
from .checking.rows import rows, share_fails, top
from .predict import Answer, Question, Task, whole_numbers


def _share() -> str:
    return f"{savings().share:.0f} %"


SAVED = Question(
    "In the recipe, with all caches on, 392 candidates are scored for 64 guesses. Before scoring, a"
    " row’s largest count can be tested. What share of the candidates need no score then?",
    ("20 %", "50 %", "83 %"),
    _share,
    "the engine’s trace",
    "Most rows that are tried fail, and the longest lists are in those that do.",
    {
        "20 %": "Most rows pass, that would mean; but a guess may try eight rows, and stops at the"
        " first that passes.",
        "50 %": "Half of the rows, perhaps; but the rows that fail are the long ones.",
    },
)


# ---- the easy one: verdicts of the check ----------------------------------------------------

_WORDS = (37, 42, 82)


def _verdicts() -> list[str]:
    """Of the first context row at each word that holds several followers: pass or fail."""
    found = []
    for word in _WORDS:
        row = next(a for a, _ in rows(word) if a.cache == "context" and a.n_followers > 1)
        found.append("fail" if row.sum < row.min_sum or share_fails(row) else "pass")
    return found


def _check_verdicts(typed: str) -> Answer:
    given = [
        {"p": "pass", "f": "fail"}[word[0]] for word in re.findall(r"\b(?:p|f)\w*", typed.lower())
    ]
    if len(given) != len(_WORDS):
        return Answer(False, "This needs three answers, pass or fail, as in: pass pass fail")
    for word, mine, right in zip(_WORDS, given, _verdicts(), strict=True):
        if mine != right:
            return Answer(
                False,
                f"Not yet: word {word}. Compare 100 × the largest count with p × F, and F with a.",
            )
    return Answer(
        True,
        "At 37 it is 200 < 396 and at 42 300 < 330: nobody can pass. At 82 it is 200 ≥ 150, so the"
        " row must be scored.",
    )


VERDICTS = Task(
    "At words 37, 42 and 82, take the first row of context that holds more than one follower. Does"
    " it pass the check, or fail it?",
    "Three answers",
    _check_verdicts,
)


# ---- the thinking one: through the check and not through the test -----------------------------


def _check_second_test(typed: str) -> Answer:
    try:
        given = whole_numbers(typed.replace("<", " ").replace("≥", " "), 2)
    except InputError as error:
        return Answer(False, f"{error} Write them as in: 300 330")
    row = next(a for a, _ in rows(82) if a.cache == "context" and a.n_followers > 1)
    if given == [100 * top(row), row.needed]:
        return Answer(
            False, "That is the check itself, with the largest count, of “rest”. Who wins the row?"
        )
    if given != [row.share, row.needed]:
        return Answer(False, "Not these. Left: 100 × the winner’s plain count; right: p × F.")
    return Answer(
        True,
        f"{row.share} < {row.needed}. “into” wins by its weight and has a count of 1; the largest"
        " count, 2, belongs to “rest”. The check is a promise about everybody, so it can say no for"
        " sure, and never yes.",
    )


SECOND_TEST = Task(
    "At word 82 the row of context n = 2 passes the check and still drafts nothing. Which two"
    " numbers does the final test compare?",
    "Two numbers",
    _check_second_test,
    level="thinking",
)
