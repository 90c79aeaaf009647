"""Lesson 01, guess the next token: its stops, its question and its exercises."""

from __future__ import annotations

from ..errors import InputError
from ..trace import Row, Step
from .examples import RECIPE
from .predict import Answer, Question, Task, whole_numbers
from .stepper import StepperModel, Stop
from .story import Draft, Settings

CONTEXT_ONLY = Settings(dynamic=False, static=False)

STOPS: tuple[Stop, ...] = (
    (20, "word 20", "“the flour” was seen once, a₂ is 2: nothing is drafted, and a miss is saved."),
    (54, "word 54", "The same test keeps back “eggs”, which would have been right."),
    (42, "word 42", "“stir” has 3 of 5 = 60 %; p₁ is 66 %: too split, nothing is drafted."),
    (56, "word 56", "Four words in a row, seen once: for n = 4 that is enough."),
    (78, "word 78", "1 of 1 is 100 %, and still wrong: the recipe goes on with “or”."),
)


def _step_at(word: int, text: str = RECIPE) -> tuple[StepperModel, Step]:
    model = StepperModel(text, settings=CONTEXT_ONLY)
    event = model.story.events[model.event_of_word(word)]
    assert isinstance(event, Draft)
    return model, event.step


def _drafted_at_20() -> str:
    _, step = _step_at(20)
    return "nothing" if step.token is None else RECIPE.split()[step.token]


WORD_20 = Question(
    "Word 20 comes after “… thick add the flour”. The text has had “the flour” once before, and"
    " then came “into”. What does the rule draft, with the context cache alone?",
    ("into", "and", "nothing"),
    _drafted_at_20,
    "the trace",
    "Two words seen once are too little: a 2-gram must have been seen twice (a₂ = 2).",
    {
        "into": "It is the only follower seen, so its share is 100 %, but it was seen once.",
        "and": "It is what the text says next; the rule has never seen it there.",
    },
)


# ---- the easy one: both tests by hand -----------------------------------------------------


def _row_at_87() -> Row:
    return next(row for row in _step_at(87)[1].rows if row.best is not None)


def _check_both_tests(typed: str) -> Answer:
    try:
        given = whole_numbers(typed, 3)
    except InputError as error:
        return Answer(False, f"{error} Write them as in: 5 300 330")
    row = _row_at_87()
    names = ("F", "the left side, 100 × count", f"the right side, {row.min_percent} × F")
    for name, value, right in zip(names, given, (row.sum, row.share, row.needed), strict=True):
        if value != right:
            return Answer(False, f"Not yet: {name}, is not {value}. Look at n = {row.n} there.")
    sides = f"{row.sum} ≥ {row.min_sum} and {row.share} ≥ {row.needed}"
    return Answer(True, f"{sides}: it passes by a hair, and the guess is wrong all the same.")


BOTH_TESTS = Task(
    "In the second Stepper, with A recipe as its text again, go to word 87, after “pour the rest”:"
    " its field Word takes the number. Work both tests by hand for the n that decides: give F,"
    " then 100 × the count of the best follower, then the share needed times F.",
    "Three numbers",
    _check_both_tests,
)


# ---- the thinking one: change one word so that word 20 is drafted -------------------------


def _check_change(typed: str) -> Answer:
    parts = typed.split()
    if len(parts) != 2 or not parts[0].isdecimal():
        return Answer(False, "Write the place and the new word, as in: 3 sugar")
    place, new = int(parts[0]), parts[1]
    words = RECIPE.split()
    if not 1 <= place <= 17:
        return Answer(False, f"Change a word from 1 to 17: “the flour” itself stays; not {place}.")
    old, words[place - 1] = words[place - 1], new
    change = f"“{old}” to “{new}”"
    model, step = _step_at(20, " ".join(words))
    if step.source is not None:
        row = step.rows[-1]
        guess = words[model.story.text.index(step.token)] if step.token is not None else ""
        return Answer(True, f"{change}: word 20 is drafted, “{guess}”. {_tests(row)}")
    found = [row for row in step.rows if row.best is not None]
    why = " ".join(_tests(row) for row in found) or "No ending was seen before."
    return Answer(False, f"{change}: word 20 is still not drafted. {why}")


def _tests(row: Row) -> str:
    first = f"F = {row.sum} {'≥' if row.sum >= row.min_sum else '<'} {row.min_sum}"
    second = f"{row.share} {'≥' if row.share >= row.needed else '<'} {row.needed}"
    return f"n = {row.n}: {first}, {second}."


ONE_CHANGE = Task(
    "Change one word before “add the flour” so that word 20 is drafted. Give its place and the new"
    " word.",
    "Place and word, as in: 3 sugar",
    _check_change,
    level="thinking",
)
