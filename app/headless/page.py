"""Recording of a scene for a web page: the steps of its simulation, and the draws of its images."""

import functools
import io
from collections.abc import Callable, Collection, Mapping
from time import monotonic
from typing import Any

import numpy as np
from PIL import Image

from sinew.app.failure.errors import CommandError
from sinew.app.headless.renderer import Renderer
from sinew.app.headless.run import SceneRun
from sinew.app.headless.scene import OpenedScene
from sinew.app.headless.tracks import STEPS_PER_SECOND
from sinew.sim.export.page.pack import Pack
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.trace import Trace
from sinew.sim.kinds.camera.settings import CameraSettings
from sinew.sim.kinds.contract import LiveNode
from sinew.sim.run.drawn import DrawRecorder
from sinew.sim.run.live import LiveOutput, LiveProgram, Sources, needed_of, problem_of, sources_of
from sinew.sim.run.viewpoints import Viewpoints, viewport_of
from sinew.sim.scene.keyed import curves_of
from sinew.sim.scene.scene import NodeId

VERSION = 1

SIZE = 640, 400
"""Of the images whose draws a page repeats [px]; it shows them in any size."""

DRAWN = 16
"""First steps of which each is drawn, among which steps that repeat must do so."""


class PageRecorder:
    """Recorder of steps and images.

    Args:
        run: Before its first recorded step, with all kernels on transform feedback.
        trace: Of the library of its engine.
        rate: Images per second, which divides the steps per second.
        nodes: Simulated nodes that may be live.

    Attributes:
        camera: Of the project.
        why: Reasons why nodes are recorded.
        picture: The first image as WebP.
        program: What is simulated in the page; None for nothing.
    """

    def __init__(self, run: SceneRun, scene: OpenedScene, trace: Trace, rate: int, nodes: list[NodeId]) -> None:
        trace.is_on = False
        self._run, self._scene, self._trace, self._every = run, scene, trace, STEPS_PER_SECOND // rate
        self._renderer = Renderer(run.engine.context, scene, SIZE, run=run)
        self.camera = self._renderer.camera(None, [run.runner.start_time])
        self._output = Framebuffer(run.engine.context, SIZE, label="page")
        self._drawing = DrawRecorder(run.engine.context, run.engine.library, SIZE)
        self._viewpoints = Viewpoints(run.engine, scene.scene)
        self._images: list[int] = []
        self._steps, self._time = -1, 0.0
        self._shown: dict[NodeId, list[LiveNode]] = {}
        self._nodes = nodes
        self.why: dict[NodeId, str] = {}
        self.picture = b""
        self.program: LiveProgram | None = None

    def record(self, first: int, last: int, progress: Callable[[float], None]) -> None:
        """Records steps; raises CommandError if a node fails."""
        self._go_to(first)
        self._trace.is_on = True
        for step in range(first, last + 1):
            number = step - first
            if number <= DRAWN or number % self._every == 0:
                # A page skins again what it draws: poses are smaller than vertices.
                self._run.engine.skin_again()
                self._time = self._run.runner.start_time + step / STEPS_PER_SECOND
                self._drawing.add(functools.partial(self._advance, step), self._draw, skips=number > 0)
                self._images.append(number)
            else:
                self._advance(step)
            progress((number + 1) / (last + 1 - first))

    def scene(self, pack: Pack, bound: float) -> dict[str, Any]:
        """Returns the scene of the page without texts; recorded positions are rounded by at most `bound` [m]."""
        trace, drawing = self._trace, self._drawing
        sources = sources_of(trace.commands)
        outputs = self._outputs(sources)
        live: dict[int, int] = {}
        if outputs:
            own = {name: node for node, one in self._shown.items() for name in {shown.buffer.name for shown in one}}
            wanted = frozenset(name for name in drawing.inputs if _is_live(name, own, outputs, sources))
            self.program = LiveProgram(trace, outputs, pack, wanted, DRAWN)
            made, written = self.program.made, trace.written
            # Buffers that nothing writes are the same for the simulation and the draws.
            numbers = self.program.buffers.items()
            live = {name: number for name, number in numbers if name in made or name not in written}
        is_endless = self.program is not None and self.program.is_endless and _is_still(drawing, live)
        held, steps = self._held(outputs, is_endless=is_endless)
        _hold(drawing, held)
        table, self.rounding = drawing.table(pack, live, bound)
        return {
            "version": VERSION, "rate": STEPS_PER_SECOND / self._every, "length": self._steps, "endless": is_endless,
            "frames": len(held), "steps": pack.add(np.array(steps, "<u4"), "rows"), "draw": table,
            "live": self.program.json if self.program is not None else None,
            **viewport_of(self._run.engine, self.camera), **self._viewpoints.table(pack, held),
        }  # fmt: skip

    def _held(
        self, outputs: Mapping[NodeId, LiveOutput], *, is_endless: bool
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """Returns images that the page has; and, for each step, of which it shows the values, and of which the draws.

        Buffers take turns, so that a step between two images has the draws of another step with the same turn.
        """
        if is_endless:
            assert self.program is not None
            count = 1 + self.program.start + self.program.period
            return list(range(count)), [(number, number) for number in range(count)]
        turns = [tuple(one.buffers[step] for one in outputs.values()) for step in range(self._steps + 1)]
        first: dict[tuple[int, ...], int] = {}
        for number, step in enumerate(self._images):
            first.setdefault(turns[step], number)
        regular = {number for number, step in enumerate(self._images) if step % self._every == 0}
        held = sorted(regular | set(first.values()))
        place = {number: index for index, number in enumerate(held)}
        at = {self._images[number]: number for number in regular}
        shown = (at[step - step % self._every] for step in range(self._steps + 1))
        pairs = (
            (one, one if turns[self._images[one]] == turn else first.get(turn, one))
            for one, turn in zip(shown, turns, strict=True)
        )
        return held, [(place[one], place[other]) for one, other in pairs]

    @property
    def left_out(self) -> list[str]:
        """What images have and the page does not."""
        found = [
            f"{node.name or node.id}: its depth of field is not in the page"
            for node in self._scene.scene.of_kind(CameraSettings.kind)
            if isinstance(node.settings, CameraSettings)
            and (node.settings.aperture > 0.0 or curves_of(node, node.kind, "aperture"))
        ]
        return [*found, "lines wider than a pixel are not in the page"] if self._drawing.has_wide_lines else found

    @property
    def live(self) -> dict[NodeId, LiveNode]:
        """Nodes that are simulated in the page."""
        return {node: shown[-1] for node, shown in self._shown.items() if node not in self.why}

    def release(self) -> None:
        self._output.release()
        self._renderer.release()

    def _outputs(self, sources: Sources) -> dict[str, LiveOutput]:
        """Returns the positions of the nodes that are live; notes why others are not."""
        outputs = {}
        for node, shown in self._shown.items():
            names = tuple(one.buffer.name for one in shown)
            if len(shown) <= self._steps or len({(one.count, one.texels) for one in shown}) > 1:
                self.why[node] = "it has other points at other times"
            elif problem := problem_of(self._trace, needed_of(sources, names)):
                self.why[node] = problem
            else:
                outputs[node] = LiveOutput(names, shown[0].count, shown[0].texels)
        return outputs

    def _advance(self, step: int) -> None:
        self._go_to(step)
        for node in self._nodes:
            self._note(node)
        self._trace.end_step()
        self._steps += 1

    def _go_to(self, step: int) -> None:
        run = self._run
        if run.is_active:
            for problem in run.advance_to(step):
                raise CommandError(self._scene.path, "", f"node {problem}")
            run.engine.refresh(monotonic())
        else:
            run.engine.advance(run.runner.time_of(run.runner.preroll + step))

    def _note(self, node: NodeId) -> None:
        system = self._run.engine.simulation.systems[node]
        shown = system.page() if system.is_ready else None
        if shown is None:
            self.why[node] = "its kind, or its comparison, shows nothing that a page repeats"
            return
        self._shown.setdefault(node, []).append(shown)

    def _draw(self) -> None:
        self._trace.is_on = False
        self._viewpoints.add(self._time)
        self._run.engine.draw(self._output, self.camera)
        if not self.picture:
            file = io.BytesIO()
            Image.fromarray(self._output.read_pixels(flip=True)).save(file, "WEBP", quality=80)
            self.picture = file.getvalue()
        self._trace.is_on = True


def _is_live(name: int, own: dict[int, NodeId], outputs: Collection[NodeId], sources: Sources) -> bool:
    """Returns True if what a draw reads follows from live nodes and from no other that is simulated."""
    nodes = {own[other] for other in needed_of(sources, (name,)) if other in own}
    return bool(nodes) and nodes <= set(outputs)


def _is_still(drawing: DrawRecorder, live: Collection[int]) -> bool:
    """Returns True if images differ in what the page simulates only, but for the first ones."""
    words: dict[object, bytes] = {}
    for commands, values in drawing.images[2:]:
        if words.setdefault(commands, values.tobytes()) != values.tobytes():
            return False
    return all(contents.keys() <= set(live) for contents in drawing.contents[2:])


def _hold(drawing: DrawRecorder, held: Collection[int]) -> None:
    """Drops all other images."""
    contents: dict[int, bytes] = {}
    merged = []
    for number, changed in enumerate(drawing.contents):
        contents |= changed
        if number in held:
            merged.append(contents)
            contents = {}
    drawing.images[:] = [image for number, image in enumerate(drawing.images) if number in held]
    drawing.contents[:] = merged
