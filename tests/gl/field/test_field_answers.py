"""Closed forms of force fields at three places, scales and numbers of substeps; see tests/gl/test_known_answers.py."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from sinew.sim.fields.sampler import FieldSampler
from sinew.sim.fields.state import FieldType
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.texture import TexelBuffer
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.solver import ClothInputs
from sinew.sim.kinds.field.settings import FieldSettings, VortexProfile
from sinew.sim.kinds.particle_system import PARTICLE
from tests.conftest import slow
from tests.gl.back_ends import COMPUTE_IN_CAMPAIGN
from tests.gl.field.test_scene_fields import LINES, loose
from tests.gl.test_known_answers import PLACES, SCALES, everywhere, fields, particles, unit_of

SUBSTEPS = (1, 4, 16)
AWAY = 0.1
"""Distance of particles from the axis of a vortex, times the scale [m]."""


def wind(context: Context, library: ShaderLibrary, place: Any, scale: float, substeps: int) -> tuple[float, ...]:
    """Out of rest with a drag of 4 / s: speed and path after a second."""
    path, velocity = particles(
        context, library, place, scale, 60, substeps=substeps, gravity=(0.0, 0.0, 0.0), drag=4.0,
        acting=[FieldSettings(type=FieldType.WIND, speed=2.0 * scale)],
    )  # fmt: skip
    left = math.exp(-4.0)
    speed, way = 2.0 * scale * (1.0 - left), 2.0 * scale * (1.0 - 0.25 * (1.0 - left))
    allowed = max(1e-3, 2.0 * unit_of(place[1], place[1] + way) / way)
    return abs(velocity[1] / speed - 1.0) / 1e-3, abs(path[1] / way - 1.0) / allowed


def drag(context: Context, library: ShaderLibrary, place: Any, scale: float, substeps: int) -> tuple[float, ...]:
    """A fall in still air with a drag of 8 / s: the speed becomes g / 8."""
    path, velocity = particles(
        context, library, place, scale, 60, substeps=substeps, acting=[FieldSettings(type=FieldType.DRAG, drag=8.0)]
    )
    left = math.exp(-8.0)
    speed = 9.81 * scale / 8.0 * (1.0 - left)
    way = 9.81 * scale / 8.0 * (1.0 - (1.0 - left) / 8.0)
    allowed = max(1e-3, 2.0 * unit_of(place[1], place[1] + way) / way)
    return abs(-velocity[1] / speed - 1.0) / 1e-3, abs(-path[1] / way - 1.0) / allowed


def orbit(context: Context, library: ShaderLibrary, place: Any, scale: float, substeps: int) -> tuple[float, ...]:
    """A circle about a soft core, with a force that falls as the distance: radius, angle and speed after a second."""
    speed = scale / math.sqrt(1.04)
    path, velocity = particles(
        context, library, place, scale, 60, rises=scale, substeps=substeps, speed=speed, gravity=(0.0, 0.0, 0.0),
        acting=[FieldSettings(type=FieldType.ATTRACTOR, strength=scale**2, power=1.0, core=0.2 * scale)],
    )  # fmt: skip
    radius, angle = math.hypot(path[0], path[1]), math.atan2(path[0], path[1])
    allowed = max(2e-3, 4.0 * unit_of(place[0], place[0] + scale) / scale)
    return (
        abs(radius / scale - 1.0) / allowed,
        abs(angle - speed / scale) / allowed,
        abs(float(np.linalg.norm(velocity)) / speed - 1.0) / allowed,
    )


def vortex(context: Context, library: ShaderLibrary, place: Any, scale: float, substeps: int) -> tuple[float, ...]:
    """Out of rest in the core, which turns by 1 rad / s: z'' = c (i z - z') has exponentials as its solution."""
    core, pull, time = 0.3 * scale, 4.0, 1.5
    path, velocity = particles(
        context, library, place, scale, 90, aside=AWAY * scale, substeps=substeps, gravity=(0.0, 0.0, 0.0), drag=pull,
        acting=[FieldSettings(
            type=FieldType.VORTEX, profile=VortexProfile.RANKINE, circulation=2.0 * math.pi * core**2, core=core
        )],
    )  # fmt: skip
    roots = np.roots([1.0, pull, -1j * pull])
    shares = np.linalg.solve([[1.0, 1.0], roots], [AWAY * scale, 0.0])
    expected = shares @ np.exp(roots * time)
    speed = shares @ (roots * np.exp(roots * time))
    allowed = max(5e-3, 4.0 * unit_of(place[0], place[0] + scale) / abs(expected))
    return (
        abs(complex(path[0], -path[2]) - expected) / abs(expected) / allowed,
        abs(complex(velocity[0], -velocity[2]) - speed) / abs(speed) / allowed,
    )


def pulse(context: Context, library: ShaderLibrary, place: Any, scale: float, substeps: int) -> tuple[float, ...]:
    """A front that passes gives 2 S / V times its width, away from the source."""
    _, velocity = particles(
        context, library, place, scale, 60, rises=scale, substeps=substeps, gravity=(0.0, 0.0, 0.0),
        acting=[FieldSettings(
            type=FieldType.PULSE, strength=0.02 * scale, speed=2.0 * scale, scale=0.1 * scale, start=0.0
        )],
    )  # fmt: skip
    expected = 2.0 * 0.02 * 0.1 / 2.0 * scale
    return abs(velocity[1] / expected - 1.0) / 2e-3, float(np.abs(velocity[[0, 2]]).max()) / (1e-3 * expected)


@COMPUTE_IN_CAMPAIGN
@everywhere(*SUBSTEPS)
@pytest.mark.parametrize("answer", [slow(wind), slow(drag), orbit, slow(vortex), slow(pulse)])
def test_particles(context: Context, library: ShaderLibrary, answer: Any, cases: Sequence[Any]) -> None:
    wrong = {}
    for case in cases:
        errors = answer(context, library, *case)
        if max(errors) > 1.0:
            wrong[case] = errors
    assert not wrong


@COMPUTE_IN_CAMPAIGN
@everywhere(*SUBSTEPS)
@pytest.mark.parametrize("solver", [pytest.param({}, id="springs"), slow(LINES | {"bend_stiffness": 0.0}, id="lines")])
def test_cloth_gets_the_speed_of_the_wind(
    context: Context, library: ShaderLibrary, solver: dict[str, Any], cases: Sequence[Any]
) -> None:
    """Particles that nothing holds together, with an air drag of 4 / s."""
    for place, scale, substeps in cases:
        cloth = Cloth(context, library, loose(**solver, substeps=substeps, air_drag=0.0))
        cloth.write(np.tile(place, (4, 1)), np.zeros((4, 3)))
        both = [FieldSettings(type=FieldType.WIND, speed=2.0 * scale), FieldSettings(type=FieldType.DRAG, drag=4.0)]
        for index in range(60):
            with fields(context, place, both, index) as acting:
                assert cloth.step(ClothInputs(fields=acting))
        found = cloth._state.newest.read()["velocity"][0, :3].astype(np.float64)
        cloth.release()
        expected = (0.0, 2.0 * scale * (1.0 - math.exp(-4.0)), 0.0)
        case = f"{place}, {scale}, {substeps}"
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-6 * scale, err_msg=case)


