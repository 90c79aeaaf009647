"""Lesson 09 without a browser: a race in slices, in words, as a table, as plots, as files."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tools import REPO

from ngram_core.errors import InputError
from ngram_core.lesson import lesson09, live_race
from ngram_core.lesson.live_race import Choice, LiveRace
from ngram_core.lesson.predict import Prediction
from ngram_core.lesson.race_board import board
from ngram_core.lesson.race_report import KINDS, file_name, save
from ngram_core.lesson.race_table import table
from ngram_core.lesson.race_words import (
    cannot_tell,
    describe,
    factor,
    light,
    notes,
    published_step,
    sentence,
    steps,
    widest,
)
from ngram_core.published import FIRST_RUN_CONSTMAP_US, PUBLISHED
from ngram_core.racing import RaceResult, SizeFigures, Spread
from ngram_core.racing.pace import Pace
from ngram_core.toggles import STAGES

SMALL = Choice(text_tokens=1_000, runs=1, largest_mb=1)
TWO = replace(SMALL, stages=("upstream", "nocopy"), largest_mb=0)


def plain(words: list[Any]) -> str:
    return "".join(part if isinstance(part, str) else part[1] for part in words)


@pytest.fixture(scope="module")
def raced() -> Iterator[LiveRace]:
    """A whole small race, run once for all tests here."""
    with LiveRace(SMALL) as x:
        x.start()
        x.run_to_end()
        yield x


@pytest.fixture(scope="module")
def result(raced: LiveRace) -> RaceResult:
    assert raced.result is not None
    return raced.result


@pytest.fixture
def x() -> Iterator[LiveRace]:
    with LiveRace(TWO) as made:
        yield made


def shown(x: LiveRace, result: RaceResult) -> LiveRace:
    """A model that shows this result, as if it had raced it."""
    x.results, x._kept, x.state = [result], True, "done"
    return x


def with_times(size: SizeFigures, **ns: tuple[float, float, float]) -> SizeFigures:
    """The same with these lows, medians and highs of time per drafted token; "again" of the A/A."""
    times = {
        name.replace("again", "upstream again"): Spread(3, m, a, b)
        for name, (a, m, b) in ns.items()
    }
    made = tuple(
        replace(figures, ns_per_drafted=times[figures.name])
        for figures in size.stages
        if figures.name in times
    )
    return replace(size, stages=made)


# ---- the model -------------------------------------------------------------------------------


def test_a_race_in_slices(x: LiveRace) -> None:
    assert (x.state, x.result, x.progress()) == ("ready", None, (0.0, None))
    assert not x.work(), "nothing was started"
    x.start()
    assert x.state == "preparing"
    longest, fractions = 0.0, []
    while True:
        begun = time.monotonic()
        more = x.work()
        longest = max(longest, time.monotonic() - begun)
        fractions.append(x.progress()[0])
        if not more:
            break
    assert x.state == "done"
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert longest < 5, "one slice, on a busy machine"
    assert x.result is not None
    assert x.result.complete
    assert x.result.n_runs == x.n_planned == 3
    assert [f.name for f in x.result.sizes[0].stages] == ["upstream", "nocopy", "upstream again"]


def test_what_was_measured_is_kept_at_a_stop(x: LiveRace) -> None:
    x.start()
    while x.result is None:
        x.work()
    x.stop()
    assert x.state == "stopped"
    assert not x.result.complete
    assert 0 < x.result.n_runs < 3
    assert not x.work()
    assert board(x)["progress"][1] == f"stopped after {x.result.n_runs} runs"
    x.choose(stages=("nocopy",))
    x.start()
    assert x.result is None, "the new race has measured nothing yet"
    x.run_to_end()
    assert [len(r.sizes[0].stages) for r in x.results] == [len(x.results[0].sizes[0].stages), 2]


def test_pause_and_resume(x: LiveRace) -> None:
    x.pause()
    assert x.state == "ready", "nothing to pause"
    x.start()
    x.pause()
    assert not x.work()
    x.resume()
    assert x.state == "preparing"
    while x.state == "preparing":
        x.work()
    x.pause()
    assert plain(sentence(x)) != ""
    assert [b[0] for b in board(x)["buttons"]] == ["resume", "pause", "stop"]
    x.resume()
    x.run_to_end()
    assert x.state == "done"


def test_a_pause_is_no_work() -> None:
    pace = Pace([(("lap", 0.0, "a"), 1.0), (("lap", 0.0, "b"), 1.0)])
    pace.begin(("lap", 0.0, "a"))
    pace.rest(-2.0)  # began two seconds earlier
    pace.rest(1.0)  # and rested for one
    pace.end()
    pace.begin(("lap", 0.0, "b"))
    pace.end(seconds=1.0)
    assert pace.fraction() == 1.0
    assert pace._tasks[0].seconds == pytest.approx(1.0, abs=0.2)


@pytest.mark.parametrize(
    "changes",
    [
        {"largest_mb": 2},
        {"text_tokens": 7},
        {"runs": 2},
        {"stages": ()},
        {"stages": ("upstream", "fast")},
        {"corpus": "  "},
    ],
)
def test_what_cannot_be_chosen_is_refused(x: LiveRace, changes: dict[str, Any]) -> None:
    before = x.choice
    with pytest.raises(InputError):
        x.choose(**changes)
    assert x.choice == before


def test_memory_refuses_a_size() -> None:
    with LiveRace(TWO, free_bytes=200_000_000) as x:
        refused = {size: label for size, _, label, _ in board(x)["fields"][1]["choices"]}
        assert refused[0] == refused[5] == ""
        assert "200 MB may be taken" in refused[100]
        with pytest.raises(InputError, match="may be taken"):
            x.choose(largest_mb=100)


@pytest.mark.parametrize("corpus", ["no-such-file.txt", "<script>", "🦕"])
def test_a_corpus_that_is_not_there_is_told(x: LiveRace, corpus: str) -> None:
    x.choose(corpus=corpus)
    x.start()
    with pytest.raises(InputError, match="there is no corpus"):
        x.run_to_end()
    assert x.state == "failed"
    assert plain(sentence(x)).startswith("It did not work: there is no corpus")
    x.choose(corpus="python")
    x.start()
    x.run_to_end()
    assert x.state == "done"


def test_a_text_of_the_readers_own(x: LiveRace, tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("the cat sat on the mat and the cat sat on the hat\n" * 300)
    x.choose(corpus=str(path), largest_mb=1)
    assert board(x)["own"] == str(path)
    x.start()
    x.run_to_end()
    assert x.result is not None
    assert str(path) in x.result.text
    assert any("can be counted" in note for note in notes(x)), "1 MB is not there"
    assert x.result.sizes[0].accept_pct is not None


def test_closing_ends_everything() -> None:
    x = LiveRace(TWO)
    x.start()
    while x.state == "preparing":
        x.work()
    assert x._race is not None
    folder = Path(x._race._folder.name)
    assert folder.exists()
    x.close()
    x.close()
    assert not folder.exists()
    assert not x.work()


# ---- words -----------------------------------------------------------------------------------


def test_the_words_before_a_race(x: LiveRace) -> None:
    said = describe(x)
    assert said.startswith(
        "Press Start: 2 stages will race along 1,000 tokens, without a static cache: 3 runs."
    )
    assert "Not compared yet." in said
    assert table(x)["rows"] == []
    assert board(x)["reports"] == []


def test_describe_says_what_the_page_says(raced: LiveRace) -> None:
    said = describe(raced)
    document = board(raced)
    assert plain(document["sentence"]) in said
    assert " ".join(document["light"][1:]) in said
    for note in document["notes"]:
        assert note in said
    json.dumps(document)


def test_the_figures_are_those_of_the_result(raced: LiveRace, result: RaceResult) -> None:
    size = result.size(1)
    first, last = size.stage("upstream"), size.stage("precheck")
    assert first.ns_per_drafted is not None
    assert last.ns_per_drafted is not None
    rows = {row["cells"][0]: row["cells"] for row in table(raced)["rows"]}
    assert len(rows) == len(result.sizes) * (len(STAGES) + 1)
    assert all(len(cells) == len(table(raced)["columns"]) for cells in rows.values())
    took = last.ns_per_drafted.median / 1000
    assert float(rows["1 MB, precheck"][1].replace(",", "")) == pytest.approx(took, 0.006, 0.006)
    ratio = first.ns_per_drafted.median / last.ns_per_drafted.median
    shown_ratio = rows["1 MB, precheck"][3].lstrip("~").replace(",", "")
    assert float(shown_ratio) == pytest.approx(ratio, 0.06, 0.06)
    assert rows["none, upstream"][14] == "8.54", "published, without a static cache"
    assert rows["1 MB, upstream"][14] == "–"
    assert light(result)[0] == "same"
    for one in result.sizes:
        assert one.stages[0].checksums[0] in light(result)[2]


def test_what_lies_within_the_noise_is_said(x: LiveRace, result: RaceResult) -> None:
    quiet = with_times(
        result.size(1),
        upstream=(990, 1000, 1010),
        nocopy=(240, 250, 260),
        outermap=(230, 249, 270),
        innervector=(120, 125, 130),
        again=(980, 1000, 1020),
    )
    assert [(s.stage, s.noise) for s in steps(quiet)] == [
        ("nocopy", False),
        ("outermap", True),
        ("innervector", False),
    ]
    assert steps(quiet)[0].ratio == pytest.approx(4.0)
    assert steps(quiet)[0].published == pytest.approx(165.48 / 6.47)
    shown(x, replace(result, sizes=(quiet,)))
    said = notes(x)
    assert "A factor below 1.04 says nothing here" in said[0]
    assert "nocopy 4.0, outermap 1.00 (within the noise), innervector 1.99" in said[1]
    assert "The largest step here is nocopy, 4.0 times" in said[2]
    assert "Of the article's factors outermap (1.11) cannot be seen here" in said[2]
    assert "a smaller one has shorter lists" in said[2]
    assert plain(sentence(x)).endswith("8.0 times faster.")
    loud = with_times(
        quiet, upstream=(990, 1000, 1010), nocopy=(900, 950, 1200), again=(980, 1000, 1900)
    )
    shown(x, replace(result, sizes=(loud,)))
    assert plain(sentence(x)).endswith("1.05 times faster, within the noise.")
    assert cannot_tell(loud, loud.stage("upstream"), loud.stage("nocopy"))


def test_one_run_tells_nothing(result: RaceResult) -> None:
    size = result.size(1)
    assert all(step.noise for step in steps(size))
    assert cannot_tell(size, size.stage("upstream"), size.stage("precheck"))


def test_other_drafts_turn_the_light(result: RaceResult) -> None:
    size = result.size(1)
    odd = replace(size.stages[2], checksums=("0123456789abcdef",))
    other = replace(size, stages=(*size.stages[:2], odd, *size.stages[3:]))
    kind, head, body = light(replace(result, sizes=(result.sizes[0], other)))
    assert (kind, head) == ("other", "Other drafts.")
    assert f"{odd.name} (0123456789abcdef)" in body
    assert "With 1 MB of corpus upstream drafted" in body


def test_small_words() -> None:
    assert [factor(r) for r in (4.46, 1.3, 0.5)] == [
        "4.5 times faster",
        "1.30 times faster",
        "2.0 times slower",
    ]
    assert widest(None) is None
    assert published_step("upstream", "of tomorrow") is None


# ---- reports ---------------------------------------------------------------------------------


def test_no_file_is_ever_overwritten(result: RaceResult, tmp_path: Path) -> None:
    mine = tmp_path / file_name(result, "json")
    mine.write_text("mine")
    first, second = save(result, tmp_path), save(result, tmp_path)
    assert mine.read_text() == "mine"
    assert len({*first, *second, mine}) == 7
    assert [path.name for path in second][2] == file_name(result, "json", 3)
    with pytest.raises(InputError):
        file_name(result, "pdf")


def test_the_report_says_all_that_is_needed_to_check_it(result: RaceResult) -> None:
    made = {name: kind.make(result) for name, kind in KINDS.items()}
    assert RaceResult.from_json(made["json"]) == result
    machine = result.surroundings.machine
    for text in (made["markdown"], made["html"]):
        for fact in (machine["cpu"], machine["compiler"], machine["ngram_core"]):
            assert str(fact) in text
        assert f"seed {result.setting.seed}" in text
        assert all(size.stages[0].checksums[0] in text for size in result.sizes)


def test_the_page_needs_nothing_else(result: RaceResult) -> None:
    evil = replace(result, corpus="<script>alert(1)</script>")
    page = evil.to_html()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert not re.search(r"\b(src|href)=", page)
    assert page.count("<table>") == page.count("</table>") > 5
    for tag in ("th", "td", "tr", "p", "div"):
        assert page.count(f"<{tag}>") + page.count(f"<{tag} ") == page.count(f"</{tag}>")


# ---- the lesson ------------------------------------------------------------------------------


def test_the_prediction_is_settled_by_the_published_table() -> None:
    asked = Prediction(lesson09.LARGEST)
    answer = asked.lock("check first")
    assert not answer.right
    assert asked.right == "read in place"
    assert "read in place 26, a flat table 1.11" in answer.line
    assert set(lesson09._CHANGES) == {line.stage for line in PUBLISHED} - {"upstream"}


@pytest.mark.parametrize(
    ("typed", "right", "said"),
    [
        ("3.98 1.18 1311", True, "165.48 / 3.98 = 42; 165.48 / 1.18 = 140; 3,465 / 1,311 = 2.6"),
        ("3,98; 1,18; 1,312 MB", True, "three denominators"),
        ("4.29 1.18 1311", False, "165.48 / 4.29 is 38.6, not 42. That one is of the later"),
        ("3.98 4.29 1311", False, "not 140"),
        ("3.98 1.18 464", False, "3465 / 464 is 7.5, not 2.6"),
        ("0 0 0", False, "divided by 0"),
        ("<b>", False, "three numbers"),
        ("1 2", False, "three numbers"),
        ("", False, "type an answer first"),
    ],
)
def test_denominators(typed: str, right: bool, said: str) -> None:
    answer = lesson09.DENOMINATORS.answer(typed)
    assert answer.right is right
    assert said in answer.line


def test_the_table_in_the_notebook_is_the_published_one() -> None:
    notebook = json.loads((REPO / "notebooks" / "09_the_race.ipynb").read_text(encoding="utf-8"))
    words = "".join("".join(cell["source"]) for cell in notebook["cells"])
    for line in (line for line in PUBLISHED if line.corpus_mb == 541):
        figures = (line.us_per_drafted, line.load_ms, line.static_mb, line.peak_mb)
        row = " | ".join(f"*{figure}*" for figure in figures)
        assert f"| {line.stage} | {row} |" in words


def test_denominators_are_true() -> None:
    assert pytest.approx(42, abs=0.5) == 165.48 / FIRST_RUN_CONSTMAP_US


@pytest.mark.parametrize(
    ("outermap", "right"),
    [
        ((100, 101, 102), "yes"),
        ((300, 301, 302), "no"),
        ((150, 199, 210), "cannot tell"),
    ],
)
def test_is_it_faster(
    x: LiveRace, result: RaceResult, outermap: tuple[float, float, float], right: str
) -> None:
    task = lesson09.is_it_faster(x)
    assert "Race nocopy and outermap above first" in task.answer("yes").line
    size = with_times(
        result.size(1),
        upstream=(990, 1000, 1010),
        nocopy=(199, 200, 201),
        outermap=outermap,
        again=(980, 1000, 1020),
    )
    shown(x, replace(result, sizes=(result.sizes[0], size)))
    assert lesson09.judged(x) == right
    for said in ("yes", "no", "cannot tell"):
        answer = task.answer(f" {said.upper()}! ")
        assert answer.right is (said == right)
        assert "with 1 mb of corpus nocopy took" in answer.line.lower()
    assert task.answer("can't tell").right is (right == "cannot tell")
    assert task.answer("maybe").line == "Type yes, no, or cannot tell."


def test_scores_of_32_bits_turn_the_light() -> None:
    said = lesson09.other_drafts()
    assert not said.result.drafts_equal
    size = said.result.sizes[0]
    assert size.other_drafts == ("exact",)
    assert size.stage("exact").n_accept > size.stage("int32").n_accept
    assert said.text.startswith("Other drafts. With 1.44 MB of corpus int32 drafted")


@pytest.mark.slow
def test_small_races_say_what_they_measured() -> None:
    naive = lesson09.one_run_each(n_runs=2, text_tokens=1_000)
    assert "upstream, 4 runs of 1,000 tokens" in str(naive)
    assert "times faster than upstream" in str(naive)
    tiny = lesson09.tiny_race()
    assert tiny.result.n_runs == 2 * (len(STAGES) + 1)
    assert "A factor below" in str(tiny)


# ---- the view --------------------------------------------------------------------------------


@pytest.fixture
def view() -> Iterator[Any]:
    pytest.importorskip("anywidget")
    pytest.importorskip("plotly")
    import ipywidgets

    from ngram_core.views.race import Race

    made = Race(LiveRace(TWO))
    yield made
    made.close()
    ipywidgets.Widget.close_all()


def press(view: Any, action: str, value: Any = None) -> None:
    view.board._handle_custom_msg({"action": action, "value": value}, [])


def test_presses(view: Any) -> None:
    async def main() -> None:
        press(view, "start")
        while view.pump.running:
            await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}, "no task is left"

    asyncio.run(main())
    document = view.board.board
    assert document["state"] == "done"
    assert document["error"] == ""
    assert [kind for kind, _ in document["reports"]] == list(KINDS)
    assert len(view.figures.table["rows"]) == 3
    press(view, "stage", "precheck")
    assert view.race.choice.stages == ("upstream", "nocopy", "precheck")
    assert view.board.board["pending"] == "What is chosen now is raced at the next Start."
    for name in view.race.choice.stages:
        press(view, "stage", name)
    assert "a race needs a stage" in view.board.board["error"].lower()
    press(view, "choose", ["runs", 9])
    assert view.race.choice.runs == 9
    assert repr(view) == view.describe()
    assert view._repr_mimebundle_()["text/plain"] == view.describe()


def test_reports_are_sent_and_saved(
    view: Any, result: RaceResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert view.save() == []
    shown(view.race, result)
    sent: list[dict[str, str]] = []
    monkeypatch.setattr(view.board, "send", sent.append)
    for name in KINDS:
        press(view, "download", name)
    assert [one["name"] for one in sent] == [file_name(result, name) for name in KINDS]
    assert sent[2]["text"] == result.to_json()
    press(view, "save")
    assert view.board.board["saved"].startswith("Saved beside the notebook: race-")
    assert len(list(tmp_path.iterdir())) == 3
    press(view, "download", "pdf")
    assert "there is no report" in view.board.board["error"].lower()


@pytest.mark.parametrize("width", [200, 244, 600, 950, 1172])
def test_plots_at_any_width(width: int, result: RaceResult) -> None:
    pytest.importorskip("plotly")
    import plotly.graph_objects as go

    from ngram_core.views.figure_grid import LIGHT, corpus_place
    from ngram_core.views.race_layout import layout
    from ngram_core.views.race_plots import traces

    empty, full = traces(None, width, LIGHT), traces(result, width, LIGHT)
    assert len(empty) == len(full)
    for made, of in ((empty, None), (full, result)):
        figure = go.Figure({"data": made, "layout": layout(of, width, LIGHT)})
        assert figure.layout.width == width
    drawn = {word for trace in full for word in trace.get("text", ()) if word}
    captions = " ".join(note["text"] for note in layout(result, width, LIGHT)["annotations"])
    for stage in STAGES:  # at the end of its line; with little room beside its mark
        named = any(word.startswith(f" {stage}") for word in drawn)
        assert named != (f"\u00a0{stage}" in captions)
        assert named == (width > 300)
    for trace in full:  # names cover no published point
        if trace.get("mode") == "lines+text" and trace["x"]:
            assert trace["x"][1] > corpus_place(541)
    dotted = [t for t in full if t.get("line", {}).get("dash") == "dot"]
    assert dotted
    assert all(t["marker"]["color"] == LIGHT["panel"] for t in dotted), "published: hollow"


def test_a_new_race_closes_the_one_before(view: Any) -> None:
    from ngram_core.views import measuring
    from ngram_core.views.race import Race

    newer = Race(LiveRace(TWO))
    assert measuring._open is newer
    assert view.race._closed
    newer.close()
    assert measuring._open is None


def test_an_unexpected_error_is_told(view: Any, capsys: pytest.CaptureFixture[str]) -> None:
    view.race.start = lambda: 1 / 0
    press(view, "start")
    assert "Something went wrong in the kernel: ZeroDivisionError" in view.board.board["error"]
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_choices_are_as_the_model_has_them(x: LiveRace) -> None:
    fields = {field["name"]: field["choices"] for field in board(x)["fields"]}
    assert [choice[0] for choice in fields["largest_mb"]] == list(live_race.SIZES)
    assert [choice[0] for choice in fields["text_tokens"]] == list(live_race.TEXTS)
    assert [choice[0] for choice in fields["runs"]] == list(live_race.RUNS)
    for choices in fields.values():
        assert [chosen for *_, chosen in choices].count(True) == 1
