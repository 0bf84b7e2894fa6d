"""Whole steps of one object, without force fields and with sixteen of them."""

import itertools
from functools import partial

import msgspec

from sinew.sim.bench import cloth, hair, particles
from sinew.sim.bench.runner import GpuBench, Row
from sinew.sim.fields.state import FieldType
from sinew.sim.kinds.field.settings import FieldSettings
from sinew.sim.kinds.hair.settings import HairSolver
from sinew.sim.run.engine import Engine
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import Settings
from sinew.sim.scene.scene import Node, Scene

PLAIN = (FieldType.WIND, FieldType.ATTRACTOR, FieldType.VORTEX, FieldType.DRAG)

WEAK = FieldSettings(speed=0.1, strength=0.1, circulation=0.1, drag=0.01)
"""Too weak to move anything far."""

VARIANTS: dict[str, tuple[FieldType, ...]] = {
    "none": (),
    "16 fields": PLAIN * 4,
    "16 fields, 4 of them turbulence": (*PLAIN * 3, *(FieldType.TURBULENCE,) * 4),
}


def field_rows(bench: GpuBench, size: int) -> list[Row]:
    """`size` is a number of particles or points of strands."""
    subjects: dict[str, Settings] = {
        "fields on cloth": cloth.bench_settings(round(size**0.5)),
        "fields on hair": hair.bench_settings(max(size // 11, 1), solver=HairSolver.ROD, bending_length=0.05),
        "fields on particles": particles.stream_settings(size),
    }
    rows = []
    for system, settings in subjects.items():
        steps = {}
        for variant, types in VARIANTS.items():
            fields = [
                Node(id=f"field {number}", settings=msgspec.structs.replace(WEAK, type=one))
                for number, one in enumerate(types)
            ]
            engine, times = bench.owns(Engine(bench.context, bench.library)), itertools.count(1)
            engine.apply(Scene(nodes=(Node(id="subject", settings=settings), *fields)))
            step = steps[variant] = partial(_step, engine, times)
            for _ in range(particles.LIFE):
                step()
        rows += bench.rows(steps, system=system, size=size, unit="particles", steps=10)
    return rows


def _step(engine: Engine, times: "itertools.count[int]") -> None:
    engine.step(next(times) * STEP_TIME)
