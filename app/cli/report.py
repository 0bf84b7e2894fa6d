"""`sinew report`: one page that tells what a project is, what it costs, whether it is stable, and what came out."""

import argparse
import base64
import hashlib
import importlib.metadata
import io
import math
import platform
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from app.cli.failure import print_line
from app.cli.options import any_of, frame_range, output_file, require_folder
from app.cli.page import page
from app.cli.progress import Progress, add_progress_option
from app.cli.render import frame_times
from app.cli.renderer import Renderer
from app.cli.run import headless
from app.cli.scene import OpenedScene, opened
from app.cli.scene_files import add_outside_option
from app.files.project_file import PROJECT_SUFFIX
from sim.assets.formats import MODEL_FORMATS
from sim.engine import Engine
from sim.export.formats import PAGE_FORMATS
from sim.export.png import write_png
from sim.gl.context import Context
from sim.printable import counted, size_text
from sim.profile.sample import FrameSample, SceneMoment
from sim.profile.statistics import summary
from sim.scene.params import params_of, value_text, with_paths
from sim.scene.scene import Node

FRAMES = 120
SIZE = (960, 540)
Row = Sequence[object]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path", type=Path, metavar="PROJECT|MODEL", help=f"what to report on ({PROJECT_SUFFIX}|{any_of(MODEL_FORMATS)})"
    )
    parser.add_argument(
        "--output", required=True, type=output_file(PAGE_FORMATS), metavar=f"FILE{any_of(PAGE_FORMATS)}"
    )
    parser.add_argument(
        "--frames", type=frame_range, default=(0, FRAMES - 1), metavar="A:B",
        help=f"frames that are run, drawn and measured (default: 0:{FRAMES - 1})",
    )  # fmt: skip
    add_progress_option(parser)
    add_outside_option(parser)


def run(options: argparse.Namespace) -> None:
    """Reads, runs, measures and writes."""
    require_folder(options.output)
    scene = opened(options.path, allow_outside=options.allow_outside)
    times = frame_times(scene, *options.frames)
    label = f"measuring {options.path.name}"
    with headless() as context, Progress(label, lines=options.progress) as progress:
        renderer = Renderer(context, scene, SIZE)
        try:
            camera = renderer.camera(None, [times[0], times[-1]])
            samples: list[FrameSample] = []
            pixels = renderer.picture([times[0]], camera)  # shaders are built before anything is measured
            context.timers.switch(True)
            for index, time in enumerate(times):
                pixels = renderer.picture([time], camera)
                context.timers.finish_frame(SceneMoment(options.frames[0] + index, time))
                samples += context.timers.poll()
                progress((index + 1) / len(times))
            samples += context.timers.poll()
            source = context.timers.status.source.value
            context.timers.switch(False)
            parts = {
                f"Cost per frame and pass, {len(samples)} frames, {source}": costs(samples),
                "Stability": stability(scene, renderer),
                "Checksums of the result (SHA-256)": checksums(scene, renderer.engine),
                "Made with": versions(context),
                "Settings that differ from their defaults": changed_settings(scene),
            }
        finally:
            renderer.release()
    picture = io.BytesIO()
    write_png(pixels, picture)
    caption = f"frame {options.frames[1]}, {times[-1]:.3f} s"
    text = page(options.path.stem, base64.b64encode(picture.getvalue()).decode(), caption, parts)
    PAGE_FORMATS.of(options.output).save(text, options.output)
    print_line(f"{options.output}: {counted(len(times), 'frame')}, {size_text(options.output.stat().st_size)}")


def changed_settings(scene: OpenedScene) -> list[Row]:
    """Object, setting, value and default of every value that is another one than its default."""
    rows: list[Row] = [("object", "setting", "value", "default")]
    for node in scene.scene.nodes:
        parts = (("", node.settings), ("Transform: ", node.transform), ("", node.attachment))
        for prefix, part in parts:
            rows += _changed(f"{node.name or node.id} ({node.kind})", prefix, part)
    rows += _changed("view", "", scene.scene.view)
    return [*rows, *_changed("playback", "", scene.scene.playback)]


def _changed(owner: str, prefix: str, part: msgspec.Struct) -> Iterable[Row]:
    part = with_paths(part, lambda path: Path(path).name)  # a page goes to others
    for record in params_of(type(part)):
        value = getattr(part, record.name)
        if value != record.default:
            yield owner, f"{prefix}{record.label}", value_text(value), value_text(record.default)


def costs(samples: Sequence[FrameSample]) -> list[Row]:
    """Pass, median, 95 %, 99 % and largest cost [ms] of a frame, and the median of handing it out."""
    spans: dict[str, list[float]] = defaultdict(list)
    handed: dict[str, list[float]] = defaultdict(list)
    for sample in samples:
        sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        for one in sample.slices:
            sums[one.path][0] += one.gpu
            sums[one.path][1] += one.cpu
        for path, (gpu, cpu) in sums.items():
            spans[path].append(1e3 * gpu)
            handed[path].append(1e3 * cpu)
    rows: list[Row] = [("pass", "median ms", "95 %", "99 %", "largest", "handing out, median")]
    for path in sorted(spans):
        found = summary(np.array(spans[path]))
        characters = (found.p50, found.p95, found.p99, found.maximum, summary(np.array(handed[path])).p50)
        shown = ["lost" if math.isnan(character) else f"{character:.3f}" for character in characters]
        rows.append((path, *shown))
    return rows


def stability(scene: OpenedScene, renderer: Renderer) -> list[Row]:
    """How every simulated node ended, and what its settings do not suffice for."""
    rows: list[Row] = [("object", "state", "warning")]
    for node in scene.scene.nodes:
        system = renderer.engine.simulation.systems.get(node.id)
        if system is None:
            continue
        muted = "" if node.id in scene.scene.simulated else "muted"
        state = system.stopped or muted or ("sound" if system.is_ready else "waits for a file")
        rows.append((node.name or node.id, state, system.warning or "none"))
    return rows if len(rows) > 1 else [("nothing is simulated",)]


def checksums(scene: OpenedScene, engine: Engine) -> list[Row]:
    """A number for every array as it stands at the end, the same on the same machine for the same project."""
    rows: list[Row] = [("object", "array", "shape", "checksum")]
    for node in scene.scene.nodes:
        rows += [(node.name or node.id, name, *_digest(array)) for name, array in _arrays(node, engine).items()]
    return rows


def _arrays(node: Node, engine: Engine) -> Mapping[str, np.ndarray]:
    character, system = engine.views.characters.get(node.id), engine.simulation.systems.get(node.id)
    if character is not None:
        return {"skinned positions": character.primary.read()["position"][:, :3]}
    return {name: array.read() for name, array in system.arrays().items()} if system is not None else {}


def _digest(array: np.ndarray) -> tuple[str, str]:
    shape = " × ".join(map(str, array.shape))
    return shape, hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def versions(context: Context) -> list[Row]:
    """Program, libraries and driver."""
    driver = context.capabilities
    return [
        ("part", "version"),
        ("Sinew", importlib.metadata.version("sinew")),
        ("Python", platform.python_version()),
        ("numpy", np.__version__),
        ("renderer", driver.renderer),
        ("OpenGL", driver.version),
        ("system", platform.platform()),
    ]
