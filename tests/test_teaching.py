"""The teacher's pages: times add up, lessons are there, and figures are those of the engine."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from typing import Any

import copies
import pytest
from tools import REPO

from ngram_core import Rule
from ngram_core.lesson.checking.counts import savings
from ngram_core.lesson.checking.recipe import at_word
from ngram_core.lesson.payoff.gains import counted
from ngram_core.lesson.stepper import StepperModel
from ngram_core.trace import Row

NOTEBOOKS = REPO / "notebooks"
TEACHER = NOTEBOOKS / "teacher"
PLANS = (45, 90, 180)
LESSONS = {path.name[:2]: path.name for path in NOTEBOOKS.glob("[0-9]*.ipynb")}


def page(name: str) -> str:
    return (TEACHER / f"{name}.md").read_text(encoding="utf-8")


def rows(plan: int) -> list[tuple[int, int, str]]:
    """Begin, end and lesson ("" for a pause) of each line of a plan."""
    found = re.findall(r"^\| (\d+)–(\d+) \| (.+?) \|", page(f"plan_{plan}"), re.M)
    return [
        (int(begin), int(end), "".join(re.findall(r"^\[(\d\d)\]", name)))
        for begin, end, name in found
    ]


@pytest.mark.parametrize("plan", PLANS)
def test_times_add_up(plan: int) -> None:
    lines = rows(plan)
    assert lines[0][0] == 0
    assert lines[-1][1] == plan
    assert all(first[1] == second[0] for first, second in pairwise(lines))
    assert all(end > begin for begin, end, _ in lines)
    named = [lesson for _, _, lesson in lines if lesson]
    assert named == sorted(named)


@pytest.mark.parametrize("plan", PLANS)
def test_times_within_a_line_are_within_it(plan: int) -> None:
    for begin, end, text in re.findall(r"^\| (\d+)–(\d+) \|(.+)$", page(f"plan_{plan}"), re.M):
        for one, other in re.findall(r"(\d+)–(\d+):", text):
            assert int(begin) <= int(one) < int(other) <= int(end)


def test_the_long_plan_has_every_lesson() -> None:
    assert [lesson for _, _, lesson in rows(180) if lesson] == sorted(LESSONS)


def test_every_lesson_has_its_notes_with_the_time_that_it_says() -> None:
    notes = dict(
        re.findall(r"^## Lesson (\d\d), .*?\((\d+) minutes\)$", page("lesson_notes"), re.M)
    )
    assert sorted(notes) == sorted(LESSONS)
    for number, minutes in notes.items():
        cells = copies.read(NOTEBOOKS / LESSONS[number])["cells"]
        assert any(f"## After these {minutes} minutes" in cell["source"] for cell in cells), number
    for part in ("Goal", "Ask", "They think", "Skip"):
        assert page("lesson_notes").count(f"- **{part}**") == len(LESSONS)


@pytest.mark.parametrize("plan", PLANS)
def test_questions_are_of_lessons_in_the_plan(plan: int) -> None:
    asked = re.findall(r"^\| (\d\d) \| .+\? \| .+ \|$", page(f"plan_{plan}"), re.M)
    assert len(asked) >= 5
    assert set(asked) <= {lesson for _, _, lesson in rows(plan)}


def test_the_clock_of_the_middle_plan() -> None:
    """What each line needs, by the notes' estimates, is less than it gives."""
    said = re.search(r"come to ([\d, and]+) minutes of the ([\d, and]+) that", page("plan_90"))
    assert said
    needed, given = (list(map(int, re.findall(r"\d+", part))) for part in said.groups())
    lines = [end - begin for begin, end, lesson in rows(90) if lesson]
    assert given == lines
    assert all(need < give for need, give in zip(needed, given, strict=True))


MORE = "## If you have more time"


def main_line(lesson: str) -> list[dict[str, Any]]:
    """The cells that the minutes of a lesson are for: all, or those before what is for later."""
    cells: list[dict[str, Any]] = copies.read(NOTEBOOKS / LESSONS[lesson])["cells"]
    later = [i for i, cell in enumerate(cells) if cell["source"].startswith(MORE)]
    return cells[: later[0]] if later else cells


def words(lesson: str) -> int:
    """To read on the main line; without addresses and what a page does not show."""
    cells = main_line(lesson)
    text = " ".join(cell["source"] for cell in cells if cell["cell_type"] == "markdown")
    return len(re.sub(r"</?[a-z][^>]*>|\]\([^)]*\)", "", text).split())


def test_there_is_time_for_more_than_reading() -> None:
    """Looking, stepping and answering need as much as the words in the long plan, too."""
    for begin, end, lesson in rows(180):
        if lesson:
            assert 2 * words(lesson) / 180 <= end - begin + 1.5, lesson


NUMBER = r"\| *([\d.]+) "


def test_minutes_are_what_they_are_counted_from() -> None:
    """The table of the notes: words and cells are those of the lesson, and the sum is right."""
    lines = re.findall(rf"^\| (\d\d) {NUMBER * 6}\|$", page("lesson_notes"), re.M)
    said = dict(re.findall(r"^## Lesson (\d\d), .*?\((\d+) minutes\)$", page("lesson_notes"), re.M))
    assert [line[0] for line in lines] == sorted(LESSONS)
    for lesson, *figures in lines:
        read, cells, views, exercises, waiting, together = map(float, figures)
        assert abs(read - words(lesson)) <= 30, (lesson, words(lesson))
        assert cells == sum(cell["cell_type"] == "code" for cell in main_line(lesson)), lesson
        minutes = read / 180 + cells / 10 + 0.5 + views + exercises + waiting
        assert abs(minutes - together) <= 0.6, (lesson, minutes)
        assert together == int(said[lesson])
        assert 10 <= together <= 15


