import numpy as np
import numpy.typing as npt

from sinew.sim.assets.model import Bounds, CharacterModel
from sinew.sim.characters.character import Character
from sinew.sim.characters.prepared import BoneSegments, PreparedModel
from sinew.sim.characters.settings import ModelSettings, section_list
from sinew.sim.characters.skinning import upload_skinning
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.task import Task
from sinew.sim.kinds.contract import CharacterView, Counts, View, World
from sinew.sim.maths.arrays import Float64
from sinew.sim.memo import Memo, same_objects
from sinew.sim.render.items import Item, Stage
from sinew.sim.render.mesh_pass import Scalar, SurfaceItem
from sinew.sim.render.overlay_pass import SkeletonItem, bone_records, joint_markers
from sinew.sim.render.render_view import DisplayOptions, JointRef
from sinew.sim.render.surface import (
    DrawRange,
    Materials,
    MeshBuffers,
    SortAnchors,
    SurfaceArrays,
    anchors_of,
    draw_ranges,
)
from sinew.sim.render.texture_upload import MipImages, SharedTextures, upload_images
from sinew.sim.scene.scene import Node
from sinew.sim.scene.view import DisplayMode, SkinningComparison
from sinew.sim.scene.world_transforms import vector

LEAST_LIGHT = 0.35
"""Part of the light that arrives at the roots of very dense strands."""

_SOLID: tuple[Stage, ...] = ("shadow", "opaque", "pick")
_THROUGH: tuple[Stage, ...] = (*_SOLID, "glass")


