import math

from pyglm import glm

from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.playing import front_at_first
from sinew.sim.kinds.contract import AddEntry, AddPlace, Adds, Form, Kind
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view import LIGHT_INTENSITY

ICON = "mdi6.lightbulb-outline"


def new_light(place: AddPlace) -> Node:
    camera, intensity = place.view.camera, LIGHT_INTENSITY[place.scene.view.look]
    if place.attachment.node:
        settings = LightSettings(intensity=intensity)
        return Node(id="", name="Light", attachment=place.attachment, settings=settings)
    right, up, back = camera.rotation()
    position = glm.dvec3(*camera.target) + (0.2 * right + 0.18 * up + 0.3 * back) * camera.distance
    settings = LightSettings(reach=min(max(0.5 * camera.distance, 1e-3), 1e6), intensity=intensity)
    return Node(id="", name="Light", transform=Transform(position=position.to_tuple()), settings=settings)


def key_light(model: CharacterModel, _node: Node, scene: Scene) -> tuple[Node, ...]:
    if scene.of_kind("light"):
        return ()
    turn = glm.radians(front_at_first(model))
    ahead, aside = glm.dvec2(math.sin(turn), math.cos(turn)), glm.dvec2(math.cos(turn), -math.sin(turn))
    size = max(model.mesh.bounds.extent, 1e-3)
    centre = (model.mesh.bounds.lo + model.mesh.bounds.hi) / 2.0
    x, z = glm.dvec2(float(centre[0]), float(centre[2])) + (0.9 * aside + 1.15 * ahead) * size
    position = (x, 1.45 * size, z)
    light = LightSettings(reach=1.9 * size, intensity=LIGHT_INTENSITY[scene.view.look])
    return (Node(id="", name="Light", transform=Transform(position=position), settings=light),)


LIGHT = Kind(
    name="light",
    label="Light",
    icon=ICON,
    settings=LightSettings,
    view="sinew.sim.kinds.light.view:LightView",
    parts=(
        Adds((AddEntry("light", "&Light", "Add a point light.", new_light, icon=ICON),), companions=key_light),
        Form(panel="sinew.app.kinds.light.panel:LightPanel"),
    ),
)
