import math

import numpy as np
from pyglm import glm

from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.playing import front_at_first
from sinew.sim.characters.settings import model_settings
from sinew.sim.kinds.contract import AddEntry, AddPlace, Adds, Form, Kind
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.maths.srgb import srgb_from_linear
from sinew.sim.scene.params import bounded
from sinew.sim.scene.scene import Attachment, Node, Scene
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


def lights_of_file(model: CharacterModel, node: Node, scene: Scene) -> tuple[Node, ...]:
    """Returns lights on the joints that hold them in the file of a model; its node is `node`.

    They keep their relative strengths: units of files differ too much.  The strongest at the model is as bright as the
    light that is otherwise added.
    """
    skeleton, scale = model.skeleton, model_settings(node).unit_scale
    assert skeleton is not None
    centre = 0.5 * (model.mesh.bounds.lo + model.mesh.bounds.hi)
    reaches = [
        max(scale * float(np.linalg.norm(skeleton.model_from_bind[one.joint, :3, 3] - centre)), 1e-3)
        for one in model.lights
    ]
    strengths = [one.strength / reach**2 for one, reach in zip(model.lights, reaches, strict=True)]
    most = max(strengths)
    return tuple(
        Node(
            id="",
            name=skeleton.names[one.joint],
            attachment=Attachment(node=node.id, bone=skeleton.names[one.joint]),
            settings=bounded(
                LightSettings(
                    colour=tuple(srgb_from_linear(np.array(one.colour) / max(*one.colour, 1e-9)).tolist()),
                    intensity=LIGHT_INTENSITY[scene.view.look] * strength / most,
                    reach=reach,
                    shadow=strength == most,
                )
            ),
        )
        for one, reach, strength in zip(model.lights, reaches, strengths, strict=True)
    )


def key_light(model: CharacterModel, node: Node, scene: Scene) -> tuple[Node, ...]:
    if scene.of_kind("light"):
        return ()
    if model.lights and model.skeleton is not None:
        return lights_of_file(model, node, scene)
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
