"""Texts to count: which files, in which order, how much of them, and their tokens on disk."""

from __future__ import annotations

import hashlib
import os
import random
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ngram_core import corpora, machine
from ngram_core.corpora import (
    Corpus,
    from_files,
    from_folder,
    get_corpus,
    python_source,
    sizes_for_memory,
)
from ngram_core.errors import FormatError, InputError
from ngram_core.tokenizers import ByteTokenizer, WordTokenizer
from ngram_core.tokenizers.text import BLOCK_BYTES


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture(scope="module")
def library() -> Corpus:
    return python_source()


def written(path: Path, content: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# ---- which files --------------------------------------------------------------------------


def test_pythons_source_is_there(library: Corpus) -> None:
    folder = Path(sysconfig.get_path("stdlib"))
    below = [path.relative_to(folder) for path in library.files]
    assert library.n_bytes > 5_000_000
    assert [path.parts for path in below] == sorted(path.parts for path in below)
    assert Path("json/decoder.py") in below
    assert {path.suffix for path in below} == {".py"}
    assert not {"site-packages", "dist-packages"} & {path.parts[0] for path in below}
    assert python_source() == library


def test_a_python_without_source_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path / name))
    with pytest.raises(InputError, match="stdlib'; use your own files"):
        python_source()


def test_a_corpus_is_its_files_one_after_the_other(library: Corpus) -> None:
    digest, n_bytes = hashlib.sha256(), 0
    for path in library.files:
        content = path.read_bytes()
        digest.update(content)
        n_bytes += len(content)
    assert (library.digest, library.n_bytes) == (digest.hexdigest(), n_bytes)


def test_a_folder_gives_its_text_files_by_name(tmp_path: Path) -> None:
    wanted = [
        written(tmp_path / "a" / "z.txt", "1\n"),
        written(tmp_path / "a.txt", "2\n"),
        written(tmp_path / "b.unknown", "3\n"),
    ]
    binary = written(tmp_path / "c.bin", b"text\0then not")
    latin = written(tmp_path / "d.txt", b"caf\xe9")
    written(tmp_path / ".hidden", "4\n")
    written(tmp_path / ".git" / "config", "5\n")
    os.mkfifo(tmp_path / "pipe")
    corpus = from_folder(tmp_path)
    assert list(corpus.files) == wanted
    assert b"".join(corpus.blocks()) == b"1\n2\n3\n"
    assert [path for path, _ in corpus.skipped] == [binary, latin]
    reasons = [reason for _, reason in corpus.skipped]
    assert "NUL byte at offset 4" in reasons[0]
    assert "byte 0xe9 at offset 3" in reasons[1]


def test_folders_that_hold_no_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no text; name another folder"):
        from_folder(tmp_path)
    written(tmp_path / "x", b"\0")
    with pytest.raises(InputError, match=r"holds no text \(1 files are not UTF-8 text\)"):
        from_folder(tmp_path)
    with pytest.raises(FileNotFoundError):
        from_folder(tmp_path / "none")
    with pytest.raises(NotADirectoryError):
        from_folder(tmp_path / "x")


def test_named_files_are_taken_in_the_order_given(tmp_path: Path) -> None:
    b, a = written(tmp_path / "b", "no newline"), written(tmp_path / "a", ", then a\n")
    corpus = from_files([b, a])
    assert b"".join(corpus.blocks()) == b"no newline, then a\n"
    assert corpus.name == "2 files"
    assert from_files([a]).name == repr(str(a))


def test_a_named_file_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    good = written(tmp_path / "good", "x\n")
    border = b"a" * BLOCK_BYTES
    for content, said in [
        (b"ab\xff", "bad' is not UTF-8: byte 0xff at offset 2 "),
        (b"ab\0", "bad' is not text: NUL byte at offset 2;"),
        (border + b"a\0", f"NUL byte at offset {BLOCK_BYTES + 1};"),
        (border + b"\xc3", f"byte 0xc3 at offset {BLOCK_BYTES} "),
    ]:
        bad = written(tmp_path / "bad", content)
        with pytest.raises(FormatError, match=said):
            from_files([good, bad])
    empty = written(tmp_path / "empty", "")
    assert from_files([good, empty]).n_bytes == 2
    with pytest.raises(InputError, match="empty' is empty; name a file with some text"):
        from_files([empty])
    with pytest.raises(InputError, match="all files are empty"):
        from_files([empty, empty])


def test_corpora_have_names_and_paths_work_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "prose", "my own\n")
    assert get_corpus("python").name == "python"
    assert b"".join(get_corpus("./prose").blocks()) == b"my own\n"
    assert b"".join(get_corpus(str(tmp_path)).blocks()) == b"my own\n"
    assert get_corpus("server-log").n_bytes == 1_000_000
    with pytest.raises(InputError, match=r"no corpus, file or folder 'none'; corpora are: python,"):
        get_corpus("none")
    with pytest.raises(InputError, match="0 bytes of server-log: need at least 1"):
        get_corpus("server-log", n_bytes=0)


# ---- how much of them ---------------------------------------------------------------------


@given(
    lines=st.lists(st.text("ab", max_size=9).map(lambda s: s + "\n"), min_size=1, max_size=9),
    end=st.text("ab", max_size=5),
    n_bytes=st.integers(1, 99),
    block=st.integers(1, 20),
)
def test_a_slice_ends_at_the_last_newline(
    lines: list[str], end: str, n_bytes: int, block: int
) -> None:
    text = ("".join(lines) + end).encode()
    n_bytes = min(n_bytes, len(text) - 1)
    blocks = (text[i : i + block] for i in range(0, len(text), block))
    wanted = text[: text.rfind(b"\n", 0, n_bytes) + 1] if n_bytes else b""
    if wanted:
        assert b"".join(corpora.base.first_bytes(blocks, n_bytes, "it")) == wanted
    else:
        with pytest.raises(InputError, match="no newline in the first"):
            list(corpora.base.first_bytes(blocks, n_bytes, "it"))


