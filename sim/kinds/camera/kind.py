import numpy as np

from sinew.sim.kinds.camera.settings import CameraSettings
from sinew.sim.kinds.contract import AddEntry, AddPlace, Kind
from sinew.sim.maths.quaternion import degrees_from_matrix
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.params import bounded
from sinew.sim.scene.scene import Node
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.vectors import Vec3
from sinew.sim.scene.world_transforms import vector

ICON = "mdi6.video-outline"


def transform_of(camera: Camera) -> Transform:
    """Returns the world transform of a node that looks as a viewpoint does."""
    matrix = np.array([list(axis) for axis in camera.rotation()]).T
    position: Vec3 = camera.position().to_tuple()
    return bounded(Transform(position=position, rotation=vector(degrees_from_matrix(matrix))))


def new_camera(place: AddPlace) -> Node:
    """Makes a camera at the present view, or on the selected bone."""
    settings = CameraSettings(field_of_view=place.view.camera.field_of_view)
    if place.attachment.node:
        return Node(id="", name="Camera", attachment=place.attachment, settings=settings)
    return Node(id="", name="Camera", transform=transform_of(place.view.camera), settings=settings)


def idle(node: Node) -> frozenset[str]:
    assert isinstance(node.settings, CameraSettings)
    unused = {"target": not node.settings.tracks, "focus_distance": not node.settings.aperture}
    return frozenset(name for name, is_unused in unused.items() if is_unused)


CAMERA = Kind(
    name="camera",
    label="Camera",
    icon=ICON,
    settings=CameraSettings,
    adds=(AddEntry("camera", "Ca&mera", "Add a camera at the present view.", new_camera, icon=ICON),),
    idle=idle,
    since=3,
    view="sinew.sim.kinds.camera.view:CameraView",
    panel="sinew.app.kinds.camera.panel:CameraPanel",
)
