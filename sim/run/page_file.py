"""One file of HTML for a scene: the template and scripts of resources/page with the data of a `Pack`."""

import base64
import html
import re
from pathlib import Path

from sinew import resources
from sinew.sim.export.formats import PAGE_FORMATS, ExportError
from sinew.sim.export.page.pack import Unpacked
from sinew.sim.printable import size_text

TEMPLATE = f"page{PAGE_FORMATS.suffixes()[0]}"
SCRIPTS = ("data.js", "run.js", "draw.js", "recorded.js", "controls.js")

LARGEST = 25 << 20
"""Size of a page above which it is refused [byte]: browsers take long to open it, and mail does not deliver it."""

_COMMENT = re.compile(r"^\s*//[^\n]*\n", re.MULTILINE)
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_DATA = re.compile(r'<script type="text/plain" id="data">([A-Za-z0-9+/=]*)</script>')


def page_html(title: str, picture: bytes, data: bytes) -> bytes:
    """Returns the page.

    Args:
        picture: The first image as WebP.
        data: `Pack.html` of the scene.
    """
    script = "".join(_COMMENT.sub("", _resource(name)) for name in SCRIPTS)
    parts = {
        "title": html.escape(title), "picture": base64.b64encode(picture).decode(), "data": data.decode(),
        "script": script,
    }  # fmt: skip
    return _PLACE.sub(lambda match: parts[match[1]], _resource(TEMPLATE)).encode()


def require_size(path: Path, size: int) -> None:
    """Raises ExportError for a page that is too large."""
    if size > LARGEST:
        raise ExportError(
            f"{path}: the page would have {size_text(size)}, more than {size_text(LARGEST)}; fewer frames, a lower"
            " rate, a larger rounding or fewer objects make it smaller"
        )


def read_page(path: Path) -> Unpacked:
    """Returns scene and arrays of a page; raises ValueError if it is none."""
    found = _DATA.search(path.read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(f"{path}: is no page of a scene")
    return Unpacked(found[1])


def _resource(name: str) -> str:
    return resources.path(f"page/{name}").read_text(encoding="utf-8")
