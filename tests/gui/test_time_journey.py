"""A cape through two strips with a blend, as a new user does it, up to its bake on another driver."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from sinew import resources
from sinew.app.files.project_file import cache_folder
from sinew.sim.cache.bake import Bake
from sinew.sim.kinds.contract import System
from sinew.sim.scene.playback import LoopMode
from sinew.sim.scene.scene import PLAYBACK, VIEW, ParamRef
from sinew.sim.scene.view_state import Selection
from tests.gui.editor_harness import Mouse, picture
from tests.gui.other_driver import THEMES

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(1800)]
LAST = 48
"""Steps that are baked: few, as the other driver simulates four seconds in a minute."""

FRAMES = (3, 20, 11, 7, 23)


def scrub(editor, frame):
    """A press on the ruler, where a frame is."""
    ruler = editor.timeline.ruler
    mouse, place = Mouse(ruler), QPointF(ruler.scale.x_of(frame / 30.0), 4.0)
    mouse.press(place)
    mouse.release(place)
    assert editor.playback.playhead.time == pytest.approx(frame / 30.0, abs=ruler.scale.seconds_per_pixel)
    editor.playback.scrub(frame / 30.0)
    return picture(editor)


def key(editor, name, modifiers=Qt.KeyboardModifier.NoModifier):
    editor.window.activateWindow()
    editor.viewport.setFocus()
    while not editor.window.isActiveWindow():
        QApplication.processEvents()
    QTest.keyClick(editor.viewport, name, modifiers)


def shots(editor, folder, name):
    for theme in THEMES:
        editor.window.actions_table[f"theme.{theme}"].trigger()
        picture(editor)
        editor.window.grab().save(str(folder / f"{name}-{theme}.png"))


def test_a_cape_through_two_strips_goes_to_another_driver(session, qtbot, tmp_path):
    for folder in ("models", "projects"):
        shutil.copytree(resources.path(folder), tmp_path / folder)
    project = tmp_path / "projects" / "cape.sinew"
    editor = session.open(project, new_window_layout=True)
    editor.window.resize(1280, 800)
    character, cape = editor.document.scene.characters[0].id, "cape"
    document, playback, table = editor.document, editor.playback, editor.window.actions_table

    # two strips that overlap, the second one dragged to the left, over the first one
    editor.strips.add(character, "wave")
    editor.timeline.fit()
    tracks = editor.timeline.tracks
    place = tracks.place_of(character, 1).center()
    mouse = Mouse(tracks)
    away = document.scene.node(character).settings.strips[1].start - 0.4
    mouse.drag(place, place - QPointF(away / editor.timeline.ruler.scale.seconds_per_pixel, 0.0))
    first, second = document.scene.node(character).settings.strips
    assert second.start == pytest.approx(0.4, abs=0.05)
    assert second.start < first.end(1.0), "they blend"
    document.set_values(
        {ParamRef(PLAYBACK, PLAYBACK, "end"): LAST // 2, ParamRef(PLAYBACK, PLAYBACK, "loop"): LoopMode.ONCE}
    )
    editor.timeline.fit()

    # played to the end, then scrubbed back and forth
    key(editor, Qt.Key.Key_Home)
    playback.scrub(0.0)
    key(editor, Qt.Key.Key_Space)
    assert playback.playhead.playing
    qtbot.waitUntil(lambda: not playback.playhead.playing, timeout=60000)
    picture(editor)
    runner = editor.client.runner
    with editor.viewport.gl_current():
        runner.cache.flush()
    assert runner.cache.history.cached[-1] >= LAST - 1
    if runner.cache.history.cached[-1] < LAST:
        playback.scrub(LAST / 60.0)
        key(editor, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
        qtbot.waitUntil(lambda: not editor.seek.busy and runner.cache.history.cached[-1] == LAST, timeout=60000)
    visited = {frame: scrub(editor, frame) for frame in FRAMES}
    assert len({shown.tobytes() for shown in visited.values()}) == len(FRAMES)
    for frame in (*reversed(FRAMES), *sorted(FRAMES)):
        assert np.count_nonzero(scrub(editor, frame) != visited[frame]) == 0, frame
    shots(editor, tmp_path, "scrubbed")

    # the stiffness changed in mid-flight, played on, and taken back
    scrub(editor, 11)
    stiffness = ParamRef(cape, "cloth", "stretch_stiffness")
    document.set_value(stiffness, 60.0)
    picture(editor)
    assert runner.cache.history.cached[-1] == 22
    shots(editor, tmp_path, "changed")
    key(editor, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: not playback.playhead.playing, timeout=60000)
    assert np.count_nonzero(scrub(editor, 23) != visited[23]) > 100
    assert np.count_nonzero(scrub(editor, 7) != visited[7]) == 0, "what was before the change is history"
    key(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert document.scene.node(cape).settings.stretch_stiffness == 150.0
    for frame in FRAMES:
        assert np.count_nonzero(scrub(editor, frame) != visited[frame]) == 0, "undo finds the steps again"

    # baked, closed, opened again
    with qtbot.waitSignal(editor.baking.ended, timeout=120000) as ended:
        table["simulate.bake"].trigger()
    assert ended.args == [f"Baked {LAST} steps of 1 node"]
    key(editor, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    assert not document.modified
    session.close(editor)
    editor = session.open(project, new_window_layout=True)
    editor.window.resize(1280, 800)
    with pytest.MonkeyPatch.context() as patch:
        for system in editor.client.engine.simulation.systems.values():
            assert isinstance(system, System)
            patch.setattr(type(system), "step", lambda *_: pytest.fail("it was simulated"))
        again = {frame: scrub(editor, frame) for frame in FRAMES}
        editor.document.set_value(ParamRef(VIEW, VIEW, "ghosts"), True)
        qtbot.waitUntil(lambda: not editor.client.ghosts.is_due and len(editor.client.ghosts._made) > 2, timeout=60000)
        shots(editor, tmp_path, "baked")
    editor.document.select(Selection())
    assert {frame for frame in FRAMES if np.count_nonzero(again[frame] != visited[frame])} == set()
    bake = Bake(cache_folder(project))
    assert bake.steps(cape) == range(1, LAST + 1)
    session.close(editor)

    # the other driver, in a process of its own
    environment = {**os.environ, "GALLIUM_DRIVER": "softpipe", "SINEW_CONFIG_DIR": str(tmp_path / "other")}
    command = [sys.executable, "-m", "tests.gui.other_driver", str(project), cape, str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    reported = json.loads(done.stdout.splitlines()[-1])
    if "softpipe" not in reported["renderer"]:
        pytest.skip("there is no softpipe here")
    assert all(is_same for _, is_same in reported["scrubbed"]), reported["scrubbed"]
    assert reported["played"][0] >= LAST // 2
    assert reported["played"][1]
    assert reported["simulated"] == 0
    assert not reported["stale"]
    assert reported["ghosts"] > 2
    command = [sys.executable, "-m", "sinew", "verify", str(project)]
    verified = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert verified.returncode == 1
    line = verified.stderr.strip().splitlines()[-1]
    assert "is the first that differs, by 0.0" in line
    assert reported["verified"].removeprefix("Bake verified: ") in line, "the window tells the same numbers"
    assert any("baked on llvmpipe" in text and "replayed on softpipe" in text for text in reported["messages"])
