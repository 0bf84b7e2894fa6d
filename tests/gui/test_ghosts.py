import time

import msgspec
import numpy as np
import pytest
from PIL import Image
from PySide6.QtWidgets import QApplication

from sinew.sim.kinds.emitter.settings import ParticleLook
from sinew.sim.scene.playback import LoopMode
from sinew.sim.scene.scene import PLAYBACK, VIEW, ParamRef
from sinew.sim.scene.view_state import Selection
from tests.gui.editor_harness import Session, add_cloth, picture, positions

STEP = 10


@pytest.fixture
def stage(editor, qtbot):
    fresh = editor
    character, bone = fresh.active.node.id, fresh.active.model.skeleton.names[-1]
    cloth = add_cloth(fresh)
    fresh.document.select(Selection(node=character, bone=bone))
    sparks = fresh.edits.add("emitter.sparks")
    fresh.document.set_value(ParamRef(PLAYBACK, PLAYBACK, "end"), 10)
    fresh.document.select(Selection())
    picture(fresh)
    simulate(fresh, qtbot)
    return fresh, character, cloth, sparks


def simulate(editor, qtbot):
    editor.playback.scrub(20 / 60)
    with qtbot.waitSignal(editor.seek.ended, timeout=60000):
        editor.seek.start()
    editor.playback.scrub(STEP / 60)
    picture(editor)


def show(editor, **values):
    editor.document.set_values({ParamRef(VIEW, VIEW, name): value for name, value in values.items()})
    return settled(editor)


def settled(editor):
    ghosts, compared = editor.client.ghosts, editor.client.compared
    ends = time.monotonic() + 60.0
    while True:
        shown = picture(editor)
        if not ghosts.is_due and not compared.is_due:
            return shown
        while ghosts.is_due or compared.is_due:
            QApplication.processEvents()
            assert time.monotonic() < ends


def bits(editor):
    with editor.viewport.gl_current():
        return msgspec.msgpack.decode(editor.client.engine.simulation.state())


def changed(one, other):
    return int((np.abs(one.astype(int) - other).max(axis=2) > 3).sum())


def test_ghosts_of_every_kind_are_drawn_and_change_nothing(stage):
    editor, character, cloth, sparks = stage
    plain, state = picture(editor), bits(editor)
    assert editor.client.ghosts._second.engine is None, "costs nothing while it is off"
    undo = editor.document.undo_stack.count()
    everything = show(editor, ghosts=True, ghost_count=1)
    assert changed(everything, plain) > 200
    by_node = {}
    for node in (character, cloth, sparks):
        editor.document.select(Selection(node=node))
        with_ghosts = settled(editor)
        editor.document.set_value(ParamRef(VIEW, VIEW, "ghosts"), False)
        without = picture(editor)
        by_node[node] = changed(with_ghosts, without)
        editor.document.set_value(ParamRef(VIEW, VIEW, "ghosts"), True)
    assert all(count > 20 for count in by_node.values()), by_node
    editor.document.select(Selection())
    assert changed(settled(editor), everything) == 0, "the same image again"
    more = show(editor, ghost_count=2, ghost_spacing=4)
    assert changed(more, plain) > 0
    assert changed(more, everything) > 0
    assert bits(editor) == state
    assert changed(show(editor, ghosts=False), plain) == 0
    assert editor.client.ghosts._second.engine is None
    assert bits(editor) == state
    assert editor.document.undo_stack.count() == undo, "a view setting is no edit"


@pytest.mark.slow
def test_only_cached_steps_have_ghosts_and_settings_are_saved(stage, qtbot, tmp_path):
    editor, *_ = stage
    show(editor, ghosts=True, ghost_count=3, ghost_spacing=2)
    assert sorted(ghost.step for ghost in editor.client.ghosts._wanted) == [2, 6, 10, 14, 18]
    editor.playback.scrub(20 / 60)
    settled(editor)
    assert sorted(ghost.step for ghost in editor.client.ghosts._wanted) == [8, 12, 16, 20], "the scene ends"
    made = {ghost.step for ghost, _ in editor.client.ghosts._made}
    assert made == {8, 12, 16, 20}
    editor.playback.toggle()
    picture(editor)
    assert editor.client.ghosts._wanted == [], "none while it plays"
    editor.playback.pause()
    editor.files.save_to(tmp_path / "a.sinew")
    Session(qtbot).load(editor, tmp_path / "a.sinew")
    view = editor.document.scene.view
    assert (view.ghosts, view.ghost_count, view.ghost_spacing) == (True, 3, 2)
    show(editor, ghosts=False)


