"""Text to token ids and back.

    >>> words = get_tokenizer("words")
    >>> words.encode("to be or not to be").tolist()
    [0, 1, 2, 3, 0, 1]

`qwen2.5` is the default: exact and offline. `words` and `bytes` are for small examples. Any
tokenizer.json, or a name on the Hugging Face hub, works with the extra `tokenizers`.
"""

from __future__ import annotations

from collections.abc import Callable

from ..errors import InputError
from .base import Tokenizer, Tokens
from .hub import HubTokenizer, is_hub_name
from .qwen import QwenTokenizer
from .toys import ByteTokenizer, WordTokenizer

DEFAULT = "qwen2.5"

_BY_NAME: dict[str, Callable[[], Tokenizer]] = {
    "qwen2.5": QwenTokenizer,
    "words": WordTokenizer,
    "bytes": ByteTokenizer,
}


def get_tokenizer(name: str = DEFAULT) -> Tokenizer:
    """The tokenizer of that name, loaded anew.

    Args:
        name: "qwen2.5", "words", "bytes", the path of a tokenizer.json, or owner/name on the
            Hugging Face hub.

    Raises:
        InputError: there is none of that name, or what it needs is not there.
        FormatError: the file is not a tokenizer.json.
        OSError: the file cannot be read.

    Cost: about 0.4 s for qwen2.5, nothing for the toys.
    """
    if name in _BY_NAME:
        return _BY_NAME[name]()
    if is_hub_name(name):
        return HubTokenizer(name)
    raise InputError(
        f"there is no tokenizer {name!r}; there are: {', '.join(_BY_NAME)}, the path of a"
        " tokenizer.json, or owner/name on the Hugging Face hub"
    )


__all__ = [
    "DEFAULT",
    "ByteTokenizer",
    "HubTokenizer",
    "QwenTokenizer",
    "Tokenizer",
    "Tokens",
    "WordTokenizer",
    "get_tokenizer",
]
