"""Time to compile the shaders of a scene: at the first start, and with the caches of the driver and the program.

Each measurement is the processor time of a process of its own; shader caches of drivers start in empty folders.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from sinew.sim.bench.runner import Row, row_of
from sinew.sim.gl.context import Context
from sinew.sim.gl.task import finish
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.kinds.field.settings import FieldSettings
from sinew.sim.kinds.hair.settings import HairSettings, HairSource
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.run.engine import Engine
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Node, Scene

CACHES = ("MESA_SHADER_CACHE_DIR", "__GL_SHADER_DISK_CACHE_PATH")
"""Environment variables for the cache folders of drivers."""

FEWER = 5
"""Divisor of the number of repetitions, as compiling is slow."""

SCENE = Scene(
    nodes=tuple(
        Node(id=settings.kind, settings=settings)
        for settings in (
            LightSettings(),
            ColliderSettings(),
            ClothSettings(columns=16, rows=16),
            EmitterSettings(capacity=500),
            HairSettings(source=HairSource.ELLIPSOID, guides=100, children=200),
        )
    )
)


def compile_rows(repeat: int) -> list[Row]:
    """Measures compiling; raises subprocess.CalledProcessError if a process fails, for instance without OpenGL."""
    taken: dict[str, list[float]] = {}
    count = 0
    for _ in range(max(repeat // FEWER, 1)):
        with tempfile.TemporaryDirectory() as name:
            driver, programs = Path(name) / "driver", Path(name) / "programs"
            first, _ = _started(driver, programs)
            taken.setdefault("first start", []).append(first)
            windy, _ = _started(driver.with_name("driver with a field"), None, has_field=True)
            taken.setdefault("first start with a force field", []).append(windy)
            for number, (variant, has_caches, binaries) in enumerate(
                (
                    ("second start", True, programs),
                    ("second start, driver's cache alone", True, None),
                    ("second start, program binaries alone", False, programs),
                )
            ):
                caches = driver.with_name(f"driver {number}")  # a copy, since each start adds to it
                if has_caches:
                    shutil.copytree(driver, caches)
                seconds, count = _started(caches, binaries)
                taken.setdefault(variant, []).append(seconds)
    return [row_of("compile", variant, count, "programs", seconds) for variant, seconds in taken.items()]


def _started(caches: Path, binaries: Path | None, *, has_field: bool = False) -> tuple[float, int]:
    """Returns the processor time [s] in a new process, and its number of programs."""
    caches.mkdir(exist_ok=True)
    work = f"from sinew.sim.bench.compile import start; start({has_field})"
    command = [sys.executable, "-c", work, *([str(binaries)] if binaries is not None else [])]
    environment = {**os.environ, **dict.fromkeys(CACHES, str(caches)), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    seconds, count = json.loads(done.stdout)
    return seconds, count


def start(has_field: bool = False) -> None:
    """Prints the result of `_started` after the first steps and the image of the scene."""
    with Context.headless() as context:
        if len(sys.argv) > 1:
            context.keep_binaries(Path(sys.argv[1]))
        begun = time.process_time()
        engine = Engine(context)
        field = Node(id="force field", settings=FieldSettings())
        engine.apply(msgspec.structs.replace(SCENE, nodes=(*SCENE.nodes, field)) if has_field else SCENE)
        engine.restart(0.0)
        for step in range(3):
            engine.step((step + 1) * STEP_TIME)
            engine.refresh(float(step))
        render_view = engine.render_view(Camera())
        finish(engine.pictures.shader_warmup.play_all(render_view))
        while engine.pictures.shader_warmup.play(render_view):
            context.finish()
        context.finish()
        seconds = time.process_time() - begun
        print(json.dumps((seconds, sum(label.startswith("Program:") for label in context.live))))
        engine.release()
