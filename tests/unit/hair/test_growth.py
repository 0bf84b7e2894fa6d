import dataclasses
import math
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from sinew import resources
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.contract import AddPlace, Presets
from sinew.sim.kinds.hair.brush import BrushedGroom, RootFrames, mirrored
from sinew.sim.kinds.hair.costs import RIVAL, costs_of, middle_costs, step_costs
from sinew.sim.kinds.hair.groom import TURN_MAX, Groom, carried_loads, grow
from sinew.sim.kinds.hair.groom_edits import GroomEdits, packed_size, unpacked
from sinew.sim.kinds.hair.growth import (
    GrowthSurface,
    SurfaceMaps,
    channel_of,
    growth_on_ellipsoid,
    growth_on_model,
    root_cover,
)
from sinew.sim.kinds.hair.guide_looks import guide_colours, widths_of
from sinew.sim.kinds.hair.imported import details, largest_turns, smooth_curves
from sinew.sim.kinds.hair.kind import HAIR, STRANDS, WIDER, covering, new_hair
from sinew.sim.kinds.hair.presets import PRESETS, with_preset
from sinew.sim.kinds.hair.roots import Roots, RootSurface, nearest_guides, unit
from sinew.sim.kinds.hair.settings import MAPPED, HairSettings, HairSource, ImageChannel, Region
from sinew.sim.kinds.hair.shaping import RISE, edited, edits_of
from sinew.sim.maths.srgb import light_of
from sinew.sim.profile.sample import FrameSample, SceneMoment, Slice, TimeSource
from sinew.sim.scene.brush import BrushStroke, Occlusion
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.params import value_text
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.view_state import Selection, ViewState
from sinew.sim.skin.scalp import head_joint, scalp
from sinew.sim.skin.surface_table import bone_density, skin_area, surface_table
from tests.model_samples import mesh_of, model_of

BALL = HairSettings(source=HairSource.ELLIPSOID, radii=(0.3, 0.2, 0.1), guides=60, children=500, knots=8)


@pytest.mark.parametrize("count", [1, 2, 500])
def test_the_nearest_guides_are_the_nearest(count: int) -> None:
    random = np.random.default_rng(3)
    points, guides = random.normal(size=(9000, 3)), random.normal(size=(count, 3))
    numbers, weights = nearest_guides(points, guides)
    squares = np.sum((points[:300, None] - guides) ** 2, axis=2)
    expected = np.sort(squares, axis=1)[:, :3]
    np.testing.assert_allclose(np.take_along_axis(squares, numbers[:300, : expected.shape[1]], axis=1), expected)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert (weights[:, min(count, 3) :] == 0.0).all()


def test_roots_on_an_ellipsoid_are_uniform_in_height_and_stand_on_its_normals() -> None:
    growth = growth_on_ellipsoid(msgspec.structs.replace(BALL, guides=4000, children=0), np.eye(4))
    unit = growth.guides.places / BALL.radii
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1.0, atol=1e-12)
    assert np.histogram(unit[:, 1], 8, (0.0, 1.0))[0].min() > 420
    normals = growth.guides.frames[:, :, 2]
    expected = unit / BALL.radii
    np.testing.assert_allclose(normals, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-9)
    np.testing.assert_allclose(np.linalg.det(growth.guides.frames), 1.0, atol=1e-9)


def test_more_strands_leave_the_others_and_other_grooms_their_guides() -> None:
    first = growth_on_ellipsoid(BALL, np.eye(4))
    more = growth_on_ellipsoid(msgspec.structs.replace(BALL, guides=90, children=700), np.eye(4))
    np.testing.assert_array_equal(more.guides.places[:60], first.guides.places)
    np.testing.assert_array_equal(more.guides.lengths[:60], first.guides.lengths)
    longer = growth_on_ellipsoid(msgspec.structs.replace(BALL, length=0.9), np.eye(4), first)
    assert longer.children.guides is first.children.guides
    other = growth_on_ellipsoid(msgspec.structs.replace(BALL, seed=2), np.eye(4), first)
    assert other.children.guides is not first.children.guides