def test_the_main_line_ends_with_the_recap() -> None:
    """What is for later comes behind it, and is said to be."""
    for lesson in LESSONS:
        cells, whole = main_line(lesson), copies.read(NOTEBOOKS / LESSONS[lesson])["cells"]
        assert cells[-1]["id"] == "recap"
        if len(cells) < len(whole):
            assert "minutes end here" in cells[-1]["source"]
            assert (
                "**Below the recap**"
                in page("lesson_notes")
                .partition(f"## Lesson {lesson},")[2]
                .partition("## Lesson")[0]
            )


def _names(source: str) -> tuple[set[str], set[str]]:
    """The names that a cell gives, and those that it takes from elsewhere."""
    nodes = list(ast.walk(ast.parse(source)))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    given = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    given |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            given |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return given, {node.id for node in names} - given


def _needed(lesson: str) -> list[set[str]]:
    """For each cell without which a later one fails, the names that it gives; less the first
    one, and in lesson 00 the first two, which a teacher always runs."""
    cells = copies.read(NOTEBOOKS / LESSONS[lesson])["cells"]
    both = [_names(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    always = 2 if lesson == "00" else 1
    given = [names for names, _ in both]
    needed = {
        next(j for j in range(i) if name in given[j])
        for i, (_, taken) in enumerate(both)
        for name in taken
        if any(name in names for names in given[:i])
    }
    return [given[i] for i in sorted(needed) if i >= always]


def test_what_cannot_be_skipped_is_named() -> None:
    line = page("lesson_notes").partition("**What can be skipped.**")[2].partition("\n\n")[0]
    named = {
        lesson: set(re.findall(r"`(\w+)`", names))
        for names, lesson in re.findall(r"((?:`\w+`(?: and |,\s)?)+) \((\d\d)\)", line)
    }
    for lesson in LESSONS:
        needed, told = _needed(lesson), named.get(lesson, set())
        assert len(needed) == len(told), lesson
        assert all(names & told for names in needed), lesson


# ---- the board -----------------------------------------------------------------------------------


def _rung(row: Row, word: str) -> str:
    name = f"{row.cache:7} n = {row.n}"
    if not row.n_followers:
        return f"{name}   no{'':38}next"
    often = f"{row.sum} {'>=' if row.sum >= row.min_sum else '<'} {row.min_sum}"
    sure = ""
    if row.sum >= row.min_sum:
        sure = f"{row.share} {'>=' if row.share >= row.needed else '<'} {row.needed}"
    return f"{name}   yes     {often:<16}{sure:<16}{word if row.passes else 'next'}"


def test_the_board_is_what_the_engine_says() -> None:
    with at_word("upstream", 40) as drafter:
        ladder = [_rung(row, "tin") for row in drafter.step(1)[0].rows]
    assert len(ladder) == 9
    assert "\n".join(ladder) in page("lesson_notes")


def test_word_82_on_the_board() -> None:
    with at_word("upstream", 82) as drafter:
        row = next(row for row in drafter.step(1)[0].rows if row.n_followers)
    best, second = sorted(row.candidates, key=lambda c: -c.count * c.weight)
    board = page("lesson_notes")
    assert f"context n = {row.n}   F = {row.sum}" in board
    assert f"rest  {second.count} x {second.weight}   = {second.count * second.weight}" in board
    assert f"into  {best.count} x {best.weight} = {best.count * best.weight}   wins" in board
    assert f"= {row.share} < {row.needed}" in board


# ---- figures -------------------------------------------------------------------------------------


def test_passes_and_hits_of_the_recipe() -> None:
    totals = StepperModel("recipe").story.totals
    assert (totals.passes, totals.drafted, totals.accepted) == (79, 64, 37)
    assert "116, 88, 79 passes" in page("plan_90")
    assert "64 guesses, 37 right" in page("lesson_notes")


def test_the_share_of_lesson_08() -> None:
    saved = savings()
    told = f"{saved.share:.0f} %, {saved.skipped} of {saved.candidates}"
    assert told in page("lesson_notes")


def test_tokens_per_pass_on_the_handout() -> None:
    for name, words in (
        ("code-edit", "an edit to code"),
        ("json-lines", "JSON, line by line"),
        ("prose", "prose"),
    ):
        assert f"| {words} | {counted(name).tokens_per_pass:.2f} |" in page("handout")


def test_thresholds_on_the_handout() -> None:
    rule = Rule()
    for cache, words in (("context", "1. context"), ("dynamic", "2. dynamic")):
        sums, percents = getattr(rule, f"{cache}_sum"), getattr(rule, f"{cache}_percent")
        cells = " | ".join(f"{sums[n]}, {percents[n]}" for n in (3, 2, 1, 0))
        assert re.search(
            rf"^\| {re.escape(words)}.* \| {re.escape(cells)} \|$", page("handout"), re.M
        )


def test_the_handout_fits_on_a_page() -> None:
    """A4 at a common size holds some 60 lines of 100 characters; table rows are lines, too."""
    lines = [line for line in page("handout").splitlines() if not line.startswith("| ---")]
    assert sum(max(1, -(-len(line) // 100)) for line in lines) <= 60


@pytest.mark.parametrize("name", ["plan_45", "plan_90", "plan_180", "handout", "lesson_notes"])
def test_the_pages_are_linked(name: str) -> None:
    assert f"{name}.md" in page("running_a_class")
    if name != "lesson_notes":
        assert f"notebooks/teacher/{name}.md" in (REPO / "README.md").read_text(encoding="utf-8")
