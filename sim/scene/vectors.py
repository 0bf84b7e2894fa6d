"""Vector and colour types of settings."""

from typing import Annotated

import msgspec

Vec3 = tuple[float, float, float]
UnitFloat = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Colour = tuple[UnitFloat, UnitFloat, UnitFloat]
