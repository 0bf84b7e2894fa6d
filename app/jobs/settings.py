import enum
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import msgspec

from sinew.app.headless.image_sink import NUMBERED
from sinew.sim.export.formats import (
    RENDER_FORMATS,
    VIDEO_FORMATS,
    VideoCodec,
    VideoFormat,
    VideoOptions,
    missing_package,
)
from sinew.sim.scene.params import Role, param, params_of

Words = list[str]


class Viewpoint(enum.Enum):
    VIEWPORT = "viewport"
    FRONT = "front"
    SIDE = "side"
    TOP = "top"


Processes = Annotated[
    int, param("Processes on this machine that share the work.", label="Processes", lo=1, hi=64, soft=(1, 8))
]
Scheduler = Annotated[
    str,
    param("Address of a dask.distributed scheduler whose workers do the work instead, such as tls://farm:8786. The"
          " project must lie in a folder that all machines share."),
]  # fmt: skip


class RunSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Where a long command runs."""

    workers: Processes = 1
    scheduler: Scheduler = ""


class VerifySettings(RunSettings, frozen=True, kw_only=True):
    outside: Annotated[
        bool,
        param("Read files that a project names outside its own folder and the one above it, also on other machines.",
              label="Files elsewhere"),
    ] = False  # fmt: skip
    kernels: Annotated[bool, param("Use the kernels of the projects, not the shipped shaders.")] = False


class FrameSpan(msgspec.Struct, frozen=True, kw_only=True):
    first: Annotated[
        int, param("First frame; frame 0 is the start.", label="First frame", lo=0, hi=10**6, soft=(0, 1000))
    ] = 0
    last: Annotated[int, param("Last frame.", label="Last frame", lo=0, hi=10**6, soft=(0, 1000))] = 0
    rate: Annotated[
        float,
        param("Frames per second; a simulation has 60 steps a second, of which 30 fps uses every second one.",
              unit="Hz", lo=1.0, hi=1000.0, soft=(1.0, 60.0)),
    ] = 60.0  # fmt: skip

    def words(self) -> Words:
        return ["--frames", f"{self.first}:{max(self.first, self.last)}", "--rate", f"{self.rate:.10g}"]


class ExportSettings(FrameSpan, frozen=True, kw_only=True):
    selected: Annotated[
        bool, param("Export only the selected object, else all visible ones.", label="Selection only")
    ] = False
    children: Annotated[bool, param("Write strands as they are drawn, not their guides.", label="Drawn strands")] = (
        False
    )


class RenderSettings(FrameSpan, frozen=True, kw_only=True):
    width: Annotated[int, param("Width of the image.", unit="px", lo=16, hi=8192, soft=(320, 3840))] = 1280
    height: Annotated[int, param("Height of the image.", unit="px", lo=16, hi=8192, soft=(180, 2160))] = 720
    camera: Annotated[
        str, param("Camera of the scene to look through, or the one that the cuts show.", role=Role.NODE)
    ] = ""
    seen: Annotated[Viewpoint, param("Viewpoint without a camera of the scene.", label="View")] = Viewpoint.VIEWPORT
    alpha: Annotated[bool, param("Transparent background; images, WebP and GIF only.", label="Transparent")] = False
    overlays: Annotated[bool, param("Draw grid, axes and other overlays as the viewport does.")] = False
    samples: Annotated[
        int,
        param("Images that are averaged for smooth edges, fine strands, soft shadows and the focus of cameras; 0 for 16"
              " in the standard look with hair, fur or the aperture of a camera, else 1.", lo=0, hi=256, soft=(0, 64)),
    ] = 0  # fmt: skip
    blur: Annotated[
        int,
        param("Samples over a 180° shutter; 1 for no motion blur.",
              label="Motion blur", lo=1, hi=64, soft=(1, 16)),
    ] = 1  # fmt: skip
    turns: Annotated[
        float,
        param("Number of camera turns around the selected object over all frames; 0 for none.",
              label="Turntable", lo=-100.0, hi=100.0, soft=(-2.0, 2.0), step=1.0),
    ] = 0.0  # fmt: skip
    burn_in: Annotated[bool, param("Write frame number, time and GPU time into the image.")] = False
    burnt: Annotated[
        str, param("Settings to burn in as well, such as Cape.substeps, Cape.wind.", label="Burnt-in settings")
    ] = ""
    resume: Annotated[bool, param("Keep numbered images that exist already.")] = False
    codec: Annotated[VideoCodec, param("Compression of MP4 files.", label="MP4 codec")] = VideoCodec.H264
    workers: Processes = 1
    scheduler: Scheduler = ""


def run_words(settings: RunSettings | RenderSettings) -> Words:
    if settings.scheduler.strip():
        return ["--scheduler", settings.scheduler.strip()]
    return ["--workers", str(settings.workers)] if settings.workers > 1 else []


def picture_path(settings: RenderSettings, path: Path) -> Path:
    """Returns the path of the images; several get a placeholder for their number, in place of a number in the name."""
    several = settings.last > settings.first and path.suffix.lower() not in VIDEO_FORMATS.suffixes()
    if not several or "%" in path.name:
        return path
    number = re.fullmatch(r"(.*_)([0-9]{3,6})", path.stem)
    stem = f"{number[1]}%0{len(number[2])}d" if number else f"{path.stem}_%04d"
    return path.with_name(f"{stem}{path.suffix}")


def suggested_path(settings: RenderSettings, title: str) -> Path:
    """Returns the name that is proposed: an image, a video, or numbered images if no video can be written."""
    video = next((f for f in VIDEO_FORMATS if not missing_package(f) and (f.has_alpha or not settings.alpha)), None)
    if settings.last > settings.first and video is not None:
        return Path(f"{title}{video.suffixes[0]}")
    return picture_path(settings, Path(f"{title}{next(iter(RENDER_FORMATS)).suffixes[0]}"))


def pictures_there(settings: RenderSettings, path: Path) -> int:
    """Returns the number of images of a rendering that exist already."""
    place = NUMBERED.search(path.name)
    if place is None or not path.parent.is_dir():
        return 0
    stem, end = (re.escape(part) for part in (path.name[: place.start()], path.name[place.end() :]))
    name = re.compile(rf"{stem}(\d+){end}")
    found = (match for entry in os.scandir(path.parent) if (match := name.fullmatch(entry.name)))
    return sum(
        settings.first <= int(match[1]) <= settings.last and place[0] % int(match[1]) == match[1] for match in found
    )


def refused(settings: RenderSettings, path: Path) -> str:
    """Returns why a file cannot be rendered with these settings, or ""."""
    format = RENDER_FORMATS.of(path)
    if settings.camera and settings.turns:
        return "a turntable does not go with a camera of the scene"
    if hint := missing_package(format):
        return f"{format.name} {hint}"
    if settings.alpha and isinstance(format, VideoFormat) and not format.has_alpha:
        return (
            f"{format.name} stores no opacity; images, {' and '.join(f.name for f in VIDEO_FORMATS if f.has_alpha)} do"
        )
    return ""


def missing_codecs() -> str:
    """Returns commands that install missing packages of video formats, a line for each, or ""."""
    lines: dict[str, list[str]] = {}
    for format in RENDER_FORMATS:
        if hint := missing_package(format):
            lines.setdefault(hint, []).append(format.suffixes[0])
    return "\n".join(f"{' '.join(suffixes)}: {hint}" for hint, suffixes in lines.items())


def render_words(settings: RenderSettings, path: Path, project: Path, around: str) -> Words:
    """Returns the words of a render command; `around` is the name of the selected object, or ""."""
    words = ["render", str(project), "--output", str(path), *settings.words()]
    words += ["--size", f"{settings.width}x{settings.height}"]
    if settings.camera:
        words += ["--camera", settings.camera]
    else:
        words += ["--view", "saved" if settings.seen is Viewpoint.VIEWPORT else settings.seen.value]
    words += run_words(settings)
    words += [f"--{name}" for name in ("alpha", "overlays", "resume") if getattr(settings, name)]
    words += ["--samples", str(settings.samples)] if settings.samples else []
    words += ["--blur", str(settings.blur)] if settings.blur > 1 else []
    if settings.burn_in:
        words += ["--burn-in", *(name.strip() for name in settings.burnt.split(",") if name.strip())]
    if settings.turns:
        words += ["--turntable", f"{settings.turns:g}", *(["--around", around] if around else [])]
    formats = [format for format in VIDEO_FORMATS if format.has_suffix(path)]
    if formats and formats[0].options is VideoOptions:
        words += ["--option", f"codec={settings.codec.value}"]
    return words


def export_words(
    settings: ExportSettings, options: msgspec.Struct | None, path: Path, project: Path, selected: str
) -> Words:
    """Returns the words of an export command; `selected` is the name of the selected object, or ""."""
    words = ["export", str(project), "--output", str(path), *settings.words()]
    words += ["--node", selected] if settings.selected and selected else []
    words += ["--children"] if settings.children else []
    for name, value in changed_values(options).items():
        text = value.value if isinstance(value, enum.Enum) else str(value).lower() if isinstance(value, bool) else value
        words += ["--option", f"{name}={text}"]
    return words


def changed_values(options: msgspec.Struct | None) -> Mapping[str, object]:
    """Returns options that differ from their defaults, by name."""
    if options is None:
        return {}
    records = params_of(type(options))
    return {r.name: value for r in records if (value := getattr(options, r.name)) != r.default}
