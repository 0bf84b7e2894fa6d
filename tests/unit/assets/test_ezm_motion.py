"""Skeletons, animations and their timing as EZMesh stores them."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.assets.build_skeleton import parents_by_index, parents_by_name, without_cycles
from sinew.sim.assets.clip import DEFAULT_STEP, frame_step
from sinew.sim.assets.raw import ModelError
from tests.ezm_samples import MESH_SYSTEM, bone_text, load_text, read_text, skeleton_text

TWO = bone_text("a") + bone_text("b", "a", "0 1 0")
STILL = "0 0 0 0 0 0 1 "


def track(name: str, payload: str, count: int | str, extra: str = "") -> str:
    return f'<AnimTrack name="{name}" count="{count}" {extra}>{payload}</AnimTrack>'


def test_parents_may_follow_their_children(tmp_path: Path) -> None:
    bones = bone_text("tip", "mid", "0 0 1") + bone_text("mid", "base", "0 1 0") + bone_text("base", None, "1 0 0")
    skeleton = load_text(tmp_path, skeleton_text(bones)).skeleton
    assert skeleton is not None
    assert skeleton.names == ("tip", "mid", "base")
    assert skeleton.parents.tolist() == [1, 2, -1]
    np.testing.assert_allclose(skeleton.model_from_bind[:, :3, 3], [[1, 1, 1], [1, 1, 0], [1, 0, 0]])


def test_an_unknown_parent_makes_a_root(tmp_path: Path) -> None:
    model = load_text(tmp_path, skeleton_text(bone_text("a", "ghost") + bone_text("b", "")))
    assert model.skeleton is not None
    assert model.skeleton.parents.tolist() == [-1, -1]
    assert model.warnings == ("Joint 'a': parent 'ghost' does not exist; it becomes a root.",)


def test_names_are_matched_with_case(tmp_path: Path) -> None:
    model = load_text(tmp_path, skeleton_text(bone_text("Hip") + bone_text("b", "hip")))
    assert model.skeleton is not None
    assert model.skeleton.parents.tolist() == [-1, -1]


def test_a_self_parent_makes_a_root(tmp_path: Path) -> None:
    model = load_text(tmp_path, skeleton_text(bone_text("a", "a") + bone_text("b", "a")))
    assert model.skeleton is not None
    assert model.skeleton.parents.tolist() == [-1, 0]
    assert model.warnings == ("Joint 'a' is its own parent; it becomes a root.",)


def test_a_cycle_is_broken(tmp_path: Path) -> None:
    bones = bone_text("a", "c") + bone_text("b", "a") + bone_text("c", "b") + bone_text("d", "c")
    model = load_text(tmp_path, skeleton_text(bones))
    assert model.skeleton is not None
    assert model.skeleton.parents.tolist() == [-1, 0, 1, 2]
    assert model.warnings == ("Joint 'a' is its own ancestor; it becomes a root.",)


@given(st.lists(st.integers(-1, 30), max_size=31))
def test_every_hierarchy_ends_at_a_root(indices: list[int]) -> None:
    names = [str(number) for number in range(len(indices))]
    parents, warnings = parents_by_index(names, indices)
    for joint in range(len(parents)):
        for _ in range(len(parents)):
            joint = parents[joint] if joint >= 0 else joint
        assert joint == -1
    changed = [new for new, old in zip(parents, indices, strict=True) if new != old]
    assert changed == [-1] * len(warnings)


def test_a_hierarchy_without_fault_is_kept() -> None:
    assert without_cycles(["a", "b", "c"], [2, 0, -1]) == ([2, 0, -1], [])


def test_the_first_joint_of_a_name_is_the_parent() -> None:
    assert parents_by_name(["a", "a", "b"], [None, "a", "a"]) == ([-1, 0, 0], [])


def test_equal_and_missing_names_become_unique(tmp_path: Path) -> None:
    bones = bone_text("a") + bone_text("a", "a") + bone_text("") + bone_text("a (2)") + bone_text("bone 3")
    model = load_text(tmp_path, skeleton_text(bones))
    assert model.skeleton is not None
    assert len(set(model.skeleton.names)) == 5
    assert model.skeleton.names[0] == "a"
    assert model.skeleton.names[3:] == ("a (2)", "bone 3")
    assert "The bone name 'a' is used more than once." in model.warnings


def test_transforms_default_to_rest(tmp_path: Path) -> None:
    (bone,) = read_text(tmp_path, skeleton_text('<Bone name="a"/>')).skeletons[0].bones
    assert (bone.position.tolist(), bone.orientation.tolist(), bone.scale.tolist()) == (
        [0, 0, 0], [0, 0, 0, 1], [1, 1, 1],
    )  # fmt: skip


def test_quaternions_become_unit_and_zero_becomes_rest(tmp_path: Path) -> None:
    bones = '<Bone name="a" orientation="0 0 0 0"/><Bone name="b" orientation="0,0,3,4"/>'
    first, second = read_text(tmp_path, skeleton_text(bones)).skeletons[0].bones
    assert first.orientation.tolist() == [0, 0, 0, 1]
    np.testing.assert_allclose(second.orientation, [0, 0, 0.6, 0.8])


@pytest.mark.parametrize(
    ("bone", "reason"),
    [
        ('<Bone name="a" position="0 0"/>', "Bone 'a': position has 2 numbers, needs 3"),
        ('<Bone name="a" orientation="0 0 1"/>', "Bone 'a': orientation has 3 numbers, needs 4"),
        ('<Bone name="a" scale="1 one 1"/>', "Bone 'a': scale: 'one' is not a number"),
        ('<Bone name="a" position="0 nan 0"/>', "Bone 'a': its transform has the unusable value nan"),
        ('<Bone name="a" position="0 1e300 0"/>', "Bone 'a': its transform has the unusable value 1e+300"),
        ("<Bone/>" * 8193, "Bone: there are more than 8192"),
    ],
)
def test_bones_that_cannot_be_used(tmp_path: Path, bone: str, reason: str) -> None:
    with pytest.raises(ModelError) as caught:
        read_text(tmp_path, skeleton_text(bone))
    assert reason in str(caught.value)


def test_scales_that_multiply_beyond_all_bounds_are_refused(tmp_path: Path) -> None:
    chain = "".join(
        f'<Bone name="{number}" parent="{number - 1}" scale="1e12 1 1" position="1 1 1"/>' for number in range(40)
    )
    with pytest.raises(ModelError, match="its transform is beyond all bounds"):
        load_text(tmp_path, skeleton_text(chain))


def test_a_bind_scale_of_zero_is_taken_for_one(tmp_path: Path) -> None:
    model = load_text(tmp_path, skeleton_text('<Bone name="flat" scale="1 0 1"/>'))
    assert model.skeleton is not None
    np.testing.assert_array_equal(model.skeleton.bind_scales, [[1, 1, 1]])
    assert model.warnings == ("Bone 'flat' has a bind scale of zero, which was taken for 1.",)


def test_bone_scale_is_inherited(tmp_path: Path) -> None:
    bones = '<Bone name="a" scale="2 1 1"/>' + bone_text("b", "a", "3 0 0")
    skeleton = load_text(tmp_path, skeleton_text(bones)).skeleton
    assert skeleton is not None
    np.testing.assert_allclose(skeleton.model_from_bind[1, :3, 3], [6, 0, 0])


def test_several_skeletons_become_one_list_of_joints(tmp_path: Path) -> None:
    skeletons = (
        f'<Skeleton name="one">{TWO}</Skeleton><Skeleton name="two">{bone_text("c")}{bone_text("a", "c")}</Skeleton>'
    )
    vertices = "0 0 0 1 1 0 0 1 0 1 0 1"
    layout = 'count="3" ctype="fff h" semantic="position blendindices"'
    mesh = f'<vertexbuffer {layout}>{vertices}</vertexbuffer><indexbuffer count="1">0 1 2</indexbuffer>'
    text = f'<MeshSystem>{skeletons}<Mesh skeleton="null">{mesh}</Mesh><Mesh skeleton="two">{mesh}</Mesh></MeshSystem>'
    model = load_text(tmp_path, text)
    assert model.skeleton is not None
    assert model.skin is not None
    assert model.skeleton.names == ("a", "b", "c", "a (2)")
    assert model.skeleton.parents.tolist() == [-1, 0, -1, 2]
    # The first mesh follows the first skeleton, the second the one it names.
    assert model.skin.joints[:, 0].tolist() == [1, 1, 1, 3, 3, 3]


def test_a_track_drives_the_joint_of_its_name_in_each_skeleton(tmp_path: Path) -> None:
    skeletons = f'<Skeleton name="one">{TWO}</Skeleton><Skeleton name="two">{TWO}</Skeleton>'
    motion = f'<Animation duration="1" dtime="1">{track("b", "5 0 0 0 0 0 1 6 0 0 0 0 0 1", 2)}</Animation>'
    clip = load_text(tmp_path, f"<MeshSystem>{skeletons}{motion}</MeshSystem>").clips[0]
    np.testing.assert_array_equal(clip.key(1).positions, [[0, 0, 0], [6, 0, 0], [0, 0, 0], [6, 0, 0]])


def test_clip_of_the_sample(tmp_path: Path) -> None:
    clip = load_text(tmp_path, MESH_SYSTEM).clips[0]
    assert clip.name == "wave"
    np.testing.assert_allclose(clip.key_times, [0.0, 0.02, 0.04])
    np.testing.assert_array_equal(clip.key(2).positions, [[0, 2, 0], [1, 0, 2], [0, 2, 0]])
    # Zeros mean no rotation; the joint without a track keeps its bind pose, scale included.
    np.testing.assert_array_equal(np.abs(clip.key(2).orientations), [[0, 0, 0, 1]] * 3)
    np.testing.assert_array_equal(clip.key(2).scales, [[1, 1, 1], [1, 1, 1], [1, 1.5, 1]])


def test_a_track_without_scale_means_scale_one(tmp_path: Path) -> None:
    text = skeleton_text('<Bone name="a" scale="2 2 2"/>', tracks=track("a", STILL * 2, 2))
    np.testing.assert_array_equal(load_text(tmp_path, text).clips[0].key(0).scales, [[1, 1, 1]])


@pytest.mark.parametrize(
    ("payload", "count", "extra", "has_scale"),
    [
        (STILL * 2, 2, 'has_scale="true"', False),
        (STILL * 2, 2, 'has_scale="yes"', False),
        ((STILL + "1 1 1 ") * 2, 2, 'has_scale="false"', True),
        ((STILL + "1 1 1 ") * 2, 2, "", True),
        ((STILL + "1 1 1 ") * 2, 2, 'has_scale="1"', True),
        ((STILL + "1 1 1 ") * 2, 2, 'HAS_SCALE="TRUE"', True),
    ],
)
def test_the_number_of_tokens_decides_about_scale(
    tmp_path: Path, payload: str, count: int, extra: str, has_scale: bool
) -> None:
    raw = read_text(tmp_path, skeleton_text(TWO, tracks=track("a", payload, count, extra)))
    (found,) = raw.clips[0].tracks
    assert (found.scales is not None) == has_scale
    assert len(found.positions) == 2
    assert raw.warnings == []


def test_scale_of_one_track_does_not_reach_the_next(tmp_path: Path) -> None:
    tracks = track("a", STILL + "1 1 1", 1, 'has_scale="true"') + track("b", STILL, 1)
    raw = read_text(tmp_path, skeleton_text(TWO, tracks=tracks))
    assert [found.scales is None for found in raw.clips[0].tracks] == [False, True]


@pytest.mark.parametrize(
    ("payload", "count", "reason"),
    [
        (STILL, 2, "AnimTrack 'a' of animation 'a': holds 7 numbers, 2 poses of 7 need 14"),
        ("", 10_000_000, "AnimTrack 'a' of animation 'a': holds 0 numbers"),
        (STILL, -1, "AnimTrack 'a' of animation 'a': count '-1' is not a usable number"),
        ("0 0 x 0 0 0 1", 1, "AnimTrack 'a' of animation 'a': 'x' is not a number"),
        ("0 0 nan 0 0 0 1", 1, "AnimTrack 'a' of animation 'a': pose 0 has the unusable value nan"),
    ],
)
def test_tracks_that_cannot_be_used(tmp_path: Path, payload: str, count: int, reason: str) -> None:
    with pytest.raises(ModelError) as caught:
        read_text(tmp_path, skeleton_text(TWO, tracks=track("a", payload, count)))
    assert reason in str(caught.value)


def test_tracks_of_different_length(tmp_path: Path) -> None:
    tracks = track("a", STILL + "0 0 1 0 0 0 1" + " 0 0 2 0 0 0 1", 3) + track("b", "7 0 0 0 0 0 1", 1)
    model = load_text(tmp_path, skeleton_text(TWO, tracks=tracks, animation='name="x" duration="0.2" dtime="0.1"'))
    clip = model.clips[0]
    assert len(clip.key_times) == 3
    np.testing.assert_array_equal(clip.key(2).positions, [[0, 0, 2], [7, 0, 0]])
    assert model.warnings == ("Animation 'x': the track of 'b' is short; its last pose holds.",)


def test_tracks_that_drive_nothing(tmp_path: Path) -> None:
    tracks = (
        track("ghost", STILL * 2, 2) + track("a", STILL * 2, 2) + track("a", "9 9 9 0 0 0 1" * 1, 1) + track("b", "", 0)
    )
    model = load_text(tmp_path, skeleton_text(TWO, tracks=tracks, animation='name="x" duration="1" dtime="1"'))
    assert model.warnings == (
        "Animation 'x': no joint is called 'ghost'; its track is ignored.",
        "Animation 'x': a second track for 'a' is ignored.",
    )
    np.testing.assert_array_equal(model.clips[0].key(0).positions, [[0, 0, 0], [0, 1, 0]])


def test_several_clips_get_unique_names(tmp_path: Path) -> None:
    animation = f'<Animation name="x" duration="1" dtime="1">{track("a", STILL * 2, 2)}</Animation>'
    text = skeleton_text(TWO).replace("<Meshes>", animation * 2 + animation.replace('"x"', '""') + "<Meshes>")
    assert [clip.name for clip in load_text(tmp_path, text).clips] == ["x", "x (2)", "clip 3"]


def test_animations_that_cannot_play_are_left_out(tmp_path: Path) -> None:
    empty = load_text(tmp_path, skeleton_text(TWO, tracks=track("a", "", 0)))
    assert empty.clips == ()
    assert empty.warnings == ("Animation 'a' has no poses and is ignored.",)
    static = load_text(tmp_path, skeleton_text("", tracks=track("a", STILL, 1)))
    assert static.clips == ()
    assert static.warnings == ("Animations without a skeleton are ignored.",)


def test_a_single_key_is_a_pose(tmp_path: Path) -> None:
    clip = load_text(tmp_path, skeleton_text(TWO, tracks=track("a", "0 5 0 0 0 0 1", 1))).clips[0]
    assert (clip.key_times.tolist(), clip.duration) == ([0.0], 0.0)


def test_filling_in_poses_may_not_exhaust_memory(tmp_path: Path) -> None:
    bones = "".join(bone_text(str(number)) for number in range(4000))
    with pytest.raises(ModelError, match="Animations: need 4000000 poses for 4000 joints, the file holds 1000"):
        load_text(tmp_path, skeleton_text(bones, tracks=track("0", STILL * 1000, 1000)))
    many = skeleton_text(bones).replace(
        "<Meshes>", f'<Animation name="x">{track("0", STILL, 1)}</Animation>' * 400 + "<Meshes>"
    )
    with pytest.raises(ModelError, match="Animations: need 1600000 poses"):
        load_text(tmp_path, many)


@pytest.mark.parametrize(
    ("frames", "duration", "dtime", "step"),
    [
        (61, 1.199999928, 4.0, 1.199999928 / 60),  # FBX converter
        (41, 40 / 60, 1 / 60, 1 / 60),  # Granny, legacy
        (40, 40 / 60, 1 / 60, 1 / 60),  # Granny, MeshSystem
        (300, 6.250000477, 0.083333343, 6.250000477 / 299),  # retimed
        (10, 10 / 30, 1 / 30, 1 / 30),  # PSK, Ogre
        (2, 0.0333, 0.01667, 0.01667),
        (11, 1.0, 0.1009, 0.1009),  # within one per cent
        (11, 1.0, 0.1011 * 1.1, 0.1),  # not within one per cent
        (11, 1.0, 0.0, 0.1),
        (1, 1.0, 0.5, 0.0),
        (0, 1.0, 0.5, 0.0),
    ],
)
def test_timing_rule(frames: int, duration: float, dtime: float, step: float) -> None:
    assert frame_step(frames, duration, dtime) == (pytest.approx(step, rel=1e-12), None)


@pytest.mark.parametrize("duration", [0.0, -1.0, float("nan"), float("inf"), 1e-300])
def test_timing_without_a_usable_duration(duration: float) -> None:
    step, note = frame_step(5, duration, 0.04)
    assert step == 0.04
    assert note == "has no usable duration; 0.04 s between keys is taken from dtime"
    step, note = frame_step(5, duration, -3.0)
    assert step == DEFAULT_STEP
    assert note is not None


@given(st.integers(0, 10_000), st.floats(), st.floats())
def test_the_step_is_always_usable(frames: int, duration: float, dtime: float) -> None:
    step, _ = frame_step(frames, duration, dtime)
    assert step == 0.0 if frames < 2 else 0.0 < step < 1e9


@pytest.mark.parametrize("text", ["abc", "", "nan", "1e999"])
def test_timing_text_that_is_no_number_is_judged_as_missing(tmp_path: Path, text: str) -> None:
    source = skeleton_text(TWO, tracks=track("a", STILL * 2, 2), animation=f'name="x" duration="{text}" dtime="{text}"')
    model = load_text(tmp_path, source)
    assert model.clips[0].key_times[1] == pytest.approx(DEFAULT_STEP)
    assert len(model.warnings) == 1
