import math
from typing import Any


def irradiance(prim: Any, kind: str, start: Any, unit: float) -> float:
    """Returns the irradiance at 1 m of a USD light: radiance times the area that is seen, without it if normalised.

    Args:
        kind: Type of the prim.
        unit: Length of the unit of the file [m].
    """

    def value(name: str, default: float) -> float:
        found = prim.GetAttribute(f"inputs:{name}").Get(start)
        return float(found) if found is not None else default

    radius, width, height, length = (
        value(name, default) * unit
        for name, default in (("radius", 0.5), ("width", 1.0), ("height", 1.0), ("length", 1.0))
    )
    seen = {"RectLight": width * height, "CylinderLight": 2.0 * radius * length}.get(kind, math.pi * radius**2)
    whole = {"SphereLight": 4.0 * seen, "CylinderLight": math.pi * seen}.get(kind, seen)
    radiance: float = value("intensity", 1.0) * 2.0 ** min(value("exposure", 0.0), 64.0)
    is_normalised = bool(prim.GetAttribute("inputs:normalize").Get(start))
    return radiance * seen / (whole if is_normalised and whole > 0.0 else 1.0)
