import msgspec
import numpy as np

from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.settings import model_settings
from sinew.sim.kinds.camera.settings import CameraSettings
from sinew.sim.kinds.contract import AddEntry, AddPlace, Adds, Form, Kind
from sinew.sim.maths.quaternion import degrees_from_matrix
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.params import bounded
from sinew.sim.scene.scene import Attachment, Node, Scene
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
    view = place.view.camera
    settings = CameraSettings(field_of_view=view.field_of_view, orthographic=view.orthographic)
    if view.orthographic:
        settings = bounded(msgspec.structs.replace(settings, height=2.0 * view.tangent * view.distance))
    if place.attachment.node:
        return Node(id="", name="Camera", attachment=place.attachment, settings=settings)
    return Node(id="", name="Camera", transform=transform_of(place.view.camera), settings=settings)


def cameras_of_file(model: CharacterModel, node: Node, _: Scene | None = None) -> tuple[Node, ...]:
    """Returns cameras on the joints that hold them in the file of a model; its node is `node`."""
    if model.skeleton is None:
        return ()
    scale, plain = model_settings(node).unit_scale, CameraSettings()
    return tuple(
        Node(
            id="",
            name=model.skeleton.names[camera.joint],
            attachment=Attachment(node=node.id, bone=model.skeleton.names[camera.joint]),
            settings=bounded(
                CameraSettings(
                    field_of_view=camera.field_of_view or plain.field_of_view,
                    orthographic=camera.height > 0.0,
                    height=camera.height * scale or plain.height,
                    near=camera.near * scale,
                    far=plain.far if camera.far is None else camera.far * scale,
                )
            ),
        )
        for camera in model.cameras
    )


def idle(node: Node) -> frozenset[str]:
    settings = node.settings
    assert isinstance(settings, CameraSettings)
    unused = {
        "field_of_view": settings.orthographic, "height": not settings.orthographic, "target": not settings.tracks,
        "focus_distance": not settings.aperture,
    }  # fmt: skip
    return frozenset(name for name, is_unused in unused.items() if is_unused)


CAMERA = Kind(
    name="camera",
    label="Camera",
    icon=ICON,
    settings=CameraSettings,
    since=3,
    view="sinew.sim.kinds.camera.view:CameraView",
    parts=(
        Adds(
            (AddEntry("camera", "Ca&mera", "Add a camera at the present view.", new_camera, icon=ICON),),
            companions=cameras_of_file,
        ),
        Form(idle=idle, panel="sinew.app.kinds.camera.panel:CameraPanel"),
    ),
)
