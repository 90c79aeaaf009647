"""Bad input: one line that says what, where and what to do; nothing lost; never a traceback."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import golden
import numpy as np
import pytest
from commands import run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ngram_core
from ngram_core.toggles import STAGES

NO_SUCH = "there is no such file or folder; check the path"
FOLDER = "this is a folder; name a file"
NOT_PLAIN = "is not a plain file; save its content in one first"
INT_MAX = 2**31 - 1

GOOD_TABLE: golden.Table = {(1, 2): {3: 4}, (2, 3): {1: 5, 2: 1}}


def record(tokens: tuple[int, ...], *followers: tuple[int, int], n: int | None = None) -> bytes:
    """One record of a cache file, right or wrong."""
    slots = (*tokens, *[-1] * (4 - len(tokens)))
    head = struct.pack("<5i", *slots, len(followers) if n is None else n)
    return head + b"".join(struct.pack("<2i", *pair) for pair in followers)


BAD_CACHES = {
    "count-0": record((1, 2), (3, 0)),
    "count-negative": record((1, 2), (3, -1)),
    "count-min": record((1, 2), (3, -(2**31))),
    "no-followers": record((1, 2), n=0),
    "followers-negative": record((1, 2), n=-1),
    "followers-int-max": record((1, 2), n=INT_MAX),
    "followers-too-many": record((1, 2), (3, 4), n=3),
    "same-n-gram": record((1, 2), (3, 4)) * 2,
    "same-follower": record((1, 2), (3, 4), (3, 4)),
    "follower-minus-1": record((1, 2), (-1, 4)),
    "follower-int-max": record((1, 2), (INT_MAX, 4)),
    "token-minus-2": record((1, -2), (3, 4)),
    "token-int-max": record((INT_MAX, 2), (3, 4)),
    "no-token": record((), (3, 4)),
    "hole": record((1, -1, 2), (3, 4)),
    "a-text": b"this is not a cache but a text of some length, longer than one record\n",
    "zeros": bytes(100),
    "ones": b"\xff" * 100,
    "good-then-bad": golden.write_table(GOOD_TABLE) + record((1, 2, 3), (3, 0)),
}


@pytest.fixture(autouse=True)
def bad_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own with a good and a bad one of each kind."""
    monkeypatch.chdir(tmp_path)
    for name, content in {
        "good.cache": golden.write_table(GOOD_TABLE),
        "good.txt": b"one two three one two three\n",
        "good.i32": np.array([1, 2, 3] * 9, "<i4").tobytes(),
        "one.i32": np.array([1], "<i4").tobytes(),
        "minus.i32": np.array([1, 2, -1], "<i4").tobytes(),
        "int-max.i32": np.array([1, INT_MAX], "<i4").tobytes(),
        "n-vocab.i32": np.array([255, 256], "<i4").tobytes(),
        "odd.i32": b"\1\0\0\0\2\0",
        "empty": b"",
        "blank.txt": b" \n \t\n",
        "latin.txt": b"caf\xe9\n",
        "cut.txt": "café".encode()[:-1],
        "nul.txt": b"one\0two",
        "utf16.txt": "one two".encode("utf-16"),
        "not.json": b"{}",
    }.items():
        Path(name).write_bytes(content)
    for name, content in BAD_CACHES.items():
        Path(name).write_bytes(content)
    Path("folder").mkdir()
    Path("circle").symlink_to("circle")
    return tmp_path


