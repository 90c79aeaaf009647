"""What the memory suffices for, guessed with care before it is taken."""

from __future__ import annotations

from .. import machine
from .entrants import Entrant
from .lap import Counted
from .material import MEGABYTE

# Bytes of memory, all at the upper end.
_COUNTING_PER_CORPUS_BYTE = 5
_MAPS_PER_NGRAM, _MAPS_PER_FOLLOWER = 240, 32  # hash maps in a hash map, with malloc's part
_OTHERS_PER_FILE_BYTE = 3
_PER_TEXT_TOKEN = 900  # context and dynamic cache
_PROCESS = 64 * MEGABYTE


def counting_refusal(size_mb: float, free_bytes: int | None) -> str | None:
    """Why so many megabytes of corpus cannot be counted, or None."""
    need = _PROCESS + round(size_mb * MEGABYTE) * _COUNTING_PER_CORPUS_BYTE
    return _refusal("counting it", need, free_bytes)


def running_refusal(
    entrant: Entrant, counted: Counted | None, file_bytes: int, text_tokens: int, free: int | None
) -> str | None:
    """Why a stage cannot run with what was counted, or None."""
    need = _PROCESS + text_tokens * _PER_TEXT_TOKEN
    if counted is not None and entrant.holds_maps:
        need += counted.n_grams * _MAPS_PER_NGRAM + counted.n_followers * _MAPS_PER_FOLLOWER
    elif counted is not None:
        need += file_bytes * _OTHERS_PER_FILE_BYTE
    return _refusal("running it", need, free)


def free_bytes(given: int | None) -> int | None:
    """Memory to stay below: what the caller says, or three quarters of what is free now."""
    if given is not None:
        return given
    free = machine.memory_free_bytes()
    return None if free is None else free * 3 // 4


def _refusal(what: str, need: int, free: int | None) -> str | None:
    if free is None or need <= free:
        return None
    may = f"{free / MEGABYTE:,.0f} MB"
    return f"{what} takes up to {need / MEGABYTE:,.0f} MB of memory, of which {may} may be taken"
