"""Generates strands on a worker thread and uploads them in small steps."""

import functools
from dataclasses import replace

from sinew.sim.gl.context import Context
from sinew.sim.gl.task import Task
from sinew.sim.kinds.background import Background, Pause, unpaused
from sinew.sim.kinds.hair.growth import Growth, GrowthSurface, growth_on_ellipsoid, growth_on_model
from sinew.sim.kinds.hair.imported import growth_from_file
from sinew.sim.kinds.hair.records import GeneratedStrands, StrandBuffers, packed_strands, upload_strands
from sinew.sim.kinds.hair.settings import HairForm, HairSettings, HairSource
from sinew.sim.kinds.hair.shaping import edited
from sinew.sim.kinds.hair.surface_coverage import coverage_of


def grown(
    settings: HairSettings, ground: GrowthSurface, former: Growth | None = None, pause: Pause = unpaused
) -> Growth:
    """Generates strands on a surface; pure, so that it can run on any thread.

    Args:
        former: Earlier strands, whose nearest guides are reused if the roots are the same.
        pause: See `sinew.sim.kinds.background`.

    Raises:
        SettingsError: If nothing can grow.
    """
    if settings.source is HairSource.FILE:
        return growth_from_file(settings, ground, pause)
    if ground.model is None or ground.table is None:
        return growth_on_ellipsoid(settings, ground.world_from_surface, former, pause)
    return growth_on_model(settings, ground.model, ground.table, ground.world_from_surface, ground.maps, former, pause)


def grown_whole(
    settings: HairSettings, ground: GrowthSurface, former: Growth | None = None, pause: Pause = unpaused
) -> GeneratedStrands:
    growth = grown(settings, ground, former, pause)
    as_grown = growth.guides
    growth = replace(growth, guides=edited(as_grown, growth.surface, settings.groom))
    coverage = functools.cache(functools.partial(coverage_of, settings, ground, growth))
    if settings.form in (HairForm.SHELLS, HairForm.AUTOMATIC):
        coverage()
    growth.rooted  # noqa: B018  computed here, on the worker thread
    return GeneratedStrands(settings, as_grown, growth, packed_strands(settings, growth), coverage)


class StrandGeneration:
    """Strands that are being generated; `settings`, `ground` and `former` as for `grown`."""

    def __init__(
        self,
        context: Context,
        background: Background,
        settings: HairSettings,
        ground: GrowthSurface,
        former: Growth | None,
    ) -> None:
        self._context, self._knots = context, settings.knots
        work = functools.partial(grown_whole, settings, ground, former)
        self._job = background.start(lambda pause: work(pause=pause))
        self._steps: Task[StrandBuffers] | None = None
        self._buffers: StrandBuffers | None = None
        self._error: Exception | None = None

    @property
    def share(self) -> float:
        """Progress, 0 to 1."""
        return self._job.share

    @property
    def is_done(self) -> bool:
        return self._buffers is not None or self._error is not None

    def turn(self) -> bool:
        """Uploads a small part; returns whether there was one.  The context must be current."""
        if self.is_done or not self._job.is_done:
            return False
        try:
            if self._steps is None:
                self._steps = upload_strands(self._context, self._job.result().packed, self._knots)
            next(self._steps)
        except StopIteration as done:
            self._buffers = done.value
        except Exception as error:  # raised by `take`
            self._error = error
        return True

    def take(self) -> tuple[GeneratedStrands, StrandBuffers]:
        """Returns the strands; waits for them.

        Raises:
            SettingsError: If nothing can grow.
        """
        while not self.is_done:
            self.turn()
        if self._error is not None:
            raise self._error
        assert self._buffers is not None
        return self._job.result(), self._buffers

    def cancel(self) -> None:
        self._job.cancel()
