"""Programs of Node.js that open files we have written; their packages come from npm once per session."""

import functools
import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

PACKAGES = ("gltf-validator@2.0.0-dev.3.10", "three@0.180.0", "@pixiv/three-vrm@3.5.5", "typescript@5.9.3")
PROGRAMS = Path(__file__).parent / "data"


@functools.cache
def installed() -> Path | None:
    """Returns the folder that has the packages; None if they cannot be had."""
    if shutil.which("npm") is None:
        return None
    folder = Path(tempfile.mkdtemp(prefix="sinew-node-"))
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    command = ["npm", "install", "--silent", "--no-audit", "--no-fund", *PACKAGES]
    is_done = subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=300).returncode == 0
    return folder if is_done else None


def run_node(program: str, *arguments: Any) -> Any:
    """Returns the JSON that a program of `tests/data` prints; skips without Node.js or its packages."""
    if (folder := installed()) is None:
        pytest.skip("needs npm with its packages")
    shutil.copy(PROGRAMS / program, folder / program)
    made = subprocess.run(
        ["node", program, *map(str, arguments)], cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    assert made.returncode == 0, made.stderr
    return json.loads(made.stdout)
