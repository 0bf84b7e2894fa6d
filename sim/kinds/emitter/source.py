import functools

import numpy as np

from sinew.sim.assets.model import Bounds
from sinew.sim.kinds.emitter.block import drag_terms
from sinew.sim.kinds.emitter.settings import EmissionAim, EmitterSettings, EmitterSource
from sinew.sim.maths.arrays import Float64
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.world_transforms import PosedCharacter, PosedCharacters, WorldTransforms

REACH_MAX = 5.0
"""Largest distance of the box beyond the source [m]."""


def missing_source(scene: Scene, characters: PosedCharacters, places: WorldTransforms, node: Node) -> str:
    settings, label, carrier = node.settings, node.name or node.id, scene.by_id.get(node.attachment.node)
    assert isinstance(settings, EmitterSettings)
    if not settings.is_on_surface:
        return places.missing(node)
    if carrier is None or not carrier.settings.is_character:
        return f"{label}: the model whose surface emits is not in the scene; nothing comes out of it"
    character = characters.get(carrier.id)
    if character is None:
        return ""
    mesh = character.model.mesh
    count = mesh.triangle_count if settings.source is EmitterSource.FACES else mesh.vertex_count
    what = "surface" if settings.source is EmitterSource.FACES else "vertices"
    return "" if count else f"{label}: {carrier.name or carrier.id} has no {what} to emit from; nothing comes out of it"


def missing_density(character: PosedCharacter, label: str, name: str, settings: EmitterSettings) -> str:
    skeleton = character.model.skeleton
    if not settings.density_bone or (skeleton is not None and settings.density_bone in skeleton.names):
        return ""
    return f"{label}: {name} has no bone {settings.density_bone!r} to say where it emits; it emits everywhere"


def reach_of(settings: EmitterSettings, axis: Float64) -> tuple[Float64, Float64]:
    """Returns least and greatest displacement of a particle [m], (3,) each, without turbulence and collisions.

    `axis` of the cone is a unit vector in the world.  Limited to `REACH_MAX`, so that a long fall does not count in
    full.
    """
    speed = settings.speed * (1.0 + settings.speed_variance)
    least, most = _direction_bounds(settings, axis)
    pull = np.array(settings.gravity) + settings.drag * np.array(settings.wind)
    gains, squares = _paces(settings.drag, settings.longest_life)
    lo = (squares * pull + speed * gains * least).min(axis=0)
    hi = (squares * pull + speed * gains * most).max(axis=0)
    return np.clip(lo, -REACH_MAX, 0.0), np.clip(hi, 0.0, REACH_MAX)


@functools.lru_cache(maxsize=64)
def _paces(drag: float, life: float) -> tuple[Float64, Float64]:
    paces = np.array([drag_terms(drag, time) for time in np.linspace(0.0, life, 17)[1:].tolist()])
    return paces[:, 1:2], paces[:, 2:3]


def _direction_bounds(settings: EmitterSettings, axis: Float64) -> tuple[Float64, Float64]:
    if settings.aim is not EmissionAim.AXIS:
        return np.full(3, -1.0), np.full(3, 1.0)
    away, half = np.arccos(np.clip(axis, -1.0, 1.0)), np.radians(settings.cone_angle)
    least, most = np.cos(np.minimum(away + half, np.pi)), np.cos(np.maximum(away - half, 0.0))
    return np.minimum(least, 0.0), np.maximum(most, 0.0)


def source_box(settings: EmitterSettings, world_from_source: Float64) -> Bounds:
    """Returns the world box of a source [m]; without size for a point."""
    half = {
        EmitterSource.SPHERE: (settings.source_radius,) * 3,
        EmitterSource.DISC: (settings.source_radius, 0.0, settings.source_radius),
        EmitterSource.BOX: tuple(0.5 * edge for edge in settings.source_size),
        EmitterSource.LINE: (0.5 * settings.source_size[0], 0.0, 0.0),
    }.get(settings.source, (0.0, 0.0, 0.0))
    reach = np.abs(world_from_source[:3, :3]) @ np.array(half)
    centre = world_from_source[:3, 3]
    return Bounds(centre - reach, centre + reach)


def emitter_box(settings: EmitterSettings, source: Bounds, world_from_source: Float64) -> Bounds:
    """Returns the world box [m] around a source and most of its particles; falling ends at the ground, y = 0."""
    axis = world_from_source[:3, 1]
    length = np.linalg.norm(axis)
    reach_lo, reach_hi = reach_of(settings, axis / length if length > 0.0 else np.array([0.0, 1.0, 0.0]))
    margin = 0.5 * settings.size
    lo, hi = source.lo + reach_lo - margin, source.hi + reach_hi + margin
    lo[1] = max(lo[1], min(source.lo[1], 0.0) - margin)
    return Bounds(lo, hi)
