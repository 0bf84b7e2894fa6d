import functools
import math

import numpy as np

from sinew.sim.fields.state import ENDLESS, FieldPlacement, FieldShape, FieldType
from sinew.sim.kinds.field.settings import FieldSettings, FieldSource, VortexProfile
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.curl_noise import pattern_at
from sinew.sim.memo import Memo
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.keyed import curves_of
from sinew.sim.scene.scene import Node, NodeId
from sinew.sim.scene.transform import rigid_matrix
from sinew.sim.scene.world_transforms import WorldTransforms

GUSTS = 3
"""Waves of the gusts; all have the same amplitude."""

SLOWEST = 1e-3
"""Least speed of the front of a pulse [m/s]."""


_unattached = Memo[dict[NodeId, FieldPlacement]]()


def placements(nodes: tuple[Node, ...], places: WorldTransforms) -> dict[NodeId, FieldPlacement]:
    """Hidden fields act like the others; fields that are all unattached keep their placements."""
    if any(node.attachment.node for node in nodes):
        return _placements(nodes, places)
    key = *nodes, places.scene.playback.simulation_start
    return _unattached.get(key, lambda: _placements(nodes, places))


def _placements(nodes: tuple[Node, ...], places: WorldTransforms) -> dict[NodeId, FieldPlacement]:
    found, start = {}, places.scene.playback.simulation_start
    for node, carrier in zip(nodes, places.carriers(nodes), strict=True):
        world_from_field = carrier.world_from_carrier @ rigid_matrix(node.transform, carrier.scale)
        found[node.id] = _placed(node, carrier.scale, world_from_field, start)
    return found


def _placed(node: Node, scale: float, world_from_field: Float64, start: float) -> FieldPlacement:
    """`scale` is of the parent; the simulation starts at scene time `start` [s]."""
    settings = node.settings
    assert isinstance(settings, FieldSettings)
    x, y, z = (abs(scale * factor) for factor in node.transform.scale)
    mean = (x * y * z) ** (1.0 / 3.0)
    half_extents, radius = (0.0, 0.0, 0.0), ENDLESS
    match settings.shape:
        case FieldShape.SPHERE:
            radius = settings.radius * mean
        case FieldShape.BOX:
            width, height, depth = settings.half_sizes
            half_extents, radius = (width * x, height * y, depth * z), 0.0
        case FieldShape.CAPSULE:
            half_extents, radius = (0.0, 0.5 * settings.length * y, 0.0), settings.radius * math.sqrt(x * z)
    numbers = functools.partial(numbers_at, node, start)
    return FieldPlacement(settings.type, world_from_field, half_extents, radius, settings.falloff * mean, numbers)


def numbers_at(node: Node, start: float, time: float) -> tuple[float, ...]:
    """See `FieldPlacement.numbers`; the simulation starts at scene time `start` [s]."""
    settings = node.settings
    assert isinstance(settings, FieldSettings)
    source = float(list(FieldSource).index(settings.source))
    match settings.type:
        case FieldType.WIND:
            speed = next(iter(curves_of(node, FieldSettings.kind, "speed")), None)
            way = settings.speed * time if speed is None else speed.integral(start, start + time)
            return _wind(settings, way)
        case FieldType.ATTRACTOR:
            return settings.strength, settings.core**2, -0.5 * (settings.power + 1.0), source
        case FieldType.VORTEX:
            is_smooth = float(settings.profile is VortexProfile.LAMB_OSEEN)
            return settings.circulation / (2.0 * math.pi), settings.core**2, is_smooth
        case FieldType.TURBULENCE:
            phases = pattern_at(time, settings.change, (0.0, 0.0, 0.0), settings.scale).phases
            upper, lower = divmod(settings.seed, 1 << 16)
            return settings.speed, 1.0 / settings.scale, upper, lower, *phases
        case FieldType.DRAG:
            return (settings.drag,)
        case FieldType.PULSE:
            return _pulse(settings, time, source)


def _wind(settings: FieldSettings, way: float) -> tuple[float, ...]:
    """Speed, amplitude of a gust over it, and numbers and phases of waves that went a way [m] with the wind."""
    ratios, starts = _random_waves(settings.seed)
    numbers = [2.0 * math.pi / settings.scale * ratio for ratio in ratios]
    phases = [(start + number * way) % (2.0 * math.pi) for start, number in zip(starts, numbers, strict=True)]
    # Each wave has a mean square of half its amplitude squared; together they are the square of `gusts`.
    return settings.speed, settings.gusts * math.sqrt(2.0 / GUSTS), *numbers, *phases


@functools.lru_cache(maxsize=64)
def _random_waves(seed: int) -> tuple[list[float], list[float]]:
    """Relative wave numbers and first phases."""
    random = np.random.default_rng(seed)
    return (2.0 ** random.uniform(-1.0, 1.0, GUSTS)).tolist(), random.uniform(0.0, 2.0 * math.pi, GUSTS).tolist()


def _pulse(settings: FieldSettings, time: float, source: float) -> tuple[float, ...]:
    """The mean of the pulse over a step is its strength times tanh(d) / d times 1 - tanh(a) tanh(a - d), where a is the
    distance to the front at the start of the step, and d the way of the front, both in widths.
    """
    speed = max(abs(settings.speed), SLOWEST)
    way = speed * STEP_TIME / settings.scale
    return (
        settings.strength * math.tanh(way) / way,
        1.0 / settings.scale,
        speed * (time - settings.start),
        way,
        source,
    )
