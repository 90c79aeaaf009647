"""The command line: what it prints and writes, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import golden
import numpy as np
import pytest
from commands import good, run

import ngram_core
from ngram_core import reference
from ngram_core.cli import lab
from ngram_core.toggles import STAGES
from ngram_core.tokenizers import WordTokenizer

JSON_KEYS = [
    *("n_tokens", "n_replayed", "n_left_out", "n_calls", "n_drafted", "n_accept", "accept_pct"),
    *("draft_ns", "update_ns", "ns_per_drafted", "ns_per_replayed", "load_ns", "static_bytes"),
    *("context_bytes", "dynamic_bytes", "peak_rss_bytes", "stage", "toggles", "ties", "score"),
    *("tail", "n_ctx", "n_draft", "drafts_checksum", "machine"),
]

PROGRAM = [sys.executable, "-m", "ngram_core"]
PACKAGE = str(Path(ngram_core.__file__).parents[1])

TEXT = "the cat sat on the mat\nand the cat sat on the hat\nand the cat sat on the cat\n"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test in a folder of its own, where programs still find the package under test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", PACKAGE)
    return tmp_path


def written(name: str, content: str | bytes) -> Path:
    path = Path(name)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def stats(*words: object) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(good("stats", *words, "--json"))
    return parsed


# ---- stats --------------------------------------------------------------------------------


def golden_runs() -> list[golden.Run]:
    """Our own, and of llama.cpp's one of each kind: the engine's tests go through all."""
    few = {"py_test.static.dyn.c4096.d8", "wiki_test.nostatic.c128.d4", "syn_ties.static.c512.d8"}
    own = list(golden.own_runs())
    return own + [run for run in golden.runs() if run.name in few and run not in own]


@pytest.mark.parametrize("case", golden.params(golden_runs()))
@pytest.mark.parametrize("stage", STAGES)
def test_it_drafts_what_llama_cpp_drafts(case: golden.Run, stage: str) -> None:
    words: list[object] = ["--tokens", case.tokens, "-c", case.n_ctx, "--draft-max", case.n_draft]
    words += ["-lcs", case.static] if case.static else []
    words += ["-lcd", case.dynamic] if case.dynamic else []
    ties = "library" if case.family == "baseline" else "token"
    words += ["--stage", stage, "--ties", ties, "--set", f"score={case.score}", "--tail", "drop"]
    if ties == "library" and STAGES[stage].toggles.followers != "chained":
        refused = run("stats", *words)  # arrays have no library's order
        assert (refused.code, "set ties='token'" in refused.err) == (2, True)
        return
    result = stats(*words, "--dump-drafts", "drafts")
    lines = Path("drafts").read_text(encoding="ascii").split("\n")
    assert lines.pop() == ""  # the last line ends, too
    golden.assert_drafts(case, [line.split() for line in lines])
    assert (result["n_drafted"], result["n_accept"]) == (case.n_drafted, case.n_accept)
    assert result["n_calls"] == len(lines)


def test_json_has_exactly_the_promised_keys() -> None:
    path = written("text", TEXT)
    result = stats("--text", path, "--tokenizer", "words", "-c", 100, "--draft-max", 3)
    assert list(result) == JSON_KEYS
    assert result["n_tokens"] == result["n_replayed"] == 20
    assert result["n_left_out"] == 0
    assert result["accept_pct"] == 100 * result["n_accept"] / result["n_drafted"]
    timed = result["draft_ns"] + result["update_ns"]
    assert result["ns_per_drafted"] == pytest.approx(timed / result["n_drafted"])
    assert result["ns_per_replayed"] == pytest.approx(timed / 20)
    assert result["peak_rss_bytes"] > 10_000_000
    assert result["dynamic_bytes"] > 0
    assert result["stage"] == "nocopy"
    assert result["toggles"]["copy_followers"] is False
    assert (result["ties"], result["score"], result["tail"]) == ("library", "int32", "keep")
    assert (result["n_ctx"], result["n_draft"]) == (100, 3)
    assert int(result["drafts_checksum"], 16) > 0
    assert result["machine"]["cores"] >= 1


def test_where_nothing_was_drafted_there_is_no_rate() -> None:
    np.arange(50, dtype="<i4").tofile("tokens")
    result = stats("--tokens", "tokens")
    assert result["n_drafted"] == 0
    assert result["accept_pct"] is None
    assert result["ns_per_drafted"] is None
    assert "accepted 0\n" in good("stats", "--tokens", "tokens")


@pytest.mark.parametrize("tail", ["keep", "drop"])
@pytest.mark.parametrize("n_ctx", [4, 7, 19])
def test_a_text_is_replayed_as_the_reference_does(tail: Any, n_ctx: int) -> None:
    words = ["--text", written("text", TEXT), "--tokenizer", "words", "-c", n_ctx]
    words += ["--draft-max", 3, "--ties", "token", "--set", "score=exact", "--tail", tail]
    result = stats(*words, "--dump-drafts", "drafts")
    wanted = reference.replay(
        WordTokenizer().encode(TEXT).tolist(), n_ctx=n_ctx, n_draft=3, tail=tail
    )
    assert Path("drafts").read_text(encoding="ascii") == golden.as_text(wanted.drafts)
    assert (result["n_drafted"], result["n_accept"]) == (wanted.n_drafted, wanted.n_accept)
    assert result["n_replayed"] + result["n_left_out"] == 20
    assert result["n_replayed"] == wanted.n_replayed


def test_the_sizes_of_n_grams_are_heard() -> None:
    text = written("text", TEXT)
    for low, high in [(1, 4), (2, 2), (3, 4)]:
        words = ["--text", text, "--tokenizer", "words", "--ties", "token", "--set", "score=exact"]
        result = stats(*words, "--ngram-min", low, "--ngram-max", high)
        rule = reference.Rule(n_min=low, n_max=high)
        wanted = reference.replay(WordTokenizer().encode(TEXT).tolist(), rule)
        assert (result["n_drafted"], result["n_accept"]) == (wanted.n_drafted, wanted.n_accept)


def test_nothing_is_drafted_past_the_end_of_a_text() -> None:
    eos = 151_643
    np.array([1, 2, eos, 3, 1, 2, eos, 3, 1, 2, eos, 3, 1], "<i4").tofile("tokens")
    words = ["--tokens", "tokens", "--dump-drafts", "drafts"]
    good("stats", *words)
    assert f"{eos} 3" in Path("drafts").read_text()
    good("stats", *words, "--tokenizer", "qwen2.5")
    assert f"{eos}\n" in Path("drafts").read_text()
    assert f"{eos} 3" not in Path("drafts").read_text()


def test_settings_that_say_the_same_are_no_contradiction() -> None:
    text = ["--text", written("text", TEXT), "--tokenizer", "bytes"]
    one = stats(*text, "--ties", "token")
    two = stats(*text, "--set", "ties=token", "--set", "ties=token", "--ties", "token")
    assert one["ties"] == two["ties"] == "token"
    assert one["drafts_checksum"] == two["drafts_checksum"]
    copied = stats(*text, "--set", "copy_followers=true")
    assert copied["toggles"] == stats(*text, "--stage", "upstream")["toggles"]


@pytest.mark.parametrize(
    "build", golden.params([b for b in golden.builds() if b.kind == "dynamic"])
)
def test_a_dynamic_cache_is_saved_as_llama_cpp_saves_it(build: golden.Build) -> None:
    words = ["--tokens", build.tokens, "-lcs", build.static, "-c", build.n_ctx]
    words += ["--draft-max", build.n_draft, "--tail", "drop", "--stage", "upstream"]
    good("stats", *words, "--save-dynamic", "out")
    assert Path("out").read_bytes() == build.file.read_bytes()


def test_a_dynamic_cache_that_is_given_is_only_read() -> None:
    np.array([1, 2, 3] * 9, "<i4").tofile("tokens")
    good("stats", "--tokens", "tokens", "--save-dynamic", "first")
    first = Path("first").read_bytes()
    good("stats", "--tokens", "tokens", "-lcd", "first", "--save-dynamic", "second")
    assert Path("first").read_bytes() == first
    table = golden.read_table(Path("second"))
    assert table == {k: {t: 2 * c for t, c in v.items()} for k, v in
                     golden.read_table(Path("first")).items()}  # fmt: skip


def test_a_saved_dynamic_cache_is_bounded() -> None:
    random = np.random.default_rng(8)
    random.integers(0, 400, 6_000).astype("<i4").tofile("tokens")
    words = ["--tokens", "tokens", "-c", 500]
    whole = stats(*words, "--save-dynamic", "whole")
    assert "n_grams_gone" not in whole
    sizes = {}
    for name, bound in {
        "entries": ["--bound-entries", 2_000],
        "bytes": ["--bound-bytes", "1MB"],
        "both": ["--bound-entries", 5_000, "--bound-bytes", "200kB"],
    }.items():
        bounded = stats(*words, "--save-dynamic", name, *bound)
        assert bounded["n_grams_gone"] > 100
        table = golden.read_table(Path(name))
        sizes[name] = sum(map(len, table.values()))
        assert bounded["dynamic_bytes"] < whole["dynamic_bytes"] / 2
        assert table.keys() < golden.read_table(Path("whole")).keys()
    assert sizes["entries"] <= 2_000
    assert stats(*words, "--bound-bytes", "1MB")["dynamic_bytes"] <= 1_000_000
    assert "n-grams left out" in good("stats", *words, "--bound-entries", 2_000)
    loose = stats(*words, "--bound-entries", 10**9)
    assert loose["n_grams_gone"] == 0
    assert loose["drafts_checksum"] == whole["drafts_checksum"]


def test_n_grams_that_a_static_cache_leaves_out_are_told() -> None:
    table = {(1, 2): {3: 9}, (1,): {2: 9}, (1, 2, 3, 4): {5: 1}}
    written("cache", golden.write_table(table))
    np.array([1, 2, 3, 1, 2], "<i4").tofile("tokens")
    done = run("stats", "--tokens", "tokens", "-lcs", "cache")
    assert done.code == 0
    assert done.err == (
        "ngram-core: note: 'cache' holds 2 n-grams that are not of 2 tokens; they are left out\n"
    )


def test_ids_of_words_come_with_a_warning() -> None:
    text = written("text", TEXT)
    good("create", "--text", text, "--tokenizer", "words", "-o", "cache", "--format", "legacy")
    done = run("stats", "--text", text, "--tokenizer", "words", "-lcs", "cache")
    assert done.code == 0
    assert done.err.startswith("ngram-core: note: ids of 'words' hang on the text")
    assert done.err.count("\n") == 1


# ---- create, merge, inspect, stages -------------------------------------------------------


@pytest.mark.parametrize("build", golden.params([b for b in golden.builds() if b.kind == "static"]))
def test_a_static_cache_is_written_as_llama_cpp_writes_it(build: golden.Build) -> None:
    said = good("create", "--tokens", build.tokens, "-o", "out", "--format", "legacy")
    assert Path("out").read_bytes() == build.file.read_bytes()
    assert said.startswith("out: ")


def test_several_texts_are_counted_as_one() -> None:
    one, two = written("one", "a b c"), written("two", " a b\n")
    written("both", "a b c a b\n")
    words = ("--tokenizer", "words", "--format", "legacy")
    good("create", "--text", one, two, *words, "-o", "parts")
    good("create", "--text", "both", *words, "-o", "whole")
    assert Path("parts").read_bytes() == Path("whole").read_bytes()
    assert golden.read_table(Path("whole")) == {(0, 1): {2: 1}, (1, 2): {0: 1}, (2, 0): {1: 1}}


def test_merging_adds_counts() -> None:
    a = {(1,): {2: 5, 3: 2**31 - 2}, (7, 8, 9): {1: 1}}
    b = {(1,): {3: 7, 4: 1}, (5, 6): {7: 8}}
    written("a", golden.write_table(a))
    written("b", golden.write_table(b))
    good("merge", "a", "b", "-o", "a")  # over its own input
    merged = {(1,): {2: 5, 3: 2**31 - 1, 4: 1}, (7, 8, 9): {1: 1}, (5, 6): {7: 8}}
    assert golden.read_table(Path("a")) == merged


def test_inspect_counts() -> None:
    table = {(1,): dict.fromkeys(range(9), 2), (1, 2): {3: 4}, (2, 3): {3: 4, 4: 4}, (5, 6): {7: 8}}
    written("cache", golden.write_table(table))
    found = json.loads(good("inspect", "cache", "--json"))
    assert found["format"] == "legacy"
    assert found["bytes"] == 4 * 20 + 13 * 8
    assert found["n_grams"] == 4
    assert found["n_grams_by_n"] == {"1": 1, "2": 3}
    assert found["n_followers"] == 13
    assert found["n_counted"] == 18 + 4 + 8 + 8
    assert found["most_followers"] == 9
    assert found["follower_histogram"] == [
        {"from": 1, "to": 1, "n_grams": 2},
        {"from": 2, "to": 2, "n_grams": 1},
        {"from": 9, "to": 16, "n_grams": 1},
    ]
    assert found["tokenizer"] is None
    text = good("inspect", "cache")
    assert "n-grams: 4 (1 of 1, 3 of 2 tokens)" in text
    assert "       9 to 16            1  25.00% ##########" in text


def constmap(pairs: int = 3, data_len: int = 24) -> bytes:
    """A file of the fork whose head is right: no key is in it."""
    table = struct.pack("<8sQIIII", b"VCMP0002", 7, 8, data_len // 8 - 2, data_len, 2)
    table += bytes(16 * data_len + 8)
    head = b"ggngcmap" + struct.pack("<QQ", pairs, len(table))
    return head + struct.pack("<2i", 1, 1) * pairs + table


def test_inspect_knows_the_forks_file() -> None:
    written("cache", constmap())
    found = json.loads(good("inspect", "cache", "--json"))
    assert (found["format"], found["n_grams"], found["n_followers"]) == ("constmap", 2, 3)
    assert found["seed"] == "0000000000000007"
    assert "constmap" in good("inspect", "cache")


@pytest.mark.skipif(not golden.GOLDEN.is_dir(), reason=golden.WHY)
def test_inspect_agrees_on_both_formats() -> None:
    for path in golden.GOLDEN.glob("*.constmap.cache"):
        found = json.loads(good("inspect", path, "--json"))
        legacy = str(path).replace("constmap", "legacy")
        wanted = json.loads(good("inspect", legacy, "--json"))
        assert found["n_grams"] == wanted["n_grams"]
        assert found["n_followers"] == wanted["n_followers"]


def test_stages_are_listed_in_order() -> None:
    assert good("stages").splitlines() == list(STAGES)


def test_help_and_version() -> None:
    assert "create" in good("--help")
    assert "--dump-drafts" in good("stats", "--help")
    assert good("--version") == "ngram-core 0.1.0\n"


# ---- lab ----------------------------------------------------------------------------------


@pytest.fixture
def lessons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    source = tmp_path / "lessons"
    (source / "solutions").mkdir(parents=True)
    (source / ".ipynb_checkpoints").mkdir()
    for name in ("00_start_here.ipynb", "solutions/s.ipynb", ".ipynb_checkpoints/x"):
        (source / name).write_text(f"ours: {name}")
    monkeypatch.setattr("ngram_core.lessons_data.lessons_folder", lambda: source)
    return source


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What would have replaced this process."""
    commands: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda program, words: commands.append(words))
    monkeypatch.setattr("subprocess.call", lambda words: commands.append(words) or 0)
    return commands


