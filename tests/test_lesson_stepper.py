"""The Stepper's model: requests answered, bad ones refused without loss, everything in words."""

from __future__ import annotations

import json
from typing import Any

import pytest

import ngram_core as ng
from ngram_core.lesson import lesson00, lesson01
from ngram_core.lesson.document import VERSION
from ngram_core.lesson.predict import Prediction, Question
from ngram_core.lesson.ready import checks
from ngram_core.lesson.stepper import MAX_CHARACTERS, StepperModel, totals_line
from ngram_core.lesson.story import Draft, Settings


@pytest.fixture
def model() -> StepperModel:
    return StepperModel("recipe")


def test_the_document_is_json_and_says_its_format(model: StepperModel) -> None:
    document = json.loads(model.json)
    assert (document["format"], document["version"]) == ("ngram-core story", VERSION)
    assert len(document["pieces"]) == len(set(map(str, document["ids"])))
    assert len(model.json) < 150_000


def test_the_document_tells_each_event(model: StepperModel) -> None:
    document = json.loads(model.json)
    words = [str(piece) for piece in document["pieces"]]
    assert [words[i] for i in document["text"]] == model.inputs.text.split()
    for told, event in zip(document["events"], model.story.events, strict=True):
        assert told["l"] == event.length
        assert told["o"] == len(event.guesses)
        if isinstance(event, Draft):
            assert told["k"] == "d"
            assert [row[:3] for row in told["r"]] == [
                [row.cache, row.n, row.verdict] for row in event.step.rows
            ]
        else:
            assert told["k"] == "c"
            assert [len(counts) for counts in told["u"]] == [event.n_new] * 4


def test_the_sentence_of_the_page_is_the_sentence_in_words(model: StepperModel) -> None:
    document = json.loads(model.json)
    pieces = document["pieces"]

    def plain(segments: list[Any]) -> str:
        said = ""
        for segment in segments:
            if isinstance(segment, str):
                said += segment
            elif segment[0] == "t":
                said += f"“{' '.join(pieces[i] for i in segment[1:])}”"
            else:
                said += plain(segment[1:])
        return said

    for at, event in enumerate(document["events"]):
        assert plain(event["s"]) == model.describe(at).splitlines()[1]


@pytest.mark.parametrize(
    ("request_", "line"),
    [
        ({"text": ""}, "a text of 0 tokens leaves nothing to guess"),
        ({"text": " \n "}, "a text of 0 tokens"),
        ({"text": "one"}, "a text of 1 token leaves"),
        ({"text": "x" * (MAX_CHARACTERS + 1)}, "The text has 200,001 characters"),
        ({"text": "a b", "corpus": "x" * 10**6}, "The corpus has 1,000,000 characters"),
        ({"text": "a \ud83c b"}, "Character 3 of the text is half of a pair (U+D83C)"),
        ({"text": None}, "text must be str, not NoneType"),
        ({"text": ["a", "b"]}, "text must be str, not list"),
        ({"n_draft": 0}, "choose from 1 to 16"),
        ({"n_draft": 10**6}, "choose from 1 to 16"),
        ({"n_draft": "4"}, "n_draft must be int, not str"),
        ({"n_draft": True}, "n_draft must be int, not bool"),
        ({"context": 1}, "context must be bool, not int"),
        ({"tokenizer": "klingon"}, "there is no tokenizer 'klingon'"),
        ({"example": "sonnet"}, "there is no example 'sonnet'"),
        ({"start": 0}, "the window begins at token 0"),
        ({"start": 10**9}, "the window begins at token 1000000000"),
    ],
)
def test_bad_requests_change_nothing(
    model: StepperModel, request_: dict[str, Any], line: str
) -> None:
    inputs, document, at = model.inputs, model.json, model.at
    ok, said = model.answer(request_)
    assert not ok
    assert line in said
    assert said.endswith("Nothing was changed.")
    assert "\n" not in said
    assert (model.inputs, model.json, model.at) == (inputs, document, at)


def test_strange_text_is_text(model: StepperModel) -> None:
    strange = "👩‍👩‍👧 e\u0301 <script>alert(1)</script> x\u0000y \u202e abc"
    ok, said = model.answer({"text": strange})
    assert ok, said
    assert "<" not in model.json
    assert "<script>" in model.describe(len(model.story.events) - 1)


@pytest.mark.parametrize("tokenizer", ["words", "bytes", "qwen2.5"])
def test_every_tokenizer(tokenizer: str) -> None:
    model = StepperModel("naïve 🎂 naïve 🎂 naïve 🎂", tokenizer=tokenizer)
    document = json.loads(model.json)
    kinds = {part[0] for piece in document["pieces"] if isinstance(piece, list) for part in piece}
    assert ("hex" in kinds) == (tokenizer != "words")
    assert model.story.totals.accepted > 0


def test_good_requests(model: StepperModel) -> None:
    ok, said = model.answer({"dynamic": False, "static": False})
    assert ok
    assert "88 passes: 50 drafted, 28 accepted" in said
    ok, said = model.answer({"example": "code"})
    assert ok
    assert model.inputs.settings == Settings(dynamic=False, static=False, n_draft=8)
    assert model.at == 0
    ok, said = model.answer({"text": "my own my own my own words"})
    assert ok
    assert model.inputs.example == ""
    assert "7 tokens, the first one given" in said


