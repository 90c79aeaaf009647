"""The cache lines that one guess touches, look-up by look-up, for each stage."""

from __future__ import annotations

from ... import inside
from ...inside import LineTouch
from ...toggles import STAGES
from ..figures import plural
from ..steps import Case, Group, Pictures, Said, StepsModel
from .recipe import at_word

WORDS = (
    (42, "Context fails once, dynamic drafts."),
    (82, "Everything is asked, and nothing drafted."),
    (89, "Context drafts, among two."),
)

PHASES = {
    "look up": "look up the n-gram",
    "copy": "copy its followers",
    "sum": "read the counts for sum and largest",
    "score": "score its followers",
}
_PHASE_OF = {
    **dict.fromkeys(("copied", "copy", "copy_index"), "copy"),
    "scanned": "sum",
    **dict.fromkeys(("scored", "searched", "final", "map_bucket", "map_node"), "score"),
}
_SIGNS = {"context": "ctx", "dynamic": "dyn", "static": "sta"}
_CALLED = {
    "map_bucket": ("bucket of static followers", "buckets of static followers"),
    "map_node": ("static follower", "static followers"),
    "searched": ("pair searched", "pairs searched"),
    "final": ("last compare", "last compares"),
    "scanned": ("pair read", "pairs read"),
    "scored": ("pair scored", "pairs scored"),
    "entry": ("entry", "entries"),
    "order": ("place of followers", "places of followers"),
    "copied": ("follower copied", "followers copied"),
    "copy": ("copy written", "copies written"),
    "copy_index": ("index of a copy", "indices of copies"),
}


def lines_of(stage: str, word: int) -> tuple[LineTouch, ...]:
    """Every touch of the first guess at a word, in order."""
    with at_word(stage, word) as drafter:
        return inside.cache_lines(drafter, 1).read()


class LinesModel(StepsModel):
    """One guess, its lines of 64 bytes in order of first touch.

    Args:
        stage: chosen at first.
        word: of the recipe.
    """

    def __init__(self, stage: str = "precheck", word: int = WORDS[0][0]) -> None:
        touched = {(name, w): lines_of(name, w) for name in STAGES for w, _ in WORDS}
        most = {w: max(len(_ids(touched[name, w])) for name in STAGES) for w, _ in WORDS}
        super().__init__(
            Pictures(
                "Which cache lines does one guess touch?",
                "A square is a line of 64 bytes, the least that comes from memory, numbered by"
                " first touch. Yellow: touched in this step. A letter says for which cache.",
                (
                    Group("Stage", tuple((name, stage.what) for name, stage in STAGES.items())),
                    Group("Guess word", tuple((str(w), hint) for w, hint in WORDS)),
                ),
                [_case(name, touched[name, w], most[w]) for name in STAGES for w, _ in WORDS],
            )
        )
        self.choose(stage, str(word))
        self.go(len(self.case.steps) - 1)


def _ids(touches: tuple[LineTouch, ...]) -> set[int]:
    return {touch.line for touch in touches}


def _case(stage: str, touches: tuple[LineTouch, ...], most: int) -> Case:
    groups = _groups(touches)
    caches = {touch.line: _SIGNS[touch.cache] for touch in touches if touch.is_first}
    lines = [caches[line] for line in sorted(caches)]
    steps = []
    for i, ((cache, n, phase), group) in enumerate(groups):
        steps.append(
            {
                "count": f"step {i + 1} of {len(groups)}",
                "say": _say(cache, n, phase, group),
                "lines": sorted(_ids(tuple(group))),
                "seen": 1 + max(touch.line for _, g in groups[: i + 1] for touch in g),
            }
        )
    by_cache = {name: sum(sign == mark for sign in lines) for name, mark in _SIGNS.items()}
    say: Said = [
        f"{stage}: ",
        ["b", f"{len(lines)} lines in all"],
        ": " + ", ".join(f"{n} for {name}" for name, n in by_cache.items() if n) + ".",
    ]
    steps.append({"count": "in all", "say": say, "lines": [], "seen": len(lines)})
    return Case(steps, start=len(steps) - 1, shared={"all": lines, "most": most})


Key = tuple[str, int, str]


def _groups(touches: tuple[LineTouch, ...]) -> list[tuple[Key, list[LineTouch]]]:
    """Touches of one look-up after the other; static pairs that are searched for a row's scores
    belong to that row."""
    groups: list[tuple[Key, list[LineTouch]]] = []
    row = ("static", 2)
    for touch in touches:
        phase = _PHASE_OF.get(touch.what, "look up")
        if phase == "look up":
            row = (touch.cache, touch.n)
        key = (*(row if phase == "score" else (touch.cache, touch.n)), phase)
        if not groups or groups[-1][0] != key:
            groups.append((key, []))
        groups[-1][1].append(touch)
    return groups


def _say(cache: str, n: int, phase: str, group: list[LineTouch]) -> Said:
    new = sum(touch.is_first for touch in group)
    kinds: dict[str, int] = {}
    for touch in group:
        kinds[touch.what] = kinds.get(touch.what, 0) + 1
    read = ", ".join(_counted(what, count) for what, count in kinds.items())
    return [
        [_SIGNS[cache], cache],
        f" n = {n}, {PHASES[phase]}: {read}. ",
        ["b", plural(new, "new line") if new else "No new line"],
        "." if new else ": all are here already.",
    ]


def _counted(what: str, n: int) -> str:
    if what in _CALLED:
        return f"{n} {_CALLED[what][n != 1]}"
    return plural(n, what.replace("_", " "))


def table() -> dict[int, dict[str, int]]:
    """Lines by stage and word: {word: {stage: lines}}."""
    return {w: {name: len(_ids(lines_of(name, w))) for name in STAGES} for w, _ in WORDS}
