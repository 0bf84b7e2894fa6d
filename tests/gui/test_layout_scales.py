import json

import pytest

from tests.processes import finished

CHILD = """
import json, sys
from sinew.app import bootstrap
app = bootstrap.application()
from PySide6.QtCore import QEventLoop, Qt, QTimer
from sinew.app.editor.editor import Editor

def wait(time):
    loop = QEventLoop()
    QTimer.singleShot(time, loop.quit)
    loop.exec()

editor = Editor()
window, docks = editor.window, editor.window.docks
window.show()
wait(500)
if "arrange" in sys.argv:
    window.resize(1300, 840)
    docks["outliner"].hide()
    docks.reveal("timings")
    wait(100)
    window.resizeDocks([docks["inspector"]], [401], Qt.Orientation.Horizontal)
    wait(500)
if "close" in sys.argv:
    docks["timings"].hide()
    wait(500)
places = {name: [not docks[name].isHidden(), docks[name].width()] for name in ("outliner", "inspector", "timings")}
print(json.dumps({"window": [window.width(), window.height()], "scale": window.devicePixelRatioF(), **places}))
window.close()
"""


@pytest.fixture
def start(tmp_path):
    def run(scale, *words):
        status, out, err = finished("-c", CHILD, *words, SINEW_CONFIG_DIR=str(tmp_path), QT_SCALE_FACTOR=str(scale))
        assert status == 0, err
        found = json.loads(out.splitlines()[-1])
        assert found.pop("scale") == scale
        return found

    return run


def test_a_layout_survives_a_start_at_another_scale(start):
    arranged = start(1, "arrange")
    assert arranged == {"window": [1300, 840], "outliner": [False, arranged["outliner"][1]], "inspector": [True, 401],
                        "timings": [True, 1300]}  # fmt: skip
    larger = start(1.5, "close")
    assert (larger["outliner"][0], larger["inspector"][0]) == (False, True), "as it was left, as far as there is room"
    assert larger["inspector"][1] <= 0.4 * larger["window"][0]
    again = start(1)
    again["outliner"] = arranged["outliner"] = again["outliner"][0]
    assert again == arranged
    cached = start(1.5)
    assert cached["timings"][0] is False, "every scale has its own"
