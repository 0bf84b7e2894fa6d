import itertools
from dataclasses import dataclass

import numpy as np

from sinew.sim.assets.model import Bounds
from sinew.sim.fields.pack import FIELD_TEXELS, pack_fields
from sinew.sim.fields.state import FieldPlacement, Fields, FieldShape, FieldType
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.record import record
from sinew.sim.gl.texture import TexelBuffer
from sinew.sim.gl.vertex_array import Stream, VertexArray
from sinew.sim.kinds.contract import Mark, View, World
from sinew.sim.kinds.field.place import placements
from sinew.sim.kinds.field.settings import FieldSettings
from sinew.sim.kinds.scene_fields import SceneFields
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.transform import transform_points
from sinew.sim.memo import same_objects
from sinew.sim.render.detail_pass import LinesItem
from sinew.sim.render.frame import Frame
from sinew.sim.render.items import WHOLE, DrawChunk, Stage
from sinew.sim.render.pass_context import PassContext
from sinew.sim.render.pick_pass import SELECTED_COLOUR
from sinew.sim.render.render_view import DisplayOptions
from sinew.sim.scene.scene import Node
from sinew.sim.scene.world_transforms import vector

END = record("ArrowEnd", position=(4, "f4"))
ENDS = 10
"""Vertices of an arrow."""

LATTICE = np.array(list(itertools.product(np.linspace(-0.8, 0.8, 5), repeat=3)))
ARROWS = len(LATTICE)

AROUND = 0.75
"""Half extent of the arrows of a field without bounds [m]."""

_COLOURS = {True: SELECTED_COLOUR[:3], False: (0.31, 0.77, 0.79)}
_MUTED = (0.55, 0.57, 0.60)
_MARK_RADIUS = 7.0
_PARTS = 48


@dataclass(eq=False, kw_only=True)
class FieldArrows(LinesItem):
    view: "FieldView"

    def draw(self, stage: Stage, ctx: PassContext, part: DrawChunk = WHOLE) -> None:
        self.view.place_arrows(ctx.frame)
        LinesItem.draw(self, stage, ctx, part)


