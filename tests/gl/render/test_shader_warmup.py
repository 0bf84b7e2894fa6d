import gc
import math
from collections.abc import Iterator

import numpy as np
import pytest

from sinew.sim.characters.prepared import prepare_model
from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.context import Context
from sinew.sim.gl.program import Program
from sinew.sim.gl.vertex_array import VertexArray
from sinew.sim.kinds.emitter.settings import Blending, EmitterSettings, ParticleLook
from sinew.sim.render.progressive import scheduler
from sinew.sim.render.progressive.frame_plan import LARGEST_CHUNK, LONG_TURN, SHORT_TURN, SMALLEST_CHUNK, ChunkBudget
from sinew.sim.render.projection import Projection
from sinew.sim.render.render_view import Overlay
from sinew.sim.run.engine import Engine
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.curves import Curve, Key
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.view import DisplayMode
from tests.gl.render.particle_stage import emitter_node, place_particles
from tests.gl.render.worlds import FRONT, Stage, alive, light_node, model_node, model_of, quad, twisted_bar

LIGHT_POSITION = (3.0, 6.0, 4.0)
Drawn = set[tuple[str, str, str, int]]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Iterator[Drawn]:
    calls: Drawn = set()
    draw = VertexArray.draw

    def record(self: VertexArray, program: Program, mode: str = "triangles", **rest: int) -> None:
        calls.add((self.label, program.label, mode, int(GL.glGetIntegerv(GL.GL_SAMPLES))))
        draw(self, program, mode, **rest)

    monkeypatch.setattr(VertexArray, "draw", record)
    return calls


@pytest.mark.parametrize(
    "view", [{"bones": True}, {"grid": False, "axes": False}, {"display": DisplayMode.WEIGHTS}], ids=str
)
def test_the_first_frames_of_a_model_use_nothing_new(stage: Stage, drawn: Drawn, view: dict[str, object]) -> None:
    stage.look(model_node(), light_node(LIGHT_POSITION), **({"samples": 4, "grid": True} | view))
    for _ in stage.engine.model_upload("model", prepare_model(twisted_bar()), {}, warmed_up=True):
        pass
    warmed_up = set(drawn)
    drawn.clear()
    for draft in (True, False):
        stage.picture(overlay=Overlay(marks=True, selected_nodes=("model",)), draft=draft)
    assert {samples for *_, samples in drawn} >= {0, 4}
    assert drawn <= warmed_up


def test_the_warmup_of_a_model_shows_and_leaves_nothing(stage: Stage, context: Context) -> None:
    stage.show({"model": model_of(quad())}, light_node(LIGHT_POSITION), samples=4)
    before = stage.picture()
    stage.picture(draft=True)
    count = 0
    for _ in stage.engine.model_upload("model", prepare_model(twisted_bar()), {}, warmed_up=True):
        assert np.array_equal(stage.picture(), before)
        count += 1
    assert count > 15
    stage.engine.advance(0.5)
    after, left = stage.picture(), alive(context)
    stage.engine.set_model("model", twisted_bar(), {})
    stage.engine.advance(0.5)
    assert np.array_equal(stage.picture(), after)
    assert alive(context) == left


LIGHT = light_node((3.0, 6.0, 4.0))
PLACES = np.random.default_rng(5).uniform((-1.0, 0.5, -1.0), (1.0, 2.5, 1.0), (20, 3))
ParticleCalls = set[tuple[str, str, int, int]]


@pytest.fixture
def particle_calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[ParticleCalls]:
    calls: ParticleCalls = set()
    draw = VertexArray.draw

    def record(self: VertexArray, program: Program, mode: str = "triangles", **rest: int) -> None:
        if program.label.startswith("emitter/") or "compose.frag" in program.label:
            bits = int(GL.glGetFramebufferAttachmentParameteriv(
                GL.GL_DRAW_FRAMEBUFFER, GL.GL_COLOR_ATTACHMENT0, GL.GL_FRAMEBUFFER_ATTACHMENT_RED_SIZE
            )) if "cast" not in program.label else 0  # fmt: skip
            calls.add((program.label, mode, int(GL.glGetIntegerv(GL.GL_SAMPLES)), bits))
        draw(self, program, mode, **rest)

    monkeypatch.setattr(VertexArray, "draw", record)
    return calls


