"""Writing in a process of its own, for libraries that end theirs, or never end, when a disk fills.

The process holds the recording as a copy.
"""

import contextlib
import importlib
import os
import pickle
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from sim.export.failures import is_full
from sim.export.scene.recording import SceneRecording

PATIENCE = 5.0
"""How long a disk may be full before writing is given up [s]."""

PERIOD = 0.02
START = "from sim.export.scene.per_node import serve; serve()"


def write_apart(writer: Callable[..., None], recording: SceneRecording, files: tuple[Path, ...]) -> None:
    """Runs `writer(recording, files)`, a function of a module, elsewhere; characters are not handed on.

    Raises:
        RuntimeError: If it fails, with what it said; or if the disk stays full.
    """
    unused: dict[str, Any] = {"rig": None, "materials": (), "normals": None, "tangents": None}
    plain = replace(recording, tracks=tuple(replace(one, **unused) for one in recording.tracks))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with tempfile.TemporaryFile() as said:
        command = [sys.executable, "-c", START]
        process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=said, stderr=said)
        assert process.stdin is not None
        try:
            with contextlib.suppress(BrokenPipeError), process.stdin as pipe:
                pickle.dump((writer.__module__, writer.__name__, plain, files), pipe)
            status = _watched(process, files[0])
        finally:
            process.kill()
            process.wait()
        if status:
            said.seek(0)
            raise RuntimeError(said.read().decode(errors="replace") or f"writing ended with status {status}")


def serve() -> None:
    """Does what standard input says; the process ends without tidying up, which is what such libraries fail at."""
    module, name, recording, files = pickle.load(sys.stdin.buffer)
    try:
        getattr(importlib.import_module(module), name)(recording, files)
    except Exception:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


def _watched(process: "subprocess.Popen[Any]", path: Path) -> int:
    """Its exit status; a process that goes on where there is no room is ended."""
    full_since = None
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(PERIOD)
        now = time.monotonic()
        full_since = (full_since or now) if is_full(path) else None
        if full_since is not None and now - full_since > PATIENCE:
            raise RuntimeError("no room left")
