"""Growing: which way some hair grows; pure, so that it may run on any thread."""

from collections.abc import Callable

from sim.kinds.hair.growth import Ground, Growth, growth_on_ellipsoid, growth_on_model
from sim.kinds.hair.imported import growth_from_file
from sim.kinds.hair.settings import HairSettings, HairSource


def grown(
    settings: HairSettings, ground: Ground, former: Growth | None = None, pause: Callable[[], None] = lambda: None
) -> Growth:
    """Hair on what it grows on as that stands.

    Args:
        settings: Of the hair.
        ground: Where it grows.
        former: What was found before is not looked for again where the roots are the same.
        pause: Called now and then; what it raises ends the work.

    Raises:
        SettingsError: If nothing can grow.
    """
    if settings.source is HairSource.FILE:
        return growth_from_file(settings, ground, pause)
    if ground.model is None or ground.table is None:
        return growth_on_ellipsoid(settings, ground.world_from_surface, former, pause)
    return growth_on_model(settings, ground.model, ground.table, ground.world_from_surface, ground.maps, former, pause)
