"""One n-gram looked up in a chained table and in a flat one, place by place.

Both tables hold the recipe's n-grams and have one hash; what stands where, and which places a
look-up visits, is the engine's own record.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import Any

from ...caches import NgramCache
from ...inside import Place, TableAround, TableReport, table_report
from ...toggles import NOCOPY, OUTERMAP, Hash, Toggles
from ...tokenizers import Tokenizer, get_tokenizer
from ..examples import RECIPE
from ..figures import plural
from ..steps import Case, Group, Pictures, Said, StepsModel

CHAINED = NOCOPY.toggles
FLAT = OUTERMAP.toggles

KEYS = (
    ("stir and", ""),
    ("and stir", "the same two words, turned round"),
    ("flour into", ""),
    ("the flour into the", "four words, of which one stands twice"),
    ("stir and stir and", "each word stands twice"),
    ("until", ""),
    ("stir the", "is not there"),
    ("cream rest", "is not there"),
)

HASHES: tuple[tuple[Hash, str], ...] = (
    ("xor", "llama.cpp’s: a product for each token, joined by xor, so that order is lost"),
    ("mixed", "ours: each place in the n-gram is mixed in differently"),
)


class Tables:
    """The recipe's n-grams in both structures, with one hash."""

    def __init__(self, hash_name: Hash, text: str = RECIPE) -> None:
        self.words: Tokenizer = get_tokenizer("words")
        tokens = self.words.encode(text)
        self.chained, self.flat = (
            _filled(toggles.set(hash=hash_name), tokens) for toggles in (CHAINED, FLAT)
        )

    def around(self, ngram: str) -> tuple[TableAround, TableAround]:
        """What stands around an n-gram in the chained and in the flat table."""
        tokens = self.words.encode(ngram).tolist()
        return self.chained.table_around(tokens), self.flat.table_around(tokens)

    def name(self, tokens: tuple[int, ...]) -> str:
        """The n-gram as words."""
        return " ".join(self.words.token_bytes(token).decode() for token in tokens)

    def reports(self) -> tuple[TableReport, TableReport]:
        """Of the chained and the flat table."""
        return table_report(self.chained), table_report(self.flat)

    def sharing(self) -> tuple[tuple[str, ...], ...]:
        """The n-grams that have one hash with others, in groups."""
        groups: dict[int, list[str]] = defaultdict(list)
        for record in self.chained.ngrams():
            tokens = tuple(int(t) for t in record["tokens"] if t >= 0)
            groups[self.chained.table_around(tokens).hash].append(self.name(tokens))
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def _filled(toggles: Toggles, tokens: Any) -> NgramCache:
    table = NgramCache(toggles)
    table.update(tokens)
    return table


@cache
def tables(hash_name: Hash) -> Tables:
    """The recipe's tables, made once."""
    return Tables(hash_name)


class LookupModel(StepsModel):
    """Some n-grams of the recipe, looked up with both hashes."""

    def __init__(self) -> None:
        super().__init__(
            Pictures(
                "Where does an n-gram stand?",
                "The recipe’s 272 n-grams, n = 1 to 4, in a chained table and in a flat one. The"
                " number in a round badge is the order of visits; yellow is what is in hand.",
                (
                    Group("Hash", tuple((name, hint) for name, hint in HASHES)),
                    Group("Look up", KEYS),
                ),
                [_case(tables(name), key) for name, _ in HASHES for key, _ in KEYS],
            )
        )


def _case(both: Tables, key: str) -> Case:
    chain, slots = both.around(key)
    n_steps = max(len(chain.path), len(slots.path))
    if not chain.path and not slots.path:
        n_steps = 1
    return Case(
        [_step(both, chain, slots, i, n_steps) for i in range(n_steps)],
        shared={
            "key": key,
            "hash": f"{slots.hash:016x}",
            "chain": _chain(both, chain),
            "slots": _slots(both, slots),
        },
    )