def test_a_setting_keeps_the_place(model: StepperModel) -> None:
    model.at = model.event_of_word(42)
    assert model.answer({"n_draft": 2})[0]
    assert model.at > 0


def test_every_word_has_its_event(model: StepperModel) -> None:
    for word in range(2, 118):
        event = model.story.events[model.event_of_word(word)]
        assert event.length < word <= event.length + len(event.guesses) + 1
    for word in (0, 1, 118):
        with pytest.raises(ng.InputError, match="choose from 2 to 117"):
            model.event_of_word(word)


def test_describe_says_all(model: StepperModel) -> None:
    said = model.describe(model.event_of_word(42))
    assert said.splitlines()[0] == "Step 84 of 205: … minutes pour the batter into the tin and"
    assert "  context n = 1: too split: seen 5 (needed 2), “stir” 60 % (needed 66 %)" in said
    assert said.endswith("So far 38 tokens in 37 passes: 10 drafted, 1 accepted.")


def test_totals_line() -> None:
    assert totals_line() == (
        "caches cds  up to 4 guesses:  79 passes, 37 of 64 guesses accepted, 58 %"
    )
    assert totals_line(caches="").endswith("116 passes, 0 of 0 guesses accepted")


def test_stops_stand_while_the_text_does() -> None:
    model = StepperModel("recipe", settings=lesson01.CONTEXT_ONLY, stops=lesson01.STOPS)
    assert [label for _, label, _ in model.document["see"]] == [s[1] for s in lesson01.STOPS]
    model.answer({"text": "to be or not to be or not"})
    assert "word 20" not in [label for _, label, _ in model.document["see"]]


# ---- predictions and exercises --------------------------------------------------------------


def test_a_guess_is_locked_and_settled_by_the_engine() -> None:
    prediction = Prediction(lesson00.PASSES)
    assert "Not answered yet." in prediction.describe()
    answer = prediction.lock("110")
    assert not answer.right
    assert "the replay says 79" in answer.line
    assert prediction.lock("110") == answer
    with pytest.raises(ng.StateError, match="your guess is locked: 110"):
        prediction.lock("79")
    with pytest.raises(ng.InputError, match="not a choice"):
        Prediction(lesson00.PASSES).lock("78")


@pytest.mark.parametrize(
    ("question", "right"), [(lesson00.PASSES, "79"), (lesson01.WORD_20, "nothing")]
)
def test_what_settles_a_question_is_one_of_its_choices(question: Question, right: str) -> None:
    assert question.settle() == right
    assert right in question.choices
    assert set(question.replies) == set(question.choices) - {right}


@pytest.mark.parametrize(
    ("task", "typed", "right", "telling"),
    [
        (lesson00.FIRST_HIT, "25", True, "Word 25: the first guess of all"),
        (lesson00.FIRST_HIT, "26", False, "the guess was rejected"),
        (lesson00.FIRST_HIT, "20", False, "the model wrote it itself"),
        (lesson00.FIRST_HIT, "57", False, "accepted, but it is not the first"),
        (lesson00.FIRST_HIT, "999", False, "there is no word 999"),
        (lesson00.FIRST_HIT, "the last", False, "none could be read"),
        (lesson00.FIRST_HIT, "  ", False, "Nothing is there yet"),
        (lesson00.OWN_TEXT, "a b c d a b c d a b c d", True, "4 of 4 guesses are accepted"),
        (lesson00.OWN_TEXT, "a b c a b c x a b c y z", False, "The first miss: word 7 was guessed"),
        (lesson00.OWN_TEXT, "a b c d e f g h i j k l", False, "Nothing was guessed"),
        (lesson00.OWN_TEXT, "a b", False, "These are 2 words"),
        (lesson01.BOTH_TESTS, "3 200 198", True, "200 ≥ 198"),
        (lesson01.BOTH_TESTS, "3, 200, 198", True, "200 ≥ 198"),
        (lesson01.BOTH_TESTS, "2 200 198", False, "F, is not 2"),
        (lesson01.BOTH_TESTS, "3 200 200", False, "66 × F, is not 200"),
        (lesson01.BOTH_TESTS, "yes", False, "3 whole numbers"),
        (lesson01.ONE_CHANGE, "6 flour", True, "word 20 is drafted, “into”. n = 2: F = 2 ≥ 2"),
        (lesson01.ONE_CHANGE, "9 flour", True, "F = 2 ≥ 2"),
        (lesson01.ONE_CHANGE, "12 flour", True, "F = 2 ≥ 2"),
        (lesson01.ONE_CHANGE, "3 sugar", False, "still not drafted"),
        (lesson01.ONE_CHANGE, "19 sugar", False, "Change a word from 1 to 17"),
        (lesson01.ONE_CHANGE, "flour", False, "as in: 3 sugar"),
    ],
)
def test_exercises_tell(task: Any, typed: str, right: bool, telling: str) -> None:
    answer = task.answer(typed)
    assert answer.right is right, answer.line
    assert telling in answer.line


def test_this_machine_is_checked() -> None:
    found = list(checks())
    assert [answer.line.split(":")[0] for answer in found] == [
        "engine",
        "tokenizer",
        "widgets",
        "memory",
    ]
    assert found[0].right, found[0].line
