"""How far it is from one key to the next, by the part of the time between them."""

from collections.abc import Callable, Mapping

from sim.assets.model import Interpolation

_EXPONENT = 10.0
"""Doublings on the way of an exponential easing."""

_EASED: Mapping[Interpolation, Callable[[float], float]] = {
    Interpolation.NEAREST: lambda f: float(f >= 0.5),
    Interpolation.STEP: lambda _: 0.0,
    Interpolation.QUADRATIC: lambda f: f * f,
    Interpolation.SMOOTH: lambda f: f * f * (3.0 - 2.0 * f),
    Interpolation.EXPONENTIAL: lambda f: (2.0 ** (_EXPONENT * f) - 1.0) / (2.0**_EXPONENT - 1.0),
}


def eased(interpolation: Interpolation, fraction: float) -> float:
    """Part of the way at a part of the time, 0 to 1 both; every one is at the key at a key.

    What runs through more than two keys is even here.
    """
    if interpolation is Interpolation.LINEAR:
        return fraction
    if interpolation is Interpolation.STEP and fraction >= 1.0:
        return 1.0
    easing = _EASED.get(interpolation)
    return fraction if easing is None else easing(fraction)


def catmull_rom(fraction: float) -> tuple[float, float, float, float]:
    """Weights of the key before, the two around a moment, and the key after; their sum is 1.

    Source: Catmull and Rom 1974, "A class of local interpolating splines", uniform, tension 1/2.
    """
    f, f2, f3 = fraction, fraction**2, fraction**3
    return (-f + 2 * f2 - f3) / 2, (2 - 5 * f2 + 3 * f3) / 2, (f + 4 * f2 - 3 * f3) / 2, (f3 - f2) / 2
