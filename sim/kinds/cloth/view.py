from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.model import Bounds
from sinew.sim.colliders.scene_colliders import Colliders
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.texture import Texture2D
from sinew.sim.gl.vertex_array import Stream, VertexArray
from sinew.sim.kinds.cloth.buffers import DrawnMesh
from sinew.sim.kinds.cloth.cloth import Cloth, fabric
from sinew.sim.kinds.cloth.maps import RANGES
from sinew.sim.kinds.cloth.settings import ClothLook, ClothSettings
from sinew.sim.kinds.cloth.system import ClothSystem
from sinew.sim.kinds.contract import NOTHING, Counts, View, World
from sinew.sim.memo import Memo
from sinew.sim.render.detail_pass import LinesItem, PointsItem
from sinew.sim.render.items import WHOLE, DrawChunk, Item, Stage
from sinew.sim.render.mesh_pass import Arrays, Scalar, SurfaceItem
from sinew.sim.render.pass_context import PassContext
from sinew.sim.render.render_view import DisplayOptions
from sinew.sim.render.surface import SCALAR, DrawRange, GpuMaterial, Spans, material_on_gpu, unique_edges
from sinew.sim.render.texture_upload import SharedTextures
from sinew.sim.scene.scene import Node
from sinew.sim.scene.vectors import Vec3

STRAIN_SPAN = 0.2
"""Strain at the upper end of the colour ramp."""

TOUCH = 0.1
TOUCH_LEAST = 5e-4
"""Contact distance: this part of the clearance of a particle, or this distance [m], beyond it."""

PARTICLE, HELD, SELECTED, HOVERED, TOUCHING = (
    (0.93, 0.86, 0.70), (1.00, 0.60, 0.15), (0.35, 0.80, 1.00), (1.00, 0.90, 0.55), (0.35, 0.95, 0.45)
)  # fmt: skip

_SOLID: tuple[Stage, ...] = ("shadow", "opaque", "pick")
_WORLD = np.eye(4)
"""Transform of particles, which are in world space."""


class MeshArrays(Owner):
    """Triangles in the world with texture coordinates, and with scalars if there are any."""

    def __init__(self, context: Context, mesh: DrawnMesh, scalars: Buffer | None = None) -> None:
        self._context, self.mesh = context, mesh
        constants: dict[str, tuple[float, ...]] = {"a_other_position": (0.0, 0.0, 0.0)}
        streams = [Stream(mesh.vertices), Stream(mesh.texcoords)]
        if scalars is None:
            constants["a_scalar"] = (0.0,)
        else:
            streams.append(Stream(scalars))
        self.triangles = self.owns(
            VertexArray(context, streams, indices=mesh.triangles, constants=constants, label="cloth mesh")
        )
        self._edges: VertexArray | None = None

    def edges(self, _spans: Spans) -> VertexArray:
        if self._edges is None:
            indices = unique_edges(self.mesh.surface.triangles.astype(np.uint32)).ravel()
            buffer = self.owns(Buffer(self._context, indices, label="cloth edges"))
            streams = [Stream(self.mesh.vertices)]
            self._edges = self.owns(VertexArray(self._context, streams, indices=buffer, label="cloth edges"))
        return self._edges


