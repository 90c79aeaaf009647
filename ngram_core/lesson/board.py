"""The board of an experiment as one small document: all that the page shows of it in words.

state       as Experiment.state
sentence    strings and ["b", text]
buttons     [name, label, enabled, main] each: what can be pressed now
progress    [fraction, text]
light       [kind, headline, text]; kind is "none", "same" or "other"
setting     name of the switches in hand
moved       what the latest press has moved along, and why; or ""
presets     [stage, pressed, in front] each
sizes       [megabytes, label, refusal or "", pressed] each
hint        what the corpus in hand asks of the machine, or why another cannot be had
front       switches that are always seen
groups      {name, title, note, switches}: all others

A switch is {toggle, title, hint, idle, on_off, value, choices: [[value, label], ...]}; `idle`
says why it has no effect now, or only half of one, or is "".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .experiment import Experiment
from .findings import corpus_name, light_words, seconds_left, sentence, size_hint
from .runs import Setting
from .switches import GROUPS, SWITCHES, Switch, idle


@dataclass(frozen=True)
class Front:
    """What stands in front, before all switches are opened: what a lesson is about."""

    switches: tuple[str, ...]
    stages: tuple[str, ...]


STOP_COPYING = Front(("copy_followers",), ("upstream", "nocopy"))
"""Lesson 03's."""


def board(x: Experiment, front: Front = STOP_COPYING) -> dict[str, Any]:
    """The document as told above."""
    light = x.light()
    return {
        "state": x.state,
        "sentence": sentence(x),
        "buttons": _buttons(x),
        "progress": _progress(x),
        "light": [light.kind, *light_words(light, x.run, x.material.tokenizer)],
        "setting": x.setting.name,
        "moved": x.moved,
        "presets": [
            [name, one == x.setting.toggles, name in front.stages] for name, one in x.stages.items()
        ],
        "sizes": [_size(x, size) for size in x.sizes],
        "hint": size_hint(x),
        "front": [_switch(x, SWITCHES[name]) for name in front.switches],
        "groups": [_group(x, name, front) for name in GROUPS],
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


def _size(x: Experiment, size: int) -> list[Any]:
    chosen = x.setting
    refusal = x.refusal(Setting(size, chosen.toggles)) or ""
    return [size, corpus_name(size), refusal, size == chosen.size_mb]


def _group(x: Experiment, name: Any, front: Front) -> dict[str, Any]:
    title, note = GROUPS[name]
    switches = [
        _switch(x, switch)
        for switch in SWITCHES.values()
        if switch.group == name and switch.toggle not in front.switches
    ]
    return {"name": name, "title": title, "note": note, "switches": switches}


def _switch(x: Experiment, switch: Switch) -> dict[str, Any]:
    toggles = x.setting.toggles
    return {
        "toggle": switch.toggle,
        "title": switch.title,
        "hint": switch.hint,
        "idle": idle(toggles, switch.toggle, x.setting.size_mb > 0),
        "on_off": switch.on_off,
        "value": getattr(toggles, switch.toggle),
        "choices": [[value, switch.label(value)] for value in switch.values],
    }
