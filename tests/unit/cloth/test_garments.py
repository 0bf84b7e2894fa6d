from functools import cache

import msgspec
import numpy as np
import pytest

from sinew import resources
from sinew.sim.assets.humanoid import bones_of
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.colliders.skin_mesh import body_sections, skin_corners
from sinew.sim.kinds.cloth import garments
from sinew.sim.kinds.cloth.garments import PARTICLES_MAX, BodyOutline, body_of, dressed, garment_surface, trunk_joints
from sinew.sim.kinds.cloth.line_oracle import families
from sinew.sim.kinds.cloth.model import build_cloth
from sinew.sim.kinds.cloth.new_garment import FABRIC, LAYER, garment_place, garment_reason, new_garment
from sinew.sim.kinds.cloth.settings import ClothSettings, ClothSource, Garment, PinPreset, PinTarget
from sinew.sim.kinds.cloth.springs import SpringKind
from sinew.sim.kinds.cloth.surface import ClothSurface
from sinew.sim.kinds.contract import AddPlace
from sinew.sim.maths.arrays import Float64
from sinew.sim.scene.params import SettingsError, validated
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.view_state import Selection, ViewState
from tests.conftest import slow
from tests.model_samples import mesh_of, model_of
from tests.oracles.skin import signed_distances, winding_numbers

LEFT = np.array([1.0, 0.0, 0.0])
JOINTS = {
    "neck": (0.0, 1.5, 0.0), "hips": (0.0, 1.0, 0.0), "leftUpperArm": (0.2, 1.4, 0.0), "rightUpperArm": (-0.2, 1.4, 0.0)
}  # fmt: skip


@cache
def tubes(a: float, b: float, apart: float, size: float = 1.0, radius: tuple[float, ...] = ()) -> BodyOutline:
    """Upright elliptic tubes of height 1.8 `size`, side by side; `radius` are factors of the heights."""
    angle = np.linspace(0.0, 2.0 * np.pi, 180, endpoint=False)
    heights = np.linspace(0.0, 1.8, 500)
    factors = np.array(radius or np.ones(len(heights)))
    rings = [
        np.stack(np.broadcast_arrays(sign * apart + factor * a * np.sin(angle), y, factor * b * np.cos(angle)), axis=1)
        for y, factor in zip(heights, factors, strict=True)
        for sign in ((-1.0, 1.0) if apart else (0.0,))
    ]
    joints = {name: size * np.array(place) for name, place in JOINTS.items()}
    return BodyOutline.of_points(size * np.concatenate(rings), 0.0, 1.8 * size, LEFT, joints)


def cut(**values: object) -> ClothSettings:
    return validated(
        ClothSettings(), **{f"garment_{name}" if name != "garment" else name: v for name, v in values.items()}
    )


def grid(surface: ClothSurface) -> Float64:
    return surface.positions.reshape(surface.rows, -1, 3)


@pytest.mark.parametrize(
    ("a", "b", "apart", "known"),
    [(0.2, 0.2, 0.0, 1.57079), (0.3, 0.2, 0.0, 1.90070), (0.1, 0.1, 0.15, 1.54248)],
    ids=["circle", "ellipse", "two legs"],
)
def test_perimeters_are_those_of_offset_convex_outlines(a: float, b: float, apart: float, known: float) -> None:
    rows = grid(garment_surface(tubes(a, b, apart), cut(ease=50.0, flare=0.0, cell=10.0)))
    for row in (rows[0], rows[-1]):
        assert np.linalg.norm(np.diff(row, axis=0), axis=1).sum() == pytest.approx(known, rel=1e-3)


@pytest.mark.parametrize("flare", [slow(0.0), 15.0, slow(40.0)])
def test_the_radius_grows_by_the_flare_and_never_shrinks(flare: float) -> None:
    rows = grid(garment_surface(tubes(0.2, 0.2, 0.0), cut(ease=50.0, flare=flare, cell=10.0)))
    depth = rows[0, 0, 1] - rows[:, 0, 1]
    radius = np.linalg.norm(rows[..., [0, 2]], axis=2).mean(axis=1)
    np.testing.assert_allclose(radius, 0.25 + depth * np.tan(np.radians(flare)), rtol=1e-3)
    narrow = tubes(0.2, 0.2, 0.0, radius=tuple(np.linspace(0.2, 1.0, 500)))
    rows = grid(garment_surface(narrow, cut(ease=50.0, flare=0.0, cell=10.0)))
    radius = np.linalg.norm(rows[..., [0, 2]], axis=2).mean(axis=1)
    np.testing.assert_allclose(radius, radius[0], rtol=1e-3)


def test_a_garment_has_the_size_of_the_body_and_its_sides() -> None:
    waist = 1.0 - 0.2 * np.exp(-(((np.linspace(0.0, 1.8, 500) - 1.08) / 0.05) ** 2))
    body, twice = (tubes(0.25, 0.15, 0.03, size, radius=tuple(waist)) for size in (1.0, 2.0))
    for garment in Garment:
        settings = cut(garment=garment, opening=200.0 if garment is Garment.CAPE else 0.0)
        one = garment_surface(body, settings)
        np.testing.assert_allclose(garment_surface(twice, settings).positions, 2.0 * one.positions, atol=1e-9)
        rows = grid(one)
        np.testing.assert_allclose(rows[:, ::-1] * (-1.0, 1.0, 1.0), rows, atol=1e-6)
    assert grid(garment_surface(body, cut()))[0, 0, 1] == pytest.approx(1.08, abs=0.02), "the waist"


