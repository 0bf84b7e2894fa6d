"""A process killed at any moment of saving leaves the old or the new project, complete."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SAVER = """
import os, random, signal, sys, time
from pathlib import Path
from app.project_file import load_project, save_project
from sim.scene import LightSettings, Node, Scene
from sim.view_state import ViewState

path = Path(sys.argv[1])
chance = random.Random(20)

def scene(count):
    return Scene(nodes=tuple(Node(id=f"light-{n}", name=f"light {n}", light=LightSettings()) for n in range(count)))

KINDS = [scene(3), scene(60)]
save_project(path, KINDS[0], ViewState())
litter = 0
seen = set()
for turn in range(200):
    child = os.fork()
    if child == 0:
        while True:
            for kind in KINDS:
                save_project(path, kind, ViewState())
    time.sleep(chance.uniform(0.0005, 0.012))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    loaded = load_project(path).scene
    assert loaded in KINDS, len(loaded.nodes)
    seen.add(KINDS.index(loaded))
    litter = max(litter, len(os.listdir(path.parent)) - 1)
assert seen == {0, 1}, "both projects must have been met"
assert litter == 1, litter
save_project(path, KINDS[0], ViewState())
print(os.listdir(path.parent))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kills forked processes")
def test_two_hundred_kills_lose_nothing(tmp_path: Path, repo_root: Path):
    result = subprocess.run(
        [sys.executable, "-c", SAVER, str(tmp_path / "a.sinew")],
        cwd=repo_root,
        env={**os.environ, "PYTHONPATH": str(repo_root)},
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "['a.sinew']"