def is_new(stage: Stage) -> bool:
    return stage.engine.pictures.shader_warmup.is_needed(stage.engine.render_view(FRONT))


def warm_up(stage: Stage) -> int:
    turns = 0
    while is_new(stage):
        assert stage.engine.pictures.shader_warmup.play(stage.engine.render_view(FRONT))
        turns += 1
    assert not stage.engine.pictures.shader_warmup.play(stage.engine.render_view(FRONT))
    return turns


@pytest.mark.parametrize(
    ("look", "blending", "softness"),
    [
        (ParticleLook.ROUND, Blending.ALPHA, 0.2),
        (ParticleLook.STREAK, Blending.ADDITIVE, 0.0),
        (ParticleLook.ROUND, Blending.OPAQUE, 0.0),
    ],
)
def test_the_first_frames_of_an_emitter_use_nothing_new(stage, particle_calls, monkeypatch, look, blending, softness):
    stage.look(LIGHT, emitter_node(look=look, blending=blending, softness=softness), samples=4)
    assert warm_up(stage) >= 3
    warmed_up = set(particle_calls)
    particle_calls.clear()
    place_particles(stage, PLACES)
    for sprites in (True, False):
        monkeypatch.setattr(Projection, "takes_sprites", lambda *_, sprites=sprites: sprites)
        for draft in (True, False):
            stage.picture(draft=draft)
    assert len(particle_calls) >= 3
    assert particle_calls <= warmed_up


def test_only_new_programs_are_warmed_up_and_nothing_is_shown_or_left(stage: Stage, context: Context) -> None:
    stage.look(LIGHT, samples=4)
    assert not is_new(stage)
    stage.look(LIGHT, emitter_node(blending=Blending.ADDITIVE), samples=4)
    place_particles(stage, PLACES)
    before = stage.picture()
    stage.picture(draft=True)
    live = alive(context)
    assert warm_up(stage) > 0
    assert [name for name in alive(context) if "Program" not in name] == [
        name for name in live if "Program" not in name
    ]
    np.testing.assert_array_equal(stage.picture(), before)
    stage.look(LIGHT, emitter_node(blending=Blending.ADDITIVE, size=0.7), samples=4)
    assert not is_new(stage)
    stage.look(LIGHT, emitter_node(blending=Blending.ALPHA), samples=4)
    assert warm_up(stage) > 0
    stage.look(LIGHT, light_node((1.0, 6.0, 4.0), node_id="other"), emitter_node(blending=Blending.ALPHA), samples=4)
    assert is_new(stage)


def test_it_is_the_frame_that_drawing_at_once_gives(stage: Stage, context: Context) -> None:
    view = {"samples": 4, "grid": True, "bones": True}
    stage.show({"model": twisted_bar()}, model_node(), light_node((3.0, 6.0, 4.0)), time=0.5, **view)
    overlay = Overlay(marks=True)
    expected = stage.picture(overlay=overlay)
    stage.output.clear()
    pending = stage.engine.begin(stage.output.size, FRONT, overlay)
    pending.hand_out(math.inf)
    context.finish()
    assert pending.done
    assert pending.size == stage.output.size
    pending.show(stage.output)
    np.testing.assert_array_equal(stage.output.read_pixels(flip=True)[:, :, :3], expected)
    assert expected.std() > 1.0
    stage.output.clear()
    stage.engine.begin(stage.output.size, FRONT, overlay).show(stage.output)  # waits
    np.testing.assert_array_equal(stage.output.read_pixels(flip=True)[:, :, :3], expected)


