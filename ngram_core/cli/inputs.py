"""What the commands read."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .. import corpora
from ..errors import InputError
from ..files import open_file
from ..token_files import read_token_blocks, read_tokens
from ..tokenizers import DEFAULT, Tokenizer, Tokens, get_tokenizer
from .bar import Bar

if TYPE_CHECKING:
    from ..caches import NgramCache
    from ..toggles import Toggles

Progress = Callable[[float], None]


def tokens_of(arguments: Namespace) -> tuple[Tokens, Tokenizer | None]:
    """The tokens that --tokens or --text name, and what they are of if that is known."""
    if arguments.tokens is not None:
        known = arguments.tokenizer is not None
        tokenizer = get_tokenizer(arguments.tokenizer) if known else None
        n_vocab = None if tokenizer is None or tokenizer.grows else tokenizer.n_vocab
        return read_tokens(arguments.tokens, n_vocab), tokenizer
    paths = [arguments.text] if isinstance(arguments.text, str) else arguments.text
    text = corpora.from_files(paths)  # before the tokenizer, which takes half a second
    tokenizer = get_tokenizer(DEFAULT if arguments.tokenizer is None else arguments.tokenizer)
    with Bar("encoding") as bar:
        tokens = text.tokens(tokenizer, progress=bar, keep=False)
    if not len(tokens):
        raise InputError(f"{text.name} has no tokens of {tokenizer.name}; name a text with words")
    return tokens, tokenizer


def tokenizer_of(arguments: Namespace) -> Tokenizer | None:
    """What the tokens of --tokens or --text are of, None if that is not known."""
    if arguments.tokens is not None and arguments.tokenizer is None:
        return None
    return get_tokenizer(DEFAULT if arguments.tokenizer is None else arguments.tokenizer)


def source_name(arguments: Namespace) -> str:
    """The files that --tokens or --text name, without their folders."""
    from ..merging import corpora_note

    paths = arguments.tokens or arguments.text
    names: list[str | None] = [
        Path(path).name or str(path) for path in ([paths] if isinstance(paths, str) else paths)
    ]
    return corpora_note(names)


def token_blocks_of(
    arguments: Namespace, tokenizer: Tokenizer | None, progress: Progress
) -> Iterator[Tokens]:
    """The same tokens in blocks, so that a corpus may be larger than memory."""
    if arguments.tokens is not None:
        n_vocab = None if tokenizer is None or tokenizer.grows else tokenizer.n_vocab
        yield from read_token_blocks(arguments.tokens, n_vocab, progress)
        return
    paths = [arguments.text] if isinstance(arguments.text, str) else arguments.text
    assert tokenizer is not None, "a text is encoded by something"
    yield from _encoded_blocks(paths, tokenizer, progress)


def texts_of(
    arguments: Namespace, tokenizer: Tokenizer | None, progress: Progress
) -> Iterator[Iterator[Tokens]]:
    """The same, each text of --text for itself."""
    if arguments.tokens is not None:
        yield token_blocks_of(arguments, tokenizer, progress)
        return
    assert tokenizer is not None, "a text is encoded by something"
    n_done, n_texts = 0, len(arguments.text)

    def of_all(fraction: float) -> None:
        progress((n_done + fraction) / n_texts)

    for path in arguments.text:
        yield _encoded_blocks([path], tokenizer, of_all)
        n_done += 1


def _encoded_blocks(paths: list[str], tokenizer: Tokenizer, progress: Progress) -> Iterator[Tokens]:
    text = corpora.from_files(paths)
    done = 0

    def told() -> Iterator[bytes]:
        nonlocal done
        for block in text.blocks():
            yield block
            done += len(block)
            progress(done / text.n_bytes)

    yield from tokenizer.encode_blocks(told(), text.name)


def open_cache(
    path: str, toggles: Toggles, static: bool = False, tokenizer: Tokenizer | None = None
) -> NgramCache:
    """A cache file, with notes on stderr about what a static cache leaves out or cannot give."""
    from ..caches import NgramCache
    from ..static_file import MAGIC

    with Bar("loading") as bar:
        cache = NgramCache.open(path, toggles, static=static, progress=bar, tokenizer=tokenizer)
    if toggles.ties == "library":
        with open_file(path) as (file, _):
            if file.read(len(MAGIC)) == MAGIC:
                note(
                    f"{path!r} does not keep the order of llama.cpp's maps: with ties=library equal"
                    " scores may fall to other tokens than there; a legacy file keeps it"
                )
    left_out = cache.load_report.n_left_out if cache.load_report else 0
    if left_out:
        note(f"{path!r} holds {left_out:,} n-grams that are not of 2 tokens; they are left out")
    return cache


def note(message: str) -> None:
    """Something worth knowing that is no error."""
    print(f"ngram-core: note: {' '.join(message.split())}", file=sys.stderr)
