"""Makes the golden files of this folder: `python tests/data/make.py`, from the repository.

The streams are synthetic, each made to be hard in one way; the drafts and caches are those of
the plain Python reference, with `libstdcpp_order` where ties go by the library's order. The
result is committed, and the engine is compared with it; nothing here asks the engine.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import sys
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from golden import as_text, read_table, write_table  # noqa: E402
from libstdcpp_order import LibraryCache, library_ties  # noqa: E402

from ngram_core import reference  # noqa: E402

# ---- streams --------------------------------------------------------------------------


def phrases(rng: random.Random) -> Iterator[int]:
    """Phrases of a small book, the first ones far more often; one token in twenty is noise."""
    book = [[int(300 * rng.random()) for _ in range(3 + int(9 * rng.random()))] for _ in range(40)]
    while True:
        for token in book[int(40 * rng.random() ** 2)]:
            yield int(300 * rng.random()) if rng.random() < 0.05 else token


def ties(rng: random.Random) -> Iterator[int]:
    """Eight tokens at random: almost every decision is a tie."""
    while True:
        yield int(8 * rng.random()) * 7


def doubles(rng: random.Random) -> Iterator[int]:
    """Doubled and mirrored pairs, whose n-grams llama.cpp's xor hash cannot tell apart."""
    while True:
        a, b = int(40 * rng.random()), int(40 * rng.random())
        yield from ((a, a), (a, b, b, a), (a, b, a, b), (b, a, a))[int(4 * rng.random())]


def big_ids(rng: random.Random) -> Iterator[int]:
    """A chain over 24 tokens from 0 to 2^31 - 2."""
    ids = [0, 2**31 - 2, 2**31 - 3, *(int(rng.random() * 2**31) for _ in range(21))]
    state = 0
    while True:
        yield ids[state]
        state = (state * 5 + int(3 * rng.random())) % 24


def triples(rng: random.Random) -> Iterator[int]:
    """5 6 and then 7, 8 or 9, for a static cache with counts that overflow 32 bits."""
    while True:
        yield from (5, 6, (7, 8, 9)[int(3 * rng.random() ** 1.5)])


def take(stream: Iterator[int], n: int) -> list[int]:
    return [next(stream) for _ in range(n)]


def streams() -> dict[str, list[int]]:
    made: dict[str, list[int]] = {}
    book = phrases(random.Random(1))
    for name, n in (("phrases_corpus", 2000), ("phrases_prev", 500), ("phrases", 3000)):
        made[name] = take(book, n)
    same = ties(random.Random(2))
    made["ties_corpus"], made["ties"] = take(same, 1500), take(same, 1500)
    pairs = doubles(random.Random(3))
    made["doubles_corpus"], made["doubles"] = take(pairs, 1500), take(pairs, 1500)
    made["big_ids"] = take(big_ids(random.Random(4)), 1200)
    made["triples"] = take(triples(random.Random(5)), 900)
    return made


# ---- caches and drafts ----------------------------------------------------------------

OVERFLOW = {
    (5, 6): {7: 12_000_000, 8: 21_474_837, 9: 40_000_000},
    (6, 7): {5: 21_474_836},
    (6, 8): {5: 21_474_837},
    (7, 5): {6: 3},
}


def build_static(text: list[int]) -> LibraryCache:
    cache = LibraryCache()
    reference.update(cache, text, len(text), n_min=2, n_max=2)
    return cache


def build_dynamic(text: list[int], static: str, n_ctx: int, n_draft: int) -> LibraryCache:
    cache = LibraryCache()
    loaded = LibraryCache.load(read_table(HERE / static))
    with library_ties():
        reference.replay(text, static=loaded, dynamic=cache, n_ctx=n_ctx, n_draft=n_draft,
                         tail="drop", score="int32")  # fmt: skip
    return cache