@pytest.mark.slow
def test_the_bake_is_drawn_over_the_simulation_with_its_distance(stage, tmp_path, qtbot, monkeypatch):
    editor, _, cloth, _ = stage
    reported = []
    monkeypatch.setattr(editor.client.compared, "_reported", reported.append)
    editor.files.save_to(tmp_path / "a.sinew")
    with qtbot.waitSignal(editor.baking.ended, timeout=60000):
        editor.baking.start()
    editor.baking.free()
    simulate(editor, qtbot)
    show(editor, bake_ghost=True)
    assert reported[-1].startswith("Cloth: distance from the bake 0 mm at most, 0 mm on average")
    baked = positions(editor, cloth).astype(np.float64)
    editor.document.set_value(ParamRef(cloth, "cloth", "wind"), (0.0, 0.0, 1.0))
    simulate(editor, qtbot)
    plain = show(editor, bake_ghost=False)
    shown, state = show(editor, bake_ghost=True), bits(editor)
    assert changed(shown, plain) > 100
    variants = np.linalg.norm(positions(editor, cloth).astype(np.float64) - baked, axis=-1)
    assert reported[-1].startswith(
        f"Cloth: distance from the bake {variants.max() * 1e3:.3g} mm at most, {variants.mean() * 1e3:.3g} mm"
    )
    assert editor.client.compared._points[cloth][1] == pytest.approx(variants)
    assert "Sparks: distance from the bake 0 mm at most" in reported[-1], "without wind"

    curves = {curve.name: curve for curve in editor.client.compared.curves()}
    assert curves["Cloth"].times == pytest.approx(np.arange(1, 21) / 60), "all steps, wherever the playhead was"
    assert (curves["Cloth"].most[STEP - 1], curves["Cloth"].mean[STEP - 1]) == pytest.approx(
        (variants.max(), variants.mean())
    )
    assert np.all(np.diff(curves["Cloth"].most) > 0.0)
    key = editor.client.compared.key
    assert (key.title, key.unit, key.lo) == ("Distance from the bake", "mm", 0.0)
    assert key.hi >= max(curves["Cloth"].most) * 1e3
    editor.features["playing"].distance.refresh()
    assert editor.overlays.legend.isVisibleTo(editor.viewport)
    assert editor.features["playing"].distance.plot.distances_now()[0][1] == pytest.approx(variants.max())
    editor.features["playing"].distance.plot.chosen.emit(15 / 60)
    assert changed(settled(editor), shown) > 0
    assert editor.features["playing"].distance.plot.distances_now()[0][1] == pytest.approx(curves["Cloth"].most[14])
    editor.playback.scrub(STEP / 60)
    assert changed(settled(editor), shown) == 0
    assert bits(editor) == state, "the simulation is unchanged"
    editor.document.set_value(ParamRef(cloth, "cloth", "wind"), (0.0, 0.0, 0.5))
    settled(editor)
    later = {curve.name: curve for curve in editor.client.compared.curves()}["Cloth"]
    assert len(later.times) == STEP, "steps after an edit are unknown"
    show(editor, bake_ghost=False)
    assert editor.client.compared.curves() == ()
    assert editor.client.ghosts._second.engine is None


@pytest.mark.slow
def test_ghosts_during_playback_keep_their_steps(stage, qtbot):
    editor, *_ = stage
    editor.document.set_value(ParamRef(PLAYBACK, PLAYBACK, "loop"), LoopMode.ONCE)
    show(editor, ghosts=True, ghosts_playing=True, ghost_count=2, ghost_spacing=2)
    editor.playback.scrub(5 / 60)
    picture(editor)
    editor.playback.toggle()
    drawn, wanted = set(), []
    for _ in range(5):
        editor.playback._clock.now += 1 / 60
        editor.playback.tick()
        settled(editor)
        ghosts = editor.client.ghosts
        wanted.append({ghost.step for ghost in ghosts._wanted})
        drawn |= {id(framebuffer) for _, framebuffer in ghosts._made}
        assert {ghost.step for ghost, _ in ghosts._made} == wanted[-1]
    assert all(step % 4 == 0 for steps in wanted for step in steps), "multiples of the spacing"
    assert len(drawn) <= len(set().union(*wanted)), "each is drawn once"
    with_ghosts = settled(editor)
    editor.document.set_value(ParamRef(VIEW, VIEW, "ghosts_playing"), False)
    assert changed(picture(editor), with_ghosts) > 100
    editor.playback.pause()


@pytest.mark.slow
def test_distances_are_drawn_in_every_frame_while_ghosts_are_drawn(stage, tmp_path, qtbot, monkeypatch):
    editor, _, cloth, _ = stage
    editor.files.save_to(tmp_path / "a.sinew")
    with qtbot.waitSignal(editor.baking.ended, timeout=60000):
        editor.baking.start()
    editor.baking.free()
    editor.document.set_value(ParamRef(cloth, "cloth", "wind"), (0.0, 0.0, 1.0))
    simulate(editor, qtbot)
    show(editor, bake_ghost=True, ghosts=True, ghosts_playing=True, ghost_count=3, ghost_spacing=1)
    client, seen = editor.client, {}
    compared, plain = client.compared, client.compared.coloured

    def coloured(render_view):
        seen.setdefault(client.runner.shown, []).append(cloth in compared._points)
        return plain(render_view)

    monkeypatch.setattr(compared, "coloured", coloured)
    monkeypatch.setattr(client.ghosts._second, "ready", lambda _: None)
    editor.playback.toggle()
    for _ in range(18):
        editor.playback._clock.now += 1 / 60
        editor.playback.tick()
        picture(editor)
    editor.playback.pause()
    assert len(seen) > 10
    assert {step for step, coloured in seen.items() if not all(coloured)} <= {0}, "the start is not baked"


@pytest.mark.slow
def test_ghosts_of_particles_have_textures(stage, tmp_path, qtbot):
    editor, _, _, sparks = stage
    path = tmp_path / "spark.png"
    Image.new("RGBA", (8, 8), (255, 60, 0, 255)).save(path)
    look = {"look": ParticleLook.TEXTURED, "texture": str(path)}
    editor.document.set_values({ParamRef(sparks, "emitter", name): value for name, value in look.items()})
    qtbot.waitUntil(lambda: path in editor.scene_files.assets.textures, timeout=60000)
    show(editor, ghosts=True)
    engine = editor.client.ghosts._second.engine
    assert engine is not editor.client.engine
    assert engine.world.assets.textures == editor.scene_files.assets.textures
