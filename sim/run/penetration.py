"""Penetration of cloth and strands into the skins of characters, of any kind with such points."""

import functools
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from sinew.sim.assets.model import Mesh
from sinew.sim.characters.character import Character
from sinew.sim.characters.settings import ModelSettings, section_list
from sinew.sim.colliders.skin import SkinPlacement
from sinew.sim.gl.task import Task, finish
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.background import Background, BackgroundJob
from sinew.sim.kinds.collider.place import skin_table
from sinew.sim.kinds.contract import ColliderSource, Measures, Service, System, World
from sinew.sim.maths.arrays import Float64, UInt32
from sinew.sim.scene.scene import Node, NodeId
from sinew.sim.skin.depth import SkinDepth

UNITS = {"inside": "", "depth": "mm", "depth_mean": "mm"}


@dataclass(frozen=True, slots=True)
class Penetration:
    """Points [m], (N, 3), and their depths below the outer surface of the skins [m], (N,).

    Depths are 0 outside and up to the tolerance; NaN for points without a place. Roots of strands are outside.
    """

    points: Float64
    depths: Float64

    @property
    def inside(self) -> Float64:
        """Depths of the points inside [m]."""
        found: Float64 = self.depths[self.depths > 0.0]
        return found

    def measures(self) -> dict[str, float]:
        """Returns number, largest and mean depth [mm] of the points inside; 0 without any."""
        inside = self.inside
        most, mean = (1e3 * float(inside.max()), 1e3 * float(inside.mean())) if len(inside) else (0.0, 0.0)
        return {"inside": float(len(inside)), "depth": most, "depth_mean": mean}


class SkinTables(Service):
    """Tables of the measured sections, by character; made on the worker thread if there is one."""

    def __init__(self, *_: object) -> None:
        self._jobs: dict[NodeId, tuple[Mesh, tuple[str, ...], BackgroundJob[UInt32]]] = {}

    def job(self, node: NodeId, character: Character, sections: tuple[str, ...], world: World) -> BackgroundJob[UInt32]:
        mesh, known = character.model.mesh, self._jobs.get(node)
        if known is None or known[0] is not mesh or known[1] != sections:
            work = functools.partial(skin_table, character.model, sections, ())
            known = self._jobs[node] = mesh, sections, world.services.get(Background).start(work)
        return known[2]


def is_measured(system: System) -> bool:
    """Returns True for surfaces and strands in a scene with a character that they may enter."""
    meanings = {array.meaning for array in system.arrays().values()} if system.is_ready else set()
    has_points = "points" in meanings and bool(meanings & {"triangles", "counts"})
    return has_points and bool(_bodies(system.node, system.world))


def penetration(system: System) -> Task[Penetration | None]:
    """Measures the current state of a system; None for particles, without a skin, and if it is not ready.

    The characters must be skinned for that state.
    """
    if not is_measured(system):
        return None
    arrays, world = {array.meaning: array for array in system.arrays().values()}, system.world
    bodies = _bodies(system.node, world)
    placed = {}
    for node, character in bodies.items():
        job = world.services.get(SkinTables).job(node, character, measured_sections(world, node), world)
        while not job.is_done:
            yield
        place = character.world_from_model
        if len(corners := job.result()):
            placed[node] = SkinPlacement(corners, character.primary.vertices, place, 0.0, 0.0)
    points = arrays["points"].read().astype(np.float64)
    measured = points.copy()
    if "counts" in arrays:
        counts = arrays["counts"].read().astype(np.int64)
        measured[np.cumsum(counts) - counts] = np.nan
    depths = yield from world.services.get(SkinDepth).measured(placed, measured)
    tolerance = 1e-3 * max(_settings(world, node).depth_tolerance for node in bodies)
    depths[(depths <= tolerance) | (np.isnan(depths) & np.isfinite(points).all(axis=1))] = 0.0
    return Penetration(points, depths)


def measures_of(system: System, names: Collection[str] | None = None) -> Mapping[str, float]:
    """Returns all quantities that are measured of a system; waits for the GPU.

    Args:
        names: Quantities that are needed, None for all; others may be left out.
    """
    own = dict(system.measures()) if isinstance(system, Measures) and system.is_ready else {}
    if names is not None and own.keys() >= set(names):
        return own
    found = finish(penetration(system))
    return own if found is None else own | found.measures()


def units_of(system: System) -> Mapping[str, str]:
    return {**UNITS, **(system.units if isinstance(system, Measures) else {})}


def measured_sections(world: World, node: NodeId) -> tuple[str, ...]:
    """Returns the chosen sections, else those that are neither hidden nor open sheets; nothing for all."""
    settings, mesh = _settings(world, node), world.characters[node].model.mesh
    if settings.depth_sections:
        return settings.depth_sections
    hidden = section_list(settings.hidden_sections)
    chosen = [part.name for part in mesh.sections if not part.is_open and part.name not in hidden]
    return tuple(dict.fromkeys(chosen)) if len(chosen) < len(mesh.sections) else ()


def _bodies(node: Node, world: World) -> dict[NodeId, Character]:
    """Returns the characters that a node is attached to, and all with colliders."""
    scene = world.scene
    colliders = (one for one in scene.nodes if ColliderSource in KINDS[one.settings.kind].declared)
    above = [one for below in (node, *colliders) for one in scene.carriers(below.id)]
    found = {one.id: world.characters.get(one.id) for one in above if isinstance(one.settings, ModelSettings)}
    return {node_id: character for node_id, character in found.items() if isinstance(character, Character)}


def _settings(world: World, node: NodeId) -> ModelSettings:
    settings = world.scene.node(node).settings
    assert isinstance(settings, ModelSettings)
    return settings
