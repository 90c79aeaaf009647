"""Lesson 02, three caches and a weight: its stops, its question, its exercises."""

from __future__ import annotations

import re
import struct
import tempfile
from pathlib import Path

import numpy as np

from ..caches import NgramCache
from ..drafter import Drafter
from ..errors import InputError
from ..rule import LLAMA_CPP
from ..toggles import NOCOPY
from ..trace import Candidate, Row, Step
from .cases import text_stream
from .comparison import places as parted
from .examples import RECIPE
from .figures import plural
from .misreadings import misread
from .own_rule import Findings
from .predict import Answer, Question, Task
from .stepper import StepperModel, Stop
from .story import Draft, Settings, Totals
from .thresholds import as_numbers, name_of, with_numbers

CONTEXT_ONLY = Settings(dynamic=False, static=False)

STOPS: tuple[Stop, ...] = (
    (40, "word 40", "Nine rungs: context and dynamic fail, the static cache drafts “tin” alone."),
    (42, "word 42", "Context is too split; dynamic has seen the last four words twice: “bake”."),
    (102, "word 102", "Context passes at n = 2, so dynamic is not asked, though it has n = 4."),
    (82, "word 82", "The weight lifts “into” above “rest”, and the plain count then fails it."),
    (89, "word 89", "One to one in the context cache: the weight breaks the tie for “tin”."),
)


def _drafted_at_82() -> str:
    model = StepperModel("recipe", word=82)
    event = model.event
    assert isinstance(event, Draft)
    token = event.step.token
    return "nothing" if token is None else model.shown([token])


WORD_82 = Question(
    "Word 82 comes after “… or have the batter”. So far “the batter” was followed by “rest” twice"
    " and by “into” once. In yesterday’s notes, which are the static cache, “into” came after it,"
    " and so each count of “into” weighs 100. What is drafted?",
    ("rest", "into", "nothing"),
    _drafted_at_82,
    "the trace",
    "“into” scores 1 × 100, “rest” 2 × 1, so “into” is best; but the test takes its plain count,"
    " 1 of 3, and 100 < 150. No other ending passes either.",
    {
        "rest": "It has the larger count, but the larger score is tested, and only that one.",
        "into": "It has the larger score, but the score only ranks; the plain count must pass.",
    },
)


# ---- the naive version on the reader's text ---------------------------------------------------


def context_alone(model: StepperModel) -> None:
    """Print what the context cache by itself comes to on this text, and what it leaves out."""
    settings = model.inputs.settings
    alone = model.told_with(settings.set(context=True, dynamic=False, static=False))
    all_three = model.told_with(settings.set(context=True, dynamic=True, static=True))
    print(f"context alone:    {_totals(alone.totals)}")
    print(f"all three caches: {_totals(all_three.totals)}")
    missed = [p for p in parted(all_three, alone) if p.now == all_three.text[p.word - 1]]
    if missed:
        shown = ", ".join(f"{p.word} “{model.shown([p.now or 0])}”" for p in missed[:5])
        more = f" and {len(missed) - 5} more" if len(missed) > 5 else ""
        print(f"right guesses that context alone does not make: word {shown}{more}")
    elif model.inputs.text == RECIPE:
        print("it makes all the right guesses that three caches make")
    else:
        print("On your text context alone misses nothing that the others know. On the recipe:")
        context_alone(StepperModel("recipe"))


def _totals(totals: Totals) -> str:
    return (
        f"{plural(totals.passes, 'pass')}, {totals.accepted} of"
        f" {plural(totals.drafted, 'guess')} right"
    )


def misreading(name: str) -> None:
    """Print where a misread rule parts from the engine on the recipe; names: MISREADINGS."""
    found = Findings(text_stream(StepperModel("recipe")))
    found.look(misread(name))
    words, places = plural(found.n_other_words, "word"), plural(found.n_other_random, "place")
    print(f"{name}: other drafts at {words} of the recipe and {places} of random texts")
    if found.first is not None:
        case, answer = found.first
        engine = case.named(case.step.token)
        print(f"    first at {case.place}: {case.named(answer)}, the engine drafts {engine}")
    print(f"    on the recipe {found.rates()}")