def test_carried_loads_leave_only_pulls_along_the_strand() -> None:
    groom = growth_on_ellipsoid(msgspec.structs.replace(BALL, bow=1.0), np.eye(4)).guides
    gravity = (0.0, -9.81, 0.0)
    loads = np.einsum("nxy,nky->nkx", groom.frames, carried_loads(groom, gravity, 1.0))
    masses = np.ones(groom.segments)
    masses[-1] = 0.5
    total = masses[:, None] * (loads + np.array(gravity))
    pulls = np.cumsum(total[:, ::-1], axis=1)[:, ::-1]
    edges = np.einsum("nxy,nky->nkx", groom.frames, groom.edges)
    np.testing.assert_allclose(np.cross(pulls, edges), 0.0, atol=1e-9)
    assert (np.sum(pulls * edges, axis=2) > -1e-9).all()


@pytest.mark.parametrize("has_colours", [False, True])
def test_guides_look_like_the_strands_that_they_carry(has_colours: bool) -> None:
    children = growth_on_ellipsoid(BALL, np.eye(4)).children
    random = np.random.default_rng(3)
    tints, dyes = random.uniform(0.2, 1.0, (children.count, 2, 3)), random.uniform(0.0, 1.0, children.count)
    shown = replace(children, tints=tints, dyes=dyes, has_colours=has_colours)
    colours = guide_colours(BALL, shown, 60).reshape(60, BALL.knots, 4)
    own = (BALL.root_colour, BALL.tip_colour) if not has_colours else ((1.0,) * 3,) * 2
    for guide in range(60):
        carried = children.carriers == guide
        carried = carried if carried.any() else np.ones_like(carried)
        dye = dyes[carried].mean()
        for place, colour in enumerate(own):
            plain = tints[carried, place].mean(axis=0) * light_of(colour)
            expected = plain * (1.0 - dye) + np.array(light_of(BALL.dye_colour)) * dye
            np.testing.assert_allclose(colours[guide, -place], [*expected, 1.0], rtol=1e-6)
    widths = widths_of(BALL, np.ones(60), BALL.knots).reshape(60, BALL.knots)
    np.testing.assert_allclose(widths[:, [0, -1]], [[2.0 * BALL.root_radius, 2.0 * BALL.tip_radius]] * 60, rtol=1e-6)


FEW = HairSettings(guides=80, children=300, length_spread=0.0, length=0.1)


def halves(column: int) -> np.ndarray:
    pixels = np.full((2, 4, 4), 128, np.uint8)
    pixels[..., column] = [0, 0, 255, 255]
    return pixels


def on_right(model: CharacterModel, roots) -> np.ndarray:
    places = np.einsum("nc,nck->nk", roots.shares, model.mesh.texcoords.astype(np.float64)[roots.corners])
    return places[:, 0] % 1.0 >= 0.5


@pytest.mark.parametrize(
    ("channel", "column"), [(ImageChannel.RED, 0), (ImageChannel.BLUE, 2), (ImageChannel.ALPHA, 3)]
)
def test_a_channel_of_an_image_is_a_factor(humanoid: CharacterModel, channel: ImageChannel, column: int) -> None:
    table = surface_table(humanoid)
    settings = msgspec.structs.replace(FEW, **{f"{what}_channel": channel for what in MAPPED})
    maps = SurfaceMaps(dict.fromkeys(("length", "clump", "noise"), halves(column)))
    growth = growth_on_model(settings, humanoid, table, np.eye(4), maps)
    right = on_right(humanoid, growth.guides.roots)
    assert 10 < right.sum() < 70
    np.testing.assert_allclose(growth.guides.lengths, np.where(right, 0.1, 1e-4))
    right = on_right(humanoid, growth.children.roots)
    np.testing.assert_array_equal(growth.children.forms, np.stack([right, np.ones(300), right, np.ones(300)], axis=1))
    # The density has the same channels.
    dense = surface_table(humanoid, pixels=channel_of(halves(column), channel))
    found = growth_on_model(settings, humanoid, dense, np.eye(4)).guides.roots
    assert on_right(humanoid, found).mean() > 0.9


