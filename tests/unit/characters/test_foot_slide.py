import json

import numpy as np
import pytest

from sinew import resources
from sinew.app.cli.main import main
from sinew.sim.assets.load import load_model
from sinew.sim.characters.foot_slide import NEAR_FLOOR, RATE, clip_slides, slide_of
from sinew.sim.characters.retarget import body_of

HUMANOID = resources.path("models") / "humanoid" / "humanoid.ezm"
LEG = 0.85


def walked(speed: float, seconds: float = 1.0) -> np.ndarray:
    """A foot that slides along x at a speed, shape (F, 3), y up."""
    times = np.arange(round(seconds * RATE) + 1) / RATE
    return np.stack([speed * times, np.zeros_like(times), np.zeros_like(times)], axis=1)


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("place", [(0.0, 0.0, 0.0), (40.0, -3.0, 7.0)])
@pytest.mark.parametrize("up", [1, 2])
def test_a_standing_foot_that_slides_has_the_known_way_and_speed(
    scale: float, place: tuple[float, float, float], up: int
) -> None:
    path = scale * (walked(0.01) + np.array(place))
    if up == 2:
        path = path[:, (0, 2, 1)]
    found = slide_of("left", path, 1.0 / RATE, LEG * scale, up)
    assert found.contacts == 1
    for value in (found.mean_way, found.longest_way, found.mean_speed, found.largest_speed, found.weighted_speed):
        assert value / scale == pytest.approx(0.01, abs=1e-6)


def test_contacts_are_counted_one_by_one() -> None:
    step = walked(0.01)
    lifted = np.linspace(0.0, 1.0, 31)[1:-1, None] * np.array([0.5, 0.0, 0.0]) + step[-1]
    lifted[:, 1] = 0.3 * np.sin(np.linspace(0.0, np.pi, len(lifted)))
    path = np.concatenate([step, lifted, walked(0.03) + lifted[-1] * (1.0, 0.0, 1.0)])
    found = slide_of("right", path, 1.0 / RATE, LEG, 1)
    assert found.contacts == 2
    assert found.mean_way == pytest.approx(0.02, abs=2e-3)
    assert found.longest_way == pytest.approx(0.03, abs=2e-3)


def test_a_fast_foot_has_no_contact_and_is_weighted_by_its_height() -> None:
    path = walked(1.0, 4.0)
    low = len(path) // 2
    path[low:, 1] = 0.5 * NEAR_FLOOR * LEG
    found = slide_of("left", path, 1.0 / RATE, LEG, 1)
    assert (found.contacts, found.mean_way, found.largest_speed) == (0, None, None), "empty, not 0"
    shares = np.full(len(path) - 1, 2.0 - 2.0**0.5)
    shares[:low] = 1.0
    assert found.weighted_speed == pytest.approx(shares.mean(), rel=1e-9)
    path[low:, 1] = 1.01 * NEAR_FLOOR * LEG
    assert slide_of("left", path, 1.0 / RATE, LEG, 1).weighted_speed == pytest.approx(low / (len(path) - 1), rel=1e-9)
    assert slide_of("left", path[:1], 1.0 / RATE, LEG, 1).contacts == 0


def test_standing_feet_of_the_humanoid_hardly_slide_and_info_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    model = load_model(HUMANOID)
    found = {clip.name: clip_slides(model, clip, body_of(model)) for clip in model.clips}
    for foot in found["wave"]:
        assert foot.contacts == 1
        assert foot.longest_way < 1e-3
    assert all(foot.contacts == 0 and foot.weighted_speed > 0.3 for foot in found["walk"]), "walks on the spot"
    assert main(["info", str(HUMANOID), "--json"]) == 0
    clips = {clip["name"]: clip["feet"] for clip in json.loads(capsys.readouterr().out)["clips"]}
    assert clips["wave"][0]["side"] == "left"
    assert clips["wave"][0]["longest_way"] == pytest.approx(found["wave"][0].longest_way)
    assert main(["info", str(resources.path("models") / "arm" / "arm.ezm"), "--json"]) == 0
    assert all("feet" not in clip for clip in json.loads(capsys.readouterr().out)["clips"])
