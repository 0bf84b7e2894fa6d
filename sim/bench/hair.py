"""Substeps of the solvers of hair, and images of hair and fur."""

from collections.abc import Callable
from functools import partial

import msgspec
import numpy as np

from sinew.sim.bench.runner import GpuBench, Row
from sinew.sim.colliders.pack import arranged, pack_colliders
from sinew.sim.colliders.scene_colliders import NO_COLLIDERS, Colliders, shapes_of
from sinew.sim.colliders.state import ColliderShape, ColliderState
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.texture import TexelBuffer
from sinew.sim.kinds.hair.growth import growth_on_ellipsoid
from sinew.sim.kinds.hair.presets import with_preset
from sinew.sim.kinds.hair.settings import HairForm, HairSettings, HairSolver, HairSource
from sinew.sim.kinds.hair.strands import Strands
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.render.sample import ImageSample
from sinew.sim.run.engine import Engine
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform

SUBSTEPS = 8
IMAGE = (1280, 720)
SAMPLES = 16  # Of an image


def bench_settings(strands: int, **changes: object) -> HairSettings:
    """Returns settings with springs as stiff as the substeps allow."""
    settings = with_preset(HairSettings(source=HairSource.ELLIPSOID), "Springs on a head")
    common = {"guides": max(strands, 1), "substeps": SUBSTEPS, "collide": False, "carried": 0.0}
    return msgspec.structs.replace(settings, **(common | changes))


def variants(strands: int) -> dict[str, HairSettings]:
    rod = {"solver": HairSolver.ROD, "bending_length": 0.05}
    layers = {"knots": 6, "length": 0.5}
    return {
        "springs": bench_settings(strands),
        "rod": bench_settings(strands, **rod),
        "rod with the head": bench_settings(strands, **rod, collide=True),
        "rod with all": bench_settings(strands, **rod, collide=True, carried=0.8, hold=10.0, bow=0.3),
        "rod with loads": bench_settings(strands, **rod, carried=1.0, bow=0.3),
        "rod with exact rest": bench_settings(strands, **rod, carried=1.0, bow=0.3, exact_rest=True),
        "springs of 6 knots": bench_settings(strands, **layers),
        "layers": bench_settings(strands, **layers, solver=HairSolver.LAYERS),
    }


def image_variants(strands: int) -> dict[str, HairSettings]:
    fur = with_preset(HairSettings(source=HairSource.ELLIPSOID), "Long fur")
    fur = msgspec.structs.replace(fur, radii=(0.5, 0.5, 0.5), children=10 * strands, guides=500)
    return {
        "drawn": bench_settings(strands, knots=9, shadow=1.0),
        "drawn without self-shadow": bench_settings(strands, knots=9, shadow=0.0),
        "drawn with soft tips": bench_settings(strands, knots=9, shadow=1.0, soft_tips=0.3),
        "fur of ten times as many": fur,
        "the same as shells": msgspec.structs.replace(fur, form=HairForm.SHELLS),
    }


class BenchHair(Owner):
    def __init__(self, context: Context, library: ShaderLibrary, settings: HairSettings) -> None:
        assert len(set(settings.radii)) == 1, "the head is a sphere"
        states, layout = arranged(
            [ColliderState(ColliderShape.SPHERE, np.array([settings.radii[0], 0.0, 0.0]), friction=0.3)]
        )
        texture = self.owns(TexelBuffer(context, pack_colliders(states, STEP_TIME).ravel(), label="bench head"))
        self.strands = self.owns(Strands(context, library, settings, growth_on_ellipsoid(settings, np.eye(4))))
        colliders = Colliders(texture, 1, layout, shapes_of(states, layout))
        self._colliders = colliders if settings.collide else NO_COLLIDERS

    def step(self) -> None:
        self.strands.step(np.eye(4), self._colliders)


def hair_rows(bench: GpuBench, size: int) -> list[Row]:
    """Measures hair; strands have 11 points, 6 for layers, 9 in images."""
    hairs = {
        name: bench.owns(BenchHair(bench.context, bench.library, settings)).step
        for name, settings in variants(size).items()
    }
    rows = bench.rows(hairs, system="hair", size=size, unit="strands", substeps=SUBSTEPS)
    return [*rows, *_image_rows(bench, size)]


def _image_rows(bench: GpuBench, size: int) -> list[Row]:
    output = bench.owns(Framebuffer(bench.context, IMAGE, ("rgba8",), label="bench image"))
    camera = Camera(target=(0.0, 0.4, 0.0), distance=4.0)
    light = Node(id="light", transform=Transform(position=(2.0, 4.0, 3.0)), settings=LightSettings())
    engines, steps = [], dict[str, Callable[[], object]]()
    for name, drawn in image_variants(size).items():
        engine = bench.owns(Engine(bench.context, bench.library))
        engine.apply(Scene(nodes=(light, Node(id="hair", settings=drawn))))
        engine.step(STEP_TIME)
        engine.refresh(0.0)
        engines.append(engine)
        steps[name] = partial(engine.draw, output, camera)

    def draw_samples() -> None:
        image = object()
        for number in range(SAMPLES):
            engines[0].draw(output, camera, sample=ImageSample(number, SAMPLES, image))

    steps[f"drawn with {SAMPLES} samples"] = draw_samples
    return bench.rows(steps, system="images of hair", size=size, unit="strands")
