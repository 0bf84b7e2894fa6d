import json

import pytest

from tests.conftest import slow
from tests.processes import finished

CHILD = """
import json, os, sys
from sinew.app.session import bootstrap
from PySide6.QtCore import QEventLoop, Qt, QTimer
from sinew.app.editor.editor import Editor

def wait(time):
    loop = QEventLoop()
    QTimer.singleShot(time, loop.quit)
    loop.exec()

def start(act):
    app = bootstrap.application()
    editor = Editor()
    window, docks = editor.window, editor.window.docks
    window.show()
    wait(500)
    if act == "arrange":
        window.resize(1300, 840)
        docks["outliner"].hide()
        docks.reveal("timings")
        wait(100)
        window.resizeDocks([docks["inspector"]], [401], Qt.Orientation.Horizontal)
        wait(500)
    if act == "close":
        docks["timings"].hide()
        wait(500)
    places = {name: [not docks[name].isHidden(), docks[name].width()] for name in ("outliner", "inspector", "timings")}
    found = {"window": [window.width(), window.height()], "scale": window.devicePixelRatioF(), **places}
    print(json.dumps(found), flush=True)
    window.close()

for scale, act in json.loads(sys.argv[1]):  # modules are imported once
    if os.fork() == 0:
        os.environ["QT_SCALE_FACTOR"] = str(scale)
        start(act)
        os._exit(0)
    assert os.wait()[1] == 0
"""


@pytest.mark.parametrize("count", [2, slow(4)])
def test_a_layout_survives_a_start_at_another_scale(tmp_path, count):
    starts = [(1, "arrange"), (1.5, "close"), (1, ""), (1.5, "")][:count]
    status, out, err = finished("-c", CHILD, json.dumps(starts), SINEW_CONFIG_DIR=str(tmp_path))
    assert status == 0, err
    found = [json.loads(line) for line in out.splitlines()]
    assert [one.pop("scale") for one in found] == [scale for scale, _ in starts]
    arranged, larger, *later = found
    assert arranged == {"window": [1300, 840], "outliner": [False, arranged["outliner"][1]], "inspector": [True, 401],
                        "timings": [True, 1300]}  # fmt: skip
    assert (larger["outliner"][0], larger["inspector"][0]) == (False, True), "as it was left, as far as there is room"
    assert larger["inspector"][1] <= 0.4 * larger["window"][0]
    if later:
        again, cached = later
        again["outliner"] = arranged["outliner"] = again["outliner"][0]
        assert again == arranged
        assert cached["timings"][0] is False, "every scale has its own"
