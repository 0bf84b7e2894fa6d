"""Firm and yielding colliders against float64, in single steps from states that are partly inside."""

from dataclasses import replace

import numpy as np
import pytest

from sinew import resources
from sinew.sim.assets.humanoid import bones_of
from sinew.sim.assets.load import load_model
from sinew.sim.characters.skinning import rest_records
from sinew.sim.colliders.pack import arranged
from sinew.sim.colliders.scene_colliders import Colliders
from sinew.sim.colliders.skin import SceneSkins, SkinPlacement
from sinew.sim.colliders.skin_mesh import YIELDS, skin_corners, with_yielding
from sinew.sim.colliders.state import ColliderShape, ColliderState
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.cloth import line_oracle
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.group import ClothGroup, ClothInStep
from sinew.sim.kinds.cloth.model import build_cloth
from sinew.sim.kinds.cloth.oracle import BODY, PRESSED, ClothActions, ClothParticles
from sinew.sim.kinds.cloth.oracle import step as step_of_springs
from sinew.sim.kinds.cloth.settings import ClothPlacement, ClothSettings, ClothSolving, PinPreset
from sinew.sim.kinds.cloth.solver import GIVE, YIELDING_PUSH, ClothInputs, push_of
from sinew.sim.kinds.collider import place
from sinew.sim.maths import quaternion
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.transform import compose
from sinew.sim.scene.transform import Transform
from tests.conftest import campaign, slow
from tests.gl.back_ends import COMPUTE_IN_CAMPAIGN, ON_BOTH
from tests.gl.cloth.cloth_cases import collider_inputs
from tests.gl.colliders.test_skin import box, made, moved, positions, sheet, steps
from tests.model_samples import mesh_of
from tests.oracles.skin_contact import SkinTriangles


def shapes(scale: float, centre: Float64, yielding: tuple[ColliderShape, ...]) -> list[ColliderState]:
    """One of each shape along a sheet, half above it, moving and turning."""
    sizes = {
        ColliderShape.PLANE: np.zeros(3),
        ColliderShape.SPHERE: np.array([0.12, 0.0, 0.0]),
        ColliderShape.ELLIPSOID: np.array([0.15, 0.08, 0.1]),
        ColliderShape.CAPSULE: np.array([0.07, 0.1, 0.0]),
        ColliderShape.BOX: np.array([0.1, 0.05, 0.12]),
    }
    found = []
    for number, (shape, size) in enumerate(sizes.items()):
        offset = np.array([0.35 * (number - 2), 0.055, 0.02 * number])
        if shape is ColliderShape.PLANE:
            offset = np.array([0.0, -0.02, 0.0])
        turn = quaternion.from_axis_angle(np.array([0.0, 0.6, 0.8]), 0.0 if shape is ColliderShape.PLANE else 0.3)
        start = compose(centre + scale * offset, turn, np.ones(3))
        end = start.copy()
        end[:3, 3] += scale * np.array([0.001, 0.004, -0.002])
        found.append(ColliderState(shape, scale * size, start, end, 0.4, 0.2, shape in yielding))
    return found


ARMS = (ColliderShape.SPHERE, ColliderShape.CAPSULE, ColliderShape.PLANE)


@ON_BOTH
@pytest.mark.parametrize("yielding", [(), ARMS, slow(tuple(ColliderShape))], ids=["firm", "some", "all"])
@pytest.mark.parametrize(("scale", "substeps"), [(1.0, 1), (0.2, 7), slow(5.0, 48)])
@pytest.mark.parametrize("solver", list(ClothSolving))
def test_steps_among_all_shapes_are_those_of_the_reference(
    context: Context, library: ShaderLibrary, solver: ClothSolving, scale: float, substeps: int,
    yielding: tuple[ColliderShape, ...],
) -> None:  # fmt: skip
    settings = ClothSettings(
        solver=solver, columns=19, rows=7, width=1.8 * scale, height=0.6 * scale, placement=ClothPlacement.FLAT,
        pins=PinPreset.NONE, stretch_stiffness=20.0 * scale**2, shear_stiffness=5.0 * scale**2, bend_stiffness=0.0,
        internal_damping=1e-3, substeps=substeps, thickness=0.02 * scale, gravity=(0.3 * scale, -9.81 * scale, 0.0),
    )  # fmt: skip
    centre = np.array([0.3, -0.1, 0.2]) * scale
    placement = compose(centre, np.array([0.0, 0.0, 0.0, 1.0]), np.ones(3))
    cloth = Cloth(context, library, settings, None, placement)
    states, layout = arranged(shapes(scale, centre, yielding))
    inputs, buffer = collider_inputs(context, states, layout, settings)
    start = ClothParticles(cloth.model.positions, np.zeros_like(cloth.model.positions))
    actions = ClothActions(cloth.model.pinned(settings), cloth.model.positions, states)
    step = line_oracle.step if settings.has_lines else step_of_springs
    expected = step(cloth.model, settings, start, actions)
    assert cloth.step(inputs)
    moved = np.linalg.norm(expected.positions - start.positions, axis=1)
    assert moved.max() > 1e-3 * scale
    errors = np.linalg.norm(cloth.positions() - expected.positions, axis=1)
    assert np.quantile(errors, 0.95) < 2e-5 * scale
    assert errors.max() < 2e-3 * scale, "at a ridge the nearest point may be on either side"
    buffer.release()
    assert inputs.colliders.texture is not None
    inputs.colliders.texture.release()