def test_lab_keeps_what_the_reader_has(
    lessons: Path, started: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)  # it is installed
    mine = tmp_path / "my lessons"
    mine.mkdir()
    (mine / "00_start_here.ipynb").write_text("mine")
    said = good("lab", mine)
    assert "1 files put there, 1 left as they were" in said
    assert (mine / "00_start_here.ipynb").read_text() == "mine"
    assert (mine / "solutions/s.ipynb").read_text() == "ours: solutions/s.ipynb"
    assert not (mine / ".ipynb_checkpoints").exists()
    (words,) = started
    assert f"--ServerApp.root_dir={mine}" in words
    assert "--LabApp.default_url=/lab/tree/00_start_here.ipynb" in words
    good("lab")
    assert Path("ngram-lessons/00_start_here.ipynb").is_file()


def test_lab_opens_a_browser_where_there_is_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", ":0")
    assert lab.NO_BROWSER not in lab.lab_command(Path())
    monkeypatch.delenv("DISPLAY")
    assert lab.NO_BROWSER in lab.lab_command(Path())


def test_lab_without_jupyterlab_names_the_extra(
    lessons: Path, started: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = run("lab", "mine")
    assert done.code == 1
    assert "pip install 'ngram-core[lab]'" in done.err
    assert Path("mine/00_start_here.ipynb").is_file()
    assert started == []


# ---- a process of its own -----------------------------------------------------------------


def test_the_module_is_the_command() -> None:
    done = subprocess.run([*PROGRAM, "stages"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == list(STAGES)
    done = subprocess.run([*PROGRAM, "stats"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("ngram-core stats: ")
    assert done.stderr.count("\n") == 1


def test_help_needs_no_tokenizer_and_no_widget() -> None:
    code = "import sys; from ngram_core.cli import main; main(['--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"tiktoken", "quicktok", "tokenizers", "regex", "ipywidgets", "plotly", "anywidget"}
    assert not heavy & set(done.stdout.split())


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*PROGRAM, "stages"], stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_behind_stdout_is_told() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*PROGRAM, "stages"], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stderr == b"ngram-core: no space is left on the disk; free some or choose" + (
        b" another place\n"
    )


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopping_it_leaves_the_files_as_they_were(number: signal.Signals, code: int) -> None:
    np.random.default_rng(1).integers(0, 50, 5_000_000).astype("<i4").tofile("tokens")
    written("drafts", "old")
    words = [*PROGRAM, "stats", "--tokens", "tokens", "--dump-drafts", "drafts"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while not any(p.stat().st_size for p in Path().glob("*.part")):  # until it replays
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert process.returncode == code
    assert said == ("ngram-core: stopped; files that were to be written are as they were\n"
                    if number == signal.SIGINT else "")  # fmt: skip
    assert Path("drafts").read_text() == "old"
    assert sorted(os.listdir()) == ["drafts", "tokens"]


def test_progress_is_shown_on_a_terminal_and_wiped() -> None:
    pty = pytest.importorskip("pty", reason="this system has no pseudo-terminals")
    np.random.default_rng(1).integers(0, 50, 80_000).astype("<i4").tofile("tokens")
    terminal, inside = pty.openpty()
    words = [*PROGRAM, "stats", "--tokens", "tokens"]
    with subprocess.Popen(words, stderr=inside, stdout=subprocess.PIPE) as process:
        os.close(inside)
        shown = b""
        while piece := _read(terminal):
            shown += piece
        assert process.wait(timeout=60) == 0
    os.close(terminal)
    assert b"replaying [" in shown
    assert b"% " in shown or b"%," in shown
    assert shown.endswith(b"\r\x1b[K")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other side is closed
        return b""
