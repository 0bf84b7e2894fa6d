import functools
import gc
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pytest

from sinew import resources
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel
from sinew.sim.assets.scene_assets import SceneAssets
from sinew.sim.assets.strands import StrandSet
from sinew.sim.characters.reference import skin
from sinew.sim.characters.settings import ModelSettings, SkinningMethod, UpAxis
from sinew.sim.gl import buffer as buffers
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.kinds.hair.growth import growth_on_ellipsoid
from sinew.sim.kinds.hair.presets import with_preset
from sinew.sim.kinds.hair.records import PackedStrands
from sinew.sim.kinds.hair.roots import RootSurface, root_frames
from sinew.sim.kinds.hair.settings import HairForm, HairSettings, HairSource
from sinew.sim.kinds.hair.strands import Strands
from sinew.sim.kinds.hair.system import HairSystem
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.maths import quaternion
from sinew.sim.render.progressive import scheduler
from sinew.sim.render.progressive.frame_plan import ChunkBudget
from sinew.sim.run.engine import Engine
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.transform import Transform
from tests.strand_samples import strand_set

LIGHT = Node(id="light", transform=Transform(position=(1.6, 2.6, 1.9)), settings=LightSettings(reach=3.2))
LONG = with_preset(HairSettings(source=HairSource.ELLIPSOID), "Long")
SMALL: dict[str, Any] = {"radii": (0.2, 0.2, 0.2), "guides": 60, "children": 700, "knots": 6, "noise": 0.0}
CAMERA = Camera(target=(0.0, 0.5, 0.0), distance=2.0)


def scene(**changes: Any) -> Scene:
    settings = msgspec.structs.replace(LONG, **(SMALL | changes))
    node = Node(id="h", name="Hair", transform=Transform(position=(0.0, 0.5, 0.0)), settings=settings)
    return Scene(nodes=(LIGHT, node))


@pytest.fixture
def background(context: Context) -> Iterator[Engine]:
    made = Engine(context, background=True)
    yield made
    made.release()


def system(engine: Engine) -> HairSystem:
    found = engine.simulation.systems.get("h")
    assert isinstance(found, HairSystem)
    return found


def prepared(engine: Engine, wanted: Scene) -> int:
    engine.apply(wanted)
    count, ends = 0, time.monotonic() + 60.0
    while engine.simulation.is_preparing:
        assert time.monotonic() < ends
        count += engine.simulation.prepare(0.0)
        engine.apply(wanted)
    return count


