"""The air that surrounds nodes: parameters that kinds with wind share; see `sim.maths.gusts.WindSettings`."""

from typing import Annotated

from sim.scene.params import Scale, param
from sim.scene.vectors import MOST, Amounts

Wind = Annotated[
    Amounts, param("Velocity of the air.", unit="m/s", lo=-MOST, hi=MOST, step=0.1, group="Air", bounded=False)
]
Turbulence = Annotated[
    float,
    param("Root mean square speed of the gusts that are added to the wind.", unit="m/s", lo=0.0, hi=100.0,
          soft=(0.0, 10.0), step=0.1, group="Air"),
]  # fmt: skip
TurbulenceScale = Annotated[
    float,
    param("Size of the gusts.", unit="m", lo=1e-3, hi=1e3, soft=(0.1, 10.0), scale=Scale.LOG, group="Air"),
]  # fmt: skip
TurbulenceSeed = Annotated[
    int, param("Which of the random winds blows; the same number gives the same gusts.", lo=0, hi=2**31 - 1,
               soft=(0, 100), group="Air")
]  # fmt: skip