def test_a_cancelled_frame_leaves_nothing(stage: Stage, context: Context) -> None:
    stage.show({"model": twisted_bar()}, samples=4)
    expected = stage.picture()
    context.collect()
    before = sorted(context.live)
    pending = stage.engine.begin(stage.output.size, FRONT)
    del pending
    gc.collect()
    context.collect()
    assert sorted(context.live) == before
    np.testing.assert_array_equal(stage.picture(), expected)


PENDING_PLACES = np.random.default_rng(3).uniform((-1.5, 0.2, -1.5), (1.5, 2.8, 1.5), (200, 3))


@pytest.mark.parametrize(
    ("look", "blending", "softness"),
    [
        (ParticleLook.ROUND, Blending.ALPHA, 0.3),
        (ParticleLook.STREAK, Blending.ADDITIVE, 0.0),
        (ParticleLook.ROUND, Blending.OPAQUE, 0.0),
    ],
)
def test_particles_drawn_in_parts_give_the_same_frame(stage, monkeypatch, look, blending, softness):
    stage.show({"model": twisted_bar()}, emitter_node(look=look, blending=blending, softness=softness), samples=4)
    place_particles(stage, PENDING_PLACES, velocity=(1.0, 0.5, 0.0))
    bare = stage.engine.simulation.systems["emitter"].emitter
    expected = stage.picture()
    monkeypatch.setattr(scheduler, "AT_ONCE", len(PENDING_PLACES) - 1)
    monkeypatch.setattr(ChunkBudget, "note", lambda *_: None)
    stage.engine.pictures._budget.piece = 30
    if stage.engine.pictures.takes_one_go(stage.engine.render_view(FRONT)):
        pytest.skip("a graphics card draws all at once")
    pending, turns = stage.engine.begin(stage.output.size, FRONT), 0
    while not pending.done:
        pending.hand_out(0.0)
        stage.engine.context.invalidate()
        stage.engine.context.bind_default_framebuffer()
        stage.engine.context.finish()
        turns += 1
    assert turns >= 7
    stage.output.clear()
    pending.show(stage.output)
    np.testing.assert_array_equal(stage.output.read_pixels(flip=True)[:, :, :3], expected)
    bare.spawned = 0
    assert np.abs(stage.picture() - expected).max() > 20.0


def test_parts_become_smaller_if_they_take_long() -> None:
    budget = ChunkBudget()
    budget.note(0.5 * SHORT_TURN)
    assert budget.piece == LARGEST_CHUNK
    budget.note(2.0 * LONG_TURN)
    budget.note(0.5 * (SHORT_TURN + LONG_TURN))
    assert budget.piece == LARGEST_CHUNK // 2
    for _ in range(20):
        budget.note(2.0 * LONG_TURN)
    assert budget.piece == SMALLEST_CHUNK
    for _ in range(20):
        budget.note(0.5 * SHORT_TURN)
    assert budget.piece == LARGEST_CHUNK


def test_items_that_keys_replace_in_every_step_are_warmed_up(context: Context) -> None:
    """Otherwise a slow machine would draw no frame of a keyed scene that plays."""
    rate = Curve(part="emitter", field="rate", keys=(Key(0.0, 100.0), Key(9.0, 900.0)))
    scene = Scene(nodes=(Node(id="e", settings=EmitterSettings(), curves=(rate,)), light_node(LIGHT_POSITION)))
    engine = Engine(context)
    engine.apply(scene)
    versions, step, plays = set(), 0, True
    while plays:
        step += 1
        engine.step(step * STEP_TIME)
        engine.refresh(0.0)
        engine.apply(scene)
        versions.add(engine.views.version)
        plays = engine.pictures.shader_warmup.play(engine.render_view(Camera()))
        assert step < 200
    assert len(versions) == 1
    engine.release()
