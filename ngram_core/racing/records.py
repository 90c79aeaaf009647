"""Frozen dataclasses to plain values, as JSON has them, and back."""

from __future__ import annotations

import dataclasses
import types
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from ..errors import FormatError

Record = TypeVar("Record")


def to_plain(record: Any) -> dict[str, Any]:
    """A record as dicts, lists, strings and numbers."""
    return dataclasses.asdict(record)


def from_plain(kind: type[Record], plain: Any) -> Record:
    """The record that `to_plain` made such values of.

    Raises:
        FormatError: they are not of this kind; the message names the field.
    """
    value: Record = _value(kind, plain, kind.__name__)
    return value


def _value(kind: Any, plain: Any, where: str) -> Any:
    if dataclasses.is_dataclass(kind):
        return _record(kind, plain, where)
    origin, of = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _one_of(of, plain, where)
    if origin is tuple and isinstance(plain, (list, tuple)):
        return tuple(_value(of[0], item, f"{where}[{i}]") for i, item in enumerate(plain))
    if origin is dict and isinstance(plain, dict):
        return {name: _value(of[1], item, f"{where}.{name}") for name, item in plain.items()}
    if kind is float and type(plain) is int:
        return float(plain)
    if type(plain) is not kind:
        raise FormatError(f"{where} is {plain!r}, which does not fit it; is it a race's JSON?")
    return plain


def _record(kind: Any, plain: Any, where: str) -> Any:
    hints = get_type_hints(kind)
    names = [field.name for field in dataclasses.fields(kind)]
    if not isinstance(plain, dict) or set(plain) != set(names):
        raise FormatError(f"{where} needs the fields {', '.join(names)}; is it a race's JSON?")
    return kind(**{name: _value(hints[name], plain[name], f"{where}.{name}") for name in names})


def _one_of(kinds: tuple[Any, ...], plain: Any, where: str) -> Any:
    """The first kind that fits, as in `float | None`; the last one's error if none does."""
    for kind in kinds[:-1]:
        try:
            return _value(kind, plain, where)
        except FormatError:
            continue
    return _value(kinds[-1], plain, where)
