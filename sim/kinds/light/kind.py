"""The kind of lights."""

from pyglm import glm

from sim.kinds.contract import AddEntry, AddPlace, Kind
from sim.kinds.light.settings import LightSettings
from sim.scene.scene import Node
from sim.scene.transform import Transform


def new_light(place: AddPlace) -> Node:
    """A light between the camera and its target, up and to the right, where it can be seen and grabbed."""
    camera = place.view.camera
    if place.attachment.node:
        return Node(id="", name="light", attachment=place.attachment, settings=LightSettings())
    right, up, back = camera.rotation()
    position = glm.dvec3(*camera.target) + (0.2 * right + 0.18 * up + 0.3 * back) * camera.distance
    settings = LightSettings(reach=min(max(0.5 * camera.distance, 1e-3), 1e6))
    return Node(id="", name="light", transform=Transform(position=position.to_tuple()), settings=settings)


LIGHT = Kind(
    name="light",
    label="Light",
    icon="light",
    settings=LightSettings,
    adds=(AddEntry("light", "&Light", "Add a point light.", new_light, icon="light"),),
    view="sim.kinds.light.view:LightView",
)
