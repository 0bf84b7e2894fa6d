"""What pictures are made of: an item says in which stages it takes part, and draws itself with the shared passes.

The stages, in this order:
    shadow: what the first lamp sees, for its shadow.
    opaque: what has depth, in its own colours.
    detail: lines and points over the surfaces.
    glass: translucent bodies, laid over one after the other.
    transparent: what gathers apart, whatever its order, and is laid over at last; see `sim.render.transparent`.
    overlay: what shows through everything.
    pick: identities of what is under the mouse.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sim.gl.task import Task
from sim.gl.vertex_array import VertexArray
from sim.render.body_pass import BodyPass
from sim.render.detail_pass import DetailPass
from sim.render.guide_pass import GuidePass
from sim.render.mesh_pass import Arrays, MaterialSource, MeshPass, Scalar
from sim.render.overlay_pass import bone_pass, marker_pass
from sim.render.pass_context import PassContext
from sim.render.pick_pass import PickPass
from sim.render.render_view import DisplayOptions
from sim.render.shadow_pass import ShadowPass
from sim.render.surface import DrawRange, spans
from sim.scene.scene import Node
from sim.scene.vectors import Vec3
from sim.scene.view import DisplayMode

Stage = Literal["shadow", "opaque", "detail", "glass", "transparent", "overlay", "pick"]
ShaderVariant = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class DrawChunk:
    """Elements of a crowd that are drawn without a break.

    Attributes:
        stride: Elements to one that is drawn, which stands for all of them.
        first, count: Which of the drawn ones.
        variant: One of the ways that the item is drawn in; None for the one that suits it.
    """

    stride: int = 1
    first: int = 0
    count: int = 0
    variant: ShaderVariant | None = None


WHOLE = DrawChunk()


@dataclass(frozen=True, slots=True)
class BlendMode:
    """How something transparent gathers.

    Attributes:
        shines: Whether it adds light; otherwise it covers what is behind it.
        is_soft: Whether it fades before the scene, and so reads its depth; otherwise that hides it.
    """

    shines: bool
    is_soft: bool = False


@dataclass(eq=False, kw_only=True)
class Item:
    """Something that is drawn; its view may move it, and makes another one where anything else changes.

    Attributes:
        node: Whose it is.
        stages: Which it takes part in.
        group: What its kind is called where passes are timed, "models".
        blend: How it gathers, in the stage of what is transparent.
        is_thin: Whether it is picked from beside it also where something covers that place.
        is_endless: Whether everything of its stage lies in front of it.
        is_late: Whether it casts its shadow after all others, as it needs to know theirs.
        is_aside: Whether it is picked only where nothing else is.
    """

    node: Node
    stages: tuple[Stage, ...] = ()
    group: str = ""
    blend: BlendMode = BlendMode(shines=False)
    is_thin: bool = False
    is_endless: bool = False
    is_late: bool = False
    is_aside: bool = False

    @property
    def name(self) -> str:
        """What it is called where passes are timed."""
        return self.node.name or self.node.id

    @property
    def middle(self) -> npt.NDArray[np.float64] | None:
        """About where it is in the world [m], shape (3,), by which the stage of glass is ordered; None elsewhere."""
        return None

    @property
    def has_outline(self) -> bool:
        """Whether it gets one where its node is selected: what has a surface and an end; strands have too many rims."""
        is_opaque = "transparent" not in self.stages or "opaque" in self.stages
        return "pick" in self.stages and is_opaque and self.instances is None and not (self.is_thin or self.is_endless)

    @property
    def instances(self) -> int | None:
        """Elements, of which any may be drawn by themselves; None for what is drawn in one go."""
        return None

    @property
    def weight(self) -> float:
        """How many particles take as long as one element of a crowd."""
        return 1.0

    def set_up(self, stage: Stage, ctx: PassContext, part: DrawChunk, piece: int) -> Task[None]:  # noqa: ARG002
        """Does what all parts of a crowd need before the first is drawn, in steps of about so many elements.

        Between two steps others may draw.
        """
        yield from ()

    def draw(self, stage: Stage, ctx: PassContext, part: DrawChunk = WHOLE) -> None:
        """Draws it, or a part of it, in a stage; sets all state that it needs unless the painter has one."""
        raise NotImplementedError

    def variants(self, lights: int) -> tuple[ShaderVariant, ...]:
        """In how many ways a crowd may come to be drawn as the camera moves, with so many lamps.

        What is drawn in the same way by the same stage needs no other programs.
        """
        del lights
        return ()

    def pieces(self, display: DisplayOptions) -> "Iterator[tuple[Item, DisplayOptions]]":
        """Parts of it that each may need a program of its own, and the looks in which they do."""
        yield self, display


@dataclass(eq=False, kw_only=True)
class SurfaceItem(Item):
    """A surface.

    Attributes:
        arrays, materials, ranges: What the GPU holds.
        world_from_model: Placement, shape (4, 4).
        texture_origin_bottom: Whether v = 0 is the bottom row.
        scalar: What the ramp shows, if anything.
        scalar_scale: Ramp coordinate per unit of the scalar.
        emission: Light that it gives off by itself, linear RGB.
        is_coloured: Whether its arrays have colours, which multiply those of the materials.
        middles: About where each range is in the world [m], shape (R, 3), where anything shows through.
    """

    stages: tuple[Stage, ...] = ("shadow", "opaque", "pick")
    arrays: Arrays
    materials: MaterialSource
    ranges: tuple[DrawRange, ...]
    world_from_model: npt.NDArray[np.float64]
    texture_origin_bottom: bool = True
    scalar: Scalar = Scalar.NONE
    scalar_scale: float = 1.0
    emission: tuple[float, float, float] = (0.0, 0.0, 0.0)
    is_coloured: bool = False
    middles: npt.NDArray[np.float64] | None = None

    @property
    def middle(self) -> npt.NDArray[np.float64] | None:
        return None if self.middles is None or not len(self.middles) else self.middles.mean(axis=0)

    def draw(self, stage: Stage, ctx: PassContext, part: DrawChunk = WHOLE) -> None:  # noqa: ARG002
        if stage == "opaque":
            ctx.get(MeshPass).draw(self, ctx)
        elif stage == "glass":
            ctx.get(MeshPass).draw_blended(self, ctx)
        elif stage == "shadow":
            solid = [part for part in self.ranges if not self.materials.get(part.material, True).is_blended]
            ctx.get(ShadowPass).cast(ctx, self.arrays.triangles, self.world_from_model, spans(solid))
        else:
            ctx.get(PickPass).faces(ctx, self.arrays.triangles, self.world_from_model, self.ranges)

    def pieces(self, display: DisplayOptions) -> Iterator[tuple[Item, DisplayOptions]]:
        mode = display.settings.display
        lined = mode in (DisplayMode.WIREFRAME, DisplayMode.SHADED_WIRE)
        if mode is not DisplayMode.WIREFRAME:
            shown = display.displaying(DisplayMode.SHADED) if lined else display
            made = {}
            for p in self.ranges:
                material = self.materials.get(p.material, display.settings.textures)
                made[material.texture, material.features, p.is_flat] = p
            for part in made.values():
                yield replace(self, ranges=(part,)), shown
        if lined:
            yield self, display


@dataclass(eq=False, kw_only=True)
class LinesItem(Item):
    """Lines in the world.

    Attributes:
        vertices: `a_position` in the world [m], three or four components; `a_scalar` for a ramp.
        strip: Whether each line begins where the one before ends.
        colour: sRGB-encoded; None for the ramp.
        scalar_scale: Ramp coordinate per unit of the scalar.
        width: On the screen [px].
        on_top: Whether they show through everything.
        first, count: Vertices that are drawn; all that follow the first for None.
    """

    stages: tuple[Stage, ...] = ("detail", "pick")
    is_thin: bool = True
    vertices: VertexArray
    strip: bool = False
    colour: Vec3 | None = None
    scalar_scale: float = 1.0
    width: float = 1.0
    on_top: bool = False
    first: int = 0
    count: int | None = None

    def draw(self, stage: Stage, ctx: PassContext, part: DrawChunk = WHOLE) -> None:  # noqa: ARG002
        mode: Literal["line_strip", "lines"] = "line_strip" if self.strip else "lines"
        if stage == "pick":
            ctx.get(PickPass).thin(ctx, self.vertices, mode, self.first, self.count)
        else:
            ctx.get(DetailPass).lines(self, mode, ctx)


@dataclass(eq=False, kw_only=True)
class PointsItem(Item):
    """Points in the world, as small shaded balls or rings.

    Attributes:
        vertices: `a_position` in the world [m], three or four components; `a_scalar` for a ramp.
        colour: sRGB-encoded; None for the ramp.
        scalar_scale: Ramp coordinate per unit of the scalar.
        size: Width on the screen [px]; None for one that falls with the distance.
        is_ring: Whether they are rings with dark rims.
        on_top: Whether they show through everything.
        first, count: Vertices that are drawn; all that follow the first for None.
        shader: Vertex shader that says where they are, in place of the usual one.
        defines, uniforms: What it needs.
    """

    stages: tuple[Stage, ...] = ("detail", "pick")
    is_thin: bool = True
    vertices: VertexArray
    colour: Vec3 | None = None
    scalar_scale: float = 1.0
    size: float | None = None
    is_ring: bool = False
    on_top: bool = False
    first: int = 0
    count: int | None = None
    shader: str = "viewport/detail.vert"
    defines: Mapping[str, object] = field(default_factory=dict)
    uniforms: Mapping[str, object] = field(default_factory=dict)

    def draw(self, stage: Stage, ctx: PassContext, part: DrawChunk = WHOLE) -> None:  # noqa: ARG002
        if stage == "pick":
            ctx.get(PickPass).thin(ctx, self.vertices, "points", self.first, self.count)
        else:
            ctx.get(DetailPass).points(self, ctx)


@dataclass(eq=False, kw_only=True)
class BodyItem(Item):
    """A translucent body.

    Attributes:
        faces: Its surface, with normals.
        world_from_body: Rigid placement, shape (4, 4).
        colour: sRGB and the alpha of a face seen head on.
        wire: Lines on it that are drawn too.
    """

    stages: tuple[Stage, ...] = ("glass", "pick")
    faces: VertexArray
    world_from_body: npt.NDArray[np.float64]
    colour: tuple[float, float, float, float]
    wire: VertexArray | None = None

    @property
    def middle(self) -> npt.NDArray[np.float64]:
        return self.world_from_body[:3, 3]

    def draw(self, stage: Stage, ctx: PassContext, part: DrawChunk = WHOLE) -> None:  # noqa: ARG002
        if stage == "glass":
            ctx.get(BodyPass).draw(self, ctx)
        else:
            ranges = (DrawRange(-1, 0, self.faces.count // 3, False),)
            ctx.get(PickPass).faces(ctx, self.faces, self.world_from_body, ranges)


@dataclass(eq=False, kw_only=True)
class SkeletonItem(Item):
    """Bones and joints that show through everything.

    Attributes:
        bones, joints: Records of `BONE` and `MARKER`.
    """

    stages: tuple[Stage, ...] = ("overlay",)
    bones: npt.NDArray[np.void]
    joints: npt.NDArray[np.void]

    def draw(self, stage: Stage, ctx: PassContext, part: DrawChunk = WHOLE) -> None:  # noqa: ARG002
        ctx.get(bone_pass).draw(self.bones)
        ctx.get(marker_pass).draw(self.joints)

    def pieces(self, display: DisplayOptions) -> Iterator[tuple[Item, DisplayOptions]]:
        yield replace(self, joints=self.joints[:0]), display
        yield replace(self, bones=self.bones[:0]), display


@dataclass(eq=False, kw_only=True)
class GuideLinesItem(Item):
    """Lines that help to set something, fainter where the scene hides them.

    Attributes:
        segments: Ends of the lines in their own frame [m], shape (n, 2, 3).
        world_from_guides: Placement, shape (4, 4).
    """

    stages: tuple[Stage, ...] = ("overlay",)
    segments: npt.NDArray[np.float64]
    world_from_guides: npt.NDArray[np.float64]

    def draw(self, stage: Stage, ctx: PassContext, part: DrawChunk = WHOLE) -> None:  # noqa: ARG002
        ctx.get(GuidePass).draw(self.segments, self.world_from_guides)