def test_the_cover_of_roots_is_the_length_of_strands_on_an_area() -> None:
    """600 strands of 10 cm on half of a sheet of 1 x 1 m, which its node makes twice as wide."""
    x, y = np.meshgrid(np.linspace(0.0, 1.0, 17), np.linspace(0.0, 1.0, 9))
    first = (np.arange(8)[:, None] * 17 + np.arange(16)).ravel()
    faces = np.concatenate([np.stack([first, first + 1, first + 18], 1), np.stack([first, first + 18, first + 17], 1)])
    texcoords = np.stack([x.ravel(), y.ravel()], axis=1)
    model = model_of(mesh_of(np.pad(texcoords, ((0, 0), (0, 1))), faces, texcoords=texcoords))
    table, settings = surface_table(model, pixels=halves(0)[..., :1]), msgspec.structs.replace(FEW, children=600)
    world_from_model = np.diag([2.0, 1.0, 1.0, 1.0])
    growth = growth_on_model(settings, model, table, world_from_model)
    ground = GrowthSurface(world_from_model, model, table)
    cover = root_cover(ground, growth).reshape(9, 17)
    np.testing.assert_allclose(cover[:, 11:], 60.0, rtol=1e-6)
    assert cover[:, :6].max() == 0.0
    areas = np.full((9, 17), 2.0 / 128)
    areas[[0, -1]] /= 2.0
    areas[:, [0, -1]] /= 2.0
    of_file = root_cover(replace(ground, table=None), growth).reshape(9, 17)
    for found in (cover, of_file):
        assert (found * areas)[1:-1].sum() == pytest.approx(52.5, rel=0.1)


def test_weights_of_bones_are_factors(humanoid: CharacterModel) -> None:
    names = {f"{what}_bone": "head" for what in ("length", "curl", "clump", "noise", "colour")}
    settings = msgspec.structs.replace(FEW, **names)
    growth = growth_on_model(settings, humanoid, surface_table(humanoid), np.eye(4))
    weights = bone_density(humanoid, "head")
    guides, children = growth.guides.roots, growth.children.roots
    of_guides, of_children = (np.sum(one.shares * weights[one.corners], axis=1) for one in (guides, children))
    assert of_guides.max() > 0.9
    np.testing.assert_allclose(growth.guides.lengths, np.maximum(0.1 * of_guides, 1e-4))
    for column in range(3):
        np.testing.assert_allclose(growth.children.forms[:, column], of_children)
    np.testing.assert_allclose(growth.children.dyes, of_children)


def test_strands_fall_to_either_side_of_a_part_line() -> None:
    ball = HairSettings(source=HairSource.ELLIPSOID, radii=(0.1, 0.1, 0.1), guides=400, children=900, disorder=0.0,
                        lean=0.8, comb=(0.0, -0.2, -1.0), seed=3)  # fmt: skip
    parted = msgspec.structs.replace(ball, part_strength=1.0, part_place=0.02, part_width=0.05)
    placement = np.eye(4)
    placement[:3, 3] = [1.0, 2.0, 3.0]
    plain, found = (growth_on_ellipsoid(settings, placement) for settings in (ball, parted))
    beyond = found.guides.places[:, 0] - 1.0 - 0.02
    first = np.einsum("nxy,ny->nx", found.guides.frames, found.guides.edges[:, 0])
    near = (np.abs(beyond) < 0.01) & (found.guides.frames[:, 1, 2] > 0.6)
    assert near.sum() > 8
    assert (np.sign(first[near, 0]) == np.sign(beyond[near])).all()
    far = np.abs(beyond) > 0.05
    np.testing.assert_allclose(found.guides.edges[far], plain.guides.edges[far], atol=1e-12)
    # Nothing is drawn between guides of different sides.
    side = found.children.roots
    own = np.einsum("nc,ncx->nx", side.shares, found.surface.positions[side.corners])[:, 0] < 0.02
    assert ((beyond[found.children.guides] < 0.0) == own[:, None]).all()
    again = growth_on_ellipsoid(msgspec.structs.replace(parted, part_place=0.0), placement, found)
    assert again.children.guides is not found.children.guides


