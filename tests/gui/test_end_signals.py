import signal

import pytest

from sinew.app.files.recovery import RecoveryStore
from sinew.app.project.project_file import load_project, save_project
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.view_state import ViewState
from tests.conftest import slow
from tests.processes import started

CHILD = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from sinew.app.editor import run as module
from sinew.sim.scene.scene import ParamRef

class Edited(module.Editor):
    def __init__(self, **options):
        super().__init__(**options)
        self.files.opened.connect(lambda _: QTimer.singleShot(0, self.edit))

    def edit(self):
        if "edit" in sys.argv:
            self.document.set_value(ParamRef("l", "light", "intensity"), 3.0)
        if "dialog" in sys.argv:
            QTimer.singleShot(100, lambda: print("ready", flush=True))
            self.dialogs.unsaved("lit")
        else:
            print("ready", flush=True)

module.Editor = Edited
sys.exit(module.run_editor(Path(sys.argv[1])))
"""


@pytest.fixture
def project(tmp_path):
    path = tmp_path / "lit.sinew"
    save_project(path, Scene(nodes=(Node(id="l", name="Sun", settings=LightSettings(intensity=1.0)),)), ViewState())
    return path


def ended(project, number, *words):
    config = project.parent / "config"
    process = started("-c", CHILD, project, *words, SINEW_CONFIG_DIR=str(config))
    try:
        assert process.stdout.readline().strip() == "ready"
        process.send_signal(number)
        process.wait(60)
    finally:
        process.kill()
        process.communicate()
    store = RecoveryStore(config / "data" / "recovery")
    found = [(one.origin, load_project(one.project).scene.node("l").settings.intensity) for one in store.pending()]
    return process.returncode, found


@pytest.mark.parametrize(
    ("name", "words"), [("SIGTERM", ["edit", "dialog"]), slow("SIGHUP", ["edit"]), slow("SIGINT", [])]
)
def test_unsaved_edits_are_offered_at_the_next_start(project, name, words):
    number = getattr(signal, name)
    assert ended(project, number, *words) == (128 + number, [(project, 3.0)] if words else [])
    assert load_project(project).scene.node("l").settings.intensity == 1.0, "only the user saves the project"
