"""Vector and colour types of settings; the ranges of their components are those that the declarations tell."""

from typing import Annotated

import msgspec

Vec3 = tuple[float, float, float]
UnitFloat = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Colour = tuple[UnitFloat, UnitFloat, UnitFloat]

FAR = 1e7
"""Furthest coordinate [m]: in single precision, places there are still a metre apart, and their cubes are finite."""
MOST = 1e6
"""Largest component of any other vector: factors, angles [°], velocities [m/s], accelerations [m/s²]."""

Coordinate = Annotated[float, msgspec.Meta(ge=-FAR, le=FAR)]
Amount = Annotated[float, msgspec.Meta(ge=-MOST, le=MOST)]
Place = tuple[Coordinate, Coordinate, Coordinate]
Amounts = tuple[Amount, Amount, Amount]
