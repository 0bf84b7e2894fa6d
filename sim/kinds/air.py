"""Settings of several kinds about the air; see also `sinew.sim.maths.gusts.WindSettings`."""

import functools
from dataclasses import dataclass
from typing import Annotated, Any

from sinew.sim.scene.params import Scale, param
from sinew.sim.scene.scene import Node
from sinew.sim.scene.vectors import MOST, Amounts, Vec3

Wind = Annotated[Amounts, param("Wind velocity.", unit="m/s", lo=-MOST, hi=MOST, step=0.1, group="Air", bounded=False)]
Turbulence = Annotated[
    float,
    param("RMS speed of the gusts added to the wind.", unit="m/s", lo=0.0, hi=100.0,
          soft=(0.0, 10.0), step=0.1, group="Air"),
]  # fmt: skip
TurbulenceScale = Annotated[
    float,
    param("Size of the gusts.", unit="m", lo=1e-3, hi=1e3, soft=(0.1, 10.0), scale=Scale.LOG, group="Air"),
]  # fmt: skip
TurbulenceSeed = Annotated[
    int, param("Random seed of the gusts.", lo=0, hi=2**31 - 1,
               soft=(0, 100), group="Air")
]  # fmt: skip
field_weight_param = functools.partial(
    param, "Factor of all force fields that act on the object.", lo=0.0, hi=10.0, soft=(0.0, 1.0), step=0.05,
    sparse=True,
)  # fmt: skip


def unkeyable(_node: Node, _part: str, field: str) -> str:
    return "the gusts would jump" if field == "turbulence_scale" else ""


@dataclass(frozen=True, slots=True)
class AirTravel:
    """What moved gusts and turbulence since the start of a simulation, if wind or turbulence have keys."""

    wind: Vec3  # Way of the air [m]
    turbulence: float  # Integral of the speed of the gusts [m]
    change: float  # How often the turbulence has changed


def air_travel(node: Node, start: float, end: float) -> AirTravel | None:
    """Returns the travel from scene time `start` to `end` [s]; None if no key changes the air."""
    moving = {curve.address[1:]: curve for curve in node.curves if curve.part == node.kind and curve.field in _MOVING}
    if not moving:
        return None

    def travelled(field: str, component: int = -1) -> float:
        curve = moving.get((field, component))
        if curve is not None:
            return curve.integral(start, end)
        value: Any = getattr(node.settings, field, 0.0)
        return float(value if component < 0 else value[component]) * (end - start)

    wind = travelled("wind", 0), travelled("wind", 1), travelled("wind", 2)
    return AirTravel(wind, travelled("turbulence"), travelled("turbulence_change"))


_MOVING = ("wind", "turbulence", "turbulence_change")