def test_curves_turn_little_keep_their_ends_and_leave_the_rest_as_detail() -> None:
    random = np.random.default_rng(5)
    wild = np.cumsum(random.normal(size=(40, 12, 3)) * 0.02 + [0.0, 0.01, 0.0], axis=1)
    turn = np.linspace(0.0, 2.0 * np.pi, 12)
    loops = np.stack([np.cos(turn), np.sin(turn), np.zeros(12)], axis=1)[None]
    loops[0, -1] = loops[0, 0]
    gentle = np.zeros((3, 12, 3))
    gentle[..., 1] = 0.02 * np.arange(12)
    knots = np.concatenate([wild, loops, gentle])
    curves, chords = smooth_curves(knots)
    assert largest_turns(curves).max() < 0.3 + 1e-6
    np.testing.assert_array_equal(curves[:, 0], knots[:, 0])
    np.testing.assert_allclose(curves[:40, -1], knots[:40, -1], atol=1e-12)
    np.testing.assert_array_equal(curves[-3:], gentle)
    edges = np.diff(curves, axis=1)
    np.testing.assert_allclose(np.linalg.norm(edges, axis=2), np.repeat(chords[:, None], 11, axis=1), rtol=1e-6)
    up = unit(edges[:, 0])
    level = unit(np.cross(up, [0.3, 0.5, 0.8]))
    parts = details(knots, curves, level, up)
    side = unit(np.cross(unit(edges), level[:, None]))
    axes = np.stack([unit(edges), side, np.cross(unit(edges), side)], axis=3)
    again = curves[:, 1:] + np.einsum("nkxa,nka->nkx", axes, parts[:, 1:])
    parallel = np.linalg.norm(np.cross(unit(edges), level[:, None]), axis=2) < 1e-6
    np.testing.assert_allclose(again[~parallel], knots[:, 1:][~parallel], atol=1e-9)


HUMANOID = resources.path("models") / "humanoid" / "humanoid.ezm"
HEADS = {
    "CesiumMan": "gltf/CesiumMan/glTF/CesiumMan.gltf",
    "Fox": "gltf/Fox/glTF/Fox.gltf",
    "ClothSim": "ezm/clothsim_zup/ClothSim.ezm",
}

FUR = with_preset(HairSettings(), "Short fur")


def cover(settings: HairSettings) -> float:
    """Area that the strands of some hair have [m²]."""
    return settings.children * settings.length * (settings.root_radius + settings.tip_radius)


def test_hair_on_a_larger_skin_has_more_and_thicker_strands() -> None:
    enough = cover(FUR) / 3.0
    assert covering(FUR, 0.9 * enough) is FUR
    found = covering(FUR, 2.0 * enough)
    assert cover(found) == pytest.approx(2.0 * cover(FUR), rel=1e-3)
    assert found.children > FUR.children
    assert found.root_radius > FUR.root_radius
    most = covering(FUR, 1e6)
    assert (most.children, most.root_radius) == (STRANDS, WIDER * FUR.root_radius)
    bare = msgspec.structs.replace(FUR, children=0)
    assert covering(bare, 1e6) is bare


def test_another_preset_covers_as_much_more_and_is_still_named() -> None:
    presets = HAIR.part(Presets)
    found = covering(FUR, 2.0 * cover(FUR) / 3.0)
    assert presets.name_of(found, {}) == "Short fur"
    changed = msgspec.structs.replace(found, **presets.changes(found, PRESETS["Long"]))
    ratio = found.children / FUR.children
    assert changed.children == pytest.approx(ratio * PRESETS["Long"]["children"], rel=1e-3)
    assert changed.root_radius == pytest.approx(PRESETS["Long"]["root_radius"] * found.root_radius / FUR.root_radius)
    assert presets.name_of(changed, {}) == "Long"
    fewer = msgspec.structs.replace(FUR, children=10)
    assert presets.changes(fewer, PRESETS["Long"])["children"] == PRESETS["Long"]["children"]


def upright(model: CharacterModel) -> np.ndarray:
    points = model.mesh.positions.astype(np.float64)
    return points[:, [0, 2, 1]] * (1.0, 1.0, -1.0) if model.default_up_axis.lower() == "z" else points