def run(made: dict[str, list[int]], tokens: str, static: str | None, dynamic: str | None,
        n_ctx: int, n_draft: int, family: str, score: Any) -> dict[str, Any]:  # fmt: skip
    """One replay, its drafts written beside this file."""
    caches: dict[str, Any] = {"static": None, "dynamic": {}}
    for key, file in (("static", static), ("dynamic", dynamic)):
        if file:
            caches[key] = read_table(HERE / file)
    options: dict[str, Any] = {"n_ctx": n_ctx, "n_draft": n_draft, "tail": "drop", "score": score}
    if family == "baseline":
        caches = {key: c if c is None else LibraryCache.load(c) for key, c in caches.items()}
        with library_ties():
            result = reference.replay(made[tokens], **caches, **options)
    else:
        result = reference.replay(made[tokens], **caches, **options)

    with_static = "static" if static else "nostatic"
    name = f"{tokens}.{with_static}{'.dyn' if dynamic else ''}.c{n_ctx}.d{n_draft}"
    file = f"{name}.{family}{'.exact' if score == 'exact' else ''}.drafts.gz"
    text = as_text(result.drafts).encode()
    (HERE / file).write_bytes(gzip.compress(text, mtime=0))
    return {"name": name, "family": family, "score": score, "tokens": f"{tokens}.i32",
            "static": static, "dynamic": dynamic, "n_ctx": n_ctx, "n_draft": n_draft,
            "n_drafted": result.n_drafted, "n_accept": result.n_accept,
            "n_calls": result.n_calls, "sha256": hashlib.sha256(text).hexdigest(),
            "drafts": file}  # fmt: skip


def main() -> None:
    for old in [*HERE.glob("*.i32"), *HERE.glob("*.cache"), *HERE.glob("*.gz")]:
        old.unlink()
    made = streams()
    for name, text in made.items():
        data = array("i", text)
        if sys.byteorder == "big":
            data.byteswap()
        (HERE / f"{name}.i32").write_bytes(data.tobytes())

    builds = []
    for stem in ("phrases", "ties", "doubles"):
        file = f"{stem}_corpus.legacy.cache"
        (HERE / file).write_bytes(write_table(build_static(made[f"{stem}_corpus"])))
        builds.append({"kind": "static", "tokens": f"{stem}_corpus.i32", "static": None,
                       "n_ctx": 0, "n_draft": 0, "file": file})  # fmt: skip
    static, previous = "phrases_corpus.legacy.cache", "phrases_prev.dynamic.cache"
    (HERE / previous).write_bytes(write_table(build_dynamic(made["phrases_prev"], static, 120, 8)))
    builds.append({"kind": "dynamic", "tokens": "phrases_prev.i32", "static": static,
                   "n_ctx": 120, "n_draft": 8, "file": previous})  # fmt: skip
    (HERE / "overflow.legacy.cache").write_bytes(write_table(OVERFLOW))

    settings: list[tuple[str, str | None, str | None, int, int]] = [
        ("phrases", None, None, 64, 3),
        ("phrases", None, None, 1000, 8),
        ("phrases", static, None, 512, 8),
        ("phrases", static, previous, 700, 16),
        ("phrases", None, previous, 4, 2),  # texts shorter than the n-grams
        ("ties", None, None, 1000, 8),
        ("ties", "ties_corpus.legacy.cache", None, 300, 5),
        ("doubles", None, None, 1400, 16),
        ("doubles", "doubles_corpus.legacy.cache", None, 500, 8),
        ("big_ids", None, None, 400, 8),
        ("triples", "overflow.legacy.cache", None, 64, 4),
    ]
    kinds = (("baseline", "int32"), ("innervector", "int32"), ("innervector", "exact"))
    runs = [run(made, *setting, *kind) for setting in settings for kind in kinds
            if kind[1] == "int32" or setting[0] == "triples"]  # fmt: skip
    manifest = {"builds": builds, "runs": runs}
    (HERE / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
