"""The line about the steps in the viewport: simulated, cached or baked steps, and with which settings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt, Signal

from sinew.app.document.document import Document
from sinew.app.session.playback import Playback
from sinew.app.session.renderer import ViewportRenderer
from sinew.app.timeline.bake_task import BakeTask
from sinew.app.timeline.seek import SimulationSeek
from sinew.sim.kinds.contract import has_state
from sinew.sim.run.runner import SimulationRunner
from sinew.sim.scene.scene import Node

SLOW_PACE = 0.95


@dataclass(frozen=True, slots=True)
class Shown:
    text: str = ""
    remedy: str = ""  # Text of a button
    act: Callable[[], object] | None = None  # What the button does


class ShownLine(QObject):
    """Keeper of the line; `changed` carries a `Shown` with another text."""

    changed = Signal(object)

    def __init__(
        self,
        document: Document,
        playback: Playback,
        client: ViewportRenderer,
        baking: BakeTask,
        seek: SimulationSeek,
    ) -> None:
        super().__init__()
        self._document, self._playback, self._client = document, playback, client
        self._baking, self._seek = baking, seek
        self._last = Shown()
        client.drawn.connect(self.refresh, Qt.ConnectionType.QueuedConnection)
        playback.simulated.connect(self.refresh)
        playback.playing_changed.connect(self.refresh)

    def refresh(self, *_: object) -> None:
        line = self.shown()
        if (line.text, line.remedy) != (self._last.text, self._last.remedy):
            self._last = line
            self.changed.emit(line)

    def shown(self) -> Shown:
        """Returns the most urgent line; an empty one if nothing simulated is drawn."""
        runner = self._client.runner
        systems = runner.engine.simulation.systems if runner is not None else {}
        nodes = [
            node
            for node in self._document.scene.nodes
            if node.id in systems and systems[node.id].is_ready and has_state(systems[node.id])
        ]
        if runner is None or not nodes:
            return Shown(self._speed().removeprefix(", "))
        return self._of_bake(nodes) or self._of_steps(runner, nodes) or self._of_kinds(runner, nodes)

    def _of_bake(self, nodes: Sequence[Node]) -> Shown | None:
        old = [n for n in nodes if n.baked and self._baking.steps(n.id) and not self._baking.is_of_now(n.id)]
        if not old:
            return None
        ids = [node.id for node in old]
        return Shown(f"{_names(old)}: bake of other settings", "Bake Again", lambda: self._baking.start(ids))

    def _of_steps(self, runner: SimulationRunner, nodes: Sequence[Node]) -> Shown | None:
        """Returns a line about missing steps, and steps of several settings."""
        time, branch = self._playback.playhead.time, runner.cache.history.branch
        if self._playback.is_waiting:
            done, last = self._seek.progress
            return Shown(f"plays when step {last} is simulated ({done} done)")
        if runner.is_held(time):
            text = f"not simulated up to here; step {runner.shown} of {runner.step_of(time)} is drawn"
            return Shown(text, "Simulate to Playhead", self._seek.start)
        stopped = [node for node in nodes if branch.stopped.get(node.id, runner.shown + 1) <= runner.shown]
        if stopped:
            return Shown(f"{_names(stopped)}: stopped at step {branch.stopped[stopped[-1].id]}")
        if not runner.is_fresh and branch.fork and not all(node.baked for node in nodes):
            cause = "dragged" if branch.by_hand else "settings changed"
            text = f"simulated; {cause} at {runner.time_of(branch.fork):.2f} s"
            return Shown(text, "Simulate Again", self._seek.start)
        return None

    def _of_kinds(self, runner: SimulationRunner, nodes: Sequence[Node]) -> Shown:
        baked = [(node, steps) for node in nodes if node.baked and (steps := self._baking.steps(node.id))]
        after = [(node, steps) for node, steps in baked if runner.shown > steps[-1]]
        if after:
            frame = runner.time_of(max(steps[-1] for _, steps in after)) * self._document.scene.playback.rate
            names = _names([node for node, _ in after])
            return Shown(f"{names}: simulated after its bake (frame {frame:.6g}){self._speed()}")
        if len(baked) == len(nodes):
            return Shown(f"bake{self._speed()}")
        return Shown(f"simulated{self._speed()}" if runner.shown else "")

    def _speed(self) -> str:
        """Returns the speed of playback if it is slower than real time."""
        if not self._playback.playhead.playing or self._playback.pace >= SLOW_PACE:
            return ""
        cause = "rendering" if self._playback.slowed_by == "drawing" else "simulation"
        return f", {100.0 * self._playback.pace:.0f} % speed: limited by {cause}"


def _names(nodes: Sequence[Node]) -> str:
    return " · ".join(node.name for node in nodes) if len(nodes) <= 2 else f"{len(nodes)} objects"