def test_hair_of_the_humanoid_grows_above_and_behind_and_not_on_the_face() -> None:
    model = load_model(HUMANOID)
    whole, names = skin_area(model, np.eye(4)), {section.name for section in model.mesh.sections}
    assert sum(skin_area(model, np.eye(4), section=name) for name in names) == pytest.approx(whole)
    assert 0.0 < skin_area(model, np.eye(4), bone="head") < 0.3 * whole
    check_scalp(model, knows_front=True)


@pytest.mark.parametrize("name", HEADS)
def test_hair_of_a_head_grows_above_and_behind_and_not_on_the_face(name: str, assets: Path) -> None:
    check_scalp(load_model(assets / HEADS[name]), knows_front=name != "Fox")  # whose names do not tell it


def check_scalp(model: CharacterModel, *, knows_front: bool) -> None:
    up, skeleton = model.default_up_axis.lower(), model.skeleton
    found, points = scalp(model, up), upright(model)
    assert found is not None
    joint = head_joint(skeleton.names, skeleton.parents)
    head = np.zeros(len(points), bool)
    head[model.mesh.triangles] = True
    head &= model.skin.weights_of(joint) > 0.5
    grows = found > 0.5
    low, high = points[head].min(axis=0), points[head].max(axis=0)
    shares = (points - low) / (high - low)
    assert (found[points[:, 1] < low[1]] == 0.0).all()
    assert grows[head & (shares[:, 1] > 0.9)].all(), "the crown"
    if knows_front:
        assert not grows[head & (shares[:, 2] > 0.7) & (shares[:, 1] < 0.6)].any(), "the face"
        assert grows[head & (shares[:, 2] < 0.2) & (shares[:, 1] > 0.5)].all(), "the back of the head"
    table = surface_table(model, scalp_up=up)
    assert (found[table[:, 1:]].max(axis=1) > 0.0).all()
    assert len(table) < 0.5 * model.mesh.triangle_count


def test_a_head_is_found_by_the_names_of_bones() -> None:
    names = ["root", "neck_1", "neck_2", "HeadNub", "Bip01 Head", "forehead"]
    assert head_joint(names, np.array([-1, 0, 1, 4, 2, 4])) == 4
    assert head_joint(["root", "neck_1", "neck_2"], np.array([-1, 0, 1])) == 2
    assert head_joint(["root", "necklace", "arm"], np.array([-1, 0, 1])) is None


def test_hair_is_added_to_the_scalp_as_much_as_covers_that_and_fur_to_everything() -> None:
    character = Node(id="f", name="F", settings=ModelSettings(path="a.ezm"))
    place = AddPlace(Scene(nodes=(character,)), ViewState(selection=Selection(node="f")), area=2.0, scalp=0.1)
    for preset in ("", "Long", "Bob"):
        settings = new_hair(preset, place).settings
        assert settings.region is Region.SCALP
        assert settings.undercoat > 0.0
        assert settings.children < new_hair(preset, dataclasses.replace(place, scalp=None)).settings.children
    assert new_hair("Short fur", place).settings.region is Region.EVERYWHERE
    of_head = AddPlace(place.scene, ViewState(selection=Selection(node="f", bone="head")), area=0.3, scalp=0.1)
    assert (new_hair("Short", of_head).settings.region, new_hair("Short", of_head).settings.density_bone) == (
        Region.SCALP, ""
    )  # fmt: skip
    of_hand = dataclasses.replace(of_head, scalp=None)
    assert new_hair("Short", of_hand).settings.density_bone == "head"


def frame(**more):
    paths = {
        "simulate": 9.0, "simulate/hair": 6.0, "simulate/hair/Wig": 5.0, "simulate/hair/Wig/rival/Wig": 2.0,
        "simulate/hair/Beard": 1.0, "draw/children/Wig": 0.5, "draw/shadow": 5.0, "draw/shadow/Wig": 4.0,
        "draw/shadow/Wig/self-shadow": 1.0, "draw/shadow/Wig/self-shadow/Wig": 1.0,
        "draw/shadow/Wig/shading/Wig": 2.0, "draw/hair/Wig": 0.25, "draw/models/Wig": 7.0,
    } | more  # fmt: skip
    slices = tuple(Slice(path, 0.0, 0.0, 0.0, gpu) for path, gpu in paths.items())
    return FrameSample(0, 0.0, 1.0, SceneMoment(), slices, TimeSource.TIMER)


