"""WikiText from its public datasets, byte for byte as it was published.

WikiText-103 comes from two parquet files (314 MB) of the dataset Salesforce/wikitext, WikiText-2
and the test text that both share from a zip file of ggml-org/ci. All at pinned revisions,
checked by SHA-256. The datasets are Wikipedia's text under CC BY-SA and GFDL (Merity et al.,
"Pointer Sentinel Mixture Models", 2016). A row of the parquet files is a line with its newline;
an empty row stands for the line " \\n".

The restored text is kept in the user's cache folder; the files it came in are not.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import FormatError, InputError
from ..files import atomic_write
from .base import Progress, cache_folder
from .download import Remote, fetch
from .files import Corpus

_PARQUET = (
    "datasets/Salesforce/wikitext/resolve/b08601e04326c79dfdd32d625aee71d232d685c3/"
    "wikitext-103-raw-v1/train-0000{}-of-00002.parquet"
)
_ZIP = "datasets/ggml-org/ci/resolve/927b3642933080f1b0e811e2f916e14c292992f9/wikitext-2-raw-v1.zip"
_ZIP_SHA256 = "ef7edb566e3e2b2d31b29c1fdb0c89a4cc683597484c3dc2517919c615435a11"

_BLOCK_BYTES = 1 << 20

WIKITEXTS = {
    "wikitext-103": "541 MB of Wikipedia, the article's corpus; downloaded (extra: wikitext)",
    "wikitext-2": "11 MB of Wikipedia; downloaded",
    "wikitext-test": "1.3 MB of Wikipedia, the text that the article replays; downloaded",
}
"""Name -> what it is."""


@dataclass(frozen=True)
class _Source:
    """Where a text comes from.

    Args:
        remotes: its files; addresses are below the hub's.
        restore: the text in those files.
        sha256: of the text, where it is known.
    """

    remotes: tuple[Remote, ...]
    restore: Callable[[list[Path]], Iterator[bytes]]
    sha256: str | None = None


def _from_parquet(paths: list[Path]) -> Iterator[bytes]:
    from pyarrow import parquet

    for path in paths:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(columns=["text"]):
                rows = batch.column(0).to_pylist()
                yield "".join(row or " \n" for row in rows).encode()


def _from_zip(member: str) -> Callable[[list[Path]], Iterator[bytes]]:
    def restore(paths: list[Path]) -> Iterator[bytes]:
        with zipfile.ZipFile(paths[0]) as archive, archive.open(member) as file:
            while block := file.read(_BLOCK_BYTES):
                yield block

    return restore


_ZIP_FILE = (Remote(_ZIP, 0, _ZIP_SHA256),)

_SOURCES = {
    "wikitext-103": _Source(
        (
            Remote(
                _PARQUET.format(0),
                156_987_808,
                "74da360f23826045b3e6ac6375411fdb15f003030aa74f2596ed08b857cb9212",
            ),
            Remote(
                _PARQUET.format(1),
                157_088_770,
                "ba090ac30dbf5461e8dcbdd1a1b8e6f3cf9c2c756d64f0c1220450acd514f720",
            ),
        ),
        _from_parquet,
    ),
    "wikitext-2": _Source(_ZIP_FILE, _from_zip("wikitext-2-raw/wiki.train.raw")),
    "wikitext-test": _Source(
        _ZIP_FILE,
        _from_zip("wikitext-2-raw/wiki.test.raw"),
        "173c87a53759e0201f33e0ccf978e510c2042d7f2cb78229d9a50d79b9e7dd08",
    ),
}


def wikitext(name: str = "wikitext-103", progress: Progress | None = None) -> Corpus:
    """One of the texts above; the first time it is downloaded.

    Args:
        name: one of `WIKITEXTS`.
        progress: called with the fraction done of the download.

    Raises:
        InputError: no network, no such text, or pyarrow (for wikitext-103) is not installed.
        FormatError: what came is not what was published.
        OSError: it cannot be written.
    """
    if name not in WIKITEXTS:
        raise InputError(f"there is no text {name!r}; there are: {', '.join(WIKITEXTS)}")
    folder = cache_folder()
    if folder is None:
        raise InputError("this system names no folder for caches; set XDG_CACHE_HOME to one")
    path = folder / "wikitext" / f"{name}.txt"
    return _kept(name, path) or _loaded(name, path, progress)


def _kept(name: str, path: Path) -> Corpus | None:
    """The text as it was restored before, or None if it is not there in its full size."""
    try:
        facts = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        corpus = Corpus(name, (path,), int(facts["n_bytes"]), str(facts["sha256"]))
        return corpus if path.stat().st_size == corpus.n_bytes else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _loaded(name: str, path: Path, progress: Progress | None) -> Corpus:
    source = _SOURCES[name]
    if source.restore is _from_parquet:
        _need_pyarrow(name)
    hub = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    downloads = [path.with_name(remote.url.rpartition("/")[2]) for remote in source.remotes]
    for i, (remote, download) in enumerate(zip(source.remotes, downloads, strict=True)):
        whole = Remote(f"{hub.rstrip('/')}/{remote.url}", remote.n_bytes, remote.sha256)
        if not download.exists():
            fetch(whole, download, _share(progress, i, len(downloads)))
    digest, n_bytes = hashlib.sha256(), 0
    with atomic_write(path) as file:
        for block in source.restore(downloads):
            file.write(block)
            digest.update(block)
            n_bytes += len(block)
        if source.sha256 not in (None, digest.hexdigest()):
            raise FormatError(f"{name} came out other than it was published (wrong SHA-256)")
    facts = {"n_bytes": n_bytes, "sha256": digest.hexdigest()}
    with atomic_write(path.with_suffix(".json")) as file:
        file.write(json.dumps(facts).encode())
    for download in downloads:
        download.unlink()
    if progress is not None:
        progress(1.0)
    return Corpus(name, (path,), n_bytes, digest.hexdigest())


def _share(progress: Progress | None, i: int, n: int) -> Progress | None:
    """Progress of one file of n, told as progress of all of them (their sizes are alike)."""
    if progress is None:
        return None
    return lambda fraction: progress((i + fraction) / n)


def _need_pyarrow(name: str) -> None:
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise InputError(f"{name} needs an extra: pip install 'ngram-core[wikitext]'") from None
