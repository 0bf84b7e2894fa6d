import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from sinew import resources
from sinew.app.cli.main import main
from sinew.sim.assets.clip import UniformClip
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel, Clip, ClipSource, Interpolation
from sinew.sim.characters.foot_slide import (
    NEAR_FLOOR,
    RATE,
    FootSlide,
    clip_slides,
    posed_slides,
    sample_times,
    slide_of,
    source_stands,
)
from sinew.sim.characters.motions import animated_model
from sinew.sim.characters.playing import pose_of
from sinew.sim.characters.retarget import body_of
from sinew.sim.characters.settings import ModelSettings, MotionFile
from sinew.sim.scene.strips import GROUP, Strip, StripMode

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


# --- transferred motions --------------------------------------------------------------------------------------------


def test_known_contacts_replace_those_of_the_path_where_there_are_any() -> None:
    path = walked(1.0, 2.0)
    known = np.full(len(path), np.nan)
    known[30:61] = 1.0
    found = slide_of("left", path, 1.0 / RATE, LEG, 1, known)
    assert (found.contacts, found.longest_way) == (1, pytest.approx(0.5))
    assert found.largest_speed == pytest.approx(1.0)
    still = np.zeros((60, 3))
    assert slide_of("left", still, 1.0 / RATE, LEG, 1).contacts == 1
    assert slide_of("left", still, 1.0 / RATE, LEG, 1, np.zeros(60)).contacts == 0
    known = np.full(60, np.nan)
    known[20:40] = 0.0
    assert slide_of("left", still, 1.0 / RATE, LEG, 1, known).contacts == 2


def skating(model: CharacterModel, speed: float) -> tuple[CharacterModel, Clip]:
    """A character whose clip "skate" was transferred from one that stands; its hips move sideways [legs/s]."""
    stands = model.clip("wave")
    times = stands.frame_times
    poses = stands.sample_many(times.tolist(), Interpolation.LINEAR)
    body, positions = body_of(model), poses.positions.copy()
    parent = int(body.skeleton.parents[body.bones["hips"]])
    assert parent < 0 or np.allclose(body.skeleton.model_from_bind[parent, :3, :3], np.eye(3))
    positions[:, body.bones["hips"], 0] += speed * body.leg * times
    slides = UniformClip("skate", float(times[1]), positions, poses.orientations, poses.scales)
    sources = {"skate": ClipSource(stands, model)}
    return dataclasses.replace(model, clips=(*model.clips, slides), sources=sources), stands


def slides_of(model: CharacterModel, settings: ModelSettings, first: float, last: float) -> tuple[FootSlide, ...]:
    times, body = sample_times(first, last), body_of(model)
    stands = source_stands(model, settings, body, times)
    return posed_slides(lambda time: pose_of(model, settings, time, (0.0, 0.0)), body, np.eye(4), times, stands)


def test_a_transferred_motion_stands_where_its_source_does_however_fast_it_slides() -> None:
    model, stands = skating(load_model(HUMANOID), 1.0)
    leg, end = body_of(model).leg, stands.duration
    settings = ModelSettings(clip="skate")
    for foot in slides_of(model, settings, 0.0, end):
        assert foot.contacts == 1
        assert foot.longest_way == pytest.approx(leg * end, rel=0.05)
    unknown = dataclasses.replace(model, sources={})
    assert [foot.contacts for foot in slides_of(unknown, settings, 0.0, end)] == [0, 0], "too fast for a contact"
    for foot in slides_of(model, settings, 0.0, 2.0 * end):
        assert foot.contacts == 2, "the jump to the start is no slide"
        assert foot.longest_way == pytest.approx(leg * end, rel=0.05)
    nobody = ClipSource(stands, model, (("hips", ""),))
    other = dataclasses.replace(model, sources={"skate": nobody})
    assert [foot.contacts for foot in slides_of(other, settings, 0.0, end)] == [0, 0]


def test_layers_that_leave_the_feet_alone_do_not_decide_when_they_stand() -> None:
    model, stands = skating(load_model(HUMANOID), 1.0)
    base = Strip(clip="skate")
    times = sample_times(0.0, 0.5 * stands.duration)

    def known(*strips: Strip) -> np.ndarray:
        return source_stands(model, ModelSettings(strips=strips), body_of(model), times)

    assert (known(base) == 1.0).all()
    assert (known(base, Strip(clip="walk", mask=f"{GROUP}arms")) == 1.0).all()
    assert (known(base, Strip(clip="walk", mode=StripMode.ADD)) == 1.0).all()
    assert np.isnan(known(base, Strip(clip="walk", mask=f"{GROUP}legs"))).all()
    assert np.isnan(known(Strip(clip="walk"))).all()


def test_feet_that_a_transfer_has_planted_do_not_slide(tmp_path: Path) -> None:
    model = load_model(HUMANOID)
    assert model.skeleton is not None
    names = tuple(f"x{joint}" for joint in range(model.skeleton.joint_count))
    other = dataclasses.replace(model, skeleton=dataclasses.replace(model.skeleton, names=names))
    path = tmp_path / "other.ezm"
    edits = tuple((bone, names[joint]) for bone, joint in body_of(model).bones.items())
    settings = ModelSettings(clip="other: wave", motions=(MotionFile(path=str(path), humanoid=edits),))
    animated, faults = animated_model(model, settings, {path: other})
    assert faults == []
    assert [*animated.sources] == [f"other: {clip.name}" for clip in model.clips]
    for foot in slides_of(animated, settings, 0.0, model.clip("wave").duration):
        assert foot.contacts == 1
        assert foot.longest_way < 1e-3