def everything(folder: Path) -> dict[str, bytes | None]:
    """All that is in a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def refused(code: int, said: str, *words: object) -> None:
    """The command ends with this code and one line; what is on the disk stays as it is."""
    before = everything(Path())
    done = run(*words)
    assert done.code == code, done
    assert done.out == ""
    assert done.err.count("\n") == 1, done.err
    assert done.err.startswith("ngram-core")
    assert said in done.err
    assert everything(Path()) == before


# ---- what is read -------------------------------------------------------------------------

READERS: dict[str, Callable[[str], tuple[str, ...]]] = {
    "stats --tokens": lambda path: ("stats", "--tokens", path),
    "stats --text": lambda path: ("stats", "--text", path),
    "stats -lcs": lambda path: ("stats", "--tokens", "good.i32", "-lcs", path),
    "stats -lcd": lambda path: ("stats", "--tokens", "good.i32", "-lcd", path),
    "create --tokens": lambda path: ("create", "--tokens", path, "-o", "out"),
    "create --text": lambda path: ("create", "--text", "good.txt", path, "-o", "out"),
    "merge A": lambda path: ("merge", path, "good.cache", "-o", "out"),
    "merge B": lambda path: ("merge", "good.cache", path, "-o", "out"),
    "inspect": lambda path: ("inspect", path),
    "--tokenizer": lambda path: ("stats", "--text", "good.txt", "--tokenizer", f"{path}.json"),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("none", NO_SUCH),
        ("none/none", NO_SUCH),
        ("good.txt/none", "a part of this path is a file, not a folder; check the path"),
        ("folder", FOLDER),
        ("circle", "its links go round in a circle; check the path"),
        ("n" * 300, "the name is too long; choose a shorter one"),
        ("/dev/zero", NOT_PLAIN),
        ("no\nsuch\nline", NO_SUCH),
        ("no-such-\udcff", NO_SUCH),
    ],
    ids=repr,
)
def test_paths_that_cannot_be_read(reader: str, path: str, said: str) -> None:
    if reader == "--tokenizer":
        pytest.importorskip("tokenizers", reason="the extra ngram-core[tokenizers] is missing")
        for name in ("folder", "circle", "/dev/zero"):
            if path == name:
                pytest.skip("with .json behind it, it is just a file that is not there")
    refused(1, said, *READERS[reader](path))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
@pytest.mark.parametrize("reader", [name for name in READERS if name != "--tokenizer"])
def test_files_without_the_right_to_read(reader: str) -> None:
    Path("good.cache").chmod(0)
    done = run(*READERS[reader]("good.cache"))
    said = "ngram-core: 'good.cache': not allowed; check the permissions\n"
    assert (done.code, done.out, done.err) == (1, "", said)


@pytest.mark.parametrize("reader", ["stats --tokens", "create --tokens"])
@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("empty", "'empty' is empty; a token file holds raw little-endian int32 ids"),
        ("odd.i32", "'odd.i32', byte 4: the file ends inside a token (6 bytes"),
        ("minus.i32", "'minus.i32', byte 8: token 2 is -1, not one of 0 to 2147483646;"),
        ("int-max.i32", "'int-max.i32', byte 4: token 1 is 2147483647, not one of 0 to"),
    ],
)
def test_token_files(reader: str, path: str, said: str) -> None:
    refused(1, said, *READERS[reader](path))


def test_ids_outside_a_known_vocabulary() -> None:
    said = "'n-vocab.i32', byte 4: token 1 is 256, not one of 0 to 255;"
    refused(1, said, "stats", "--tokens", "n-vocab.i32", "--tokenizer", "bytes")
    assert run("stats", "--tokens", "n-vocab.i32").code == 0


@pytest.mark.parametrize("size", range(1, 12))
def test_a_token_file_cut_anywhere(size: int) -> None:
    Path("cut.i32").write_bytes(Path("good.i32").read_bytes()[:size])
    if size % 4:
        refused(1, f"byte {size // 4 * 4}: the file ends inside", "stats", "--tokens", "cut.i32")
    else:
        assert run("stats", "--tokens", "cut.i32").code == 0


@pytest.mark.parametrize("tokenizer", ["qwen2.5", "words", "bytes"])
@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("latin.txt", "'latin.txt' is not UTF-8: byte 0xe9 at offset 3 "),
        ("cut.txt", "'cut.txt' is not UTF-8: byte 0xc3 at offset 3 (unexpected end of data)"),
        ("nul.txt", "'nul.txt' is not text: NUL byte at offset 3; "),
        ("utf16.txt", "'utf16.txt' is not text: NUL byte at offset 3; "),
    ],
)
def test_texts_that_are_none(tokenizer: str, path: str, said: str) -> None:
    refused(1, said, *READERS["stats --text"](path), "--tokenizer", tokenizer)
    refused(1, said, *READERS["create --text"](path), "--tokenizer", tokenizer)


def test_texts_with_nothing_in_them() -> None:
    said = "'empty' is empty; name a file with some text"
    refused(1, said, "stats", "--text", "empty")
    refused(1, said, "create", "--text", "empty", "-o", "out")
    words = ["--text", "blank.txt", "--tokenizer", "words"]
    refused(1, "'blank.txt' has no tokens of words; name a text with words", "stats", *words)
    refused(1, "too few tokens (1): a 2-gram", "create", "--tokens", "one.i32", "-o", "out")


def test_a_text_shorter_than_the_context() -> None:
    words = ["stats", "--tokens", "good.i32"]
    refused(1, "nothing would be replayed; take a smaller context", *words, "--tail", "drop")
    refused(1, "nothing would be replayed", *words, "--tail", "drop", "-c", 27)
    assert run(*words, "--tail", "drop", "-c", 26).code == 0
    assert run(*words, "--tail", "keep").code == 0


@pytest.mark.parametrize("reader", ["inspect", "stats -lcs", "stats -lcd", "merge A", "merge B"])
@pytest.mark.parametrize("path", [*BAD_CACHES, "empty", "good.txt", "odd.i32"])
def test_cache_files(reader: str, path: str) -> None:
    at = len(golden.write_table(GOOD_TABLE)) if path == "good-then-bad" else 0
    where = f"{path}, byte {28 if path == 'same-n-gram' else at}: "
    refused(1, where if path != "empty" else "empty: ", *READERS[reader](path))


def test_the_largest_count_is_a_good_one() -> None:
    Path("large").write_bytes(record((1, 2), (3, INT_MAX), (4, INT_MAX)))
    assert "counted 4,294,967,294 times" in run("inspect", "large").out
    assert run("stats", "--tokens", "good.i32", "-lcs", "large", "-lcd", "large").code == 0
    assert run("merge", "large", "large", "-o", "out").code == 0
    assert golden.read_table(Path("out")) == {(1, 2): {3: INT_MAX, 4: INT_MAX}}


def test_a_cache_file_cut_anywhere() -> None:
    table: golden.Table = {(1,): {2: 3}, (1, 2): {3: 4, 5: 6}, (1, 2, 3, 4): {9: 9}}
    whole = golden.write_table(table)
    ends = {len(golden.write_table(dict(list(table.items())[:n]))) for n in range(4)}
    for size in range(len(whole)):
        Path("cut").write_bytes(whole[:size])
        if size in ends - {0}:  # this format cannot tell
            assert run("inspect", "cut").code == 0
        else:
            start = max(end for end in ends if end <= size)
            refused(1, f"cut, byte {start}: " if size else "cut: ", "inspect", "cut")


def constmap_file() -> bytes:
    data_len = 24
    table = struct.pack("<8sQIIII", b"VCMP0002", 7, 8, 1, data_len, 2) + bytes(16 * data_len + 8)
    return b"ggngcmap" + struct.pack("<QQ2i", 1, len(table), 1, 1) + table


def test_a_constmap_file_cut_anywhere() -> None:
    whole = constmap_file()
    for size in range(8, len(whole)):
        Path("cut").write_bytes(whole[:size])
        done = run("inspect", "cut")
        assert (done.code, done.err.count("\n")) == (1, 1)
        assert done.err.startswith("ngram-core: 'cut', byte ")
    Path("cut").write_bytes(whole + b"x")
    refused(1, "it is cut short or damaged", "inspect", "cut")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(at=st.integers(0, 71), byte=st.integers(0, 255))
def test_a_constmap_head_with_a_wrong_byte(at: int, byte: int) -> None:
    damaged = bytearray(constmap_file())
    damaged[at] = byte
    Path("damaged").write_bytes(damaged)
    done = run("inspect", "damaged")
    assert done.code in (0, 1)
    assert done.err.count("\n") == done.code


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(content=st.binary(max_size=120))
def test_no_file_at_all_brings_a_command_down(content: bytes) -> None:
    Path("any").write_bytes(content)
    for reader in ("inspect", "stats --tokens", "stats -lcs", "create --text"):
        words = READERS[reader]("any")
        done = run(*words, *(["--tokenizer", "bytes"] if reader == "create --text" else []))
        assert done.code in (0, 1)
        assert done.err.count("\n") == done.code or "note" in done.err


# ---- what is written ----------------------------------------------------------------------

WRITERS: dict[str, Callable[[str], tuple[str, ...]]] = {
    "create": lambda path: ("create", "--tokens", "good.i32", "-o", path),
    "merge": lambda path: ("merge", "good.cache", "good.cache", "-o", path),
    "--dump-drafts": lambda path: ("stats", "--tokens", "good.i32", "--dump-drafts", path),
    "--save-dynamic": lambda path: ("stats", "--tokens", "good.i32", "--save-dynamic", path),
}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("none/out", f"'none/out': {NO_SUCH}"),
        ("good.txt/out", "'good.txt/out': a part of this path is a file, not a folder"),
        ("folder", f"'folder': {FOLDER}"),
        (".", f"'.': {FOLDER}"),
        ("circle", "'circle': its links go round in a circle"),
        ("n" * 300, "the name is too long; choose a shorter one"),
        ("/dev/full", "'/dev/full': no space is left on the disk; free some or choose another"),
    ],
)
def test_paths_that_cannot_be_written(writer: str, path: str, said: str) -> None:
    if path == "/dev/full" and not os.path.exists(path):
        pytest.skip("this system has no /dev/full")
    refused(1, said, *WRITERS[writer](path))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anything")
@pytest.mark.parametrize("writer", WRITERS)
def test_files_without_the_right_to_write(writer: str) -> None:
    Path("good.txt").chmod(0o444)
    refused(1, "not allowed; check the permissions", *WRITERS[writer]("good.txt"))


@pytest.mark.parametrize("writer", WRITERS)
def test_a_failure_keeps_the_old_output(writer: str) -> None:
    words = [word.replace("good.i32", "minus.i32") for word in WRITERS[writer]("good.txt")]
    words = [
        word if i != 2 else word.replace("good.cache", "zeros") for i, word in enumerate(words)
    ]
    refused(1, "byte ", *words)
    assert Path("good.txt").read_bytes().startswith(b"one two")


# ---- wrong usage --------------------------------------------------------------------------

STATS = ("stats", "--tokens", "good.i32")
STAGES_THERE_ARE = ", ".join(STAGES)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "the following arguments are required: COMMAND"),
        (("nonsense",), "invalid choice: 'nonsense'"),
        (("racing",), "invalid choice: 'racing'"),
        (("stats",), "one of the arguments --tokens --text is required"),
        ((*STATS, "--text", "good.txt"), "not allowed with argument --tokens"),
        ((*STATS, "extra"), "unrecognized arguments: extra"),
        (("create", "--tokens", "good.i32"), "the following arguments are required: -o"),
        (("merge", "good.cache", "-o", "out"), "the following arguments are required: B"),
        (("stats", "--tokens", ""), "an empty path; name a file"),
        (("stats", "--tokens", "a\0b"), "a path cannot hold a NUL byte"),
        (("create", "--tokens", "good.i32", "-o", "a\0b"), "a path cannot hold a NUL byte"),
        *(
            ((*STATS, "--draft-max", value), "need a whole number from 1 to 4096, not")
            for value in ("0", "-1", "1000000", "1e3", "")
        ),
        *(
            ((*STATS, "-c", value), "need a whole number from 1 to 2147483647, not")
            for value in ("0", "-4096", "2147483648", "many")
        ),
        ((*STATS, "--ngram-min", "0"), "--ngram-min: need a whole number from 1 to 4, not '0'"),
        ((*STATS, "--ngram-max", "5"), "--ngram-max: need a whole number from 1 to 4, not '5'"),
        ((*STATS, "--ngram-min", "3", "--ngram-max", "2"), "need 1 <= smallest <= largest <= 4"),
        ((*STATS, "--stage", "fastest"), f"no stage 'fastest'; there are: {STAGES_THERE_ARE};"),
        ((*STATS, "--set", "speed=high"), "there is no toggle 'speed'; there are: copy_followers,"),
        ((*STATS, "--set", "ties=mine"), "toggle ties='mine' does not exist; choose one of:"),
        ((*STATS, "--set", "copy_followers=1"), "toggle copy_followers='1' does not exist"),
        ((*STATS, "--set", "ties"), "need the form toggle=value, not 'ties'"),
        ((*STATS, "--set", "=x"), "need the form toggle=value, not '=x'"),
        ((*STATS, "--ties", "mine"), "toggle ties='mine' does not exist"),
        ((*STATS, "--ties", "token", "--set", "ties=library"), "ties is set to both library and"),
        ((*STATS, "--set", "score=int32", "--set", "score=exact"), "score is set to both int32"),
        ((*STATS, "--tail", "cut"), "--tail is keep or drop, not 'cut'"),
        ((*STATS, "--bound-entries", "0"), "--bound-entries: need a whole number from 1"),
        *(
            ((*STATS, "--bound-bytes", size), f"need bytes, as 100000 or 100MB, not {size!r}")
            for size in ("MB", "many", "1.5MB", "-1", "1XB", "")
        ),
        ((*STATS, "--bound-bytes", "0"), "0 is no size that a cache can have"),
        ((*STATS, "--bound-bytes", "99999999999GB"), "is no size that a cache can have"),
        ((*STATS, "--dump-drafts", "x", "--save-dynamic", "x"), "name the same file; name two"),
        (
            ("create", "--tokens", "good.i32", "-o", "out", "--format", "CONSTMAP"),
            "there is no format 'CONSTMAP' to write; there are: ngc, legacy, constmap",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_usage(words: tuple[str, ...], said: str) -> None:
    refused(2, said, *words)
    done = run(*words)
    assert done.err.rstrip().endswith("--help")


def test_wrong_usage_lists_the_commands_there_are() -> None:
    err = run("racing").err
    assert all(
        command in err for command in ("create", "stats", "merge", "inspect", "race", "stages")
    )


def test_tokenizers_that_there_are_not() -> None:
    words = ["stats", "--text", "good.txt", "--tokenizer"]
    refused(1, "there is no tokenizer 'llama'; there are: qwen2.5, words, bytes,", *words, "llama")
    refused(1, "there is no tokenizer ''", "stats", "--text", "good.txt", "--tokenizer", "")


@pytest.mark.parametrize("folder", ["good.txt", "good.txt/lessons", "n" * 300])
def test_lessons_that_cannot_be_put_there(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ngram_core.lessons_data.lessons_folder", lambda: Path("lessons"))
    Path("lessons").mkdir()
    Path("lessons/00_start_here.ipynb").write_text("{}")
    refused(1, repr(folder)[:-1], "lab", folder)


def test_a_tokenizer_json_that_is_none() -> None:
    pytest.importorskip("tokenizers", reason="the extra ngram-core[tokenizers] is missing")
    said = "'not.json' is not a tokenizer.json"
    refused(1, said, "stats", "--text", "good.txt", "--tokenizer", "not.json")


# ---- large and odd texts ------------------------------------------------------------------


def test_one_line_of_fifty_megabytes(measured: Callable[[str], None]) -> None:
    """Without a newline anywhere, in a process of its own: time and memory stay bounded."""
    Path("line").write_bytes(b"not one newline in all of it, " * (50_000_000 // 30))
    script = (
        "import sys; from ngram_core import cli, machine; code = cli.main(sys.argv[1:]);"
        "print(machine.peak_resident_bytes()); sys.exit(code)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(ngram_core.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", script, "create", "--text", "line", "-o", "out"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    peak = int(done.stdout.split()[-1])
    measured(f"create from one line of 50 MB: peak {peak / 1e6:.0f} MB")
    assert peak < 500_000_000
    assert Path("out").stat().st_size > 0


def test_memory_that_cannot_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_memory(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(np, "fromfile", no_memory)
    refused(1, "not enough memory", "stats", "--tokens", "good.i32")
