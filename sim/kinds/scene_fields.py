"""The force fields of the scene, for the systems that they act on."""

from collections.abc import Collection, Iterable, Mapping

from sinew.sim.fields.pack import pack_fields
from sinew.sim.fields.state import FieldPlacement, Fields
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.texture import TexelBuffer
from sinew.sim.kinds.contract import Service, World
from sinew.sim.kinds.field_targets import acting_fields, weight_of
from sinew.sim.scene.scene import Node, NodeId, Scene


class SceneFields(Service):
    """Packs the fields of each step, once for each distinct list of fields and weight.

    Attributes:
        time: Start of the last step, since the start of the simulation [s].
    """

    def __init__(self, context: Context, _library: ShaderLibrary) -> None:
        self._context = context
        self.time = 0.0
        self._last: Mapping[NodeId, FieldPlacement] = {}
        self._scene: Scene | None = None
        self._acting: dict[NodeId, tuple[NodeId, ...]] = {}
        self._buffers: dict[tuple[tuple[NodeId, ...], float], TexelBuffer] = {}

    def advance(
        self, world: World, placed: Mapping[NodeId, FieldPlacement], time: float, nodes: Iterable[Node]
    ) -> dict[NodeId, Fields]:
        """The step starts at `time` with the placements of the last call, and ends with these.

        Returns the fields that act on each of the nodes; nodes without fields have none.
        """
        last, self._last, self.time = self._last, placed, time
        packed: dict[tuple[tuple[NodeId, ...], float], Fields] = {}
        found = {}
        for node in nodes if placed else ():
            weight = weight_of(world.active_settings.get(node.id, node.settings))
            names = tuple(name for name in self._fields_on(world.scene, node) if name in placed)
            if not names or weight == 0.0:
                continue
            key = names, weight
            if key not in packed:
                records, ends = pack_fields(
                    [(last.get(name, placed[name]), placed[name]) for name in names], time, weight
                )
                if key not in self._buffers:
                    self._buffers[key] = self.owns(TexelBuffer(self._context, records, usage="stream", label="fields"))
                self._buffers[key].buffer.orphan(records.reshape(-1, 4))
                has_bounds = any(placed[name].has_bounds for name in names)
                packed[key] = Fields(self._buffers[key], ends, has_bounds)
            found[node.id] = packed[key]
        for unused in self._buffers.keys() - packed.keys():
            self.disown(self._buffers.pop(unused))
        return found

    def teleport(self, nodes: Collection[NodeId] | None = None) -> None:
        """Forgets placements, by default all, so that the next step of these fields starts where it ends."""
        others = () if nodes is None else self._last.keys() - set(nodes)
        self._last = {node_id: self._last[node_id] for node_id in others}

    def _fields_on(self, scene: Scene, node: Node) -> tuple[NodeId, ...]:
        if scene is not self._scene:
            self._scene, self._acting = scene, {}
        if node.id not in self._acting:
            self._acting[node.id] = tuple(field.id for field in acting_fields(scene, node))
        return self._acting[node.id]
