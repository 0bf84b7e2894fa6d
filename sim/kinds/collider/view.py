import numpy as np

from sinew.sim.assets.model import Bounds
from sinew.sim.colliders.outline import outline
from sinew.sim.colliders.skin import SkinPlacement
from sinew.sim.colliders.state import ColliderPlacement, ColliderShape, bounding_radius
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.vertex_array import Stream, VertexArray
from sinew.sim.kinds.collider.place import placements
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.contract import Service, View, World
from sinew.sim.memo import Memo
from sinew.sim.render.body_pass import BodyItem
from sinew.sim.render.render_view import DisplayOptions
from sinew.sim.scene.scene import Node, NodeId
from sinew.sim.scene.view import Look
from sinew.sim.scene.world_transforms import WorldTransforms

CORNER = np.dtype([("position", "f4", 3), ("normal", "f4", 3)])
_PLAIN = (0.35, 0.62, 0.90, 0.30)
_SELECTED = (1.00, 0.62, 0.20, 0.38)
_MUTED = (0.55, 0.57, 0.60, 0.30)
_WIRE_SHARE = 0.25  # of the fill of colliders on characters, which are drawn over them
_PLANE_SHARE = 0.3  # a plane covers half of the image, and much is seen through it
_FILL, _SELECTED_FILL = 0.05, 0.12  # in the standard look, where all have edges


def is_skin(node: Node) -> bool:
    return isinstance(node.settings, ColliderSettings) and node.settings.shape is ColliderShape.SKIN


class ColliderPoses(Service):
    def __init__(self, _context: Context, _library: ShaderLibrary) -> None:
        self._places: WorldTransforms | None = None
        self._placed: dict[NodeId, ColliderPlacement | SkinPlacement] = {}

    def of(self, world: World) -> dict[NodeId, ColliderPlacement | SkinPlacement]:
        if self._places is not world.places:
            self._places = world.places
            nodes = world.scene.of_kind(ColliderSettings.kind)
            rigid = tuple(node for node in nodes if not is_skin(node))
            self._placed = placements(nodes if len(rigid) == len(nodes) else rigid, world.places)
        return self._placed


class ColliderView(View):
    is_helper = True

    def __init__(self, context: Context, _library: ShaderLibrary) -> None:
        self._context = context
        self._node: Node | None = None
        self._world: World | None = None
        self._placed: ColliderPlacement | None = None
        self._is_placed = self._rides = False
        self._is_simulated = True
        self._mesh = Memo[tuple[VertexArray, VertexArray]]()
        self._bodies: dict[tuple[bool, Look], BodyItem] = {}  # By selection and look

    def apply(self, node: Node, subject: object, world: World) -> None:  # noqa: ARG002
        carrier = world.scene.by_id.get(node.attachment.node)
        rides = carrier is not None and carrier.settings.is_character
        is_simulated = node.id in world.scene.simulated
        if node is not self._node or (rides, is_simulated) != (self._rides, self._is_simulated):
            self._bodies = {}
        self._node, self._world, self._is_placed = node, world, False
        self._rides, self._is_simulated = rides, is_simulated

    def parts(self, display: DisplayOptions) -> tuple[BodyItem, ...]:
        is_selected = self._node is not None and self._node.id in display.overlay.selected_nodes
        if self._node is None or not (display.settings.solids or is_selected):
            return ()
        place = self._place()
        if place is None:
            return ()
        key = is_selected, display.settings.look
        if key not in self._bodies:
            red, green, blue, alpha = _SELECTED if is_selected else _PLAIN if self._is_simulated else _MUTED
            is_plane, has_edges = place.shape is ColliderShape.PLANE, self._rides
            alpha *= _PLANE_SHARE if is_plane else _WIRE_SHARE if self._rides else 1.0
            if display.settings.look is Look.STANDARD:
                alpha, has_edges = _SELECTED_FILL if is_selected else _FILL, True
            faces, wire = self._mesh.get((place.shape, place.size.tobytes()), lambda: self._new_arrays(place))
            self._bodies[key] = BodyItem(
                node=self._node,
                faces=faces,
                wire=wire if has_edges else None,
                world_from_body=place.world_from_collider,
                colour=(red, green, blue, alpha),
                is_endless=is_plane,
                is_aside=self._rides,
            )
        return (self._bodies[key],)

    def bounds(self) -> Bounds | None:
        place = self._place() if self._node is not None else None
        if place is None:
            return None
        reach = bounding_radius(place.shape, place.size)
        reach = reach if np.isfinite(reach) else 1.0
        centre = place.world_from_collider[:3, 3]
        return Bounds(centre - reach, centre + reach)

    def _place(self) -> ColliderPlacement | None:
        """Moves the bodies to the present transform, with the same size; returns None for a skin, which has no body."""
        assert self._node is not None
        if is_skin(self._node):
            return None
        if self._placed is None or not self._is_placed:
            assert self._world is not None
            last, place = self._placed, self._world.services.get(ColliderPoses).of(self._world)[self._node.id]
            assert isinstance(place, ColliderPlacement)
            self._placed, self._is_placed = place, True
            if last is not None and (place.shape, place.size.tobytes()) != (last.shape, last.size.tobytes()):
                self._bodies = {}
            for body in self._bodies.values():
                body.world_from_body = place.world_from_collider
        return self._placed

    def _new_arrays(self, place: ColliderPlacement) -> tuple[VertexArray, VertexArray]:
        """Makes faces and wireframe; releases the former ones, as the view owns nothing else."""
        self.release()
        shape = outline(place.shape, place.size)
        corners = np.zeros(len(shape.positions), CORNER)
        corners["position"], corners["normal"] = shape.positions, shape.normals
        streams = [Stream(self.owns(Buffer(self._context, corners, label="collider corners")))]
        faces, wire = (
            self.owns(
                VertexArray(
                    self._context,
                    streams,
                    indices=self.owns(Buffer(self._context, numbers.ravel(), label="collider indices")),
                    label="collider",
                )
            )
            for numbers in (shape.triangles, shape.lines)
        )
        return faces, wire
