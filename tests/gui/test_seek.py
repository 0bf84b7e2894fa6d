import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from sinew.app.project.settings_store import app_settings
from sinew.sim.cache.step_store import CacheBudget
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.playback import Playhead
from sinew.sim.scene.scene import PLAYBACK, ParamRef
from sinew.sim.scene.view_state import Selection
from tests.conftest import slow
from tests.gui.editor_harness import add_cloth, settled

STEPS = 30


class Stage:
    def __init__(self, editor, qtbot):
        self.qtbot, self.editor = qtbot, editor
        self.playback, self.document, self.seek = self.editor.playback, self.editor.document, self.editor.seek
        if not self.document.scene.of_kind("cloth"):
            add_cloth(editor)
            self.add_emitter("Sparks", self.bone)
            self.add_emitter("Fireworks", None)
        (self.cloth,) = (node.id for node in self.document.scene.of_kind("cloth"))
        self.sparks, self.burst = (node.id for node in self.document.scene.of_kind("emitter"))
        settled(self.editor)

    @property
    def bone(self):
        model = self.editor.active.model
        return model.skeleton.names[-1] if model else None

    def add_emitter(self, preset, bone):
        node = self.editor.active.node.id if bone else None
        self.document.select(Selection(node=node, bone=bone))
        return self.editor.edits.add(f"emitter.{preset.lower()}" if preset else "emitter")

    @property
    def button(self):
        return self.editor.window._seek

    def play(self, steps):
        self.playback.toggle()
        while self.editor.stepper.step_count < steps:
            self.playback._clock.now += STEP_TIME
            self.playback.tick()
        self.playback.pause()

    def forget(self):
        time = self.playback.playhead.time
        self.editor.stepper.forget()
        settled(self.editor)
        self.playback.scrub(time)

    def run(self):
        with self.qtbot.waitSignal(self.seek.ended, timeout=60000) as ended:
            self.editor.window.actions_table["simulate.seek"].trigger()
        return ended.args[0]

    def state(self):
        simulation = self.editor.client.engine.simulation
        settled(self.editor)
        with self.editor.viewport.gl_current():
            particles = [simulation.systems[node].emitter.read().tobytes() for node in (self.sparks, self.burst)]
            return (simulation.systems[self.cloth].cloth.positions().tobytes(), *particles)


@pytest.fixture
def stage(editor, kept_arm, qtbot):
    """The arm with a cloth and emitters, which later tests open with it."""
    stage = Stage(editor, qtbot)
    kept_arm[1]["scene"] = stage.document.scene
    return stage


@pytest.mark.slow
def test_a_seek_gives_the_bits_that_playing_gives(stage):
    stage.play(STEPS)
    played, time = stage.state(), stage.playback.playhead.time
    stage.playback.reset_simulation()
    stage.playback.scrub(time)
    assert stage.state() == played, "played steps are cached"
    stage.forget()
    assert stage.state()[:2] != played[:2]
    text = stage.run()
    assert text == f"Simulated {STEPS} steps, {STEPS * STEP_TIME:.2f} s"
    assert stage.state() == played
    assert stage.playback.playhead == Playhead(time)
    assert stage.editor.stepper.step_count == STEPS
    stage.play(STEPS + 10)
    further = stage.state()
    stage.playback.reset_simulation()
    stage.forget()
    stage.play(STEPS + 10)
    assert stage.state() == further, "playback continues as if it had never stopped"


def test_drawing_and_edits_of_the_look_do_not_change_a_seek(stage, monkeypatch):
    stage.play(6)
    played, time = stage.state(), stage.playback.playhead.time
    monkeypatch.setattr("sinew.app.tasks.TURN", 0.0)
    names = iter(f"sheet {number}" for number in range(1000))
    name = ParamRef(stage.cloth, "node", "name")

    def draw_and_rename(text, *_):
        stage.editor.viewport.grabFramebuffer()
        if text:
            stage.document.set_value(name, next(names))

    stage.editor.tasks.progressed.connect(draw_and_rename)
    stage.playback.scrub(0.9)
    stage.playback.scrub(time)
    stage.forget()
    stage.run()
    stage.editor.tasks.progressed.disconnect(draw_and_rename)
    assert stage.state() == played


