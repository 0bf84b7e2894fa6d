"""Scaling of the nodes around a node that changes its size, for example by another unit of its file.

Attached nodes always follow with their positions and all settings that are declared as lengths.  If the node is the
only character, the whole scene and the camera follow.
"""

from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Edits
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.params import bounded, params_of, scaled_length
from sinew.sim.scene.scene import Node, NodeId, ParamRef, Scene
from sinew.sim.scene.vectors import Vec3
from sinew.sim.scene.world_transforms import vector


@dataclass(frozen=True, slots=True)
class Zoom:
    """Scaling of the scene about a point [m]; the camera follows, so that the image stays the same."""

    centre: Vec3
    factor: float

    def of(self, camera: Camera) -> Camera:
        distance = min(max(camera.distance * self.factor, 1e-4), 1e7)
        return msgspec.structs.replace(
            camera, target=_about(self.centre, camera.target, self.factor), distance=distance
        )

    @property
    def back(self) -> "Zoom":
        return Zoom(self.centre, 1.0 / self.factor)


def factor_of(before: Node, after: Node) -> float:
    edits = KINDS[after.kind].part(Edits)
    return edits.resized(before.settings, after.settings) if before.kind == after.kind else 1.0


def followed(scene: Scene, node_id: NodeId, factor: float) -> tuple[dict[ParamRef, Any], Zoom | None]:
    """Returns new values of the other nodes after a node grew by a factor, and the zoom of the camera, if any."""
    node = scene.node(node_id)
    sole = len(scene.characters) == 1 and not node.attachment.node
    riders = {other.id for other in scene.nodes if any(above.id == node_id for above in scene.carriers(other.id))}
    values: dict[ParamRef, Any] = {}
    for other in scene.nodes:
        if other.id == node_id or not (sole or other.id in riders):
            continue
        place = other.transform.position
        if other.attachment.node in scene.by_id:
            place = vector(np.multiply(place, factor))
        else:
            place = _about(node.transform.position, place, factor)
        values[ParamRef(other.id, "transform", "position")] = bounded(
            msgspec.structs.replace(other.transform, position=place)
        ).position
        for record in params_of(type(other.settings)):
            if record.is_length:
                held = getattr(other.settings, record.name)
                values[ParamRef(other.id, other.kind, record.name)] = scaled_length(record, held, factor)
    return values, Zoom(node.transform.position, factor) if sole else None


def _about(centre: Vec3, place: Vec3, factor: float) -> Vec3:
    return vector(np.add(centre, factor * np.subtract(place, centre)))
