import dataclasses

import numpy as np
import pytest

from sinew.sim.assets.influences import influences_in
from sinew.sim.characters.weights import weighted
from sinew.sim.skin.weights.make import WeightOptions, from_surface
from sinew.sim.skin.weights.sparse import WeightsError
from sinew.sim.skin.weights.transfer import source_of, transferred
from tests.unit.weights.cylinders import AROUND, cylinder, upper_weights

pytest.importorskip("scipy")

RINGS = 21
HEIGHTS = np.repeat(np.linspace(-1.0, 1.0, RINGS), AROUND)
RAMP = np.clip(0.5 + HEIGHTS, 0.0, 1.0)


@pytest.mark.parametrize(
    ("place", "scale"), [((0.0, 0.0, 0.0), 1.0), ((40.0, -3.0, 7.0), 30.0), ((5.0, 0.0, 0.0), 0.01)]
)
def test_a_surface_takes_over_its_own_weights(place: tuple[float, float, float], scale: float) -> None:
    model = cylinder(RINGS, weights=RAMP, place=place, scale=scale)
    joints, source = source_of(model, model)
    found = transferred(source, joints, model.mesh)
    assert found.matched == 1.0
    np.testing.assert_allclose(found.weights[:, 1], upper_weights(model), atol=1e-12)


def test_midpoints_of_edges_have_mean_weights() -> None:
    model = cylinder(RINGS, weights=RAMP)
    fine = cylinder(2 * RINGS - 1)
    joints, source = source_of(model, fine)
    found = transferred(source, joints, fine.mesh).weights[:, 1].reshape(-1, AROUND)
    coarse = upper_weights(model).reshape(-1, AROUND)
    np.testing.assert_allclose(found[::2], coarse, atol=1e-6)
    np.testing.assert_allclose(found[1::2], 0.5 * (coarse[1:] + coarse[:-1]), atol=1e-6)


def test_a_garment_around_it_gets_nearly_the_same_and_far_parts_are_continued() -> None:
    body = cylinder(RINGS, weights=RAMP)
    garment = cylinder(RINGS, radius=0.22)
    stored, note = from_surface(garment, body, WeightOptions())
    assert note == "100% of the vertices matched"
    made, fault = weighted(garment, (stored,))
    assert not fault
    np.testing.assert_allclose(upper_weights(made), RAMP, atol=0.02)
    # Above y = 0.2 the garment stands off too far to match.
    mesh = garment.mesh
    positions = mesh.positions.copy()
    positions[positions[:, 1] > 0.2] *= (3.0, 1.0, 3.0)
    wide = dataclasses.replace(garment, mesh=dataclasses.replace(mesh, positions=positions))
    stored, note = from_surface(wide, body, WeightOptions())
    assert "matched" in note
    assert note != "100% of the vertices matched"
    continued = upper_weights(weighted(wide, (stored,))[0]).reshape(-1, AROUND)
    assert continued[-1].min() > 0.9
    assert (np.diff(continued.mean(axis=1)) >= -1e-3).all()


def test_joints_are_found_by_name_and_missing_ones_give_to_those_above() -> None:
    body = cylinder(RINGS, weights=RAMP, names=("spine", "neck"))
    other = cylinder(RINGS, names=("hips", "spine"))
    joints, source = source_of(body, other)
    assert joints.tolist() == [1]  # the neck gives to the spine
    np.testing.assert_allclose(source.weights, 1.0)
    with pytest.raises(WeightsError, match="no bone of cylinder has a name of a bone of cylinder"):
        source_of(body, cylinder(RINGS, names=("a", "b")))


def test_a_surface_elsewhere_is_refused_and_nothing_changes() -> None:
    body, far = cylinder(RINGS, weights=RAMP), cylinder(RINGS, place=(3.0, 0.0, 0.0))
    before = influences_in(far)
    with pytest.raises(WeightsError, match=r"0% of the vertices are near the other surface, 30% are needed"):
        from_surface(far, body, WeightOptions())
    assert before is not None
    with pytest.raises(WeightsError, match="has no section 'coat'; it has skin"):
        from_surface(far, body, WeightOptions(), ("coat",))
    with pytest.raises(WeightsError, match="name the sections"):
        from_surface(body, body, WeightOptions())