FIRM, ARM = 0, YIELDS

HELD = 3e-4
"""Error of particles in the middle between two skins, where rounding decides which of them touches first [m]."""


@COMPUTE_IN_CAMPAIGN
@pytest.mark.parametrize("meets", [False, True], ids=["alone", "with another"])
@pytest.mark.parametrize(
    ("lower", "at", "scale", "speed", "substeps", "error"),
    [(ARM, (0.0, 0.0, 0.0), 1.0, 0.0, 6, 2e-5), slow(ARM, (3.0, -0.4, 1.2), 1.0, 0.6, 48, HELD),
     (ARM, (0.3, 0.1, -2.0), 0.25, 2.0, 1, 2e-5), (ARM, (-5.0, 2.0, 0.0), 2.0, 0.3, 13, HELD),
     campaign(ARM, (-5.0, 2.0, 0.0), 2.0, 0.3, 48, HELD), slow(ARM, (-5.0, 2.0, 0.0), 2.0, 0.0, 13, 2e-5),
     slow(FIRM, (0.3, 0.1, -2.0), 0.25, 0.6, 6, 2e-5)],
)  # fmt: skip
@pytest.mark.parametrize("solver", list(ClothSolving))
def test_steps_between_a_limb_and_a_body_are_those_of_the_reference(
    context: Context, library: ShaderLibrary, solver: ClothSolving, at: tuple[float, float, float], scale: float,
    speed: float, substeps: int, error: float, lower: int, meets: bool,
) -> None:  # fmt: skip
    """The limb moves up by so many thicknesses in the step; the body above it is tilted, so that its room varies.

    The other cloth that it meets does not touch it.
    """
    thickness = 0.02 * scale
    settings = ClothSettings(
        solver=solver, columns=13, rows=5, width=0.6 * scale, height=0.2 * scale, placement=ClothPlacement.FLAT,
        pins=PinPreset.NONE, stretch_stiffness=20.0 * scale**2, shear_stiffness=5.0 * scale**2, bend_stiffness=0.0,
        internal_damping=1e-3, substeps=substeps, thickness=thickness, gravity=(0.3, -9.81, 0.0),
    )  # fmt: skip
    tilt = quaternion.from_axis_angle(np.array([0.0, 0.0, 1.0]), 0.06)
    limb, body = box((0.5, 0.02, 0.3), 1), box((0.24, 0.02, 0.3), 1)
    down = np.array([0.0, -0.03, 0.0])
    above = quaternion.rotate(tilt, body.positions.astype(np.float64)) + np.array([0.1, 0.038, 0.0])
    ends = [
        scale * np.concatenate([limb.positions + down + (0.0, rise, 0.001 * speed), above]) + at
        for rise in (0.0, 0.02 * speed)
    ]
    triangles = np.concatenate([limb.triangles, body.triangles + limb.vertex_count])
    normals = np.concatenate([limb.normals, quaternion.rotate(tilt, body.normals.astype(np.float64))])
    corners = skin_corners(mesh_of(ends[0], triangles, normals=normals), ())
    is_limb = (corners[:, :3] < limb.vertex_count).all(axis=1)
    corners[is_limb, 3] |= lower
    vertices, now = Buffer(context, rest_records(mesh_of(ends[0], triangles)), usage="copy"), None
    skins = SceneSkins(context, library)
    for end in ends:
        vertices.write(rest_records(mesh_of(end, triangles)))
        now = skins.advance({"s": SkinPlacement(corners, vertices, np.eye(4), friction=0.4, restitution=0.1)})
    cloth = Cloth(context, library, settings, None, compose(np.array(at), np.array([0.0, 0.0, 0.0, 1.0]), np.ones(3)))
    start = ClothParticles(cloth.model.positions, np.zeros_like(cloth.model.positions))
    first, last = (np.float32(end).astype(np.float64)[corners[:, :3]] for end in ends)
    skin = SkinTriangles(first, last, corners[:, 3], 0.4, 0.1)
    step = line_oracle.step if settings.has_lines else step_of_springs
    held = np.zeros(cloth.model.particle_count, bool)
    expected, without = (
        step(cloth.model, settings, start, ClothActions(held, start.positions, skin=one, meets=meets))
        for one in (skin, replace(skin, flags=np.zeros_like(skin.flags)))
    )
    inputs = ClothInputs(Colliders(skin=now))
    if meets:
        far = compose(np.array(at) + 9.0, np.array([0.0, 0.0, 0.0, 1.0]), np.ones(3))
        other = Cloth(context, library, settings, None, far)
        group = ClothGroup(context, library, {"a": cloth.model, "b": other.model}, [("a", "b")])
        group.step([ClothInStep(cloth, inputs), ClothInStep(other, ClothInputs())], substeps)
        group.release()
        other.release()
    else:
        assert cloth.step(inputs)
    errors = np.linalg.norm(cloth.positions() - expected.positions, axis=1)
    assert np.quantile(errors, 0.95) < error * max(scale, 1.0), "of pushes by millimetres"
    assert errors.max() < 2e-3 * scale, "at an edge the nearest point may be on either side"
    differs = np.linalg.norm(expected.positions - without.positions, axis=1) > 1e-4 * thickness
    assert differs.any() == (lower != FIRM), "the law of what yields matters here"
    for owned in (cloth, skins, vertices):
        owned.release()


