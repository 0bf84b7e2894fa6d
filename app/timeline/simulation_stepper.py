"""Does simulation steps in the viewport's context; what `Playback` calls."""

import time
from collections.abc import Callable, Iterable

from app.viewport.client import ViewportClient
from sim.engine import Engine
from sim.simulation import Grab
from widgets.viewport import Viewport


class SimulationStepper:
    """Steps the engine of a client; inactive before `bind`, since playback exists before the viewport.

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
        """Whether there is anything to simulate."""
        engine = self._client.engine if self._client else None
        return engine is not None and engine.simulation.is_active

    @property
    def has_state(self) -> bool:
        """Whether something of it depends on more than the time."""
        engine = self._client.engine if self._client else None
        return engine is not None and engine.simulation.has_state

    @property
    def step_count(self) -> int:
        """Steps since the start."""
        engine = self._client.engine if self._client else None
        return engine.simulation.step_count if engine else 0

    def step(self, time: float) -> None:
        """One step, which ends at a moment of the scene clock [s]."""
        self._run(lambda engine: engine.step(time, self.grab))

    def rush(self, moments: Iterable[float], *, since: float, watch: bool) -> None:
        """Steps that end at moments of the scene clock [s], one after the other, without a picture.

        Every step is finished before the next moment is asked for, so that the caller can keep to a time.

        Args:
            moments: When the steps end.
            since: When the step before them ended; pictures of another moment may have been drawn meanwhile.
            watch: Look for what blew up.
        """
        client, viewport = self._client, self._viewport
        if client is None or viewport is None or client.engine is None:
            return
        with viewport.gl_current():
            client.prepare()
            client.engine.simulation.show(since)
            for moment in moments:
                client.engine.step(moment)
                client.engine.context.finish()
            if watch:
                client.engine.refresh(time.monotonic())

    def jump(self, time: float) -> None:
        """The scene clock goes to a moment [s] that does not follow the last step."""
        self._run(lambda engine: engine.jump(time))

    def reset(self) -> None:
        """Back to the start."""
        self._run(lambda engine: engine.simulation.reset())

    def _run(self, act: Callable[[Engine], None]) -> None:
        """Acts on the engine as the document is now, and shows the outcome."""
        client, viewport = self._client, self._viewport
        if client is None or viewport is None or client.engine is None:
            return
        with viewport.gl_current():
            client.prepare()
            act(client.engine)
        viewport.update()
