"""Any other tokenizer: a tokenizer.json on disk, or one from the Hugging Face hub.

Needs the extra `ngram-core[tokenizers]`. As in llama.cpp, text is not normalised to NFC
first, so that it comes back byte for byte. A tokenizer that changes text in other ways
(lower-casing, say) gives back the changed text.
"""

from __future__ import annotations

import contextlib
import json
import re
import socket
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from ..errors import FormatError, InputError
from .base import PieceTokenizer, Tokens

if TYPE_CHECKING:
    import tokenizers

_FILE = "tokenizer.json"

# It does not say which of its special tokens ends a text.
_EOS_NAMES = ("<|endoftext|>", "</s>", "<|end_of_text|>", "<eos>", "[SEP]")
_ID_ON_HUB = re.compile(r"[\w.-]+/[\w.-]+")


class HubTokenizer(PieceTokenizer):
    """A tokenizer of the library `tokenizers`.

    Args:
        name: the path of a tokenizer.json, or a hub id such as "Qwen/Qwen2.5-0.5B".
    """

    piece_chars = 1 << 16  # this library takes 160 times a piece's size of memory

    def __init__(self, name: str) -> None:
        self.name = name
        engine = _load(name)
        description = json.loads(engine.to_str())
        if (description.get("normalizer") or {}).get("type") == "NFC":
            engine.normalizer = None
        engine.encode_special_tokens = True  # as plain text
        engine.no_truncation()
        engine.no_padding()
        self._engine = engine
        super().__init__(_vocabulary(engine, description))
        known = (engine.token_to_id(name) for name in _EOS_NAMES)
        self.eos = next((token for token in known if token is not None), None)

    def _encode_piece(self, piece: str) -> Tokens:
        return np.array(self._engine.encode(piece, add_special_tokens=False).ids, np.int32)


def is_hub_name(name: str) -> bool:
    """Whether a name can be meant for this module: a .json file or owner/name."""
    return name.endswith(".json") or _ID_ON_HUB.fullmatch(name) is not None


def _load(name: str) -> tokenizers.Tokenizer:
    try:
        from tokenizers import Tokenizer

        path = Path(name) if name.endswith(".json") else _from_hub(name)
    except ImportError:
        raise InputError(
            f"the tokenizer {name!r} needs an extra: pip install 'ngram-core[tokenizers]'"
        ) from None
    text = path.read_bytes()
    try:
        return Tokenizer.from_buffer(text)
    except Exception as error:  # the library raises plain Exception
        raise FormatError(f"{str(path)!r} is not a tokenizer.json: {error}") from None


def _from_hub(name: str) -> Path:
    """The tokenizer.json of a hub id: the copy on this machine, else fetched."""
    from huggingface_hub import constants, hf_hub_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    with contextlib.suppress(LocalEntryNotFoundError):
        return Path(hf_hub_download(name, _FILE, local_files_only=True))
    try:
        if not urllib.request.getproxies():
            # Fails at once without network, where the library would retry for half a minute.
            socket.getaddrinfo(urlsplit(constants.ENDPOINT).hostname, 443)
        return Path(hf_hub_download(name, _FILE))
    except Exception as error:  # many kinds: network, name, access
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(
            f"could not get the tokenizer {name!r} from the hub ({reason}); check its name and"
            " the network, or give the path of a tokenizer.json"
        ) from None


def _vocabulary(engine: tokenizers.Tokenizer, description: dict[str, Any]) -> list[bytes]:
    """The bytes of each id; ids that the tokenizer leaves out have none."""
    ids = engine.get_vocab(with_added_tokens=True)
    added = {token["id"] for token in description.get("added_tokens", ())}
    to_bytes = _byte_level if '"ByteLevel"' in json.dumps(description) else _sentence_piece
    words = [b""] * (max(ids.values(), default=-1) + 1)
    for word, i in ids.items():
        words[i] = word.encode() if i in added else to_bytes(word)
    return words


def _byte_map() -> dict[str, int]:
    """GPT-2's way of writing each byte as one printable character."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(b): b for b in printable} | {chr(256 + i): b for i, b in enumerate(others)}


_BYTE_OF = _byte_map()


def _byte_level(word: str) -> bytes:
    if all(char in _BYTE_OF for char in word):
        return bytes(_BYTE_OF[char] for char in word)
    return word.encode()


def _sentence_piece(word: str) -> bytes:
    if re.fullmatch(r"<0x[0-9A-F]{2}>", word):
        return bytes([int(word[3:5], 16)])
    return word.replace("\u2581", " ").encode()
