"""Sentences: they say what happened, and no figure in them contradicts the verdict."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ngram_core as ng
from ngram_core import reference
from ngram_core.lesson.sentences import Segment, Sentence, sentence, share_of
from ngram_core.lesson.stepper import StepperModel
from ngram_core.lesson.story import Check, Draft, Settings, Totals, tell
from ngram_core.trace import Row

COMPARISON = re.compile(r"(-?[\d,.]+) (%)? ?([<≥]) (-?[\d,]+)")


def said(words: Sentence) -> str:
    """A sentence as plain text, tokens as their ids."""
    text = ""
    for part in words:
        if isinstance(part, str):
            text += part
        elif part.kind == "t":
            text += "[" + " ".join(map(str, part.content)) + "]"
        else:
            assert isinstance(part, Segment)
            text += said(part.content)  # type: ignore[arg-type]
    return text


def at_word(word: int, caches: str = "cds") -> str:
    chosen = Settings("c" in caches, "d" in caches, "s" in caches)
    model = StepperModel("recipe", settings=chosen, word=word)
    return model.describe().splitlines()[1]


@pytest.mark.parametrize(
    ("word", "caches", "expected"),
    [
        (
            56,
            "c",
            "Drafts “the”: context has seen “whisk the eggs and” once, and “the” came next."
            " Enough for n = 4: seen 1 ≥ 1, share 100 % ≥ 50 %.",
        ),
        (42, "c", "Drafts nothing: context fails at n = 1 (“stir” 3 of 5 = 60 % < 66 %)."),
        (20, "c", "Drafts nothing: context fails at n = 2 (seen 1 < 2) and at n = 1."),
        (
            42,
            "cds",
            "Drafts “bake”: context fails at n = 1 (“stir” 3 of 5 = 60 % < 66 %), but dynamic has"
            " seen “into the tin and” twice, and “bake” came next both times."
            " Enough for n = 4: seen 2 ≥ 2, share 100 % ≥ 66 %.",
        ),
        (
            41,
            "cds",
            "Drafts “and”: context has not seen this ending; dynamic fails at n = 4 (seen 1 < 2),"
            " but has seen “into the tin” twice, and “and” came next both times."
            " Enough for n = 3: seen 2 ≥ 2, share 100 % ≥ 66 %.",
        ),
        (
            89,
            "cds",
            "Drafts “tin”: after “into the”, context has seen “tin” 1 of 2 times; static lifts"
            " “tin” to 1 × 200 = 200, above “bowl” at 1."
            " Enough for n = 2: seen 2 ≥ 2, share 50 % ≥ 50 %.",
        ),
        (
            89,
            "c",
            "Drafts “bowl”: after “into the”, context has seen “bowl” 1 of 2 times, a tie with"
            " “tin” that the smaller token id wins."
            " Enough for n = 2: seen 2 ≥ 2, share 50 % ≥ 50 %.",
        ),
        (
            82,
            "cds",
            "Drafts nothing: context fails at n = 2 (“into” beats “rest” by score 100 over 2, but"
            " is 1 of 3 = 33.3 % < 50 %) and at n = 1; dynamic fails at n = 2 (seen 1 < 3) and at"
            " n = 1; static fails at n = 2 (seen 1 < 2).",
        ),
        (
            2,
            "c",
            "The model writes “the” itself: nothing was drafted, so this pass gains one token.",
        ),
        (20, "", "Drafts nothing: every cache is switched off or empty."),
    ],
)
def test_the_sentences_of_the_lessons(word: int, caches: str, expected: str) -> None:
    assert at_word(word, caches) == expected


def test_checks() -> None:
    model = StepperModel("recipe")
    told = {
        event.length: model.words(sentence(event, model.story.text))
        for event in model.story.events
        if isinstance(event, Check)
    }
    assert told[39] == (
        "One pass of the model checks 4 guesses: all 4 are accepted, and the model adds “the”."
        " The pass gains 5 tokens."
    )
    assert told[24] == (
        "One pass of the model checks 4 guesses: 1 is accepted, then “and” is rejected, 2 guesses"
        " after it dropped; the model writes “until”. The pass gains 2 tokens."
    )
    assert told[19] == (
        "The model writes “and” itself: the tests held back “into” (context, n = 2), which would"
        " have been wrong: caution saved a miss."
    )
    assert told[116].endswith("The text is complete: 116 tokens in 79 passes.")


texts = st.lists(st.integers(0, 5), min_size=2, max_size=90)
rules = st.builds(
    ng.Rule,
    context_sum=st.tuples(*[st.integers(0, 4)] * 4),
    context_percent=st.tuples(*[st.integers(0, 100)] * 4),
    dynamic_percent=st.tuples(*[st.integers(0, 100)] * 4),
    weight=st.sampled_from([0, 1, 100]),
)


@settings(deadline=None, max_examples=80)
@given(texts, texts, rules)
def test_no_figure_contradicts_a_verdict(
    text: list[int], earlier: list[int], rule: ng.Rule
) -> None:
    for event in tell(text, Settings(rule=rule), earlier, earlier).events:
        words = said(sentence(event, text))
        assert comparisons_hold(words), words
        if isinstance(event, Draft):
            drafted = event.step.token is not None
            assert words.startswith("Drafts [" if drafted else ("Drafts nothing", "Stops after"))
            assert ("Enough for" in words) == drafted
            for row in event.step.rows:
                assert_picture_agrees(row)


def comparisons_hold(words: str) -> bool:
    """Whether each "a < b" and "a ≥ b" in the sentence is true as written."""
    for left, _, sign, right in COMPARISON.findall(words):
        a, b = (Fraction(side.replace(",", "").rstrip(".")) for side in (left, right))
        if (a < b) != (sign == "<"):
            return False
    return True


def test_the_check_of_comparisons_can_fail() -> None:
    assert comparisons_hold("3 of 5 = 60 % < 66 %")
    assert not comparisons_hold("2 of 3 = 66.7 % < 66 %")
    assert not comparisons_hold("seen 1 ≥ 2")


def assert_picture_agrees(row: Row) -> None:
    """What the picture shows, the share as a figure and both integers, leads to the verdict."""
    if row.best is None:
        return
    share = Fraction(share_of(row).removesuffix(" %"))
    often, sure = row.sum >= row.min_sum, row.share >= row.needed
    assert sure == (share >= row.min_percent)
    assert row.passes == (often and sure)


def test_an_overflow_is_said() -> None:
    """In 32 bits a product can fall below zero: llama.cpp's own arithmetic, told as it is."""
    static: reference.Cache = {(1, 2): {3: 21_474_837}}
    context: reference.Cache = {(1, 2): {3: 1}}
    step = reference.draft_one([1, 2], context, None, static, score="int32")
    assert step.rows[2].verdict == "no score"
    words = said(sentence(Draft(step, (), Totals()), [1, 2]))
    assert "no score above 0 in 32 bits" in words
    assert "in 32 bits < 50 %" in words
