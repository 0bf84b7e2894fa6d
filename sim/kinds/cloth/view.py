"""What drawing needs of a cloth: vertex arrays over the buffers of its system, and its material."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sim.assets.model import Bounds, Material
from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.texture import Texture2D
from sim.gl.vertex_array import Stream, VertexArray
from sim.kinds.cloth.cloth import Cloth
from sim.kinds.cloth.model import ClothModel
from sim.kinds.cloth.settings import ClothLook, ClothSettings
from sim.maths.srgb import light_of
from sim.render.detail_pass import Detail
from sim.render.edges import unique_edges
from sim.render.mesh_pass import Scalar, Surface
from sim.render.overlay_pass import BONE, MARKER
from sim.render.shot import Look, Overlay
from sim.render.surface import DrawRange, GpuMaterial, Spans, material_on_gpu
from sim.scene.scene import NodeId
from sim.scene.vectors import Vec3
from sim.solids.scene_solids import Solids

STRAIN_SPAN = 0.2
"""Strain at the upper end of the ramp."""

TOUCH = 0.1
TOUCH_LEAST = 5e-4
"""A particle that is this part of its clearance, or this distance [m], off a collider still touches it."""

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
        """Lines along every spring, with its strain, as they are now."""
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
        """Deletes the vertex arrays, not the buffers of the cloth."""
        chosen = self._chosen[1:] if self._chosen else ()
        owners = (self.triangles, self.points, self._lines, *(self._edges or ()), *self._pins.values(), *chosen)
        for owned in owners:
            if owned is not None:
                owned.release()


class ClothView:
    """Draws one cloth.

    Args:
        context: Where it lives.
        node_id: The node that is drawn.
        cloth: The cloth, owned by someone else.

    Attributes:
        node_id: The node that is drawn.
        settings: Its settings; replaced when the scene changes.
        colliders: Solids whose touch is marked; None marks none.
    """

    group = "cloths"

    def __init__(self, context: Context, node_id: NodeId, cloth: Cloth) -> None:
        self.node_id = node_id
        self.cloth = cloth
        self.settings: ClothSettings = cloth.settings
        self.colliders: Solids | None = None
        self._context = context
        self._white = Texture2D.from_array(context, np.full((1, 1, 4), 255, np.uint8), label="white")
        self._texture: tuple[npt.NDArray[np.uint8], Texture2D] | None = None
        self._arrays: ClothArrays | None = None
        self._room: tuple[ClothModel, Bounds] | None = None
        self._fabric: tuple[tuple[Vec3, Texture2D | None], GpuMaterial] | None = None

    @property
    def arrays(self) -> ClothArrays:
        """Vertex arrays of the present build."""
        if self._arrays is None or self._arrays.vertices is not self.cloth.sheet.vertices:
            self._release_arrays()
            self._arrays = ClothArrays(self._context, self.cloth)
        return self._arrays

    def bounds(self) -> Bounds:
        """Box in the world of the cloth at rest and of where it can fall to [m]; its particles stay on the GPU."""
        if self._room is None or self._room[0] is not self.cloth.model:
            self._room = (self.cloth.model, _room(self.cloth.model.positions))
        return self._room[1]

    def set_images(self, images: Mapping[Path, npt.NDArray[np.uint8]]) -> None:
        """Takes decoded images; that of the fabric is uploaded when it is another."""
        image = images.get(Path(self.settings.texture)) if self.settings.texture else None
        if image is (self._texture[0] if self._texture else None):
            return
        if self._texture is not None:
            self._texture[1].release()
        self._texture = None
        if image is not None:
            self._texture = (image, Texture2D.from_array(
                self._context, image, "srgb8_alpha8", mipmaps=True, wrap="repeat", label="fabric"
            ))  # fmt: skip

    def surface(self, _look: Look) -> Surface | None:
        """The sheet, or None where threads or particles are drawn instead."""
        return None if self.settings.look in (ClothLook.SPRINGS, ClothLook.POINTS) else self.sheet()

    def sheet(self) -> Surface:
        """The sheet, whether it is drawn or not; the mouse takes hold of it also between the threads."""
        arrays = self.arrays
        strained = self.settings.look is ClothLook.STRAIN
        return Surface(
            arrays=arrays,
            materials=self,
            ranges=(DrawRange(0, 0, arrays.triangles.count // 3, True),),
            world_from_model=_WORLD,
            texture_origin_bottom=True,
            scalar=Scalar.WEIGHT if strained else Scalar.NONE,
            scalar_scale=1.0 / STRAIN_SPAN,
        )

    def get(self, index: int, textured: bool) -> GpuMaterial:  # noqa: ARG002
        """The fabric; a cloth has one material."""
        texture = self._texture[1] if textured and self._texture else None
        look = self.settings.colour, texture
        if self._fabric is None or self._fabric[0] != look:
            diffuse = (1.0, 1.0, 1.0) if texture else light_of(self.settings.colour)
            fabric = Material("fabric", None, None, diffuse=diffuse, specular=(0.02, 0.02, 0.02), shininess=8.0)
            self._fabric = (look, material_on_gpu(fabric, texture or self._white))
        return self._fabric[1]

    def details(self, overlay: Overlay) -> tuple[Detail, ...]:
        """Threads or particles, where they are drawn, and marks of particles."""
        found = []
        if self.settings.look is ClothLook.SPRINGS:
            found.append(Detail(self.arrays.spring_lines(), "lines", 1.0 / STRAIN_SPAN))
        elif self.settings.look is ClothLook.POINTS:
            found.append(Detail(self.arrays.points, "points"))
        return (*found, *self._marks(overlay))

    def _marks(self, overlay: Overlay) -> list[Detail]:
        """What is chosen, held and pointed at, where it is now; the places never leave the GPU."""
        found = []
        if self.colliders:
            found.append(Detail(self.arrays.points, "contacts", uniforms=self._touch(self.colliders)))
        chosen = overlay.particles.get(self.node_id)
        if chosen:
            found.append(Detail(self.arrays.chosen(chosen), "chosen"))
        # Over the wider marks of the chosen ones, which then are a rim.
        if overlay.marks and self.cloth.pinned.any():
            found.append(Detail(self.arrays.pins(), "pins"))
        hovered = overlay.hovered_particle
        if hovered is not None and hovered.node == self.node_id and hovered.particle < self.cloth.model.particle_count:
            vertex = int(np.argmax(self.cloth.model.particle_of_vertex == hovered.particle))
            found.append(Detail(self.arrays.points, "hovered", first=vertex, count=1))
        return found

    def _touch(self, solids: Solids) -> dict[str, object]:
        clearance = 0.5 * self.settings.thickness
        return {
            "u_colliders": solids.texture,
            "u_collider_count": solids.count,
            "u_near": clearance + max(TOUCH * clearance, TOUCH_LEAST),
        }

    def overlay_records(self, _overlay: Overlay) -> tuple[npt.NDArray[np.void], npt.NDArray[np.void]]:
        """No bones and no joints."""
        return np.zeros(0, BONE), np.zeros(0, MARKER)

    def release(self) -> None:
        """Deletes what drawing added; the cloth stays."""
        self._release_arrays()
        self._white.release()
        if self._texture is not None:
            self._texture[1].release()
            self._texture = None

    def _release_arrays(self) -> None:
        if self._arrays is not None:
            self._arrays.release()
        self._arrays = None


def _room(places: npt.NDArray[np.floating]) -> Bounds:
    lo, hi = places.min(axis=0), places.max(axis=0)
    fallen = lo - np.array([0.0, float((hi - lo).max()), 0.0])
    return Bounds(np.minimum(lo, np.maximum(fallen, [lo[0], min(0.0, lo[1]), lo[2]])), hi)
