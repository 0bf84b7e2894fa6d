"""Moves the held particles of a cloth with a bone or the skin of a character."""

import numpy as np
import numpy.typing as npt

from sinew.sim.characters.character import Character
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.texture import BufferTexture
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.pin_targets import PinTargetTable
from sinew.sim.kinds.cloth.settings import ClothSettings, PinTarget
from sinew.sim.kinds.cloth.teleport import SkinBinding
from sinew.sim.kinds.contract import World
from sinew.sim.maths.transform import transform_points
from sinew.sim.scene.scene import Node, NodeId
from sinew.sim.scene.world_transforms import PosedCharacters
from sinew.sim.skin.attachment import SurfaceAttachment, attach, joined

Float64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]


class PinFollower(Owner):
    """Attaches held particles to the parent of the cloth at the first step, and then moves them with it.

    A particle that is held later is attached at its position then.  Without the character or the bone the particles
    stay where they are.

    Attributes:
        moves: Whether the pins follow a bone or a skin, and not the node.
    """

    def __init__(self, settings: ClothSettings, parent: NodeId) -> None:
        self._settings, self._parent = settings, parent
        self.moves = settings.pin_target is not PinTarget.WORLD
        self._character: Character | None = None
        self._tied: Bool | None = None
        self._in_joint: Float64 = np.zeros((0, 3))
        self._attachment: SurfaceAttachment | None = None
        self._vertices: BufferTexture | None = None

    def is_of(self, settings: ClothSettings, parent: NodeId) -> bool:
        mine = self._settings
        return (parent, settings.pin_target, settings.pin_bone) == (self._parent, mine.pin_target, mine.pin_bone)

    def follows(self, characters: PosedCharacters) -> bool:
        return self.moves and self._parent in characters

    def detach(self) -> None:
        """Attaches anew at the next step, because the cloth was restarted."""
        self._tied = self._attachment = None
        self.disown(self._vertices)
        self._vertices = None

    def move(self, cloth: Cloth, node: Node, world: World, binding: SkinBinding | None = None) -> str:
        """Sets the pin targets for the step that ends with the present poses.

        Args:
            cloth: The cloth.
            node: Its node.
            world: The characters in the poses at the end of the step.
            binding: How the cloth is bound to the skin; a cloth from the character's own file is attached in the bind
                pose at its start.

        Returns:
            What is missing to follow, as one line; "" if nothing is, or while a model loads.
        """
        character = self._find(world.characters)
        if character is not self._character:
            # A model that was loaded again has other buffers.
            self.detach()
            self._character = character
        target, bone = self._settings.pin_target, self._settings.pin_bone
        if target is PinTarget.WORLD or (target is PinTarget.BONE and not bone):
            return ""
        label, stay = node.name or node.id, "they stay where they are"
        parent = world.scene.by_id.get(self._parent)
        if parent is None or not parent.settings.is_character:
            return f"{label}: the model that its pins follow is not in the scene; {stay}"
        if character is None:
            return ""
        if target is PinTarget.BONE:
            frame = character.joint_frame(bone)
            if frame is None:
                return f"{label}: {parent.name} has no bone {bone!r} for its pins to follow; {stay}"
            if cloth.pins.flags.any():
                self._move_with_bone(cloth, frame)
        elif not character.model.mesh.triangle_count:
            return f"{label}: {parent.name} has no surface for its pins to follow; {stay}"
        elif cloth.pins.flags.any():
            own = binding if binding is not None and binding.is_own and not cloth.step_count else None
            self._move_with_surface(cloth, character, own)
        return ""

    def ties(self) -> PinTargetTable:
        foot = self._attachment
        feet = () if foot is None else (foot.particles, foot.corners, foot.weights, foot.heights)
        return PinTargetTable(self._tied, self._in_joint, feet)

    def restore(self, cloth: Cloth, ties: PinTargetTable, characters: PosedCharacters) -> None:
        """Attaches the particles of a cloth as `ties` had them."""
        self.detach()
        self._character = self._find(characters)
        self._tied, self._in_joint = ties.held, ties.in_joint
        if ties.feet:
            self._attachment = SurfaceAttachment(*ties.feet)
            cloth.pins.attach(self._attachment)

    def _find(self, characters: PosedCharacters) -> Character | None:
        character = characters.get(self._parent)
        assert isinstance(character, Character | None)
        return character

    def _move_with_bone(self, cloth: Cloth, frame: Float64) -> None:
        flags = cloth.pins.flags
        new = flags & ~self._tied if self._tied is not None else flags
        if new.any():
            if len(self._in_joint) != len(new) or self._tied is None:
                self._in_joint = np.zeros((len(new), 3))
            self._in_joint[new] = (_positions(cloth, new) - frame[:3, 3]) @ frame[:3, :3]
        self._tied = flags.copy()
        cloth.pins.set_targets(self._in_joint @ frame[:3, :3].T + frame[:3, 3])

    def _move_with_surface(self, cloth: Cloth, character: Character, own: SkinBinding | None) -> None:
        flags, vertices = cloth.pins.flags, character.primary.vertices
        if self._vertices is None:
            self._vertices = self.owns(
                BufferTexture(vertices.context, vertices, "rgba32f", label="surface of the pins")
            )
        if self._tied is None or not np.array_equal(self._tied, flags):
            new = flags & ~self._tied if self._tied is not None else flags
            numbers = np.flatnonzero(new).astype(np.int32)
            if own is not None:
                added = attach(numbers, cloth.rest()[new], *own.surface())
            else:
                skinned = character.primary.read()["position"][:, :3].astype(np.float64)
                surface = transform_points(character.world_from_model, skinned)
                added = attach(numbers, _positions(cloth, new), surface, character.model.mesh.triangles)
            self._attachment = added if self._attachment is None else joined(self._attachment, added, flags)
            cloth.pins.attach(self._attachment)
            self._tied = flags.copy()
        cloth.pins.follow(self._vertices, vertices.dtype.itemsize // 16, character.world_from_model)


def _positions(cloth: Cloth, chosen: Bool) -> Float64:
    """Positions of some particles now [m], shape (N, 3); after the start this waits for the GPU."""
    everything = cloth.positions() if cloth.step_count else cloth.start
    positions: Float64 = everything[chosen].astype(np.float64)
    return positions
