"""Cloths of lines with random settings within their hard limits stay finite and do not fly about."""

import math
import os
from typing import Any

import msgspec
import numpy as np
import pytest

from sinew.sim.colliders.pack import arranged
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.maps import RANGES, packed
from sinew.sim.kinds.cloth.model import build_cloth
from sinew.sim.kinds.cloth.settings import ClothMode, ClothSettings, ClothSolving, ClothSource, PinPreset
from sinew.sim.kinds.cloth.solver import HAND_REACH, ClothInputs
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import SettingsError, params_of
from tests.conftest import campaign, slow
from tests.gl.cloth.cloth_cases import collider_inputs
from tests.gl.cloth.test_cloth_reference import colliders, uneven_surface

SAMPLES = int(os.environ.get("SINEW_CAMPAIGN", "60"))
"""2 000 in a campaign, with more steps."""

FLOOR = -1.0
"""Height of the plane among the colliders [m]."""

STEPS = 12 if SAMPLES <= 60 else 60

_FIXED = {
    "source", "mode", "solver", "columns", "rows", "width", "height", "mesh_path", "mesh_section", "pin_list",
    "pin_bone", "pin_target", "texture", "colour", "look", "gravity", "wind", "stretch_limit", "turbulence_seed",
    "substeps", "pressure",
}  # fmt: skip


def walked(random: np.random.Generator) -> ClothSettings:
    values: dict[str, Any] = {}
    for record in params_of(ClothSettings):
        declared = record.declared
        if record.name in _FIXED or random.random() < 0.5:
            continue
        if record.type is bool:
            values[record.name] = bool(random.integers(2))
        elif record.type is float:
            lo, hi = float(declared.lo or 0.0), float(declared.hi or 1.0)
            if lo <= 0.0 and random.random() < 0.15:
                values[record.name] = lo
            else:
                values[record.name] = float(math.exp(random.uniform(math.log(max(lo, 1e-7 * hi)), math.log(hi))))
    mesh = random.random() < 0.3
    width = float(10.0 ** random.uniform(-2.0, 2.0))
    return ClothSettings(
        **values,
        solver=ClothSolving.LINES,
        mode=ClothMode.MATERIAL,
        source=ClothSource.MESH if mesh else ClothSource.GRID,
        pin_list="0 3-5" if mesh else "",
        pins=random.choice(list(PinPreset)),
        columns=int(random.integers(2, 21)),
        rows=int(random.integers(2, 21)),
        width=width,
        height=width * float(10.0 ** random.uniform(-1.5, 1.5)),
        substeps=int(2 ** random.integers(0, 6)),
        gravity=tuple(random.normal(scale=10.0, size=3).tolist()),
        wind=tuple(random.normal(scale=10.0 ** random.uniform(-1.0, 1.5), size=3).tolist()),
        stretch_limit=1000.0,
    )


def painted(settings: ClothSettings, random: np.random.Generator) -> ClothSettings:
    """A quarter of the cloths have maps, of their extremes too."""
    if random.random() < 0.75:
        return settings
    topology = build_cloth(settings, uneven_surface()).topology(np.eye(4))
    values = {}
    for one, allowed in RANGES.items():
        if random.random() < 0.5:
            chosen = [allowed.lo, allowed.neutral, min(allowed.hi, 100.0)]
            values[one] = np.where(
                random.random(len(topology.places)) < 0.5, allowed.neutral, random.choice(chosen, len(topology.places))
            )
    return msgspec.structs.replace(settings, maps=packed(values, topology))


@pytest.mark.parametrize(
    ("part", "samples"),
    [(0, 8), slow(0, SAMPLES // 4), slow(1, SAMPLES // 4), *(campaign(n, SAMPLES // 4) for n in (2, 3))],
)
def test_any_settings_stay_finite(context: Context, library: ShaderLibrary, part: int, samples: int) -> None:
    random = np.random.default_rng(100 + part if SAMPLES <= 60 else 200 + part)
    states, layout = arranged(colliders())
    for sample in range(samples):
        settings = walked(random)
        grabbed = int(random.integers(-1, 4))
        hand = random.normal(size=3)
        try:
            cloth = Cloth(context, library, painted(settings, random), uneven_surface())
        except SettingsError:
            continue
        shared, buffer = collider_inputs(context, states, layout, settings)
        for step in range(STEPS):
            x, y, z = (hand * math.sin(step)).tolist()
            cloth.step(ClothInputs(shared.colliders if sample % 2 else ClothInputs().colliders, grabbed, (x, y, z)))
        statistics = cloth.check()
        velocities = cloth.velocities()
        about = f"{part}, {sample}: {statistics}, {cloth.stopped}, {settings}"
        assert statistics.is_finite, about
        # What gravity, wind, colliders and the hand can give, with whips.
        hand_speed = HAND_REACH * float(np.median(cloth.model.springs.rest)) / settings.substep_time
        most = (
            60.0
            + 2.0 * np.linalg.norm(settings.gravity) * STEP_TIME * STEPS
            + 10.0 * (np.linalg.norm(settings.wind) + settings.turbulence)
            + 2.0 * cloth.model.extent / STEP_TIME
            + 10.0 * hand_speed
        )
        # Pins below the floor pull threads to many times their length, with any speed that such an energy gives.
        if sample % 2 and (cloth.model.positions[cloth.held, 1] < FLOOR).any():
            most = np.inf
        assert np.abs(velocities).max() < most, about
        cloth.release()
        buffer.release()
        assert shared.colliders.texture is not None
        shared.colliders.texture.release()
