"""`inspect`: what a cache file is, what it holds, and whether it is whole."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from .arguments import Commands, a_path

if TYPE_CHECKING:
    from ..caches import NgramCache


def add_to(commands: Commands) -> None:
    what = "describe a cache file and check it"
    parser = commands.add_parser("inspect", help=what, description=what.capitalize() + ".")
    parser.add_argument("file", type=a_path, metavar="FILE")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run, parser=parser)


def run(arguments: Namespace) -> None:
    from ..files import open_file
    from ..static_file import MAGIC
    from . import constmap_header

    with open_file(arguments.file) as (file, size):
        start = file.read(constmap_header.START_BYTES)
        if constmap_header.is_one(start):
            description = constmap_header.describe(arguments.file, file, start, size)
        elif start.startswith(MAGIC):
            description = _describe_ours(arguments.file, size)
        else:
            description = _describe_legacy(arguments.file, size)
    print(json.dumps(description, indent=2) if arguments.json else _as_text(description))


def _describe_legacy(path: str, size: int) -> dict[str, Any]:
    """Loads the file, so that what can be checked is checked; FormatError if it is broken."""
    from ..toggles import NOCOPY
    from .inputs import open_cache

    with open_cache(path, NOCOPY.toggles) as cache:
        content = _content(cache)
    return {
        "file": path,
        "format": "legacy",
        "bytes": size,
        **content,
        "tokenizer": None,  # this format does not say
        "checks": [
            "all records are whole",
            "no n-gram and no follower stands twice",
            "all counts are above 0",
        ],
    }


def _describe_ours(path: str, size: int) -> dict[str, Any]:
    """Reads all of the file and checks it; FormatError says where it is broken."""
    from ..caches import NgramCache
    from ..toggles import PRECHECK

    with NgramCache.open(path, PRECHECK.toggles.set(static="ngc"), static=True) as cache:
        cache.validate()
        about, content = cache.about, _content(cache)
    assert about is not None, "it is our own file"
    return {
        "file": path,
        "format": "ngc",
        "bytes": size,
        **content,
        "tokenizer": about.tokenizer or None,
        "fingerprint": about.fingerprint or None,
        "n_vocab": about.n_vocab,
        "corpus": about.corpus,
        "built_by": about.built_by,
        "checks": [
            "the checksums of all parts",
            "every 2-gram is where a look-up finds it",
            "followers ascend, and agree with the sums and most frequent ones kept beside them",
        ],
    }


def _content(cache: NgramCache) -> dict[str, Any]:
    """What a cache that can be listed holds."""
    facts = cache.facts()
    n_counted = most = 0
    lengths: dict[int, int] = {}  # of follower lists: how many n-grams have so many
    for ngrams in cache.walk():
        n_counted += int(ngrams["sum"].sum())
        most = max(most, int(ngrams["n_followers"].max()))
        _count_lengths(ngrams["n_followers"], lengths)
    return {
        "n_grams": facts["n_grams"],
        "n_grams_by_n": {str(i): n for i, n in enumerate(facts["n_grams_by_n"], 1) if n},
        "n_followers": facts["n_followers"],
        "n_counted": n_counted,
        "most_followers": most,
        "follower_histogram": [
            {"from": 2**k // 2 + 1, "to": 2**k, "n_grams": n} for k, n in sorted(lengths.items())
        ],
    }


def _count_lengths(n_followers: Any, lengths: dict[int, int]) -> None:
    """Add lists of 1, 2, 3 to 4, 5 to 8, ... followers to the numbers 0, 1, 2, 3, ..."""
    import numpy as np

    powers, numbers = np.unique(np.ceil(np.log2(n_followers)).astype(int), return_counts=True)
    for power, number in zip(powers.tolist(), numbers.tolist(), strict=True):
        lengths[power] = lengths.get(power, 0) + number


def _as_text(description: dict[str, Any]) -> str:
    lines = [f"{description['file']}: {description['format']}, {description['bytes']:,} bytes"]
    by_n = ", ".join(f"{n:,} of {size}" for size, n in description["n_grams_by_n"].items())
    lines.append(f"n-grams: {description['n_grams']:,} ({by_n} tokens)")
    lines.append(f"followers: {description['n_followers']:,}")
    if "n_counted" in description:
        lines[-1] += f", counted {description['n_counted']:,} times"
        lines += _histogram(description["follower_histogram"], description["n_grams"])
    if description["format"] == "ngc":
        lines.append(_about(description))
    lines += [f"checked: {check}" for check in description["checks"]]
    return "\n".join(lines)


def _about(description: dict[str, Any]) -> str:
    told = [f"tokens below {description['n_vocab']:,}"]
    if description["tokenizer"]:
        told.append(f"tokenizer {description['tokenizer']} ({description['fingerprint'][:8]})")
    told += [f"of {description['corpus']}"] if description["corpus"] else []
    return ", ".join([*told, f"built by {description['built_by']}"])


def _histogram(rows: list[dict[str, int]], n_grams: int) -> list[str]:
    lines = ["followers   n-grams"]
    for row in rows:
        span = str(row["to"]) if row["from"] == row["to"] else f"{row['from']} to {row['to']}"
        share = row["n_grams"] / n_grams
        lines.append(f"{span:>14} {row['n_grams']:>12,} {share:>7.2%} {'#' * round(40 * share)}")
    return lines
