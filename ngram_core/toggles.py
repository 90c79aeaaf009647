"""The switches of the engine and the named stages that set them.

Source of the stages: Hayder Tirmazi's work on llama.cpp's n-gram cache (September 2026)
and Daniel Lemire's check before scoring. A stage is the one before it plus one change.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args, get_type_hints

from .errors import InputError

Outer = Literal["chained"]
Followers = Literal["chained"]
Static = Literal["same"]
Hash = Literal["xor"]
Ties = Literal["library", "token"]
Score = Literal["int32", "exact"]


@dataclass(frozen=True)
class Toggles:
    """How the engine stores and reads its caches; see each field.

    Args:
        copy_followers: copy the followers at each look-up, as llama.cpp does, or read in place.
        outer: the table from n-gram to followers.
        followers: what holds the followers of one n-gram.
        static: how the static cache is held; "same" as the others.
        hash: the hash of an n-gram; "xor" is llama.cpp's, symmetric one.
        ties: who wins an equal score: the "library" order of GNU libstdc++'s maps, as in a
            Linux build of llama.cpp, or the smaller "token" id.
        score: "int32" multiplies in 32 bits, wrapping as llama.cpp does; "exact" in 64.
    """

    copy_followers: bool = False
    outer: Outer = "chained"
    followers: Followers = "chained"
    static: Static = "same"
    hash: Hash = "xor"
    ties: Ties = "library"
    score: Score = "int32"

    def __post_init__(self) -> None:
        for name, allowed in _ALLOWED.items():
            value = getattr(self, name)
            if value not in allowed:
                choices = ", ".join(str(a) for a in allowed)
                raise InputError(
                    f"toggle {name}={value!r} does not exist; choose one of: {choices}"
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


@dataclass(frozen=True)
class Stage:
    """A named set of toggles: one step of the ladder from llama.cpp's own code."""

    name: str
    toggles: Toggles
    what: str


UPSTREAM = Stage(
    "upstream",
    Toggles(copy_followers=True),
    "llama.cpp's own: hash maps inside a hash map, the inner ones copied at each look-up",
)
NOCOPY = Stage("nocopy", Toggles(), "the inner maps are read where they lie")

STAGES: dict[str, Stage] = {stage.name: stage for stage in (UPSTREAM, NOCOPY)}
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
