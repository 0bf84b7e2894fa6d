from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.assets.build_skeleton import parents_by_index, parents_by_name
from sinew.sim.assets.clip import DEFAULT_STEP, frame_step
from sinew.sim.assets.raw import ModelError
from tests.ezm_samples import bone_text, load_text, read_text, skeleton_text

TWO = bone_text("a") + bone_text("b", "a", "0 1 0")
STILL = "0 0 0 0 0 0 1 "


def track(name: str, payload: str, count: int | str, extra: str = "") -> str:
    return f'<AnimTrack name="{name}" count="{count}" {extra}>{payload}</AnimTrack>'


def test_what_a_bone_does_not_say_is_the_default_and_an_unknown_parent_makes_a_root(tmp_path: Path) -> None:
    bones = bone_text("a", "ghost") + bone_text("b", "A") + bone_text("c", "c")
    model = load_text(tmp_path, skeleton_text(bones))
    assert model.skeleton.parents.tolist() == [-1, -1, -1]
    assert model.warnings == (
        "Joint 'a': parent 'ghost' does not exist; it becomes a root.",
        "Joint 'b': parent 'A' does not exist; it becomes a root.",
        "Joint 'c' is its own parent; it becomes a root.",
    )
    assert parents_by_name(["a", "a", "b"], [None, "a", "a"]) == ([-1, 0, 0], [])
    bones = '<Bone name="a" orientation="0 0 0 0"/><Bone name="b" orientation="0,0,3,4"/>'
    first, second = read_text(tmp_path, skeleton_text(bones)).skeletons[0].bones
    assert (first.position.tolist(), first.scale.tolist()) == ([0, 0, 0], [1, 1, 1])
    assert first.orientation.tolist() == [0, 0, 0, 1]
    np.testing.assert_allclose(second.orientation, [0, 0, 0.6, 0.8])


def test_a_cycle_is_broken(tmp_path: Path) -> None:
    bones = bone_text("a", "c") + bone_text("b", "a") + bone_text("c", "b") + bone_text("d", "c")
    model = load_text(tmp_path, skeleton_text(bones))
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


def test_equal_and_missing_names_become_unique(tmp_path: Path) -> None:
    bones = bone_text("a") + bone_text("a", "a") + bone_text("") + bone_text("a (2)") + bone_text("bone 3")
    model = load_text(tmp_path, skeleton_text(bones))
    assert len(set(model.skeleton.names)) == 5
    assert model.skeleton.names[0] == "a"
    assert model.skeleton.names[3:] == ("a (2)", "bone 3")
    assert "The bone name 'a' is used more than once." in model.warnings


def test_scales_that_multiply_beyond_all_bounds_are_refused(tmp_path: Path) -> None:
    chain = "".join(
        f'<Bone name="{number}" parent="{number - 1}" scale="1e12 1 1" position="1 1 1"/>' for number in range(40)
    )
    with pytest.raises(ModelError, match="its transform is beyond all bounds"):
        load_text(tmp_path, skeleton_text(chain))


def test_a_bind_scale_of_zero_is_taken_for_one(tmp_path: Path) -> None:
    model = load_text(tmp_path, skeleton_text('<Bone name="flat" scale="1 0 1"/>'))
    np.testing.assert_array_equal(model.skeleton.bind_scales, [[1, 1, 1]])
    assert model.warnings == ("Bone 'flat' has a bind scale of zero, which was taken for 1.",)


def test_several_skeletons_become_one_list_of_joints(tmp_path: Path) -> None:
    skeletons = (
        f'<Skeleton name="one">{TWO}</Skeleton><Skeleton name="two">{bone_text("c")}{bone_text("a", "c")}</Skeleton>'
    )
    vertices = "0 0 0 1 1 0 0 1 0 1 0 1"
    layout = 'count="3" ctype="fff h" semantic="position blendindices"'
    mesh = f'<vertexbuffer {layout}>{vertices}</vertexbuffer><indexbuffer count="1">0 1 2</indexbuffer>'
    text = f'<MeshSystem>{skeletons}<Mesh skeleton="null">{mesh}</Mesh><Mesh skeleton="two">{mesh}</Mesh></MeshSystem>'
    model = load_text(tmp_path, text)
    assert model.skeleton.names == ("a", "b", "c", "a (2)")
    assert model.skeleton.parents.tolist() == [-1, 0, -1, 2]
    # The first mesh follows the first skeleton, the second the one it names.
    assert model.skin.joints[:, 0].tolist() == [1, 1, 1, 3, 3, 3]


def test_a_track_drives_the_joint_of_its_name_in_each_skeleton(tmp_path: Path) -> None:
    skeletons = f'<Skeleton name="one">{TWO}</Skeleton><Skeleton name="two">{TWO}</Skeleton>'
    motion = f'<Animation duration="1" dtime="1">{track("b", "5 0 0 0 0 0 1 6 0 0 0 0 0 1", 2)}</Animation>'
    clip = load_text(tmp_path, f"<MeshSystem>{skeletons}{motion}</MeshSystem>").clips[0]
    np.testing.assert_array_equal(clip.key(1).positions, [[0, 0, 0], [6, 0, 0], [0, 0, 0], [6, 0, 0]])


