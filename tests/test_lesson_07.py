"""Lesson 07: a fuse map built by hand, looked up and forged; files by their bytes; loading."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ngram_core.errors import InputError
from ngram_core.lesson import lesson07
from ngram_core.lesson.constmap import file_bytes, loading
from ngram_core.lesson.constmap.fuse_map import MOST_KEYS, NOTES, RHYME, FuseMap, Hand, place
from ngram_core.published import PUBLISHED

TEXTS = (NOTES, RHYME)


@pytest.fixture(scope="module")
def notes() -> FuseMap:
    return FuseMap(NOTES)


# ---- peeling ------------------------------------------------------------------------------------


def peeled(model: FuseMap, attempt: int, seed: int = 0) -> Hand:
    """By hand, in an order by chance, as far as it goes."""
    chance, hand = random.Random(seed), Hand(attempt=attempt)
    while alone := [c for c in range(model.built.n_cells) if len(model.inside_cell(hand, c)) == 1]:
        model.press(hand, chance.choice(alone))
    return hand


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("seed", range(5))
def test_any_order_peels_all_with_the_last_seed_and_none_with_others(text: str, seed: int) -> None:
    model = FuseMap(text)
    for attempt in range(len(model.attempts)):
        hand = peeled(model, attempt, seed)
        last = attempt == len(model.attempts) - 1
        assert model.stuck(hand) == (not last)
        assert ("Stuck" in model.sentence(hand)) == (not last)
        assert ("All" in model.sentence(hand)) == last


def test_the_rhyme_gets_stuck_and_the_notes_do_not() -> None:
    """The lesson's prose says so: two keys are left, and they share all that they have."""
    assert len(FuseMap(NOTES).attempts) == 1
    rhyme = FuseMap(RHYME)
    assert len(rhyme.attempts) == 2
    hand = peeled(rhyme, 0)
    assert rhyme.sentence(hand).endswith(
        "Stuck: 2 keys are left, D and H, and none is alone in a cell. Try the next seed."
    )
    assert set(rhyme.cells(0)[3]) == set(rhyme.cells(0)[7])


def test_pressing_a_cell_of_several_or_of_none_takes_nothing(notes: FuseMap) -> None:
    hand = Hand()
    notes.press(hand, 14)
    assert (hand.taken, hand.tapped) == ([], 14)
    assert notes.sentence(hand).startswith("Cell 14 holds A, E and F: their values are mixed")
    notes.press(hand, 2)
    assert notes.sentence(hand) == "Cell 2 is empty: nobody needs it."
    notes.press(hand, 22)
    assert (hand.taken, hand.tapped) == ([(5, 22)], -1)
    assert notes.sentence(hand).startswith("Cell 22 holds F alone, so F (“the cake”) is peeled")


@pytest.mark.parametrize("text", TEXTS)
def test_filling_makes_each_key_xor_to_its_place(text: str) -> None:
    model = FuseMap(text)
    hand = Hand(attempt=len(model.attempts) - 1, taken=list(model.order))
    data = dict.fromkeys(range(model.built.n_cells), 0)
    for i, step in enumerate(model.built.assigned):
        hand.filled = i + 1
        data[int(step["cell"])] = int(step["data"])
        said = model.sentence(hand)
        assert f"gives {place(int(step['data']))}, into its own cell {step['cell']}." in said
        key = model.keys[int(step["key"])]
        a, b, c = model.cells(-1)[int(step["key"])]
        assert data[a] ^ data[b] ^ data[c] == key.position << 24 | key.length
    assert said.endswith("All cells are filled.")


# ---- looking up ---------------------------------------------------------------------------------


def test_keys_are_found_and_strangers_refused(notes: FuseMap) -> None:
    keys = {key.tokens for key in notes.keys}
    for row in notes.lookups:
        for look in row:
            assert notes.accepted(look, verify=True) == (look.ngram in keys)
            said = notes.said(look, verify=True)
            assert said.startswith("Verified" if look.ngram in keys else "Refused")
            starts = {True: "Accepted", False: "No answer, by luck"}
            assert notes.said(look, False).startswith(starts[notes.accepted(look, False)])
    assert len(notes.forged()) == 33
    look = notes.lookups[5][5]
    assert notes.said(look, False) == (
        "Accepted, and wrong: “the the” was never put in, but its cells xor to 3·2, which reads"
        " the × 2, cake × 1: followers of “ada about” and “about the”."
    )