def heights(
    context: Context, monkeypatch: pytest.MonkeyPatch, yields: bool, moving: Float64, gap: float = 0.0,
    cells: int = 6, **settings: object,
) -> Float64:  # fmt: skip
    """Heights of a sheet over a plate of skin, 0 on its top, after each step; with a `gap`, below a firm one."""
    one = plate = box((0.2, 0.05, 0.2), cells)
    if gap:
        above = moved(one, np.array([0.0, 0.1 + gap, 0.0]), np.ones(3))
        triangles = np.concatenate([one.triangles, one.triangles + one.vertex_count])
        normals = np.concatenate([one.normals, above.normals])
        plate = mesh_of(np.concatenate([one.positions, above.positions]), triangles, normals=normals)
    is_lower = np.arange(plate.vertex_count) < one.vertex_count
    with monkeypatch.context() as patched:
        patched.setattr(
            place, "skin_corners",
            lambda mesh, names: with_yielding(skin_corners(mesh, names), is_lower & yields),
        )  # fmt: skip
        cloth = sheet(place=Transform(position=(0.0, 0.05 + moving[0], 0.0)), gravity=(0.0, moving[1], 0.0), **settings)
        engine = made(context, plate, cloth)
        found = []
        for step in range(4):
            assert steps(engine, step, step + 1) == []
            found.append(positions(engine, "c")[:, 1].mean() - 0.05)
    engine.release()
    return np.array(found)


@pytest.mark.parametrize("yields", [False, True], ids=["firm", "yielding, with room"])
@pytest.mark.parametrize("solver", list(ClothSolving))
def test_a_skin_lets_go_slowly_and_stops_a_fall_at_once(
    context: Context, monkeypatch: pytest.MonkeyPatch, solver: ClothSolving, yields: bool
) -> None:
    cell, clearance = 0.05, 0.005
    inside = heights(context, monkeypatch, yields, np.array([-0.03, 0.0]), solver=solver, substeps=24)
    given = 24 * GIVE * cell * (1.0 if yields else BODY)
    np.testing.assert_allclose(inside, np.minimum(-0.03 + given * np.arange(1, 5), clearance), atol=1e-5)
    # At 1.3 m/s and more it moves by ten times what the surface gives in a substep.
    fallen = heights(context, monkeypatch, yields, np.array([0.015, -60.0]), solver=solver, substeps=4)
    assert fallen[-1] == pytest.approx(clearance, abs=1e-5)
    assert fallen.min() > clearance - 1e-5


