"""A process killed at any moment of saving leaves the old or the new project, complete."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SAVER = """
import itertools, os, random, signal, sys, time
from pathlib import Path
from sinew.app.files.project_file import load_project, save_project
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.view_state import ViewState

path = Path(sys.argv[1])
chance = random.Random(20)

def scene(count):
    return Scene(nodes=tuple(Node(id=f"light-{n}", name=f"light {n}", settings=LightSettings()) for n in range(count)))

KINDS = [scene(3), scene(60)]

def save_for_ever(first, report):
    for turn in itertools.count(first):
        save_project(path, KINDS[turn % 2], ViewState())
        os.write(report, b".")

seen, litter, interrupted = set(), 0, 0
for turn in range(200):
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        save_for_ever(turn, write_end)
    for _ in range(chance.randint(1, 2)):
        started = time.perf_counter()
        os.read(read_end, 1)
    time.sleep(chance.uniform(0.0, 1.5) * (time.perf_counter() - started))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(read_end)
    os.close(write_end)
    loaded = load_project(path).scene
    assert loaded in KINDS, len(loaded.nodes)
    seen.add(KINDS.index(loaded))
    left = len(os.listdir(path.parent)) - 1
    litter, interrupted = max(litter, left), interrupted + left
assert seen == {0, 1}, "both projects must have been met"
assert interrupted > 0, "no kill fell into a write"
assert litter == 1, litter
save_project(path, KINDS[0], ViewState())
print(os.listdir(path.parent))
"""


@pytest.mark.slow
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
