"""Lines of an emitter are where its particles start, and where they fly."""

import msgspec
import numpy as np
import pytest

from sinew.sim.kinds.emitter.handles import emitter_outline, reach
from sinew.sim.kinds.emitter.settings import EmissionAim, EmitterSettings, EmitterSource


def lines(**changes: object) -> np.ndarray:
    return emitter_outline(msgspec.structs.replace(EmitterSettings(), **changes))


@pytest.mark.parametrize("source", [EmitterSource.VERTICES, EmitterSource.FACES])
def test_a_skin_has_no_outline(source: EmitterSource) -> None:
    assert lines(source=source).shape == (0, 2, 3)


@pytest.mark.parametrize("source", [EmitterSource.POINT, EmitterSource.SPHERE, EmitterSource.BOX, EmitterSource.DISC])
@pytest.mark.parametrize("aim", list(EmissionAim))
def test_lines_are_finite_and_bounded(source: EmitterSource, aim: EmissionAim) -> None:
    found = lines(source=source, aim=aim, source_radius=0.5, source_size=(1.0, 0.4, 0.6), speed=1e4)
    assert found.shape[1:] == (2, 3)
    assert np.isfinite(found).all()
    assert np.abs(found).max() <= 0.5 + reach(EmitterSettings(speed=1e4)) + 1e-9


def test_a_box_has_its_edges() -> None:
    found = lines(source=EmitterSource.BOX, source_size=(2.0, 4.0, 6.0), speed=0.0)
    edges = found[:12]
    np.testing.assert_allclose(np.abs(edges).reshape(-1, 3), np.tile([1.0, 2.0, 3.0], (24, 1)))
    assert sorted(np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1)) == pytest.approx([2.0] * 4 + [4.0] * 4 + [6.0] * 4)


def test_a_hollow_disc_has_two_rims() -> None:
    rims = lines(source=EmitterSource.DISC, source_radius=0.8, source_hollow=0.25, speed=0.0)
    radii = np.hypot(rims[:96, 0, 0], rims[:96, 0, 2])
    assert sorted({round(radius, 6) for radius in radii.tolist()}) == [0.2, 0.8]
    assert np.abs(rims[:96, :, 1]).max() == 0.0


@pytest.mark.parametrize("angle", [0.0, 30.0, 90.0, 150.0, 180.0])
def test_the_sides_of_the_cone_have_its_angle(angle: float) -> None:
    sides = lines(source=EmitterSource.POINT, cone_angle=angle)[-8:]
    variants = sides[:, 1] - sides[:, 0]
    cosines = variants[:, 1] / np.linalg.norm(variants, axis=1)
    np.testing.assert_allclose(cosines, np.cos(np.radians(angle)), atol=1e-12)


def test_the_cone_is_as_long_as_the_reach() -> None:
    settings = msgspec.structs.replace(EmitterSettings(), source=EmitterSource.POINT, speed=4.0)
    sides = emitter_outline(settings)[-8:]
    np.testing.assert_allclose(np.linalg.norm(sides[:, 1], axis=1), reach(settings))


def test_yaw_and_pitch_bound_a_patch() -> None:
    found = lines(
        source=EmitterSource.POINT, aim=EmissionAim.ANGLES, yaw=0.0, yaw_spread=0.0, pitch=45.0, pitch_spread=0.0
    )
    ends = found[-1, 1] / np.linalg.norm(found[-1, 1])
    np.testing.assert_allclose(ends, [0.0, np.sqrt(0.5), np.sqrt(0.5)], atol=1e-12)
