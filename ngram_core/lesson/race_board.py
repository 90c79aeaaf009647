"""The board of a race as one small document: all that the page shows of it in words.

state       as LiveRace.state
sentence    strings and ["b", text]
buttons     [name, label, enabled, main] each: what can be pressed now
progress    [fraction, text]
light       [kind, headline, text]; kind is "none", "same" or "other"
notes       sentences
fields      {name, title, hint, choices: [[value, label, refusal or "", chosen] ...]} each
own         the reader's own file or folder, or ""
stages      [name, pressed] each
reports     [kind, label] each, what can be exported; empty before anything was measured
pending     that something else is chosen than was raced, or ""
"""

from __future__ import annotations

from typing import Any

from ..toggles import STAGES
from .findings import seconds_left
from .live_race import RUNS, SIZES, TEXTS, LiveRace
from .race_report import KINDS
from .race_words import corpus_name, light, notes, sentence

_CORPORA = {
    "python": "Python’s library",
    "prose": "made prose",
    "code-edit": "code edits",
}


def board(x: LiveRace) -> dict[str, Any]:
    """The document as told above."""
    return {
        "state": x.state,
        "sentence": sentence(x),
        "buttons": _buttons(x),
        "progress": _progress(x),
        "light": list(light(x.result)),
        "notes": notes(x),
        "fields": _fields(x),
        "own": "" if x.choice.corpus in _CORPORA else x.choice.corpus,
        "stages": [[name, name in x.choice.stages] for name in STAGES],
        "pending": _pending(x),
        "reports": [[kind, one.label] for kind, one in KINDS.items()] if x.result else [],
    }


def _buttons(x: LiveRace) -> list[list[Any]]:
    paused = x.state == "paused"
    name, label = ("resume", "Resume") if paused else ("start", "Start")
    return [
        [name, label, not x.working, not x.working],
        ["pause", "Pause", x.working, x.working],
        ["stop", "Stop", x.working or paused, False],
    ]


def _progress(x: LiveRace) -> list[Any]:
    if x.state in ("ready", "failed"):
        return [0.0, ""]
    fraction, seconds = x.progress()
    if x.state == "done":
        assert x.result is not None
        return [1.0, f"all {x.result.n_runs} runs, {x.result.seconds:,.0f} s"]
    if x.state == "stopped":
        n_runs = x.result.n_runs if x.result else 0
        return [fraction, f"stopped after {n_runs} runs"]
    if x.state == "preparing":
        return [0.0, x.what]
    told = (f"{100 * fraction:.0f} %", x.what, seconds_left(seconds) if x.working else "")
    return [fraction, ", ".join(part for part in told if part)]


def _fields(x: LiveRace) -> list[dict[str, Any]]:
    chosen = x.choice
    corpora = [name for name in x.corpora if name in _CORPORA]
    return [
        {
            "name": "corpus",
            "title": "Corpus",
            "hint": "Its end is the text, and is not counted; of a made one, another piece.",
            "choices": [[name, _CORPORA[name], "", name == chosen.corpus] for name in corpora],
        },
        {
            "name": "largest_mb",
            "title": "Static caches up to",
            "hint": "All sizes up to this one are raced.",
            "choices": [
                [size, corpus_name(size), x.refusal(size) or "", size == chosen.largest_mb]
                for size in SIZES
            ],
        },
        {
            "name": "text_tokens",
            "title": "Text, tokens",
            "hint": "A longer one takes longer, and wanders less.",
            "choices": [[n, f"{n:,}", "", n == chosen.text_tokens] for n in TEXTS],
        },
        {
            "name": "runs",
            "title": "Runs of each stage",
            "hint": "The middle one counts; the extremes are the spread.",
            "choices": [[n, str(n), "", n == chosen.runs] for n in RUNS],
        },
    ]


def _pending(x: LiveRace) -> str:
    if x.raced is None or x.raced == x.choice:
        return ""
    at_work = "The race at work goes on as it was begun. " if x.working else ""
    return f"{at_work}What is chosen now is raced at the next Start."
