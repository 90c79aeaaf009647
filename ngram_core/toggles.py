"""The switches of the engine and the named stages that set them.

Source of the stages: Hayder Tirmazi's work on llama.cpp's n-gram cache (September 2026)
and Daniel Lemire's check before scoring. Up to there a stage is the one before it plus one
change; `places`, our own, is several.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args, get_type_hints

from .errors import InputError

Outer = Literal["chained", "segmented", "dense", "places"]
Followers = Literal["chained", "sorted", "summed"]
Search = Literal["fixed", "lower_bound", "linear", "simd"]
Static = Literal["same", "constmap", "ngc"]
Hash = Literal["xor", "mixed"]
Ties = Literal["library", "token"]
Score = Literal["int32", "exact"]


@dataclass(frozen=True)
class Toggles:
    """How the engine stores and reads its caches; see each field.

    Args:
        copy_followers: copy the followers at each look-up, as llama.cpp does, or read in place.
        outer: the table from n-gram to followers: hash map nodes in chains, or a flat table over
            entries in segments, or over one dense array that doubles; or "places", flat, in
            which an n-gram is a place in a text that the cache keeps.
        followers: what holds the followers of one n-gram: a hash map, a sorted array, or
            "summed", the same with the sum of counts and the most frequent follower kept beside
            it. "places" and "summed" go together.
        search: how a token is found in a sorted array; without meaning for hash maps.
        static: how the static cache is held: the same as the others; as a constmap, packed
            arrays behind a verified binary fuse map; or as our own file "ngc", mapped, with sums
            and most frequent followers beside the 2-grams.
        precheck: rows whose largest count fails the tests are not scored.
        hash: the hash of an n-gram; "xor" is llama.cpp's, symmetric one.
        ties: who wins an equal score: the "library" order of GNU libstdc++'s maps, as in a
            Linux build of llama.cpp, or the smaller "token" id. Arrays, sorted or in a constmap
            or our file, have "token" only.
        score: "int32" multiplies in 32 bits, wrapping as llama.cpp does; "exact" in 64.
        bound: a row is decided without scores where no static count can turn it: where the most
            frequent follower scores more than a bound of what all others can.
        late_static: the static cache is looked up when a row needs it, not at the start.
        prefetch: cache lines are asked for before they are read: the static record as a step
            begins, and once the context's longest n-gram did not decide, what comes next; of a
            table of places and our own static file.
        glance: a row that must fail by what the index keeps of it, four bits beside its key or a
            filter, ends there, and its counts are not read; of the same two.
    """

    copy_followers: bool = False
    outer: Outer = "chained"
    followers: Followers = "chained"
    search: Search = "fixed"
    static: Static = "same"
    precheck: bool = False
    hash: Hash = "xor"
    ties: Ties = "library"
    score: Score = "int32"
    bound: bool = False
    late_static: bool = False
    prefetch: bool = False
    glance: bool = False

    def __post_init__(self) -> None:
        for name, allowed in _ALLOWED.items():
            value = getattr(self, name)
            if value not in allowed:
                choices = ", ".join(str(a) for a in allowed)
                raise InputError(
                    f"toggle {name}={value!r} does not exist; choose one of: {choices}"
                )
        if (self.outer == "places") != (self.followers == "summed"):
            raise InputError(
                f"outer='places' and followers='summed' go together; here are "
                f"outer={self.outer!r} and followers={self.followers!r}: set both"
            )
        for name, maps in (("followers", "chained"), ("static", "same")):
            arrays = getattr(self, name)
            if self.ties == "library" and arrays != maps:
                raise InputError(
                    f"ties='library' is a hash map's order; with {name}={arrays!r} set ties='token'"
                )

    def set(self, **changes: Any) -> Toggles:
        """A copy with some switches set; unknown names and values raise InputError."""
        for name in changes:
            if name not in _ALLOWED:
                raise InputError(f"there is no toggle {name!r}; there are: {', '.join(_ALLOWED)}")
        return replace(self, **changes)


def _allowed_values() -> dict[str, tuple[Any, ...]]:
    hints = get_type_hints(Toggles)
    return {
        field.name: (False, True) if hints[field.name] is bool else get_args(hints[field.name])
        for field in fields(Toggles)
    }


_ALLOWED = _allowed_values()


def choices(toggle: str) -> tuple[Any, ...]:
    """The values that a toggle can have, in the order in which they are told.

    >>> choices("static"), choices("precheck")
    (('same', 'constmap', 'ngc'), (False, True))
    """
    return _ALLOWED[toggle]


@dataclass(frozen=True)
class Stage:
    """A named set of toggles: one step of the ladder from llama.cpp's own code."""

    name: str
    toggles: Toggles
    what: str


_UPSTREAM = Toggles(copy_followers=True)
_NOCOPY = _UPSTREAM.set(copy_followers=False)
_OUTERMAP = _NOCOPY.set(outer="segmented")
_INNERVECTOR = _OUTERMAP.set(followers="sorted", search="fixed", ties="token")
_CONSTMAP = _INNERVECTOR.set(static="constmap")
_PRECHECK = _CONSTMAP.set(precheck=True)
_PLACES = _PRECHECK.set(
    outer="places",
    followers="summed",
    static="ngc",
    hash="mixed",
    bound=True,
    late_static=True,
    prefetch=True,
    glance=True,
)

UPSTREAM = Stage(
    "upstream",
    _UPSTREAM,
    "llama.cpp's own: hash maps inside a hash map, the inner ones copied at each look-up",
)
NOCOPY = Stage("nocopy", _NOCOPY, "the inner maps are read where they lie")
OUTERMAP = Stage(
    "outermap", _OUTERMAP, "a flat, open-addressing table over entries in segments outside"
)
INNERVECTOR = Stage(
    "innervector", _INNERVECTOR, "sorted arrays inside, searched in a fixed number of steps"
)
CONSTMAP = Stage(
    "constmap", _CONSTMAP, "the static cache as packed arrays behind a verified binary fuse map"
)
PRECHECK = Stage("precheck", _PRECHECK, "rows whose largest count fails are not scored")
PLACES = Stage(
    "places",
    _PLACES,
    "our own: n-grams are places in a text, sums and maxima are kept, and rows that no static "
    "count can turn are not scored",
)

STAGES: dict[str, Stage] = {
    stage.name: stage
    for stage in (UPSTREAM, NOCOPY, OUTERMAP, INNERVECTOR, CONSTMAP, PRECHECK, PLACES)
}
"""The stages that exist, in the order of the ladder."""


def stage(name: str) -> Stage:
    """The stage of that name.

    Raises:
        InputError: no such stage; the message lists those that exist.
    """
    try:
        return STAGES[name]
    except KeyError:
        raise InputError(f"there is no stage {name!r}; there are: {', '.join(STAGES)}") from None
