"""The board of an experiment as one small document: all that the page shows of it in words.

state       as Experiment.state
sentence    strings and ["b", text]
buttons     [name, label, enabled, main] each: what can be pressed now
progress    [fraction, text]
light       [kind, headline, text]; kind is "none", "same" or "other"
presets     [stage, pressed] each
sizes       [megabytes, label, refusal or "", pressed] each
hint        what the corpus in hand asks of the machine, or why another cannot be had
switches    {toggle, title, hint, may_change, on_off, value, choices: [[value, label], ...]}
"""

from __future__ import annotations

from typing import Any

from .experiment import Experiment
from .findings import corpus_name, light_words, seconds_left, sentence, size_hint
from .switches import SWITCHES, Switch


def board(x: Experiment, switches: tuple[Switch, ...] = SWITCHES) -> dict[str, Any]:
    """The document as told above."""
    light = x.light()
    return {
        "state": x.state,
        "sentence": sentence(x),
        "buttons": _buttons(x),
        "progress": _progress(x),
        "light": [light.kind, *light_words(light, x.run, x.material.tokenizer)],
        "presets": [[name, one == x.setting.toggles] for name, one in x.stages.items()],
        "sizes": [
            [size, corpus_name(size), x.refusal(size) or "", size == x.setting.size_mb]
            for size in x.sizes
        ],
        "hint": size_hint(x, x.setting.size_mb),
        "switches": [_switch(x, switch) for switch in switches],
    }


def _buttons(x: Experiment) -> list[list[Any]]:
    resting = not x.working
    paused = x.state == "paused"
    begun = x.run is not None and x.run.unfinished
    label = "Resume" if paused else "Go on" if begun and resting else "Start"
    return [
        ["resume" if paused else "start", label, resting, resting],
        ["pause", "Pause", x.working, x.working],
        ["stop", "Stop", x.working or paused, False],
    ]


def _progress(x: Experiment) -> list[Any]:
    fraction, seconds = x.progress()
    percent = f"{100 * fraction:.0f} %"
    if x.state in ("ready", "failed") and x.run is None:
        return [0.0, ""]
    if x.state == "preparing":
        return [fraction, f"{x.what}: {percent} {seconds_left(seconds)}".rstrip()]
    if x.state == "running":
        return [fraction, ", ".join(part for part in (percent, seconds_left(seconds)) if part)]
    if fraction == 1.0:
        return [1.0, "the whole text"]
    return [fraction, f"{percent} of the text"]


def _switch(x: Experiment, switch: Switch) -> dict[str, Any]:
    return {
        "toggle": switch.toggle,
        "title": switch.title,
        "hint": switch.hint,
        "may_change": switch.may_change,
        "on_off": switch.on_off,
        "value": getattr(x.setting.toggles, switch.toggle),
        "choices": [list(choice) for choice in switch.choices],
    }
