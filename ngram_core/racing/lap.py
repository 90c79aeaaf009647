"""What the processes of a race send back."""

from __future__ import annotations

from dataclasses import dataclass

from ..caches import Memory
from .results import Bin, Resident, Structures

__all__ = ["Counted", "Lap", "Loaded", "Memory"]


@dataclass(frozen=True)
class Counted:
    """A corpus, counted and written; `file_bytes` by path."""

    n_tokens: int
    n_grams: int
    n_followers: int
    file_bytes: dict[str, int]


@dataclass(frozen=True)
class Loaded:
    """A load from a file that the system had forgotten; None if it would not."""

    cold_ns: int | None


@dataclass(frozen=True)
class Lap:
    """One run of one stage in a process of its own: load, replay to warm up, replay."""

    load_ns: int | None
    first_ns: int
    draft_ns: int
    update_ns: int
    n_replayed: int
    n_calls: int
    n_drafted: int
    n_accept: int
    checksum: str
    p50_ns: float
    p99_ns: float
    max_ns: float
    histogram: tuple[Bin, ...]
    memory: Structures
    resident: Resident

    @property
    def drafting_ns(self) -> int:
        return self.draft_ns + self.update_ns
