"""Makes the lessons' pictures (make pictures): the real views in a real JupyterLab.

Each picture is one element of one cell's output, in light and in dark. They stand in the
lessons before the cells that show them, for GitHub, a dead kernel and a slow start. What shows
times shows those that `recorded.py` has kept.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from browser.conftest import CHROMIUM_ARGUMENTS, chromium_path
from browser.lesson import Lesson
from browser.pages import Pages
from browser.server import JupyterServer
from png import shrink

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect

FOLDER = Path(__file__).resolve().parents[1] / "notebooks" / "pictures"
WIDTH = 1136
"""Of the window; leaves the view about 950 pixels."""

MOST_BYTES = 120_000

STEPPER = "from ngram_core.views import Stepper\n"
ASKED = "from ngram_core.views import Exercise, Predict\nfrom ngram_core.lesson import {0}\n"
BOLD = "import ngram_core as ng\nbold = ng.Rule(context_sum=(1, 1, 1, 1))\n"


@dataclass(frozen=True)
class Picture:
    """One picture: its name, the code that shows the view, the part of it to take.

    With `to`, the picture reaches from the top of `part` to the bottom of `to`.
    """

    name: str
    code: str
    part: str = ".stepper"
    to: str = ""
    until: str = ""  # what must be there before the picture is taken


STAGE = ".stepper .stage"
ONE_CACHE = '"recipe", caches="c"'
LESSON_00, LESSON_01 = ASKED.format("lesson00"), ASKED.format("lesson01")
LESSON_02 = ASKED.format("lesson02")
LESSON_03 = ASKED.format("lesson03")
NO_WEIGHT = f"{STEPPER}from ngram_core import Rule\n" + (
    "Stepper(word=82, rule=Rule(weight=0), thresholds=True)"
)
SECRET = f"""{STEPPER}from ngram_core.lesson.examples import NOTES
secret = "please do not tell anyone about the cake"
stepper = Stepper(secret, earlier=NOTES, corpus=NOTES, n_draft=5, word=5)
stepper.at += 3
stepper"""
RECORDED = f"""import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import recorded
from ngram_core.views import BarTable, Race, SearchTimes
"""
LIVE = f"{RECORDED}recorded.live()"

LESSON_05 = ASKED.format("lesson05")
FOLLOWERS = """from ngram_core.views import Arrival, Followers
if "followers" not in globals():
    followers = Followers()
"""
ARRIVAL = """arrival = Arrival()
arrival.choose("falling")
arrival.go(6)
arrival"""

LESSON_07 = ASKED.format("lesson07")
PEEL = """from ngram_core.views import Peel
peel = Peel()
for cell in (22, 20, 6):
    hand = peel.hand
    peel.model.press(hand, cell)
    peel.state = vars(hand)
"""
STUCK = """from ngram_core.views import Peel
from ngram_core.lesson import lesson07
stuck = Peel(lesson07.RHYME)
for cell in (0, 1, 3, 4, 7, 9):
    hand = stuck.hand
    stuck.model.press(hand, cell)
    stuck.state = vars(hand)