@pytest.mark.parametrize("garment", list(Garment))
def test_the_garment_of_a_mirrored_body_is_mirrored(garment: Garment) -> None:
    mirror = np.array([-1.0, 1.0, 1.0])
    angle, height = (axis.ravel() for axis in np.meshgrid(np.linspace(0.0, 2.0 * np.pi, 180), np.linspace(0, 1.8, 500)))
    radius = 0.2 + 0.05 * np.sin(angle + 0.4) + 0.02 * np.cos(7.0 * height)
    points = np.stack([0.03 + radius * np.sin(angle), height, 0.7 * radius * np.cos(angle)], axis=1)
    joints = {name: np.array(place) for name, place in JOINTS.items()}
    settings = cut(garment=garment, opening=200.0 if garment is Garment.CAPE else 0.0)
    one, other = (
        grid(garment_surface(BodyOutline.of_points(side, 0.0, 1.8, LEFT, joints), settings))
        for side in (points, mirror * points)
    )
    assert np.abs(one - mirror * one[:, ::-1]).max() > 0.01, "the body has two sides"
    np.testing.assert_allclose(other, mirror * one[:, ::-1], atol=1e-6)


def test_an_opening_is_at_the_front_and_the_cloth_has_its_outside_out() -> None:
    settings = cut(garment=Garment.CAPE, opening=120.0, flare=5.0)
    surface = garment_surface(tubes(0.2, 0.2, 0.0), settings)
    angles = np.degrees(np.arctan2(surface.positions[:, 0], surface.positions[:, 2]))
    assert np.abs(angles).min() > 59.0
    assert np.abs(angles).max() == pytest.approx(180.0, abs=5.0)
    corners = surface.positions[surface.triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (np.sum(normals * corners.mean(axis=1) * (1.0, 0.0, 1.0), axis=1) > 0.0).all()


@pytest.mark.parametrize("opening", [slow(0.0), 200.0])
def test_threads_are_in_one_family_each_and_presets_hold_rows_and_sides(opening: float) -> None:
    surface = garment_surface(tubes(0.2, 0.15, 0.0), cut(opening=opening))
    settings = validated(ClothSettings(), source=ClothSource.GARMENT, **FABRIC)
    model = build_cloth(settings, surface)
    columns = model.particle_count // surface.rows
    assert model.particle_count == surface.rows * columns
    threads = model.springs.of_kind(SpringKind.STRUCTURAL)
    covered = np.zeros(threads.count, int)
    keys = {tuple(sorted(pair)): number for number, pair in enumerate(threads.pairs.tolist())}
    for family in families(model):
        exists = family.factors > 0.0
        for first, second in zip(family.particles[:, :-1][exists], family.particles[:, 1:][exists], strict=True):
            covered[keys[tuple(sorted((int(first), int(second))))]] += 1
    assert (covered == 1).all()
    rings = {tuple(sorted((row * columns, row * columns + columns - 1))) for row in range(surface.rows)}
    assert rings <= keys.keys() if opening == 0.0 else rings.isdisjoint(keys)
    assert np.flatnonzero(model.pinned(settings)).tolist() == list(range(columns))
    bottom = msgspec.structs.replace(settings, pins=PinPreset.BOTTOM)
    assert np.flatnonzero(model.pinned(bottom))[0] == (surface.rows - 1) * columns
    assert model.positions[:columns, 1].min() > model.positions[columns:, 1].max()


@cache
def humanoid() -> CharacterModel:
    return load_model(resources.path("models") / "humanoid" / "humanoid.ezm")


@pytest.mark.parametrize("garment", [Garment.SKIRT, slow(Garment.CAPE), slow(Garment.DRESS)])
def test_a_garment_keeps_the_ease_from_the_body(garment: Garment) -> None:
    model = humanoid()
    assert model.skeleton is not None
    assert model.skin is not None
    bones = bones_of(model)
    surface = garment_surface(body_of(model, ModelSettings()), cut(garment=garment, opening=0.0))
    arms = model.skeleton.below([bones["leftUpperArm"], bones["rightUpperArm"]])[model.skin.strongest]
    corners = skin_corners(model.mesh, body_sections(model, ()))[:, :3]
    triangles = model.mesh.positions[corners[~arms[corners].any(axis=1)]].astype(np.float64)
    apart = np.abs(signed_distances(surface.positions, triangles))
    assert apart.min() > 0.95 * 0.015
    whole = model.mesh.positions[model.mesh.triangles].astype(np.float64)
    some = surface.positions[np.argsort(apart)[:40]]
    assert np.abs(winding_numbers(some, whole)).max() < 0.5


def test_an_outer_garment_goes_around_the_inner_one() -> None:
    body = body_of(humanoid(), ModelSettings())
    skirt, cape = cut(flare=30.0), cut(garment=Garment.CAPE, length=0.9, flare=4.0, ease=25.0, opening=200.0)
    inner, outer = garment_surface(body, skirt), dressed(body, [skirt, cape])
    triangles, heights = inner.positions[inner.triangles], inner.positions[:, 1]

    def beside(sheet: ClothSurface) -> Float64:
        y = sheet.positions[:, 1]
        chosen = sheet.positions[(y < heights.max() - 0.02) & (y > heights.min() + 0.02)]
        return signed_distances(chosen[::4], triangles)

    assert beside(outer).min() > 0.015
    assert beside(garment_surface(body, cape)).min() < 0.0, "else this test shows nothing"


def test_bodies_and_cells_that_do_not_fit_are_refused_with_what_to_do() -> None:
    with pytest.raises(SettingsError, match="name hips, head, leftUpperLeg and 11 more in Bones"):
        body_of(model_of(mesh_of([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])), ModelSettings())
    body = tubes(0.2, 0.2, 0.0, 1.0)
    wide = msgspec.structs.replace(cut(cell=10.0, flare=60.0, length=1.0, ease=200.0))
    with pytest.raises(SettingsError, match=r"garment would have .* particles; cells of 2[0-9] mm") as refused:
        garment_surface(body, wide)
    least = float(str(refused.value).split("cells of ")[1].split(" mm")[0])
    surface = garment_surface(body, msgspec.structs.replace(wide, garment_cell=least))
    assert len(surface.positions) - surface.rows <= PARTICLES_MAX
    hidden = "; ".join(part.name for part in humanoid().mesh.sections)
    assert body_of(humanoid(), ModelSettings(hidden_sections=hidden)).height > 1.0, "something must be left"


def test_each_joint_belongs_to_the_joint_of_the_trunk_that_carries_it() -> None:
    model = humanoid()
    skeleton, bones = model.skeleton, bones_of(model)
    assert skeleton is not None
    carriers = trunk_joints(model, ModelSettings())
    for bone, carrier in {
        "leftHand": "upperChest", "head": "upperChest", "chest": "chest", "spine": "spine", "rightFoot": "hips",
    }.items():  # fmt: skip
        assert carriers[bones[bone]] == bones[carrier]
    between = skeleton.index("spine_2")
    assert carriers[between] == between, "a joint of the spine without a name of its own"


def test_the_points_of_large_triangles_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    corners = np.random.default_rng(1).normal(size=(3000, 3))
    triangles = np.arange(3000).reshape(-1, 3)
    monkeypatch.setattr(garments, "SAMPLES_MAX", 50_000)
    points, nearest = garments.sampled(corners, triangles, 0.01)
    assert 10_000 < len(points) <= 50_000 + len(corners)
    assert len(nearest) == len(points)


def test_the_entry_makes_a_garment_a_collider_and_a_preroll() -> None:
    character = Node(id="m", name="Walker", settings=ModelSettings(path="walker.ezm"))
    view = ViewState(selection=Selection(node="m"))
    place = AddPlace(Scene(nodes=(character,)), view, models={"m": humanoid()})
    assert (garment_place(place), garment_reason(place)) == ("on Walker", "")
    made = new_garment(Garment.CAPE, place)
    cape, skin = made.nodes
    assert cape.attachment.node == skin.attachment.node == "m"
    assert isinstance(cape.settings, ClothSettings)
    assert (cape.settings.garment, cape.settings.garment_opening, made.run_up) == (Garment.CAPE, 240.0, 2.0)
    names = humanoid().skeleton.names  # type: ignore[union-attr]
    assert (cape.settings.pin_target, cape.settings.pin_bone) == (PinTarget.BONE, "chest")
    assert set(skin.settings.yielding) <= set(names)  # type: ignore[attr-defined]
    first = msgspec.structs.replace(cape, id="c")
    again = new_garment(Garment.SKIRT, AddPlace(Scene(nodes=(character, first, skin)), view, models=place.models))
    (skirt,) = again.nodes
    assert isinstance(skirt.settings, ClothSettings)
    assert (skirt.settings.pin_target, skirt.settings.garment_ease) == (PinTarget.RIGID, 15.0 + LAYER)
    assert (skirt.settings.other_cloths, skirt.settings.met_cloths) == (True, ("c",))


def test_the_entry_says_why_it_does_not_apply() -> None:
    empty = AddPlace(Scene(), ViewState())
    character = Node(id="m", name="Fox", settings=ModelSettings(path="fox.gltf"))
    loading = AddPlace(Scene(nodes=(character,)), ViewState())
    fox = load_model(resources.path("models") / "fox" / "fox.ezm")
    animal = AddPlace(Scene(nodes=(character,)), ViewState(), models={"m": fox})
    for place, reason in ((empty, "Select a character first."), (loading, "Fox is not loaded yet."),
                          (animal, "A garment needs the bones of a human body: name ")):  # fmt: skip
        assert garment_reason(place).startswith(reason)
        with pytest.raises(SettingsError, match=reason):
            new_garment(Garment.SKIRT, place)
