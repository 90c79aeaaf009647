"""The real loading code, against a server on this machine with small files of the same formats."""

from __future__ import annotations

import dataclasses
import hashlib
import http.server
import io
import socket
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import golden
import pytest

from ngram_core.corpora import download, get_corpus, wikitext, wikitexts
from ngram_core.errors import FormatError, InputError
from ngram_core.tokenizers import ByteTokenizer

LINES = [" \n", " = A title = \n", " \n", " Some text , with 3 @,@ 000 words and an é . \n"]
TEXT = "".join(LINES * 50).encode()


class Hub(http.server.ThreadingHTTPServer):
    """Serves files, with the faults that a test asks for.

    Args:
        files: address -> content.
        break_after: how many bytes each answer sends before the connection ends; None for all.
        ranges: whether to serve parts.
        begun: the first byte of each answer so far.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.break_after: int | None = None
        self.ranges = True
        self.begun: list[int] = []
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Hub

    def log_message(self, *args: Any) -> None: ...

    def do_GET(self) -> None:
        hub = self.server
        if self.path.startswith("/datasets/"):  # as the hub does, which keeps big files elsewhere
            self.send_response(302)
            self.send_header("Location", f"{hub.url}/store{self.path}")
            self.end_headers()
            return
        content = hub.files.get(self.path.removeprefix("/store/"))
        if content is None:
            self.send_error(404)
            return
        wanted = self.headers.get("Range", "") if hub.ranges else ""
        begin = int(wanted.removeprefix("bytes=").rstrip("-") or 0)
        if begin and begin >= len(content):
            self.send_error(416)
            return
        hub.begun.append(begin)
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(content) - begin))
        self.end_headers()
        end = len(content) if hub.break_after is None else begin + hub.break_after
        self.wfile.write(content[begin:end])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the texts are kept in this test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "ngram-core" / "wikitext"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """The hub, with files of our own under the pinned addresses."""
    with Hub() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server
        server.shutdown()
        thread.join()


def offer(hub: Hub, monkeypatch: pytest.MonkeyPatch, name: str, contents: list[bytes]) -> None:
    """Puts contents at the addresses of a text, with their checksums."""
    source = wikitexts._SOURCES[name]
    remotes = tuple(
        dataclasses.replace(remote, sha256=hashlib.sha256(content).hexdigest())
        for remote, content in zip(source.remotes, contents, strict=True)
    )
    hub.files = {r.url: content for r, content in zip(remotes, contents, strict=True)}
    known = source.sha256 and hashlib.sha256(TEXT).hexdigest()
    changed = dataclasses.replace(source, remotes=remotes, sha256=known)
    monkeypatch.setitem(wikitexts._SOURCES, name, changed)


def zipped(text: bytes = TEXT) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("wikitext-2-raw/wiki.test.raw", text)
        archive.writestr("wikitext-2-raw/wiki.train.raw", text * 3)
    return file.getvalue()


def parquet(lines: list[str]) -> bytes:
    """As the dataset keeps lines: a line without a word is an empty row."""
    pyarrow = pytest.importorskip("pyarrow", reason="needs the extra wikitext")
    from pyarrow import parquet

    file = io.BytesIO()
    rows = [line if line.strip() else "" for line in lines]
    parquet.write_table(pyarrow.table({"text": rows}), file, row_group_size=1000)
    return file.getvalue()


def read(name: str) -> bytes:
    return b"".join(wikitext(name).blocks())


# ---- the texts ------------------------------------------------------------------------------


def test_parquet_rows_become_the_lines_again(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    offer(hub, monkeypatch, "wikitext-103", [parquet(LINES * 20), parquet(LINES * 30)])
    corpus = wikitext()
    assert b"".join(corpus.blocks()) == TEXT
    assert (corpus.name, corpus.n_bytes) == ("wikitext-103", len(TEXT))
    assert corpus.digest == hashlib.sha256(TEXT).hexdigest()
    assert sorted(path.name for path in folder.iterdir()) == [
        "wikitext-103.json",
        "wikitext-103.txt",
    ]


def test_the_first_megabytes_end_at_a_newline(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(hub, monkeypatch, "wikitext-2", [zipped()])
    corpus = get_corpus("wikitext-2")
    part = b"".join(corpus.blocks(1000))
    assert (TEXT * 3).startswith(part)
    assert part == TEXT[: TEXT.rfind(b"\n", 0, 1000) + 1]
    assert bytes(corpus.tokens(ByteTokenizer(), 1000).astype("u1")) == part


def test_the_zip_file_holds_both_texts(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(hub, monkeypatch, "wikitext-test", [zipped()])
    offer(hub, monkeypatch, "wikitext-2", [zipped()])
    assert read("wikitext-test") == TEXT
    assert read("wikitext-2") == TEXT * 3


@pytest.mark.skipif(
    not (golden.SHARED / "data" / "wiki.test.raw").exists(), reason="needs data/wiki.test.raw"
)
def test_the_real_test_text_comes_back_from_rows(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bytes are those whose SHA-256 the code knows, and survive the way through rows."""
    content = (golden.SHARED / "data" / "wiki.test.raw").read_bytes()
    assert hashlib.sha256(content).hexdigest() == wikitexts._SOURCES["wikitext-test"].sha256
    lines = content.decode().splitlines(keepends=True)
    half = len(lines) // 2
    offer(hub, monkeypatch, "wikitext-103", [parquet(lines[:half]), parquet(lines[half:])])
    assert read("wikitext-103") == content


