"""What a cloth takes of a model file, and where it is put."""

import math

import msgspec
import numpy as np
import pytest

from sinew.app.kinds.cloth.section import section_cloth, section_names
from sinew.resources import path as resource
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import upright_mesh
from sinew.sim.characters.playing import world_from_model
from sinew.sim.characters.settings import ModelSettings, UpAxis
from sinew.sim.kinds.cloth.model import build_cloth
from sinew.sim.kinds.cloth.pins import pin_flags
from sinew.sim.kinds.cloth.settings import ClothSource, PinPreset, PinTarget
from sinew.sim.kinds.cloth.stability import stability
from sinew.sim.kinds.cloth.surface import placed_as_model, surface_of_mesh
from sinew.sim.maths.transform import transform_points
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.transform import Transform, node_matrix
from sinew.sim.scene.world_transforms import WorldTransforms
from tests.gltf_samples import morphing

TURNED = Transform(position=(1.0, -2.0, 3.0), rotation=(20.0, -40.0, 65.0), scale=(1.0, 1.5, 0.5))
SHEET = """v 0 0 0\nv 2 0 0\nv 2 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1
g flag\nf 1/1 2/2 3/3 4/4\ng rest\nf 1/1 2/2 3/3\n"""


@pytest.fixture
def sheet(tmp_path):
    path = tmp_path / "sheet.obj"
    path.write_text(SHEET, encoding="utf-8")
    return load_model(path)


def cloth_of(node, model, section):
    return section_cloth(node, model, section, WorldTransforms(Scene(nodes=(node,)), {}))


def node_of(model, transform=TURNED, **settings):
    return Node(id="m", name="sheet", transform=transform, settings=ModelSettings(path=str(model.path), **settings))


@pytest.mark.parametrize("up_axis", [UpAxis.AUTO, UpAxis.Y, UpAxis.Z])
@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (1.0, 1.5, 0.5), (-1.0, 2.0, 1.0)])
@pytest.mark.parametrize("rotation", [(0.0, 0.0, 0.0), (20.0, -40.0, 65.0), (10.0, 90.0, 0.0)])
def test_the_cloth_stands_where_the_model_does(sheet, up_axis, scale, rotation):
    transform = msgspec.structs.replace(TURNED, scale=scale, rotation=rotation)
    node = node_of(sheet, transform, up_axis=up_axis, unit_scale=0.01)
    placed = node_matrix(placed_as_model(node, sheet))
    points = sheet.mesh.positions.astype(np.float64)
    expected = transform_points(world_from_model(node.settings, sheet, node_matrix(node.transform)), points)
    np.testing.assert_allclose(transform_points(placed, points), expected, rtol=0.0, atol=1e-9)


def test_a_node_scaled_to_nothing_is_refused(sheet):
    node = node_of(sheet, Transform(scale=(1.0, 0.0, 1.0)))
    with pytest.raises(ValueError, match="sheet is scaled to nothing"):
        placed_as_model(node, sheet)
    assert cloth_of(node, sheet, "flag") == "sheet is scaled to nothing"


def test_images_of_files_with_the_origin_at_the_top_are_turned(sheet):
    assert upright_mesh(sheet) is sheet.mesh
    arm = load_model(resource("models") / "arm" / "arm.ezm")
    turned = upright_mesh(arm)
    v = 1.0 - arm.mesh.texcoords[:, 1] if arm.default_texture_origin == "top" else arm.mesh.texcoords[:, 1]
    np.testing.assert_allclose(turned.texcoords[:, 1], v, atol=1e-7)
    np.testing.assert_array_equal(turned.texcoords[:, 0], arm.mesh.texcoords[:, 0])
    np.testing.assert_array_equal(turned.positions, arm.mesh.positions)


def test_sections_can_be_chosen_by_name(sheet):
    assert section_names(sheet) == ("flag", "rest")


def test_the_cloth_of_a_section_has_its_shape_in_metres(sheet):
    made = cloth_of(node_of(sheet, Transform(), unit_scale=0.5), sheet, "flag")
    settings = made.settings
    assert (settings.source, settings.mesh_path, settings.mesh_section) == (ClothSource.MESH, str(sheet.path), "flag")
    surface = surface_of_mesh(upright_mesh(sheet), "flag", name="sheet")
    cloth = build_cloth(settings, surface, node_matrix(made.transform))
    np.testing.assert_allclose(np.sort(np.ptp(cloth.positions, axis=0)), [0.0, 0.5, 1.0], atol=1e-7)
    assert math.isclose(cloth.shares.sum(), 0.5, rel_tol=1e-6)


def test_the_cloth_of_a_section_hangs_from_its_top_and_is_stable(sheet):
    made = cloth_of(node_of(sheet, Transform()), sheet, "flag")
    settings = made.settings
    surface = surface_of_mesh(upright_mesh(sheet), "flag", name="sheet")
    cloth = build_cloth(settings, surface, node_matrix(made.transform))
    held = pin_flags(settings.pins, settings.pin_list, cloth.particle_count, None)
    assert settings.pins is PinPreset.NONE
    np.testing.assert_array_equal(held, cloth.positions[:, 1] == 1.0)
    assert stability(cloth, settings).ratio <= 0.8
    assert (settings.pin_target, made.attachment) == (PinTarget.WORLD, Attachment(node="m"))


def test_the_cloth_of_a_figure_follows_its_surface(tmp_path):
    arm = load_model(resource("models") / "arm" / "arm.ezm")
    made = cloth_of(node_of(arm, Transform()), arm, section_names(arm)[0])
    assert (made.settings.pin_target, made.attachment) == (PinTarget.SURFACE, Attachment(node="m"))
    assert made.settings.texture == str(arm.materials[0].texture_path)


def test_fabric_has_the_colour_of_an_image_within_the_model(tmp_path):
    model = morphing().load(tmp_path)
    made = cloth_of(node_of(model, Transform()), model, "")
    assert made.settings.texture == ""
    # Half of it is red, half green.
    np.testing.assert_allclose(made.settings.colour, [0.735, 0.735, 0.0], atol=1e-3)


def test_an_unknown_section_is_told_in_one_line(sheet):
    assert cloth_of(node_of(sheet), sheet, "sail") == "sheet: no section 'sail'; it has flag, rest"