def test_hair_uploaded_in_steps(engine: Engine, background: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.apply(scene())
    monkeypatch.setattr(buffers, "UPLOAD_STEP", 20_000)
    assert prepared(background, scene()) > 5
    for made in (engine, background):
        for step in range(1, 4):
            made.step(step / 60.0)
        made.refresh(0.0)
    one, other = (system(made).strands for made in (engine, background))
    assert one is not None
    assert other is not None
    np.testing.assert_array_equal(one.positions(), other.positions())
    np.testing.assert_array_equal(one.drawn.positions(), other.drawn.positions())


def test_packed_strands_are_released_after_the_upload(background: Engine) -> None:
    prepared(background, scene())
    assert system(background).strands is not None
    gc.collect()
    assert not [found for found in gc.get_objects() if isinstance(found, PackedStrands)]


@pytest.mark.parametrize("form", [HairForm.RIBBONS, HairForm.SHELLS])
def test_hair_drawn_in_parts_gives_the_same_image(context, engine, monkeypatch, form):
    output = Framebuffer(context, (160, 160), ("rgba8",), label="output")
    engine.apply(scene(form=form, shadow=1.0, soft_tips=0.3 if form is HairForm.RIBBONS else 0.0))
    engine.refresh(0.0)
    engine.draw(output, CAMERA)
    expected = output.read_pixels()
    monkeypatch.setattr(scheduler, "AT_ONCE", 10)
    monkeypatch.setattr(ChunkBudget, "note", lambda *_: None)
    engine.pictures._budget.piece = 100
    if engine.pictures.takes_one_go(engine.render_view(CAMERA)):
        pytest.skip("a graphics card draws all at once")
    pending, turns = engine.begin(output.size, CAMERA), 0
    while not pending.done:
        pending.hand_out(0.0)
        context.invalidate()
        context.bind_default_framebuffer()
        context.finish()
        turns += 1
    pending.show(output)
    np.testing.assert_array_equal(output.read_pixels(), expected)
    assert turns > (25 if form is HairForm.RIBBONS else 10)
    output.release()


def test_cancelled_growth_keeps_the_hair_until_it_is_started_again(background: Engine) -> None:
    prepared(background, scene())
    first = system(background).strands
    background.apply(scene(seed=7))
    assert background.simulation.progress.keys() == {"h"}
    background.simulation.cancel_preparing()
    for _ in range(3):
        background.simulation.prepare(0.0)
        background.apply(scene(seed=7))
    assert system(background).strands is first
    assert not background.simulation.progress
    active = background.world.active_settings["h"]
    assert isinstance(active, HairSettings)
    assert active.seed == LONG.seed
    system(background).try_again()
    prepared(background, scene(seed=7))
    second = system(background).strands
    assert second is not first
    assert second is not None
    assert second.settings.seed == 7
    background.apply(scene(seed=8))
    background.simulation.cancel_preparing()
    prepared(background, scene(seed=9))
    third = system(background).strands
    assert third is not None
    assert third.settings.seed == 9


def test_a_cancelled_upload(context: Context, background: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared(background, scene())
    context.collect()
    before = sorted(context.live)
    monkeypatch.setattr(buffers, "UPLOAD_STEP", 20_000)
    background.apply(scene(children=900))
    while not background.simulation.prepare(0.0):
        time.sleep(0.001)
    background.simulation.cancel_preparing()
    gc.collect()
    context.collect()
    assert sorted(context.live) == before


def test_growth_reports_its_progress() -> None:
    reported: list[float] = []
    growth_on_ellipsoid(
        msgspec.structs.replace(LONG, guides=50, children=9000, part_strength=1.0), np.eye(4), pause=reported.append
    )
    assert len(reported) >= 4
    assert reported == sorted(reported)
    assert 0.0 <= reported[0] < 0.1
    assert 0.5 < reported[-1] <= 1.0


def test_a_failed_upload_is_reported_and_left_out(background, monkeypatch, survived):
    def fail(_self: HairSystem) -> bool:
        raise MemoryError("no room for strands")

    monkeypatch.setattr(HairSystem, "prepare", fail)
    background.apply(scene())
    assert not background.simulation.prepare(time.monotonic() + 1.0)
    reported = [problem.text for problem in background.simulation.take_problems()]
    assert reported == ["disabled after error MemoryError: no room for strands; change a setting to retry"]
    assert not background.simulation.prepare(time.monotonic() + 1.0)
    assert background.simulation.take_problems() == []
    survived.clear()


Float64 = npt.NDArray[np.float64]
FILE = Path("/strands")
FEW: dict[str, Any] = {"guides": 60, "children": 30, "knots": 5, "length": 0.05, "noise": 0.0, "clump": 0.0}


@functools.cache
def model_of(name: str) -> CharacterModel:
    return load_model(resources.path("models") / name)


def stepped(engine: Engine, character: ModelSettings, hair: HairSettings, strands: StrandSet | None = None) -> Strands:
    engine.set_model("character", model_of(character.path), {})
    engine.set_assets(SceneAssets(strands={FILE: strands} if strands is not None else {}))
    nodes = (
        Node(id="character", name="Character", settings=character),
        Node(id="h", name="Hair", attachment=Attachment(node="character"), settings=hair),
    )
    engine.apply(Scene(nodes=nodes))
    for step in range(8):
        engine.step((step + 1) * STEP_TIME)
    engine.refresh(0.0)
    found: Strands = engine.simulation.systems["h"].strands  # type: ignore[union-attr]
    assert not engine.simulation.take_problems()
    return found


def expected(engine: Engine, character: ModelSettings, strands: Strands) -> tuple[Float64, Float64]:
    model, pose, placement = (
        model_of(character.path),
        engine.views.characters["character"].pose,
        engine.views.characters["character"].world_from_model,
    )
    assert pose is not None
    assert placement is not None
    found = skin(
        model.mesh, model.skin, pose.palette, character.skinning, pose.centres, pose.local.weights, pose.warps
    )  # fmt: skip
    return root_frames(RootSurface(found.positions, found.normals, placement), strands.growth.guides.roots)


@pytest.mark.parametrize(
    ("character", "source"),
    [
        (ModelSettings(path="humanoid/humanoid.ezm", clip="walk", skinning=SkinningMethod.LBS), HairSource.FACES),
        (
            ModelSettings(path="humanoid/humanoid.ezm", clip="turn", skinning=SkinningMethod.DQS, unit_scale=0.5),
            HairSource.FILE,
        ),
        (
            ModelSettings(
                path="head/head.glb",
                target_weights=tuple((name, 0.7) for name in model_of("head/head.glb").mesh.targets.names[:3]),
            ),
            HairSource.VERTICES,
        ),
    ],
    ids=["linear", "dual quaternions", "morphed"],
)
def test_roots_and_their_frames_follow_the_skin(engine: Engine, character: ModelSettings, source: HairSource) -> None:
    hair = HairSettings(**FEW, source=source)
    strands = None
    if source is HairSource.FILE:
        mesh = model_of(character.path).mesh
        # Strands that begin a little above some vertices.
        size = 0.01 * float(np.ptp(mesh.positions, axis=0).max())
        starts = mesh.positions[::97].astype(np.float64) + size * mesh.normals[::97]
        lines = starts[:, None] + size * np.arange(4)[:, None] * mesh.normals[::97][:, None]
        strands = strand_set(lines * character.unit_scale)
        hair = HairSettings(source=source, file=str(FILE), file_up=UpAxis.Y, children=0, knots=5)
    made = stepped(engine, character, hair, strands)
    places, frames = expected(engine, character, made)
    texels = made.roots.buffer.read().view(np.float32).reshape(-1, 4, 4)[: len(places)]
    extent = np.ptp(places, axis=0).max()
    np.testing.assert_allclose(texels[:, 2, :3], places, atol=2e-6 * max(extent, 1.0))
    turns = quaternion.from_matrix(frames)
    alike = np.abs(np.sum(turns * texels[:, 3].astype(np.float64), axis=1))
    np.testing.assert_allclose(alike, 1.0, atol=1e-5)
    if source is HairSource.FILE:
        assert np.abs(made.growth.guides.roots.heights).max() > 0.0  # type: ignore[arg-type]
    assert np.isfinite(made.drawn.positions()).all()


def test_strands_far_from_the_skin_follow_a_bone(engine: Engine) -> None:
    character = ModelSettings(path="humanoid/humanoid.ezm", clip="walk", skinning=SkinningMethod.LBS)
    model = model_of(character.path)
    assert model.skeleton is not None
    top = model.mesh.positions[model.mesh.positions[:, 1].argmax()].astype(np.float64)
    line = top + np.array([0.0, 0.25, 0.0]) + np.linspace(0.0, 0.1, 5)[:, None] * [0.0, 1.0, 0.0]
    hair = HairSettings(source=HairSource.FILE, file=str(FILE), file_up=UpAxis.Y, children=0, knots=5)
    made = stepped(engine, character, hair, strand_set(line[None]))
    pose, placement = engine.views.characters["character"].pose, engine.views.characters["character"].world_from_model
    assert pose is not None
    assert placement is not None
    head = pose.palette[model.skeleton.index("head")]
    place = placement @ head @ [*line[0], 1.0]
    np.testing.assert_allclose(made.positions()[0, 0], place[:3], atol=2e-5)


def test_strands_of_a_file_keep_their_shape_without_a_model(engine: Engine) -> None:
    """They stand in the frame of their node, with the colours and the thickness of the file, at most one in two."""
    turn = np.linspace(0.0, 1.2, 30)
    lines = np.stack([np.zeros((8, 30)) + np.arange(8)[:, None], np.tile(np.sin(turn), (8, 1)),
                      np.tile(1.0 - np.cos(turn), (8, 1))], axis=2)  # fmt: skip
    strands = replace(strand_set(lines), thickness=np.arange(1.0, 9.0, dtype=np.float32))
    engine.set_assets(SceneAssets(strands={FILE: strands}))
    hair = HairSettings(source=HairSource.FILE, file=str(FILE), file_up=UpAxis.Y, file_scale=0.1, file_every=2,
                        children=16, carried=1.0, noise=0.0, clump=0.0, bending_length=1.0)  # fmt: skip
    engine.apply(Scene(nodes=(Node(id="h", name="Hair", settings=hair),)))
    for step in range(30):
        engine.step((step + 1) * STEP_TIME)
    engine.refresh(0.0)
    found = engine.simulation.systems["h"].strands  # type: ignore[union-attr]
    positions = found.positions()
    np.testing.assert_allclose(positions[:, 0, 0], [0.0, 0.2, 0.4, 0.6], atol=1e-6)
    np.testing.assert_allclose(positions[:, -1], 0.1 * lines[::2, -1], atol=2e-3)
    children = found.growth.children
    np.testing.assert_allclose(children.forms[:, 3], np.repeat(np.arange(1.0, 9.0) / 4.5, 2))
    assert engine.views.bounds("h") is not None