def test_slices_of_real_text(library: Corpus) -> None:
    whole = b"".join(library.blocks())
    part = b"".join(library.blocks(1_000_000))
    assert whole.startswith(part)
    assert part.endswith(b"\n")
    assert 990_000 < len(part) <= 1_000_000
    assert b"".join(library.blocks(library.n_bytes)) == whole
    assert b"".join(library.blocks(library.n_bytes + 1)) == whole
    for n_bytes in (0, -1):
        with pytest.raises(InputError, match="need at least 1"):
            library.blocks(n_bytes)


def test_sizes_fit_the_machine(library: Corpus) -> None:
    corpus = Corpus("big", (), 10**9, "")
    assert sizes_for_memory(corpus, 500_000_000) == (1_000_000, 5_000_000, 25_000_000)
    assert sizes_for_memory(corpus, 10**12)[-1] == 500_000_000
    assert sizes_for_memory(corpus, 1) == (1_000_000,)
    assert sizes_for_memory(Corpus("small", (), 10, ""), 10**9) == (10,)
    assert all(size <= library.n_bytes for size in sizes_for_memory(library))


def test_the_machine_says_what_it_has() -> None:
    limit, free = machine.memory_limit_bytes(), machine.memory_free_bytes()
    assert limit is not None
    assert free is not None
    assert 0 < free <= limit
    assert machine.usable_cores() >= 1
    before = machine.peak_resident_bytes()
    assert before is not None
    touched = np.ones(before // 8, np.int64)  # as much again
    after = machine.peak_resident_bytes()
    assert after is not None
    assert after >= before
    assert after >= touched.nbytes
    assert all(machine.describe().values())


# ---- tokens -------------------------------------------------------------------------------


class Counting(ByteTokenizer):
    """Bytes, and how often it was asked."""

    asked = 0

    def encode_blocks(self, *args, **kwargs):  # type: ignore[no-untyped-def]
        self.asked += 1
        yield from super().encode_blocks(*args, **kwargs)


def test_tokens_are_encoded_once(tmp_path: Path, cache: Path) -> None:
    corpus = from_files([written(tmp_path / "a", "one\ntwo\n")])
    tokenizer = Counting()
    first = corpus.tokens(tokenizer)
    again = from_files([written(tmp_path / "moved", "one\ntwo\n")]).tokens(tokenizer)
    assert tokenizer.asked == 1
    assert first.tolist() == again.tolist() == list(b"one\ntwo\n")
    assert first.dtype == again.dtype == np.int32
    assert corpus.tokens(tokenizer, n_bytes=5).tolist() == list(b"one\n")
    assert from_files([written(tmp_path / "a", "other\n")]).tokens(tokenizer).tolist() == list(
        b"other\n"
    )
    assert tokenizer.asked == 3
    assert len(list(cache.rglob("*.i32"))) == 3
    assert not list(cache.rglob("*.part"))


def test_tokens_need_no_place_to_keep_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    corpus = from_files([written(tmp_path / "a", "one\n")])
    tokenizer = Counting()
    assert corpus.tokens(tokenizer, keep=False).tolist() == list(b"one\n")
    assert list(cache.iterdir()) == []
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)  # where no folder can be made
    for _ in range(2):
        assert corpus.tokens(tokenizer).tolist() == list(b"one\n")
    assert tokenizer.asked == 3


def test_a_spoilt_copy_is_made_again(tmp_path: Path, cache: Path) -> None:
    corpus = from_files([written(tmp_path / "a", "one\n")])
    corpus.tokens(ByteTokenizer())
    (kept,) = cache.rglob("*.i32")
    for content in (b"", b"abc"):
        kept.write_bytes(content)
        assert corpus.tokens(ByteTokenizer()).tolist() == list(b"one\n")
        assert kept.stat().st_size == 16


def test_growing_vocabularies_are_not_kept(tmp_path: Path, cache: Path) -> None:
    corpus = from_files([written(tmp_path / "a", "one two one\n")])
    words = WordTokenizer()
    for _ in range(2):
        assert corpus.tokens(words).tolist() == [0, 1, 0]
    words = WordTokenizer()
    words.encode("two")
    assert corpus.tokens(words).tolist() == [1, 0, 1]
    assert list(cache.iterdir()) == []


def test_progress_goes_up_to_one_and_can_stop_the_work(tmp_path: Path, cache: Path) -> None:
    content = random.Random(1).randbytes(2 * BLOCK_BYTES).hex()
    corpus = from_files([written(tmp_path / "a", content)])
    seen: list[float] = []
    corpus.tokens(ByteTokenizer(), progress=seen.append)
    assert seen == sorted(seen)
    assert len(seen) == 4
    assert seen[-1] == 1.0
    (kept,) = cache.rglob("*.i32")
    kept.unlink()

    def stop(fraction: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        corpus.tokens(ByteTokenizer(), progress=stop)
    assert list(cache.rglob("*.*")) == []


def test_where_caches_belong(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert corpora.cache_folder() == Path(os.environ["XDG_CACHE_HOME"]) / "ngram-core"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # not allowed by its standard
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = corpora.cache_folder()
    assert folder is not None
    assert folder.is_relative_to(tmp_path)


def test_texts_larger_than_a_block_stream(tmp_path: Path) -> None:
    path = written(tmp_path / "a", b"0123456789abcde\n" * (BLOCK_BYTES // 8))
    blocks = list(from_files([path]).blocks())
    assert len(blocks) == 2
    assert b"".join(blocks) == path.read_bytes()