def test_particles_without_a_state_follow_the_playhead(stage):
    stage.document.remove_node(stage.cloth)
    stage.document.remove_node(stage.sparks)
    burst = stage.editor.client.engine.simulation.systems[stage.burst].emitter

    def shown(time):
        stage.playback.scrub(time)
        settled(stage.editor)
        with stage.editor.viewport.gl_current():
            return burst.side.buffer.read().tobytes()

    early, late = shown(0.2), shown(0.6)
    assert early != late
    assert shown(0.2) == early
    assert stage.button.isHidden()


def test_the_status_bar_offers_a_seek(stage):
    assert stage.button.isHidden()
    stage.play(5)
    assert stage.button.isHidden()
    stage.playback.scrub(0.2)
    assert stage.button.isVisible()
    with stage.qtbot.waitSignal(stage.seek.ended, timeout=60000):
        stage.button.click()
    assert stage.button.isHidden()
    assert stage.editor.window._bar.isHidden()
    stage.playback.set_playhead(Playhead(0.0))
    stage.run()  # at the start it only resets
    assert stage.editor.stepper.step_count == 0


def test_escape_stops_a_seek(stage, monkeypatch):
    monkeypatch.setattr("sinew.app.tasks.TURN", 0.0)  # one step a turn
    stage.playback.scrub(0.9)
    stage.editor.window.actions_table["simulate.seek"].trigger()
    stage.qtbot.waitUntil(lambda: stage.editor.stepper.step_count >= 3, timeout=60000)
    assert stage.editor.window._cancel.isVisible()
    settled(stage.editor)
    assert stage.button.isHidden()  # it runs
    stage.editor.viewport.setFocus()
    QTest.keyClick(stage.editor.viewport, Qt.Key.Key_Escape)
    steps = stage.editor.stepper.step_count
    assert not stage.seek.busy
    assert 3 <= steps < round(0.9 / STEP_TIME)
    assert stage.playback.playhead.time == pytest.approx(steps * STEP_TIME)
    assert stage.button.isHidden()
    assert stage.editor.window._cancel.isHidden()


def test_other_actions_end_a_seek(stage, monkeypatch):
    monkeypatch.setattr("sinew.app.tasks.TURN", 0.0)
    thickness = ParamRef(stage.cloth, "cloth", "thickness")

    def end_by(act):
        stage.playback.pause()
        stage.playback.scrub(0.9)
        stage.seek.start()
        stage.qtbot.waitUntil(lambda: stage.editor.stepper.step_count >= 2, timeout=60000)
        act()
        stage.qtbot.waitUntil(lambda: not stage.seek.busy, timeout=60000)
        assert stage.editor.window._bar.isHidden()

    end_by(lambda: stage.playback.scrub(0.4))
    assert stage.playback.playhead.time == 0.4
    assert stage.button.isVisible()
    end_by(stage.playback.toggle)
    assert stage.playback.playhead.playing
    end_by(stage.playback.reset_simulation)
    assert stage.editor.stepper.step_count == 0
    end_by(lambda: stage.document.set_value(thickness, 0.02))
    end_by(stage.editor.files.new)


@pytest.mark.slow
def test_the_playhead_stays_within_the_range(stage):
    stage.document.set_values({ParamRef(PLAYBACK, PLAYBACK, "start"): 6, ParamRef(PLAYBACK, PLAYBACK, "end"): 24})
    clip = stage.playback.duration
    stage.playback.scrub(clip)
    stage.run()
    time = stage.playback.playhead.time
    assert clip - STEP_TIME <= time <= clip + 1e-9
    assert stage.editor.stepper.step_count == int((clip - 0.2) / STEP_TIME + 1e-6)


