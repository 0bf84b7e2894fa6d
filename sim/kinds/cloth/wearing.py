"""How a cloth goes with the figure that wears it: where its particles start in a pose, and what carries them on.

A cloth that is a part of the figure's own file belongs to the bind pose, and each particle goes with its vertex of the
skin.  Any other belongs to the pose in which the simulation starts.  Tied to a bone, all of it goes with the bone; tied
to the skin, held particles go with the vertices nearest to them, and the others with the held ones, by nearness.
"""

import dataclasses
import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sim.assets.model import Mesh, Skin
from sim.figures.character import Character
from sim.figures.reference import shaped_mesh, skin
from sim.figures.settings import ModelSettings
from sim.jobs.pose import Pose
from sim.kinds.cloth.cloth import Cloth
from sim.kinds.cloth.model import ClothModel
from sim.kinds.cloth.settings import ClothSource, PinTarget
from sim.kinds.cloth.surface import section_triangles
from sim.kinds.contract import World
from sim.maths.transform import inverse_affine, transform_points
from sim.scene.scene import Node
from sim.skin.riding import Stand, motions, moved, nearest, of_joint, rows_of, spread

Float64 = npt.NDArray[np.float64]
Chosen = npt.NDArray[np.intp] | slice

ALL = slice(None)

_DIRECTIONS = np.array([d for d in itertools.product((-1.0, 0.0, 1.0), repeat=3) if any(d)])


@dataclass(frozen=True, slots=True, eq=False)
class WearingKey:
    """Everything that decides how a cloth is worn; what is large is told apart by identity.

    Attributes:
        model: The cloth.
        figure: Who wears it.
        figure_settings: Clip and skinning of the figure.
        mesh: What the cloth was made of, if that is the file of the figure.
        plain: What the pins follow, the section, held particles where it matters which, and the moment of the scene
            clock that the simulation starts at [s].
    """

    model: ClothModel
    figure: Character
    figure_settings: ModelSettings
    mesh: Mesh | None
    plain: tuple[PinTarget, str, str, bytes, float]

    def same(self, other: "WearingKey | None") -> bool:
        """Whether the cloth is worn in the same way."""
        if other is None or self.model is not other.model or self.figure is not other.figure:
            return False
        return self.mesh is other.mesh and (self.figure_settings, self.plain) == (other.figure_settings, other.plain)


def wearing_key(node: Node, cloth: Cloth, world: World) -> WearingKey | None:
    """How a cloth is worn now; None where it rides on no figure with bones, or as a whole on one of its bones."""
    carrier = world.scene.by_id.get(node.attachment.node)
    figure = world.figures.get(node.attachment.node)
    if carrier is None or node.attachment.bone or not isinstance(figure, Character) or figure.pose is None:
        return None
    settings, worn_by = cloth.settings, carrier.settings
    assert isinstance(worn_by, ModelSettings)
    is_own = settings.source is ClothSource.MESH and settings.mesh_path == worn_by.path
    held = cloth.pinned.tobytes() if settings.pin_target is PinTarget.SURFACE else b""
    plain = (settings.pin_target, settings.pin_bone, settings.mesh_section, held, world.start_time)
    mesh = world.meshes.get(settings.mesh_path) if is_own else None
    return WearingKey(cloth.model, figure, worn_by, mesh, plain)


def wearing_of(key: WearingKey, cloth: Cloth) -> "Wearing | None":
    """What follows from a key; None where the cloth goes with the node alone."""
    model, (target, bone, *_) = key.figure.model, key.plain
    if key.mesh is not None and model.skin is not None and np.array_equal(key.mesh.triangles, model.mesh.triangles):
        return Wearing(key, cloth, is_own=True)
    if target is PinTarget.BONE:
        is_tied = model.skeleton is not None and model.skeleton.find(bone) is not None
    else:
        is_tied = target is PinTarget.SURFACE and model.skin is not None
    return Wearing(key, cloth, is_own=False) if is_tied else None


