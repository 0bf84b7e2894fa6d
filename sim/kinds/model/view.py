"""What drawing needs of a figure: static buffers, materials, vertex arrays, bones."""

from typing import Any

import numpy as np

from sim.assets.model import Bounds
from sim.figures.character import Character
from sim.figures.prepared import PreparedModel
from sim.figures.settings import DoubleSided, ModelSettings, section_list
from sim.figures.skeleton_lines import BoneSegments
from sim.figures.skinning import upload_skinning
from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.gl.steps import Steps
from sim.kinds.contract import Counts, FigureView, World
from sim.render.blended_order import Anchors, anchors_of
from sim.render.items import Item, Skeleton, Stage, Surface
from sim.render.mesh_pass import Scalar
from sim.render.overlay_records import bone_records, joint_markers
from sim.render.shot import JointRef, Look
from sim.render.surface import DrawRange, Materials, MeshBuffers, SurfaceArrays, draw_ranges
from sim.render.texture_upload import MipImages, SharedTextures, upload_images
from sim.scene.places import vector
from sim.scene.scene import Node
from sim.scene.view import Comparison, DisplayMode

_SOLID: tuple[Stage, ...] = ("shadow", "opaque", "pick")
_THROUGH: tuple[Stage, ...] = (*_SOLID, "glass")


