"""What drawing needs of a character: static buffers, materials, vertex arrays, bones."""

import numpy as np

from sim.gl.context import Context
from sim.render.skeleton_lines import BoneSegments, bone_segments
from sim.render.surface import Images, Materials, MeshBuffers, SurfaceArrays, draw_ranges
from sim.systems.character import Character


class CharacterView:
    """Draws one character's skinned vertices.

    Args:
        context: Where it lives.
        character: The pose and the vertices, owned by someone else.
        images: Decoded textures by path.

    Attributes:
        character: What is drawn.
        materials, ranges: How.
        segments: Bones of the overlay; None without a skeleton.
    """

    def __init__(self, context: Context, character: Character, images: Images) -> None:
        model = character.model
        self.character = character
        self.materials = Materials(context, model, images)
        self.ranges = draw_ranges(model.mesh)
        self.segments: BoneSegments | None = None
        if model.skeleton is not None:
            self.segments = bone_segments(model.skeleton, model.skin)
        self._static = MeshBuffers(context, model.mesh)
        self._arrays: tuple[SurfaceArrays, SurfaceArrays] | None = None
        self._compared = False
        self._weight_joint: int | None = None

    def arrays(self, second: bool = False) -> SurfaceArrays:
        """Vertex arrays of the first or second way of skinning; each can show its distance to the other."""
        compared = self.character.compared
        if self._arrays is None or compared != self._compared:
            self._release_arrays()
            first = self.character.primary.vertices
            other = self.character.secondary.vertices if compared else first
            self._arrays = (SurfaceArrays(self._static, first, other), SurfaceArrays(self._static, other, first))
            self._compared = compared
        return self._arrays[1 if second else 0]

    def show_weights(self, joint: int | None) -> None:
        """Puts the weights of a joint into the scalar stream; zeros for None."""
        if joint == self._weight_joint:
            return
        self._weight_joint = joint
        model = self.character.model
        weights = np.zeros(model.mesh.vertex_count, np.float32)
        if joint is not None and model.skin is not None:
            skin = model.skin
            weights = np.where(skin.joints == joint, skin.weights, np.float32(0.0)).sum(axis=1, dtype=np.float32)
        if len(weights):
            self._static.set_scalars(weights)

    def release(self) -> None:
        """Deletes what drawing added; the character stays."""
        self._release_arrays()
        self._static.release()
        self.materials.release()

    def _release_arrays(self) -> None:
        for arrays in self._arrays or ():
            arrays.release()
        self._arrays = None
