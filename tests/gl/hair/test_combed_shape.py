"""Strands with an exact rest shape keep what was combed, whatever their damping."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sinew.sim.colliders.state import ColliderShape, ColliderState
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.hair.groom import Groom
from sinew.sim.kinds.hair.growth import growth_on_ellipsoid
from sinew.sim.kinds.hair.presets import with_preset
from sinew.sim.kinds.hair.records import strand_records
from sinew.sim.kinds.hair.settings import HairSettings, HairSource
from sinew.sim.maths import quaternion
from sinew.sim.scene.params import validated
from tests.conftest import slow
from tests.gl.hair.hair_cases import GpuStrands, groom_of, settings_of, still
from tests.oracles.hair import Strands

Float64 = npt.NDArray[np.float64]
DAMPINGS = (0.0, 0.01, 1.0)
COMBED: dict[str, Any] = {"exact_rest": True, "carried": 1.0}


def on_a_head(preset: str, **changes: Any) -> tuple[HairSettings, Groom]:
    settings = with_preset(HairSettings(), preset)
    small = {"source": HairSource.ELLIPSOID, "radii": (0.1, 0.1, 0.1), "guides": 8, "children": 0, "collide": False}
    settings = validated(settings, **small, **changes)
    return settings, growth_on_ellipsoid(settings, np.eye(4)).guides


def strands_of(context: Context, library: ShaderLibrary, settings: HairSettings, groom: Groom) -> GpuStrands:
    return GpuStrands(context, library, Strands(settings, groom, still(groom)))


def run(strands: GpuStrands, steps: int) -> Float64:
    for _ in range(steps):
        strands.step()
    return strands.knots()


def apart(one: Float64, other: Float64, groom: Groom) -> float:
    """Largest distance of two knots, as a fraction of the length of their strand."""
    return float((np.linalg.norm(one - other, axis=2) / groom.lengths[:, None]).max())


@pytest.mark.parametrize("damping", DAMPINGS)
@pytest.mark.parametrize("preset", [slow("Long"), "Curls", slow("Ponytail"), slow("Short fur")])
def test_a_combed_shape_stays(context: Context, library: ShaderLibrary, preset: str, damping: float) -> None:
    settings, groom = on_a_head(preset, damping=damping, **COMBED)
    strands = strands_of(context, library, settings, groom)
    combed = strands.knots()
    assert apart(run(strands, 1000), combed, groom) < 1e-4
    strands.release()


def test_double_precision_stays_where_it_was_combed() -> None:
    """Without rounding the combed shape is an equilibrium to the last bits; without the setting damping moves it."""
    moved = {}
    for exact in (True, False):
        settings, groom = on_a_head("Curls", damping=1.0, **(COMBED | {"exact_rest": exact}))
        strands = Strands(settings, groom, still(groom))
        combed = strands.now
        for _ in range(10):
            strands.step()
        moved[exact] = apart(strands.now, combed, groom)
    assert moved[True] < 1e-13
    assert moved[False] > 1e-2


@pytest.mark.parametrize("hold", [slow(0.0), 1000.0])
def test_damping_does_not_change_where_strands_sag_to(context: Context, library: ShaderLibrary, hold: float) -> None:
    ends = []
    for damping in (0.0, 1.0):
        settings, groom = on_a_head("Curls", damping=damping, exact_rest=True, carried=0.7, drag=6.0, hold=hold)
        strands = strands_of(context, library, settings, groom)
        ends.append(run(strands, 1000))
        strands.release()
    assert apart(ends[0], groom.offsets(groom.frames), groom) > 0.2
    assert apart(*ends, groom) < 1e-3


def test_disturbed_strands_return_to_the_combed_shape(context: Context, library: ShaderLibrary) -> None:
    settings, groom = on_a_head("Curls", **COMBED)
    strands = strands_of(context, library, settings, groom)
    combed = strands.knots()
    turned = combed @ quaternion.to_matrix(quaternion.from_axis_angle(np.array([0.0, 0.6, 0.8]), 0.5)).T
    strands.state.write(strand_records(turned), strand_records(turned))
    assert apart(run(strands, 1), combed, groom) > 0.1
    run(strands, 1000)
    assert apart(strands.knots(), combed, groom) < 3e-4
    strands.release()


def moving(context: Context, library: ShaderLibrary, *colliders: ColliderState, **changes: Any) -> GpuStrands:
    values: dict[str, Any] = {"exact_rest": True, "carried": 0.7, "hold": 20.0, "drag": 2.0, "damping": 0.01}
    settings = settings_of(**(values | changes))
    groom = groom_of(settings, [[0.2, 1.0, 0.1], [1.0, 0.3, 0.0], [-0.7, -0.4, 0.3]], bow=0.1)
    turns = quaternion.from_matrix(groom.frames)

    def path(time: float) -> tuple[Float64, Float64]:
        place = 0.02 * np.array([np.sin(9.0 * time), np.sin(5.0 * time), np.cos(7.0 * time) - 1.0])
        turn = quaternion.from_axis_angle(np.array([0.3, 1.0, 0.2]), 0.6 * np.sin(4.0 * time))
        return np.tile(place, (groom.count, 1)), quaternion.multiply(turn, turns)

    return GpuStrands(context, library, Strands(settings, groom, path, colliders))


BALL = ColliderState(ColliderShape.SPHERE, np.array([0.05, 0.0, 0.0]), np.eye(4), np.eye(4), friction=0.3)


@pytest.mark.parametrize("changes", [slow({}), slow({"length": 0.03, "bending_length": 0.05}), {"damping": 1.0}])
def test_strands_move_as_in_double_precision(context: Context, library: ShaderLibrary, changes: Any) -> None:
    strands = moving(context, library, **changes)
    for _ in range(60):
        strands.step()
        strands.oracle.step()
    np.testing.assert_allclose(strands.knots(), strands.oracle.now, atol=2e-5)
    assert np.ptp(strands.oracle.now) > 0.02
    strands.release()


def test_compute_has_the_bits_of_transform_feedback(context: Context, library: ShaderLibrary) -> None:
    if not (context.back_ends.has_compute and context.capabilities.is_software):
        pytest.skip("compilers of cards may contract sums of products differently")
    found = []
    for choice in (BackEndChoice.TF, BackEndChoice.COMPUTE):
        context.back_ends.choice = choice
        strands = moving(context, library, BALL)
        for _ in range(20):
            strands.step((BALL,))
        found.append((strands.state.now.read().tobytes(), strands.state.before.read().tobytes()))
        strands.release()
    assert found[1] == found[0]
