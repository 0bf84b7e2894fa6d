"""One self-contained page: a picture and tables, in light and dark."""

import html
from collections.abc import Mapping, Sequence

from sim.printable import printable

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 64rem; padding: 0 1rem; }
h1 { font-weight: 600; } h2 { font-size: 1.1rem; margin-top: 2.2rem; }
figure { margin: 0; } img { width: 100%; border-radius: 6px; } figcaption { opacity: .7; font-size: .85rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .28rem .7rem .28rem 0; border-bottom: 1px solid var(--line); vertical-align: top;
  overflow-wrap: anywhere; }
th { font-weight: 600; } td.number, th.number { text-align: right; overflow-wrap: normal; white-space: nowrap; }
tr:hover td { background: var(--soft); }
"""


def page(title: str, picture: str, caption: str, parts: Mapping[str, Sequence[Sequence[object]]]) -> str:
    """The text of a page.

    Args:
        title: Its heading.
        picture: PNG in base64.
        caption: What the picture shows.
        parts: Tables by their headings; the first row of each names the columns.
    """
    shown = _escaped(title)
    head = f"<meta charset='utf-8'><meta name='viewport' content='width=device-width'><title>{shown}</title>"
    character = f"<figure><img alt='{shown}' src='data:image/png;base64,{picture}'>"
    character += f"<figcaption>{_escaped(caption)}</figcaption></figure>"
    tables = "".join(f"<h2>{_escaped(heading)}</h2>{_table(rows)}" for heading, rows in parts.items())
    body = f"<h1>{shown}</h1>{character}{tables}"
    return f"<!doctype html>\n<html lang='en'><head>{head}<style>{STYLE}</style></head><body>{body}</body></html>\n"


def _table(rows: Sequence[Sequence[object]]) -> str:
    head, *others = rows
    numeric = [bool(others) and all(_is_number(row[column]) for row in others) for column in range(len(head))]
    lines = [_row("th", head, numeric), *(_row("td", row, numeric) for row in others)]
    return f"<div class='wide'><table>{''.join(lines)}</table></div>"


def _row(tag: str, cells: Sequence[object], numeric: Sequence[bool]) -> str:
    marks = [" class='number'" if right else "" for right in numeric]
    return f"<tr>{''.join(f'<{tag}{m}>{_escaped(c)}</{tag}>' for m, c in zip(marks, cells, strict=True))}</tr>"


def _escaped(text: object) -> str:
    return html.escape(printable(str(text)))


def _is_number(cell: object) -> bool:
    return str(cell).replace(".", "", 1).isdigit()
