import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.fbx.reader import _at
from sinew.sim.assets.in_betweens import with_crossings
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import Interpolation
from sinew.sim.assets.raw import LoadCancelled, ModelError
from sinew.sim.characters.reference import skin
from sinew.sim.characters.settings import SkinningMethod
from tests.conftest import slow
from tests.fbx_samples import write_mixamo, write_shapes
from tests.refusals import refusal

pytestmark = pytest.mark.skipif(importlib.util.find_spec("ufbx") is None, reason="needs ufbx")

ORACLES = Path(__file__).parents[2] / "oracles"
LBS, DQS = SkinningMethod.LBS, SkinningMethod.DQS_SCALE
BOXES = [
    ("maya_game_sausage_7500_binary_wiggle", "wiggle", 9 / 24, LBS,
     (-0.72883, -0.17979, -0.5), (1.69296, 2.17589, 0.5), 1e-5),
    ("maya_game_sausage_7500_binary_combined", "spin", 15 / 24, LBS,
     (-0.70689, 0.01821, -0.70689), (0.70689, 3.35006, 0.70689), 1e-5),
    ("maya_dual_quaternion_scale_7500_ascii", "", 0.0, DQS, (-0.594, -2.0, -1.02383), (1.69044, 2.0, 1.11888), 1e-5),
    ("max7_skin_5000_binary", "Take 001", 15 / 30, LBS,
     (-19.06824, 1.21528, -29.02194), (9.61087, 70.92134, 9.61086), 1e-4),
    ("maya_split_pivot_6100_ascii", "Take 001", 5 / 24, LBS, (1.75, 0.0, -0.5), (3.5, 4.5, 0.5), 1e-5),
]  # fmt: skip
"""File, clip, time in the clip [s], method, smallest and largest corner [cm], tolerance as part of the extent."""


@pytest.fixture(scope="module")
def folder(assets: Path) -> Path:
    if not (assets / "fbx").is_dir():
        pytest.skip("no FBX files")
    return assets / "fbx" / "ufbx"


@pytest.mark.parametrize(("name", "clip", "time", "method", "low", "high", "tolerance"), BOXES)
def test_vertices_are_where_other_programs_wrote_them(name, clip, time, method, low, high, tolerance, folder):
    model = load_model(folder / f"{name}.fbx")
    found = next((one for one in model.clips if one.name == clip), None)
    pose = evaluate_pose(model, found, time, interpolation=Interpolation.LINEAR)
    vertices = skin(model.mesh, model.skin, pose.palette, method, pose.centres, pose.local.weights).positions * 100.0
    extent = np.max(np.subtract(high, low))
    np.testing.assert_allclose(vertices.min(axis=0), low, atol=tolerance * extent + 5e-6)
    np.testing.assert_allclose(vertices.max(axis=0), high, atol=tolerance * extent + 5e-6)


@pytest.mark.parametrize("name", [
    "blender_279_sausage_7400_binary", "maya_blend_shape_cube_7700_binary", "maya_axes_7700_ascii",
    "max_transformed_skin_7500_binary",
    *map(slow, (
        "casegen_rotation_order_7500_binary", "maya_advanced_skinned_pivot_7700_binary",
        "maya_anim_layers_over_acc_orders_7500_binary", "maya_instanced_pivots_7700_ascii",
        "maya_extrapolate_cube_7700_ascii", "maya_pivots_7500_binary", "maya_transformed_skin_7700_binary",
        "motionbuilder_tangent_tcb_7700_ascii",
    )),
])  # fmt: skip
def test_vertices_are_where_ufbx_evaluates_them(name: str, folder: Path) -> None:
    compare(folder / f"{name}.fbx", 1e-5)


