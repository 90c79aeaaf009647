"""Figures as bars, measured here and published side by side; a table that can be read aloud."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..published import SOURCE


@dataclass(frozen=True)
class Bar:
    """A number, and how it is told."""

    value: float
    told: str


@dataclass(frozen=True)
class Column:
    """One thing that was measured, for each row; a published figure where there is one."""

    title: str
    here: Sequence[Bar | None]
    published: Sequence[Bar | None] = ()
    full: float = 0.0  #: what a bar of full length stands for; 0: the longest one


@dataclass(frozen=True)
class Bars:
    """Rows of bars. In each column bars are as long as their share of its longest, published ones
    of the longest published one: corpora and machines differ, ratios can be compared."""

    title: str
    row_title: str
    rows: Sequence[str]
    columns: Sequence[Column]
    note: str
    published_from: str = ""  #: the corpus or machine of the published ones; "" if there are none

    def document(self) -> dict[str, Any]:
        """For the page, as plain data."""
        note = self.note
        if self.published_from:
            note += f" In italics, {self.published_from}. {SOURCE}"
        return {
            "title": self.title,
            "rowTitle": self.row_title,
            "columns": [column.title for column in self.columns],
            "rows": [
                [
                    name,
                    [[_one(c.here, i, c.full), _one(c.published, i, c.full)] for c in self.columns],
                ]
                for i, name in enumerate(self.rows)
            ],
            "note": note,
        }

    def describe(self) -> str:
        """The same as lines of text."""
        lines = [self.title]
        for i, name in enumerate(self.rows):
            parts = []
            for column in self.columns:
                here, published = (
                    bars[i] if i < len(bars) else None for bars in (column.here, column.published)
                )
                if here is not None:
                    other = f" (published {published.told})" if published else ""
                    parts.append(f"{column.title} {here.told}{other}")
                elif published is not None:
                    parts.append(f"{column.title} {published.told}, not measured here")
            lines.append(f"  {name}: {'; '.join(parts)}")
        return "\n".join([*lines, self.document()["note"]])


def _one(bars: Sequence[Bar | None], i: int, full: float) -> list[Any] | None:
    """[share of the full length, text]."""
    bar = bars[i] if i < len(bars) else None
    if bar is None:
        return None
    longest = full or max(other.value for other in bars if other is not None)
    return [round(bar.value / longest, 4) if longest else 0, bar.told]
