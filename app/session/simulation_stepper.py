from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sinew.app.session.renderer import ViewportRenderer
from sinew.sim.kinds.contract import Grab
from sinew.sim.run.runner import SimulationRunner
from sinew.widgets.viewport import Viewport


class SimulationStepper:
    """Steps simulations in the context of the viewport; does nothing before `bind`, as playback is older than it."""

    def __init__(self) -> None:
        self.grab: Grab | None = None
        self._client: ViewportRenderer | None = None
        self._viewport: Viewport | None = None

    def bind(self, client: ViewportRenderer, viewport: Viewport) -> None:
        self._client, self._viewport = client, viewport

    @property
    def runner(self) -> SimulationRunner | None:
        return self._client.runner if self._client is not None else None

    @property
    def is_active(self) -> bool:
        return self.runner is not None and self.runner.engine.simulation.is_active

    @property
    def is_waiting(self) -> bool:
        """True while shaders of simulated nodes are compiling, or colliders are being made."""
        is_compiling = self._client is not None and self._client.is_compiling
        return is_compiling or (self.runner is not None and self.runner.engine.simulation.is_waiting)

    @property
    def has_state(self) -> bool:
        return self.runner is not None and self.runner.engine.simulation.has_state

    @property
    def step_count(self) -> int:
        return self.runner.step_count if self.runner is not None else 0

    def is_held(self, time: float) -> bool:
        return self.runner is not None and self.runner.is_held(time)

    def can_reach(self, time: float) -> bool:
        return self.runner is None or self.runner.can_reach(self.runner.step_of(time))

    def step(self, time: float) -> float:
        """Shows the step at a scene time [s], or simulates it if it is the next; returns when it ends [s]."""
        with self._current() as runner:
            if runner is None:
                return time
            step = runner.step_of(time)
            runner.advance(step, self.grab)
            return runner.time_of(step)

    def pull(self) -> None:
        with self._current() as runner:
            if runner is not None and self.grab is not None:
                runner.pull(self.grab)

    def prepare(self) -> None:
        with self._current():
            pass

    def reset(self) -> None:
        with self._current() as runner:
            if runner is not None:
                runner.reset()

    def forget(self) -> None:
        if self.runner is not None:
            self.runner.clear()

    def settle(self, time: float) -> None:
        """Shows a scene time [s] now, instead of with the next frame."""
        with self._current() as runner:
            if runner is not None:
                runner.show(time)
                runner.cache.flush()

    def alter(self, change: Callable[[], None]) -> None:
        """Calls `change`, which changes the state of the shown step."""
        with self._current() as runner:
            if runner is not None:
                runner.settle()
                change()
                runner.altered()

    @contextmanager
    def _current(self) -> Iterator[SimulationRunner | None]:
        """Applies the current document and makes the context current; yields None without a viewport."""
        client, viewport = self._client, self._viewport
        if client is None or viewport is None or client.runner is None:
            yield None
            return
        with viewport.gl_current():
            client.prepare()
            yield client.runner
        viewport.update()
