"""A file from the network: resumed where it stopped, and checked before anybody reads it.

Written with the standard library, since huggingface_hub (as of 2.4) begins a broken download
anew: each process has a temporary file of its own there.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from ..errors import FormatError, InputError
from .base import Progress

_BLOCK_BYTES = 1 << 18
_SECONDS = 30  # without a byte from the server
_TRIES = 3  # in a row, none of which brought a byte


@dataclass(frozen=True)
class Remote:
    """A file that is known beforehand.

    Args:
        url: where it is.
        n_bytes: its size, to tell progress by; 0 if the server is to say.
        sha256: of its content, 64 hex digits.
    """

    url: str
    n_bytes: int
    sha256: str


class _Broken(Exception):
    """The connection ended before the file did."""


def fetch(remote: Remote, path: Path, progress: Progress | None = None) -> None:
    """Gets a file; what came before an interruption (`path` with .part) is not got again.

    Args:
        remote: which file.
        path: where to put it. It is there only when it is whole and right.
        progress: called with the fraction done.

    Raises:
        InputError: no network, or no such file there.
        FormatError: what came is another file.
        OSError: it cannot be written.
    """
    part = path.with_name(f"{path.name}.part")
    part.parent.mkdir(parents=True, exist_ok=True)
    tries = _TRIES
    while True:
        before = _size(part)
        try:
            _fetch_rest(remote, part, before, progress)
            break
        except (_Broken, urllib.error.URLError, http.client.HTTPException, OSError) as error:
            if _is_final(error):
                raise _explained(remote, error) from None
            tries = _TRIES if _size(part) > before else tries - 1
            if not tries:
                raise _explained(remote, error) from None
    if _sha256(part) != remote.sha256:
        part.unlink()
        raise FormatError(
            f"{remote.url} sent another file than the one that was asked for (wrong SHA-256); it"
            " was thrown away, try again"
        )
    os.replace(part, path)


def _fetch_rest(remote: Remote, part: Path, begin: int, progress: Progress | None) -> None:
    """Appends what is missing from `begin` on."""
    request = urllib.request.Request(remote.url, headers={"User-Agent": "ngram-core"})
    if begin:
        request.add_header("Range", f"bytes={begin}-")
    try:
        response = urllib.request.urlopen(request, timeout=_SECONDS)
    except urllib.error.HTTPError as error:
        if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE and begin:
            return  # nothing is missing; or it is another file, which its SHA-256 will show
        raise
    with response:
        resumed = response.status == http.client.PARTIAL_CONTENT
        done = begin if resumed else 0  # a server may send the whole file all the same
        length = response.headers.get("Content-Length")
        total = done + int(length) if length else remote.n_bytes
        with open(part, "ab" if resumed else "wb") as file:
            while block := response.read(_BLOCK_BYTES):
                file.write(block)
                done += len(block)
                if progress is not None and total:
                    progress(min(done / total, 1.0))
    if done < total:
        raise _Broken(f"the connection broke after {done:,} of {total:,} bytes")


def _is_final(error: Exception) -> bool:
    """Whether trying again is of no use: the server's No, or a disk that takes no more."""
    if isinstance(error, urllib.error.HTTPError):
        return error.code < 500
    network = (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError)
    return not isinstance(error, (_Broken, *network))


def _explained(remote: Remote, error: Exception) -> Exception:
    if isinstance(error, urllib.error.HTTPError):
        reason = f"the server answers {error.code} {error.reason}"
    elif isinstance(error, urllib.error.URLError):
        reason = str(error.reason)
    elif _is_final(error):
        return error  # of the disk, and it says so itself
    else:
        reason = str(error) or type(error).__name__
    return InputError(
        f"could not get {remote.url} ({' '.join(reason.split())}); check the network and try"
        " again: what came so far is kept"
    )


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()