class Wearing:
    """A cloth on a figure, both as they stand now.

    Args:
        key: What decides about it.
        cloth: The cloth.
        is_own: Whether its particles are vertices of the figure.

    Attributes:
        key: See above.
        is_own: See above.
    """

    def __init__(self, key: WearingKey, cloth: Cloth, *, is_own: bool) -> None:
        self.key, self.is_own = key, is_own
        self._points, self._held = cloth.rest(), np.flatnonzero(cloth.pinned)
        self._reference = self.at(key.figure.pose_at(key.plain[-1]))
        self._in_model = transform_points(inverse_affine(key.figure.world_from_model), self._points)

    def at(self, pose: Pose | None) -> Stand:
        assert pose is not None
        return Stand(pose, self.key.figure.world_from_model)

    def places(self, stand: Stand, chosen: Chosen = ALL) -> Float64:
        """Where particles are at rest on the figure in the world [m], shape (N, 3)."""
        if self.is_own:
            return self._skinned(stand, chosen)
        points = self._points[chosen]
        if stand.same(self._reference):
            return points
        return moved(self.motions(self._reference, stand, chosen), points)

    def motions(self, before: Stand, now: Stand, chosen: Chosen = ALL) -> Float64:
        """What carries particles from one moment to another, shape (N, 4, 4), or (1, 4, 4) for all."""
        return motions(rows_of(self._influences, chosen), before, now)

    def surface(self) -> tuple[Float64, npt.NDArray[np.uint32]]:
        """The bind pose where the figure stands now: vertices in the world [m], and the triangles that are cloth."""
        mesh = self.key.figure.model.mesh
        vertices = transform_points(self.key.figure.world_from_model, mesh.positions.astype(np.float64))
        return vertices, section_triangles(mesh, self.key.plain[2])

    def outline(self, stand: Stand) -> Float64:
        """Where the outermost particles are at rest on the figure in the world [m], shape (N, 3).

        Morphs and deformers count as they stand in the reference: this is asked for in every picture.
        """
        chosen, start = self._outermost
        return start if stand.same(self._reference) else moved(self.motions(self._reference, stand, chosen), start)

    @cached_property
    def _outermost(self) -> tuple[npt.NDArray[np.intp], Float64]:
        """Particles that are the last ones in some direction, and where they are in the reference."""
        places = self.places(self._reference)
        chosen = np.unique((places @ _DIRECTIONS.T).argmax(axis=0))
        return chosen, places[chosen]

    @cached_property
    def _influences(self) -> Skin:
        """Joints and weights of every particle."""
        model, (target, bone, *_) = self.key.figure.model, self.key.plain
        if target is PinTarget.BONE and not self.is_own:
            assert model.skeleton is not None
            return of_joint(model.skeleton.index(bone))
        assert model.skin is not None
        if self.is_own:
            return rows_of(model.skin, self._vertices)
        stand = self._reference
        mesh, pose = shaped_mesh(model.mesh, model.skin, stand.pose), stand.pose
        body = skin(mesh, model.skin, pose.palette, self.key.figure_settings.skinning, pose.centres)
        # Without a held particle nothing says where it hangs: it goes with all that is near to it, as one.
        chosen = self._held if len(self._held) else np.arange(len(self._points))
        anchors = rows_of(model.skin, nearest(self._in_model[chosen], body.positions))
        return spread(anchors, self._points[chosen] if len(self._held) else None, self._points)

    @cached_property
    def _vertices(self) -> npt.NDArray[np.intp]:
        """Vertex of the figure that each particle is."""
        mesh = self.key.figure.model.mesh
        vertices = np.unique(section_triangles(mesh, self.key.plain[2])).astype(np.intp)
        _, first = np.unique(self.key.model.particle_of_vertex, return_index=True)
        return vertices[first]

    def _skinned(self, stand: Stand, chosen: Chosen) -> Float64:
        points, pose = self._in_model[chosen].astype(np.float32), stand.pose
        model = self.key.figure.model
        mesh = model.mesh
        shaped = shaped_mesh(mesh, model.skin, pose)
        if shaped is not mesh:
            rows = self._vertices[chosen]
            points = points + (shaped.positions[rows] - mesh.positions[rows])
        part = dataclasses.replace(mesh, positions=points, normals=np.zeros_like(points), tangents=None)
        influences = rows_of(self._influences, chosen)
        body = skin(part, influences, pose.palette, self.key.figure_settings.skinning, pose.centres)
        return transform_points(stand.world_from_model, body.positions)