@COMPUTE_IN_CAMPAIGN
def test_turbulence_has_its_speed_and_no_sources_everywhere(context: Context, library: ShaderLibrary) -> None:
    """By differences over a twentieth of a whirl, between points that float32 holds."""
    random = np.random.default_rng(4)
    for place, scale in itertools.product(PLACES, SCALES):
        centres = np.add(place, scale * random.uniform(-5.0, 5.0, (512, 3)))
        ends = np.stack([centres + sign * 0.025 * scale * axis for axis in np.eye(3) for sign in (1.0, -1.0)])
        points = ends.astype(np.float32)
        records = PARTICLE.zeros(points.size // 3)
        records["position"][:, :3] = points.reshape(-1, 3)
        places, sampler = TexelBuffer(context, records, label="test places"), FieldSampler(library, len(records))
        settings = FieldSettings(type=FieldType.TURBULENCE, speed=3.0 * scale, scale=scale)
        with fields(context, place, [settings], 7) as acting:
            assert acting is not None
            air = sampler.sample(acting, places).buffer.read()["air"][: len(records), :3].astype(np.float64)
        for owned in (sampler, places):
            owned.release()
        assert math.sqrt((air**2).sum(axis=1).mean()) == pytest.approx(3.0 * scale, rel=0.1), (place, scale)
        apart = np.diff(points.astype(np.float64).reshape(3, 2, 512, 3), axis=1)[:, 0]
        change = np.diff(air.reshape(3, 2, 512, 3), axis=1)[:, 0]
        slopes = np.stack([change[axis] / apart[axis, :, axis, None] for axis in range(3)])
        sources = slopes[0, :, 0] + slopes[1, :, 1] + slopes[2, :, 2]
        assert np.sqrt((sources**2).mean()) < 0.02 * np.sqrt((slopes**2).sum(axis=(0, 2)).mean()), (place, scale)