def test_each_pass_counts_once_and_they_add_up():
    found = costs_of(frame(), "Wig")
    assert found == {"Solve": 3.0, "Children": 0.5, "Self-shadow": 1.0, "Shading": 2.0, "Draw": 1.25, RIVAL: 2.0}
    assert costs_of(frame(), "Beard")["Solve"] == 1.0
    middle = middle_costs(
        [frame(), frame(**{"simulate/hair/Wig": 7.0}), frame(**{"simulate/hair/Wig": math.nan})], "Wig"
    )
    assert middle["Solve"] == 4.0
    assert middle["Sum"] == pytest.approx(10.75)
    assert middle_costs([], "Wig") == {}
    assert step_costs([frame(), frame(**{"simulate/hair/Wig": math.nan})], "Wig") == (3.0, 2.0)
    assert all(map(math.isnan, step_costs([], "Wig")))


SIZE = (400.0, 400.0)
CAMERA = Camera(target=(0.0, 0.0, 0.0), yaw=0.0, pitch=0.0, distance=2.0)
SETTINGS = HairSettings(length=0.3, length_spread=0.0, disorder=0.0, lean=0.0, knots=9)


def wall(places, turned=None):
    corners = np.zeros((len(places), 3, 3))
    corners[:, :, :2] = np.asarray(places)[:, None]
    corners[:, 1, 0] += 1e-3
    corners[:, 2, 1] += 1e-3
    normals = np.tile([0.0, 0.0, 1.0], (3 * len(places), 1))
    placement = np.eye(4) if turned is None else turned
    surface = RootSurface(corners.reshape(-1, 3), normals, placement)
    triangles = np.arange(3 * len(places), dtype=np.uint32).reshape(-1, 3)
    roots = Roots(triangles, np.tile([1.0, 0.0, 0.0], (len(places), 1)))
    return grow(SETTINGS, surface, roots), surface


def brushed(groom, *seen, longest=0.6):
    return BrushedGroom(groom, np.full(groom.count, longest), *(seen or (RootFrames(groom.places, groom.frames),)))


def dab(start, end, radius=60.0, strength=1.0):
    return BrushStroke(CAMERA, SIZE, start, end, radius, strength)


def knots(groom: Groom):
    return groom.places[:, None] + groom.offsets(groom.frames)


def stroke(brush, tool, x, y, dx, dy, steps=8):
    for step in range(steps):
        start = (x + dx * step / steps, y + dy * step / steps)
        tool(brush, dab(start, (start[0] + dx / steps, start[1] + dy / steps)))


def test_combing_takes_strands_along_and_keeps_lengths_bends_and_roots():
    groom, _ = wall([(0.0, 0.0), (0.02, 0.01), (0.6, 0.5)])
    brush = brushed(groom)
    stroke(brush, BrushedGroom.comb, 200.0, 200.0, 70.0, 0.0)
    found = brush.groom
    edges = np.einsum("nxy,nky->nkx", found.frames, found.edges)
    assert (edges[:2, -1, 0] > 0.5).all(), "to the right, as the brush went"
    assert np.abs(edges[:2, :, 1]).max() < 0.2
    np.testing.assert_array_equal(found.edges[2], groom.edges[2])
    np.testing.assert_array_equal(found.lengths, groom.lengths)
    np.testing.assert_allclose(np.linalg.norm(found.edges, axis=2), 1.0, atol=1e-12)
    stroke(brush, BrushedGroom.comb, 200.0, 200.0, 150.0, 0.0, steps=20)  # flat, and on
    stroke(brush, BrushedGroom.comb, 210.0, 200.0, 0.0, -80.0)  # across them, near the roots
    edges = brush.groom.edges
    turns = np.arccos(np.clip(np.sum(edges[:, 1:] * edges[:, :-1], axis=2), -1.0, 1.0))
    assert 0.05 < turns.max() <= TURN_MAX + 1e-6
    assert edges[:, 0, 2].min() >= RISE - 1e-9
    np.testing.assert_allclose(np.linalg.norm(edges, axis=2), 1.0, atol=1e-12)
    assert np.abs(carried_loads(found, (9.81, 0.0, 0.0), 1.0) - carried_loads(groom, (9.81, 0.0, 0.0), 1.0)).max() > 1.0


