"""The work of `stats`: open the caches, replay, write what was asked for, and tell it."""

from __future__ import annotations

import contextlib
import time
from argparse import Namespace
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from .. import machine
from ..bounding import Bound
from ..caches import NgramCache
from ..replay import Replay, Sample
from ..rule import Rule
from ..toggles import Toggles
from ..tokenizers import Tokenizer, Tokens
from .bar import Bar
from .inputs import open_cache

_SLICE_SECONDS = 0.05  # how long Ctrl-C may wait


@dataclass(frozen=True)
class Result:
    """What a replay gave, and what was measured around it."""

    sample: Sample
    toggles: Toggles
    load_ns: int
    peak_rss_bytes: int | None
    n_grams_gone: int | None = None  # to stay within the bound; None: there is none

    def as_json(self, arguments: Namespace) -> dict[str, Any]:
        sample = self.sample
        gone = {} if self.n_grams_gone is None else {"n_grams_gone": self.n_grams_gone}
        return {
            **gone,
            "n_tokens": sample.n_tokens,
            "n_replayed": sample.n_replayed,
            "n_left_out": sample.n_left_out,
            "n_calls": sample.n_calls,
            "n_drafted": sample.n_drafted,
            "n_accept": sample.n_accept,
            "accept_pct": sample.accept_pct,
            "draft_ns": sample.draft_ns,
            "update_ns": sample.update_ns,
            "ns_per_drafted": sample.ns_per_drafted,
            "ns_per_replayed": sample.ns_per_replayed,
            "load_ns": self.load_ns,
            "static_bytes": sample.static_bytes,
            "context_bytes": sample.context_bytes,
            "dynamic_bytes": sample.dynamic_bytes,
            "peak_rss_bytes": self.peak_rss_bytes,
            "stage": arguments.stage,
            "toggles": asdict(self.toggles),
            "ties": self.toggles.ties,
            "score": self.toggles.score,
            "tail": arguments.tail,
            "n_ctx": arguments.n_ctx,
            "n_draft": arguments.draft_max,
            "drafts_checksum": _hex(sample.drafts_checksum),
            "machine": machine.describe(),
        }

    def as_text(self) -> str:
        sample = self.sample
        accepted = "" if sample.accept_pct is None else f" ({sample.accept_pct:.2f} %)"
        drafted = (
            "" if sample.ns_per_drafted is None else f"{sample.ns_per_drafted:,.0f} ns a drafted, "
        )
        gone = "" if self.n_grams_gone is None else f"; {self.n_grams_gone:,} n-grams left out"
        return "\n".join(
            (
                f"replayed {sample.n_replayed:,} of {sample.n_tokens:,} tokens"
                f" in {sample.n_calls:,} draft calls",
                f"drafted {sample.n_drafted:,}, accepted {sample.n_accept:,}{accepted}",
                f"time: {drafted}{sample.ns_per_replayed:,.0f} ns a replayed token,"
                f" {self.load_ns / 1e6:,.1f} ms to load the caches",
                f"memory: context {_mb(sample.context_bytes)}, dynamic {_mb(sample.dynamic_bytes)},"
                f" static {_mb(sample.static_bytes)}{gone}",
                f"drafts: checksum {_hex(sample.drafts_checksum)}",
            )
        )


def _hex(checksum: int) -> str:
    return f"{checksum:016x}"


def _mb(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f} MB"


def replay(
    arguments: Namespace,
    tokens: Tokens,
    toggles: Toggles,
    rule: Rule,
    drafts: BinaryIO | None,
    save_dynamic: Path | None,
    tokenizer: Tokenizer | None,
) -> Result:
    """Replay `tokens` as the arguments of `stats` say.

    Args:
        tokenizer: what the tokens are of, None if that is not known.
        drafts: where a line for each draft call goes.
        save_dynamic: where the dynamic cache goes at the end.
    """
    with contextlib.ExitStack() as stack:
        started = time.perf_counter_ns()
        static = dynamic = None
        if arguments.static:
            static = stack.enter_context(open_cache(arguments.static, toggles, True, tokenizer))
        if arguments.dynamic:
            dynamic = stack.enter_context(open_cache(arguments.dynamic, toggles))
        load_ns = time.perf_counter_ns() - started
        if dynamic is None:
            dynamic = stack.enter_context(NgramCache(toggles))
        with Replay(
            tokens,
            toggles,
            rule,
            static,
            dynamic,
            arguments.n_ctx,
            arguments.draft_max,
            arguments.tail,
            record_drafts=drafts is not None,
            bound=_bound_of(arguments),
        ) as replay:
            _run(replay, drafts)
            sample = replay.sample
            gone = None if replay.bound is None else replay.n_grams_gone
        if save_dynamic is not None:
            with Bar("writing") as bar:
                dynamic.save(save_dynamic, progress=bar)
    return Result(sample, toggles, load_ns, machine.peak_resident_bytes(), gone)


def _bound_of(arguments: Namespace) -> Bound | None:
    entries, n_bytes = arguments.bound_entries, arguments.bound_bytes
    return None if entries is None and n_bytes is None else Bound(entries, n_bytes)


def _run(replay: Replay, drafts: BinaryIO | None) -> None:
    with Bar("replaying") as bar:
        while not replay.sample.done:
            sample = replay.advance(seconds=_SLICE_SECONDS)
            bar(sample.n_replayed / sample.n_tokens)
            if drafts is not None:
                for draft in replay.drafts():
                    drafts.write(" ".join(map(str, draft.tolist())).encode() + b"\n")
