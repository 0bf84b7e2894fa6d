from typing import Annotated, ClassVar

from sinew.sim.scene.params import Effect, Role, Scale, Settings, param
from sinew.sim.scene.vectors import Colour


class LightSettings(Settings, frozen=True, kw_only=True):
    """A point light whose intensity falls with the square of the distance; it casts the shadow."""

    kind: ClassVar[str] = "light"

    colour: Annotated[Colour, param("Colour of the light.", role=Role.COLOUR, effect=Effect.VIEW)] = (
        1.0,
        0.96,
        0.9,
    )
    intensity: Annotated[float, param(
        "Irradiance of a facing surface at the reference distance.", lo=0.0, hi=1e3, soft=(0.0, 5.0), step=0.1,
        effect=Effect.VIEW)] = 1.6  # fmt: skip
    reach: Annotated[float, param(
        "Distance at which the light has its nominal intensity.", label="Reference distance", unit="m", lo=1e-3,
        hi=1e6,
        soft=(0.1, 100.0), scale=Scale.LOG, effect=Effect.VIEW)] = 4.0  # fmt: skip
    shadow: Annotated[bool, param("Cast a shadow.", effect=Effect.VIEW)] = True