def test_the_number_of_tokens_decides_about_scale(tmp_path: Path) -> None:
    scaled = STILL + "1 1 1 "
    for payload, extra, has_scale in (
        (STILL * 2, 'has_scale="true"', False), (STILL * 2, 'has_scale="yes"', False),
        (scaled * 2, 'has_scale="false"', True), (scaled * 2, "", True), (scaled * 2, 'HAS_SCALE="TRUE"', True),
    ):  # fmt: skip
        tracks = track("a", payload, 2, extra) + track("b", STILL, 1)
        raw = read_text(tmp_path, skeleton_text(TWO, tracks=tracks))
        assert [found.scales is not None for found in raw.clips[0].tracks] == [has_scale, False]
        assert raw.warnings == []


def test_tracks_that_cannot_be_used(tmp_path: Path) -> None:
    for payload, count, reason in (
        (STILL, 2, "AnimTrack 'a' of animation 'a': holds 7 numbers, 2 poses of 7 need 14"),
        ("", 10_000_000, "AnimTrack 'a' of animation 'a': holds 0 numbers"),
        (STILL, -1, "AnimTrack 'a' of animation 'a': count '-1' is not a usable number"),
        ("0 0 x 0 0 0 1", 1, "AnimTrack 'a' of animation 'a': 'x' is not a number"),
        ("0 0 nan 0 0 0 1", 1, "AnimTrack 'a' of animation 'a': pose 0 has the unusable value nan"),
    ):
        with pytest.raises(ModelError) as caught:
            read_text(tmp_path, skeleton_text(TWO, tracks=track("a", payload, count)))
        assert reason in str(caught.value)


def test_tracks_of_different_length_and_tracks_that_drive_nothing(tmp_path: Path) -> None:
    tracks = track("ghost", STILL, 1) + track("a", STILL + "0 0 1 0 0 0 1" + " 0 0 2 0 0 0 1", 3)
    tracks += track("b", "7 0 0 0 0 0 1", 1) + track("a", "9 9 9 0 0 0 1", 1) + track("b", "", 0)
    model = load_text(tmp_path, skeleton_text(TWO, tracks=tracks, animation='name="x" duration="0.2" dtime="0.1"'))
    clip = model.clips[0]
    assert len(clip.key_times) == 3
    np.testing.assert_array_equal(clip.key(2).positions, [[0, 0, 2], [7, 0, 0]])
    assert set(model.warnings) == {
        "Animation 'x': the track of 'b' is short; its last pose holds.",
        "Animation 'x': no joint is called 'ghost'; its track is ignored.",
        "Animation 'x': a second track for 'a' is ignored.",
        "Animation 'x': a second track for 'b' is ignored.",
    }


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


def test_filling_in_poses_may_not_exhaust_memory(tmp_path: Path) -> None:
    bones = "".join(bone_text(str(number)) for number in range(4000))
    with pytest.raises(ModelError, match="Animations: need 4000000 poses for 4000 joints, the file holds 1000"):
        load_text(tmp_path, skeleton_text(bones, tracks=track("0", STILL * 1000, 1000)))
    many = skeleton_text(bones).replace(
        "<Meshes>", f'<Animation name="x">{track("0", STILL, 1)}</Animation>' * 400 + "<Meshes>"
    )
    with pytest.raises(ModelError, match="Animations: need 1600000 poses"):
        load_text(tmp_path, many)


def test_timing_rule() -> None:
    for frames, duration, dtime, step in (
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
    ):
        assert frame_step(frames, duration, dtime) == (pytest.approx(step, rel=1e-12), None)


@pytest.mark.parametrize("duration", [0.0, -1.0, float("nan"), float("inf"), 1e-300])
def test_timing_without_a_usable_duration(tmp_path: Path, duration: float) -> None:
    step, note = frame_step(5, duration, 0.04)
    assert step == 0.04
    assert note == "has no usable duration; 0.04 s between keys is taken from dtime"
    step, note = frame_step(5, duration, -3.0)
    assert step == DEFAULT_STEP
    assert note is not None
    source = skeleton_text(TWO, tracks=track("a", STILL * 2, 2), animation='name="x" duration="abc" dtime="nan"')
    model = load_text(tmp_path, source)
    assert model.clips[0].key_times[1] == pytest.approx(DEFAULT_STEP)
    assert len(model.warnings) == 1


@given(st.integers(0, 10_000), st.floats(), st.floats())
def test_the_step_is_always_usable(frames: int, duration: float, dtime: float) -> None:
    step, _ = frame_step(frames, duration, dtime)
    assert step == 0.0 if frames < 2 else 0.0 < step < 1e9


def test_bones_that_cannot_be_used(tmp_path: Path) -> None:
    for bone, reason in (
        ('<Bone name="a" position="0 0"/>', "Bone 'a': position has 2 numbers, needs 3"),
        ('<Bone name="a" orientation="0 0 1"/>', "Bone 'a': orientation has 3 numbers, needs 4"),
        ('<Bone name="a" scale="1 one 1"/>', "Bone 'a': scale: 'one' is not a number"),
        ('<Bone name="a" position="0 nan 0"/>', "Bone 'a': its transform has the unusable value nan"),
        ('<Bone name="a" position="0 1e300 0"/>', "Bone 'a': its transform has the unusable value 1e+300"),
        ("<Bone/>" * 8193, "Bone: there are more than 8192"),
    ):
        with pytest.raises(ModelError) as caught:
            read_text(tmp_path, skeleton_text(bone))
        assert reason in str(caught.value)
