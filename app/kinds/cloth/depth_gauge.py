"""Depth of the shown step of a garment in the skins of characters."""

from collections.abc import Callable
from typing import Any

from sinew.app.session.editor_context import EditorContext
from sinew.app.tasks import Priority, QueueTask, TaskHandle
from sinew.sim.gl.task import Delay
from sinew.sim.run.penetration import Penetration, penetration

REST = 0.3
"""Time for which a step is shown before it is measured [s]."""

DEEP = 10.0
"""Least depth that the line reports [mm]."""


class DepthGauge:
    """Measures while playback is paused, so that playing costs nothing; `arrived` is called after a measurement."""

    def __init__(self, context: EditorContext, arrived: Callable[[], None]) -> None:
        self._context, self._arrived = context, arrived
        self._task = TaskHandle()
        self._shown: tuple[object, ...] = ()
        self._found: Penetration | None = None

    def note(self, system: Any) -> str:
        """Returns a line about the shown step if a particle is deep; "" also while it is not known."""
        self._follow(system)
        found = self._found.measures() if self._found is not None else {}
        if found.get("depth", 0.0) < DEEP:
            return ""
        return (
            f"Particles in the skin at this step: {found['inside']:,.0f}, at most {found['depth']:.0f} mm deep. Under "
            "a hand that presses the cloth 20 mm are usual, elsewhere none. If arms are in the body, add the modifier "
            "Arm space to the character. View ▸ Penetration shows every step."
        )

    def _follow(self, system: Any) -> None:
        runner, playback = self._context.stepper.runner, self._context.playback
        stands = runner is not None and not (playback.is_running or playback.is_waiting)
        shown: tuple[object, ...] = ()
        if runner is not None and stands and system.is_ready and not runner.is_held(playback.playhead.time):
            shown = (system, runner.shown, runner.mark(runner.shown))
        if shown != self._shown:
            self._task.cancel()
            self._shown, self._found = shown, None
            if shown:
                self._task = self._context.tasks.add(self._measured(system), Priority.COMPARE, on_done=self._take)

    def _measured(self, system: Any) -> QueueTask[Penetration | None]:
        yield Delay(REST)
        return (yield from penetration(system))

    def _take(self, found: Penetration | None) -> None:
        self._found = found
        self._arrived()