class ClothArrays(Owner):
    def __init__(self, context: Context, cloth: Cloth) -> None:
        self._context, self._cloth = context, cloth
        sheet = cloth.sheet
        self.vertices = sheet.vertices
        streams = [Stream(sheet.vertices), Stream(sheet.texcoords)]
        constants: dict[str, tuple[float, ...]] = {"a_other_position": (0.0, 0.0, 0.0)}
        # Seams repeat particles; the strain is a stream only if vertices and particles are the same.
        if np.array_equal(cloth.model.particle_of_vertex, np.arange(len(cloth.model.particle_of_vertex))):
            streams.append(Stream(cloth.measures, rename={"strain": "a_scalar"}))
        else:
            constants["a_scalar"] = (0.0,)
        self.triangles = self.owns(
            VertexArray(context, streams, indices=sheet.triangles, constants=constants, label="cloth")
        )
        self.points = self.owns(VertexArray(context, streams[:1], label="cloth points"))
        self._painted: tuple[MeshArrays, Buffer] | None = None
        self._edges: VertexArray | None = None
        self._lines: VertexArray | None = None
        self._pins: dict[Buffer, VertexArray] = {}
        self._selected: dict[str, tuple[tuple[int, ...], Buffer, VertexArray]] = {}

    def painted(self, values: npt.NDArray[np.floating]) -> MeshArrays:
        """Returns the same surface with values of the particles (P,) as its scalar."""
        scalars = values[self._cloth.model.particle_of_vertex].astype(np.float32).view(SCALAR)
        if self._painted is None:
            buffer = self.owns(Buffer(self._context, scalars, usage="dynamic", label="painted map"))
            made = MeshArrays(self._context, self._cloth.sheet, buffer)
            self._painted = self.owns(made), buffer
        self._painted[1].write(scalars)
        return self._painted[0]

    def edges(self, _spans: Spans) -> VertexArray:
        if self._edges is None:
            indices = unique_edges(self._cloth.model.surface.triangles.astype(np.uint32)).ravel()
            self._edges = self._indexed(indices, "cloth edges")[1]
        return self._edges

    def spring_lines(self) -> VertexArray:
        buffer = self._cloth.spring_lines()
        if self._lines is None:
            rename = {"strain": "a_scalar"}
            self._lines = self.owns(VertexArray(self._context, [Stream(buffer, rename=rename)], label="cloth springs"))
        return self._lines

    def pins(self) -> VertexArray:
        buffer = self._cloth.pins.targets
        if buffer not in self._pins:
            self._pins[buffer] = self.owns(VertexArray(self._context, [Stream(buffer)], label="cloth pins"))
        return self._pins[buffer]

    def selected(self, particles: tuple[int, ...], name: str = "selected") -> VertexArray:
        known = self._selected.get(name)
        if known is None or known[0] != particles:
            if known is not None:
                self.disown(*known[1:])
            vertices = np.flatnonzero(np.isin(self._cloth.model.particle_of_vertex, particles)).astype(np.uint32)
            known = self._selected[name] = (particles, *self._indexed(vertices, f"{name} particles"))
        return known[2]

    def _indexed(self, indices: npt.NDArray[np.uint32], label: str) -> tuple[Buffer, VertexArray]:
        buffer = self.owns(Buffer(self._context, indices, label=label))
        vertices = VertexArray(self._context, [Stream(self.vertices)], indices=buffer, label=label)
        return buffer, self.owns(vertices)


@dataclass(eq=False, kw_only=True)
class SpringSegments(LinesItem):
    stages: tuple[Stage, ...] = ("detail",)
    cloth: Cloth

    def draw(self, stage: Stage, ctx: PassContext, part: DrawChunk = WHOLE) -> None:
        self.cloth.spring_lines()
        LinesItem.draw(self, stage, ctx, part)