class ModelView(CharacterView):
    """View of a model; the caller of `upload` owns the character.

    Attributes:
        painted: Numbers of the vertices from 0 to 1, (V,), or colours, (V, 3), in place of the materials; or None.
    """

    character: Character

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._library = context, library
        self.settings = ModelSettings()
        self.segments: BoneSegments | None = None
        self._node = Node(id="", settings=self.settings)
        self._static: MeshBuffers
        self._materials: Materials
        self._ranges = Memo[tuple[tuple[DrawRange, ...], SortAnchors | None]]()
        self._arrays: tuple[SurfaceArrays, SurfaceArrays] | None = None
        self._compared = False
        self._surfaces = {False: Memo[SurfaceItem](), True: Memo[SurfaceItem]()}
        self._weight_joint: int | None = None  # -1 while the scalars are the shade of roots, -2 other numbers
        self._covers: tuple[Float64, ...] = ()
        self.painted: npt.NDArray[np.float32] | None = None
        self._lender: ModelView | None = None
        self._has_given = False

    def upload(self, prepared: PreparedModel, images: MipImages, former: View | None = None) -> Task[None]:
        model, context = prepared.model, self._context
        buffers = yield from upload_skinning(context, prepared.records)
        if isinstance(former, ModelView) and former.shares(model):
            self._lender, self._static, self._materials = former, former._static, former._materials
            self._weight_joint = -2  # other numbers are there
        else:
            self._static = yield from MeshBuffers.upload(context, model.mesh)
            self._materials = Materials(context, model, (yield from upload_images(context, images, model.materials)))
        self.character = Character(context, self._library, prepared, buffers)
        self.segments = prepared.segments

    def shares(self, model: CharacterModel) -> bool:
        own = self.character.model
        return own.mesh is model.mesh and own.materials is model.materials

    def take_over(self) -> None:
        if self._lender is not None:
            self._lender._has_given, self._lender = True, None

    def apply(self, node: Node, subject: object, world: World) -> None:  # noqa: ARG002
        settings = node.settings
        assert isinstance(settings, ModelSettings)
        self._node, self.settings = node, settings
        self._materials.dress(settings.materials, world.services.get(SharedTextures).of(world.assets.textures))

    def parts(self, display: DisplayOptions) -> tuple[Item, ...]:
        """Returns surface and bones: all, the selected one without weight display, or all of a bare skeleton."""
        surface, settings = self._surface(display), display.settings
        if self._is_bare:
            return (self._skeleton(display),)
        is_marked = self._joint(display.overlay.selected) is not None and settings.display is not DisplayMode.WEIGHTS
        return (surface, self._skeleton(display)) if settings.bones or is_marked else (surface,)

    def bounds(self) -> Bounds | None:
        return self.character.bounds() if self.character.model.mesh.vertex_count or self._is_bare else None

    @property
    def _is_bare(self) -> bool:
        model = self.character.model
        return model.skeleton is not None and not model.mesh.triangle_count

    def counts(self) -> Counts:
        model = self.character.model
        joints = model.skeleton.joint_count if model.skeleton else 0
        return Counts(model.mesh.vertex_count, model.mesh.triangle_count, joints)

    def arrays(self, second: bool = False) -> SurfaceArrays:
        secondary = self.character.secondary
        if self._arrays is None or (secondary is not None) != self._compared:
            self._release_arrays()
            first = self.character.primary.vertices
            other = secondary.vertices if secondary is not None else first
            self._arrays = (SurfaceArrays(self._static, first, other), SurfaceArrays(self._static, other, first))
            self._compared = secondary is not None
        return self._arrays[1 if second else 0]

    def show_weights(self, joint: int | None) -> None:
        if joint == self._weight_joint:
            return
        self._weight_joint, self._covers = joint, ()
        model = self.character.model
        weights = np.zeros(model.mesh.vertex_count, np.float32)
        if joint is not None and model.skin is not None:
            weights = model.skin.weights_of(joint).astype(np.float32)
        if len(weights):
            self._static.set_scalars(weights)

    def paint(self, numbers: npt.NDArray[np.float32] | None) -> None:
        """Shows `painted`; None ends that."""
        self.painted, self._weight_joint, self._covers = numbers, -2, ()
        if numbers is None or not len(numbers):
            return
        if numbers.ndim == 1:
            self._static.set_scalars(numbers)
            return
        if self._static.shown_colours is None:
            self._release_arrays()
        self._static.set_colours(numbers)

    def release(self) -> None:
        self._release_arrays()
        if self._lender is None and not self._has_given:
            self._static.release()
            self._materials.release()

    def _surface(self, display: DisplayOptions) -> SurfaceItem:
        scalar, scale = self._scalar(display)
        character, materials = self.character, self._materials
        arrays, (ranges, anchors), warps = (
            self.arrays(display.second),
            self._draw_ranges(),
            character.animated_pose.warps,
        )
        emission = (0.0, 0.0, 0.0) if warps is None else vector(warps.light)
        world_from_model, has_root_shade = character.world_from_model, False
        if scalar is Scalar.NONE:
            has_root_shade = self._show_root_shade()

        def make() -> SurfaceItem:
            return SurfaceItem(
                node=self._node,
                group="models",
                arrays=arrays,
                materials=materials,
                ranges=ranges,
                world_from_model=world_from_model,
                texture_origin_bottom=character.texture_origin_bottom,
                scalar=scalar,
                scalar_scale=scale,
                emission=emission,
                stages=_THROUGH if materials.blended else _SOLID,
                is_coloured=character.model.mesh.is_coloured,
                has_root_shade=has_root_shade,
            )

        key = (self._node, arrays, ranges, world_from_model, materials.drawn, scalar, scale, has_root_shade, *emission)
        surface = self._surfaces[display.second].get(key, make)
        if anchors is not None:
            surface.middles = anchors.posed(world_from_model, character.animated_pose.palette)
        return surface

    def _show_root_shade(self) -> bool:
        """Sets the scalars to the part of the light that arrives between strands; returns False without strands."""
        covers = tuple(self.character.root_covers.values())
        if covers and not same_objects(covers, self._covers):
            self._weight_joint, self._covers = -1, covers
            shade = LEAST_LIGHT + (1.0 - LEAST_LIGHT) * np.exp(-0.5 * np.sum(covers, axis=0))
            self._static.set_scalars(shade.astype(np.float32))
        return bool(covers)

    def _scalar(self, display: DisplayOptions) -> tuple[Scalar, float]:
        settings, overlay = display.settings, display.overlay
        if self.painted is not None:
            return Scalar.WEIGHT if self.painted.ndim == 1 else Scalar.COLOUR, 1.0
        if settings.comparison is SkinningComparison.DIFFERENCE and settings.display is not DisplayMode.NORMALS:
            span = overlay.difference_scale or self.character.model.mesh.bounds.extent / 20.0
            return Scalar.DIFFERENCE, 1.0 / max(span, 1e-12)
        if settings.display is DisplayMode.WEIGHTS:
            self.show_weights(self._joint(overlay.selected))
            return Scalar.WEIGHT, 1.0
        return Scalar.NONE, 1.0

    def _draw_ranges(self) -> tuple[tuple[DrawRange, ...], SortAnchors | None]:
        settings, blended, model = self.settings, self._materials.blended, self.character.model

        def make() -> tuple[tuple[DrawRange, ...], SortAnchors | None]:
            ranges = draw_ranges(model.mesh, settings.double_sided, section_list(settings.hidden_sections), blended)
            return ranges, anchors_of(model.mesh, model.skin, ranges) if blended else None

        return self._ranges.get((settings.double_sided, settings.hidden_sections, *sorted(blended)), make)

    def _skeleton(self, display: DisplayOptions) -> SkeletonItem:
        places, overlay = self.character.joint_positions(), display.overlay
        selected, hovered = self._joint(overlay.selected), self._joint(overlay.hovered)
        segments = self.segments
        if segments is not None and selected is not None and not display.settings.bones and not self._is_bare:
            segments = segments.of(selected)
        return SkeletonItem(
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
