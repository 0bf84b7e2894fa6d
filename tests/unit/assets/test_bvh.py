from pathlib import Path

import numpy as np
import pytest

from sinew.sim.assets import bvh_reader
from sinew.sim.assets.build import build_model
from sinew.sim.assets.bvh_reader import is_bvh, read_bvh
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import Interpolation
from sinew.sim.assets.raw import LoadCancelled, LoadWatch
from sinew.sim.maths.hierarchy import model_from_local
from sinew.sim.maths.transform import compose
from tests.refusals import refusal

TEXT = """HIERARCHY
ROOT left hip
{
  OFFSET 1 2 3
  CHANNELS 4 Yposition Zrotation Xrotation Yrotation
  JOINT knee
  {
    OFFSET 0 -4 0
    CHANNELS 3 Yrotation Xrotation Zrotation
    End Site
    {
      OFFSET 0 -3 1
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.04
9 10 20 30 40 50 60
-1 90 0 0 0 0 90
"""


def turn(axis: str, degrees: float) -> np.ndarray:
    matrix, a = np.eye(4), np.radians(degrees)
    i = "XYZ".index(axis)
    j, k = (i + 1) % 3, (i + 2) % 3
    matrix[j, j] = matrix[k, k] = np.cos(a)
    matrix[k, j], matrix[j, k] = np.sin(a), -np.sin(a)
    return matrix


def moved(x: float, y: float, z: float) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, 3] = x, y, z
    return matrix


def read(text: str, path: Path = Path("a.bvh")):
    return read_bvh(text.encode(), path, LoadWatch())


def test_channels_apply_in_file_order_and_positions_replace_the_offset() -> None:
    model = build_model(read(TEXT))
    assert model.skeleton is not None
    assert model.skeleton.names == ("left hip", "knee", "knee end")
    (clip,) = model.clips
    assert clip.duration == pytest.approx(0.04)
    for frame, row in enumerate(([9, 10, 20, 30, 40, 50, 60], [-1, 90, 0, 0, 0, 0, 90])):
        pose = clip.sample(0.04 * frame, Interpolation.LINEAR)
        found = model_from_local(compose(pose.positions, pose.orientations, pose.scales), model.skeleton.hierarchy)
        hip = moved(1, row[0], 3) @ turn("Z", row[1]) @ turn("X", row[2]) @ turn("Y", row[3])
        knee = hip @ moved(0, -4, 0) @ turn("Y", row[4]) @ turn("X", row[5]) @ turn("Z", row[6])
        for joint, expected in enumerate((hip, knee, knee @ moved(0, -3, 1))):
            np.testing.assert_allclose(found[joint], expected, atol=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "warning"),
    [
        ("Frames: 2", "Frames: 3", "2 whole frames, 3 are declared"),
        ("Frames: 2", "Frames: 1", "more values"),
        ("MOTION", "", ""),
    ],
)
def test_frames_that_are_missing_or_left_over_are_reported(old: str, new: str, warning: str) -> None:
    text = TEXT.replace(old, new) if new else TEXT[: TEXT.index("MOTION")]
    assert warning in " ".join(read(text).warnings)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("OFFSET 0 -4 0", "OFFSET 0 -4", "line 8: OFFSET is not made of 3 numbers"),
        ("OFFSET 0 -4 0", "OFFSET 0 -4 nan", "unusable"),
        ("CHANNELS 3", "CHANNELS 9", "line 9: CHANNELS needs"),
        ("Yrotation Xrotation Zrotation\n    End", "Yrotation Xrotation Yrotation\n    End", "twice"),
        ("Xrotation Yrotation\n", "Xrotation Wrotation\n", "unknown channel 'Wrotation'"),
        ("JOINT knee", "ROOT knee", "ROOT inside of a joint"),
        ("}\nMOTION", "MOTION", "is not closed"),
        ("  JOINT knee", "  }}\n  JOINT knee", "'}' without '{'"),
        ("Frame Time: 0.04", "Frame Time: 0", "a frame takes 0 s"),
        ("Frames: 2", "Frames: many", "not a whole number"),
        ("9 10 20", "9 ten 20", "'ten' is not a number"),
        ("9 10 20", "9 1e300 20", "unusable"),
        ("HIERARCHY", "HIERARCHY\nBONE x", "unknown keyword 'BONE'"),
    ],
)
def test_a_broken_file_is_refused_in_one_line(old: str, new: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "a.bvh"
    path.write_text(TEXT.replace(old, new))
    assert reason in refusal(load_model, path)


def test_damaged_files_end_in_a_model_or_in_one_line() -> None:
    random = np.random.default_rng(7)
    data, refusals = TEXT.encode(), []
    for _ in range(1000):
        damaged = bytearray(data)
        for place in random.integers(0, len(damaged), random.integers(1, 6)):
            damaged[place] = random.integers(0, 256)
        cut = bytes(damaged[: random.integers(1, len(damaged))]) if random.random() < 0.3 else bytes(damaged)
        try:
            build_model(read_bvh(cut, Path("a.bvh"), LoadWatch()))
        except ValueError as error:
            refusals.append(str(error))
    assert len(refusals) > 100
    assert not any("\n" in text for text in refusals)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_encodings_are_recognised(encoding: str) -> None:
    data = TEXT.replace("left hip", "hüfte").encode(encoding)
    assert is_bvh(data)
    skeleton = build_model(read_bvh(data, Path("a.bvh"), LoadWatch())).skeleton
    assert skeleton is not None
    assert skeleton.names[0] == "hüfte"


def test_real_files_open(assets: Path) -> None:
    folder = assets / "bvh"
    if not folder.is_dir():
        pytest.skip("no motions")
    for path in folder.glob("*.bvh"):
        model = load_model(path)
        assert model.skeleton is not None
        assert len(model.clips) == 1


def test_channels_of_a_joint_may_stand_there_once(tmp_path: Path) -> None:
    path = tmp_path / "a.bvh"
    path.write_text(TEXT.replace("  JOINT knee", "  CHANNELS 3 Xrotation Yrotation Zrotation\n  JOINT knee"))
    assert refusal(load_model, path) == "line 6: 'left hip' has CHANNELS twice"


def test_values_are_read_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = build_model(read(TEXT)).clips[0].sample(0.03, Interpolation.LINEAR)
    monkeypatch.setattr(bvh_reader, "_BLOCK", 1)
    pose = build_model(read(TEXT + "\n\n")).clips[0].sample(0.03, Interpolation.LINEAR)
    np.testing.assert_array_equal(pose.orientations, whole.orientations)


@pytest.mark.parametrize("end", ["HIERARCHY", "MOTION"])
def test_reading_can_be_cancelled(end: str) -> None:
    """The question comes at each line of the joints, and again before the values."""
    questions = TEXT[: TEXT.index("MOTION")].count("\n") + 1 if end == "MOTION" else 3
    asked = iter([False] * questions + [True] * 99)
    with pytest.raises(LoadCancelled):
        read_bvh(TEXT.encode(), Path("a.bvh"), LoadWatch(cancelled=lambda: next(asked)))
