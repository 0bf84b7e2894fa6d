from collections.abc import Callable

import msgspec
import numpy as np

from sinew.sim.colliders.state import ColliderShape
from sinew.sim.engine import Engine
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.emitter.presets import with_preset
from sinew.sim.kinds.emitter.settings import Blending, EmitterSettings, ParticleLook
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view import ViewSettings

SIZE = (240, 160)
LAMP = Node(
    id="lamp", transform=Transform(position=(2.0, 4.0, 3.0)), settings=LightSettings(intensity=1.4, reach=4.5)
)  # fmt: skip
FLOOR = Node(id="floor", settings=ColliderSettings(shape=ColliderShape.PLANE))

Golden = Callable[[str, np.ndarray], None]


def picture(
    context: Context, settings: EmitterSettings, steps: int, camera: Camera, place: tuple[float, ...]
) -> np.ndarray:
    engine, output = Engine(context), Framebuffer(context, SIZE)
    node = Node(id="emitter", transform=Transform(position=place), settings=settings)
    engine.apply(Scene(nodes=(node, LAMP, FLOOR), view=ViewSettings(solids=False)))
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
    golden("particles_added", picture(context, settings, 90, camera, (0.0, 0.0, 0.0)))


def test_smoke_is_blended(context: Context, golden: Golden) -> None:
    camera = Camera(target=(0.2, 0.9, 0.0), pitch=8.0, distance=4.5)
    golden("particles_blended", picture(context, changed("Smoke"), 150, camera, (0.0, 0.05, 0.0)))


def test_sparks_are_streaks(context: Context, golden: Golden) -> None:
    camera = Camera(target=(0.0, 0.8, 0.0), pitch=10.0, distance=4.0)
    golden("particles_streaks", picture(context, changed("Sparks"), 80, camera, (0.0, 1.0, 0.0)))


def test_opaque_balls_lie_in_the_light(context: Context, golden: Golden) -> None:
    settings = changed(
        "Demo fountain", look=ParticleLook.ROUND, blending=Blending.OPAQUE, size=0.12, size_variance=0.5, capacity=600,
        brightness=1.0, clearance=0.06,
    )  # fmt: skip
    camera = Camera(target=(0.0, 0.6, 0.0), pitch=15.0, distance=4.0)
    golden("particles_opaque", picture(context, settings, 90, camera, (0.0, 0.0, 0.0)))
