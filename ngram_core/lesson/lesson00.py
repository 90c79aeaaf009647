"""Lesson 00, start here: its question and its exercises."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InputError
from .figures import plural
from .predict import Answer, Question, Task, whole_numbers
from .stepper import StepperModel
from .story import Check, Settings, Story

CONTEXT_ONLY = Settings(dynamic=False, static=False)


def _passes_with_all_caches() -> str:
    return str(StepperModel("recipe").story.totals.passes)


PASSES = Question(
    "Alone, a model writes the recipe’s 116 words in 116 passes. With all three caches guessing"
    " up to 4 words ahead, how many passes does it take?",
    ("40", "79", "110"),
    _passes_with_all_caches,
    "the replay",
    "Of 64 guesses 37 are right, and each right guess saves one pass.",
    {
        "40": "That would need two right guesses in every pass; most passes have none.",
        "110": "More of it repeats than it seems: whole lines come back.",
    },
)


# ---- the naive version on the reader's text ----------------------------------------------------


def by_caches(model: StepperModel) -> None:
    """Print the passes that this text takes without a cache, with one, with all three."""
    settings = model.inputs.settings
    by_name = {
        name: model.told_with(settings.set(context=c, dynamic=more, static=more)).totals
        for name, c, more in (
            ("no cache:", False, False),
            ("context:", True, False),
            ("all three:", True, True),
        )
    }
    for name, totals in by_name.items():
        print(
            f"{name:10} {plural(totals.passes, 'pass')},"
            f" {totals.accepted} of {plural(totals.drafted, 'guess')} accepted"
        )
    if not any(totals.accepted for totals in by_name.values()):
        print("No guess is right in your text, so no cache saves a pass. In the recipe:")
        by_caches(StepperModel("recipe"))


# ---- the easy one: the first accepted word ------------------------------------------------


def _check_first_hit(typed: str) -> Answer:
    try:
        (word,) = whole_numbers(typed, 1)
    except InputError as error:
        return Answer(False, str(error))
    story = StepperModel("recipe", settings=CONTEXT_ONLY).story
    first = _first_accepted(story)
    if word == first:
        return Answer(True, f"Word {first}: the first guess of all, and it is accepted.")
    return Answer(False, f"{_fate_of(story, word)} Play on, or press End and step back.")


def _first_accepted(story: Story) -> int:
    checks = (event for event in story.events if isinstance(event, Check))
    return next(check.length + 1 for check in checks if check.accepted)


def _fate_of(story: Story, word: int) -> str:
    """What became of the word at this place, in one sentence."""
    for event in story.events:
        if isinstance(event, Check) and event.length < word <= event.length + event.n_new:
            if word <= event.length + event.accepted:
                return f"Word {word} is accepted, but it is not the first."
            if len(event.guesses) > event.accepted:
                return f"Word {word} was guessed, and the guess was rejected."
            return f"Word {word} was not guessed: the model wrote it itself."
    return (
        f"The words that can be guessed are 2 to {story.n_tokens}; there is no word {word} there."
    )


FIRST_HIT = Task(
    "In the recipe with the context cache alone, as in the first Stepper: which is the first word"
    " whose guess is accepted? Give its place, counted from 1.",
    "Word number",
    _check_first_hit,
)


# ---- the thinking one: a text that is guessed well ----------------------------------------

WORDS, HITS = 12, 4


def _check_own_text(typed: str) -> Answer:
    words = typed.split()
    if len(words) != WORDS:
        return Answer(False, f"These are {len(words)} words; the task asks for {WORDS}.")
    story = StepperModel(" ".join(words), settings=CONTEXT_ONLY).story
    totals = story.totals
    told = f"{totals.accepted} of {totals.drafted} guesses are accepted in {totals.passes} passes."
    miss = _first_miss(story, words)
    return Answer(totals.accepted >= HITS, f"{told} {miss}")


def _first_miss(story: Story, words: Sequence[str]) -> str:
    for event in story.events:
        if isinstance(event, Check) and event.accepted < len(event.guesses):
            place = event.length + event.accepted
            wrong = words[story.text.index(event.guesses[event.accepted].token)]
            return (
                f"The first miss: word {place + 1} was guessed “{wrong}” and is “{words[place]}”."
            )
    if not story.totals.drafted:
        return "Nothing was guessed: an ending must come back before it can be known."
    return "No guess missed."


OWN_TEXT = Task(
    f"Write a text of exactly {WORDS} words in which at least {HITS} guesses are accepted"
    " (context cache alone, up to 4 guesses a pass).",
    f"Your {WORDS} words",
    _check_own_text,
    level="thinking",
    rows=2,
)
