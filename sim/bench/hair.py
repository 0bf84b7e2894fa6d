"""Solvers against a plain two-pass kernel; growth, combing, and images of hair and fur."""

import itertools
import time
from collections.abc import Callable
from functools import partial

import msgspec
import numpy as np

from sinew.sim.bench.frames import IMAGE, muted_gl
from sinew.sim.bench.plain import PlainHair
from sinew.sim.bench.runner import Case, GpuBench, Row, measure
from sinew.sim.colliders.pack import arranged, pack_colliders
from sinew.sim.colliders.scene_colliders import NO_COLLIDERS, Colliders, shapes_of
from sinew.sim.colliders.state import ColliderShape, ColliderState
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.task import finish
from sinew.sim.gl.texture import TexelBuffer
from sinew.sim.kinds.hair.brush import BrushedGroom, RootFrames
from sinew.sim.kinds.hair.generation import grown_whole
from sinew.sim.kinds.hair.growth import GrowthSurface, growth_on_ellipsoid
from sinew.sim.kinds.hair.presets import with_preset
from sinew.sim.kinds.hair.records import upload_strands
from sinew.sim.kinds.hair.settings import HairForm, HairSettings, HairSolver, HairSource
from sinew.sim.kinds.hair.strands import Strands
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.render.sample import ImageSample
from sinew.sim.run.engine import Engine
from sinew.sim.scene.brush import BrushStroke
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform

SUBSTEPS = 8
PYTHON_STEPS = 100
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
    return [*_solver_rows(bench, size), *_groom_rows(bench, size), *_image_rows(bench, size)]


def _solver_rows(bench: GpuBench, size: int) -> list[Row]:
    context, library = bench.context, bench.library
    hairs = {name: bench.owns(BenchHair(context, library, settings)) for name, settings in variants(size).items()}
    springs = hairs["springs"].strands
    places = springs.growth.guides.places[:, None] + springs.offsets()
    plain = bench.owns(PlainHair(context, library, places, springs.settings))
    case = partial(bench.case, system="hair", size=size, unit="strands")
    cases = [case(variant="plain kernel", steps=SUBSTEPS, step=plain.step)]
    cases += [case(variant=name, substeps=SUBSTEPS, step=hair.step) for name, hair in hairs.items()]
    rows = measure(cases, repeat=bench.repeat)
    python = Case(
        system="hair", variant="springs, Python alone", size=size, unit="strands", steps=PYTHON_STEPS,
        substeps=SUBSTEPS, step=hairs["springs"].step, within=muted_gl, clock=time.thread_time,
    )  # fmt: skip
    return rows + measure([python], repeat=bench.repeat)


def _groom_rows(bench: GpuBench, size: int) -> list[Row]:
    settings = bench_settings(size, source=HairSource.ELLIPSOID, children=10 * size, knots=12)
    found = grown_whole(settings, GrowthSurface(np.eye(4)))
    strands = bench.owns(Strands(bench.context, bench.library, settings, found.growth))
    guides = found.growth.guides
    brushed = BrushedGroom(guides, 2.0 * guides.lengths, RootFrames(guides.places, guides.frames))
    camera, (width, height) = Camera(target=(0.0, 0.0, 0.0), distance=4.0), map(float, IMAGE)
    directions = itertools.cycle((6.0, -6.0))

    def grow() -> None:
        grown_whole(settings, GrowthSurface(np.eye(4)))

    def upload() -> None:
        finish(upload_strands(bench.context, found.packed, settings.knots))
        bench.context.collect()

    def comb() -> None:
        x, y = width / 2.0, height / 3.0
        brushed.comb(BrushStroke(camera, (width, height), (x, y), (x + next(directions), y), 60.0, 0.5))
        strands.preview(brushed.groom)

    table = {"grown, ten times as many drawn": grow, "these brought to the GPU": upload, "combed, a dab": comb}
    return bench.rows(table, system="hair", size=size, unit="strands")


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
    return bench.rows(steps, system="hair", size=size, unit="strands")
