import numpy as np

from sinew.sim.characters.character import Character
from sinew.sim.colliders.skin_mesh import skin_corners
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.texture import BufferTexture
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.settings import ClothSettings, PinTarget
from sinew.sim.kinds.cloth.teleport import SkinBinding
from sinew.sim.kinds.contract import World
from sinew.sim.maths.arrays import Bool, Float64
from sinew.sim.maths.transform import polar, transform_points
from sinew.sim.scene.scene import Node, NodeId
from sinew.sim.scene.world_transforms import PosedCharacters
from sinew.sim.skin.attachment import attach


class PinFollower(Owner):
    """Attachment of held particles to the parent of the cloth at the first step, which then moves them.

    A particle that is held later is attached at its position then.  Without the character or the bone the particles do
    not move.  A cloth from the character's own file is attached in the bind pose.

    Attributes:
        moves: The pins follow a bone or a skin, not the node.
    """

    def __init__(self, settings: ClothSettings, parent: NodeId) -> None:
        self._settings, self._parent = settings, parent
        self.moves = settings.pin_target is not PinTarget.WORLD
        self._character: Character | None = None
        self._vertices: BufferTexture | None = None

    def is_of(self, settings: ClothSettings, parent: NodeId) -> bool:
        values = ((one.pin_target, one.pin_bone, one.pin_sections) for one in (settings, self._settings))
        return parent == self._parent and len(set(values)) == 1

    def follows(self, characters: PosedCharacters) -> bool:
        return self.moves and self._parent in characters

    def take_character(self, characters: PosedCharacters) -> bool:
        character = characters.get(self._parent)
        assert isinstance(character, Character | None)
        if character is self._character:
            return False
        self._character = character
        if character is not None:
            mesh, sections = character.model.mesh, self._settings.pin_sections
            self._triangles = skin_corners(mesh, sections)[:, :3] if sections else mesh.triangles
        self.disown(self._vertices)
        self._vertices = None
        return True

    def release(self) -> None:
        super().release()
        self._character = self._vertices = None

    def move(self, cloth: Cloth, node: Node, world: World, binding: SkinBinding | None = None) -> str:
        """Sets the pin targets for the step that ends with the present poses.

        Returns one line about a missing parent, bone or surface; "" while a model loads.

        Args:
            binding: None if the cloth moves only with its node, or nothing needs it in this step.
        """
        if self.take_character(world.characters):
            cloth.pins.detach()  # a model that was loaded again has other buffers
        character, target, bone = self._character, self._settings.pin_target, self._settings.pin_bone
        if target is PinTarget.WORLD or (target is PinTarget.BONE and not bone):
            return ""
        label, stay = node.name or node.id, "they stay where they are"
        parent = world.scene.by_id.get(self._parent)
        if parent is None or not parent.settings.is_character:
            return f"{label}: the model that its pins follow is not in the scene; {stay}"
        if character is None:
            return ""
        frame = None
        if target is PinTarget.BONE:
            frame = character.joint_frame(bone)
            if frame is None:
                return f"{label}: {parent.name} has no bone {bone!r} for its pins to follow; {stay}"
        elif not len(self._triangles):
            sections = ", ".join(self._settings.pin_sections)
            return (
                f"{label}: {parent.name} has no surface {sections and f'in {sections} '}for its pins to follow; {stay}"
            )
        elif target is PinTarget.RIGID:
            frame = character.world_from_model.copy() if binding is None else binding.held_motion()
            frame[:3, :3], _ = polar(frame[:3, :3])
        if frame is None and cloth.pins.flags.any():
            self._move_with_surface(cloth, character, binding)
        elif frame is not None and cloth.pins.flags.any():
            new = cloth.pins.unattached
            cloth.pins.follow_bone(frame, _positions(cloth, new, binding) if new.any() else np.zeros((0, 3)))
        return ""

    def _move_with_surface(self, cloth: Cloth, character: Character, binding: SkinBinding | None) -> None:
        pins, vertices = cloth.pins, character.primary.vertices
        if self._vertices is None:
            texels = BufferTexture(vertices.context, vertices, "rgba32f", label="surface of the pins")
            self._vertices = self.owns(texels)
        if pins.attached is None or not np.array_equal(pins.attached, pins.flags):
            new = pins.unattached
            numbers = np.flatnonzero(new).astype(np.int32)
            if binding is not None and binding.is_own and not cloth.step_count:
                pins.attach(attach(numbers, cloth.rest()[new], *binding.surface()))
            else:
                skinned = character.primary.read()["position"][:, :3].astype(np.float64)
                surface = transform_points(character.world_from_model, skinned)
                pins.attach(attach(numbers, _positions(cloth, new, binding), surface, self._triangles))
        pins.follow(self._vertices, vertices.dtype.itemsize // 16, character.world_from_model)


def _positions(cloth: Cloth, chosen: Bool, binding: SkinBinding | None) -> Float64:
    """Returns world positions [m], shape (N, 3), of particles with a largest distance at rest; waits for the GPU."""
    positions = (cloth.positions() if cloth.step_count else cloth.start).astype(np.float64)
    if cloth.step_count and cloth.limited.any():
        places = cloth.rest() if binding is None else binding.places_now()
        positions = np.where(cloth.limited[:, None], places, positions)
    return positions[chosen]