def compare(file: Path, tolerance: float, later: str = "0") -> None:
    output = subprocess.run(
        [sys.executable, ORACLES / "ufbx_boxes.py", file, later],
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    ).stdout
    model = load_model(file)
    method = SkinningMethod.DQS if "dual quaternions" in "".join(model.warnings) else LBS
    rows = json.loads(output.splitlines()[-1])
    # Of all frames: a small thing may move far.
    extent = max(np.ptp([low for _, _, low, _ in rows] + [high for *_, high in rows], axis=0), default=0.0)
    for stack, time, low, high in rows:
        clip = next((one for one in model.clips if one.name == stack), None)
        pose = evaluate_pose(model, clip, time, interpolation=Interpolation.LINEAR)
        vertices = skin(model.mesh, model.skin, pose.palette, method, pose.centres, pose.local.weights).positions
        np.testing.assert_allclose(vertices.min(axis=0), low, atol=tolerance * extent)
        np.testing.assert_allclose(vertices.max(axis=0), high, atol=tolerance * extent)


def test_a_file_that_is_damaged_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a.fbx"
    for data in (b"Kaydara FBX Binary  \0\x1a\0" + bytes(100), b"no FBX", b""):
        path.write_bytes(data)
        assert refusal(load_model, path)


@pytest.mark.parametrize("count", [3, slow(12)])
def test_bits_that_flip_end_in_a_model_or_in_one_line(folder: Path, tmp_path: Path, count: int) -> None:
    data = (folder / "maya_game_sausage_7500_binary_wiggle.fbx").read_bytes()
    random, path, refusals = np.random.default_rng(3), tmp_path / "a.fbx", []
    for _ in range(count):
        damaged = bytearray(data)
        for place in random.integers(0, len(damaged), 20):
            damaged[place] ^= 1 << random.integers(0, 8)
        path.write_bytes(damaged)
        try:
            load_model(path)
        except ModelError as error:
            refusals.append(str(error))
    assert not any("\n" in text for text in refusals)


def test_cancelling_ends_the_process(folder: Path) -> None:
    with pytest.raises(LoadCancelled):
        load_model(folder / "maya_game_sausage_7500_binary_wiggle.fbx", cancelled=lambda: True)


def test_phong_becomes_metallic_roughness(assets: Path) -> None:
    (material, *_) = load_model(assets / "fbx/ufbx/maya_phong_properties_7700_ascii.fbx").materials
    base, dielectric, metal, roughness = material.reflectance
    assert base == material.diffuse
    np.testing.assert_allclose(dielectric, (0.0144, 0.0152, 0.016), rtol=1e-5)
    assert (metal, roughness) == (0.0, pytest.approx(0.41113, abs=1e-5))


def sections(model) -> list[str]:
    return [model.materials[section.material].name for section in model.mesh.sections if section.material >= 0]


def test_concave_polygons_do_not_overlap(folder: Path) -> None:
    mesh = load_model(folder / "blender_300_ngon_e_7400_binary.fbx").mesh
    a, b, c = (mesh.positions[mesh.triangles[:, corner]].astype(np.float64) for corner in range(3))
    areas = np.cross(b - a, c - a)
    assert (areas @ areas.sum(axis=0) >= 0.0).all()


def test_instances_of_a_mesh_have_materials_of_their_own(folder: Path) -> None:
    model = load_model(folder / "max_instanced_material_7700_binary.fbx")
    assert sections(model) == ["GreenMat", "RedMat", "BlueMat"]


def test_of_levels_of_detail_the_first_one_is_drawn(folder: Path) -> None:
    model = load_model(folder / "maya_lod_group_7500_ascii.fbx")
    assert [section.triangle_count for section in model.mesh.sections] == [120, 24]
    assert "4 lower detail levels of the file are left out." in model.warnings


def test_a_file_whose_only_mesh_is_hidden_shows_it(folder: Path) -> None:
    assert load_model(folder / "maya_cube_hidden_7500_ascii.fbx").mesh.triangle_count == 12


def test_hidden_meshes_are_left_out(tmp_path: Path) -> None:
    path = write_mixamo(tmp_path / "a.fbx")
    path.write_text(
        path.read_text()
        .replace("Objects: {", """Objects: {
Geometry: 5, "Geometry::Proxy", "Mesh" {
    Vertices: *9 { a: 0,0,0,1,0,0,0,1,0 } PolygonVertexIndex: *3 { a: 0,1,-3 }
}
Model: 6, "Model::Proxy", "Mesh" { Version: 232 Properties70: {
P: "Visibility", "Visibility", "", "A",0
} }""")
        .replace("Connections: {", "Connections: {\nC: \"OO\",5,6\nC: \"OO\",6,0")
    )  # fmt: skip
    model = load_model(path)
    assert model.mesh.triangle_count == load_model(write_mixamo(tmp_path / "b.fbx")).mesh.triangle_count
    assert "1 hidden object of the file is left out." in model.warnings


