"""541 MB of text: counted within its bound, in all formats, replayed by every stage (`make soak`).

`NGRAM_LARGE_TOKENS` names the corpus, a .i32 file, and `NGRAM_LARGE_TEXT` a text to replay that
is not in it. Without them: made prose of that size, and the Python library's source.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tools import run

import ngram_core as ng
from ngram_core.corpora import get_corpus
from ngram_core.token_files import read_tokens
from ngram_core.tokenizers import QwenTokenizer

pytestmark = pytest.mark.soak

MB = 541
REPLAYED = 100_000
FORMATS = ("ngc", "legacy", "constmap")

# DESIGN: three times the finished file and 300 MB.
TIMES, MORE = 3, 300_000_000

CREATE = """
import sys
from ngram_core import cli, machine
code = cli.main(["create", *sys.argv[1:]])
print(machine.peak_resident_bytes())
sys.exit(code)
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    given = os.environ.get("NGRAM_LARGE_TOKENS")
    if given:
        return Path(given)
    path = tmp_path_factory.mktemp("large") / "prose.i32"
    with path.open("wb") as file:
        for block in get_corpus("prose", MB * 1_000_000).token_blocks(QwenTokenizer()):
            file.write(np.asarray(block, dtype="<i4").tobytes())
    return path


@pytest.fixture(scope="module")
def text() -> np.ndarray:
    given = os.environ.get("NGRAM_LARGE_TEXT")
    if given:
        return read_tokens(given)[:REPLAYED]
    return get_corpus("python").tokens(QwenTokenizer(), 1_000_000)[:REPLAYED]


@pytest.fixture(scope="module")
def made(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, int]]:
    """The file of each format, with the peak of the process that made it."""
    folder = tmp_path_factory.mktemp("made")
    found = {}
    for name in FORMATS:
        path = folder / name
        arguments = ["--tokens", corpus, "-o", path, "--format", name]
        said = run([sys.executable, "-c", CREATE, *arguments], seconds=3600)
        found[name] = path, int(said.split()[-1])
    return found


@pytest.mark.parametrize("name", FORMATS)
def test_create_keeps_to_its_memory(
    name: str,
    corpus: Path,
    made: dict[str, tuple[Path, int]],
    measured: Callable[[str], None],
) -> None:
    path, peak = made[name]
    size = path.stat().st_size
    n_tokens = corpus.stat().st_size // 4
    measured(
        f"create --format {name} of {n_tokens:,} tokens: {size / 1e6:.0f} MB,"
        f" peak {peak / 1e6:.0f} MB = {(peak - MORE) / size:.2f} x the file + 300 MB"
    )
    assert peak <= TIMES * size + MORE
    if name == "ngc":
        assert peak < 2 * size + 4 * n_tokens


def test_counting_is_faster_than_a_map(corpus: Path, measured: Callable[[str], None]) -> None:
    """Both count the same 2-grams in one process: the counter, and llama.cpp's structure."""
    tokens = read_tokens(corpus)
    began = time.process_time()
    with ng.NgramCache.build_static(tokens, ng.PLACES.toggles) as counted:
        of_counter = time.process_time() - began
        began = time.process_time()
        with ng.NgramCache(ng.UPSTREAM.toggles, n_min=2, n_max=2) as updated:
            updated.update(tokens, len(tokens))
            of_map = time.process_time() - began
            assert (counted.n_grams, counted.n_followers) == (updated.n_grams, updated.n_followers)
            with updated.converted(ng.PLACES.toggles) as converted:
                assert converted._whole_file() == counted._whole_file()
    measured(
        f"counted {len(tokens):,} tokens in {of_counter:.1f} s of a core; into a map"
        f" {of_map:.1f} s, {of_map / of_counter:.1f} times as long"
    )
    assert of_map >= 5 * of_counter


def test_every_stage_replays_it_alike(
    made: dict[str, tuple[Path, int]], text: np.ndarray, measured: Callable[[str], None]
) -> None:
    drafts = {}
    for stage in ng.STAGES.values():
        toggles = stage.toggles.set(ties="token")
        form = "constmap" if toggles.static == "constmap" else "legacy"
        began = time.perf_counter()
        with ng.NgramCache.open(made[form][0], toggles, static=True) as static:
            loaded = time.perf_counter() - began
            memory = static.memory().live_bytes
            with ng.Replay(text, toggles=toggles, static=static, tail="drop") as replay:
                sample = replay.run()
        measured(
            f"{stage.name}: {form} loaded in {loaded:.2f} s, {memory / 1e6:.0f} MB;"
            f" {sample.ns_per_drafted or 0:.0f} ns a drafted token,"
            f" {sample.n_accept:,} of {sample.n_drafted:,} accepted"
        )
        drafts[stage.name] = sample.drafts_checksum, sample.n_drafted
    assert len(set(drafts.values())) == 1, drafts
    assert sample.n_accept > 0


def test_every_format_drafts_the_same(
    made: dict[str, tuple[Path, int]], text: np.ndarray, measured: Callable[[str], None]
) -> None:
    sums = set()
    for form, kind in (("ngc", "ngc"), ("legacy", "ngc"), ("constmap", "constmap")):
        toggles = ng.stage("innervector").toggles.set(static=kind)
        with (
            ng.NgramCache.open(made[form][0], toggles, static=True) as static,
            ng.Replay(text, toggles=toggles, static=static, tail="drop") as replay,
        ):
            sums.add(replay.run().drafts_checksum)
    measured(f"{', '.join(FORMATS)}: the same drafts of {len(text):,} tokens")
    assert len(sums) == 1
