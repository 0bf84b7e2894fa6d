import functools
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.model import CharacterModel, Mesh
from sinew.sim.characters.character import Character
from sinew.sim.colliders.skin import TRIANGLE, SkinPlacement
from sinew.sim.colliders.skin_mesh import skin_corners, with_yielding
from sinew.sim.colliders.state import SMALLEST_SIZE, ColliderPlacement, ColliderShape
from sinew.sim.kinds.background import Background, BackgroundJob, Pause, unpaused
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.contract import Service, World
from sinew.sim.maths.arrays import Float64, UInt32
from sinew.sim.scene.params import SettingsError
from sinew.sim.scene.scene import Node, NodeId
from sinew.sim.scene.transform import rigid_matrix
from sinew.sim.scene.world_transforms import WorldTransforms


def placements(nodes: tuple[Node, ...], places: WorldTransforms) -> dict[NodeId, ColliderPlacement | SkinPlacement]:
    """Returns the placements of colliders; hidden ones act like the others.

    Raises:
        SettingsError: If nothing of a skin can collide.
    """
    if not nodes:
        return {}
    carriers = places.carriers(nodes)
    fixed = _fixed(nodes, [carrier.scale for carrier in carriers])
    world = np.array([carrier.world_from_carrier for carrier in carriers]) @ fixed.own
    placed: dict[NodeId, ColliderPlacement | SkinPlacement] = {
        node_id: ColliderPlacement(shape, size, matrix, friction, restitution, yields)
        for (node_id, shape, size, friction, restitution, yields), matrix in zip(fixed.values, world, strict=True)
        if shape is not ColliderShape.SKIN
    }
    for node in fixed.skins:
        character = places.characters.get(node.attachment.node)
        if isinstance(character, Character):
            placed[node.id] = _skin(node, character)
    return placed


def _skin(node: Node, character: Character) -> SkinPlacement:
    settings, vertices = node.settings, character.primary.vertices
    assert isinstance(settings, ColliderSettings)
    corners = skin_table(character.model, settings.sections, settings.yielding)
    if not len(corners):
        chosen = f" in sections {', '.join(settings.sections)}" if settings.sections else ""
        raise SettingsError(f"the model has no triangles{chosen}")
    most = vertices.context.capabilities.max_texture_buffer_size // (TRIANGLE.dtype.itemsize // 16)
    if len(corners) > most:
        raise SettingsError(f"the skin has {len(corners)} triangles, the driver allows {most}")
    return SkinPlacement(corners, vertices, character.world_from_model, settings.friction, settings.restitution)


TABLES_MAX = 64
"""Maximum number of results of `skin_table` that are remembered."""

Names = tuple[str, ...]

_tables: list[tuple[weakref.ref[Mesh], tuple[Names, Names], UInt32]] = []
"""The latest results of `skin_table`, the last first."""
_lock = threading.Lock()


def _known_table(mesh: Mesh, names: tuple[Names, Names]) -> UInt32 | None:
    return next((table for known, others, table in _tables if known() is mesh and others == names), None)


def skin_table(model: CharacterModel, sections: Names, yielding: Names = (), _pause: Pause = unpaused) -> UInt32:
    """Returns the `skin_corners` of a model, on any thread; the same array in every call.

    Args:
        yielding: Joints whose vertices yield, with those below them.  A model need not have them.
    """
    mesh, names = model.mesh, (sections, yielding)
    known = _known_table(mesh, names)
    if known is not None:
        return known
    table = skin_corners(mesh, sections)
    if model.skeleton is not None and model.skin is not None and yielding:
        joints = [joint for joint in map(model.skeleton.find, yielding) if joint is not None]
        table = with_yielding(table, model.skeleton.below(joints)[model.skin.strongest])
    with _lock:
        known = _known_table(mesh, names)  # another thread may have been faster
        if known is None:
            alive = [one for one in _tables if one[0]() is not None]
            _tables[:] = [(weakref.ref(mesh), names, table), *alive[: TABLES_MAX - 1]]
        return table if known is None else known