def test_a_black_colour_set_is_not_drawn(folder: Path) -> None:
    colours = load_model(folder / "maya_uv_and_color_sets_7500_ascii.fbx").mesh.colours
    assert colours is not None
    assert (colours[:, :3] == 1.0).all()


@pytest.mark.slow
def test_beside_a_skeleton_single_nodes_are_left_out(assets: Path) -> None:
    skeleton = load_model(assets / "fbx/ozz/pab_walk.fbx").skeleton
    assert skeleton is not None
    assert [name for name, parent in zip(skeleton.names, skeleton.parents, strict=True) if parent < 0] == ["Hips"]


def test_a_lost_image_does_not_glow(folder: Path) -> None:
    (material,) = load_model(folder / "maya_texture_layers_7500_binary.fbx").materials
    assert material.texture == "checkerboard_weight.png"
    assert material.emission == (0.0, 0.0, 0.0)


def test_transparency_is_colour_times_factor_at_factor_1(folder: Path) -> None:
    (maya, *_) = load_model(folder / "maya_phong_properties_7700_ascii.fbx").materials
    (blender,) = load_model(folder / "blender_293_material_mapping_7400_binary.fbx").materials
    assert maya.opacity == pytest.approx(0.95, abs=1e-6)
    assert blender.opacity == pytest.approx(0.4556, abs=1e-3)


@pytest.mark.parametrize(
    ("percents", "weight", "moved"),
    [
        # Number i is 1 cm longer than the one before; between two, the weights are shares of both.
        slow([50, 100], 75, 0.5 * 1 + 0.5 * 2),
        ([100, 50], 75, 0.5 * 1 + 0.5 * 2),
        slow([100, 50], 25, 0.5 * 2),
        slow([100, 50], 150, 2 * 1 - 1 * 2),
        slow([-100, 100], 40, 0.4 * 2),
        ([-100, 100], -40, 0.4 * 1),
        slow([50, -50, 100, -100], -75, 0.5 * 2 + 0.5 * 4),
        ([50, -50, 100, -100], -150, 2 * 4 - 1 * 2),
        slow([-100, -50], -75, 0.5 * 1 + 0.5 * 2),
        slow([-100, -50], 25, -0.5 * 2),
        slow([-80], -40, 0.5),
        ([50, 100], -25, -0.5),
    ],
)
def test_in_betweens_of_any_order_and_sign(percents, weight, moved, tmp_path: Path) -> None:
    model = load_model(write_shapes(tmp_path / "a.fbx", percents, weight))
    pose = evaluate_pose(model, None, 0.0, interpolation=Interpolation.LINEAR)
    shaped = skin(model.mesh, model.skin, pose.palette, LBS, pose.centres, pose.local.weights).positions
    plain = skin(model.mesh, model.skin, pose.palette, LBS, pose.centres, 0.0 * pose.local.weights).positions
    offsets = (shaped - plain)[:, 0]
    assert offsets[np.argmax(np.abs(offsets))] == pytest.approx(moved / 100.0, abs=1e-6)


@pytest.mark.parametrize("later", ["0.29", slow("0.98")])
@pytest.mark.parametrize("name", [
    "maya_anim_interpolation_7700_binary", "maya_extrapolate_cube_7700_binary", "motionbuilder_tangent_tcb_7700_ascii",
    *map(slow, (
        "maya_transform_animation_7500_binary", "maya_anim_layers_over_acc_orders_7500_binary",
        "motionbuilder_tangent_velocity_split_7700_binary", "maya_game_sausage_7500_binary_wiggle",
    )),
])  # fmt: skip
def test_between_frames_vertices_are_where_ufbx_evaluates_them(name: str, later: str, folder: Path) -> None:
    compare(folder / f"{name}.fbx", 5e-4, later)


