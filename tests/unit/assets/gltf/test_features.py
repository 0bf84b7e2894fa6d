import base64

import numpy as np
import pytest

from sinew.sim.animation.evaluate import bind_pose, evaluate_pose
from sinew.sim.assets.images import load_image
from sinew.sim.assets.influences import joint_boxes, weighted_vertex_counts
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import AlphaMode, EmbeddedImage, Interpolation
from sinew.sim.assets.raw import ModelError
from sinew.sim.assets.rig import FileCamera
from sinew.sim.characters.materials import overridden
from sinew.sim.characters.reference import skin
from sinew.sim.characters.settings import MaterialLook, ModelSettings, SkinningMethod
from sinew.sim.kinds.camera.kind import cameras_of_file
from sinew.sim.kinds.camera.settings import CameraSettings
from sinew.sim.scene.scene import Attachment, Node
from tests.gltf_samples import QUAD, TRIANGLE, Sample, morphing, png_bytes, skinned

HALF = np.sqrt(0.5)


def material_of(tmp_path, **stored):
    sample = Sample()
    sample.put("materials", stored)
    sample.mesh(material=0)
    return sample.load(tmp_path).materials[0]


def posed(model, time=None, method=SkinningMethod.LBS):
    pose = bind_pose(model) if time is None else evaluate_pose(model, model.clips[0], time)
    return skin(model.mesh, model.skin, pose.palette, method, pose.centres, pose.local.weights)


def test_a_rigid_part_is_where_its_node_is(tmp_path):
    sample = Sample()
    sample.mesh(node={"translation": [0, 0, 5], "scale": [2, 2, 2], "name": "part"})
    sample.put("nodes", {"children": [0], "rotation": [0, 0, HALF, HALF], "name": "holder"})
    sample.animate(1, "translation", [0, 1], [[0, 0, 0], [10, 0, 0]])
    model = sample.load(tmp_path)
    expected = np.array([[0, 0, 5], [0, 4, 5], [-2, 0, 5]])
    np.testing.assert_allclose(model.mesh.positions, expected, atol=1e-6)
    np.testing.assert_allclose(posed(model).positions, expected, atol=1e-6)
    np.testing.assert_allclose(posed(model, 0.5).positions, np.add(expected, [5, 0, 0]), atol=1e-6)
    assert model.skeleton.names == ("part", "holder")
    assert (model.default_up_axis, model.default_texture_origin) == ("Y", "top")
    assert weighted_vertex_counts(model.skin, 2).tolist() == [3, 0]


def test_a_mirror_keeps_the_outside_outside(tmp_path):
    sample = Sample()
    normals = sample.add([[0, 0, 1]] * 3)
    sample.mesh(attributes={"NORMAL": normals}, node={"scale": [-1, 1, 1]})
    mesh = sample.load(tmp_path).mesh
    a, b, c = mesh.positions[mesh.triangles[0]]
    np.testing.assert_allclose(np.cross(b - a, c - a) / 2.0, [0, 0, 1], atol=1e-6)
    np.testing.assert_allclose(mesh.normals, [[0, 0, 1]] * 3, atol=1e-6)


