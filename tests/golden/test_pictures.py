from collections.abc import Callable

import msgspec
import numpy as np

from sinew.resources import path
from sinew.sim.assets.images import load_image
from sinew.sim.assets.load import load_model
from sinew.sim.characters.settings import ModelSettings, SkinningMethod
from sinew.sim.colliders.state import ColliderShape
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.emitter.presets import with_preset
from sinew.sim.kinds.emitter.settings import Blending, EmitterSettings, ParticleLook
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.render.render_view import JointRef, Overlay
from sinew.sim.run.engine import Engine
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view import DisplayMode, SkinningComparison, ViewSettings
from tests.golden.compare import compare, exaggerated

SIZE = (320, 200)
LAMP = Node(
    id="lamp",
    transform=Transform(position=(2.2, 3.6, 2.8)),
    settings=LightSettings(colour=(1.0, 0.95, 0.88), intensity=1.45, reach=4.2),
)
FIGURE = Camera(target=(0.0, 0.9, 0.0), yaw=34.0, pitch=5.0, distance=3.4, field_of_view=32.0)
ARM = Camera(target=(0.06, 0.72, 0.0), yaw=12.0, pitch=18.0, distance=2.6, field_of_view=36.0)

Golden = Callable[[str, np.ndarray], None]


def model_node(name: str, **settings: object) -> Node:
    return Node(id=name, name=name, settings=ModelSettings(path=str(path(f"models/{name}/{name}.ezm")), **settings))


def picture(
    context: Context, node: Node, time: float, camera: Camera, view: ViewSettings, *extra: Node, joint: str = ""
) -> np.ndarray:
    engine, output = Engine(context), Framebuffer(context, SIZE)
    model = load_model(path(f"models/{node.id}/{node.id}.ezm"))
    paths = {material.texture_path for material in model.materials if material.texture_path}
    engine.set_model(node.id, model, {place: load_image(place) for place in paths})
    engine.apply(Scene(nodes=(node, LAMP, *extra), view=view))
    engine.advance(time)
    selected = JointRef(node.id, model.skeleton.index(joint)) if joint and model.skeleton else None
    engine.draw(output, camera, Overlay(selected=selected))
    pixels = output.read_pixels(flip=True)[:, :, :3]
    engine.release()
    output.release()
    return pixels


def test_the_character_walks(context: Context, golden: Golden) -> None:
    node = model_node("humanoid", clip="walk", skinning=SkinningMethod.DQS)
    golden("figure_walking", picture(context, node, 0.25, FIGURE, ViewSettings()))


def test_bones_and_edges_of_the_character(context: Context, golden: Golden) -> None:
    view = ViewSettings(display=DisplayMode.SHADED_WIRE, bones=True, grid=False)
    close = Camera(target=(0.0, 1.35, 0.0), yaw=-30.0, pitch=5.0, distance=1.8)
    node = model_node("humanoid", clip="wave")
    golden("figure_bones", picture(context, node, 1.5, close, view, joint="upper_arm_r"))


def test_weights_of_the_character(context: Context, golden: Golden) -> None:
    view = ViewSettings(display=DisplayMode.WEIGHTS)
    node = model_node("humanoid", bind_pose=True)
    golden("figure_weights", picture(context, node, 0.0, FIGURE, view, joint="chest"))


def test_the_arm_in_the_split_view(context: Context, golden: Golden) -> None:
    view = ViewSettings(comparison=SkinningComparison.SPLIT, divider=0.5, grid=False)
    golden("arm_split", picture(context, model_node("arm", clip="twist"), 0.75, ARM, view))


def test_the_difference_of_the_methods_on_the_arm(context: Context, golden: Golden) -> None:
    view = ViewSettings(comparison=SkinningComparison.DIFFERENCE, grid=False)
    golden("arm_difference", picture(context, model_node("arm", clip="twist"), 0.75, ARM, view))


def test_normals_of_the_arm_without_perspective(context: Context, golden: Golden) -> None:
    camera = Camera(target=(0.06, 0.72, 0.0), yaw=-25.0, pitch=30.0, distance=2.6, orthographic=True)
    view = ViewSettings(display=DisplayMode.NORMALS, grid=False)
    golden("arm_normals", picture(context, model_node("arm", clip="bend"), 1.5, camera, view))


