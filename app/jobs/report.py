import base64
import hashlib
import html
import importlib.metadata
import io
import math
import platform
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np

from sinew.app.failure.errors import print_line
from sinew.app.failure.progress import Progress
from sinew.app.headless.renderer import Renderer, default_samples
from sinew.app.headless.run import headless, known_bake
from sinew.app.headless.scene import OpenedScene, opened
from sinew.app.jobs.job import WORDS, option, record_of
from sinew.app.jobs.options import Opening, ProgressLines, SceneFile, Span, output, require_folder
from sinew.app.jobs.render import frame_times
from sinew.sim.export.formats import PAGE_FORMATS
from sinew.sim.export.image import write_png
from sinew.sim.gl.context import Context
from sinew.sim.gl.task import finish
from sinew.sim.kinds import packages
from sinew.sim.kinds.contract import stop_reason, warning_of
from sinew.sim.maths.arrays import Float64
from sinew.sim.printable import counted, printable, size_text
from sinew.sim.profile.history import summary
from sinew.sim.profile.sample import FrameSample, SceneMoment
from sinew.sim.run.engine import Engine
from sinew.sim.run.penetration import measures_of, penetration, units_of
from sinew.sim.scene.params import params_of, value_text, with_paths
from sinew.sim.scene.scene import Node, NodeId

FRAMES = 120
SIZE = (960, 540)
Row = Sequence[object]


class ReportJob(Opening, frozen=True, kw_only=True):
    command = "report"

    scene: SceneFile
    output: Annotated[Path, output(PAGE_FORMATS)]
    frames: Annotated[Span, option("Frames that are simulated, drawn and measured.", "A:B", WORDS)] = Span(
        0, FRAMES - 1
    )
    progress: ProgressLines = False


JOB = ReportJob


def run(job: ReportJob) -> None:
    require_folder(job.output)
    scene = opened(job.scene, job.permitted)
    times = frame_times(scene, job.frames)
    label = f"measuring {job.scene.name}"
    with headless() as context, Progress(label, lines=job.progress) as progress:
        renderer = Renderer(context, scene, SIZE, bake=known_bake(scene.path))
        try:
            camera = renderer.camera(None, [times[0], times[-1]])
            samples, depths = list[FrameSample](), Depths()
            renderer.picture([times[0]], camera)  # shaders are built before anything is measured
            context.timers.switch(True)
            for index, time in enumerate(times):
                renderer.picture([time], camera)
                context.timers.finish_frame(SceneMoment(job.frames.first + index, time))
                depths.note(job.frames.first + index, renderer.engine)
                samples += context.timers.poll()
                progress((index + 1) / len(times))
            samples += context.timers.poll()
            source = context.timers.status.source.label
            context.timers.switch(False)
            renderer.samples = default_samples(scene.scene)
            pixels = renderer.picture([times[-1]], camera)
            parts: dict[str, Sequence[Row]] = {
                f"Cost per frame and pass, {len(samples)} frames, {source}": costs(samples),
                "Stability": stability(scene, renderer),
                **measures(scene, renderer.engine),
                **depths.rows(scene),
                **feet(scene, renderer.engine, times),
                "Checksums of the result (SHA-256)": checksums(scene, renderer.engine),
                "Options": [("option", "value"), *record_of(job)],
                "Made with": versions(context, packages(scene.scene.nodes).values()),
                "Settings that differ from their defaults": changed_settings(scene),
            }
        finally:
            renderer.release()
    picture = io.BytesIO()
    write_png(pixels, picture)
    caption = f"frame {job.frames.last}, {times[-1]:.3f} s"
    text = page(job.scene.stem, base64.b64encode(picture.getvalue()).decode(), caption, parts)
    PAGE_FORMATS.of(job.output).save(text, job.output)
    print_line(f"{job.output}: {counted(len(times), 'frame')}, {size_text(job.output.stat().st_size)}")


def changed_settings(scene: OpenedScene) -> list[Row]:
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
    """Returns a row for each pass with percentiles of its GPU time in a frame [ms], and the median of its CPU time."""
    gpu_times: dict[str, list[float]] = defaultdict(list)
    cpu_times: dict[str, list[float]] = defaultdict(list)
    for sample in samples:
        sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        for part in sample.slices:
            sums[part.path][0] += part.gpu
            sums[part.path][1] += part.cpu
        for path, (gpu, cpu) in sums.items():
            gpu_times[path].append(1e3 * gpu)
            cpu_times[path].append(1e3 * cpu)
    rows: list[Row] = [("pass", "median ms", "95 %", "99 %", "largest", "CPU, median")]
    for path in sorted(gpu_times):
        found = summary(np.array(gpu_times[path]))
        numbers = (found.p50, found.p95, found.p99, found.maximum, summary(np.array(cpu_times[path])).p50)
        rows.append((path, *("lost" if math.isnan(number) else f"{number:.3f}" for number in numbers)))
    return rows


