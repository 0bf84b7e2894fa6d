import gc
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import pytest

from sinew.sim.engine import Engine
from sinew.sim.gl import buffer as buffers
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.kinds.hair.growth import growth_on_ellipsoid
from sinew.sim.kinds.hair.presets import with_preset
from sinew.sim.kinds.hair.records import PackedStrands
from sinew.sim.kinds.hair.settings import HairForm, HairSettings, HairSource
from sinew.sim.kinds.hair.system import HairSystem
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.render.progressive import scheduler
from sinew.sim.render.progressive.frame_plan import ChunkBudget
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform

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
