"""Files that took gigabytes or minutes are read, or refused with their reason, within bounds of time and memory."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPO_ROOT

CPU_SECONDS = 10.0
"""Five times what is allowed, for machines that are busy."""

PEAK_BYTES = 500 << 20

PEAK = """
import atexit, pathlib
atexit.register(lambda: print(pathlib.Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]))
"""
"""Tells the most memory [KiB] as the last line; what the system adds up for a child begins with its parent's."""

INFO = "import sys; from sinew.app.cli.main import main; sys.exit(main(['info', sys.argv[1]]))"
IMAGE = "import sys, pathlib; from sinew.sim.assets.images import load_image; load_image(pathlib.Path(sys.argv[1]))"
PINS = """
import sys
from pathlib import Path
from sinew.app.files.project_file import load_project
from sinew.sim.kinds.cloth.pins import pin_flags, toggled_pin_list
cloth = next(node.settings for node in load_project(Path(sys.argv[1])).scene.nodes if node.kind == "cloth")
flags = pin_flags(cloth.pins, cloth.pin_list, 1156, None)
print(flags.sum(), toggled_pin_list(cloth.pin_list, flags, [3]))
"""

READ = {
    "anim_bomb_235KB_1.7GB.gltf": (INFO, "Clips (1)"),
    "anim_bomb_697KB_over9GB.gltf": (INFO, "Clips (1)"),
    "gltf/shared_vertices_many_targets.glb": (INFO, "vertices    80,000"),
    "pin_list_300chars_12GB.sinew": (PINS, "1156 0-2 4-4194304 -3"),
    "pin_list_ranges_11GB.sinew": (PINS, "1156 0-2 4-1999 -3"),
    "double_slash_path_changes_on_save.sinew": (INFO, "//host/share/x.ezm, on another machine"),
    "slow_110007.sinew": (INFO, "Files (1)"),
    "jpeg_scan_bomb_22s.jpg": (IMAGE, "has 406 scans of 8000 x 8000 pixels; allowed: 1073741824 in all"),
}
"""What reads each file, and what is told of it."""


def measured(code: str, path: Path) -> tuple[str, float, int]:
    """What a process printed, its processor time [s] and its most memory [bytes]."""
    command = [sys.executable, "-c", PEAK + code, str(path)]
    with subprocess.Popen(
        command, cwd=REPO_ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    *lines, peak = printed.splitlines()
    return "\n".join(lines), used.ru_utime + used.ru_stime, int(peak) << 10


@pytest.mark.parametrize("name", READ)
def test_a_file_has_its_outcome_within_bounds(assets: Path, tmp_path: Path, name: str) -> None:
    source = assets / "faults3" / name
    if not source.is_file():
        pytest.skip(f"{source} is absent")
    code, reported = READ[name]
    path = tmp_path / source.name
    shutil.copyfile(source, path)
    printed, seconds, peak = measured(code, path)
    assert reported in printed
    assert seconds < CPU_SECONDS
    assert peak < PEAK_BYTES


def test_every_other_model_of_the_folder_is_described(assets: Path) -> None:
    models = [path for path in sorted((assets / "faults3").rglob("*.gl*")) if "bomb" not in path.name]
    for path in models:
        printed, seconds, peak = measured(INFO, path)
        assert "Sections" in printed, path
        assert seconds < CPU_SECONDS
        assert peak < PEAK_BYTES


def test_a_project_is_described_with_little_work_beyond_imports(assets: Path, tmp_path: Path) -> None:
    """Hair whose tips are half a metre thick makes slow pictures, not slow descriptions."""
    source = assets / "faults3" / "slow_110007.sinew"
    if not source.is_file():
        pytest.skip(f"{source} is absent")
    path = tmp_path / source.name
    shutil.copyfile(source, path)
    code = "import sys, time; from sinew.app.cli import info; from sinew.app.cli.main import main"
    code += "; begun = time.process_time(); main(['info', sys.argv[1]]); print(time.process_time() - begun)"
    printed, _, peak = measured(code, path)
    assert float(printed.splitlines()[-1]) < 2.0
    assert peak < PEAK_BYTES
