"""Settings that make an emitter, those that are refused, presets, tables over the life, and the whirls."""

import msgspec
import numpy as np
import pytest

from sinew.sim.kinds.emitter.births import check_emitter, slots_needed, starvation
from sinew.sim.kinds.emitter.block import constants_of, drag_terms, pattern_at
from sinew.sim.kinds.emitter.particles import TABLE_SIZE, life_table
from sinew.sim.kinds.emitter.presets import KEPT_FIELDS, PRESET_FIELDS, PRESETS, with_preset
from sinew.sim.kinds.emitter.settings import EmissionMode, EmitterSettings
from sinew.sim.scene.params import SettingsError, params_of, validated
from tests.oracles.curl_noise import curl_noise


def changed(**changes: object) -> EmitterSettings:
    return msgspec.structs.replace(EmitterSettings(), **changes)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_sound_and_never_starve(name: str) -> None:
    settings = with_preset(changed(density_bone="hand", seed=9), name)
    check_emitter(settings)
    assert starvation(settings) == ""
    assert (settings.density_bone, settings.seed) == ("hand", 9)
    assert life_table(settings).shape == (2, TABLE_SIZE, 4)


def test_a_preset_leaves_nothing_of_the_last_one() -> None:
    assert with_preset(with_preset(EmitterSettings(), "Smoke"), "Fire") == with_preset(EmitterSettings(), "Fire")


def test_a_preset_of_ones_own_comes_back() -> None:
    smoke = with_preset(EmitterSettings(), "Smoke")
    assert validated(EmitterSettings(), **{field: getattr(smoke, field) for field in PRESET_FIELDS}) == smoke
    assert set(PRESET_FIELDS) | set(KEPT_FIELDS) == {record.name for record in params_of(EmitterSettings)}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"lifetime": 0.0}, "lifetime"),
        ({"capacity": 0}, "capacity"),
        ({"rate": -1.0}, "rate"),
        ({"speed": float("nan")}, "speed"),
        ({"gravity": (0.0, float("inf"), 0.0)}, "gravity"),
        ({"substeps": 0}, "substeps"),
        ({"bursts": "x"}, "burst"),
        ({"mode": EmissionMode.BURST}, "bursts"),
        ({"bursts": "0:5", "burst_period": 0.001}, "burst period"),
        ({"colour_over_life": ()}, "colour_over_life"),
        ({"opacity_over_life": ((0.5, 1.0), (0.2, 1.0))}, "opacity_over_life"),
        ({"size_over_life": ((0.0, 1.0),) * 33}, "size_over_life"),
        ({"colour_over_life": ((0.0, 2.0, 0.0, 0.0),)}, "colour_over_life"),
    ],
)
def test_what_no_emitter_can_be_made_of_is_named(changes: dict[str, object], named: str) -> None:
    with pytest.raises(SettingsError, match=named) as caught:
        check_emitter(changed(**changes))
    assert "\n" not in str(caught.value)


def test_a_capacity_that_starves_tells_what_it_takes() -> None:
    settings = changed(rate=1000.0, lifetime=2.0, lifetime_variance=0.5, capacity=100)
    assert slots_needed(settings) == 3001
    assert "3001" in starvation(settings)
    assert starvation(msgspec.structs.replace(settings, capacity=3001)) == ""
    assert starvation(msgspec.structs.replace(settings, mode=EmissionMode.FULL)) == ""


def test_stops_become_a_table() -> None:
    settings = changed(
        colour_over_life=((0.0, 1.0, 0.0, 0.0), (1.0, 0.0, 0.5, 1.0)),
        opacity_over_life=((0.25, 0.5),),
        size_over_life=((0.0, 0.0), (0.5, 4.0), (1.0, 0.0)),
        brightness=2.0,
    )
    colours, sizes = life_table(settings)
    np.testing.assert_allclose(colours[[0, -1]], [[2.0, 0.0, 0.0, 0.5], [0.0, 1.0, 2.0, 0.5]])
    np.testing.assert_allclose(colours[51, :3], [1.6, 0.2, 0.4], rtol=1e-6)
    assert sizes[:, 0].max() == pytest.approx(4.0, rel=0.01)