class ModelView(FigureView):
    """Draws the skinned vertices of one figure.

    Attributes:
        figure: The pose and the vertices, owned by whoever took it after the upload.
        settings: Settings of the node.
        segments: Bones of the overlay; None without a skeleton.
    """

    figure: Character

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._library = context, library
        self.settings = ModelSettings()
        self.segments: BoneSegments | None = None
        self._node = Node(id="", settings=self.settings)
        self._static: MeshBuffers
        self._materials: Materials
        self._ranges: tuple[DrawRange, ...] | None = None
        self._anchors: Anchors | None = None
        self._ranges_of: tuple[DoubleSided, str, frozenset[int]] | None = None
        self._arrays: tuple[SurfaceArrays, SurfaceArrays] | None = None
        self._compared = False
        self._surfaces: dict[bool, tuple[tuple[Any, ...], Surface]] = {}
        self._weight_joint: int | None = None

    def upload(self, prepared: PreparedModel, images: MipImages) -> Steps[None]:
        """Hands a model to the GPU, its figure included.

        Raises:
            GLError: From a step, if the driver cannot hold the model.
        """
        model, context = prepared.model, self._context
        buffers = yield from upload_skinning(context, prepared.records)
        self._static = yield from MeshBuffers.upload(context, model.mesh)
        self._materials = Materials(context, model, (yield from upload_images(context, images, model.materials)))
        self.figure = Character(context, self._library, prepared, buffers)
        self.segments = prepared.segments

    def apply(self, node: Node, subject: object, world: World) -> None:  # noqa: ARG002
        settings = node.settings
        assert isinstance(settings, ModelSettings)
        self._node, self.settings = node, settings
        self._materials.dress(settings.materials, world.services.get(SharedTextures).of(world.textures))

    def parts(self, look: Look) -> tuple[Item, ...]:
        """The skinned surface; compared, in the heat map, or as it is; and bones, all or the selected one.

        The heat map marks the selected bone by itself.
        """
        surface, settings = self._surface(look), look.settings
        is_marked = self._joint(look.overlay.selected) is not None and settings.display is not DisplayMode.WEIGHTS
        return (surface, self._skeleton(look)) if settings.bones or is_marked else (surface,)

    def bounds(self) -> Bounds | None:
        return self.figure.bounds() if self.figure.model.mesh.vertex_count else None

    def counts(self) -> Counts:
        model = self.figure.model
        joints = model.skeleton.joint_count if model.skeleton else 0
        return Counts(model.mesh.vertex_count, model.mesh.triangle_count, joints)

    def arrays(self, second: bool = False) -> SurfaceArrays:
        """Vertex arrays of the first or second way of skinning; each can show its distance to the other."""
        compared = self.figure.compared
        if self._arrays is None or compared != self._compared:
            self._release_arrays()
            first = self.figure.primary.vertices
            other = self.figure.secondary.vertices if compared else first
            self._arrays = (SurfaceArrays(self._static, first, other), SurfaceArrays(self._static, other, first))
            self._compared = compared
        return self._arrays[1 if second else 0]

    def show_weights(self, joint: int | None) -> None:
        """Puts the weights of a joint into the scalar stream; zeros for None."""
        if joint == self._weight_joint:
            return
        self._weight_joint = joint
        model = self.figure.model
        weights = np.zeros(model.mesh.vertex_count, np.float32)
        if joint is not None and model.skin is not None:
            weights = model.skin.weights_of(joint).astype(np.float32)
        if len(weights):
            self._static.set_scalars(weights)

    def release(self) -> None:
        self._release_arrays()
        self._static.release()
        self._materials.release()

    def _surface(self, look: Look) -> Surface:
        """The surface; the last one while nothing about it changes."""
        scalar, scale = self._scalar(look)
        arrays, ranges, warps = self.arrays(look.second), self._ranges_now(), self.figure.pose.warps
        emission = (0.0, 0.0, 0.0) if warps is None else vector(warps.light)
        drawn = self._materials.drawn
        key = (self._node, arrays, ranges, self.figure.world_from_model, drawn, scalar, scale, emission)
        known = self._surfaces.get(look.second)
        if (
            known is None
            or any(one is not other for one, other in zip(known[0][:5], key[:5], strict=True))
            or (known[0][5:] != key[5:])
        ):
            known = self._surfaces[look.second] = (key, Surface(
                node=self._node,
                group="models",
                arrays=key[1],
                materials=self._materials,
                ranges=key[2],
                world_from_model=key[3],
                texture_origin_bottom=self.figure.texture_origin_bottom,
                scalar=scalar,
                scalar_scale=scale,
                emission=emission,
                stages=_THROUGH if self._materials.blended else _SOLID,
                is_coloured=self.figure.model.mesh.is_coloured,
            ))  # fmt: skip
        if self._anchors is not None:
            known[1].middles = self._anchors.posed(self.figure.world_from_model, self.figure.pose.palette)
        return known[1]

    def _scalar(self, look: Look) -> tuple[Scalar, float]:
        """What the colour ramp shows, and its coordinate per unit."""
        settings, overlay = look.settings, look.overlay
        if settings.comparison is Comparison.DIFFERENCE and settings.display is not DisplayMode.NORMALS:
            span = overlay.difference_scale or self.figure.model.mesh.bounds.extent / 20.0
            return Scalar.DIFFERENCE, 1.0 / max(span, 1e-12)
        if settings.display is DisplayMode.WEIGHTS:
            self.show_weights(self._joint(overlay.selected))
            return Scalar.WEIGHT, 1.0
        return Scalar.NONE, 1.0

    def _ranges_now(self) -> tuple[DrawRange, ...]:
        settings = self.settings
        blended = self._materials.blended
        wanted = (settings.double_sided, settings.hidden_sections, blended)
        if self._ranges is None or wanted != self._ranges_of:
            hidden = section_list(settings.hidden_sections)
            mesh = self.figure.model.mesh
            self._ranges = draw_ranges(mesh, settings.double_sided, hidden, blended)
            self._anchors = anchors_of(mesh, self.figure.model.skin, self._ranges) if blended else None
            self._ranges_of = wanted
        return self._ranges

    def _skeleton(self, look: Look) -> Skeleton:
        places, overlay = self.figure.joint_positions(), look.overlay
        selected, hovered = self._joint(overlay.selected), self._joint(overlay.hovered)
        segments = self.segments
        if segments is not None and selected is not None and not look.settings.bones:
            segments = segments.of(selected)
        return Skeleton(
            node=self._node,
            bones=bone_records(segments, places, selected, hovered),
            joints=joint_markers(segments, places, selected, hovered),
        )

    def _joint(self, reference: JointRef | None) -> int | None:
        return reference.joint if reference is not None and reference.node == self._node.id else None

    def _release_arrays(self) -> None:
        for arrays in self._arrays or ():
            arrays.release()
        self._arrays = None