# ---- break it: 32 bits ------------------------------------------------------------------------

LARGE = 21_474_837
"""100 times this no longer fits into 32 bits."""


def overflow() -> None:
    """Print word 89 with a static count that is too large for llama.cpp's 32 bits."""
    for score, said in (("exact", "in 64 bits"), ("int32", "in 32 bits, as in llama.cpp")):
        words, step = _word_89(score)
        row = next(row for row in step.rows if row.best is not None)
        scores = ", ".join(f"“{words[c.token]}” {c.count} × {c.weight:,}" for c in _by_name(row))
        token = "nothing" if step.token is None else f"“{words[step.token]}”"
        print(f"{said}: {scores}; drafted: {token}")


def _by_name(row: Row) -> list[Candidate]:
    return sorted(row.candidates, key=lambda c: c.token)


def _word_89(score: str) -> tuple[dict[int, str], Step]:
    """The engine's step at word 89, with a static cache that has seen "into the tin" so often."""
    ids = {word: i for i, word in enumerate(dict.fromkeys(RECIPE.split()))}
    text = [ids[word] for word in RECIPE.split()[:88]]
    toggles = NOCOPY.toggles.set(ties="token", score=score)
    counts = struct.pack("<7i", ids["into"], ids["the"], -1, -1, 1, ids["tin"], LARGE)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "static.cache")
        path.write_bytes(counts)
        with (
            NgramCache.open(path, toggles) as static,
            Drafter(toggles, static=static) as drafter,
        ):
            drafter.feed(np.array(text, np.int32))
            step = drafter.step(1)[0]
    return {i: word for word, i in ids.items()}, step


# ---- the easy one: one threshold ----------------------------------------------------------------

_NAMED = re.compile(r"([ap])\s*_?\s*([1-4₁-₄])\s*(?:=|to|is|:)?\s*(\d{1,4})\s*%?", re.IGNORECASE)
FEWER = 4


def _check_one_threshold(typed: str) -> Answer:
    found = _NAMED.fullmatch(typed.strip())
    if not found:
        return Answer(False, "Name the threshold and its new value, as in: a2 = 3")
    n = int(found[2].translate(str.maketrans("₁₂₃₄", "1234")))
    field = "context_sum" if found[1].lower() == "a" else "context_percent"
    numbers = as_numbers(LLAMA_CPP)[field]
    numbers[n - 1] = int(found[3])
    try:
        rule = with_numbers(LLAMA_CPP, {field: numbers})
    except InputError as error:
        return Answer(False, str(error))
    model = StepperModel("recipe", settings=CONTEXT_ONLY)
    base = model.story.totals
    now = model.told_with(CONTEXT_ONLY.set(rule=rule)).totals
    hits = now.accepted - base.accepted
    misses = (now.drafted - now.accepted) - (base.drafted - base.accepted)
    told = (
        f"{name_of(field, n)} at {found[3]}: {now.accepted} of {now.drafted} guesses right, where"
        f" {base.accepted} of {base.drafted} were."
    )
    right = hits == 0 and misses == -FEWER
    if right:
        return Answer(True, f"{told} {FEWER} misses fewer, and no hit lost.")
    return Answer(False, f"{told} That is {_change(misses, 'miss')} and {_change(hits, 'hit')}.")


def _change(difference: int, what: str) -> str:
    if not difference:
        return f"not one {what} less or more"
    return f"{plural(abs(difference), what)} {'more' if difference > 0 else 'fewer'}"


ONE_THRESHOLD = Task(
    f"With the context cache alone, change one threshold so that the recipe gets {FEWER} fewer"
    " wrong guesses and loses no right one. Try it in the panel above, with dynamic and static"
    " switched off.",
    "Threshold and value",
    _check_one_threshold,
)
