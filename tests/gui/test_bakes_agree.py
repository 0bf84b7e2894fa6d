"""The viewport, all commands and Python show and write the same: a node's bake if it is set to show it."""

import shutil

import numpy as np
import pytest
from PIL import Image

import sinew
from sinew.app.cli.main import main
from sinew.app.output.window import EXPORT
from sinew.app.project.project_file import cache_folder, save_project
from sinew.app.session.job_queue import DONE
from sinew.sim.export.scene.points_file import read_pc2
from sinew.sim.kinds.cloth.settings import ClothPlacement, ClothSettings
from sinew.sim.scene.playback import PlaybackSettings
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.view_state import ViewState
from tests.conftest import slow
from tests.gui.editor_harness import Session, messages, picture, positions

STEPS, PART, SIZE = 12, 6, "96x64"
NOTES = {
    "current": "Sheet: bake of 12 steps",
    "outdated": "Sheet: bake of 12 steps, other settings",
    "missing": "",
    "partial": "Sheet: bake of 6 steps, other settings",
}


def save(path, wind, *, baked):
    settings = ClothSettings(columns=8, rows=8, substeps=8, placement=ClothPlacement.HANGING, wind=(0.0, 0.0, wind))
    node = Node(id="c", name="Sheet", settings=settings, baked=baked)
    save_project(path, Scene(nodes=(node,), playback=PlaybackSettings(end=STEPS // 2)), ViewState())


def simulated(project, *options):
    """Positions of all steps, as the command writes them without a number of steps."""
    output = project.with_name("simulated.npz")
    assert main(["simulate", str(project), "--output", str(output), *options]) == 0
    with np.load(output) as arrays:
        return arrays["Sheet.positions"]


def exported(project, *options):
    output = project.with_name("exported.pc2")
    assert main(["export", str(project), "--output", str(output), *options]) == 0
    (node,) = read_pc2((output,))
    return np.array(node.positions)


@pytest.fixture
def plain(tmp_path):
    """Positions with wind 2 and with wind 5, each simulated from the start."""
    found = {}
    for wind in (2.0, 5.0):
        save(tmp_path / "plain.sinew", wind, baked=False)
        found[wind] = simulated(tmp_path / "plain.sinew")
        assert len(found[wind]) == STEPS + 1, "the range of the scene"
    return found


@pytest.mark.parametrize("state", ["partial", *(slow(one) for one in NOTES if one != "partial")])
def test_everything_shows_the_same_steps(fresh, qtbot, tmp_path, plain, capfd, state):
    project = tmp_path / "a.sinew"
    save(project, 2.0, baked=False)
    baked = PART if state == "partial" else STEPS
    assert main(["simulate", str(project), "--steps", str(baked), "--cache", "--output", str(tmp_path / "b.npz")]) == 0
    save(project, 2.0 if state == "current" else 5.0, baked=True)
    if state == "missing":
        shutil.rmtree(cache_folder(project))
    capfd.readouterr()
    shown = simulated(project)
    said = capfd.readouterr()
    expected = plain[5.0 if state == "missing" else 2.0]
    upto = baked + 1
    np.testing.assert_array_equal(shown[:upto], expected[:upto])
    assert (state == "partial") == bool((shown[upto:] != plain[2.0][upto:]).any())
    assert (shown[STEPS] != plain[5.0][STEPS]).any() == (state != "missing")
    assert NOTES[state] in said.out
    assert ("bake of" in said.out) == bool(NOTES[state])
    assert ("its baked steps are missing; it is simulated" in said.err) == (state == "missing")

    np.testing.assert_array_equal(exported(project), shown)
    said = capfd.readouterr()
    assert NOTES[state] in said.out
    assert ("its baked steps are missing; it is simulated" in said.err) == (state == "missing")
    np.testing.assert_array_equal(exported(project, "--frames", "0:4"), shown[:5])
    output = tmp_path / "drawn.png"
    drawing = ["render", str(project), "--frames", str(STEPS), "--size", SIZE, "--output", str(output)]
    assert main(drawing) == 0
    assert NOTES[state] in capfd.readouterr().out
    drawn = np.asarray(Image.open(output))
    with sinew.open(project) as python:
        np.testing.assert_array_equal(python.record(steps=STEPS)["Sheet.positions"], shown)
        np.testing.assert_array_equal(python.render(size=(96, 64), time=STEPS / 60), drawn)
        python.export(tmp_path / "python.pc2")
        np.testing.assert_array_equal(read_pc2((tmp_path / "python.pc2",))[0].positions, shown)
        python.export(tmp_path / "again.pc2", simulate=True)
        settings = plain[2.0 if state == "current" else 5.0]
        np.testing.assert_array_equal(read_pc2((tmp_path / "again.pc2",))[0].positions, settings)
    assert NOTES[state] in capfd.readouterr().out
    np.testing.assert_array_equal(exported(project, "--simulate"), settings)
    np.testing.assert_array_equal(simulated(project, "--simulate"), settings)
    assert "bake of" not in capfd.readouterr().out
    assert main([*drawing, "--simulate"]) == 0
    assert (np.asarray(Image.open(output)) != drawn).any() == (state in ("outdated", "partial"))

    Session(qtbot).load(fresh, project)
    with qtbot.waitSignal(fresh.seek.ended, timeout=60000):
        fresh.seek.start(STEPS / 60)
    for step in (STEPS, 3, PART, PART + 1):
        fresh.playback.scrub(step / 60)
        picture(fresh)
        np.testing.assert_array_equal(positions(fresh, "c"), shown[step])
    fresh.features["playing"].shown_line.refresh()
    assert (
        fresh.window.docks["timeline"].windowTitle()
        == {
            "current": "Timeline – bake",
            "outdated": "Timeline – Sheet: bake of other settings",
            "missing": "Timeline – simulated",
            "partial": "Timeline – Sheet: bake of other settings",
        }[state]
    )
    window = fresh.output.window
    assert window.bakes.lines.text() == NOTES[state]
    window.show_page(1)
    window.files[EXPORT].set_text(str(tmp_path / "job.pc2"))
    assert window.format.name.startswith("PC2")
    window.export_button.click()
    qtbot.waitUntil(lambda: not fresh.output.queue.busy, timeout=240000)
    (job,) = fresh.output.queue.jobs[-1:]
    assert job.state == DONE
    assert NOTES[state] in job.text
    np.testing.assert_array_equal(read_pc2((tmp_path / "job.pc2",))[0].positions, shown)
    assert any("its baked steps are missing" in line for line in messages(fresh)) == (state == "missing")
    window.close()
