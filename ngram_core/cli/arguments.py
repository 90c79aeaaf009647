"""Words of the command line: their grammar and their checks."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import NoReturn, Protocol


class UsageError(Exception):
    """Words that no input could make right: exit code 2."""


class Parser(argparse.ArgumentParser):
    """argparse, but an error is one line."""

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings, allow_abbrev=False)  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        line = " ".join(message.split())
        print(f"{self.prog}: {line}; see {self.prog} --help", file=sys.stderr)
        sys.exit(2)


class Commands(Protocol):
    """What `add_subparsers` gives."""

    def add_parser(self, name: str, *, help: str, description: str) -> Parser: ...


def a_path(word: str) -> str:
    """The type of an argument that names a file or a folder."""
    if not word:
        raise argparse.ArgumentTypeError("an empty path; name a file")
    if "\0" in word:
        raise argparse.ArgumentTypeError("a path cannot hold a NUL byte")
    return word


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """The type of an argument that is a whole number in low..high."""

    def number(word: str) -> int:
        try:
            value = int(word)
        except ValueError:
            value = low - 1
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(
                f"need a whole number from {low} to {high}, not {word!r}"
            )
        return value

    return number


_UNITS = {"": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def a_size(word: str) -> int:
    """The type of an argument that is a number of bytes, such as 100000 or 100MB."""
    units = {unit.lower(): factor for unit, factor in _UNITS.items()}
    digits = word.rstrip("".join(_UNITS) + "kbmgi ")
    factor = units.get(word[len(digits) :].strip().lower())
    if factor is None or not (digits.isascii() and digits.isdigit()):
        raise argparse.ArgumentTypeError(f"need bytes, as 100000 or 100MB, not {word!r}")
    value = int(digits) * factor if len(digits) < 20 else 0
    if not 0 < value < 2**62:
        raise argparse.ArgumentTypeError(f"{word} is no size that a cache can have")
    return value


def a_setting(word: str) -> tuple[str, str | bool]:
    """The type of an argument of the form toggle=value."""
    name, equals, value = word.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"need the form toggle=value, not {word!r}")
    return name, {"true": True, "false": False}.get(value.lower(), value)


def add_source(parser: Parser, several_texts: bool) -> None:
    """The arguments that say where tokens come from; `inputs.tokens_of` reads them."""
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--tokens", type=a_path, metavar="F.i32", help="a file of raw little-endian int32 ids"
    )
    source.add_argument(
        "--text",
        type=a_path,
        metavar="F",
        nargs="+" if several_texts else None,
        help="UTF-8 text" + (", one file after the other" if several_texts else ""),
    )
    parser.add_argument(
        "--tokenizer",
        metavar="T",
        help="qwen2.5 (default), words, bytes, a tokenizer.json, or owner/name on the Hugging Face"
        " hub; with --tokens: what the ids are of",
    )
