"""`sinew render`: pictures of a model or a project, as the viewport draws them, without a window."""

import argparse
import enum
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic

import msgspec
import numpy as np
import numpy.typing as npt

from app.cli.failure import CommandError, print_warnings
from app.cli.matte import BLACK, WHITE, straight_rgba
from app.cli.options import any_of, output_file, require_folder
from app.cli.progress import Progress
from app.cli.run import SceneRun, headless, known_bake
from app.cli.scene import OpenedScene, opened
from app.cli.scene_files import add_outside_option
from app.files.project_file import PROJECT_SUFFIX
from sim.assets.formats import MODEL_FORMATS
from sim.assets.model import Clip
from sim.engine import Engine
from sim.export.formats import PICTURE_WRITERS
from sim.figures.settings import SkinningMethod
from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.kinds import KINDS
from sim.scene.camera import DIRECTIONS, Camera
from sim.scene.clock import STEP_TIME
from sim.scene.params import params_of, validated
from sim.scene.scene import Node, Scene
from sim.scene.vectors import Colour
from sim.scene.view import Comparison, DisplayMode, ViewSettings

VIEWS = {**DIRECTIONS, "side": DIRECTIONS["right"]}
"""Yaw and pitch [°] of the views that frame what there is."""

FRAMING_SAMPLES = 9
"""Moments of a clip that the framing looks at, so that a character that travels stays in the picture."""

SIMULATED_FRAMES = 300
"""Frames of a simulation without a clip, by default: five seconds."""

FRAME_MAX, PICTURES_MAX = 10**9, 100_000
SIDE_MAX = 8192
NUMBERED = re.compile(r"%\d{0,2}d")
UInt8 = npt.NDArray[np.uint8]


OVERLAYS = tuple(record.name for record in params_of(ViewSettings) if record.declared.group == "Overlays")
"""What the view settings draw that is no part of the scene."""


def _choices(words: type[enum.Enum]) -> str:
    return f"{{{','.join(word.value for word in words)}}}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument(
        "path", type=Path, metavar="MODEL|PROJECT", help=f"what to draw ({any_of(MODEL_FORMATS)}|{PROJECT_SUFFIX})"
    )
    parser.add_argument(
        "--output",
        required=True,
        type=output_file(PICTURE_WRITERS),
        metavar=f"frame_%04d{any_of(PICTURE_WRITERS)}",
        help="picture to write; %%04d stands for the frame, without it there is one picture",
    )
    parser.add_argument(
        "--frames",
        type=frame_range,
        metavar="A:B",
        help="first and last frame, or one; a frame is a key of the clip, without one a step of the simulation; what is"
        " simulated runs from the start up to each frame, in repetitions of the clip too (default: every key)",
    )
    parser.add_argument(
        "--size", type=picture_size, default=(1280, 720), metavar="WxH", help="pixels (default: 1280x720)"
    )
    parser.add_argument(
        "--view",
        choices=[*VIEWS, "saved"],
        help="where to look from; front is +z, right is +x (default: as the project was saved, else from the front)",
    )
    parser.add_argument(
        "--display", type=DisplayMode, choices=list(DisplayMode), metavar=_choices(DisplayMode),
        help="how surfaces are drawn (default: as the project says, else shaded)",
    )  # fmt: skip
    parser.add_argument(
        "--method", type=SkinningMethod, choices=list(SkinningMethod), metavar=_choices(SkinningMethod),
        help="how every figure is skinned, instead of a comparison too (default: as the project says)",
    )  # fmt: skip
    parser.add_argument(
        "--overlays",
        action="store_true",
        help="draw the grid, the axes, bones and other marks too, as the project has them",
    )
    parser.add_argument(
        "--alpha",
        action="store_true",
        help="leave the background out: RGBA, where colours are not multiplied by their opacity",
    )
    parser.add_argument(
        "--cache", action="store_true", help="show what is baked beside the project with the same settings"
    )
    add_outside_option(parser)


