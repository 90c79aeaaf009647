"""The numbers of the rule as a reader moves them: read, checked, and told in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..errors import InputError
from ..rule import LLAMA_CPP, N_MAX, Rule

MOST = {"a": 1_000, "p": 100, "weight": 1_000_000}
"""The largest value a reader can set: seen at least, share in per cent, weight."""

_FIELDS = {
    "context_sum": ("context", "a"),
    "context_percent": ("context", "p"),
    "dynamic_sum": ("dynamic", "a"),
    "dynamic_percent": ("dynamic", "p"),
    "static_sum": ("static", "a"),
    "static_percent": ("static", "p"),
    "weight": ("", "weight"),
}
"""Field of the rule -> the cache it belongs to and what it is."""

_SMALL = str.maketrans("1234", "₁₂₃₄")


def as_numbers(rule: Rule) -> dict[str, Any]:
    """The rule's numbers by field: four for context and dynamic, n = 1 first, else one."""
    values = {name: getattr(rule, name) for name in _FIELDS}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}


def with_numbers(rule: Rule, given: object) -> Rule:
    """The rule with the numbers given, as `as_numbers` gives them; what is absent stays.

    Raises:
        InputError: not such numbers; the message names the one that is wrong.
    """
    if not isinstance(given, Mapping) or not set(given) <= set(_FIELDS):
        raise InputError(f"the rule's numbers are named {', '.join(_FIELDS)}.")
    return replace(rule, **{name: _checked(name, value) for name, value in given.items()})


def _checked(field: str, given: object) -> Any:
    if field.startswith(("context", "dynamic")):
        if not isinstance(given, (list, tuple)) or len(given) != N_MAX:
            raise InputError(f"{field} needs {N_MAX} numbers, n = 1 first.")
        return tuple(_number(field, n, value) for n, value in enumerate(given, start=1))
    return _number(field, 2, given)


def _number(field: str, n: int, value: object) -> int:
    most = MOST[_FIELDS[field][1]]
    if type(value) is not int or not 0 <= value <= most:
        raise InputError(f"{name_of(field, n)} is a whole number from 0 to {most:,}.")
    return value


def name_of(field: str, n: int) -> str:
    """What a number is called: "p₁ of context", "the weight"."""
    cache, kind = _FIELDS[field]
    return f"{kind}{n}".translate(_SMALL) + f" of {cache}" if cache else "the weight"


def changes(rule: Rule) -> tuple[str, ...]:
    """Every number that is not llama.cpp's, as "p₁ of context is 67, not 66"."""
    found = []
    for field in _FIELDS:
        now, then = getattr(rule, field), getattr(LLAMA_CPP, field)
        if not isinstance(now, tuple):  # static has thresholds for n = 2 alone
            now, then = ((None, value) for value in (now, then))
        for n, (new, old) in enumerate(zip(now, then, strict=True), start=1):
            if new != old:
                found.append(f"{name_of(field, n)} is {new:,}, not {old:,}")
    return tuple(found)
