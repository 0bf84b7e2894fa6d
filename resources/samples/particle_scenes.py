"""Scenes of the sample projects with particles: a fountain, and sparks from a figure's hand and skin."""

from pathlib import Path

import msgspec

from sim.assets.load import load_model
from sim.figures.settings import ModelSettings, SkinningMethod
from sim.kinds.collider.fit import fit_colliders
from sim.kinds.collider.settings import ColliderSettings
from sim.kinds.emitter.emission import EmissionAim, EmitterSource
from sim.kinds.emitter.presets import with_preset
from sim.kinds.emitter.settings import Blending, EmitterSettings, ParticleLook
from sim.kinds.light.settings import LightSettings
from sim.scene.camera import Camera
from sim.scene.playback import LoopMode, PlaybackSettings
from sim.scene.scene import Node, Scene
from sim.scene.transform import Transform
from sim.scene.view import ViewSettings
from sim.scene.view_state import Selection, ViewState
from sim.solids.state import SolidShape

DARK = {"background_top": (0.10, 0.11, 0.14), "background_bottom": (0.03, 0.03, 0.04)}
"""What glows is seen before something dark."""


def fountain_scene() -> tuple[Scene, ViewState]:
    """The fountain of the OpenGL cookbooks, always full, above a floor that gives back a part of every impact."""
    fountain = Node(id="fountain", name="Fountain", settings=with_preset(EmitterSettings(), "Demo fountain"))
    floor = Node(
        id="floor",
        name="Floor",
        settings=ColliderSettings(shape=SolidShape.PLANE, friction=0.05, restitution=0.5),
    )
    light = Node(
        id="light",
        name="Light",
        transform=Transform(position=(2.5, 4.0, 3.0)),
        settings=LightSettings(colour=(0.9, 0.95, 1.0), intensity=1.2, reach=5.0),
    )
    camera = Camera(target=(0.0, 0.55, 0.0), yaw=32.0, pitch=10.0, distance=6.2, field_of_view=32.0)
    scene = Scene(nodes=(fountain, floor, light), view=ViewSettings(colliders=False, **DARK))
    return scene, ViewState(camera=camera, selection=Selection(node="fountain"))


def sparks_scene(models: Path) -> tuple[Scene, ViewState]:
    """A figure waves: sparks fly from its hand, bounce off its body and the floor, and its skin glows."""
    path = models / "humanoid" / "humanoid.ezm"
    figure = Node(
        id="humanoid",
        name="Humanoid",
        settings=ModelSettings(path=str(path), clip="wave", skinning=SkinningMethod.DQS),
    )
    floor = Node(
        id="floor",
        name="Floor",
        settings=ColliderSettings(shape=SolidShape.PLANE, friction=0.25, restitution=0.45),
    )
    light = Node(
        id="light",
        name="Light",
        transform=Transform(position=(2.0, 3.4, 2.6)),
        settings=LightSettings(colour=(0.85, 0.9, 1.0), intensity=0.85, reach=4.2),
    )
    camera = Camera(target=(-0.05, 0.98, 0.05), yaw=24.0, pitch=6.0, distance=4.4, field_of_view=32.0)
    scene = Scene(
        nodes=(figure, _hand_sparks(), _skin_glow(), light, floor, *_body(path)),
        playback=PlaybackSettings(loop=LoopMode.LOOP),
        view=ViewSettings(colliders=False, **DARK),
    )
    return scene, ViewState(camera=camera, selection=Selection(node="sparks"))


def _hand_sparks() -> Node:
    """Out of the palm that waves, with the velocity of the hand."""
    settings = EmitterSettings(model_node="humanoid", bone="hand_r", seed=7)
    settings = msgspec.structs.replace(with_preset(settings, "Sparks"), rate=900.0, capacity=2_400)
    return Node(id="sparks", name="Sparks", transform=Transform(position=(0.0, 0.08, 0.0)), settings=settings)


def _skin_glow() -> Node:
    """Embers all over the skin, as dense everywhere, that drift along the normals."""
    settings = EmitterSettings(
        source=EmitterSource.FACES,
        model_node="humanoid",
        aim=EmissionAim.AXIS,
        cone_angle=25.0,
        rate=3_500.0,
        capacity=4_500,
        lifetime=0.9,
        lifetime_variance=0.4,
        speed=0.12,
        speed_variance=0.6,
        inherited_velocity=0.25,
        size=0.012,
        size_variance=0.5,
        gravity=(0.0, 0.35, 0.0),
        drag=1.5,
        turbulence=0.5,
        turbulence_scale=0.25,
        look=ParticleLook.ROUND,
        blending=Blending.ADDITIVE,
        brightness=1.2,
        colour_over_life=((0.0, 0.35, 0.7, 1.0), (1.0, 0.1, 0.15, 0.9)),
        opacity_over_life=((0.0, 0.0), (0.2, 0.7), (1.0, 0.0)),
        softness=0.0,
        seed=11,
    )
    return Node(id="glow", name="Skin glow", settings=settings)


def _body(path: Path) -> list[Node]:
    """Colliders fitted to the bones of the figure, which carry them."""
    return [
        Node(
            id=f"collider {fitted.bone}",
            name=fitted.bone,
            transform=fitted.transform,
            settings=msgspec.structs.replace(
                fitted.settings, bone_node="humanoid", bone=fitted.bone, friction=0.2, restitution=0.35
            ),
        )
        for fitted in fit_colliders(load_model(path))
    ]