def test_a_cut_ends_strands_at_the_circle_and_growing_has_an_end():
    side = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]).T
    groom, _ = wall([(0.0, 0.0), (0.0, 0.01)])
    flat = replace(groom, frames=np.tile(side.T, (2, 1, 1)) @ groom.frames)
    # Strands that go up in the image, seen by frames of their own that turn towards the eye.
    groom = replace(flat, edges=np.tile([0.0, 1.0, 0.0], (2, 8, 1)), frames=np.tile(np.eye(3), (2, 1, 1)))
    brush = brushed(groom)
    tip = dab((200.0, 200.0), (200.0, 200.0)).pixels(knots(groom)[:, -1])[0]
    middle = (float(tip[0, 0]), float(tip[0, 1]) - 20.0)
    brush.look(Occlusion(np.full((400, 400), 1.5, np.float32)), RootFrames(groom.places, groom.frames))
    brush.cut(dab(middle, middle, radius=45.0))
    np.testing.assert_array_equal(brush.groom.lengths, groom.lengths)  # something is before them
    brush.look(Occlusion(np.full((400, 400), 2.0, np.float32)), RootFrames(groom.places, groom.frames))
    brush.cut(dab(middle, middle, radius=45.0))
    ends = dab(middle, middle).pixels(knots(brush.groom)[:, -1])[0]
    np.testing.assert_allclose(np.linalg.norm(ends - middle, axis=1), 45.0, atol=0.5)
    assert (brush.groom.lengths < 0.95 * groom.lengths).all()
    brush.cut(dab(middle, middle, radius=45.0))
    np.testing.assert_allclose(np.linalg.norm(ends - middle, axis=1), 45.0, atol=0.5)
    below = (200.0, 200.0)
    for _ in range(60):
        brush.lengthen(dab(below, below, radius=120.0))
    np.testing.assert_allclose(brush.groom.lengths, 0.6)
    np.testing.assert_array_equal(brush.groom.edges[:, 0, 1], 1.0)


def test_a_mirror_combs_the_other_side_as_a_mirror_would():
    """Pairs of roots, brushed on one side, where the surface is not where it was at rest."""
    half = [(0.15, 0.0), (0.2, 0.05), (0.02, -0.01)]
    groom, surface = wall(half + [(-x, y) for x, y in half])
    turn = np.array([[0.96, 0.28, 0.0], [-0.28, 0.96, 0.0], [0.0, 0.0, 1.0]])
    shift = np.array([0.03, 0.02, 0.0])
    seen = RootFrames(groom.places @ turn.T + shift, turn @ groom.frames)
    brush = brushed(groom, seen, mirrored(groom, surface, seen, 0))
    stroke(brush, BrushedGroom.comb, 240.0, 200.0, 60.0, -40.0)
    rest = brush.groom.places[:, None] + brush.groom.offsets(groom.frames)
    np.testing.assert_allclose(rest[3:], rest[:3] * (-1.0, 1.0, 1.0), atol=1e-9)
    assert np.abs(rest - knots(groom)).max() > 0.05
    brush.cut(dab((240.0, 200.0), (260.0, 200.0), radius=30.0))
    np.testing.assert_allclose(brush.groom.lengths[3:], brush.groom.lengths[:3], atol=1e-9)
    assert brush.groom.lengths.min() < 0.29


def combed(apart=0.08):
    groom, surface = wall([(apart * x, apart * y) for x in range(-4, 5) for y in range(-4, 5)])
    brush = brushed(groom)
    stroke(brush, BrushedGroom.comb, 200.0, 200.0, 50.0, 20.0)
    brush.cut(dab((150.0, 200.0), (150.0, 200.0), radius=30.0))
    return groom, surface, brush.groom


