"""Racing the stages against each other on this machine; `ng.race` is the way in.

entrants   who takes part, and in which order
material   corpus and text
running    what runs when, in slices
process    a process that does it, and `child` inside of it
gather     from runs to figures
results    the figures, as records
report     and as tables
"""

from __future__ import annotations

from typing import Any

from ..caches import Progress
from .results import RaceResult, SizeFigures, Spread, StageFigures

__all__ = ["RaceResult", "SizeFigures", "Spread", "StageFigures", "race"]


def race(
    stages: Any = "all",
    corpus: Any = "python",
    text: Any = None,
    *,
    progress: Progress | None = None,
    **settings: Any,
) -> RaceResult:
    """Replays a text with several stages, and static caches of several sizes of a corpus.

    Args:
        stages: "all", or names and stages.
        corpus: a name of `corpora.CORPORA`, a path, a text, token ids, or None.
        text: named in the same ways; by default the end of the corpus.
        progress: called with the fraction done; what it raises stops the race.
        settings: as `running.Race` takes them, such as sizes=(0, 1, 5, 25), runs=3.

    Returns:
        All figures, with machine and noise; `to_text()`, `to_markdown()`, `to_csv()`, `to_json()`.

    Cost: by default a minute or two; up to 250 MB of memory, and 60 MB of disk while it runs.

    >>> result = race(["nocopy", "precheck"], None, list(range(50)) * 20, sizes=[0], runs=1)
    >>> result.drafts_equal, result.size(0).stage("precheck").n_replayed
    (True, 1000)
    """
    from .running import Race  # not above: the processes of a race need it not, and start sooner

    with Race(stages, corpus, text, **settings) as running:
        return running.run(progress)
