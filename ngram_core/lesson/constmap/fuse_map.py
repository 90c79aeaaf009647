"""A fuse map small enough to build by hand: its keys, cells and peeling, and what it answers.

All numbers are the engine's: the cells of each seed, the order in which it peeled, what it wrote,
and one recorded look-up for each pair of words. The page moves through them alone; the sentences
here are the ones it shows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from ... import inside
from ...caches import NgramCache
from ...errors import InputError
from ...inside import FuseLookup
from ...toggles import CONSTMAP
from ..figures import plural

NOTES = "do not tell ada about the cake do not tell ada about the party"
"""Two of yesterday's notes; the engine's first seed peels their map."""

RHYME = "this is the house that jack built this is the malt that"
"""The engine's first seed leaves some keys of its map stuck."""

MOST_KEYS = 12
MOST_WORDS = 12  # different ones: each is looked up with each
LONGEST_WORD = 24

LETTERS = "ABCDEFGHIJKL"


@dataclass(frozen=True)
class Key:
    """A 2-gram in the map, and the place of its followers."""

    letter: str
    words: tuple[str, str]
    tokens: tuple[int, int]
    position: int
    length: int

    @property
    def name(self) -> str:
        return " ".join(self.words)


@dataclass
class Hand:
    """How far the reader is: which seed, which keys are peeled, how many cells are filled."""

    attempt: int = 0
    taken: list[tuple[int, int]] = field(default_factory=list)  #: key, and its cell
    tapped: int = -1  #: the cell pressed last, if nothing could be taken there
    filled: int = 0


