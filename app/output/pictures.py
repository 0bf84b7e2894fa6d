"""Names of the images of a rendering, and what formats of images and videos need."""

import os
import re
from pathlib import Path

from sinew.app.headless.image_sink import NUMBERED
from sinew.app.jobs.options import Span
from sinew.sim.export.formats import RENDER_FORMATS, VIDEO_FORMATS, missing_package


def picture_path(path: Path, frames: Span) -> Path:
    """Returns the path of the images; several get a placeholder for their number, in place of a number in the name."""
    several = len(frames.numbers) > 1 and path.suffix.lower() not in VIDEO_FORMATS.suffixes()
    if not several or "%" in path.name:
        return path
    number = re.fullmatch(r"(.*_)([0-9]{3,6})", path.stem)
    stem = f"{number[1]}%0{len(number[2])}d" if number else f"{path.stem}_%04d"
    return path.with_name(f"{stem}{path.suffix}")


def suggested_path(title: str, frames: Span, *, alpha: bool) -> Path:
    """Returns the name that is proposed: an image, a video, or numbered images if no video can be written."""
    video = next((f for f in VIDEO_FORMATS if not missing_package(f) and (f.has_alpha or not alpha)), None)
    if len(frames.numbers) > 1 and video is not None:
        return Path(f"{title}{video.suffixes[0]}")
    return picture_path(Path(f"{title}{next(iter(RENDER_FORMATS)).suffixes[0]}"), frames)


def pictures_there(path: Path, frames: Span) -> int:
    """Returns the number of images of a rendering that exist already."""
    place = NUMBERED.search(path.name)
    if place is None or not path.parent.is_dir():
        return 0
    stem, end = (re.escape(part) for part in (path.name[: place.start()], path.name[place.end() :]))
    name = re.compile(rf"{stem}(\d+){end}")
    found = (match for entry in os.scandir(path.parent) if (match := name.fullmatch(entry.name)))
    return sum(int(match[1]) in frames.numbers and place[0] % int(match[1]) == match[1] for match in found)


def missing_codecs() -> str:
    """Returns commands that install missing packages of video formats, a line for each, or ""."""
    lines: dict[str, list[str]] = {}
    for format in RENDER_FORMATS:
        if hint := missing_package(format):
            lines.setdefault(hint, []).append(format.suffixes[0])
    return "\n".join(f"{' '.join(suffixes)}: {hint}" for hint, suffixes in lines.items())