class SkinTableJobs(Service):
    """Jobs on the worker thread that make tables of skins, by node."""

    def __init__(self, *_: object) -> None:
        self.running: dict[NodeId, tuple[Mesh, tuple[Names, Names], BackgroundJob[UInt32]]] = {}


def unfinished(nodes: Sequence[Node], world: World) -> dict[NodeId, BackgroundJob[UInt32]]:
    """Makes the tables of skins; returns the jobs that still run, none without a worker thread."""
    jobs, background = world.services.get(SkinTableJobs), world.services.get(Background)
    running = {}
    for node in nodes:
        settings, character = node.settings, world.characters.get(node.attachment.node)
        assert isinstance(settings, ColliderSettings)
        if settings.shape is not ColliderShape.SKIN or character is None:
            continue
        mesh, names = character.model.mesh, (settings.sections, settings.yielding)
        if _known_table(mesh, names) is None:
            job = jobs.running.get(node.id)
            if job is None or job[0] is not mesh or job[1] != names:
                job = mesh, names, background.start(functools.partial(skin_table, character.model, *names))
            if not job[2].is_done:
                running[node.id] = job
    jobs.running = running
    return {node_id: job for node_id, (_, _, job) in running.items()}


@dataclass(frozen=True, slots=True)
class _ColliderShapes:
    """Data of colliders that no pose changes, for carriers of these scales."""

    nodes: tuple[Node, ...]
    scales: list[float]
    # Id, shape, size (3,), friction, restitution and whether it yields, of each
    values: list[tuple[NodeId, ColliderShape, Float64, float, float, bool]]
    own: Float64  # Rigid placements carrier_from_collider, shape (N, 4, 4)
    skins: list[Node]


_made: list[_ColliderShapes] = []
"""The last results, as consecutive steps have the same colliders."""


def _fixed(nodes: tuple[Node, ...], scales: list[float]) -> _ColliderShapes:
    for made in _made:
        if made.nodes is nodes and made.scales == scales:
            return made
    values = []
    for node, scale in zip(nodes, scales, strict=True):
        settings = node.settings
        assert isinstance(settings, ColliderSettings)
        shape, size = sized(settings, scale * np.asarray(node.transform.scale))
        size.flags.writeable = False
        values.append((node.id, shape, size, settings.friction, settings.restitution, settings.yields))
    pairs = zip(nodes, scales, strict=True)
    made = _ColliderShapes(
        nodes,
        scales,
        values,
        np.array([rigid_matrix(node.transform, scale) for node, scale in pairs]),
        [node for node, value in zip(nodes, values, strict=True) if value[1] is ColliderShape.SKIN],
    )
    _made[:] = [made, *_made[:3]]
    return made


def sized(settings: ColliderSettings, scale: Float64) -> tuple[ColliderShape, Float64]:
    """Returns shape and size (3,) of a collider whose node is scaled by `scale` (3,), see `ColliderSettings`.

    Mirroring has no effect on these symmetric shapes.  Sizes have a lower limit.
    """
    factor = np.abs(np.asarray(scale, dtype=np.float64))
    shape = settings.shape
    if shape in (ColliderShape.PLANE, ColliderShape.SKIN):
        return shape, np.zeros(3)
    if shape is ColliderShape.CAPSULE:
        radius = settings.radius * np.sqrt(factor[0] * factor[2])
        return shape, np.array([_positive(radius), _positive(0.5 * settings.length * factor[1]), 0.0])
    if shape is ColliderShape.SPHERE:
        if factor[0] == factor[1] == factor[2]:
            return shape, np.array([_positive(settings.radius * factor[0]), 0.0, 0.0])
        return ColliderShape.ELLIPSOID, _positive(settings.radius * factor)
    sizes = settings.semi_axes if shape is ColliderShape.ELLIPSOID else settings.half_sizes
    return shape, _positive(np.asarray(sizes) * factor)


def _positive(value: npt.ArrayLike) -> Float64:
    return np.maximum(value, SMALLEST_SIZE)
