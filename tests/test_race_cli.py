"""`ngram-core race`: its words, its files, and how it is stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from commands import good, run

import ngram_core
from ngram_core.racing import RaceResult

DATA = Path(__file__).parent / "data"
CORPUS, TEXT = DATA / "phrases_corpus.i32", DATA / "phrases.i32"
SHORT = ("race", "--corpus", CORPUS, "--text", TEXT, "--sizes", "0", "--stages", "nocopy")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(ngram_core.__file__).parents[1]))


def test_it_prints_and_writes() -> None:
    out = good(*SHORT, "--runs", 1, "--json", "r.json", "--csv", "r.csv", "--markdown", "r.md")
    result = RaceResult.from_json(Path("r.json").read_text(encoding="utf-8"))
    assert out == result.to_text()
    assert Path("r.csv").read_text(encoding="utf-8") == result.to_csv()
    assert Path("r.md").read_text(encoding="utf-8") == result.to_markdown()
    assert result.setting.runs == 1
    assert result.text == repr(str(TEXT))
    assert sorted(os.listdir()) == ["r.csv", "r.json", "r.md"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--sizes", "0,x"], 2, "need megabytes like 0,1,5.5,all, not '0,x'"),
        (["--sizes", "-1"], 2, "need megabytes like 0,1,5.5,all, not '-1'"),
        (["--sizes", "inf"], 2, "need megabytes"),
        (["--stages", "fastest"], 2, "there is no stage 'fastest'"),
        (["--stages", ","], 2, "a race needs a stage"),
        (["--stages", "nocopy,nocopy"], 2, "nocopy is in the race twice"),
        (["--runs", "0"], 2, "need a whole number from 1 to 1000"),
        (["--score", "best"], 2, "invalid choice: 'best'"),
        (["--json", "a", "--csv", "./a"], 2, "name the same file"),
        (["--corpus", "no-such"], 1, "there is no corpus, file or folder 'no-such'"),
        (["--corpus", "no-such.i32"], 1, "'no-such.i32': there is no such file or folder"),
        (["--text", "empty.i32"], 1, "'empty.i32' is empty"),
        (["--text", "odd.i32"], 1, "the file ends inside a token"),
        (["--tokenizer", "none"], 1, "there is no tokenizer 'none'"),
        (["--json", "no/such/folder"], 1, "'no/such/folder': there is no such file or folder"),
        (["--markdown", "."], 1, "this is a folder; name a file"),
    ],
)
def test_wrong_words_are_told_in_one_line_before_the_work(
    words: list[str], code: int, said: str
) -> None:
    Path("empty.i32").touch()
    Path("odd.i32").write_bytes(b"12345")
    done = run(*SHORT, "--runs", 1000, *words)  # a thousand runs would take minutes
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert done.err.count("\n") == 1


def test_drafts_that_differ_fail_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from ngram_core.racing.results import SizeFigures

    monkeypatch.setattr(SizeFigures, "drafts_equal", False)
    done = run(*SHORT, "--runs", 1, "--json", "r.json")
    assert done.code == 1
    assert "stages drafted other tokens than the first one with 0 MB" in done.err
    assert Path("r.json").exists()


@pytest.mark.parametrize("when", ["before", "after"])
def test_ctrl_c_stops_it_and_says_what_is_kept(when: str) -> None:
    """Before the first run is over nothing is kept; after it, what there is."""
    Path("r.json").write_text("old", encoding="utf-8")
    if when == "before":  # a text so long that no run ends
        np.random.default_rng(1).integers(0, 50, 2_000_000).astype("<i4").tofile("long.i32")
        words = [*SHORT, "--text", "long.i32", "--text-tokens", "2000000"]
    else:
        words = [*SHORT, "--runs", "1000"]
    command = [sys.executable, "-m", "ngram_core", *map(str, words), "--json", "r.json"]
    environment = {**os.environ, "TMPDIR": os.getcwd()}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert wait_for(process, runs=1 if when == "before" else 3)
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        out, said = process.communicate(timeout=60)
        seconds = time.monotonic() - begun
    assert process.returncode == 130
    assert said.count("\n") == 1
    if when == "before":
        assert said == "ngram-core: stopped; files that were to be written are as they were\n"
        assert Path("r.json").read_text(encoding="utf-8") == "old"
        assert out == ""
    else:
        kept = RaceResult.from_json(Path("r.json").read_text(encoding="utf-8"))
        assert not kept.complete
        assert kept.n_runs >= 1
        assert said == (
            f"ngram-core: stopped; {kept.n_runs} of 2000 runs are kept, printed above and written"
            " to r.json\n"
        )
        assert out == kept.to_text()
    assert seconds < 30
    assert sorted(os.listdir()) == (["long.i32"] if when == "before" else []) + ["r.json"]


def wait_for(process: subprocess.Popen[str], runs: int) -> bool:
    """Until it has begun so many runs: each is a process of its own with a folder in common."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not children.exists():
        pytest.skip("this system does not tell a process's children")
    seen: set[str] = set()
    deadline = time.monotonic() + 60
    while len(seen) < runs and time.monotonic() < deadline:
        assert process.poll() is None
        seen |= set(children.read_text().split())
        time.sleep(0.005)
    return len(seen) >= runs


def test_the_json_names_machine_and_seed() -> None:
    good(*SHORT, "--runs", 1, "--seed", 7, "--json", "r.json")
    plain = json.loads(Path("r.json").read_text(encoding="utf-8"))
    assert plain["setting"]["seed"] == 7
    assert plain["surroundings"]["machine"]["compiler"]