@pytest.mark.campaign
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("later", ["0", "0.37"])
def test_every_file_is_where_ufbx_evaluates_it(later: str, assets: Path) -> None:
    """Of animated files whose objects are all shown (the boxes of ufbx contain hidden ones) in one skinning method."""
    count = 0
    for file in sorted((assets / "fbx").rglob("*.fbx")):
        if later == "0" and file.name == "maya_late_stepped_tangents_7700_ascii.fbx":
            continue  # Its values jump just after a key; a clip has the later value at the key.
        try:
            model = load_model(file)
        except ModelError:
            continue
        if model.clips and model.mesh.vertex_count and not re.search("hidden|mixes", "".join(model.warnings)):
            compare(file, 5e-4, later)
            count += 1
    print(f"{count} files")
    assert count > 80


def test_steps_jump(folder: Path) -> None:
    clip = load_model(folder / "maya_anim_interpolation_7700_binary.fbx").clips[0]
    jump = int(np.argmax([
        np.abs(clip.sample(time, Interpolation.LINEAR).positions
               - clip.sample(time - 1e-7, Interpolation.LINEAR).positions).max() for time in clip.key_times
    ]))  # fmt: skip
    time = clip.key_times[jump]
    before, after = (clip.sample(at, Interpolation.LINEAR).positions for at in (time - 1e-7, time))
    earlier = clip.sample(time - 1e-3, Interpolation.LINEAR).positions
    assert np.abs(after - before).max() > 1e-3
    np.testing.assert_allclose(before, earlier, atol=1e-9)


def test_jumps_of_weights_stay_jumps() -> None:
    times, weights = np.array([0.0, 1.0, 1.0, 2.0]), np.array([0.2, 0.4, 0.8, 1.2])
    found, values = with_crossings(times, weights, [0.5, 1.0])
    np.testing.assert_allclose(found, [0.0, 1.0, 1.0, 1.5, 2.0])
    np.testing.assert_allclose(values, [0.2, 0.4, 0.8, 1.0, 1.2])
    at = np.array([1.0])
    assert _at(at, times, weights[:, None], False, "left") == pytest.approx(0.4)
    assert _at(at, times, weights[:, None], False, "right") == pytest.approx(0.8)
    assert _at(np.array([2.0]), times[:3], weights[:3, None], False) == pytest.approx(0.8)


def test_long_animations_say_that_they_are_straight_between_frames(folder: Path) -> None:
    data = (folder / "maya_transform_animation_7500_binary.fbx").read_bytes()
    scene = subprocess.run(
        [sys.executable, "-c", "import sys, os, json; from sinew.sim.assets.fbx import child; child.PROBES_MAX = 50;"
         "found = child.content(sys.stdin.buffer.read()); print(json.loads(bytes(found['document']))['is_resampled'],"
         " flush=True); os._exit(0)"], input=data, capture_output=True, check=True,
    )  # fmt: skip
    assert scene.stdout.strip() == b"False"


@pytest.mark.parametrize("value", ["nan", "1e300", "inf"])
def test_a_joint_whose_place_is_no_number_is_named(value: str, tmp_path: Path) -> None:
    path = write_mixamo(tmp_path / "a.fbx")
    path.write_text(path.read_text().replace("15.0,0.0", f"{value},0.0"))
    reason = refusal(load_model, path)
    assert "mixamorig:Neck" in reason
    assert "Error" not in reason


def test_a_shape_that_moves_points_beyond_the_mesh_is_named(tmp_path: Path) -> None:
    path = write_shapes(tmp_path / "a.fbx", [100], 50, point=2147483647)
    assert refusal(load_model, path) == "blend shape 'smile' of mesh 'Body': names point 2147483647 of 312"


@pytest.mark.parametrize("name", ["index_out_of_range", "not_finite_a", "not_finite_b"])
def test_damaged_files_are_refused_with_their_reason(name: str, assets: Path) -> None:
    path = assets / "faults4" / f"{name}.fbx"
    if not path.exists():
        pytest.skip("no damaged files")
    reason = refusal(load_model, path)
    assert "Error" not in reason
