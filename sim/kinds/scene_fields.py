"""The force fields of the scene, for the systems that they act on."""

from collections.abc import Mapping

from sinew.sim.fields.pack import pack_fields
from sinew.sim.fields.sampler import NO_FIELDS, Fields
from sinew.sim.fields.state import FieldPlacement
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.texture import TexelBuffer
from sinew.sim.kinds.contract import Service, World
from sinew.sim.kinds.field_targets import acting_fields, field_weight
from sinew.sim.scene.scene import Node, NodeId


class SceneFields(Service):
    """Packs the fields of each step, once for each distinct list of fields and weight.

    Attributes:
        time: Start of the last step, since the start of the simulation [s].
    """

    def __init__(self, context: Context, _library: ShaderLibrary) -> None:
        self._context = context
        self.time = 0.0
        self._last: Mapping[NodeId, FieldPlacement] = {}
        self._now: Mapping[NodeId, FieldPlacement] = {}
        self._world: World | None = None
        self._on: dict[NodeId, tuple[NodeId, ...]] = {}
        self._buffers: dict[tuple[tuple[NodeId, ...], float], TexelBuffer] = {}
        self._packed: dict[tuple[tuple[NodeId, ...], float], Fields] = {}

    def advance(self, world: World, placed: Mapping[NodeId, FieldPlacement], time: float) -> None:
        """The step starts at `time` with the placements of the last call, and ends with these."""
        self._last, self._now, self.time = self._now, placed, time
        if self._world is None or world.scene is not self._world.scene:
            self._on = {}
        self._world = world
        for unused in self._buffers.keys() - self._packed.keys():
            self.disown(self._buffers.pop(unused))
        self._packed = {}

    def on(self, node: Node) -> Fields:
        """The fields that act on a node over this step."""
        if not self._now or self._world is None or (weight := field_weight(self._world, node)) == 0.0:
            return NO_FIELDS
        if node.id not in self._on:
            self._on[node.id] = tuple(field.id for field in acting_fields(self._world.scene, node))
        names = tuple(name for name in self._on[node.id] if name in self._now)
        if not names:
            return NO_FIELDS
        key = names, weight
        if key not in self._packed:
            motions = [(self._last.get(name, self._now[name]), self._now[name]) for name in names]
            records, ends = pack_fields(motions, self.time, weight)
            if key not in self._buffers:
                self._buffers[key] = self.owns(TexelBuffer(self._context, records, usage="stream", label="fields"))
            self._buffers[key].buffer.orphan(records.reshape(-1, 4))
            self._packed[key] = Fields(self._buffers[key], ends)
        return self._packed[key]

    def teleport(self) -> None:
        self._now = {}
