"""Times all stages (make bench): time per drafted token, and what the static cache takes.

All stages replay the same text, with static caches from the same corpus (Python's own library
source; the text is a later part of it). Runs are interleaved, each in a new order; the first stage
takes part twice, and what tells it from itself is noise. Usage: bench.py [MB ...]
"""

from __future__ import annotations

import random
import statistics
import sys

import ngram_core as ng
from ngram_core import corpora, machine
from ngram_core.tokenizers import Tokens, get_tokenizer

RUNS = 5
TEXT_TOKENS = 20_000
AGAIN = "upstream, again"


def main(sizes_mb: list[float]) -> None:
    tokens = corpora.python_source().tokens(get_tokenizer())
    print(*(f"{name}: {value}" for name, value in machine.describe().items()), sep="\n")
    for size in sizes_mb:
        # about 3.5 bytes of Python source a token
        n_static = min(int(size * 1e6 / 3.5), len(tokens) - TEXT_TOKENS)
        race(tokens[:n_static], tokens[-TEXT_TOKENS:])


def race(static_tokens: Tokens, text: Tokens) -> None:
    """Prints a table of all stages for one size of static cache."""
    toggles = {name: stage.toggles.set(ties="token") for name, stage in ng.STAGES.items()}
    toggles[AGAIN] = toggles["upstream"]
    statics = {}
    for name, these in toggles.items():
        if len(static_tokens):
            statics[name] = ng.NgramCache.build_static(static_tokens, these)
    times: dict[str, list[float]] = {name: [] for name in toggles}
    drafts = set()
    for _ in range(RUNS):
        for name in random.sample(list(toggles), len(toggles)):
            with ng.Replay(text, toggles[name], static=statics.get(name)) as replay:
                sample = replay.run()
            times[name].append(sample.ns_per_drafted or 0)
            drafts.add(sample.drafts_checksum)

    print(f"\nstatic cache of {len(static_tokens):,} tokens, text of {len(text):,}, {RUNS} runs")
    print(f"drafts: {'the same' if len(drafts) == 1 else 'NOT the same'}")
    print(f"{'ns per drafted token':24}{'median':>10}{'min':>10}{'max':>10}{'static MB':>12}")
    for name, ns in times.items():
        size = statics[name].memory().live_bytes / 1e6 if statics else 0
        print(f"{name:24}{statistics.median(ns):10.0f}{min(ns):10.0f}{max(ns):10.0f}{size:12.1f}")
    for cache in statics.values():
        cache.close()


if __name__ == "__main__":
    main([float(word) for word in sys.argv[1:]] or [0, 1, 5])
