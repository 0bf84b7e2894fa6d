"""Scenes of the sample projects: what moves, from where it is seen, and how it is lit."""

from pathlib import Path

import msgspec

from resources.samples.cape_model import COLLAR
from resources.samples.figure_colliders import figure_colliders
from resources.samples.hair_scenes import hair_scenes, short_hair
from sim.characters.deformers.settings import Bulge, BulgeMode, EmissionPulse, Twist
from sim.characters.settings import ModelSettings, SkinningMethod
from sim.colliders.state import ColliderShape
from sim.kinds.cloth.settings import ClothPlacement, ClothSettings, ClothSource, PinPreset, PinTarget
from sim.kinds.collider.settings import ColliderSettings
from sim.kinds.emitter.presets import with_preset
from sim.kinds.emitter.settings import Blending, EmissionAim, EmitterSettings, EmitterSource, ParticleLook
from sim.kinds.light.settings import LightSettings
from sim.scene.camera import Camera
from sim.scene.playback import LoopMode, PlaybackSettings
from sim.scene.scene import Attachment, Node, Scene
from sim.scene.transform import Transform
from sim.scene.view import SkinningComparison, ViewSettings
from sim.scene.view_state import Selection, ViewState

DARK = {"background_top": (0.10, 0.11, 0.14), "background_bottom": (0.03, 0.03, 0.04)}
"""What glows is seen before something dark."""

STRIDE = 0.9375
"""Walks of the figure in a second [1/s]; what swings so often is where it was when the clip begins again."""

ONES = (1.0, 1.0, 1.0)
HANDS = (1.1, 1.0, 2.2)
"""Scale of the colliders of hands, which were fitted to flat ones: bent fingers reach out of the palm."""


def fountain_scene() -> tuple[Scene, ViewState]:
    """The fountain of the OpenGL cookbooks, always full, above a floor that gives back a part of every impact."""
    fountain = Node(id="fountain", name="Fountain", settings=with_preset(EmitterSettings(), "Demo fountain"))
    floor = Node(
        id="floor",
        name="Floor",
        settings=ColliderSettings(shape=ColliderShape.PLANE, friction=0.05, restitution=0.5),
    )
    light = Node(
        id="light",
        name="Light",
        transform=Transform(position=(2.5, 4.0, 3.0)),
        settings=LightSettings(colour=(0.9, 0.95, 1.0), intensity=1.2, reach=5.0),
    )
    camera = Camera(target=(0.0, 0.55, 0.0), yaw=32.0, pitch=10.0, distance=6.2, field_of_view=32.0)
    scene = Scene(nodes=(fountain, floor, light), view=ViewSettings(solids=False, **DARK))
    return scene, ViewState(camera=camera, selection=Selection(node="fountain"))


def sparks_scene(models: Path) -> tuple[Scene, ViewState]:
    """A figure waves: sparks fly from its hand, bounce off its body and the floor, and its skin glows."""
    path = models / "humanoid" / "humanoid.ezm"
    character = Node(
        id="humanoid",
        name="Humanoid",
        settings=ModelSettings(path=str(path), clip="wave", skinning=SkinningMethod.DQS),
    )
    floor = Node(
        id="floor",
        name="Floor",
        settings=ColliderSettings(shape=ColliderShape.PLANE, friction=0.25, restitution=0.45),
    )
    light = Node(
        id="light",
        name="Light",
        transform=Transform(position=(2.0, 3.4, 2.6)),
        settings=LightSettings(colour=(0.85, 0.9, 1.0), intensity=0.85, reach=4.2),
    )
    camera = Camera(target=(-0.05, 0.98, 0.05), yaw=24.0, pitch=6.0, distance=4.4, field_of_view=32.0)
    scene = Scene(
        nodes=(character, _hand_sparks(), _skin_glow(), light, floor, *_body()),
        playback=PlaybackSettings(loop=LoopMode.LOOP),
        view=ViewSettings(solids=False, **DARK),
    )
    return scene, ViewState(camera=camera, selection=Selection(node="sparks"))


