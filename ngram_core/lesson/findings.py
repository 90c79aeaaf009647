"""An experiment in words and in rows: what the board, the table and `describe` say.

All of it is read off the experiment's own figures. A sentence is a list of strings and of
pairs ["b", text], which is text to stress.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..published import DRAFTING_US
from ..tokenizers import Tokenizer
from .experiment import Experiment, Light
from .figures import plural
from .material import size_of
from .measured import is_clear, on_shared_part
from .pieces import piece_of, plain
from .runs import Run
from .switches import Switch, is_reference, same_choices, stage_name

Words = list[Any]


def plain_words(words: Words) -> str:
    """A sentence without its stresses."""
    return "".join(part if isinstance(part, str) else part[1] for part in words)


# ---- figures ------------------------------------------------------------------------------


def microseconds(ns: float | None) -> str:
    """ns as µs, with three digits that count: "0.85", "12.7", "231"; a dash for None.

    >>> [microseconds(ns) for ns in (851, 12_718, 231_400, None)]
    ['0.85', '12.7', '231', '–']
    """
    if ns is None:
        return "–"
    us = ns / 1000
    return f"{us:,.0f}" if us >= 99.5 else f"{us:.1f}" if us >= 9.95 else f"{us:.2f}"


def times(ratio: float) -> str:
    """A ratio as "4.5" or "26"."""
    return f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:,.0f}"


def corpus_name(size_mb: int) -> str:
    return "none" if size_mb == 0 else f"{size_mb} MB"


def mebibytes(n_bytes: int | None) -> str:
    return "–" if n_bytes is None else f"{n_bytes / 2**20:,.1f}"


def duration(seconds: float) -> str:
    """ "38 ms" or "1.3 s"."""
    return f"{1000 * seconds:.0f} ms" if seconds < 0.9995 else f"{seconds:.1f} s"


def seconds_left(seconds: float | None) -> str:
    """ "about 12 s left", or nothing where there is no telling yet."""
    return "" if seconds is None else f"about {math.ceil(seconds)} s left"


# ---- sentences ----------------------------------------------------------------------------


def sentence(x: Experiment) -> Words:
    """What is going on and what it shows, in one or two sentences."""
    if x.state == "failed":
        return [["b", "It did not work: "], f"{x.error}."]
    run = x.run
    if run is None or run.line.so_far is None:
        return _invitation(x)
    return [_HEADS[x.state], *_finding(x, run)]


_HEADS = {
    "ready": "",
    "preparing": "",
    "running": "So far ",
    "paused": "Paused. So far ",
    "stopped": "Stopped. Up to there ",
    "done": "",
}


def _invitation(x: Experiment) -> Words:
    size = x.setting.size_mb
    corpus = f"with a static cache from {size} MB of corpus" if size else "without a static cache"
    text = f"{len(x.material.text):,} tokens of {x.material.text_name}, {corpus}"
    if x.state in ("ready", "stopped", "paused"):
        return ["Press Start: ", ["b", x.setting.name], f" will draft along {text}."]
    return [["b", x.setting.name], f" drafts along {text}."]


def _finding(x: Experiment, run: Run) -> Words:
    partner = x.baseline()
    shared = None if partner is None else on_shared_part(run.line, partner.line)
    if partner is None or shared is None:
        alone = microseconds(run.line.so_far.median if run.line.so_far else None)
        return [["b", run.setting.name], f" takes {alone} µs for a drafted token", _copying(run)]
    took, partner_took = shared
    return [
        ["b", run.setting.name],
        f" takes {microseconds(took)} µs for a drafted token where ",
        ["b", partner.setting.name],
        f" takes {microseconds(partner_took)}: ",
        ["b", comparison(took, partner_took, is_clear(run.line, partner.line))],
        _copying(run),
    ]


def _copying(run: Run) -> str:
    copied = run.line.bytes_copied_per_drafted
    return f". It copies {copied:,.0f} bytes for each." if copied else ". It copies nothing."


def comparison(took: float, other_took: float, clear: bool = True) -> str:
    """ "4.5 times faster", "3.0 times slower", or that the spread does not allow to tell."""
    if not clear:
        return "within the spread, no telling which is faster"
    ratio = max(took, other_took) / min(took, other_took)
    return f"{times(ratio)} times {'faster' if took < other_took else 'slower'}"


def light_words(light: Light, run: Run | None, tokenizer: Tokenizer) -> tuple[str, str]:
    """The light's headline and what stands behind it."""
    if light.kind == "none" or light.partner is None or run is None or light.comparison is None:
        return "Not compared yet.", _what_is_missing(light, run)
    compared, names = light.comparison, f"{light.partner.setting.name} and {run.setting.name}"
    if light.kind == "same":
        done = run.done and light.partner.done
        text = (
            f"{names} drafted the same {plural(compared.n_tokens, 'token')} in"
            f" {plural(compared.n_calls, 'call')}"
        )
        return "Same drafts.", text + (_accepted(run) if done else ", as far as both have come.")
    assert compared.difference is not None
    found = compared.difference
    left, right = (_shown(tokens, tokenizer) for tokens in (found.left, found.right))
    head = "Other drafts, as expected." if light.expected else "Other drafts: this must not be."
    return head, (
        f"{_why_other(light.differing, light.partner, run)}In call {found.call:,}"
        f" {light.partner.setting.name} drafted {left}, {run.setting.name} {right}; before it"
        f" {plural(compared.n_tokens, 'token')} were the same."
        f"{_how_alike(light.differing, light.partner, run)}"
    )


