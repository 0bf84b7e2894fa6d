"""Lets the held particles of a cloth follow a bone or the skin of a figure."""

import numpy as np
import numpy.typing as npt

from sim.characters.character import Character
from sim.gl.texture import BufferTexture
from sim.kinds.cloth.cloth import Cloth
from sim.kinds.cloth.pin_targets import PinTargetTable
from sim.kinds.cloth.settings import ClothSettings, PinTarget
from sim.kinds.cloth.skin_binding import SkinBinding
from sim.kinds.contract import World
from sim.maths.transform import transform_points
from sim.scene.scene import Node, NodeId
from sim.scene.world_transforms import PosedCharacters
from sim.skin.attachment import SurfaceAttachment, attach, joined

Float64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]


class PinFollower:
    """Ties held particles to what their cloth rides on, at the moment of the first step; then moves them.

    A particle that is held later is tied where it is then.  Where the model or the bone is missing the particles stay
    where they are.

    Args:
        settings: What the pins follow.
        carrier: The node that the cloth rides on, or "".
    """

    def __init__(self, settings: ClothSettings, carrier: NodeId) -> None:
        self._settings, self._carrier = settings, carrier
        self._character: Character | None = None
        self._tied: Bool | None = None
        self._in_joint: Float64 = np.zeros((0, 3))
        self._attachment: SurfaceAttachment | None = None
        self._vertices: BufferTexture | None = None

    def is_of(self, settings: ClothSettings, carrier: NodeId) -> bool:
        return carrier == self._carrier and _target_of(settings) == _target_of(self._settings)

    @property
    def moves(self) -> bool:
        """Whether the pins go with a bone or a skin, and not with the node."""
        return self._settings.pin_target is not PinTarget.WORLD

    def follows(self, characters: PosedCharacters) -> bool:
        return self.moves and self._carrier in characters

    def missing(self, node: Node, world: World) -> str:
        """What there is not to follow, as one line; "" for nothing, or while a model is being read."""
        settings, label = self._settings, node.name or node.id
        if not self.moves or (settings.pin_target is PinTarget.BONE and not settings.pin_bone):
            return ""
        carrier = world.scene.by_id.get(self._carrier)
        if carrier is None or not carrier.settings.is_character:
            return f"{label}: the model that its pins follow is not in the scene; they stay where they are"
        character, name = self._bindings_of(world.characters), carrier.name
        if character is None:
            return ""
        if settings.pin_target is PinTarget.BONE and character.joint_frame(settings.pin_bone) is None:
            return f"{label}: {name} has no bone {settings.pin_bone!r} for its pins to follow; they stay where they are"
        if settings.pin_target is PinTarget.SURFACE and not character.model.mesh.triangle_count:
            return f"{label}: {name} has no surface for its pins to follow; they stay where they are"
        return ""

    def detach(self) -> None:
        """Ties anew at the next step, because the cloth started again."""
        self._tied = self._attachment = None
        if self._vertices is not None:
            self._vertices.release()
            self._vertices = None

    def move(self, cloth: Cloth, characters: PosedCharacters, skin_binding: SkinBinding | None = None) -> None:
        """Sets where the held particles go in the step that ends with the figures as they stand now.

        Args:
            cloth: The cloth.
            characters: As they stand now.
            skin_binding: How the figure wears it; what is a part of the figure is tied in the bind pose when it starts.
        """
        character = self._bindings_of(characters)
        if character is not self._character:
            # A model that was read again has other buffers.
            self.detach()
            self._character = character
        if character is None or not cloth.pinned.any():
            return
        if self._settings.pin_target is PinTarget.BONE:
            self._move_with_bone(cloth, character)
        elif self._settings.pin_target is PinTarget.SURFACE and character.model.mesh.triangle_count:
            own = skin_binding if skin_binding is not None and skin_binding.is_own and not cloth.step_count else None
            self._move_with_surface(cloth, character, own)

    def ties(self) -> PinTargetTable:
        foot = self._attachment
        feet = () if foot is None else (foot.particles, foot.corners, foot.weights, foot.heights)
        return PinTargetTable(self._tied, self._in_joint, feet)

    def tie(self, cloth: Cloth, ties: PinTargetTable, characters: PosedCharacters) -> None:
        """Ties the particles of a cloth as they were tied before."""
        self.detach()
        self._character = self._bindings_of(characters)
        self._tied, self._in_joint = ties.held, ties.in_joint
        if ties.feet:
            self._attachment = SurfaceAttachment(*ties.feet)
            cloth.attach_pins(self._attachment)

    def _bindings_of(self, characters: PosedCharacters) -> Character | None:
        character = characters.get(self._carrier)
        assert isinstance(character, Character | None)
        return character

    def _move_with_bone(self, cloth: Cloth, character: Character) -> None:
        frame = character.joint_frame(self._settings.pin_bone)
        if frame is None:
            return
        new = self._newly_held(cloth)
        if new.any():
            if len(self._in_joint) != len(new) or self._tied is None:
                self._in_joint = np.zeros((len(new), 3))
            self._in_joint[new] = (_places(cloth, new) - frame[:3, 3]) @ frame[:3, :3]
        self._tied = cloth.pinned.copy()
        cloth.set_pin_targets(self._in_joint @ frame[:3, :3].T + frame[:3, 3])

    def _move_with_surface(self, cloth: Cloth, character: Character, own: SkinBinding | None) -> None:
        vertices = character.primary.vertices
        new = self._newly_held(cloth)
        if self._vertices is None:
            self._vertices = BufferTexture(vertices.context, vertices, "rgba32f", label="worn surface")
        if self._tied is None or not np.array_equal(self._tied, cloth.pinned):
            numbers = np.flatnonzero(new).astype(np.int32)
            if own is not None:
                added = attach(numbers, cloth.rest()[new], *own.surface())
            else:
                placed = character.primary.read()["position"][:, :3].astype(np.float64)
                world = transform_points(character.world_from_model, placed)
                added = attach(numbers, _places(cloth, new), world, character.model.mesh.triangles)
            self._attachment = added if self._attachment is None else joined(self._attachment, added, cloth.pinned)
            cloth.attach_pins(self._attachment)
            self._tied = cloth.pinned.copy()
        texels = vertices.dtype.itemsize // 16
        cloth.follow_surface(self._vertices, texels, character.world_from_model)

    def _newly_held(self, cloth: Cloth) -> Bool:
        """Held particles that are not tied yet, shape (P,)."""
        return cloth.pinned & ~self._tied if self._tied is not None else cloth.pinned.copy()


def _places(cloth: Cloth, chosen: Bool) -> Float64:
    """Places of some particles now [m], shape (N, 3); after the start this waits for the GPU."""
    everything = cloth.positions() if cloth.step_count else cloth.start
    places: Float64 = everything[chosen].astype(np.float64)
    return places


def _target_of(settings: ClothSettings) -> tuple[PinTarget, str]:
    return settings.pin_target, settings.pin_bone
