from pathlib import Path

import numpy as np
from PySide6.QtWidgets import QApplication

from sinew import resources
from sinew.app.cli.run import SceneRun
from sinew.app.cli.scene import opened
from sinew.app.timeline.playback import Playback
from sinew.sim.engine import Engine
from sinew.sim.gl.context import Context

STEPS = 70
"""More than the 64 of the walk."""


class Steps:
    """A stepper of an engine without a window."""

    is_active = has_state = True
    step_count = 0

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def step(self, time: float) -> float:
        self._engine.step(time)
        return time

    def can_reach(self, time: float) -> bool:
        return True

    def is_held(self, time: float) -> bool:
        return False

    def pull(self) -> None: ...

    def reset(self) -> None:
        self._engine.restart(0.0)


def test_the_cape_moves_as_the_command_line_simulates_it(qapp: QApplication) -> None:
    scene = opened(Path(resources.path("projects")) / "cape.sinew")
    with Context.headless() as context:
        run = SceneRun(context, scene)
        run.advance_to(STEPS)
        expected = run.engine.simulation.systems["cape"].cloth.positions()
        engine = SceneRun(context, scene).engine
        playback = Playback(lambda: scene.scene.playback, lambda: 5.0, Steps(engine))
        for _ in range(2):
            for _ in range(STEPS):
                playback.step_simulation()
            np.testing.assert_array_equal(engine.simulation.systems["cape"].cloth.positions(), expected)
            playback.reset_simulation()
        run.release()
        engine.release()