def _why_other(differing: Sequence[Switch], one: Run, other: Run) -> str:
    """The switches that allow for other drafts, and how to compare without them."""
    if not differing:
        return ""
    told = [
        f"{switch.title}: {label(one, switch)} there, {label(other, switch)} here. "
        for switch in differing
    ]
    return "".join(told)


def _how_alike(differing: Sequence[Switch], one: Run, other: Run) -> str:
    """What to run for a comparison of nothing but the switches that never change drafts."""
    alike = same_choices(one.setting.toggles, other.setting.toggles)
    if not differing or alike is None or alike == other.setting.toggles:
        return ""
    chosen = " and ".join(f"“{label(other, switch)}”" for switch in differing)
    return f" Run {one.setting.name} with {chosen}, too, and these two must draft the same."


def label(run: Run, switch: Switch) -> str:
    """What a run has chosen, in the words of the page."""
    return switch.label(getattr(run.setting.toggles, switch.toggle))


def _what_is_missing(light: Light, run: Run | None) -> str:
    if run is None and light.partner is None:
        return "Run two settings on the same corpus, and their drafts are compared."
    if light.partner is None:
        return "Run another setting on this corpus, and the drafts are compared token by token."
    return f"The drafts will be compared with those of {light.partner.setting.name}."


def _accepted(run: Run) -> str:
    accepted = run.line.sample.n_accept if run.line.sample else 0
    return f"; {accepted:,} of them were accepted."


def _shown(tokens: Sequence[int], tokenizer: Tokenizer) -> str:
    if not tokens:
        return "nothing"
    return "“" + "".join(plain(piece_of(tokenizer.token_bytes(t))) for t in tokens) + "”"


def size_hint(x: Experiment) -> str:
    """What the setting in hand asks of the machine, or why it cannot be taken."""
    setting = x.setting
    refusal = x.refusal(setting)
    if refusal is not None:
        return f"{refusal[:1].upper()}{refusal[1:]}."
    if setting.size_mb and x.static.has(setting) and x.static.cache is not None:
        size, seconds = x.static.cache.memory().live_bytes, x.static.filled_seconds
        return f"Static cache: {mebibytes(size)} MiB, made of its counts in {duration(seconds)}."
    free = x.free_bytes()
    known = "" if free is None else f"; {size_of(free)} may be used"
    need = x.material.need_bytes(setting, x.static.has_counted(setting.size_mb))
    return f"Needs up to {size_of(need)} of memory{known}."


# ---- rows -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    """One run as a row of the table; times in ns per drafted token, sizes in bytes."""

    corpus_mb: int
    stage: str
    replayed: int
    drafted: int
    accepted: int
    ns_per_drafted: float | None  #: all of its time over all it drafted
    median_ns: float | None  #: over pieces of the text
    low_ns: float | None
    high_ns: float | None
    times_faster: float | None  #: medians, against upstream on the same corpus and part
    bytes_copied_per_drafted: float | None
    allocations_per_call: float | None
    context_bytes: int
    dynamic_bytes: int
    static_bytes: int
    published_ns: float | None
    done: bool


def results(x: Experiment) -> list[Result]:
    """All runs, by corpus, then in the order in which they began."""
    return [_result(x, run) for size in x.sizes for run in x.of_size(size) if run.line.sample]


def _result(x: Experiment, run: Run) -> Result:
    line, sample, size = run.line, run.line.sample, run.setting.size_mb
    assert sample is not None
    baseline = x.baseline(run.setting)
    reference = baseline if baseline and _is_measure(baseline, run) else None
    shared = on_shared_part(line, reference.line) if reference else None
    over = line.so_far
    published = DRAFTING_US.get(stage_name(run.setting.toggles) or "", {}).get(size)
    return Result(
        corpus_mb=size,
        stage=run.setting.name,
        replayed=sample.n_replayed,
        drafted=sample.n_drafted,
        accepted=sample.n_accept,
        ns_per_drafted=sample.ns_per_drafted,
        median_ns=over.median if over else None,
        low_ns=over.low if over else None,
        high_ns=over.high if over else None,
        times_faster=shared[1] / shared[0] if shared else None,
        bytes_copied_per_drafted=line.bytes_copied_per_drafted,
        allocations_per_call=line.allocations_per_call,
        context_bytes=sample.context_bytes,
        dynamic_bytes=sample.dynamic_bytes,
        static_bytes=sample.static_bytes,
        published_ns=None if published is None else 1000 * published,
        done=run.done,
    )


def _is_measure(baseline: Run, run: Run) -> bool:
    """Whether times are told as so many times faster than that run."""
    mine, its = run.setting.toggles, baseline.setting.toggles
    return is_reference(its) and not is_reference(mine)


def describe(x: Experiment) -> str:
    """The experiment in plain text: the sentence, the light, one line a run."""
    run = x.run
    head, body = light_words(x.light(), run, x.material.tokenizer)
    lines = [plain_words(sentence(x)), f"{head} {body}"]
    if x.moved:
        lines.append(x.moved)
    for row in results(x):
        part = "" if row.done else f" ({100 * row.replayed // len(x.material.text)} % of the text)"
        copied = row.bytes_copied_per_drafted
        lines.append(
            f"  corpus {corpus_name(row.corpus_mb)}, {row.stage}{part}:"
            f" {microseconds(row.median_ns)} µs a drafted token,"
            f" {'–' if copied is None else f'{copied:,.0f}'} bytes copied,"
            f" {row.drafted:,} drafted, {row.accepted:,} accepted"
        )
    return "\n".join(lines)
