"""Scenes with hair and fur: the springs of the article on a head, a figure with long hair, and a fox."""

from pathlib import Path
from typing import Any

import msgspec

from resources.samples.figure_charts import SCALP
from resources.samples.fox_model import COLOUR, DENSITY, LENGTH
from sim.assets.load import load_model
from sim.characters.settings import ModelSettings, SkinningMethod
from sim.colliders.state import ColliderShape
from sim.kinds.collider.fit import fit_colliders
from sim.kinds.collider.settings import ColliderSettings
from sim.kinds.hair.presets import with_preset
from sim.kinds.hair.settings import HairSettings, HairSource, ImageChannel
from sim.kinds.light.settings import LightSettings
from sim.scene.camera import Camera
from sim.scene.playback import LoopMode, PlaybackSettings
from sim.scene.scene import Attachment, Node, Scene
from sim.scene.transform import Transform
from sim.scene.vectors import Vec3
from sim.scene.view import ViewSettings
from sim.scene.view_state import Selection, ViewState

UNDER_HAIR = ("neck", "chest", "spine_3", "clavicle_l", "clavicle_r", "upper_arm_l", "upper_arm_r")
"""Bones whose colliders long hair can meet; every one costs time, and that of the head would lift it off its roots."""


def hair_scenes(models: Path) -> dict[str, tuple[Scene, ViewState]]:
    """Scenes by the name of their project; `models` is the absolute folder of the sample models."""
    return {"hair-on-sphere": _on_sphere(), "hair": _long_hair(models), "fur": _fur(models)}


def _hair(preset: str, *, source: HairSource = HairSource.FACES, **changes: Any) -> HairSettings:
    settings = with_preset(HairSettings(source=source), preset)
    return msgspec.structs.replace(settings, **changes)


def short_hair(models: Path) -> Node:
    """Hair of the figure, parted at its left, in place of what is painted on it; an image says where and how long."""
    scalp = str(models / "humanoid" / SCALP)
    settings = _hair(
        "Short",
        density_section="skin",
        density_texture=scalp,
        density_channel=ImageChannel.RED,
        length_texture=scalp,
        length_channel=ImageChannel.GREEN,
        guides=900,
        children=20_000,
        knots=9,
        length=0.095,
        comb=(-0.2, -1.0, -0.6),
        lean=0.68,
        bow=0.9,
        part_strength=0.5,
        part_place=0.03,
        part_width=0.05,
        disorder=0.06,
        bending_length=0.12,
        carried=1.0,
        hold=120.0,
        hold_fade=0.6,
        clump=0.35,
        noise=0.0015,
        root_radius=2.7e-4,
        tip_radius=5e-5,
        root_colour=(0.20, 0.125, 0.08),
        tip_colour=(0.36, 0.235, 0.15),
        roughness=0.6,
        shadow=1.8,
        collide=False,
    )
    return Node(id="hair", name="Hair", attachment=Attachment(node="humanoid"), settings=settings)


def _light(position: Vec3, reach: float, intensity: float = 1.4) -> Node:
    settings = LightSettings(colour=(1.0, 0.95, 0.88), intensity=intensity, reach=reach)
    return Node(id="light", name="Light", transform=Transform(position=position), settings=settings)


def _on_sphere() -> tuple[Scene, ViewState]:
    """Ten thousand strands of springs fall over a head, as the article on transform feedback has them."""
    place = Transform(position=(0.0, 0.4, 0.0))
    settings = _hair("Springs on a head", source=HairSource.ELLIPSOID, collide=False)
    hair = Node(id="hair", name="Hair", transform=place, settings=settings)
    head = ColliderSettings(shape=ColliderShape.SPHERE, radius=0.48)
    ball = Node(id="head", name="Head", transform=place, settings=head)
    camera = Camera(target=(0.0, 0.0, 0.0), yaw=28.0, pitch=14.0, distance=5.0, field_of_view=34.0)
    scene = Scene(nodes=(hair, ball, _light((2.4, 4.0, 3.0), 5.0)), view=ViewSettings())
    return scene, ViewState(camera=camera, selection=Selection(node="hair"))


def _long_hair(models: Path) -> tuple[Scene, ViewState]:
    """The figure walks with long hair, which colliders fitted to its bones keep off neck and shoulders."""
    path = models / "humanoid" / "humanoid.ezm"
    character = Node(
        id="humanoid",
        name="Humanoid",
        settings=ModelSettings(path=str(path), clip="walk", skinning=SkinningMethod.DQS),
    )
    settings = _hair(
        "Wavy",
        density_section="hair",
        length=0.32,
        lean=0.85,
        disorder=0.04,
        noise=0.0015,
        curl_radius=0.004,
        comb=(0.0, -1.0, -0.7),
        children=24_000,
        guides=700,
        bending_length=0.06,
        carried=0.7,
        felt=0.8,
        wind=(0.0, 0.0, -0.3),
        turbulence=0.25,
        turbulence_scale=0.4,
        root_radius=9e-5,
        root_colour=(0.20, 0.11, 0.06),
        tip_colour=(0.44, 0.26, 0.13),
    )
    hair = Node(id="hair", name="Hair", attachment=Attachment(node="humanoid"), settings=settings)
    colliders = [
        Node(
            id=f"collider {fitted.bone}",
            name=fitted.bone,
            transform=fitted.transform,
            attachment=Attachment(node="humanoid", bone=fitted.bone),
            settings=msgspec.structs.replace(fitted.settings, friction=0.2),
        )
        for fitted in fit_colliders(load_model(path))
        if fitted.bone in UNDER_HAIR
    ]
    camera = Camera(target=(0.0, 1.52, -0.02), yaw=128.0, pitch=6.0, distance=1.45, field_of_view=32.0)
    scene = Scene(
        nodes=(character, hair, _light((-1.6, 3.2, -2.0), 3.4), *colliders),
        playback=PlaybackSettings(loop=LoopMode.LOOP),
        view=ViewSettings(solids=False),
    )
    return scene, ViewState(camera=camera, selection=Selection(node="hair"))


def _fur(models: Path) -> tuple[Scene, ViewState]:
    """A fox trots in its fur; images say where it grows, how long, and in what colour."""
    folder = models / "fox"
    fox = Node(id="fox", name="Fox", settings=ModelSettings(path=str(folder / "fox.ezm"), clip="trot",
                                                            skinning=SkinningMethod.DQS))  # fmt: skip
    settings = _hair(
        "Long fur",
        clump=0.4,
        colour_spread=0.15,
        length=0.065,
        length_spread=0.3,
        lean=0.7,
        comb=(0.0, -0.45, -1.0),
        density_texture=str(folder / DENSITY),
        length_texture=str(folder / LENGTH),
        colour_texture=str(folder / COLOUR),
        guides=2_500,
        children=70_000,
        root_radius=2.2e-4,
        tip_radius=4e-5,
        root_colour=(0.62, 0.58, 0.56),
        tip_colour=(1.0, 1.0, 1.0),
        collide=False,
        roughness=0.5,
        substeps=2,
        damping=0.017,
    )
    fur = Node(id="fur", name="Fur", attachment=Attachment(node="fox"), settings=settings)
    camera = Camera(target=(0.0, 0.32, -0.04), yaw=48.0, pitch=9.0, distance=2.2, field_of_view=32.0)
    scene = Scene(
        nodes=(fox, fur, _light((1.8, 2.6, 1.9), 3.2)),
        playback=PlaybackSettings(loop=LoopMode.LOOP),
        view=ViewSettings(),
    )
    return scene, ViewState(camera=camera, selection=Selection(node="fur"))
