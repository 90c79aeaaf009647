"""Race: all stages against each other, with board, plots and table, in the notebook."""

from __future__ import annotations

from typing import Any

from ..lesson.live_race import Choice, LiveRace
from ..lesson.race_board import board
from ..lesson.race_report import file_name, kind, save
from ..lesson.race_table import table
from ..lesson.race_words import describe
from ..racing import RaceResult
from .assets import script, style
from .base import whole_text
from .figure import Layout, Trace
from .figure_grid import Colours
from .measuring import Measuring
from .race_layout import layout
from .race_plots import traces
from .switchboard import Switchboard


class RaceBoard(Switchboard):
    """Sentence, buttons, progress, light, choices and reports; see `lesson/race_board.py`."""

    _esm = script("raceboard")
    _css = style("switchboard", "raceboard")


class Race(Measuring):
    """A race that the reader sets up, starts and watches.

    Args:
        race: what to steer; by default one on Python's own library source.
        settings: of a race made here, as `lesson.live_race.Choice` takes them, such as
            corpus="my.txt", largest_mb=5.

    There is one in a kernel: a new one closes the one before.
    """

    per_second = 2.0  # a run takes a third of a second, and drawing would slow it down

    def __init__(self, race: LiveRace | None = None, **settings: Any) -> None:
        self.race = race or LiveRace(Choice(**settings))
        self._saved = ""
        super().__init__(self.race, RaceBoard())

    def make_board(self) -> dict[str, Any]:
        """See `lesson/race_board.py`."""
        return {**board(self.race), "saved": self._saved}

    def make_table(self) -> dict[str, Any]:
        """See `lesson/race_table.py`."""
        return table(self.race)

    def make_plots(self, width: int, colours: Colours) -> tuple[list[Trace], Layout]:
        """See `race_plots.py` and `race_layout.py`."""
        result = self.race.result
        return traces(result, width, colours), layout(result, width, colours)

    def act(self, action: str, value: Any = None) -> None:
        """What a press does: start, resume, pause, stop, choose, stage, download or save."""
        x = self.race
        self._saved = ""
        if action == "choose":
            name, given = value
            x.choose(**{name: whole_text(given) if isinstance(given, str) else given})
        elif action == "stage":
            chosen = set(x.choice.stages) ^ {value}
            x.choose(stages=tuple(chosen))
        elif action == "download":
            self._download(value)
        elif action == "save":
            paths = self.save()
            self._saved = f"Saved beside the notebook: {', '.join(paths)}."
        else:
            {"start": x.start, "resume": x.resume, "pause": x.pause, "stop": x.stop}[action]()

    def _download(self, name: str) -> None:
        result = self.result
        if result is not None:
            made = kind(name)
            self.board.send(
                {
                    "name": file_name(result, name),
                    "type": made.media_type,
                    "text": made.make(result),
                }
            )

    @property
    def result(self) -> RaceResult | None:
        """All figures of the latest race, as far as it went."""
        return self.race.result

    def run(self) -> RaceResult | None:
        """Runs the race in hand to its end, here and now; the view follows at the end."""
        self.race.start()
        self.race.run_to_end()
        self._show(True)
        return self.result

    def save(self, folder: str = ".") -> list[str]:
        """Writes the report as HTML, Markdown and JSON; files that are there stay as they are.

        Returns:
            The names of the new files; none before anything was measured.
        """
        return [path.name for path in save(self.result, folder)] if self.result else []

    def describe(self) -> str:
        """What the page says: sentence, light, notes, one line for each stage and size."""
        return describe(self.race)

    def show(self) -> None:
        """Displays it, and prints in one line what it will do."""
        super().show()
        choice = self.race.choice
        print(
            f"At first: {len(choice.stages)} stages and one of them again,"
            f" {self.race.n_planned} runs: {choice.text_tokens:,} tokens;"
            f" static cache of 0 to {choice.largest_mb} MB"
        )

    def end(self) -> None:
        """Ends the process at work."""
        self.race.close()
