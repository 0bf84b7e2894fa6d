"""Settings of several kinds about the air; see also `sinew.sim.maths.gusts.WindSettings`."""

import functools
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from sinew.sim.maths.arrays import Float64
from sinew.sim.scene.params import Scale, param, param_of
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


@dataclass(frozen=True, slots=True)
class AirTravel:
    """What moved gusts and turbulence since the start of a simulation, if wind or turbulence have keys.

    If the size of the gusts has keys, wind and turbulence are ways that show the phases of the waves at the present
    size: the size multiplied by the integral of the speed over the size.
    """

    wind: Vec3  # Way of the air [m]
    turbulence: float  # Integral of the speed of the gusts [m]
    change: float  # How often the turbulence has changed


def air_travel(node: Node, start: float, end: float) -> AirTravel | None:
    """Returns the travel from scene time `start` to `end` [s]; None if no key changes the air."""
    moving = {curve.address[1:]: curve for curve in node.curves if curve.part == node.kind and curve.field in _MOVING}
    if not moving:
        return None

    def present(field: str, component: int = -1) -> float:
        value: Any = getattr(node.settings, field, 0.0)
        return float(value if component < 0 else value[component])

    def travelled(field: str, component: int = -1) -> float:
        curve = moving.get((field, component))
        return present(field, component) * (end - start) if curve is None else curve.integral(start, end)

    def travelled_in_sizes(field: str, component: int = -1) -> float:
        curve = moving.get((field, component))
        speeds = present(field, component) if curve is None else np.array([curve.value(time) for time in times], float)
        return present(_SIZE) * float(np.sum(speeds * weights))

    way = travelled
    if (size := moving.get((_SIZE, -1))) is not None:
        keys = {key.time for curve in moving.values() for key in curve.keys if start < key.time < end}
        times, weights = _moments([start, *sorted(keys), end])
        allowed = param_of(type(node.settings), _SIZE).declared
        weights /= np.clip([float(size.value(time)) for time in times], allowed.lo, allowed.hi)
        way = travelled_in_sizes
    return AirTravel(
        (way("wind", 0), way("wind", 1), way("wind", 2)), way("turbulence"), travelled("turbulence_change")
    )


def _moments(ends: list[float]) -> tuple[list[float], Float64]:
    """Returns times and weights that integrate between times [s] by Gauss-Legendre quadrature in each span."""
    places, shares = np.polynomial.legendre.leggauss(_NODES)
    starts, lengths = np.array(ends[:-1])[:, None], np.diff(ends)[:, None]
    weights: Float64 = (0.5 * lengths * shares).ravel()
    return (starts + 0.5 * lengths * (places + 1.0)).ravel().tolist(), weights


_SIZE, _NODES = "turbulence_scale", 32
_MOVING = ("wind", "turbulence", "turbulence_change", _SIZE)