def stability(scene: OpenedScene, renderer: Renderer) -> list[Row]:
    rows: list[Row] = [("object", "state", "warning")]
    for node in scene.scene.nodes:
        system = renderer.engine.simulation.systems.get(node.id)
        if system is None:
            continue
        muted = "" if node.id in scene.scene.simulated else "muted"
        state = stop_reason(system) or muted or ("stable" if system.is_ready else "waits for a file")
        rows.append((node.name or node.id, state, warning_of(system) or "none"))
    return rows if len(rows) > 1 else [("nothing is simulated",)]


def measures(scene: OpenedScene, engine: Engine) -> dict[str, list[Row]]:
    """Returns the quantities of the systems that measure themselves, at the end; nothing without any."""
    rows: list[Row] = [("object", "measure", "value", "unit")]
    for node in scene.scene.nodes:
        system = engine.simulation.systems.get(node.id)
        if system is not None and (found := measures_of(system)):
            units = units_of(system)
            rows += [(node.name or node.id, name, f"{value:.4g}", units.get(name, "")) for name, value in found.items()]
    return {"Measures at the end": rows} if len(rows) > 1 else {}


def feet(scene: OpenedScene, engine: Engine, times: Sequence[float]) -> dict[str, list[Row]]:
    """Returns how far the feet of human characters slide between the first and the last time; nothing without any."""
    rows: list[Row] = [
        (
            "object",
            "foot",
            "contacts",
            "way of one, mean",
            "longest",
            "speed, mean",
            "largest",
            "near the floor",
            "unit",
        )
    ]
    for node in scene.scene.characters:
        for foot in engine.foot_slides(node.id, times[0], times[-1]):
            ways, speeds = (foot.mean_way, foot.longest_way), (foot.mean_speed, foot.largest_speed)
            values = (*ways, *speeds, foot.weighted_speed)
            numbers = ("–" if value is None else f"{1e3 * value:.3g}" for value in values)
            rows.append((node.name or node.id, foot.side, foot.contacts, *numbers, "mm, mm/s"))
    return {"Slide of standing feet": rows} if len(rows) > 1 else {}


class Depths:
    """Depths of cloth and hair in skins over the frames of a report."""

    def __init__(self) -> None:
        self._found: dict[NodeId, list[tuple[int, Float64]]] = defaultdict(list)

    def note(self, frame: int, engine: Engine) -> None:
        for node, system in engine.simulation.systems.items():
            if (found := finish(penetration(system))) is not None:
                self._found[node].append((frame, found.inside))

    def rows(self, scene: OpenedScene) -> dict[str, list[Row]]:
        """Returns the table; nothing without nodes on a skin."""
        rows: list[Row] = [("object", "points inside, most", "largest depth", "in frame", "mean depth", "unit")]
        for node, frames in self._found.items():
            deepest, frame = max((inside.max(initial=0.0), -frame) for frame, inside in frames)
            every = np.concatenate([inside for _, inside in frames])
            numbers = (f"{1e3 * deepest:.3g}", -frame, f"{1e3 * every.mean():.3g}") if len(every) else (0, "–", 0)
            rows.append((scene.scene.node(node).name or node, max(len(one) for _, one in frames), *numbers, "mm"))
        return {"Depth in skins": rows} if len(rows) > 1 else {}


def checksums(scene: OpenedScene, engine: Engine) -> list[Row]:
    """Returns the checksum of every array at the end; the same on the same machine for the same project."""
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


def versions(context: Context, plugins: Iterable[str] = ()) -> list[Row]:
    driver = context.capabilities
    return [
        ("part", "version"),
        ("Sinew", importlib.metadata.version("sinew")),
        ("Python", platform.python_version()),
        ("numpy", np.__version__),
        ("renderer", driver.renderer),
        ("OpenGL", driver.version),
        ("system", platform.platform()),
        *(("plug-in", package) for package in dict.fromkeys(plugins)),
    ]


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
    """Returns a self-contained HTML page for light and dark mode.

    Args:
        picture: PNG in base64.
        parts: Tables by their headings; the first row of each is its header.
    """
    shown = _escaped(title)
    head = f"<meta charset='utf-8'><meta name='viewport' content='width=device-width'><title>{shown}</title>"
    image = f"<figure><img alt='{shown}' src='data:image/png;base64,{picture}'>"
    image += f"<figcaption>{_escaped(caption)}</figcaption></figure>"
    tables = "".join(f"<h2>{_escaped(heading)}</h2>{_table(rows)}" for heading, rows in parts.items())
    body = f"<h1>{shown}</h1>{image}{tables}"
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
