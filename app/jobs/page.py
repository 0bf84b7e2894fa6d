import json
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

import msgspec

from sinew.app.failure.errors import CommandError, print_line, print_warnings
from sinew.app.headless.page import PageRecorder
from sinew.app.headless.run import SceneRun
from sinew.app.headless.scene import OpenedScene
from sinew.app.headless.tracks import STEPS_PER_SECOND
from sinew.app.jobs.options import Span
from sinew.app.jobs.render import without_overlays
from sinew.sim.export.atomic_file import write_atomically
from sinew.sim.export.formats import ExportError, PageOptions
from sinew.sim.export.page.credits import credits_of
from sinew.sim.export.page.pack import Pack
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.gl.trace import tracing
from sinew.sim.kinds.camera.settings import CameraSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.printable import counted, size_text
from sinew.sim.run.page_file import page_html, read_page, require_size
from sinew.sim.run.sliders import CHANGES_NOTHING, OTHER_PROGRAMS, Probe, add_hands, add_sliders, settings_of

IMAGES = 30
"""Images a second unless another rate is chosen; simulations make every step."""

NO_SLIDERS = "none"

RECORDED = 0.8  # fraction of the progress for recording


def export_page(
    run: SceneRun, scene: OpenedScene, output: Path, frames: Span, rate: float | None, nodes: Collection[str],
    options: PageOptions, progress: Callable[[float], None],
) -> None:  # fmt: skip
    """Writes a web page; prints what each simulated node is, and a line for the file.

    Args:
        run: At the start of its simulation.
        frames: Counted at `rate`, or in steps without one.
        rate: Images per second.
        nodes: Names of the only nodes that are shown; all for none.

    Raises:
        CommandError: If a node fails, or the rate or a name is refused.
        ExportError: If the page would be too large.
    """
    every = STEPS_PER_SECOND / (rate or STEPS_PER_SECOND)
    if every != round(every):
        rates = ", ".join(str(n) for n in range(STEPS_PER_SECOND, 0, -1) if STEPS_PER_SECOND % n == 0)
        raise CommandError(output, f"--rate {rate:g}", f"a page has one of these rates: {rates}")
    chosen = {scene.named(name).id for name in nodes}
    back_ends, shown = run.engine.context.back_ends, scene.scene
    choice, back_ends.choice = back_ends.choice, BackEndChoice.TF
    if chosen:
        lit = (LightSettings.kind, CameraSettings.kind)
        shown = msgspec.structs.replace(shown, nodes=tuple(
            node if node.id in chosen or node.kind in lit else msgspec.structs.replace(node, visible=False)
            for node in shown.nodes
        ))  # fmt: skip
        scene = replace(scene, scene=shown)
    run.apply(scene := without_overlays(scene))
    systems = run.engine.simulation.systems
    simulated = [node.id for node in shown.nodes if node.id in systems and node.id in shown.simulated]
    try:
        with tracing(run.engine.library) as trace:
            images = round(rate) if rate else IMAGES
            recorder = PageRecorder(run, scene, trace, images, simulated if options.live else [])
            try:
                span = round(frames.first * every), round(frames.last * every)
                recorder.record(*span, lambda share: progress(RECORDED * share))
                pack = Pack()
                made = recorder.scene(pack, options.rounding)
                trace.is_on = False
                lines = _changeable(recorder, run, scene, options, pack)
                progress(1.0)
            finally:
                recorder.release()
    finally:
        back_ends.choice = choice
    title = scene.path.stem
    forms = {node: recorder.why.get(node, "" if options.live else "live=off") for node in simulated}
    made |= {
        "title": title, "credits": credits_of(Path(model.path) for model in scene.models.values()),
        "nodes": [{"id": node, "name": shown.node(node).name, "form": "recorded" if why else "live", "why": why}
                  for node, why in forms.items()],
    }  # fmt: skip
    data = page_html(title, recorder.picture, pack.html(made))
    require_size(output, len(data))
    write_atomically(output, data)
    if read_page(output).scene != json.loads(json.dumps(made)):
        raise ExportError(f"{output}: the scene reads back differently")
    print_warnings(output, [*recorder.left_out, *lines])
    for node, why in forms.items():
        print_line(f"{output}: {shown.node(node).name or node}: {f'recorded, {why}' if why else 'live'}")
    what = "endless" if made["endless"] else f"{made['length'] / STEPS_PER_SECOND:g} s"
    error = f", positions rounded by at most {recorder.rounding:.1g} m" if recorder.rounding else ""
    print_line(f"{output}: {what}, {counted(made['frames'], 'image')}{error}, {size_text(len(data))}")


def _changeable(
    recorder: PageRecorder, run: SceneRun, scene: OpenedScene, options: PageOptions, pack: Pack
) -> list[str]:
    """Adds sliders and drags to the simulation of a page; returns a line for each setting that is no slider."""
    program, nodes = recorder.program, recorder.live
    if program is None:
        return []
    asked = [text for text in (part.strip() for part in options.sliders.split(",")) if text]
    probe = Probe(run.runner, scene.scene, program, nodes)
    add_hands(probe, program, pack)
    if asked == [NO_SLIDERS]:
        return []
    try:
        settings = settings_of(scene.scene, asked, nodes) if asked else [
            setting for node, shown in nodes.items() for setting in settings_of(scene.scene, shown.sliders, (node,))
        ]  # fmt: skip
    except ValueError as error:
        raise CommandError(scene.path, "--option sliders", str(error)) from error
    refused = add_sliders(probe, program, settings, pack)
    names = {node.id: node.name or node.id for node in scene.scene.nodes}
    return [
        f"{names[one.node]}: no slider for {one.text}: {reason}"
        for one, reason in refused if asked or reason not in (CHANGES_NOTHING, OTHER_PROGRAMS)
    ]  # fmt: skip