stuck"""
LOOK_UP = "from ngram_core.views import LookUp\n"
LOADS = f'{RECORDED}BarTable(recorded.bars("loads"))'

LESSON_08 = ASKED.format("lesson08")
CHECKING = "from ngram_core.views import BarTable, Check\n"
COUNTS = "from ngram_core.lesson.checking import counts\n"
PROFILE = f'{RECORDED}BarTable(recorded.bars("profile", 0))'
LIMIT = f'{RECORDED}BarTable(recorded.bars("profile", 1))'
IDEAS = f'{RECORDED}BarTable(recorded.bars("ideas"))'
LINES = f"{RECORDED}recorded.lines()"

LESSON_04 = ASKED.format("lesson04")
LOOKUP = """from ngram_core.views import TableView
lookup = TableView()
lookup.choose("{}")
lookup.go(9)
lookup"""
GROWTH = """from ngram_core.views import Growth
growth = Growth()
growth.go(10)
growth"""

LESSON_06 = ASKED.format("lesson06")
SEARCH = """from ngram_core.views import Search
search = Search()
names = [label for label, _ in search.model.pictures.groups[0].choices]
search.choose(names[{}], "one inside")
search.go({})
search"""
TIMES = f"{RECORDED}SearchTimes(recorded.searches())"

LESSON_10 = ASKED.format("lesson10")
PAYOFF = """from ngram_core.views import Payoff
from ngram_core.lesson.payoff.board import PayoffModel
Payoff(PayoffModel({}))"""
WORKLOADS = """from ngram_core.views import BarTable
from ngram_core.lesson.payoff import gains
BarTable(gains.bars())"""

LESSON_09 = ASKED.format("lesson09")
RACE = f"{RECORDED}race = Race(recorded.race())\nrace"
RACED = "text=precheck >> nth=0"

PICTURES = (
    Picture(
        "00-first", f"{STEPPER}Stepper({ONE_CACHE}, word=58)", ".stepper .ctl", to=".stepper .say"
    ),
    Picture("00-predict", f"{LESSON_00}Predict(lesson00.PASSES)", ".asked"),
    Picture("00-all", f"{STEPPER}Stepper(word=42)", ".stepper .say", to=".stepper .evidence"),
    Picture("00-exercise", f"{LESSON_00}Exercise(lesson00.FIRST_HIT)", ".asked"),
    Picture("00-keep", "from ngram_core.views import Keep\nKeep()", ".asked"),
    Picture("01-word-42", f"{STEPPER}Stepper({ONE_CACHE}, word=42)"),
    Picture("01-predict", f"{LESSON_01}Predict(lesson01.WORD_20)", ".asked"),
    Picture(
        "01-bold",
        f"{STEPPER}{BOLD}Stepper({ONE_CACHE}, rule=bold, word=20)",
        ".stepper .text",
        to=".stepper .say",
    ),
    Picture(
        "01-stops",
        f"{STEPPER}{LESSON_01}Stepper({ONE_CACHE}, word=20, stops=lesson01.STOPS)",
        STAGE,
    ),
    Picture("01-exercise", f"{LESSON_01}Exercise(lesson01.BOTH_TESTS)", ".asked"),
    Picture("02-word-40", f"{STEPPER}Stepper(word=40)", ".stepper .text", to=".stepper .say"),
    Picture("02-predict", f"{LESSON_02}Predict(lesson02.WORD_82)", ".asked"),
    Picture("02-context", f"{STEPPER}Stepper({ONE_CACHE}, word=40)", STAGE),
    Picture("02-stops", f"{STEPPER}{LESSON_02}Stepper(word=42, stops=lesson02.STOPS)", STAGE),
    Picture("02-numbers", NO_WEIGHT, ".stepper .numbers"),
    Picture("02-secret", SECRET, ".stepper .text", to=".stepper .say"),
    Picture("02-exercise", f"{LESSON_02}Exercise(lesson02.ONE_THRESHOLD)", ".asked"),
    Picture("03-predict", f"{LESSON_03}Predict(lesson03.ALLOCATIONS)", ".asked"),
    Picture("03-word-86", f"{STEPPER}Stepper(word=86)", STAGE),
    Picture(
        "03-live",
        LIVE,
        ".ngram-live",
        to=".js-plotly-plot",
        until=".js-plotly-plot >> text=nocopy >> nth=0",
    ),
    Picture("03-exercise", f"{LESSON_03}Exercise(lesson03.WORD_86)", ".asked"),
    Picture("04-predict", f"{LESSON_04}Predict(lesson04.PLACES)", ".asked"),
    Picture("04-lookup", LOOKUP.format("and stir"), ".inside .steps", to=".inside .halves"),
    Picture("04-absent", LOOKUP.format("cream rest"), ".inside .panel", to=".inside .halves"),
    Picture("04-growth", GROWTH, ".inside .steps", to=".inside .growth .cap"),
    Picture("04-exercise", f"{LESSON_04}Exercise(lesson04.COLLISION)", ".asked"),
    Picture("05-predict", f"{LESSON_05}Predict(lesson05.BYTES)", ".asked"),
    Picture("05-curve", f"{FOLLOWERS}followers", ".inside .steps", to=".inside .rooms"),
    Picture(
        "05-source",
        f'{FOLLOWERS}followers.choose("5 MB of Python’s source")\nfollowers.go(32)\nfollowers',
        ".inside .panel",
        to=".inside .rooms",
    ),
    Picture("05-arrival", f"{FOLLOWERS}{ARRIVAL}", ".inside .steps", to=".inside .arrival"),
    Picture("05-exercise", f"{LESSON_05}Exercise(lesson05.WITH_FOUR)", ".asked"),
    Picture("07-peel", f"{PEEL}peel", ".fuse .ctl", to=".fuse .half"),
    Picture("07-predict", f"{LESSON_07}Predict(lesson07.FILE_SIZE)", ".asked"),
    Picture("07-stuck", STUCK, ".fuse .ctl", to=".fuse .half"),
    Picture("07-look-up", f'{LOOK_UP}LookUp(ngram="about the")', ".fuse .words", to=".fuse .half"),
    Picture("07-load", LOADS, ".bars"),
    Picture("07-bytes", "from ngram_core.views import FileView\nFileView(at=41)", ".filebytes"),
    Picture("07-forge", f'{LOOK_UP}LookUp(ngram="the the", verify=False)', ".fuse"),
    Picture("07-exercise", f"{LESSON_07}Exercise(lesson07.PEELING_ORDER)", ".asked"),
    Picture("08-check", f"{CHECKING}Check()", ".inside .steps", to=".inside .picture"),
    Picture("08-predict", f"{LESSON_08}Predict(lesson08.SAVED)", ".asked"),
    Picture("08-profile", PROFILE, ".bars"),
    Picture("08-shares", f"{CHECKING}{COUNTS}BarTable(counts.share_bars())", ".bars"),
    Picture("08-lines", LINES, ".inside .steps", to=".inside .picture"),
    Picture("08-limit", LIMIT, ".bars"),
    Picture("08-ideas", IDEAS, ".bars"),
    Picture("08-exercise", f"{LESSON_08}Exercise(lesson08.VERDICTS)", ".asked"),
    Picture("06-predict", f"{LESSON_06}Predict(lesson06.FEWER)", ".asked"),
    Picture("06-search", SEARCH.format(2, 99), ".inside .steps", to=".inside .searches"),
    Picture("06-step", SEARCH.format(0, 2), ".inside .panel", to=".inside .searches"),
    Picture("06-times", TIMES, ".inside .panel", to=".inside .picture .key"),
    Picture("06-exercise", f"{LESSON_06}Exercise(lesson06.HALVINGS)", ".asked"),
    Picture("09-predict", f"{LESSON_09}Predict(lesson09.LARGEST)", ".asked"),
    Picture(
        "09-plots",
        RACE,
        ".js-plotly-plot",
        to=".js-plotly-plot .g-xtitle",
        until=RACED,
    ),
    Picture("09-race", f"{RACE}.board", ".board"),
    Picture("09-exercise", f"{LESSON_09}Exercise(lesson09.DENOMINATORS)", ".asked"),
    Picture("10-payoff", PAYOFF.format(""), ".inside .steps", to=".inside .picture .key"),
    Picture("10-predict", f"{LESSON_10}Predict(lesson10.STORY)", ".asked"),
    Picture("10-workloads", WORKLOADS, ".bars"),
    Picture(
        "10-story",
        PAYOFF.format('"prose", "9 for the price of 5"'),
        ".inside .steps",
        to=".inside .picture .key",
    ),
    Picture("10-exercise", f"{LESSON_10}Exercise(lesson10.BREAK_EVEN)", ".asked"),
)


def make(wanted: list[str]) -> None:
    """Make the pictures whose names begin with one of these; all, if none is given."""
    from playwright.sync_api import sync_playwright

    pictures = [p for p in PICTURES if not wanted or p.name.startswith(tuple(wanted))]
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as home:
        browser = playwright.chromium.launch(
            executable_path=chromium_path(), args=CHROMIUM_ARGUMENTS
        )
        server = JupyterServer(Path(home), root=Path(home, "work"))
        try:
            pages = Pages(browser, lambda _app: server)
            cells = [picture.code for picture in pictures]
            for dark in (False, True):
                lesson = pages.open(cells, width=WIDTH, height=1800, dark=dark, new_kernel=True)
                take(lesson, pictures, dark)
                pages.end_test()
            pages.close()
        finally:
            server.stop()
            browser.close()


def take(lesson: Lesson, pictures: list[Picture], dark: bool) -> None:
    for number, picture in enumerate(pictures):
        path = FOLDER / f"{picture.name}-{'dark' if dark else 'light'}.png"
        path.write_bytes(shrink(lesson.page, shot(lesson, number, picture)))
        report(path)


def shot(lesson: Lesson, number: int, picture: Picture) -> bytes:
    """From the top of the first part to the bottom of the last one, in that cell's output."""
    lesson.run_cell(number)  # also scrolls there: cells far away are not in the page
    first = lesson.cell_output(number).locator(picture.part)
    first.wait_for(state="visible")
    if picture.until:
        first.locator(picture.until).wait_for(state="visible")
        lesson.page.wait_for_timeout(1000)  # colours and width go to the kernel and back
    last = lesson.cell_output(number).locator(picture.to or picture.part)
    first.evaluate("e => e.scrollIntoView({ block: 'start' })")
    top, bottom = first.bounding_box(), last.bounding_box()
    assert top is not None
    assert bottom is not None
    height = bottom["y"] + bottom["height"] - top["y"]
    clip: FloatRect = {"x": top["x"], "y": top["y"], "width": top["width"], "height": height}
    return lesson.page.screenshot(clip=clip)


def report(path: Path) -> None:
    size = path.stat().st_size
    print(f"{path.name}: {size:,} bytes")
    if size > MOST_BYTES:
        sys.exit(f"{path.name} is larger than {MOST_BYTES:,} bytes: take a part of it")


if __name__ == "__main__":
    make(sys.argv[1:])