def run(options: argparse.Namespace) -> None:
    """Reads, then draws and writes one frame after another."""
    require_folder(options.output)
    scene = as_wished(opened(options.path, allow_outside=options.allow_outside), options)
    frames = chosen_frames(scene, options.frames, numbered=is_numbered(options.output))
    writer = PICTURE_WRITERS.of(options.output)
    with headless() as context, Progress(f"drawing {options.path.name}") as progress:
        renderer = Renderer(context, scene, options.size, alpha=options.alpha, every_node=options.cache)
        camera = renderer.camera(options.view, [time for _, time in frames])
        for index, (frame, time) in enumerate(frames):
            writer.save(renderer.picture(time, camera), numbered_path(options.output, frame))
            progress((index + 1) / len(frames))
        renderer.release()


def as_wished(opened_scene: OpenedScene, options: argparse.Namespace) -> OpenedScene:
    """The scene with the view that the options ask for."""
    scene = opened_scene.scene
    changes: dict[str, object] = {} if options.overlays else dict.fromkeys(OVERLAYS, False)
    if options.display is not None:
        changes["display"] = options.display
    if options.method is not None:
        changes["comparison"] = Comparison.OFF
    nodes = tuple(_skinned(node, options.method) for node in scene.nodes) if options.method else scene.nodes
    return replace(
        opened_scene, scene=msgspec.structs.replace(scene, nodes=nodes, view=validated(scene.view, **changes))
    )


def _skinned(node: Node, method: SkinningMethod) -> Node:
    if not node.settings.is_figure:
        return node
    return msgspec.structs.replace(node, settings=validated(node.settings, skinning=method))


class Renderer:
    """Draws a scene into memory.

    Args:
        context: A current context.
        scene: What to draw.
        size: Width and height [px].
        alpha: Leave the background out.
        every_node: Show what is baked of every node with the same settings, not of the baked ones alone.
    """

    def __init__(
        self,
        context: Context,
        scene: OpenedScene,
        size: tuple[int, int],
        *,
        alpha: bool = False,
        every_node: bool = False,
    ) -> None:
        self._scene = scene
        self._run = SceneRun(context, scene, known_bake(scene.path), every_node=every_node)
        self._engine = self._run.engine
        self._warn(self._run.problems())
        self._output = Framebuffer(context, size, label="rendered picture")
        self._backgrounds = self._empty_pictures(context) if alpha else ()

    def picture(self, time: float, camera: Camera) -> UInt8:
        """Picture at a moment of the scene's clock [s]: RGB or RGBA, shape (height, width, 3 or 4), row 0 at the top.

        Where something is simulated, it is that of the nearest step, counted from the start of the simulation.
        """
        if self._run.is_active:
            step = max(round((time - self._run.start_time) / STEP_TIME), 0)
            while (problems := self._run.advance_to(step)) or self._run.step_count < step:
                self._warn(problems)
            self._engine.refresh(monotonic())
        else:
            self._engine.advance(time)
        if not self._backgrounds:
            return self._drawn(self._engine, camera)
        pictures = []
        for colour in (BLACK, WHITE):
            self._engine.apply(msgspec.structs.replace(self._scene.scene, view=self._view_over(colour)))
            pictures.append(self._drawn(self._engine, camera))
        return straight_rgba(*pictures, *self._backgrounds)

    def camera(self, view: str | None, times: Sequence[float]) -> Camera:
        """Camera of a view; unless it is the saved one, it frames what is shown at these moments.

        Raises:
            CommandError: If the saved view of a model is asked for, which has none.
        """
        state = self._scene.view_state
        if view == "saved" and state is None:
            raise CommandError(self._scene.path, "--view saved", "only projects have a saved view")
        if state is not None and view in (None, "saved"):
            return state.camera
        yaw, pitch = VIEWS[view or "front"]
        camera = msgspec.structs.replace(Camera(), yaw=yaw, pitch=pitch)
        boxes = [box for time in _spread(times) if (box := self._bounds(time))]
        if not boxes:
            return camera
        lo, hi = np.min([box[0] for box in boxes], axis=0), np.max([box[1] for box in boxes], axis=0)
        return camera.framed(lo, hi, self._output.size[0] / self._output.size[1])

    def release(self) -> None:
        """Deletes everything on the GPU."""
        self._output.release()
        self._run.release()

    def _drawn(self, engine: Engine, camera: Camera) -> UInt8:
        engine.draw(self._output, camera)
        pixels: UInt8 = self._output.read_pixels(flip=True)
        return pixels[..., :3]

    def _view_over(self, colour: Colour) -> ViewSettings:
        return validated(self._scene.scene.view, background_top=colour, background_bottom=colour)

    def _empty_pictures(self, context: Context) -> tuple[UInt8, UInt8]:
        """Backgrounds alone, dark and bright; the same from everywhere."""
        engine = Engine(context)
        pictures = []
        for colour in (BLACK, WHITE):
            engine.apply(Scene(view=self._view_over(colour)))
            pictures.append(self._drawn(engine, Camera()))
        engine.release()
        return pictures[0], pictures[1]

    def _warn(self, problems: list[str]) -> None:
        print_warnings(self._scene.path, problems)

    def _bounds(self, time: float) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None:
        self._engine.advance(time)
        box = self._engine.bounds()
        return (box.lo, box.hi) if box else None