def test_edits_are_stored_to_the_bit_and_close_to_what_was_combed():
    groom, surface, shaped = combed()
    edits = edits_of(groom, shaped, surface)
    found = edited(groom, surface, edits)
    np.testing.assert_allclose(found.edges, shaped.edges, atol=1e-4)
    np.testing.assert_allclose(found.lengths, shaped.lengths, rtol=1e-6)
    untouched = (shaped.edges == groom.edges).all(axis=(1, 2))
    assert 5 < untouched.sum() < groom.count - 5
    assert found.edges[untouched].tobytes() == groom.edges[untouched].tobytes()
    again = msgspec.json.decode(msgspec.json.encode(edits), type=tuple[GroomEdits, ...])
    assert edited(groom, surface, again).edges.tobytes() == found.edges.tobytes()
    assert edits_of(groom, groom, surface) == ()
    assert value_text(edits) == f"{edits[0].edited} of 81 guides"
    # The placement of the model makes no difference.
    placed = np.eye(4)
    placed[:3, :3], placed[:3, 3] = 2.0 * np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]), (1, 2, 3)
    elsewhere = replace(groom, frames=placed[:3, :3] / 2.0 @ groom.frames)
    there = edited(elsewhere, replace(surface, world_from_model=placed), edits)
    np.testing.assert_allclose(there.edges, found.edges, atol=1e-9)


def test_edits_hold_between_other_guides_and_for_other_knots():
    groom, surface, shaped = combed(0.03)
    edits = edits_of(groom, shaped, surface)
    some = np.arange(0, groom.count, 2)
    fewer = Groom(
        Roots(groom.roots.corners[some], groom.roots.shares[some]),
        groom.places[some], groom.frames[some], groom.lengths[some], groom.edges[some],
    )  # fmt: skip
    np.testing.assert_allclose(edited(fewer, surface, edits).edges, shaped.edges[some], atol=1e-4)
    other, _ = wall([(0.03 * x + 0.01, 0.03 * y - 0.01) for x in range(-4, 4) for y in range(-3, 5)])
    between = edited(other, surface, edits)
    near = np.argmin(np.linalg.norm(groom.places - other.places[:, None], axis=2), axis=1)
    error = np.linalg.norm(between.edges - shaped.edges[near], axis=2).mean()
    assert error < 0.7 * np.linalg.norm(other.edges - shaped.edges[near], axis=2).mean()
    coarse = replace(groom, edges=groom.edges[:, :4].copy())
    found = edited(coarse, surface, edits)
    tips = found.places + found.offsets(found.frames)[:, -1]
    assert np.linalg.norm(tips - knots(shaped)[:, -1], axis=1).max() < 0.03


def test_broken_edits_are_refused():
    for changes, reported in (
        ({"guides": 90_000}, "letters"),
        ({"data": "AAA="}, "letters"),
        ({"data": "!" * (-(-packed_size(81, 4, 8) // 3) * 4), "edited": 4}, "base64"),
        ({"data": "AAAA" * -(-packed_size(81, 4, 8) // 3), "edited": 4}, "bytes|numbers|factor|direction"),
        ({"segments": 16}, "<= 15"),
        ({"edited": 0}, ">= 1"),
    ):
        groom, surface, shaped = combed()
        raw = msgspec.to_builtins(edits_of(groom, shaped, surface)[0])
        with pytest.raises(msgspec.ValidationError, match=reported):
            msgspec.convert(raw | changes, GroomEdits)
        assert unpacked(msgspec.convert(raw, GroomEdits)).places.shape == (81, 3)


def test_smoothing_brings_strands_together():
    groom, _ = wall([(0.01 * x, 0.01 * y) for x in range(-3, 4) for y in range(-3, 4)])
    random = np.random.default_rng(3)
    groom = replace(groom, edges=groom.edges + 0.3 * random.normal(size=(groom.count, 1, 3)))
    groom = replace(groom, edges=groom.edges / np.linalg.norm(groom.edges, axis=2, keepdims=True))
    brush = brushed(groom)
    for _ in range(6):
        brush.smooth(dab((200.0, 200.0), (200.0, 200.0), radius=150.0))
    assert np.std(brush.groom.edges[:, -1], axis=0).max() < 0.3 * np.std(groom.edges[:, -1], axis=0).max()