def test_the_cache_size_is_set_and_remembered(fresh, qtbot):
    stage = Stage(fresh, qtbot)
    stage.play(STEPS)
    runner = fresh.client.runner
    with fresh.viewport.gl_current():
        runner.cache.flush()
    assert len(runner.cache.history.cached) == STEPS
    fresh.client.runner.cache.limit(runner.cache.store.used // 3)
    assert 0 < len(runner.cache.history.cached) <= STEPS // 3 + 1
    fresh.preferences.change("simulation", cache_limit=CacheBudget.LARGE)
    assert runner.cache.store.wanted == 8 * 1024**3
    assert app_settings().value("simulation/cache_limit") == "8 GiB"
    fresh.preferences.change("simulation", cache_limit=CacheBudget.USUAL)


@pytest.mark.parametrize("by", ["key", slow("escape"), slow("button"), slow("scrub"), "remove"])
def test_playing_waits_for_missing_steps(stage, monkeypatch, by):
    window, playback = stage.editor.window, stage.playback
    monkeypatch.setattr("sinew.app.tasks.TURN", 0.0)
    playback.scrub(0.9)
    window.actions_table["play.toggle"].trigger()
    assert not stage.seek.busy, "it begins with the next turn"
    stage.qtbot.waitUntil(lambda: stage.seek.busy and stage.seek.progress[0] >= 3, timeout=60000)
    assert playback.is_waiting
    assert not playback.playhead.playing
    assert playback.playhead.time == 0.9
    assert window.actions_table["play.toggle"].iconText() == "Pause"
    assert window._cancel.text() == "Stop Waiting"
    act = {
        "key": window.actions_table["play.toggle"].trigger,
        "escape": lambda: QTest.keyClick(window, Qt.Key.Key_Escape),
        "button": window._cancel.click,
        "scrub": lambda: playback.scrub(0.8),
        "remove": lambda: stage.document.remove_nodes([stage.cloth, stage.sparks, stage.burst]),
    }[by]
    act()
    stage.qtbot.waitUntil(lambda: not stage.seek.busy, timeout=60000)
    assert not playback.is_waiting
    assert not playback.playhead.playing
    assert playback.playhead.time == (0.8 if by == "scrub" else 0.9)
    assert window.actions_table["play.toggle"].iconText() == "Play"
    assert window._bar.isHidden()
    if by in ("key", "escape", "button"):
        runner = stage.editor.client.runner
        assert [runner.mark(step) is not None for step in (1, 2, 3)] == [True] * 3, "its steps stay cached"


def test_playing_that_waits_goes_on_after_edits(stage, monkeypatch):
    playback = stage.playback
    monkeypatch.setattr("sinew.app.tasks.TURN", 0.0)
    playback.scrub(0.2)
    playback.toggle()
    stage.qtbot.waitUntil(lambda: stage.seek.busy and stage.seek.progress[0] >= 3, timeout=60000)
    for thickness in (0.02, 0.03, 0.04):
        stage.document.set_value(ParamRef(stage.cloth, "cloth", "thickness"), thickness)
        assert playback.is_waiting
    stage.qtbot.waitUntil(lambda: not playback.is_waiting, timeout=60000)
    assert playback.playhead == Playhead(pytest.approx(0.2), playing=True)
    playback.pause()


def test_playing_begins_at_the_last_missing_step(stage):
    stage.playback.scrub(0.2)
    with stage.qtbot.waitSignal(stage.seek.ended, timeout=60000) as ended:
        stage.playback.toggle()
    assert ended.args == ["Simulated 12 steps, 0.20 s"]
    assert stage.playback.playhead == Playhead(pytest.approx(0.2), playing=True)
    assert not stage.playback.is_waiting
    stage.playback.pause()


def test_a_failed_simulation_ends_waiting(stage, monkeypatch):
    runner, failures = stage.editor.client.runner, []
    monkeypatch.setattr(type(runner), "advance", lambda *_: 1 / 0)
    stage.editor.tasks.failed.connect(failures.append)
    stage.playback.scrub(0.5)
    with stage.qtbot.waitSignal(stage.seek.ended, timeout=60000):
        stage.playback.toggle()
    assert failures == ["ZeroDivisionError: division by zero"]
    assert not stage.playback.is_waiting
    assert stage.playback.playhead == Playhead(0.5)
