"""What drawing needs of a cloth: vertex arrays over the buffers of its system, and its material."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.assets.model import Bounds
from sim.colliders.scene_colliders import Colliders
from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.gl.texture import Texture2D
from sim.gl.vertex_array import Stream, VertexArray
from sim.kinds.cloth.cloth import Cloth, fabric
from sim.kinds.cloth.settings import ClothLook, ClothSettings
from sim.kinds.cloth.system import ClothSystem
from sim.kinds.contract import NOTHING, Counts, View, World
from sim.render.edges import unique_edges
from sim.render.items import WHOLE, DrawChunk, Item, LinesItem, PointsItem, Stage, SurfaceItem
from sim.render.mesh_pass import Scalar
from sim.render.pass_context import PassContext
from sim.render.render_view import DisplayOptions
from sim.render.surface import DrawRange, GpuMaterial, Spans, material_on_gpu
from sim.render.texture_upload import SharedTextures
from sim.scene.scene import Node
from sim.scene.vectors import Vec3

STRAIN_SPAN = 0.2
"""Strain at the upper end of the ramp."""

TOUCH = 0.1
TOUCH_LEAST = 5e-4
"""A particle that is this part of its clearance, or this distance [m], off a solid still touches it."""

PARTICLE, HELD, CHOSEN, HOVERED, TOUCHING = (
    (0.93, 0.86, 0.70), (1.00, 0.60, 0.15), (0.35, 0.80, 1.00), (1.00, 0.90, 0.55), (0.35, 0.95, 0.45)
)  # fmt: skip
"""Colours of particles and of their marks, sRGB."""

_WORLD = np.eye(4)
"""Particles are in the world already."""


class ClothArrays:
    """Vertex arrays of one build of a cloth."""

    def __init__(self, context: Context, cloth: Cloth) -> None:
        self._context, self._cloth = context, cloth
        sheet = cloth.sheet
        self.vertices = sheet.vertices
        streams = [Stream(sheet.vertices), Stream(sheet.texcoords)]
        constants: dict[str, tuple[float, ...]] = {"a_other_position": (0.0, 0.0, 0.0)}
        # Seams repeat particles; only where vertices and particles are the same can the strain be a stream.
        if np.array_equal(cloth.model.particle_of_vertex, np.arange(len(cloth.model.particle_of_vertex))):
            streams.append(Stream(cloth.measures, rename={"strain": "a_scalar"}))
        else:
            constants["a_scalar"] = (0.0,)
        self.triangles = VertexArray(context, streams, indices=sheet.triangles, constants=constants, label="cloth")
        self.points = VertexArray(context, streams[:1], label="cloth points")
        self._edges: tuple[Buffer, VertexArray] | None = None
        self._lines: VertexArray | None = None
        self._pins: dict[Buffer, VertexArray] = {}
        self._chosen: tuple[tuple[int, ...], Buffer, VertexArray] | None = None

    def edges(self, _shown: Spans) -> VertexArray:
        """Lines along every edge, since a cloth is shown whole; made when first asked for."""
        if self._edges is None:
            indices = unique_edges(self._cloth.model.surface.triangles.astype(np.uint32)).ravel()
            buffer = Buffer(self._context, indices, label="cloth edges")
            array = VertexArray(self._context, [Stream(self.vertices)], indices=buffer, label="cloth edges")
            self._edges = (buffer, array)
        return self._edges[1]

    def spring_lines(self) -> VertexArray:
        """Lines along every spring, with its strain; `SpringSegments` brings them up to date."""
        buffer = self._cloth.spring_lines()
        if self._lines is None:
            rename = {"strain": "a_scalar"}
            self._lines = VertexArray(self._context, [Stream(buffer, rename=rename)], label="cloth springs")
        return self._lines

    def pins(self) -> VertexArray:
        """Targets of the held particles; the system writes them into two buffers in turn."""
        buffer = self._cloth.pins
        if buffer not in self._pins:
            self._pins[buffer] = VertexArray(self._context, [Stream(buffer)], label="cloth pins")
        return self._pins[buffer]

    def chosen(self, particles: tuple[int, ...]) -> VertexArray:
        """The drawn vertices of some particles; kept until others are asked for."""
        if self._chosen is None or self._chosen[0] != particles:
            for owned in self._chosen[1:] if self._chosen else ():
                owned.release()
            vertices = np.flatnonzero(np.isin(self._cloth.model.particle_of_vertex, particles)).astype(np.uint32)
            buffer = Buffer(self._context, vertices, label="chosen particles")
            array = VertexArray(self._context, [Stream(self.vertices)], indices=buffer, label="chosen particles")
            self._chosen = (particles, buffer, array)
        return self._chosen[2]

    def release(self) -> None:
        chosen = self._chosen[1:] if self._chosen else ()
        owners = (self.triangles, self.points, self._lines, *(self._edges or ()), *self._pins.values(), *chosen)
        for owned in owners:
            if owned is not None:
                owned.release()


@dataclass(eq=False, kw_only=True)
class SpringSegments(LinesItem):
    """Springs in the colours of their strain, made on the GPU when they are drawn."""

    stages: tuple[Stage, ...] = ("detail",)
    cloth: Cloth

    def draw(self, stage: Stage, ctx: PassContext, part: DrawChunk = WHOLE) -> None:
        self.cloth.spring_lines()
        LinesItem.draw(self, stage, ctx, part)


class ClothView(View):
    """Draws one cloth, as soon as there is one."""

    def __init__(self, context: Context, _library: ShaderLibrary) -> None:
        self._context = context
        self._node = Node(id="", settings=ClothSettings())
        self._system: ClothSystem | None = None
        self._white = Texture2D.from_array(context, np.full((1, 1, 4), 255, np.uint8), label="white")
        self._texture: Texture2D | None = None
        self._arrays: ClothArrays | None = None
        self._room: tuple[npt.NDArray[np.floating], Bounds] | None = None
        self._fabric: tuple[tuple[Vec3, Texture2D | None], GpuMaterial] | None = None
        self._display: tuple[tuple[object, ...], tuple[Item, ...]] = ((), ())

    @property
    def settings(self) -> ClothSettings:
        assert isinstance(self._node.settings, ClothSettings)
        return self._node.settings

    def apply(self, node: Node, subject: ClothSystem | None, world: World) -> None:
        self._node, self._system, self._display = node, subject, ((), ())
        self._texture = world.services.get(SharedTextures).of(world.textures).get(Path(self.settings.texture))

    def parts(self, display: DisplayOptions) -> tuple[Item, ...]:
        cloth = self._cloth
        if cloth is None:
            return ()
        settings, arrays = self.settings, self._arrays_of(cloth)
        key = (arrays, settings.look)
        if self._display[0] != key:
            items: list[Item] = [self._sheet(arrays)]
            if settings.look is ClothLook.SPRINGS:
                lines, scale = arrays.spring_lines(), 1.0 / STRAIN_SPAN
                items.append(SpringSegments(node=self._node, vertices=lines, scalar_scale=scale, cloth=cloth))
            elif settings.look is ClothLook.POINTS:
                items.append(PointsItem(node=self._node, stages=("detail",), vertices=arrays.points, colour=PARTICLE))
            self._display = (key, tuple(items))
        return (*self._display[1], *self._marks(cloth, arrays, display))

    def bounds(self) -> Bounds | None:
        outline = self._system.outline() if self._system is not None else None
        if outline is None:
            return None
        if self._room is None or not np.array_equal(self._room[0], outline):
            self._room = (outline, _room(outline))
        return self._room[1]

    def counts(self) -> Counts:
        cloth = self._cloth
        if cloth is None:
            return NOTHING
        return Counts(len(cloth.model.surface.positions), len(cloth.model.surface.triangles))

    def get(self, index: int, textured: bool) -> GpuMaterial:  # noqa: ARG002
        """The fabric; a cloth has one material."""
        texture = self._texture if textured else None
        display = self.settings.colour, texture
        if self._fabric is None or self._fabric[0] != display:
            made = fabric(self.settings, textured=texture is not None)
            self._fabric = (display, material_on_gpu(made, texture or self._white))
        return self._fabric[1]

    def release(self) -> None:
        self._release_arrays()
        self._white.release()

    @property
    def _cloth(self) -> Cloth | None:
        return self._system.cloth if self._system is not None else None

    def _arrays_of(self, cloth: Cloth) -> ClothArrays:
        """Vertex arrays of the present build."""
        if self._arrays is None or self._arrays.vertices is not cloth.sheet.vertices:
            self._release_arrays()
            self._arrays = ClothArrays(self._context, cloth)
        return self._arrays

    def _sheet(self, arrays: ClothArrays) -> SurfaceItem:
        """The sheet, which is picked whether it is drawn or not."""
        display = self.settings.look
        is_drawn = display not in (ClothLook.SPRINGS, ClothLook.POINTS)
        return SurfaceItem(
            node=self._node,
            stages=("shadow", "opaque", "pick") if is_drawn else ("pick",),
            group="cloths",
            arrays=arrays,
            materials=self,
            ranges=(DrawRange(0, 0, arrays.triangles.count // 3, True),),
            world_from_model=_WORLD,
            scalar=Scalar.WEIGHT if display is ClothLook.STRAIN else Scalar.NONE,
            scalar_scale=1.0 / STRAIN_SPAN,
        )

    def _marks(self, cloth: Cloth, arrays: ClothArrays, display: DisplayOptions) -> list[Item]:
        """What is chosen, held and pointed at, where it is now; the places never leave the GPU."""
        found: list[Item] = []
        if display.settings.contacts and display.colliders:
            touch = self._touch(display.colliders)
            found.append(self._mark(arrays.points, TOUCHING, 6.0, shader="cloth/mark.vert", uniforms=touch))
        chosen, hovered = display.overlay.particles.get(self._node.id), display.overlay.hovered_particle
        if chosen:
            found.append(self._mark(arrays.chosen(chosen), CHOSEN, 11.0))
        # Over the wider marks of the chosen ones, which then are a rim.
        if display.overlay.marks and cloth.pinned.any() and not cloth.is_elsewhere:
            found.append(self._mark(arrays.pins(), HELD, 8.0, shader="cloth/mark.vert", defines={"HELD": True}))
        if hovered is not None and hovered.node == self._node.id and hovered.particle < cloth.model.particle_count:
            vertex = int(np.argmax(cloth.model.particle_of_vertex == hovered.particle))
            found.append(self._mark(arrays.points, HOVERED, 15.0, is_ring=True, first=vertex, count=1))
        return found

    def _mark(self, vertices: VertexArray, colour: Vec3, size: float, **more: Any) -> PointsItem:
        return PointsItem(
            node=self._node, stages=("detail",), vertices=vertices, colour=colour, size=size, on_top=True, **more
        )

    def _touch(self, colliders: Colliders) -> Mapping[str, object]:
        clearance = 0.5 * self.settings.thickness
        return {
            "u_colliders": colliders.texture,
            "u_collider_count": colliders.count,
            "u_near": clearance + max(TOUCH * clearance, TOUCH_LEAST),
        }

    def _release_arrays(self) -> None:
        if self._arrays is not None:
            self._arrays.release()
        self._arrays = None


def _room(places: npt.NDArray[np.floating]) -> Bounds:
    lo, hi = places.min(axis=0), places.max(axis=0)
    fallen = lo - np.array([0.0, float((hi - lo).max()), 0.0])
    return Bounds(np.minimum(lo, np.maximum(fallen, [lo[0], min(0.0, lo[1]), lo[2]])), hi)