def test_a_mesh_on_two_nodes_and_its_instances(tmp_path):
    sample = Sample()
    sample.mesh(node={"translation": [0, 0, 1]})
    sample.put("nodes", {"mesh": 0, "translation": [0, 0, 2]})
    places = sample.add([[5, 0, 0], [6, 0, 0]])
    extension = {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": places}}}
    sample.put("nodes", {"mesh": 0, "extensions": extension})
    model = sample.load(tmp_path)
    np.testing.assert_array_equal(model.mesh.positions[::3], [[0, 0, 1], [0, 0, 2], [5, 0, 0], [6, 0, 0]])
    np.testing.assert_array_equal(model.mesh.triangles, np.arange(12).reshape(4, 3))


def test_two_skins_may_share_joints(tmp_path):
    sample = skinned()
    moved = np.tile(np.eye(4), (2, 1, 1))
    moved[:, 3, 0] = 7.0  # column after column: seven to the right
    sample.put("skins", {"joints": [2, 1], "inverseBindMatrices": sample.add(moved.reshape(2, 16))})
    sample.put("nodes", {"mesh": 0, "skin": 1})
    model = sample.load(tmp_path)
    palette = model.skin.palette
    assert palette.entry_joints.tolist() == [1, 2, 2, 1]
    np.testing.assert_allclose(model.mesh.positions[:3], TRIANGLE, atol=1e-6)
    np.testing.assert_allclose(model.mesh.positions[3:], np.add(TRIANGLE, [7, 0, 0]), atol=1e-6)
    # Joint 1 moves two vertices of the first and, being the second of the other skin, two of its.
    assert weighted_vertex_counts(model.skin, 4).tolist() == [0, 4, 4, 0]
    np.testing.assert_allclose(model.skin.weights_of(1), [1, 0.5, 0, 0, 0.5, 1], atol=1e-6)
    np.testing.assert_allclose(posed(model, 1.0).positions[2], [0, 1, 2], atol=1e-6)


def test_quantisation_changes_no_pose(tmp_path):
    method = SkinningMethod.DQS
    plain = skinned()
    quantised = Sample()
    quantised.document = {**plain.document, "extensionsRequired": ["KHR_mesh_quantization"]}
    quantised.chunk = plain.chunk
    stored = quantised.add(TRIANGLE * 50 + 10, np.int16)
    leads_back = np.diag([0.02, 0.02, 0.02, 1.0])
    leads_back[:3, 3] = -0.2
    binds = quantised.add(np.tile(leads_back.T.ravel(), (2, 1)))
    expected = posed(plain.load(tmp_path), 0.8, method)
    quantised.document["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = stored
    quantised.document["skins"][0]["inverseBindMatrices"] = binds
    model = quantised.load(tmp_path)
    np.testing.assert_allclose(model.mesh.positions, TRIANGLE, atol=1e-6)
    np.testing.assert_allclose(posed(model, 0.8, method).positions, expected.positions, atol=1e-6)


def test_more_influences_than_are_blended_are_the_strongest(tmp_path):
    sample = Sample()
    weights = np.linspace(0.01, 0.12, 12) / np.linspace(0.01, 0.12, 12).sum()
    attributes = {}
    for number in range(3):
        own = slice(4 * number, 4 * number + 4)
        attributes[f"JOINTS_{number}"] = sample.add([np.arange(12)[own]] * 3, np.uint16)
        attributes[f"WEIGHTS_{number}"] = sample.add([weights[own]] * 3)
    sample.mesh(attributes=attributes, node={"skin": 0})
    for _ in range(12):
        sample.put("nodes", {})
    sample.put("skins", {"joints": list(range(1, 13))})
    model = sample.load(tmp_path)
    assert model.skin.influence_max == 8
    np.testing.assert_allclose(model.skin.weights[0], weights[:3:-1] / weights[4:].sum(), atol=1e-6)
    assert model.skin.joints_of(model.skin.joints[0]).tolist() == list(range(12, 4, -1))
    assert "Only the 8 strongest influences of 3 vertices are blended." in model.warnings


def test_strided_interleaved_sparse_and_empty_accessors(tmp_path):
    sample = Sample()
    rows = np.zeros(4, np.dtype([("n", "<f4", 3), ("p", "<f4", 3)]))
    rows["p"], rows["n"] = QUAD, (0, 0, 1)
    view = sample.chunk.view(rows.tobytes(), byteStride=24)
    common = {"bufferView": view, "componentType": 5126, "count": 4, "type": "VEC3"}
    sample.chunk.accessors += [{**common, "byteOffset": 12}, {**common}]
    where, what = (
        sample.chunk.view(np.array([3], np.uint16).tobytes()),
        sample.chunk.view(np.float32([9, 9, 9]).tobytes()),
    )
    sparse = {"count": 1, "indices": {"bufferView": where, "componentType": 5123}, "values": {"bufferView": what}}
    sample.chunk.accessors.append({**common, "byteOffset": 12, "sparse": sparse})
    sample.chunk.accessors.append({"componentType": 5126, "count": 4, "type": "VEC3", "sparse": sparse})
    for number in (0, 2, 3):
        mesh = sample.put("meshes", {"primitives": [{"attributes": {"POSITION": number, "NORMAL": 1}}]})
        sample.put("nodes", {"mesh": mesh})
    positions = sample.load(tmp_path).mesh.positions.reshape(3, 4, 3)
    np.testing.assert_array_equal(positions[0], QUAD)
    np.testing.assert_array_equal(positions[1], [*QUAD[:3], [9, 9, 9]])
    np.testing.assert_array_equal(positions[2], [[0, 0, 0]] * 3 + [[9, 9, 9]])


@pytest.mark.parametrize(
    ("dtype", "stored", "expected"),
    [(np.uint8, [0, 255], [0, 1]), (np.uint16, [0, 65535], [0, 1]), (np.int8, [-128, 127], [-1, 1]),
     (np.int16, [-32768, 32767], [-1, 1])],
)  # fmt: skip
def test_normalised_numbers(tmp_path, dtype, stored, expected):
    sample = Sample()
    coordinates = sample.add([stored, stored, stored], dtype, normalized=True)
    sample.mesh(attributes={"TEXCOORD_0": coordinates})
    np.testing.assert_array_equal(sample.load(tmp_path).mesh.texcoords, [expected] * 3)


@pytest.mark.parametrize(
    ("mode", "expected"), [(4, [[0, 1, 2]]), (5, [[0, 1, 2], [2, 1, 3]]), (6, [[0, 1, 2], [0, 2, 3]])]
)
def test_lists_strips_and_fans(tmp_path, mode, expected):
    sample = Sample()
    sample.mesh(QUAD, mode=mode, indices=sample.add([0, 1, 2, 3], np.uint8))
    np.testing.assert_array_equal(sample.load(tmp_path).mesh.triangles, expected)


def test_points_and_lines_are_left_out_with_their_nodes(tmp_path):
    for mode in range(4):
        sample = Sample()
        sample.mesh(mode=mode, node={"name": "Dust"})
        model = sample.load(tmp_path)
        assert (model.mesh.vertex_count, model.skeleton) == (0, None)
        assert model.warnings == ("Points and lines are left out: Dust.",)
        sample.mesh(node={"name": "Sheet"})
        model = sample.load(tmp_path)
        assert model.mesh.vertex_count == 3
        assert model.skeleton.names == ("Sheet",)
        assert model.warnings == ("Points and lines are left out: Dust.",)


def test_only_nodes_without_content_are_left_out(tmp_path):
    sample = skinned()
    first = len(sample.document["nodes"])
    sample.mesh(mode=0, node={"name": "Page"})
    sample.mesh(mode=0, node={"name": "Holder"})
    sample.put("nodes", {"name": "Book", "children": [first]})
    sample.put("nodes", {"name": "Place"})
    sample.document["nodes"][first + 1]["children"] = [first + 3]
    names = sample.load(tmp_path).skeleton.names
    assert names == (*skinned().load(tmp_path).skeleton.names, "Holder", "Place")


def test_missing_normals_are_marked_flat(tmp_path):
    sample = Sample()
    sample.mesh()
    sample.mesh(attributes={"NORMAL": sample.add([[0, 0, 1]] * 3), "TANGENT": sample.add([[1, 0, 0, -1]] * 3)})
    mesh = sample.load(tmp_path).mesh
    assert [section.is_flat for section in mesh.sections] == [True, False]
    np.testing.assert_allclose(mesh.normals, [[0, 0, 1]] * 6)
    np.testing.assert_array_equal(mesh.tangents[3:], [[1, 0, 0, -1]] * 3)


def test_scenes_choose_the_nodes(tmp_path):
    sample = Sample()
    sample.mesh(node={"translation": [1, 0, 0]})
    sample.mesh(node={"translation": [2, 0, 0]})
    sample.put("nodes", {"children": [1]})
    sample.document |= {"scenes": [{"nodes": [0]}, {"nodes": [2]}], "scene": 1}
    assert sample.load(tmp_path).mesh.positions[0, 0] == 2.0
    assert sample.load(tmp_path, scene=0).mesh.positions[0, 0] == 1.0
    del sample.document["scene"]
    assert sample.load(tmp_path).mesh.positions[0, 0] == 1.0
    del sample.document["scenes"]
    assert sample.load(tmp_path).mesh.vertex_count == 6


def test_colours_multiply(tmp_path):
    sample = Sample()
    sample.mesh(attributes={"COLOR_0": sample.add([[255, 0, 51]] * 3, np.uint8, normalized=True)})
    sample.mesh(attributes={"COLOR_0": sample.add([[0.5, 2.0, 0.25, 0.5]] * 3)})
    sample.mesh()
    colours = sample.load(tmp_path).mesh.colours
    np.testing.assert_allclose(colours[::3], [[1, 0, 0.2, 1], [0.5, 2.0, 0.25, 0.5], [1, 1, 1, 1]], atol=1e-6)


def test_metal_and_roughness(tmp_path):
    found = material_of(tmp_path, pbrMetallicRoughness={"roughnessFactor": 0.0})
    assert found.shininess == pytest.approx(2 / 0.03**2 - 2)
    found = material_of(
        tmp_path, name="gold",
        pbrMetallicRoughness={"baseColorFactor": [1.0, 0.5, 0.0, 0.25], "metallicFactor": 0.5, "roughnessFactor": 0.5},
    )  # fmt: skip
    np.testing.assert_allclose(found.diffuse, [0.5, 0.25, 0.0])
    np.testing.assert_allclose(found.specular, [0.52, 0.27, 0.02])
    assert found.shininess == pytest.approx(2 / 0.25**2 - 2)
    assert found.opacity == 0.25
    assert found.alpha_mode is AlphaMode.OPAQUE


def test_factors_of_the_standard_look(tmp_path):
    pbr = {"baseColorFactor": [1.0, 0.5, 0.0, 0.25], "metallicFactor": 0.5, "roughnessFactor": 0.0}
    plain = material_of(tmp_path, pbrMetallicRoughness=pbr)
    assert plain.reflectance == ((1.0, 0.5, 0.0), (0.04, 0.04, 0.04), 0.5, 0.0)
    extensions = {
        "KHR_materials_ior": {"ior": 2.0},
        "KHR_materials_specular": {"specularFactor": 0.5, "specularColorFactor": [1.0, 0.5, 0.0]},
    }
    found = material_of(tmp_path, pbrMetallicRoughness=pbr, extensions=extensions)
    np.testing.assert_allclose(found.reflectance.dielectric, [1 / 18, 1 / 36, 0.0])
    glossy = {"diffuseFactor": [0.25, 0.5, 1, 1], "specularFactor": [0.1, 0.2, 0.5], "glossinessFactor": 0.25}
    found = material_of(tmp_path, extensions={"KHR_materials_pbrSpecularGlossiness": glossy})
    assert found.reflectance == ((0.125, 0.25, 0.5), (0.1, 0.2, 0.5), 0.0, 0.75)
    recoloured = overridden(plain, MaterialLook(diffuse=(1.0, 1.0, 1.0)))
    assert recoloured.reflectance == ((1.0, 1.0, 1.0), plain.specular, 0.0, 0.0)
    shiny = overridden(plain, MaterialLook(shininess=32.0)).reflectance
    assert shiny.roughness == pytest.approx(0.49248, abs=1e-5)
    assert shiny.base == plain.base


def test_specular_glossiness_and_unlit(tmp_path):
    glossy = {"diffuseFactor": [0.25, 0.5, 1, 1], "specularFactor": [0.1, 0.2, 0.3], "glossinessFactor": 0.25}
    found = material_of(tmp_path, extensions={"KHR_materials_pbrSpecularGlossiness": glossy})
    np.testing.assert_allclose([found.diffuse, found.specular], [[0.25, 0.5, 1], [0.1, 0.2, 0.3]])
    assert found.shininess == pytest.approx(2 / 0.75**4 - 2)
    unlit = material_of(
        tmp_path, pbrMetallicRoughness={"baseColorFactor": [0.5, 0.5, 0.5, 1]}, extensions={"KHR_materials_unlit": {}}
    )
    assert (unlit.is_unlit, unlit.diffuse, unlit.specular) == (True, (0.5, 0.5, 0.5), (0.0, 0.0, 0.0))


def test_alpha_and_sides(tmp_path):
    found = material_of(tmp_path, alphaMode="MASK", alphaCutoff=0.75, doubleSided=True)
    assert (found.alpha_mode, found.alpha_cutoff) == (AlphaMode.MASK, 0.75)
    assert material_of(tmp_path, alphaMode="BLEND").alpha_mode is AlphaMode.BLEND
    assert load_model(tmp_path / "sample.glb").mesh.sections[0].is_open is False
    sample = Sample()
    sample.put("materials", {"doubleSided": True})
    sample.mesh(material=0)
    assert sample.load(tmp_path).mesh.sections[0].is_open is True


def test_a_texture_transform_is_baked_in(tmp_path):
    sample = Sample()
    moved = {"offset": [0.5, 0.25], "rotation": np.pi / 2, "scale": [2.0, 3.0], "texCoord": 1}
    texture = {"index": 0, "extensions": {"KHR_texture_transform": moved}}
    sample.put("textures", {})
    sample.put("materials", {"pbrMetallicRoughness": {"baseColorTexture": texture}})
    coordinates = {f"TEXCOORD_{n}": sample.add([[n, 0], [0, n], [n, n]]) for n in (0, 1)}
    sample.mesh(material=0, attributes=coordinates)
    expected = [[0.5, 0.25 - 2], [0.5 + 3, 0.25], [0.5 + 3, 0.25 - 2]]
    np.testing.assert_allclose(sample.load(tmp_path).mesh.texcoords, expected, atol=1e-6)


@pytest.mark.parametrize("way", ["view", "data", "file"])
def test_images_lie_in_the_file_or_beside_it(tmp_path, way):
    sample = Sample()
    (tmp_path / "two dots.png").write_bytes(png_bytes())
    image = {
        "view": lambda: {"bufferView": sample.chunk.view(png_bytes()), "mimeType": "image/png", "name": "dots"},
        "data": lambda: {"uri": "data:image/png;base64," + base64.b64encode(png_bytes()).decode(), "name": "dots"},
        "file": lambda: {"uri": "two%20dots.png"},
    }[way]()
    sample.put("images", image)
    sample.put("textures", {"source": 0})
    sample.put("materials", {"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}})
    sample.mesh(material=0)
    (material,) = sample.load(tmp_path).materials
    assert material.image is not None
    np.testing.assert_array_equal(load_image(material.image)[0, :, :3], [[255, 0, 0], [0, 255, 0]])
    assert isinstance(material.image, EmbeddedImage) == (way != "file")
    assert material.texture == ("two dots.png" if way == "file" else "dots")


def test_an_image_that_cannot_be_had_leaves_the_surface_plain(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "outside.png").write_bytes(png_bytes())
    for uri in ("../outside.png", "https://example.org/x.png", "/etc/passwd", "gone.png", "a\0b", "x.ktx2"):
        sample = Sample()
        sample.put("images", {"uri": uri})
        is_packed = uri == "x.ktx2"
        if is_packed:
            sample.document["extensionsRequired"] = ["KHR_texture_basisu"]
        sample.put("textures", {"extensions": {"KHR_texture_basisu": {"source": 0}}} if is_packed else {"source": 0})
        sample.put("materials", {"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}})
        sample.mesh(material=0)
        model = sample.load(folder)
        assert model.materials[0].image is None
        assert (model.materials[0].texture is None) is is_packed
        reported = "KTX2" if is_packed else "images[0].uri"
        assert uri == "gone.png" or any(reported in warning for warning in model.warnings)


def test_morph_targets(tmp_path):
    model = morphing().load(tmp_path)
    targets = model.mesh.targets
    assert targets.names == ("tall", "near")
    assert targets.rest_weights.tolist() == [0.25, 0.0]
    entries, corners = joint_boxes(model.mesh, model.skin)
    assert entries.tolist() == [0]
    np.testing.assert_allclose(corners[0, [0, 7]], [[0, 0, 0], [2, 2, 1]])
    # Only vertices that move are stored.
    assert (targets.firsts.tolist(), targets.counts.tolist(), targets.starts.tolist()) == ([2, 0], [1, 3], [0, 1])
    np.testing.assert_array_equal(targets.deltas[0], [[0, 1, 0, 0], [0, 0, 0, 0]])
    np.testing.assert_allclose(posed(model).positions[2], [0, 1.25, 0])
    half = posed(model, 0.5)
    np.testing.assert_allclose(half.positions, np.add(TRIANGLE, [[0, 0, 0.5], [0, 0, 0.5], [0, 0.5, 0.5]]))
    np.testing.assert_allclose(half.normals, [np.array([0.5, 0, 1]) / np.sqrt(1.25)] * 3)


def test_a_node_has_weights_of_its_own_and_moves_its_targets(tmp_path):
    sample = morphing()
    sample.document["nodes"][0] |= {"weights": [1.0, 0.5], "scale": [1, 1, 3], "rotation": [0, 0, HALF, HALF]}
    sample.put("nodes", {"mesh": 0})
    model = sample.load(tmp_path)
    assert model.mesh.targets.rest_weights.tolist() == [1.0, 0.5, 0.25, 0.0]
    assert len(set(model.mesh.targets.names)) == 4
    first, second = posed(model).positions.reshape(2, 3, 3)
    np.testing.assert_allclose(first, [[0, 0, 1.5], [0, 2, 1.5], [-2, 0, 1.5]], atol=1e-6)
    np.testing.assert_allclose(second, [[0, 0, 0], [2, 0, 0], [0, 1.25, 0]], atol=1e-6)
    # Normals of a squeezed surface lean the other way: (0.5, 0, 1) on z three times as long is (1.5, 0, 1).
    expected = np.array([0.0, 1.5, 1.0]) / np.sqrt(3.25)
    np.testing.assert_allclose(posed(model).normals[0], expected, atol=1e-6)


def test_cameras_are_on_the_joints_of_their_nodes(tmp_path):
    sample = Sample()
    sample.mesh()
    wide = {"yfov": 1.0, "znear": 0.05, "aspectRatio": 1.5}
    flat = {"xmag": 4.0, "ymag": 1.5, "znear": 0.0, "zfar": 50.0}
    sample.put("cameras", {"type": "perspective", "perspective": wide})
    sample.put("cameras", {"type": "orthographic", "orthographic": flat})
    sample.put("cameras", {"type": "perspective"})
    for camera in (0, 1, 2, 0):
        sample.put("nodes", {"name": f"view {camera}", "camera": camera, "translation": [camera, 0, 2]})
    sample.put("scenes", {"nodes": [0, 1, 2, 3]})
    model = sample.load(tmp_path)
    assert model.cameras == (FileCamera(1, np.degrees(1.0), 0.0, 0.05, None), FileCamera(2, 0.0, 3.0, 0.0, 50.0))
    assert model.warnings == ("cameras[2] has neither perspective nor orthographic and is left out.",)
    node = Node(id="m", settings=ModelSettings(unit_scale=0.5))
    first, second = cameras_of_file(model, node)
    assert (first.name, first.attachment) == ("view 0", Attachment(node="m", bone="view 0"))
    assert first.settings == CameraSettings(field_of_view=np.degrees(1.0), near=0.025)
    assert second.settings == CameraSettings(orthographic=True, height=1.5, near=1e-4, far=25.0)
    sample.put("nodes", {"camera": 7})
    sample.document["scenes"][0]["nodes"].append(5)
    with pytest.raises(ModelError, match=r"nodes\[5\].camera: cameras\[7\] does not exist"):
        sample.load(tmp_path)


def test_matrices_are_taken_apart(tmp_path):
    sample = Sample()
    matrix = np.eye(4)
    matrix[:3, 3], matrix[0, 0] = (1, 2, 3), 2.0
    sample.mesh(node={"matrix": matrix.T.ravel().tolist()})
    sample.put("nodes", {"extensions": {"KHR_lights_punctual": {"light": 0}}})
    model = sample.load(tmp_path)
    np.testing.assert_allclose(model.skeleton.bind_positions[0], [1, 2, 3])
    assert model.warnings == ("1 light of the file is left out.",)
    matrix[0, 1] = 0.5
    sample.document["nodes"][0]["matrix"] = matrix.T.ravel().tolist()
    assert any("shear" in warning for warning in sample.load(tmp_path).warnings)


def test_a_second_channel_and_pointers_are_reported(tmp_path):
    sample = skinned()
    sample.animate(2, "translation", [0, 1], [[5, 5, 5], [5, 5, 5]])
    sample.animate(2, "pointer", [0, 1], [[5, 5, 5], [5, 5, 5]])
    model = sample.load(tmp_path)
    np.testing.assert_allclose(evaluate_pose(model, model.clips[0], 1.0).local.positions[2], [0, 0, 2])
    assert any("a second time" in warning for warning in model.warnings)
    assert any("pointer" in warning for warning in model.warnings)


def test_further_textures_are_read_where_they_share_the_coordinates(tmp_path):
    sample = Sample()
    sample.put("images", {"bufferView": sample.chunk.view(png_bytes()), "mimeType": "image/png", "name": "dots"})
    sample.put("textures", {"source": 0})
    use = {"index": 0}
    sample.put("materials", {
        "pbrMetallicRoughness": {"baseColorTexture": use, "metallicRoughnessTexture": use, "roughnessFactor": 0.5},
        "normalTexture": {"index": 0, "scale": 0.7}, "occlusionTexture": {"index": 0, "strength": 0.4},
        "emissiveTexture": use, "emissiveFactor": [1, 0.5, 0],
        "extensions": {"KHR_materials_emissive_strength": {"emissiveStrength": 2}},
    })  # fmt: skip
    sample.put("materials", {"normalTexture": {"index": 0, "texCoord": 1}, "emissiveTexture": use})
    sample.mesh(material=0)
    sample.mesh(material=1)
    full, other = sample.load(tmp_path).materials
    assert len(full.images) == 5
    assert (full.normal_scale, full.occlusion, full.emission) == (0.7, 0.4, (2.0, 1.0, 0.0))
    assert (full.metal, full.roughness) == (1.0, 0.5)
    assert (other.emission_image is not None, other.normal_image) == (True, None)
    assert any("coordinates of their own" in text for text in sample.load(tmp_path).warnings)


@pytest.mark.parametrize(("length", "mode", "reported"), [
    (1.0, "LINEAR", 0), (1.0004, "LINEAR", 0), (1.01, "LINEAR", 1), (2.0, "STEP", 1), (2.0, "CUBICSPLINE", 0),
])  # fmt: skip
def test_rotation_keys_that_are_not_unit_are_reported_once(length, mode, reported, tmp_path):
    sample = Sample()
    for node in (sample.mesh(), sample.mesh()):
        keys = length * np.array([[0, 0, 0, 1], [0, 0.6, 0, 0.8]])
        if mode == "CUBICSPLINE":
            keys = np.stack((0 * keys, keys, 0 * keys), axis=1).reshape(-1, 4)
        sample.animate(node, "rotation", [0, 1], keys, mode)
    sample.document |= {"scene": 0, "scenes": [{"nodes": [0, 1]}]}
    model = sample.load(tmp_path)
    line = "Rotation keys that are no unit quaternions are made unit, which not all programs do."
    assert [warning for warning in model.warnings if "Rotation" in warning] == [line] * reported
    np.testing.assert_allclose(
        model.clips[0].sample(1.0, Interpolation.LINEAR).orientations[0], [0, 0.6, 0, 0.8], atol=1e-6
    )


@pytest.mark.slow
def test_primitives_that_share_vertices_are_charged_for_what_targets_move(tmp_path):
    sample = Sample()
    count = 4000
    positions = sample.add(np.random.default_rng(3).normal(size=(count, 3)))
    rows = np.zeros((count, 3), np.float32)
    rows[:40] = 1.0
    targets = [{"POSITION": sample.chunk.sparse(rows * number)} for number in range(1, 61)]
    indices = [sample.add(np.arange(3 * part, 3 * part + 3), np.uint16) for part in range(60)]
    parts = [{"attributes": {"POSITION": positions}, "indices": part, "targets": targets} for part in indices]
    sample.put("nodes", {"mesh": sample.put("meshes", {"primitives": parts})})
    model = sample.load(tmp_path)
    assert model.mesh.vertex_count == 60 * count
    assert model.mesh.targets.counts.tolist() == [40] * 3600


def instances(count, vertices):
    sample = Sample()
    places = sample.add(np.random.default_rng(3).normal(size=(count, 3)))
    extensions = {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": places}}}
    sample.mesh(np.arange(3.0 * vertices).reshape(-1, 3), node={"extensions": extensions})
    return sample


def test_many_instances_open_or_are_refused_as_such(tmp_path):
    model = instances(1899, 24).load(tmp_path)
    assert (model.mesh.vertex_count, model.mesh.triangle_count) == (1899 * 24, 1899 * 8)
    with pytest.raises(ModelError, match=r"nodes\[0\] with 1,899 instances: needs 1\.\d GiB with all before it"):
        instances(1899, 9000).load(tmp_path)
    with pytest.raises(ModelError, match="instances: there are more than 8192"):
        instances(9000, 24).load(tmp_path)


def test_influences_without_a_skin_mean_nothing(tmp_path):
    sample = skinned()
    del sample.document["nodes"][0]["skin"]
    model = sample.load(tmp_path)
    assert weighted_vertex_counts(model.skin, 3).tolist() == [3, 0, 0]
    assert model.warnings == ()
