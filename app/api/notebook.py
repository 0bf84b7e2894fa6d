"""A project as a notebook shows it: its page in a frame, or an image."""

from __future__ import annotations

import base64
import contextlib
import html
import io
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from sinew.app.failure.errors import CommandError
from sinew.sim.export.formats import ANIMATION_FORMATS, ExportError, PageFormat
from sinew.sim.printable import size_text
from sinew.sim.scene.clock import STEP_TIME

if TYPE_CHECKING:
    from sinew.app.api.project import Project

SECONDS = 4.0
"""Longest time of the scene that is in the page [s]; simulations that repeat their steps go on."""

LARGEST = 10 << 20
"""Size of a page above which an image is shown, since a notebook keeps what it shows [byte]."""

PAGE = next(known for known in ANIMATION_FORMATS if isinstance(known, PageFormat))

_FRAME = (
    '<iframe sandbox="allow-scripts" srcdoc="{page}" title="{title}" style="width: 100%; height: 420px; border: 0">'
    "</iframe>"
)
_IMAGE = '<img src="data:image/png;base64,{image}" alt="{title}"><p>{reason}</p>'


def notebook_html(project: Project) -> str:
    """Returns the page of a project in a sandboxed frame, or an image with the reason why there is no page."""
    name = project.path.stem if project.path is not None else "Project"
    title, reason = html.escape(name), ""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"page{PAGE.suffixes[0]}"
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                project.export(path, range(round(SECONDS / STEP_TIME) + 1), options={"sliders": "none"})
        except (CommandError, ExportError) as error:
            reason = str(error).removeprefix(f"{path}: ")
        else:
            page = path.read_text(encoding="utf-8")
            if len(page) <= LARGEST:
                return _FRAME.format(page=html.escape(page), title=title)
            size = f"{size_text(len(page))}, more than {size_text(LARGEST)}"
            reason = f"The page of this project has {size}; project.export writes it to a file."
    image = base64.b64encode(project._repr_png_()).decode()
    return _IMAGE.format(image=image, title=title, reason=html.escape(reason))
