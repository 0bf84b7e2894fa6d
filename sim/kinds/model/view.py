"""What drawing needs of a character: static buffers, materials, vertex arrays, bones."""

import numpy as np
import numpy.typing as npt

from sim.figures.character import Character
from sim.figures.prepared import PreparedModel
from sim.figures.settings import DoubleSided, ModelSettings, section_list
from sim.figures.skeleton_lines import BoneSegments
from sim.figures.skinning import upload_skinning
from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.gl.steps import Steps
from sim.render.detail_pass import Detail
from sim.render.mesh_pass import Scalar, Surface
from sim.render.overlay_records import bone_records, joint_markers
from sim.render.shot import JointRef, Look, Overlay
from sim.render.surface import DrawRange, Materials, MeshBuffers, SurfaceArrays, draw_ranges
from sim.render.texture_upload import MipImages, upload_images
from sim.scene.scene import NodeId
from sim.scene.view import Comparison, DisplayMode


class CharacterView:
    """Draws one character's skinned vertices.

    Args:
        node_id: The node that is drawn.
        character: The pose and the vertices, owned by someone else.
        segments: Bones of the overlay; None without a skeleton.
        static: Static buffers of the mesh, owned from now on.
        materials: Materials and textures, owned from now on.

    Attributes:
        node_id: The node that is drawn.
        settings: Its settings; replaced when the scene changes.
        character: What is drawn.
        segments: Bones of the overlay; None without a skeleton.
    """

    group = "models"

    def __init__(
        self,
        node_id: NodeId,
        character: Character,
        segments: BoneSegments | None,
        static: MeshBuffers,
        materials: Materials,
    ) -> None:
        self.node_id = node_id
        self.settings = ModelSettings()
        self.character = character
        self.segments = segments
        self._static, self._materials = static, materials
        self._ranges: tuple[DrawRange, ...] | None = None
        self._ranges_of: tuple[DoubleSided, str] | None = None
        self._arrays: tuple[SurfaceArrays, SurfaceArrays] | None = None
        self._compared = False
        self._weight_joint: int | None = None

    @classmethod
    def upload(
        cls, context: Context, library: ShaderLibrary, node_id: NodeId, prepared: PreparedModel, images: MipImages
    ) -> "Steps[CharacterView]":
        """Hands a model to the GPU, its character included; given up, what it made is deleted by `Context.collect`.

        Raises:
            GLError: From a step, if the driver cannot hold the model.
        """
        model = prepared.model
        buffers = yield from upload_skinning(context, prepared.records)
        static = yield from MeshBuffers.upload(context, model.mesh)
        materials = Materials(context, model, (yield from upload_images(context, images)))
        character = Character(context, library, prepared, buffers)
        return cls(node_id, character, prepared.segments, static, materials)

    def surface(self, look: Look) -> Surface:
        """The skinned surface; compared, in the heat map, or as it is."""
        scalar, scale = self._scalar(look)
        return Surface(
            arrays=self.arrays(look.second),
            materials=self._materials,
            ranges=self._ranges_now(),
            world_from_model=self.character.world_from_model,
            texture_origin_bottom=self.character.texture_origin_bottom,
            scalar=scalar,
            scalar_scale=scale,
        )

    def details(self, _overlay: Overlay) -> tuple[Detail, ...]:
        """Nothing beside its surface."""
        return ()

    def overlay_records(self, overlay: Overlay) -> tuple[npt.NDArray[np.void], npt.NDArray[np.void]]:
        """Bones and joints."""
        places = self.character.joint_positions()
        selected, hovered = self._joint(overlay.selected), self._joint(overlay.hovered)
        return (
            bone_records(self.segments, places, selected, hovered),
            joint_markers(self.segments, places, selected, hovered),
        )

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
            weights = model.skin.weights_of(joint).astype(np.float32)
        if len(weights):
            self._static.set_scalars(weights)

    def release(self) -> None:
        """Deletes what drawing added; the character stays."""
        self._release_arrays()
        self._static.release()
        self._materials.release()

    def _scalar(self, look: Look) -> tuple[Scalar, float]:
        """What the colour ramp shows, and its coordinate per unit."""
        settings, overlay = look.settings, look.overlay
        if settings.comparison is Comparison.DIFFERENCE and settings.display is not DisplayMode.NORMALS:
            span = overlay.difference_scale or self.character.model.mesh.bounds.extent / 20.0
            return Scalar.DIFFERENCE, 1.0 / max(span, 1e-12)
        if settings.display is DisplayMode.WEIGHTS:
            self.show_weights(self._joint(overlay.selected))
            return Scalar.WEIGHT, 1.0
        return Scalar.NONE, 1.0

    def _ranges_now(self) -> tuple[DrawRange, ...]:
        settings = self.settings
        wanted = (settings.double_sided, settings.hidden_sections)
        if self._ranges is None or wanted != self._ranges_of:
            hidden = section_list(settings.hidden_sections)
            self._ranges = draw_ranges(self.character.model.mesh, settings.double_sided, hidden)
            self._ranges_of = wanted
        return self._ranges

    def _joint(self, reference: JointRef | None) -> int | None:
        return reference.joint if reference is not None and reference.node == self.node_id else None

    def _release_arrays(self) -> None:
        for arrays in self._arrays or ():
            arrays.release()
        self._arrays = None