def _chain(both: Tables, around: TableAround) -> dict[str, Any]:
    return {
        "buckets": around.n_buckets,
        "home": around.home,
        "lines": lines_of(around),
        "nodes": [[both.name(place.tokens), place.hash == around.hash] for place in around.places],
    }


def _slots(both: Tables, around: TableAround) -> dict[str, Any]:
    return {
        "slots": around.n_buckets,
        "home": around.home,
        "fingerprint": f"{around.fingerprint:02x}",
        "lines": lines_of(around),
        "places": [
            [
                place.index,
                both.name(place.tokens),
                place.distance,
                f"{place.fingerprint:02x}",
                place.hash == around.hash and bool(place.tokens),
            ]
            for place in around.places
        ],
    }


def lines_of(around: TableAround) -> int:
    """Cache lines that the look-up has read."""
    return len(set(around.touches["line"].tolist()))


def agrees(around: TableAround, place: Place, steps: int) -> bool:
    """Whether a slot's distance and fingerprint are the n-gram's, so that its key is read."""
    return place.distance == steps and place.fingerprint == around.fingerprint


def _step(
    both: Tables, chain: TableAround, slots: TableAround, at: int, n_steps: int
) -> dict[str, Any]:
    last = at == n_steps - 1
    say: Said = [*_chain_says(both, chain, at), " ", *_slots_say(both, slots, at)]
    if last:
        say += _end(both, chain, slots)
    return {
        "count": f"visit {at + 1} of {n_steps}",
        "say": say,
        "node": min(at, len(chain.path) - 1),
        "slot": min(at, len(slots.path) - 1),
    }


def _chain_says(both: Tables, chain: TableAround, at: int) -> Said:
    if not chain.path and at == 0:
        return [f"The chain of bucket {chain.home} is empty: not there."]
    if at >= len(chain.path):
        return ["The chain is done."]
    place = chain.places[chain.path[at]]
    begin = f"Bucket {chain.home} leads to " if at == 0 else "The chain goes on to "
    return [begin, ["k", both.name(place.tokens)], _verdict(chain, place, at)]


def _verdict(chain: TableAround, place: Place, at: int) -> str:
    if chain.found is not None and chain.path[at] == chain.found:
        return ": found."
    same = ", which has the same hash" if place.hash == chain.hash else ""
    if at == len(chain.path) - 1:
        return f"{same}: another, and the last. Not there."
    return f"{same}: another."


def _slots_say(both: Tables, slots: TableAround, at: int) -> Said:
    if at >= len(slots.path):
        return ["The flat table is done."]
    index = slots.path[at]
    place = next(place for place in slots.places if place.index == index)
    begin = f"Slot {index}" + (", its home," if at == 0 else "")
    if not place.tokens:
        return [f"{begin} is empty: not there."]
    if at == len(slots.path) - 1 and slots.found is None:
        nearer = (
            "nearer to its home" if place.distance < at else "as near, with a smaller fingerprint"
        )
        return [f"{begin} holds an n-gram that is {nearer}; ours would stand before it: not there."]
    if not agrees(slots, place, at):
        what = "distance" if place.distance != at else "fingerprint"
        return [f"{begin} has another {what}: passed without reading its key."]
    if slots.found == index:
        return [f"{begin} agrees in distance and fingerprint; its key is read: found."]
    return [
        f"{begin} agrees in distance and fingerprint, so its key is read: it is ",
        ["k", both.name(place.tokens)],
        ".",
    ]


def _end(both: Tables, chain: TableAround, slots: TableAround) -> Said:
    lines = (lines_of(chain), lines_of(slots))
    return [
        " ",
        ["n", "Not there"] if slots.found is None else ["y", "Found"],
        f": {plural(len(chain.path), 'node')} and {plural(lines[0], 'cache line')} with chains,"
        f" {plural(len(slots.path), 'slot')}, {plural(slots.keys_compared, 'key')} and"
        f" {plural(lines[1], 'cache line')} with slots.",
    ]
