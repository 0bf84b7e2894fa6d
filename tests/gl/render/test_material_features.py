from dataclasses import replace

import numpy as np
import pytest

from sinew.sim.assets.model import AlphaMode, CharacterModel, EmbeddedImage, Material, Section
from sinew.sim.characters.deformers.settings import EmissionPulse
from sinew.sim.scene.transform import Transform
from tests.gl.render.worlds import Stage, light_node, mesh_of, model_node, model_of, quad

FLAT_COLOUR = Material("m", None, None, diffuse=(0.5, 0.5, 0.5))
LIGHT = light_node((0.0, 1.5, 3.0), reach=3.0)


def image(name: str, pixel: tuple[int, int, int, int]) -> tuple[EmbeddedImage, np.ndarray]:
    return EmbeddedImage(name, b""), np.tile(np.array(pixel, np.uint8), (4, 4, 1))


def panel(material: Material, **changes: object) -> CharacterModel:
    return model_of(replace(quad(material=0), **changes), materials=[material], default_texture_origin="top")


def middle(picture: np.ndarray) -> np.ndarray:
    height, width = picture.shape[:2]
    return picture[height // 2 - 4 : height // 2 + 4, width // 2 - 4 : width // 2 + 4].mean(axis=(0, 1))


def middle_colour(
    stage: Stage, model: CharacterModel, images: dict | None = None, *nodes: object, **settings: object
) -> np.ndarray:
    stage.show({"model": model}, model_node(**settings), LIGHT, *nodes, images=images)
    return middle(stage.picture())


def test_vertex_colours_multiply(stage: Stage) -> None:
    red = np.tile(np.float32([1.0, 0.0, 0.0, 1.0]), (4, 1))
    plain = middle_colour(stage, panel(FLAT_COLOUR, colours=red))
    assert abs(plain[0] - plain[1]) < 4, "colours that a tool left there are not meant"
    coloured = middle_colour(stage, panel(FLAT_COLOUR, colours=red, is_coloured=True))
    assert coloured[0] > 100
    assert coloured[1] < 0.6 * coloured[0]


def test_unlit_surfaces_ignore_the_lights(stage: Stage) -> None:
    shown = middle_colour(stage, panel(replace(FLAT_COLOUR, is_unlit=True)))
    np.testing.assert_allclose(shown, 188.0, atol=1.5)


def test_masks_cut_holes(stage: Stage) -> None:
    stage.look(LIGHT)
    empty = middle(stage.picture())
    for alpha, is_drawn in ((100, False), (200, True)):
        source, pixels = image("mask", (255, 255, 255, alpha))
        material = replace(FLAT_COLOUR, texture="mask", embedded=source, alpha_mode=AlphaMode.MASK, is_unlit=True)
        shown = middle_colour(stage, panel(material), {source: pixels})
        assert (np.abs(shown - empty).max() > 40) == is_drawn


def test_blended_surfaces_show_what_is_behind(stage: Stage) -> None:
    behind = model_of(quad(centre=(0.0, 1.5, -0.5), material=0), materials=[
        replace(FLAT_COLOUR, diffuse=(0.0, 1.0, 0.0), is_unlit=True)])  # fmt: skip
    glass = panel(replace(FLAT_COLOUR, diffuse=(1.0, 0.0, 0.0), alpha_mode=AlphaMode.BLEND, opacity=0.5, is_unlit=True))
    for order in (("a", "b"), ("b", "a")):
        stage.show(dict(zip(order, (glass, behind), strict=True)))
        shown = middle(stage.picture())
        np.testing.assert_allclose(shown[:2], 127.5, atol=3.0)
        assert shown[2] < 3.0


def panes(*depths: float, both_sides: bool = False) -> CharacterModel:
    """A red pane, then a green one, half through, at some depths; both are of one model."""
    quads = [quad(centre=(0.0, 1.5, depth)) for depth in depths]
    points = np.concatenate([one.positions for one in quads])
    faces = np.concatenate([one.triangles + 4 * number for number, one in enumerate(quads)])
    mesh = mesh_of(points, faces, normals=np.tile([0.0, 0.0, 1.0], (len(points), 1)))
    sections = tuple(Section(str(number), number, 2 * number, 2, both_sides) for number in range(2))
    colours = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    glass = replace(FLAT_COLOUR, alpha_mode=AlphaMode.BLEND, opacity=0.5, is_unlit=True)
    return model_of(replace(mesh, sections=sections), materials=[replace(glass, diffuse=colour) for colour in colours])


@pytest.mark.parametrize(("first", "turn"), [(0.2, 0.0), (-0.2, 0.0), (0.2, 180.0)])
def test_the_nearest_blended_surface_is_in_front(stage: Stage, first: float, turn: float) -> None:
    shown = middle_colour(stage, panes(first, -first, both_sides=True), transform=Transform(rotation=(0.0, turn, 0.0)))
    red_is_near = (first > 0.0) == (turn == 0.0)
    near, far = shown[:2] if red_is_near else shown[1::-1]
    assert near == pytest.approx(127.5, abs=16.0)
    assert far < near - 40.0


def test_surfaces_emit_light(stage: Stage) -> None:
    dark = replace(FLAT_COLOUR, diffuse=(0.0, 0.0, 0.0), specular=(0.0, 0.0, 0.0))
    before = middle_colour(stage, panel(dark))
    glowing = middle_colour(stage, panel(replace(dark, emission=(0.0, 0.0, 0.5))))
    assert glowing[2] > before[2] + 60
    assert glowing[0] < before[0] + 2
    source, pixels = image("glow", (255, 0, 0, 255))
    mapped = middle_colour(
        stage, panel(replace(dark, emission=(0.5, 0.5, 0.5), emission_image=source)), {source: pixels}
    )
    assert mapped[0] > before[0] + 60
    assert mapped[2] < before[2] + 2


def test_an_emission_pulse_follows_the_time(stage: Stage) -> None:
    model = panel(replace(FLAT_COLOUR, diffuse=(0.0, 0.0, 0.0), specular=(0.0, 0.0, 0.0)))
    pulse = EmissionPulse(colour=(0.0, 1.0, 0.0), strength=0.5, frequency=1.0)
    node = model_node(deformers=(pulse,))
    stage.show({"model": model}, node, LIGHT)
    dark = middle(stage.picture())
    stage.look(node, LIGHT, time=0.5)
    assert middle(stage.picture())[1] > dark[1] + 60


def test_maps_of_normals_roughness_metal_and_occlusion_are_read(stage: Stage) -> None:
    straight = middle_colour(stage, panel(FLAT_COLOUR))
    for lean, same in (((128, 128, 255, 255), True), ((230, 128, 190, 255), False)):
        source, pixels = image("normals", lean)
        shown = middle_colour(stage, panel(replace(FLAT_COLOUR, normal_image=source)), {source: pixels})
        assert (np.abs(shown - straight).max() < 4.0) == same
    source, pixels = image("surface", (0, 255, 255, 255))
    base = replace(FLAT_COLOUR, diffuse=(1.0, 0.2, 0.2), surface_image=source)
    metal = middle_colour(stage, panel(replace(base, metal=1.0)), {source: pixels})
    matt = middle_colour(stage, panel(replace(base, metal=0.0)), {source: pixels})
    assert metal[0] < matt[0] - 20, "metal has no light from within"
    source, pixels = image("occlusion", (0, 0, 0, 255))
    hidden = middle_colour(stage, panel(replace(FLAT_COLOUR, occlusion_image=source)), {source: pixels})
    assert (hidden < straight - 1.0).all()


def test_normal_maps_point_right_and_up(stage: Stage) -> None:
    """Lit from one side, a map that leans there is brighter than one that leans away."""
    for place, right, up in (((4.0, 1.5, 3.0), 1, 0), ((0.0, 5.5, 3.0), 0, 1)):
        light, bright = light_node(place, reach=3.0), []
        for sign in (1, -1):
            source, pixels = image("lean", (128 + 70 * sign * right, 128 + 70 * sign * up, 220, 255))
            model = panel(replace(FLAT_COLOUR, normal_image=source), texcoords=_from_the_top())
            stage.show({"model": model}, model_node(), light, images={source: pixels})
            bright.append(middle(stage.picture()).mean())
        assert bright[0] > bright[1] + 20


def test_flat_faces_ignore_stored_normals(stage: Stage) -> None:
    tilted = np.tile(np.float32([1.0, 0.0, 0.0]), (4, 1))
    mesh = quad(material=0)
    stored = replace(mesh, normals=tilted)
    flat = replace(stored, sections=tuple(replace(part, is_flat=True) for part in mesh.sections))
    expected = middle_colour(stage, model_of(mesh, materials=[FLAT_COLOUR]))
    assert np.abs(middle_colour(stage, model_of(stored, materials=[FLAT_COLOUR])) - expected).max() > 20
    np.testing.assert_allclose(middle_colour(stage, model_of(flat, materials=[FLAT_COLOUR])), expected, atol=2.0)


def _from_the_top() -> np.ndarray:
    texcoords = quad().texcoords.copy()
    texcoords[:, 1] = 1.0 - texcoords[:, 1]
    return texcoords