def _hand_sparks() -> Node:
    """Out of the palm that waves, with the velocity of the hand."""
    settings = EmitterSettings(seed=7)
    settings = msgspec.structs.replace(with_preset(settings, "Sparks"), rate=900.0, capacity=2_400)
    hand = Attachment(node="humanoid", bone="hand_r")
    place = Transform(position=(0.0, 0.08, 0.0))
    return Node(id="sparks", name="Sparks", transform=place, attachment=hand, settings=settings)


def _skin_glow() -> Node:
    """Embers all over the skin, as dense everywhere, that drift along the normals."""
    settings = EmitterSettings(
        source=EmitterSource.FACES,
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
    return Node(id="glow", name="Skin glow", attachment=Attachment(node="humanoid"), settings=settings)


def _body() -> list[Node]:
    """Colliders fitted to the bones of the figure, which carry them."""
    return [
        Node(
            id=f"collider {fitted.bone}",
            name=fitted.bone,
            transform=fitted.transform,
            attachment=Attachment(node="humanoid", bone=fitted.bone),
            settings=msgspec.structs.replace(fitted.settings, friction=0.2, restitution=0.35),
        )
        for fitted in figure_colliders()
    ]


def sample_scenes(models: Path) -> dict[str, tuple[Scene, ViewState]]:
    """Scenes by the name of their project; `models` is the absolute folder of the sample models."""
    return {
        "humanoid": _humanoid(models),
        "arm": _arm(models),
        "cloth-on-ellipsoid": _cloth_on_ellipsoid(),
        "folded-sheet": _folded_sheet(),
        "cape": _cape(models),
        "fountain": fountain_scene(),
        "sparks": sparks_scene(models),
        "faces": _faces(models),
        "pulse": _pulse(models),
        **hair_scenes(models),
    }


def _humanoid(models: Path) -> tuple[Scene, ViewState]:
    """The figure walks towards the left of the viewer."""
    character = Node(
        id="humanoid",
        name="Humanoid",
        settings=ModelSettings(
            path=str(models / "humanoid" / "humanoid.ezm"),
            clip="walk",
            skinning=SkinningMethod.DQS,
            hidden_sections="hair",
        ),
    )
    light = Node(
        id="light",
        name="Light",
        transform=Transform(position=(2.2, 3.6, 2.8)),
        settings=LightSettings(colour=(1.0, 0.95, 0.88), intensity=1.45, reach=4.2),
    )
    camera = Camera(target=(0.0, 0.90, 0.02), yaw=34.0, pitch=8.0, distance=3.7, field_of_view=32.0)
    scene = Scene(
        nodes=(character, short_hair(models), light), playback=PlaybackSettings(loop=LoopMode.LOOP), view=ViewSettings()
    )
    return scene, ViewState(camera=camera, selection=Selection(node="humanoid"))


def _faces(models: Path) -> tuple[Scene, ViewState]:
    """The head plays its targets; its sliders add to them."""
    head = Node(id="head", name="Head", settings=ModelSettings(path=str(models / "head" / "head.glb"), clip="faces"))
    light = Node(
        id="light",
        name="Light",
        transform=Transform(position=(0.5, 0.75, 1.1)),
        settings=LightSettings(colour=(1.0, 0.96, 0.92), intensity=1.25, reach=1.4),
    )
    camera = Camera(target=(0.0, 0.155, 0.0), yaw=18.0, pitch=4.0, distance=0.62, field_of_view=32.0)
    scene = Scene(nodes=(head, light), playback=PlaybackSettings(loop=LoopMode.LOOP), view=ViewSettings(bones=False))
    return scene, ViewState(camera=camera, selection=Selection(node="head"))


def _pulse(models: Path) -> tuple[Scene, ViewState]:
    """The figure breathes and glows: waves run up its body, its hips twist, and its skin lights up with its heart."""
    character = Node(
        id="humanoid",
        name="Humanoid",
        settings=ModelSettings(
            path=str(models / "humanoid" / "humanoid.ezm"),
            clip="walk",
            skinning=SkinningMethod.DQS,
            deformers=(
                Bulge(height=1.6, wavelength=22.0, frequency=-STRIDE),
                Bulge(mode=BulgeMode.PULSE, bone="chest", height=3.0, frequency=2.0 * STRIDE),
                Twist(angle=18.0, start=45.0, end=80.0, frequency=STRIDE, phase=0.0),
                EmissionPulse(colour=(1.0, 0.28, 0.08), strength=0.35, frequency=STRIDE),
            ),
        ),
    )
    light = Node(
        id="light",
        name="Light",
        transform=Transform(position=(2.2, 3.4, 2.4)),
        settings=LightSettings(colour=(0.72, 0.82, 1.0), intensity=1.0, reach=4.2),
    )
    camera = Camera(target=(0.0, 0.90, 0.02), yaw=30.0, pitch=6.0, distance=3.7, field_of_view=32.0)
    scene = Scene(nodes=(character, light), playback=PlaybackSettings(loop=LoopMode.LOOP), view=ViewSettings(**DARK))
    return scene, ViewState(camera=camera, selection=Selection(node="humanoid"))


def _arm(models: Path) -> tuple[Scene, ViewState]:
    """The arm twists, linear blending on the left of the divider and dual quaternions on the right."""
    arm = Node(id="arm", name="Arm", settings=ModelSettings(path=str(models / "arm" / "arm.ezm"), clip="twist"))
    light = Node(
        id="light",
        name="Light",
        transform=Transform(position=(1.2, 3.4, 2.6)),
        settings=LightSettings(colour=(1.0, 0.96, 0.90), intensity=1.4, reach=4.0),
    )
    camera = Camera(target=(0.06, 0.72, 0.0), yaw=12.0, pitch=18.0, distance=3.2, field_of_view=36.0)
    view = ViewSettings(comparison=SkinningComparison.SPLIT)
    scene = Scene(nodes=(arm, light), playback=PlaybackSettings(loop=LoopMode.LOOP), view=view)
    return scene, ViewState(camera=camera, selection=Selection(node="arm"))


def _cloth_on_ellipsoid() -> tuple[Scene, ViewState]:
    """A sheet of four metres, held at two corners, falls on a tilted ellipsoid above the floor."""
    sheet = Node(
        id="sheet",
        name="Sheet",
        transform=Transform(position=(0.0, 4.2, -0.7), rotation=(-90.0, 0.0, 0.0)),
        settings=ClothSettings(
            columns=40,
            rows=40,
            width=4.0,
            height=4.0,
            placement=ClothPlacement.HANGING,
            pins=PinPreset.CORNERS,
            density=0.25,
            stretch_stiffness=200.0,
            shear_stiffness=20.0,
            bend_stiffness=0.02,
            internal_damping=2e-3,
            air_drag=1.0,
            thickness=0.03,
            substeps=12,
            colour=(0.50, 0.13, 0.11),
        ),
    )
    ellipsoid = Node(
        id="ellipsoid",
        name="Ellipsoid",
        transform=Transform(position=(0.0, 2.0, 0.0), rotation=(45.0, 0.0, 0.0)),
        settings=ColliderSettings(shape=ColliderShape.ELLIPSOID, semi_axes=(1.0, 1.0, 0.5), friction=0.3),
    )
    floor = Node(id="floor", name="Floor", settings=ColliderSettings(shape=ColliderShape.PLANE, friction=0.4))
    light = Node(
        id="light",
        name="Light",
        transform=Transform(position=(3.5, 7.5, 5.0)),
        settings=LightSettings(colour=(1.0, 0.96, 0.90), intensity=1.35, reach=8.5),
    )
    camera = Camera(target=(0.0, 2.0, 0.6), yaw=40.0, pitch=25.0, distance=10.8, field_of_view=34.0)
    scene = Scene(nodes=(sheet, ellipsoid, floor, light), view=ViewSettings())
    return scene, ViewState(camera=camera, selection=Selection(node="sheet"))


def _folded_sheet() -> tuple[Scene, ViewState]:
    """A sheet stands on a corner and comes down on itself in folds."""
    sheet = Node(
        id="sheet",
        name="Sheet",
        transform=Transform(position=(0.0, 0.9, 0.0), rotation=(4.0, 0.0, 40.0)),
        settings=ClothSettings(
            columns=64,
            rows=64,
            width=1.2,
            height=1.2,
            placement=ClothPlacement.FREE,
            pins=PinPreset.NONE,
            density=0.2,
            stretch_stiffness=200.0,
            shear_stiffness=30.0,
            bend_stiffness=2e-4,
            internal_damping=1e-4,
            air_drag=0.3,
            normal_drag=0.4,
            thickness=0.02,
            self_collision=True,
            substeps=60,
            colour=(0.12, 0.34, 0.42),
        ),
    )
    floor = Node(id="floor", name="Floor", settings=ColliderSettings(shape=ColliderShape.PLANE, friction=0.5))
    light = Node(
        id="light",
        name="Light",
        transform=Transform(position=(1.8, 2.6, 1.4)),
        settings=LightSettings(colour=(1.0, 0.96, 0.90), intensity=1.4, reach=4.0),
    )
    camera = Camera(target=(0.0, 0.15, 0.05), yaw=35.0, pitch=22.0, distance=2.6, field_of_view=32.0)
    scene = Scene(nodes=(sheet, floor, light), view=ViewSettings(solids=False))
    return scene, ViewState(camera=camera, selection=Selection(node="sheet"))


def _cape(models: Path) -> tuple[Scene, ViewState]:
    """The figure walks in a cape, which colliders fitted to its bones keep off the body."""
    path = models / "humanoid" / "humanoid.ezm"
    character = Node(
        id="humanoid",
        name="Humanoid",
        settings=ModelSettings(path=str(path), clip="walk", skinning=SkinningMethod.DQS),
    )
    cape = Node(
        id="cape",
        name="Cape",
        attachment=Attachment(node="humanoid"),
        settings=ClothSettings(
            source=ClothSource.MESH,
            mesh_path=str(models / "cape" / "cape.ezm"),
            pins=PinPreset.NONE,
            pin_list=COLLAR,
            pin_target=PinTarget.BONE,
            pin_bone="chest",
            density=0.3,
            stretch_stiffness=150.0,
            shear_stiffness=60.0,
            bend_stiffness=2e-4,
            internal_damping=3e-5,
            thickness=0.038,
            substeps=40,
            wind=(0.0, 0.0, -0.9),
            turbulence=0.25,
            texture=str(models / "cape" / "cape.png"),
        ),
    )
    light = Node(
        id="light",
        name="Light",
        transform=Transform(position=(-2.0, 3.6, -2.6)),
        settings=LightSettings(colour=(1.0, 0.95, 0.88), intensity=1.45, reach=4.2),
    )
    camera = Camera(target=(0.0, 0.90, -0.1), yaw=146.0, pitch=8.0, distance=3.9, field_of_view=32.0)
    colliders = [
        Node(
            id=f"collider {fitted.bone}",
            name=fitted.bone,
            transform=msgspec.structs.replace(fitted.transform, scale=HANDS if "hand" in fitted.bone else ONES),
            attachment=Attachment(node="humanoid", bone=fitted.bone),
            settings=msgspec.structs.replace(fitted.settings, friction=0.2),
        )
        for fitted in figure_colliders()
    ]
    scene = Scene(
        nodes=(character, cape, light, *colliders),
        playback=PlaybackSettings(loop=LoopMode.LOOP),
        view=ViewSettings(solids=False),
    )
    return scene, ViewState(camera=camera, selection=Selection(node="cape"))
