"""Particles are drawn in secret first: the driver has met everything that their pictures draw with."""

import gc
from collections.abc import Iterator

import msgspec
import numpy as np
import pytest

from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.context import Context
from sinew.sim.gl.program import Program
from sinew.sim.gl.vertex_array import VertexArray
from sinew.sim.kinds.emitter.settings import Blending, ParticleLook
from sinew.sim.render.projection import Projection
from tests.gl.render.particle_stage import emitter_node, place_particles
from tests.gl.render.worlds import FRONT, Stage, light_node

LAMP = light_node((3.0, 6.0, 4.0))
CROWD = np.random.default_rng(5).uniform((-1.0, 0.5, -1.0), (1.0, 2.5, 1.0), (20, 3))
Drawn = set[tuple[str, str, int, int]]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Iterator[Drawn]:
    """Program, primitive, samples and first format of the target of every draw call for particles."""
    calls: Drawn = set()
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
    """Rehearses to the end; returns how many turns it took."""
    turns = 0
    while is_new(stage):
        assert stage.engine.pictures.shader_warmup.play(stage.engine.render_view(FRONT))
        turns += 1
    assert not stage.engine.pictures.shader_warmup.play(stage.engine.render_view(FRONT))
    return turns


@pytest.mark.parametrize("softness", [0.0, 0.2])
@pytest.mark.parametrize("blending", list(Blending), ids=str)
@pytest.mark.parametrize("look", [ParticleLook.ROUND, ParticleLook.STREAK], ids=str)
def test_the_first_pictures_draw_with_nothing_new(
    stage: Stage, drawn: Drawn, monkeypatch: pytest.MonkeyPatch, look: ParticleLook, blending: Blending, softness: float
) -> None:
    stage.look(LAMP, emitter_node(look=look, blending=blending, softness=softness), samples=4)
    assert warm_up(stage) >= 3
    warmed_up = set(drawn)
    drawn.clear()
    place_particles(stage, CROWD)
    for sprites in (True, False):
        monkeypatch.setattr(Projection, "takes_sprites", lambda *_, sprites=sprites: sprites)
        for draft in (True, False):
            stage.picture(draft=draft)
    assert len(drawn) >= 3
    assert drawn <= warmed_up


def test_emitters_of_two_kinds_are_composed_together(stage: Stage, drawn: Drawn) -> None:
    smoke = msgspec.structs.replace(emitter_node(blending=Blending.ALPHA), id="smoke", name="smoke")
    stage.look(LAMP, emitter_node(blending=Blending.ADDITIVE), smoke, samples=4)
    warm_up(stage)
    warmed_up = set(drawn)
    drawn.clear()
    place_particles(stage, CROWD)
    stage.engine.simulation.systems["smoke"].emitter.spawned = 5
    stage.picture()
    stage.picture(draft=True)
    assert any("LIGHT,COVER" in label for label, *_ in drawn)
    assert drawn <= warmed_up


def test_only_what_is_new_is_rehearsed_and_nothing_is_seen_or_left(stage: Stage, context: Context) -> None:
    stage.look(LAMP, samples=4)
    assert not is_new(stage)
    stage.look(LAMP, emitter_node(blending=Blending.ADDITIVE), samples=4)
    place_particles(stage, CROWD)
    before = stage.picture()
    stage.picture(draft=True)
    gc.collect()
    context.collect()
    live = sorted(context.live)
    assert warm_up(stage) > 0
    gc.collect()
    context.collect()
    assert [name for name in sorted(context.live) if "Program" not in name] == [
        name for name in live if "Program" not in name
    ]
    np.testing.assert_array_equal(stage.picture(), before)
    stage.look(LAMP, emitter_node(blending=Blending.ADDITIVE, size=0.7), samples=4)
    assert not is_new(stage)
    stage.look(LAMP, emitter_node(blending=Blending.ALPHA), samples=4)
    assert warm_up(stage) > 0
    stage.look(LAMP, light_node((1.0, 6.0, 4.0), node_id="other"), emitter_node(blending=Blending.ALPHA), samples=4)
    assert is_new(stage)
