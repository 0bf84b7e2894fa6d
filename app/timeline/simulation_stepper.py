"""Does simulation steps in the viewport's context, and keeps them; what `Playback` calls."""

import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from app.viewport.client import ViewportClient
from sim.engine import Engine
from sim.kept.film import Film
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
        self._client: ViewportClient | None = None
        self._viewport: Viewport | None = None

    def bind(self, client: ViewportClient, viewport: Viewport) -> None:
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
    def film(self) -> Film | None:
        return self._client.film if self._client else None

    @property
    def step_count(self) -> int:
        return self.film.step_count if self.film is not None else 0

    def is_held(self, time: float) -> bool:
        """Whether what is shown at a moment of the scene [s] is an earlier step, since its own is missing."""
        return self.film is not None and self.film.is_held(time)

    def can_reach(self, time: float) -> bool:
        """Whether the step at a moment of the scene [s] is kept, or is the next to be simulated."""
        return self.film is None or self.film.can_reach(self.film.step_of(time))

    def step(self, time: float) -> float:
        """Goes to the step at a moment of the scene clock [s], or simulates it where it is the next.

        Returns:
            When that step ends [s].
        """

        def act(_: Engine, film: Film) -> float:
            step = film.step_of(time)
            film.advance(step, self.grab)
            return film.time_of(step)

        moment = self._run(act)
        return time if moment is None else moment

    def pull(self) -> None:
        """Simulates a step of what the user holds while time stands."""
        grab = self.grab
        if grab is not None:
            self._run(lambda _, film: film.pull(grab))

    def rush(self, steps: Iterable[int], *, watch: bool) -> None:
        """Goes to steps, one after the other, without a picture.

        Every step is finished before the next is asked for, so that the caller can keep to a time.

        Args:
            steps: Their numbers, each of which follows the one before.
            watch: Look for what blew up.
        """
        client, viewport = self._client, self._viewport
        if client is None or viewport is None or client.engine is None or client.film is None:
            return
        with viewport.gl_current():
            client.prepare()
            for step in steps:
                client.film.advance(step)
                client.engine.context.finish()
            if watch:
                client.engine.refresh(time.monotonic())
                client.film.note_halts()

    def reset(self) -> None:
        """Back to the start; what follows is a run with the settings of now."""

        def act(_: Engine, film: Film) -> None:
            film.restart()
            film.settle()

        self._run(act)

    def forget(self) -> None:
        """Lets go of all steps that are kept: another project follows."""
        if self.film is not None:
            self.film.clear()

    def settle(self, time: float) -> None:
        """Brings the engine to a moment of the scene clock [s] at once, not with the next picture."""

        def act(_: Engine, film: Film) -> None:
            film.show(time)
            film.flush()

        self._run(act)

    def alter(self, change: Callable[[], None]) -> None:
        """Changes what is simulated by something other than a setting, at the step that is shown."""

        def act(_: Engine, film: Film) -> None:
            film.settle()
            change()
            film.altered()

        self._run(act)

    def _run(self, act: Callable[[Engine, Film], T]) -> T | None:
        client, viewport = self._client, self._viewport
        if client is None or viewport is None or client.engine is None or client.film is None:
            return None
        with viewport.gl_current():
            client.prepare()
            done = act(client.engine, client.film)
        viewport.update()
        return done
