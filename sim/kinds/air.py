"""Settings of several kinds about the air; see also `sinew.sim.maths.gusts.WindSettings`."""

import functools
from typing import Annotated

from sinew.sim.scene.params import Scale, param
from sinew.sim.scene.vectors import MOST, Amounts

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
