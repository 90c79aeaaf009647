"""Tokens made fit to be seen: every byte visible, nothing lost, nothing that can do harm.

A token is a piece of bytes, not always a piece of text: a character can be split over
several tokens, and a text can hold blanks, controls and marks that no screen shows. A
*piece* is a token ready for display: a tuple of parts, each a string with a kind.

    ""      ordinary text
    "mark"  a visible stand-in for something unseen: a blank as ·, a line end as ↵, U+200B
    "hex"   bytes that are not whole characters, as two hex digits each
    "cut"   how much was left out of a token too long to show

The stand-ins have a kind of their own, so that a real · is never taken for a blank.
"""

from __future__ import annotations

import unicodedata
from typing import Literal, NamedTuple

Kind = Literal["", "mark", "hex", "cut"]

MAX_SHOWN = 40
"""A longer token is cut after this many characters."""

_STAND_INS = {" ": "·", "\n": "↵", "\t": "⇥", "\r": "␍", "\x7f": "␡", "\u00a0": "⍽"}
_JOINER = "\u200d"


class Part(NamedTuple):
    """A run of one kind inside a piece."""

    text: str
    kind: Kind = ""


Piece = tuple[Part, ...]


def piece_of(data: bytes) -> Piece:
    """The bytes of one token, ready for display; never empty.

    >>> piece_of(b" the")
    (Part(text='·', kind='mark'), Part(text='the', kind=''))
    >>> piece_of("é".encode()[:1])
    (Part(text='C3', kind='hex'),)
    """
    parts: list[Part] = []
    shown = 0
    for text, whole in _decoded(data[: 16 * MAX_SHOWN]):  # enough for what is shown, and quick
        for unit in _visible(text) if whole else [Part(text, "hex")]:
            if shown == MAX_SHOWN:
                rest = len(data.decode("utf-8", "replace")) - shown
                return (*parts, Part(f"… +{rest:,}", "cut"))
            shown += 1
            _append(parts, unit)
    return tuple(parts) or (Part("nothing", "mark"),)


def plain(piece: Piece) -> str:
    """The piece as one plain string, for a terminal and for a screen reader."""
    return "".join(part.text for part in piece)


def _decoded(data: bytes) -> list[tuple[str, bool]]:
    """The bytes as runs of whole characters (True) and single broken bytes as hex (False)."""
    runs: list[tuple[str, bool]] = []
    at = 0
    while at < len(data):
        try:
            runs.append((data[at:].decode("utf-8"), True))
            break
        except UnicodeDecodeError as error:
            if error.start:
                runs.append((data[at : at + error.start].decode("utf-8"), True))
            at += error.start
            width = error.end - error.start
            runs += [(f"{byte:02X}", False) for byte in data[at : at + width]]
            at += width
    return runs


def _visible(text: str) -> list[Part]:
    """One part per character, with stand-ins for those that cannot be seen alone."""
    parts = []
    for i, char in enumerate(text):
        if char in _STAND_INS:
            parts.append(Part(_STAND_INS[char], "mark"))
        elif char < " ":
            parts.append(Part(chr(0x2400 + ord(char)), "mark"))
        elif char == _JOINER and 0 < i < len(text) - 1 and _joins(text[i - 1], text[i + 1]):
            parts.append(Part(char))  # inside an emoji: part of one picture
        elif unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"):
            parts.append(Part(f"U+{ord(char):04X}", "mark"))
        elif unicodedata.category(char)[0] == "M" and (i == 0 or text[i - 1] in _STAND_INS):
            parts.append(Part("◌" + char))  # a mark with nothing to sit on gets a circle
        else:
            parts.append(Part(char))
    return parts


def _joins(before: str, after: str) -> bool:
    """Whether a joiner between these two makes one emoji of them."""
    pictures = ("So", "Sk", "Mn")  # symbols, skin tones, variation selectors
    return unicodedata.category(before) in pictures and unicodedata.category(after) == "So"


def _append(parts: list[Part], unit: Part) -> None:
    """Add a unit, joined to the last part if that is ordinary text or hex as well."""
    if parts and parts[-1].kind == unit.kind and unit.kind in ("", "hex"):
        gap = " " if unit.kind == "hex" else ""
        parts[-1] = Part(parts[-1].text + gap + unit.text, unit.kind)
    else:
        parts.append(unit)