def test_more_substeps_push_with_the_same_force() -> None:
    cloth = build_cloth(ClothSettings(columns=5, rows=5))
    pushes = [push_of(cloth, ClothSettings(substeps=count))[0] for count in (24, 48, 96, 192)]
    assert pushes[0] == pushes[1] == pytest.approx(4.0 * pushes[2]) == pytest.approx(16.0 * pushes[3])


@pytest.mark.parametrize("yields", [False, True])
@pytest.mark.parametrize("substeps", [12, slow(96)])
@pytest.mark.parametrize("solver", list(ClothSolving))
def test_pins_pull_no_particle_into_a_surface(
    context: Context, library: ShaderLibrary, solver: ClothSolving, substeps: int, yields: bool
) -> None:
    settings = ClothSettings(
        solver=solver, columns=5, rows=5, width=0.16, height=0.16, placement=ClothPlacement.FLAT, pins=PinPreset.NONE,
        pin_list="0-24", pin_strength=0.99, stretch_stiffness=20.0, shear_stiffness=5.0, bend_stiffness=0.0,
        substeps=substeps, thickness=0.02, gravity=(0.0, 0.0, 0.0),
    )  # fmt: skip
    cloth = Cloth(context, library, settings)
    place = compose(np.array([0.0, 0.008, 0.0]), np.array([0.0, 0.0, 0.0, 1.0]), np.ones(3))
    place[1, 3] += float(cloth.model.positions[0, 1])
    plane = ColliderState(ColliderShape.PLANE, np.ones(3), place, place, 0.3, 0.0, yields)
    inputs, buffer = collider_inputs(context, *arranged([plane]), settings)
    cloth.write(cloth.model.positions + np.array([0.0, 0.05, 0.0]), np.zeros((25, 3)))
    for _ in range(30):
        assert cloth.step(inputs)
    over = cloth.positions()[:, 1] - place[1, 3]
    np.testing.assert_allclose(over, 0.5 * settings.thickness, atol=1e-4)
    buffer.release()
    assert inputs.colliders.texture is not None
    inputs.colliders.texture.release()


@pytest.mark.parametrize(("pull", "error"), [(50.0, 3e-4), (2.0 * YIELDING_PUSH, 1e-3)])
@pytest.mark.parametrize(("gap", "cells"), [(0.006, 6), (0.002, 40), (-0.004, 6), (-0.008, 40), slow(-0.02, 40)])
@pytest.mark.parametrize("solver", list(ClothSolving))
def test_a_yielding_skin_presses_cloth_flat_against_a_firm_one(
    context: Context, monkeypatch: pytest.MonkeyPatch, solver: ClothSolving, gap: float, cells: int, pull: float,
    error: float,
) -> None:  # fmt: skip
    """Fine cells: more triangles of the firm one are nearer to a particle than are listed for it."""
    clearance = 0.005
    from_firm = max(0.5 * gap, -min(clearance, PRESSED))
    start = np.array([gap - clearance, -pull])
    pressed = heights(context, monkeypatch, True, start, gap, cells, solver=solver, substeps=48)
    np.testing.assert_allclose(pressed[-1], gap - from_firm, atol=error)


@pytest.mark.parametrize("solver", list(ClothSolving))
def test_a_yielding_skin_with_room_holds_anything(
    context: Context, monkeypatch: pytest.MonkeyPatch, solver: ClothSolving
) -> None:
    start = np.array([0.004, -2.0 * YIELDING_PUSH])
    assert heights(context, monkeypatch, True, start, 0.02, solver=solver, substeps=48).min() > -0.0025


def test_bones_of_the_settings_mark_the_triangles_that_yield() -> None:
    model = load_model(resources.path("models") / "humanoid" / "humanoid.ezm")
    assert model.skeleton is not None
    assert model.skin is not None
    arm = bones_of(model)["leftUpperArm"]
    names = model.skeleton.names[arm], "no such bone"
    plain, marked = place.skin_table(model, ()), place.skin_table(model, (), names)
    assert marked is place.skin_table(model, (), names)
    is_arm = model.skeleton.below([arm])[model.skin.strongest][plain[:, :3]].all(axis=1)
    np.testing.assert_array_equal(marked[:, 3] & YIELDS, np.where(is_arm, YIELDS, 0))
    np.testing.assert_array_equal(marked[:, 3] & ~np.uint32(YIELDS), plain[:, 3])
    assert 0 < is_arm.sum() < len(is_arm) / 2