def test_a_step_in_the_stops_stays_one() -> None:
    colours, _ = life_table(changed(opacity_over_life=((0.0, 1.0), (0.5, 1.0), (0.5, 0.0), (1.0, 0.0))))
    assert set(np.round(colours[:, 3], 6)) == {0.0, 1.0}


@pytest.mark.parametrize("drag", [0.0, 1e-9, 1e-4, 1.0, 50.0])
def test_the_pace_solves_the_equation_of_motion(drag: float) -> None:
    time, speed, pull = 0.7, 3.0, -2.0
    parts = 200_000
    v, x = speed, 0.0
    for _ in range(parts):
        middle = v + 0.5 * (time / parts) * (pull - drag * v)
        x += time / parts * middle
        v += time / parts * (pull - drag * middle)
    left, gain, square = drag_terms(drag, time)
    assert speed * left + pull * gain == pytest.approx(v, rel=1e-8)
    assert speed * gain + pull * square == pytest.approx(x, rel=1e-8)


def test_half_an_opening_of_a_hundred_and_eighty_degrees_is_the_whole_sphere() -> None:
    assert constants_of(changed(cone_angle=180.0)).rise == pytest.approx(2.0)
    assert constants_of(changed(cone_angle=90.0)).rise == pytest.approx(1.0)
    assert constants_of(changed(vortex=1.0, vortex_axis=(0.0, 0.0, 0.0))).vortex == pytest.approx((0.0, 0.25, 0.0))


# --- whirls -------------------------------------------------------------------------------------------

PLACES = np.random.default_rng(0).uniform(-30.0, 30.0, (40_000, 3))


@pytest.mark.parametrize("time", [0.0, 0.37, 5.2, 3600.0])
def test_whirls_have_the_same_strength_at_all_times_and_no_wind(time: float) -> None:
    found = curl_noise(PLACES, pattern_at(time, 1.0, (0.5, 0.0, 0.2), 0.5), 7)
    assert np.sqrt(np.mean(np.sum(found**2, axis=1))) == pytest.approx(1.0, rel=0.03)
    np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=0.02)
    np.testing.assert_allclose(found.std(axis=0), 1.0 / np.sqrt(3.0), rtol=0.04)


def test_whirls_have_no_sources() -> None:
    pattern, step = pattern_at(1.3, 1.0, (0.0, 0.0, 0.0), 1.0), 1e-5
    places = PLACES[:4000]
    slopes = [
        (curl_noise(places + step * axis, pattern, 1) - curl_noise(places - step * axis, pattern, 1)) / (2.0 * step)
        for axis in np.eye(3)
    ]
    divergence = sum(slopes[index][:, index] for index in range(3))
    assert np.abs(divergence).max() < 1e-5 * np.abs(np.stack(slopes)).max()


def test_whirls_go_with_the_wind_and_differ_by_seed() -> None:
    wind, scale = (3.0, -1.0, 0.5), 0.5
    start, later = pattern_at(0.0, 0.0, wind, scale), pattern_at(100.0, 0.0, wind, scale)
    gone = np.array(wind) * 100.0 / scale
    np.testing.assert_allclose(curl_noise(PLACES, start, 3), curl_noise(PLACES + gone, later, 3), atol=1e-6)
    assert abs(np.corrcoef(curl_noise(PLACES, start, 3)[:, 0], curl_noise(PLACES, start, 4)[:, 0])[0, 1]) < 0.03


def test_whirls_change_with_time_without_jumps() -> None:
    def at(time: float) -> np.ndarray:
        return curl_noise(PLACES[:2000], pattern_at(time, 1.0, (0.0, 0.0, 0.0), 1.0), 3)

    first = at(0.0)
    small = np.abs(at(0.02) - first).max()
    assert 0.0 < small < 0.3
    assert abs(np.corrcoef(first[:, 0], at(0.5)[:, 0])[0, 1]) < 0.9