class FieldView(View):
    """Arrows that show the field in and around its shape, and outlines of the shape and of the falloff."""

    is_helper = True
    _placed: FieldPlacement

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._library = library
        self._kernels: dict[FieldType, Kernel] = {}
        self._places = self.owns(TexelBuffer(context, np.zeros((ARROWS, 4), np.float32), usage="dynamic"))
        self._records = self.owns(
            TexelBuffer(context, np.zeros((FIELD_TEXELS, 4), np.float32), usage="stream", label="field")
        )
        self._ends = self.owns(Buffer(context, END.zeros(ENDS * ARROWS), usage="copy", label="field arrows"))
        self._outline = self.owns(Buffer(context, END.zeros(1), usage="dynamic", label="field outline"))
        self._arrays = [
            self.owns(VertexArray(context, [Stream(one)], label="field")) for one in (self._ends, self._outline)
        ]
        self._key: tuple[object, ...] = ()
        self._frame: Frame | None = None

    def apply(self, node: Node, subject: object, world: World) -> None:  # noqa: ARG002
        assert isinstance(node.settings, FieldSettings)
        placed, key = placements((node,), world.places)[node.id], (node, node.id in world.scene.simulated)
        self._world, self._frame = world, None
        if not same_objects(key, self._key):
            self._node, self._is_simulated = self._key = key
            self._items: dict[bool, tuple[LinesItem, ...]] = {}
        elif np.array_equal(placed.world_from_field, self._placed.world_from_field):
            return
        self._placed = placed
        lattice = np.ones((ARROWS, 4), np.float32)
        lattice[:, :3] = transform_points(placed.world_from_field, LATTICE * extents(placed))
        self._places.buffer.write(lattice)
        ends = END.zeros(0)
        if node.settings.shape is not FieldShape.INFINITE:
            shapes = [outline(np.asarray(placed.half_extents), placed.radius + more) for more in (0.0, placed.falloff)]
            points = transform_points(placed.world_from_field, np.concatenate(shapes))
            ends = END.zeros(len(points))
            ends["position"][:, :3] = points
        self._outlined = len(ends)
        self._outline.orphan(ends if len(ends) else END.zeros(1))
        place = vector(placed.world_from_field[:3, 3])
        self._marks = (Mark(node.id, place, (*self._colour(is_selected=False), 0.95), _MARK_RADIUS, SELECTED_COLOUR),)

    def parts(self, display: DisplayOptions) -> tuple[LinesItem, ...]:
        is_selected = self._node.id in display.overlay.selected_nodes
        if not (display.settings.fields or is_selected):
            return ()
        if is_selected not in self._items:
            colour, (arrows, outlines) = self._colour(is_selected=is_selected), self._arrays
            shown: list[LinesItem] = [FieldArrows(node=self._node, vertices=arrows, colour=colour, view=self)]
            if self._outlined:
                shown.append(LinesItem(node=self._node, vertices=outlines, colour=colour, count=self._outlined))
            self._items[is_selected] = tuple(shown)
        return self._items[is_selected]

    def place_arrows(self, frame: Frame) -> None:
        """Moves the arrows to the present field, once per frame."""
        if frame is self._frame:
            return
        self._frame = frame
        time = self._world.services.get(SceneFields).time
        records, ends = pack_fields([(self._placed, self._placed)], time)
        self._records.buffer.orphan(records.reshape(-1, 4))
        fields = Fields(self._records, ends)
        if self._placed.type not in self._kernels:
            self._kernels[self._placed.type] = Kernel(self._library, "field/arrows.glsl", END, defines=fields.defines)
        kernel = self._kernels[self._placed.type]
        program = kernel.program
        fields.set(program)
        half = extents(self._placed)
        program["u_places"], program["u_spacing"] = self._places, 0.38 * float(half.mean())
        program["u_typical"] = 0.5 * abs(float(records[0, 5, 0]))
        kernel.run(None, self._ends, ENDS * ARROWS)

    def bounds(self) -> Bounds:
        centre, reach = self._placed.world_from_field[:3, 3], np.linalg.norm(extents(self._placed))
        return Bounds(centre - reach, centre + reach)

    def marks(self) -> tuple[Mark, ...]:
        return self._marks

    def _colour(self, *, is_selected: bool) -> tuple[float, float, float]:
        red, green, blue = _COLOURS[is_selected] if self._is_simulated or is_selected else _MUTED
        return red, green, blue


def extents(placed: FieldPlacement) -> Float64:
    """Half extents of the shape and half of the falloff [m], shape (3,)."""
    if not placed.has_bounds:
        return np.full(3, AROUND)
    return np.asarray(placed.half_extents) + placed.radius + 0.5 * placed.falloff


def outline(half_extents: Float64, radius: float) -> Float64:
    """Ends of lines around a box swollen by a radius, shape (2 N, 3): a circle in each plane, with straight parts."""
    turn = np.linspace(0.0, 2.0 * np.pi, _PARTS + 1)
    rings = []
    for axis in range(3):
        first, second = (axis + 1) % 3, (axis + 2) % 3
        for side in (-1.0, 1.0) if half_extents[axis] > 0.0 else (0.0,):
            ring = np.zeros((_PARTS + 1, 3))
            for other, direction in ((first, np.cos(turn)), (second, np.sin(turn))):
                # Corners of a box: each quarter of the circle starts where its straight part ends.
                corner = np.where(direction >= -1e-9, 1.0, -1.0)
                ring[:, other] = corner * half_extents[other] + radius * direction
            ring[:, axis] = side * half_extents[axis]
            rings.append(np.stack([ring[:-1], ring[1:]], axis=1).reshape(-1, 3))
    return np.concatenate(rings)
