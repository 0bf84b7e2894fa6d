"""Does simulation steps in the viewport's context, and keeps them; what `Playback` calls."""

import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from app.viewport.renderer import ViewportRenderer
from sim.cache.simulation_cache import SimulationCache
from sim.engine import Engine
from sim.simulation import Grab
from widgets.viewport import Viewport

T = TypeVar("T")


class SimulationStepper:
    """Steps the film of a client; inactive before `bind`, since playback exists before the viewport.

    Attributes:
        grab: Particle that the user drags, or None.
    """

    def __init__(self) -> None:
        self.grab: Grab | None = None
        self._client: ViewportRenderer | None = None
        self._viewport: Viewport | None = None

    def bind(self, client: ViewportRenderer, viewport: Viewport) -> None:
        """Says whose engine is stepped, in whose context."""
        self._client, self._viewport = client, viewport

    @property
    def is_active(self) -> bool:
        engine = self._client.engine if self._client else None
        return engine is not None and engine.simulation.is_active

    @property
    def is_waiting(self) -> bool:
        """Whether something is to be simulated that is being compiled."""
        return self._client is not None and self._client.is_compiling

    @property
    def has_state(self) -> bool:
        """Whether something of it depends on more than the time."""
        engine = self._client.engine if self._client else None
        return engine is not None and engine.simulation.has_state

    @property
    def cache(self) -> SimulationCache | None:
        return self._client.cache if self._client else None

    @property
    def step_count(self) -> int:
        return self.cache.step_count if self.cache is not None else 0

    def is_held(self, time: float) -> bool:
        """Whether what is shown at a moment of the scene [s] is an earlier step, since its own is missing."""
        return self.cache is not None and self.cache.is_held(time)

    def can_reach(self, time: float) -> bool:
        """Whether the step at a moment of the scene [s] is kept, or is the next to be simulated."""
        return self.cache is None or self.cache.can_reach(self.cache.step_of(time))

    def step(self, time: float) -> float:
        """Goes to the step at a moment of the scene clock [s], or simulates it where it is the next.

        Returns:
            When that step ends [s].
        """

        def act(_: Engine, cache: SimulationCache) -> float:
            step = cache.step_of(time)
            cache.advance(step, self.grab)
            return cache.time_of(step)

        moment = self._run(act)
        return time if moment is None else moment

    def pull(self) -> None:
        """Simulates a step of what the user holds while time stands."""
        grab = self.grab
        if grab is not None:
            self._run(lambda _, cache: cache.pull(grab))

    def rush(self, steps: Iterable[int], *, watch: bool) -> None:
        """Goes to steps, one after the other, without a picture.

        Every step is finished before the next is asked for, so that the caller can keep to a time.

        Args:
            steps: Their numbers, each of which follows the one before.
            watch: Look for what blew up.
        """
        client, viewport = self._client, self._viewport
        if client is None or viewport is None or client.engine is None or client.cache is None:
            return
        with viewport.gl_current():
            client.prepare()
            for step in steps:
                client.cache.advance(step)
                client.engine.context.finish()
            if watch:
                client.engine.refresh(time.monotonic())
                client.cache.note_stop_reports()

    def reset(self) -> None:
        """Back to the start; what follows is a run with the settings of now."""

        def act(_: Engine, cache: SimulationCache) -> None:
            cache.restart()
            cache.settle()

        self._run(act)

    def forget(self) -> None:
        """Lets go of all steps that are kept: another project follows."""
        if self.cache is not None:
            self.cache.clear()

    def settle(self, time: float) -> None:
        """Brings the engine to a moment of the scene clock [s] at once, not with the next picture."""

        def act(_: Engine, cache: SimulationCache) -> None:
            cache.show(time)
            cache.flush()

        self._run(act)

    def alter(self, change: Callable[[], None]) -> None:
        """Changes what is simulated by something other than a setting, at the step that is shown."""

        def act(_: Engine, cache: SimulationCache) -> None:
            cache.settle()
            change()
            cache.altered()

        self._run(act)

    def _run(self, act: Callable[[Engine, SimulationCache], T]) -> T | None:
        client, viewport = self._client, self._viewport
        if client is None or viewport is None or client.engine is None or client.cache is None:
            return None
        with viewport.gl_current():
            client.prepare()
            done = act(client.engine, client.cache)
        viewport.update()
        return done