class ClothView(View):
    def __init__(self, context: Context, _library: ShaderLibrary) -> None:
        self._context = context
        self._node = Node(id="", settings=ClothSettings())
        self._system: ClothSystem | None = None
        self._white = self.owns(Texture2D.from_array(context, np.full((1, 1, 4), 255, np.uint8), label="white"))
        self._texture: Texture2D | None = None
        self._arrays: dict[bool, ClothArrays] = {}  # By whether they are of the second solver
        self._driven: MeshArrays | None = None
        self._bounds: tuple[npt.NDArray[np.floating], Bounds] | None = None
        self._fabric = Memo[GpuMaterial]()
        self._items: dict[bool, Memo[tuple[Item, ...]]] = {}

    @property
    def settings(self) -> ClothSettings:
        assert isinstance(self._node.settings, ClothSettings)
        return self._node.settings

    def apply(self, node: Node, subject: object, world: World) -> None:
        assert isinstance(subject, ClothSystem | None)
        self._node, self._system = node, subject
        self._items.clear()
        self._texture = world.services.get(SharedTextures).of(world.assets.textures).get(Path(self.settings.texture))

    def parts(self, display: DisplayOptions) -> tuple[Item, ...]:
        cloth = self._cloth
        if cloth is None:
            return ()
        comparison = self._system.comparison if self._system is not None and display.second else None
        is_second = comparison is not None
        if comparison is not None:
            cloth = comparison.cloth
        arrays = self._arrays.get(is_second)
        if arrays is None or arrays.vertices is not cloth.sheet.vertices:
            self.disown(arrays)
            arrays = self._arrays[is_second] = self.owns(ClothArrays(self._context, cloth))
        if is_second not in self._items:
            self._items[is_second] = Memo()
        painted = self._system.shown_values if self._system is not None else None
        if painted is not None:
            assert self._system is not None
            assert self._system.shown_map.map is not None
            span = RANGES[self._system.shown_map.map].shown
            items: tuple[Item, ...] = (self._surface(arrays.painted(painted), *_SOLID, span=span),)
        else:
            driven = None if is_second else self._driven_arrays(cloth)
            items = self._items[is_second].get((arrays, driven), lambda: self._body(cloth, arrays, driven))
        return (*items, *self._highlights(cloth, arrays, display))

    def bounds(self) -> Bounds | None:
        outline = self._system.outline() if self._system is not None else None
        if outline is None:
            return None
        if self._bounds is None or not np.array_equal(self._bounds[0], outline):
            lo, hi = outline.min(axis=0), outline.max(axis=0)
            # It may fall by its own size, but not below the ground.
            fallen = lo - np.array([0.0, float((hi - lo).max()), 0.0])
            lowest = np.minimum(lo, np.maximum(fallen, [lo[0], min(0.0, lo[1]), lo[2]]))
            self._bounds = (outline, Bounds(lowest, hi))
        return self._bounds[1]

    def counts(self) -> Counts:
        cloth = self._cloth
        if cloth is None:
            return NOTHING
        return Counts(len(cloth.model.surface.positions), len(cloth.model.surface.triangles))

    def get(self, index: int, textured: bool) -> GpuMaterial:  # noqa: ARG002
        texture = self._texture if textured else None

        def make() -> GpuMaterial:
            return material_on_gpu(fabric(self.settings, textured=texture is not None), texture or self._white)

        return self._fabric.get((self.settings, texture), make)

    @property
    def _cloth(self) -> Cloth | None:
        return self._system.cloth if self._system is not None else None

    def _surface(self, arrays: Arrays, *stages: Stage, span: float = 0.0) -> SurfaceItem:
        """Returns a surface, in colours of its scalar from 0 to `span` if that is not 0."""
        return SurfaceItem(
            node=self._node,
            stages=stages,
            group="cloths",
            arrays=arrays,
            materials=self,
            ranges=(DrawRange(0, 0, arrays.triangles.count // 3, True),),
            world_from_model=_WORLD,
            scalar=Scalar.WEIGHT if span else Scalar.NONE,
            scalar_scale=1.0 / (span or STRAIN_SPAN),
        )

    def _body(self, cloth: Cloth, arrays: ClothArrays, driven: MeshArrays | None) -> tuple[Item, ...]:
        look, node = self.settings.look, self._node
        if look is ClothLook.SURFACE and driven is not None:
            return self._surface(arrays, "pick"), self._surface(driven, "shadow", "opaque")
        if look not in (ClothLook.SPRINGS, ClothLook.POINTS):
            return (self._surface(arrays, *_SOLID, span=STRAIN_SPAN if look is ClothLook.STRAIN else 0.0),)
        surface = self._surface(arrays, "pick")
        if look is ClothLook.SPRINGS:
            lines, scale = arrays.spring_lines(), 1.0 / STRAIN_SPAN
            return surface, SpringSegments(node=node, vertices=lines, scalar_scale=scale, cloth=cloth)
        return surface, PointsItem(node=node, stages=("detail",), vertices=arrays.points, colour=PARTICLE)

    def _driven_arrays(self, cloth: Cloth) -> MeshArrays | None:
        if self._driven is not None and self._driven.mesh is not cloth.driven:
            self.disown(self._driven)
            self._driven = None
        if self._driven is None and cloth.driven is not None:
            self._driven = self.owns(MeshArrays(self._context, cloth.driven))
        return self._driven

    def _highlights(self, cloth: Cloth, arrays: ClothArrays, display: DisplayOptions) -> list[Item]:
        items: list[Item] = []
        if display.settings.contacts and display.colliders:
            touch = self._touch(display.colliders)
            items.append(self._points(arrays.points, TOUCHING, 6.0, shader="cloth/mark.vert", uniforms=touch))
        selected, hovered = display.overlay.particles.get(self._node.id), display.overlay.hovered_particle
        if selected:
            items.append(self._points(arrays.selected(selected), SELECTED, 11.0))
        # Drawn over the larger points of selected particles, which then look like rims.
        marks = display.overlay.marks and (self._system is None or self._system.shown_map.map is None)
        if marks and cloth.limited.any():
            pinned = tuple(np.flatnonzero(cloth.weights > 0.0).tolist())
            items.append(self._points(arrays.selected(pinned, "held"), HELD, 8.0))
        elif marks and cloth.pins.flags.any() and not cloth.is_displaced:
            items.append(self._points(arrays.pins(), HELD, 8.0, shader="cloth/mark.vert", defines={"HELD": True}))
        if hovered is not None and hovered.node == self._node.id and hovered.particle < cloth.model.particle_count:
            vertex = int(np.argmax(cloth.model.particle_of_vertex == hovered.particle))
            items.append(self._points(arrays.points, HOVERED, 15.0, is_ring=True, first=vertex, count=1))
        return items

    def _points(self, vertices: VertexArray, colour: Vec3, size: float, **more: Any) -> PointsItem:
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