def test_the_strip_between_two_lights(context: Context, golden: Golden) -> None:
    camera = Camera(target=(0.3, 0.8, 0.0), yaw=20.0, pitch=12.0, distance=5.0)
    blue = Node(
        id="blue",
        transform=Transform(position=(-1.5, 1.0, 1.5)),
        settings=LightSettings(colour=(0.3, 0.5, 1.0), reach=2.0, shadow=False),
    )
    golden("strip_lights", picture(context, model_node("tiny"), 0.4, camera, ViewSettings(grid=False), blue))


PICTURE = np.random.default_rng(2).integers(0, 200, (200, 320, 3)).astype(np.uint8)


def test_rounding_and_a_few_pixels_of_an_edge_are_acceptable():
    changed = PICTURE.copy()
    assert compare(changed, PICTURE).acceptable
    changed[::4] += 1
    changed[100, :250] += 50
    assert compare(changed, PICTURE).acceptable


def test_another_brightness_or_size_is_not():
    assert not compare(PICTURE + np.uint8(1), PICTURE).acceptable
    assert not compare(PICTURE[:-1], PICTURE).acceptable


def test_a_changed_spot_is_not():
    changed = PICTURE.copy()
    changed[50:70, 50:70] += 20
    difference = compare(changed, PICTURE)
    assert not difference.acceptable
    assert difference.mean < 0.5
    assert str(difference).startswith("0.62 % of the pixels differ")
    spot = exaggerated(changed, PICTURE).any(axis=2)
    assert spot.sum() == 400
    assert spot[50:70, 50:70].all()


PARTICLES_SIZE = (240, 160)
PARTICLES_LAMP = Node(
    id="lamp", transform=Transform(position=(2.0, 4.0, 3.0)), settings=LightSettings(intensity=1.4, reach=4.5)
)  # fmt: skip
FLOOR = Node(id="floor", settings=ColliderSettings(shape=ColliderShape.PLANE))


def particles_picture(
    context: Context, settings: EmitterSettings, steps: int, camera: Camera, place: tuple[float, ...]
) -> np.ndarray:
    engine, output = Engine(context), Framebuffer(context, PARTICLES_SIZE)
    node = Node(id="emitter", transform=Transform(position=place), settings=settings)
    engine.apply(Scene(nodes=(node, PARTICLES_LAMP, FLOOR), view=ViewSettings(solids=False)))
    for index in range(steps):
        engine.step((index + 1) * STEP_TIME)
    engine.refresh(0.0)
    engine.draw(output, camera)
    pixels = output.read_pixels(flip=True)[:, :, :3]
    engine.release()
    output.release()
    return pixels


def changed(name: str, **changes: object) -> EmitterSettings:
    return msgspec.structs.replace(with_preset(EmitterSettings(), name), **changes)


def test_round_spots_add_their_light(context: Context, golden: Golden) -> None:
    settings = changed("Demo fountain", look=ParticleLook.ROUND, size=0.05, capacity=3_000)
    camera = Camera(target=(0.0, 0.7, 0.0), pitch=12.0, distance=4.5)
    golden("particles_added", particles_picture(context, settings, 90, camera, (0.0, 0.0, 0.0)))


def test_smoke_is_blended(context: Context, golden: Golden) -> None:
    camera = Camera(target=(0.2, 0.9, 0.0), pitch=8.0, distance=4.5)
    golden("particles_blended", particles_picture(context, changed("Smoke"), 150, camera, (0.0, 0.05, 0.0)))


def test_sparks_are_streaks(context: Context, golden: Golden) -> None:
    camera = Camera(target=(0.0, 0.8, 0.0), pitch=10.0, distance=4.0)
    golden("particles_streaks", particles_picture(context, changed("Sparks"), 80, camera, (0.0, 1.0, 0.0)))


def test_opaque_balls_lie_in_the_light(context: Context, golden: Golden) -> None:
    settings = changed(
        "Demo fountain", look=ParticleLook.ROUND, blending=Blending.OPAQUE, size=0.12, size_variance=0.5, capacity=600,
        brightness=1.0, clearance=0.06,
    )  # fmt: skip
    camera = Camera(target=(0.0, 0.6, 0.0), pitch=15.0, distance=4.0)
    golden("particles_opaque", particles_picture(context, settings, 90, camera, (0.0, 0.0, 0.0)))
