"""Options that several jobs have, and what they are checked for."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

import msgspec

from sinew.app.failure.errors import CommandError
from sinew.app.failure.progress import LINE
from sinew.app.jobs.job import ANYWHERE, FORM, WORDS, Composite, Job, option
from sinew.app.plugins import plugins
from sinew.app.project.permitted import Permitted
from sinew.app.project.project_file import PROJECT_SUFFIX, is_project
from sinew.sim.assets.formats import MODEL_FORMATS, Format, Formats
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.kinds import packages
from sinew.sim.refusal import refusal
from sinew.sim.scene.params import param, params_of, switch_of
from sinew.sim.scene.scene import Scene

C = TypeVar("C", bound=Job)
FRAME_MAX, PICTURES_MAX = 10**9, 100_000
SIDE_MAX = 8192
TEMPLATES = Formats(Format(name="Open Job Description", suffixes=(".json",)))


class Span(Composite, frozen=True):
    """First and last frame."""

    first: Annotated[
        int, param("First frame; frame 0 is the start.", label="First frame", lo=0, hi=10**6, soft=(0, 1000))
    ] = 0
    last: Annotated[int, param("Last frame.", label="Last frame", lo=0, hi=10**6, soft=(0, 1000))] = 0

    @classmethod
    def of(cls, value: Any) -> "Span":
        """Converts "A:B", "A", a range, or first and last frame."""
        if isinstance(value, range) and value.step == 1:
            value = value.start, value.stop - 1
        value = ":".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
        match = re.fullmatch(r"([0-9]{1,20})(?::([0-9]{1,20}))?", value)
        if match is None:
            raise ValueError(f"{value!r} is not A:B with whole numbers from 0")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise ValueError(f"{value!r} ends before it starts")
        if last > FRAME_MAX or last - first >= PICTURES_MAX:
            raise ValueError(f"{value!r} goes beyond frame {FRAME_MAX}, or is more than {PICTURES_MAX} frames")
        return cls(first, last)

    @classmethod
    def of_form(cls, **parts: int) -> "Span":
        return cls(parts["first"], max(parts["first"], parts["last"]))

    def __str__(self) -> str:
        return f"{self.first}:{self.last}"

    @property
    def numbers(self) -> range:
        return range(self.first, self.last + 1)


class Size(Composite, frozen=True):
    width: Annotated[int, param("Width of the image.", unit="px", lo=16, hi=SIDE_MAX, soft=(320, 3840))] = 1280
    height: Annotated[int, param("Height of the image.", unit="px", lo=16, hi=SIDE_MAX, soft=(180, 2160))] = 720

    @classmethod
    def of(cls, value: Any) -> "Size":
        """Converts "WxH", or width and height."""
        value = "x".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
        match = re.fullmatch(r"([0-9]{1,6})[xX×]([0-9]{1,6})", value)
        if match is None or not all(0 < int(side) <= SIDE_MAX for side in match.groups()):
            raise ValueError(f"{value!r} is not WxH with sides from 1 to {SIDE_MAX}")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.width}x{self.height}"


ProgressLines = Annotated[
    bool, option(f'Print "{LINE} FRACTION" to standard output while running.', at=WORDS, content=False)
]
Outside = Annotated[
    bool,
    option("Read files that a project names outside its own folder and the one above it, also on other machines.",
           at=WORDS),
]  # fmt: skip
BackEnd = Annotated[
    BackEndChoice,
    option("GPU back end of simulation and skinning: transform feedback, compute (OpenGL 4.3), or the faster one.",
           at=WORDS),
]  # fmt: skip
SceneFile = Annotated[
    Path,
    option("Model or project.", "MODEL|PROJECT", WORDS, is_argument=True,
           suffixes=lambda: (*MODEL_FORMATS.suffixes(), PROJECT_SUFFIX)),
]  # fmt: skip
BakeFolder = Annotated[
    Path | None, option("Bake to show, else the one of the project.", "FOLDER", WORDS),
]  # fmt: skip
IgnoreBakes = Annotated[
    bool, option("Ignore bakes; simulate with the current settings.", at=ANYWHERE, label="Ignore bakes")
]
ProjectFile = Annotated[Path, option("Project to simulate, from its start.", "PROJECT", WORDS, is_argument=True)]
FormatOptions = Annotated[
    tuple[str, ...], option("Option of the format, see below; repeatable.", "NAME=VALUE", WORDS, word="option")
]


def output(formats: Formats[Any], doc: str = "File to write.") -> msgspec.Meta:
    return option(doc, "FILE", WORDS, content=False, formats=formats)


class Opening(Job, frozen=True, kw_only=True):
    """What a project may do."""

    allow_outside: Outside = False
    no_kernels: Annotated[bool, option("Use the shipped shaders instead of the kernels of the project.", at=WORDS)] = (
        False
    )

    @property
    def permitted(self) -> Permitted:
        return Permitted(outside=self.allow_outside, kernels=not self.no_kernels)


class Divided(Opening, frozen=True, kw_only=True):
    """Where a long job runs."""

    workers: Annotated[
        int | None,
        option("Processes on this machine that share the work.", "N", WORDS | FORM, content=False,
               label="Processes", lo=1, hi=64, soft=(1, 8), off=1),
    ] = None  # fmt: skip
    scheduler: Annotated[
        str,
        option("Address of a dask.distributed scheduler whose workers do the work instead, such as tls://farm:8786. The"
               " project must lie in a folder that all machines share.", "ADDRESS", WORDS | FORM, content=False),
    ] = ""  # fmt: skip
    openjd: Annotated[
        Path | None,
        option("Write a job template for render farms (Open Job Description) instead of running.", "FILE", WORDS,
               content=False, formats=TEMPLATES),
    ] = None  # fmt: skip
    backend: BackEnd = BackEndChoice.AUTO
    progress: ProgressLines = False

    @classmethod
    def of_form(cls, **values: Any) -> Self:
        return cls(**{**values, "workers": None} if values["scheduler"] else values)

    @property
    def is_divided(self) -> bool:
        return bool(self.workers or self.scheduler)


def with_plugins(job: C, scene: Scene) -> C:
    """Returns a job whose processes have the plug-ins of a scene."""
    if plugins.is_off:
        return msgspec.structs.replace(job, no_plugins=True)
    needed = dict.fromkeys((*job.require_plugin, *packages(scene.nodes).values()))
    return msgspec.structs.replace(job, require_plugin=tuple(needed))


def require_folder(path: Path) -> None:
    """Checks a target before long work: raises CommandError if its folder is missing, or `path` is a folder."""
    if not path.parent.is_dir():
        raise CommandError(path, "", f"the folder {path.parent} does not exist")
    if path.is_dir():
        raise CommandError(path, "", "is a folder")


def require_project(path: Path) -> None:
    if not is_project(path):
        raise CommandError(path, "", f"is not a project ({PROJECT_SUFFIX})")


def format_options(format: Format, texts: Sequence[str], path: Path) -> msgspec.Struct | None:
    """Parses "name=value" texts; None without any. Raises CommandError for unknown options or refused values."""
    if not texts:
        return None
    declared = {record.name: record for record in params_of(format.options)} if format.options else {}
    values: dict[str, str | bool] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name not in declared:
            known = ", ".join(declared) or "none"
            raise CommandError(path, f"--option {text}", f"{format.name} has no option {name!r}; there are: {known}")
        values[name] = switch_of(value) if declared[name].type is bool else value
    assert format.options is not None
    try:
        made: msgspec.Struct = msgspec.convert(values, format.options, strict=False)
    except msgspec.ValidationError as error:
        raise CommandError(path, f"--option {' '.join(texts)}", ": ".join(refusal(error)).strip(": ")) from error
    return made