def test_what_was_restored_needs_no_network(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(hub, monkeypatch, "wikitext-2", [zipped()])
    first = wikitext("wikitext-2")
    hub.files.clear()
    assert wikitext("wikitext-2") == first
    assert len(hub.begun) == 1


def test_a_shortened_copy_is_made_anew(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    offer(hub, monkeypatch, "wikitext-2", [zipped()])
    wikitext("wikitext-2")
    for spoilt, content in (("wikitext-2.txt", b"short"), ("wikitext-2.json", b"{}")):
        (folder / spoilt).write_bytes(content)
        assert read("wikitext-2") == TEXT * 3
    assert len(hub.begun) == 3


def test_the_pins_are_the_published_ones() -> None:
    sources = wikitexts._SOURCES
    assert [r.n_bytes for r in sources["wikitext-103"].remotes] == [156_987_808, 157_088_770]
    for source in sources.values():
        for remote in source.remotes:
            assert len(bytes.fromhex(remote.sha256)) == 32
            assert remote.url.split("/")[3] == "resolve"
            assert len(bytes.fromhex(remote.url.split("/")[4])) == 20


# ---- interruptions --------------------------------------------------------------------------


def test_a_broken_download_goes_on_where_it_broke(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = zipped()
    offer(hub, monkeypatch, "wikitext-2", [content])
    hub.break_after = len(content) // 3 + 1
    assert read("wikitext-2") == TEXT * 3
    assert hub.begun == [0, hub.break_after, 2 * hub.break_after]


def test_a_stopped_download_goes_on_next_time(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    content = zipped()
    offer(hub, monkeypatch, "wikitext-2", [content])
    monkeypatch.setattr(download, "_BLOCK_BYTES", 100)

    def stop(fraction: float) -> None:
        if fraction > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wikitext("wikitext-2", stop)
    (part,) = folder.iterdir()
    assert part.name == "wikitext-2-raw-v1.zip.part"
    kept = part.stat().st_size
    assert len(content) // 2 <= kept < len(content)
    assert read("wikitext-2") == TEXT * 3
    assert hub.begun == [0, kept]


def test_a_server_without_parts_sends_all_again(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    offer(hub, monkeypatch, "wikitext-2", [zipped()])
    folder.mkdir(parents=True)
    (folder / "wikitext-2-raw-v1.zip.part").write_bytes(b"what came before")
    hub.ranges = False
    assert read("wikitext-2") == TEXT * 3
    assert hub.begun == [0]


def test_a_whole_part_is_only_checked(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    content = zipped()
    offer(hub, monkeypatch, "wikitext-2", [content])
    folder.mkdir(parents=True)
    (folder / "wikitext-2-raw-v1.zip.part").write_bytes(content)
    assert read("wikitext-2") == TEXT * 3
    assert hub.begun == []


def test_progress_goes_up_to_one(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(hub, monkeypatch, "wikitext-103", [parquet(LINES), parquet(LINES)])
    monkeypatch.setattr(download, "_BLOCK_BYTES", 100)
    seen: list[float] = []
    get_corpus("wikitext-103", progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert len(seen) > 10


# ---- errors ---------------------------------------------------------------------------------


def one_line(error: pytest.ExceptionInfo[Exception]) -> str:
    line = str(error.value)
    assert "\n" not in line
    return line


def test_a_wrong_checksum_throws_the_file_away(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    offer(hub, monkeypatch, "wikitext-2", [zipped()])
    (url,) = hub.files
    hub.files[url] = b"x" + hub.files[url]
    with pytest.raises(FormatError) as error:
        wikitext("wikitext-2")
    assert "wrong SHA-256" in one_line(error)
    assert list(folder.iterdir()) == []


def test_a_text_that_comes_out_wrong_is_not_kept(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    offer(hub, monkeypatch, "wikitext-test", [zipped(b"another text\n")])
    with pytest.raises(FormatError) as error:
        wikitext("wikitext-test")
    assert "wikitext-test came out other than" in one_line(error)
    assert [path.name for path in folder.iterdir()] == ["wikitext-2-raw-v1.zip"]


def test_a_file_that_is_not_there(hub: Hub) -> None:
    with pytest.raises(InputError) as error:
        wikitext("wikitext-2")
    assert "the server answers 404" in one_line(error)
    assert hub.url in str(error.value)


def test_a_server_that_breaks_every_time(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    offer(hub, monkeypatch, "wikitext-2", [zipped()])
    hub.break_after = 0
    with pytest.raises(InputError) as error:
        wikitext("wikitext-2")
    assert "the connection broke after 0 of" in one_line(error)
    assert len(hub.begun) == 3


def test_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{port}")
    with pytest.raises(InputError) as error:
        wikitext("wikitext-2")
    assert "check the network" in one_line(error)


def test_a_missing_extra_is_told_before_the_download(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(InputError) as error:
        wikitext("wikitext-103")
    assert one_line(error) == ("wikitext-103 needs an extra: pip install 'ngram-core[wikitext]'")


def test_unknown_names() -> None:
    with pytest.raises(InputError, match="there is no text 'wikitext-4'; there are: wikitext-103,"):
        wikitext("wikitext-4")


def test_no_place_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hub: Hub) -> None:
    offer(hub, monkeypatch, "wikitext-2", [zipped()])
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(NotADirectoryError):
        wikitext("wikitext-2")