def chosen_frames(scene: OpenedScene, wanted: tuple[int, int] | None, *, numbered: bool) -> list[tuple[int, float]]:
    """Number and moment [s] of every picture.

    Without a wish these are all keys of the clip, or, if there is to be one picture, the moment a project was saved at.

    Raises:
        CommandError: If a frame lies beyond the clip, or one file would hold several frames.
    """
    clip = scene.clip()
    if wanted is None and not numbered:
        time = scene.view_state.time if scene.view_state else 0.0
        return [(0, time)]
    times = _frame_times(clip)
    simulated = any(KINDS[node.kind].system for node in scene.scene.nodes)
    first, last = wanted or (0, SIMULATED_FRAMES - 1 if simulated and clip is None else len(times) - 1)
    if last >= len(times) and not simulated:
        what = f"clip {clip.name!r} goes from 0 to {len(times) - 1}" if clip else "nothing moves; there is frame 0"
        raise CommandError(scene.path, f"--frames {first}:{last}", what)
    if last > first and not numbered:
        raise CommandError(scene.path, "--output", "several frames need a number such as %04d in the name")
    return [(frame, _frame_time(times, frame)) for frame in range(first, last + 1)]


def is_numbered(path: Path) -> bool:
    """Whether the file name has a place for the frame."""
    return NUMBERED.search(path.name) is not None


def numbered_path(path: Path, frame: int) -> Path:
    """The file of one frame."""
    return path.with_name(NUMBERED.sub(lambda place: place[0] % frame, path.name, count=1))


def frame_range(text: str) -> tuple[int, int]:
    """Type of a range of frames, `A:B` or `A`."""
    match = re.fullmatch(r"([0-9]{1,20})(?::([0-9]{1,20}))?", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not A:B with whole numbers from 0 on")
    first, last = int(match[1]), int(match[2] or match[1])
    if last < first:
        raise argparse.ArgumentTypeError(f"{text!r} ends before it starts")
    if last > FRAME_MAX or last - first >= PICTURES_MAX:
        raise argparse.ArgumentTypeError(
            f"{text!r} goes beyond frame {FRAME_MAX}, or is more than {PICTURES_MAX} pictures"
        )
    return first, last


def picture_size(text: str) -> tuple[int, int]:
    """Type of a picture's size, `WxH`."""
    match = re.fullmatch(r"([0-9]{1,6})[xX×]([0-9]{1,6})", text)
    width, height = (int(match[1]), int(match[2])) if match else (0, 0)
    if not (0 < width <= SIDE_MAX and 0 < height <= SIDE_MAX):
        raise argparse.ArgumentTypeError(f"{text!r} is not WxH with sides from 1 to {SIDE_MAX}")
    return width, height


def _frame_times(clip: Clip | None) -> npt.NDArray[np.float64]:
    return clip.frame_times if clip else np.zeros(1)


def _frame_time(times: npt.NDArray[np.float64], frame: int) -> float:
    """Moment of a frame [s]; beyond the last one the clip runs again, without a clip a frame is a step."""
    last = len(times) - 1
    if last < 1:
        return frame * STEP_TIME
    turns, index = divmod(frame, last) if frame > last else (0, frame)
    return float(turns * times[-1] + times[index])


def _spread(times: Sequence[float]) -> list[float]:
    """At most a few of the moments, the first and the last among them."""
    picked = np.unique(np.linspace(0, len(times) - 1, min(len(times), FRAMING_SAMPLES)).round().astype(int))
    return [times[index] for index in picked]