class FuseMap:
    """The constmap of a few words.

    Args:
        text: words between blanks; 2 to 12 different 2-grams of at most 12 different words.

    Raises:
        InputError: too few, too many, or too long words.
    """

    def __init__(self, text: str = NOTES) -> None:
        self.words, tokens = _words(text)
        self.text = " ".join(text.split())
        keys = list(dict.fromkeys(pairwise(tokens[:-1])))
        if not 2 <= len(keys) <= MOST_KEYS:
            raise InputError(
                f"that text has {plural(len(keys), '2-gram')} with a follower; from 2 to"
                f" {MOST_KEYS} can be built by hand"
            )
        with NgramCache.build_static(tokens, CONSTMAP.toggles) as cache:
            self.pairs = [
                (self.words[token], int(count))
                for key in keys
                for token, count in zip(*cache.followers(key), strict=True)
            ]
            n_words = len(self.words)
            self.lookups = [
                [inside.fuse_look_up(cache, (a, b)) for b in range(n_words)] for a in range(n_words)
            ]
        found = [self.lookups[a][b] for a, b in keys]
        self.keys = [
            Key(letter, (self.words[a], self.words[b]), (a, b), look.position, look.length)
            for letter, (a, b), look in zip(LETTERS, keys, found, strict=False)
        ]
        self.built = inside.peeling(keys, np.array([look.value for look in found], np.uint64))
        self.attempts = [inside.fuse_attempt(keys, nth + 1) for nth in range(self.built.n_attempts)]
        self.order = [(int(step["key"]), int(step["cell"])) for step in self.built.peeled]

    # ---- peeling and filling -------------------------------------------------------------------

    def cells(self, attempt: int) -> list[list[int]]:
        """The three cells of each key with the seed of that attempt, from 0 on."""
        cells: list[list[int]] = self.attempts[attempt][1].tolist()
        return cells

    def inside_cell(self, hand: Hand, cell: int) -> list[int]:
        """The keys that still wait in a cell."""
        gone = {key for key, _ in hand.taken}
        return [
            key
            for key, own in enumerate(self.cells(hand.attempt))
            if cell in own and key not in gone
        ]

    def stuck(self, hand: Hand) -> bool:
        """Whether keys are left and none is alone in a cell."""
        if len(hand.taken) == len(self.keys):
            return False
        return all(len(self.inside_cell(hand, cell)) != 1 for cell in range(self.built.n_cells))

    def press(self, hand: Hand, cell: int) -> None:
        """Takes the key that is alone in a cell; any other cell is only remembered."""
        keys = self.inside_cell(hand, cell)
        hand.tapped = -1 if len(keys) == 1 else cell
        if len(keys) == 1:
            hand.taken.append((keys[0], cell))

    def sentence(self, hand: Hand) -> str:
        """What the page says there."""
        said = self._templates()
        if hand.filled:
            return str(said["fill"][hand.filled - 1])
        if hand.tapped >= 0:
            keys = self.inside_cell(hand, hand.tapped)
            name = "wrong" if keys else "empty"
            listed = _listed(self._letters(keys))
            return str(said[name]).format(cell=hand.tapped, keys=listed)
        line = ""
        if hand.taken:
            key, cell = hand.taken[-1]
            own = self.cells(hand.attempt)[key]
            line = str(said["taken"][hand.attempt][key][own.index(cell)])
        if self.stuck(hand):
            gone = {key for key, _ in hand.taken}
            left = [key for key in range(len(self.keys)) if key not in gone]
            listed = _listed(self._letters(left))
            return _joined(line, said["stuck"].format(n=len(left), keys=listed))
        if len(hand.taken) == len(self.keys):
            return _joined(line, said["done"])
        return line or str(said["start"][hand.attempt])

    def _letters(self, keys: list[int]) -> list[str]:
        return [self.keys[key].letter for key in keys]

    def _templates(self) -> dict[str, Any]:
        n, cells = len(self.keys), self.built.n_cells
        first = f"{n} keys in {cells} cells, three cells each. Find a cell with one letter."
        again = f"The next seed gives each key three other cells. {first}"
        return {
            "start": [first] + [again] * (len(self.attempts) - 1),
            "taken": [
                [[self._taken(key, own, cell) for cell in own] for key, own in enumerate(cells_of)]
                for cells_of in map(self.cells, range(len(self.attempts)))
            ],
            "wrong": "Cell {cell} holds {keys}: their values are mixed there."
            " Take a cell with one letter.",
            "empty": "Cell {cell} is empty: nobody needs it.",
            "stuck": "Stuck: {n} keys are left, {keys}, and none is alone in a cell."
            " Try the next seed.",
            "done": f"All {n} are peeled. Next: fill the cells, the last one peeled first.",
            "fill": [self._filled(i) for i in range(n)],
        }

    def _taken(self, key: int, own: list[int], cell: int) -> str:
        letter, name = self.keys[key].letter, self.keys[key].name
        others = _listed([str(other) for other in own if other != cell])
        return (
            f"Cell {cell} holds {letter} alone, so {letter} (“{name}”) is peeled:"
            f" it leaves its other cells, {others}, too."
        )

    def _filled(self, i: int) -> str:
        key, cell = self.order[len(self.order) - 1 - i]
        step, one = self.built.assigned[i], self.keys[key]
        before = self._data_before(i)
        own = self.cells(-1)[key]
        others = " and ".join(f"{c} ({place(before[c])})" for c in own if c != cell)
        when = "was peeled last, so it is written first" if i == 0 else "is next"
        end = " All cells are filled." if i == len(self.order) - 1 else ""
        return (
            f"{one.letter} {when}: {place(one.position << 24 | one.length)} xor cells {others}"
            f" gives {place(int(step['data']))}, into its own cell {cell}.{end}"
        )

    def _data_before(self, i: int) -> dict[int, int]:
        data = dict.fromkeys(range(self.built.n_cells), 0)
        for step in self.built.assigned[:i]:
            data[int(step["cell"])] = int(step["data"])
        return data

    # ---- looking up ---------------------------------------------------------------------------

    def plausible(self, look: FuseLookup) -> bool:
        """Whether a value could be a place: somebody's followers stand there."""
        return look.length >= 1 and look.position + look.length <= len(self.pairs)

    def accepted(self, look: FuseLookup, verify: bool) -> bool:
        """Whether the map answers, with the check or without."""
        return look.verdict == "found" or (not verify and self.plausible(look))

    def owners(self, look: FuseLookup) -> list[Key]:
        """The keys whose followers stand where a value leads."""
        start, stop = look.position, look.position + look.length
        return [
            key for key in self.keys if key.position < stop and key.position + key.length > start
        ]

    def said(self, look: FuseLookup, verify: bool) -> str:
        """A look-up in one sentence."""
        name = "“" + " ".join(self.words[token] for token in look.ngram) + "”"
        there = place(look.value)
        if look.verdict == "found":
            read = f"{plural(look.length, 'follower')} from position {look.position}: "
            read += self._read(look)
            if verify:
                return (
                    f"Verified: the checks of {name} xor to what they must. {there} means {read}."
                )
            return f"Accepted: {name} has {read}. Nobody checked, and this time it was right."
        if verify:
            return (
                f"Refused: the checks of {name} xor to {self.digits(look.check)} and must be"
                f" {self.digits(look.needed)}. It was never put in; nothing is read."
            )
        if not self.plausible(look):
            why = "no key has 0 followers" if not look.length else "no followers stand there"
            return (
                f"No answer, by luck: {name} was never put in, its cells xor to {there}, and {why}."
            )
        owners = " and ".join(f"“{key.name}”" for key in self.owners(look))
        return (
            f"Accepted, and wrong: {name} was never put in, but its cells xor to {there}, which"
            f" reads {self._read(look)}: followers of {owners}."
        )

    def _read(self, look: FuseLookup) -> str:
        read = self.pairs[look.position : look.position + look.length]
        return ", ".join(f"{word} × {count}" for word, count in read)

    def digits(self, check: int) -> str:
        """The first hex digits of a check, as many as tell all that are shown apart."""
        return f"{check:016x}"[: self._n_digits()]

    def _n_digits(self) -> int:
        looks = [look for row in self.lookups for look in row]
        for n in (4, 8, 12):
            if all(
                look.check == look.needed or f"{look.check:016x}"[:n] != f"{look.needed:016x}"[:n]
                for look in looks
            ):
                return n
        return 16

    def forged(self) -> list[tuple[int, int]]:
        """Pairs that were never put in, and that a map without checks answers."""
        return [
            look.ngram
            for row in self.lookups
            for look in row
            if look.verdict != "found" and self.plausible(look)
        ]

    # ---- for the page -------------------------------------------------------------------------

    def document(self) -> dict[str, Any]:
        """All that the page needs, as plain data."""
        return {
            "text": self.text,
            "words": self.words,
            "keys": [
                [key.letter, key.name, list(key.tokens), place(key.position << 24 | key.length)]
                for key in self.keys
            ],
            "n_cells": self.built.n_cells,
            "segment": self.built.segment_length,
            "attempts": [self.cells(i) for i in range(len(self.attempts))],
            "order": self.order,
            "filled": [
                [int(s["cell"]), place(int(s["data"])), self.digits(int(s["check"]))]
                for s in self.built.assigned
            ],
            "said": self._templates(),
            "pairs": self.pairs,
            "lookups": [[self._lookup(look) for look in row] for row in self.lookups],
            "forged": self.forged(),
        }

    def _lookup(self, look: FuseLookup) -> dict[str, Any]:
        return {
            "cells": look.cells,
            "data": [place(number) for number in look.data],
            "checks": [self.digits(number) for number in look.checks],
            "value": place(look.value),
            "check": self.digits(look.check),
            "needed": self.digits(look.needed),
            "equal": look.check == look.needed,
            "read": [look.position, look.length],
            "found": look.verdict == "found",
            "plausible": self.plausible(look),
            "said": [self.said(look, False), self.said(look, True)],
        }


def place(value: int) -> str:
    """A value as position and length, as the map packs them into one number.

    >>> place(4 << 24 | 2)
    '4·2'
    """
    return f"{value >> 24}·{value & 0xFFFFFF}"


def _words(text: str) -> tuple[list[str], list[int]]:
    known: dict[str, int] = {}
    tokens = [known.setdefault(word, len(known)) for word in text.split()]
    if len(tokens) < 4:
        raise InputError("four words are needed: two keys, and what follows them")
    if len(known) > MOST_WORDS:
        raise InputError(f"that has {len(known)} different words; at most {MOST_WORDS} fit here")
    longest = max(known, key=len)
    if len(longest) > LONGEST_WORD:
        raise InputError(f"“{longest[:LONGEST_WORD]}…” is longer than {LONGEST_WORD} characters")
    return list(known), tokens


def _listed(names: list[str]) -> str:
    """ "A", "A and B", "A, B and C"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)