@settings(deadline=None, max_examples=50)
@given(st.lists(st.sampled_from("abcdefgh"), min_size=4, max_size=14))
def test_any_few_words_can_be_built(words: list[str]) -> None:
    if not 2 <= len(set(pairwise(words[:-1]))) <= MOST_KEYS:
        with pytest.raises(InputError, match="2-gram"):
            FuseMap(" ".join(words))
        return
    model = FuseMap(" ".join(words))
    followers = {
        key.name: model.pairs[key.position : key.position + key.length] for key in model.keys
    }
    for a, b, c in zip(words, words[1:], words[2:], strict=False):
        assert c in [word for word, _ in followers[f"{a} {b}"]]
    document = model.document()
    assert len(document["lookups"]) == len(model.words)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "four words"),
        ("a a a a", "has 1 2-gram"),
        (" ".join(map(str, range(13))), "13 different words"),
        ("a b c " + "x" * 25, "longer than 24"),
        ("a b c d e f g h i j k l a c e g i k", "from 2 to 12"),
    ],
)
def test_what_cannot_be_built_is_told(text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        FuseMap(text)


# ---- files --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def files() -> file_bytes.FileBytes:
    return file_bytes.FileBytes()


def test_every_byte_of_every_file_is_told_once(files: file_bytes.FileBytes) -> None:
    assert {name: len(file.data) for name, file in files.files.items()} == {
        "legacy": 204,
        "constmap": 512,
        "ngc": 576,
    }
    for file in files.files.values():
        at = 0
        for i, number in enumerate(file.numbers):
            assert number.offset == at
            at += number.length
            said = file.sentence(i)
            assert "{" not in said
            assert said.endswith(".")
        assert at == len(file.data) == sum(n_bytes for _, n_bytes in file.totals())


def test_files_say_what_is_in_them(files: file_bytes.FileBytes) -> None:
    said = {name: " ".join(n.said for n in file.numbers) for name, file in files.files.items()}
    assert "the first word of 2-gram 5: 4, “about”" in said["legacy"]
    assert "a follower: 6, “cake”, at position 4. Whose, only the map knows" in said["constmap"]
    assert "cell 18 holds 4·3" in said["constmap"]
    assert "“about the”, 2 followers, sum 2, the most frequent one once" in said["ngc"]


def test_turned_bits_are_silent_where_no_checksum_is() -> None:
    legacy, constmap, ngc = map(file_bytes.flips, file_bytes.FORMATS)
    assert (legacy.n_bytes, constmap.n_bytes, ngc.n_bytes) == (204, 512, 576)
    assert legacy.silent > legacy.refused > 0
    assert 0 < constmap.silent <= 64  # followers and counts, 8 bytes each
    assert constmap.refused == 512 - constmap.silent
    assert (ngc.refused, ngc.silent, ngc.harmless) == (576, 0, 0)
    assert file_bytes.refusal("constmap", 28) == "no complaint"
    assert file_bytes.refusal("ngc", 448).startswith("ngc.cache, followers, byte 448:")


# ---- loading ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def loads() -> loading.Loads:
    return loading.measure(mb=1, runs=1)


def test_loads_are_of_the_same_counts(loads: loading.Loads) -> None:
    one = loads.stages
    assert one["constmap"].memory_bytes < one["innervector"].memory_bytes
    assert one["innervector"].memory_bytes < one["upstream"].memory_bytes / 3
    assert one["upstream"].blocks > loads.n_grams + loads.n_pairs
    assert 18 <= loads.bytes_a_key < 20
    assert one["ours, mapped"].memory_bytes == 0
    assert one["ours, mapped"].mapped_bytes == one["ours, mapped"].file_bytes
    assert 2000 < loads.unverified < 9000


def test_bars_have_the_published_figures(loads: loading.Loads) -> None:
    told = loading.bars(loads).describe()
    for stage, ms in (("innervector", "3,756"), ("constmap", "324")):
        line = next(x for x in told.splitlines() if x.strip().startswith(stage))
        assert f"(published {ms} ms)" in line
    published = {line.stage: line for line in PUBLISHED if line.corpus_mb == 541}
    assert (published["innervector"].static_mb, published["constmap"].static_mb) == (861, 464)


# ---- question and exercises -----------------------------------------------------------------


def test_the_question_is_settled_by_the_published_file() -> None:
    assert lesson07.FILE_SIZE.settle() in lesson07.FILE_SIZE.choices
    assert set(lesson07.FILE_SIZE.replies) == set(lesson07.FILE_SIZE.choices) - {"467 MB"}


def test_orders_of_peeling_are_tried() -> None:
    check = lesson07.PEELING_ORDER.answer
    model = FuseMap(RHYME)
    for seed in range(3):
        hand = peeled(model, 1, seed)
        assert check(" ".join(model.keys[key].letter for key, _ in hand.taken)).right
    assert check("b, f, c, h, g, e, d, a").right
    assert not check("").right
    assert "each of A B C D E F G H once" in check("A B C").line
    wrong = check("H B F C G E D A")
    assert not wrong.right
    assert wrong.line.startswith("Not yet: after nothing, H is nowhere alone. It shares cell")


def test_forged_keys_are_told_what_they_read() -> None:
    check = lesson07.FORGED_KEY.answer
    right = check("not do")
    assert right.right
    assert "cake × 1, party × 1: followers of “about the”" in right.line
    assert "With the check: e2db is not 4858, refused." in right.line
    assert "is in the map" in check("about the").line
    assert not check("not the").right
    assert "two of these words" in check("<script> cake").line
