"""A race's report as one HTML page that needs nothing else: no script, no other file."""

from __future__ import annotations

from html import escape

from .report import TITLE, report_parts
from .results import RaceResult
from .tables import Table

_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
p { max-width: 80ch; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: 1.5rem 0; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 650; padding-bottom: 0.4rem; }
th, td { padding: 0.2rem 0.7rem; text-align: right; border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); white-space: nowrap; }
th { font-weight: 600; }
tr > :first-child { text-align: left; }
"""  # noqa: E501


def to_html(result: RaceResult) -> str:
    """The parts of the Markdown report, as a page in the reader's own colours."""
    parts = [
        _table(part) if isinstance(part, Table) else f"<p>{escape(part)}</p>"
        for part in report_parts(result)
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{TITLE}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{TITLE}</h1>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(word.strip())}</th>' for word in table.head)
    rows = "".join(f"<tr>{_cells(row)}</tr>\n" for row in table.rows)
    title = escape(table.title)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{title}"><table>'
        f"<caption>{title}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>"
        "</table></div>"
    )


def _cells(row: tuple[str, ...]) -> str:
    name, *figures = (escape(word.strip()) for word in row)
    return f'<th scope="row">{name}</th>' + "".join(f"<td>{word}</td>" for word in figures)
