"""A bake of one driver is shown bit-identical, and verified, by the editor on another driver."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from sinew import resources
from sinew.sim.scene.scene import PLAYBACK, ParamRef

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(1800)]
LAST = 24  # steps that are baked: the other driver is slow


def test_a_baked_cape_is_bit_identical_on_another_driver(session, qtbot, tmp_path):
    for folder in ("models", "projects"):
        shutil.copytree(resources.path(folder), tmp_path / folder)
    project = tmp_path / "projects" / "cape.sinew"
    editor = session.open(project, drawn=True)
    editor.document.set_value(ParamRef(PLAYBACK, PLAYBACK, "end"), LAST // 2)
    with qtbot.waitSignal(editor.baking.ended, timeout=120000) as ended:
        editor.baking.start()
    assert ended.args == [f"Baked {LAST} steps of 1 node"]
    assert editor.files.save_to(project)
    session.close(editor)
    environment = {**os.environ, "GALLIUM_DRIVER": "softpipe", "SINEW_CONFIG_DIR": str(tmp_path / "other")}
    command = [sys.executable, "-m", "tests.gui.other_driver", str(project), "cape"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    reported = json.loads(done.stdout.splitlines()[-1])
    if "softpipe" not in reported["renderer"]:
        pytest.skip("there is no softpipe here")
    assert all(reported["identical"]), reported["identical"]
    assert reported["played"] >= LAST // 2
    assert reported["simulated"] == 0
    assert not reported["stale"]
    command = [sys.executable, "-m", "sinew", "verify", str(project)]
    verified = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert verified.returncode == 1
    line = verified.stderr.strip().splitlines()[-1]
    assert "is the first that differs, by 0.0" in line
    assert reported["verified"].removeprefix("Bake verified: ") in line, "the editor reports the same numbers"
    assert any("baked on llvmpipe" in text and "replayed on softpipe" in text for text in reported["messages"])
