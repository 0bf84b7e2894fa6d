"""Fitted colliders follow the skin: known solids, the shipped figure, and a character from elsewhere."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from sinew import resources
from sinew.sim.animation.evaluate import bind_pose, evaluate_pose
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel
from sinew.sim.bench.pose import synthetic_character
from sinew.sim.characters.character import shaped
from sinew.sim.characters.deformers.settings import Bulge, BulgeMode
from sinew.sim.characters.playing import world_from_model
from sinew.sim.characters.reference import shaped_mesh, skin
from sinew.sim.characters.settings import ModelSettings, SkinningMethod
from sinew.sim.colliders.outline import outline
from sinew.sim.colliders.state import ColliderPlacement, ColliderShape
from sinew.sim.kinds.collider.fit import (
    COLLIDERS_MAX,
    MOVED,
    FittedCollider,
    ellipsoid_distance_estimate,
    fit_colliders,
    fit_shape,
    group_weights,
)
from sinew.sim.kinds.collider.place import placements, sized
from sinew.sim.maths import quaternion
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.transform import node_matrix
from sinew.sim.scene.world_transforms import WorldTransforms, rigid_frames
from tests.oracles.shapes import signed_distance
from tests.unit.colliders.cases import Posed

TURN = quaternion.to_matrix(quaternion.normalised(np.array([0.3, -0.5, 0.2, 0.8])))
PLACE = np.array([0.4, -1.0, 2.0])
HUMANOID = resources.path("models") / "humanoid" / "humanoid.ezm"


@cache
def fitted_to(path: Path, unit_scale: float) -> tuple[CharacterModel, list[FittedCollider]]:
    """A model and its colliders."""
    model = load_model(path)
    return model, fit_colliders(model, unit_scale=unit_scale)


def union_distance(model: CharacterModel, fitted: list[FittedCollider], unit_scale: float) -> np.ndarray:
    """Signed distance [m] of every vertex in the bind pose to the union of the colliders."""
    assert model.skeleton is not None
    frames = rigid_frames(model.skeleton.model_from_bind)
    frames[:, :3, 3] *= unit_scale
    points = unit_scale * model.mesh.positions.astype(np.float64)
    distances = []
    for collider in fitted:
        world = frames[model.skeleton.index(collider.bone)] @ node_matrix(collider.transform)
        shape, size = sized(collider.settings, np.ones(3))
        distances.append(signed_distance(shape, size, (points - world[:3, 3]) @ world[:3, :3]))
    return np.min(distances, axis=0)


@pytest.mark.parametrize(
    ("shape", "size"),
    [(ColliderShape.CAPSULE, (0.08, 0.2, 0.0)), (ColliderShape.ELLIPSOID, (0.1, 0.3, 0.2))],
)
def test_a_known_solid_is_found_again(shape: ColliderShape, size: tuple[float, ...]) -> None:
    mesh = outline(shape, np.array(size))
    points = mesh.positions.astype(np.float64) @ TURN.T + PLACE
    found = fit_shape(points, np.ones(len(points)))
    assert found.shape is shape
    np.testing.assert_allclose(np.sort(found.size), np.sort(size), atol=0.012)
    np.testing.assert_allclose(found.centre, PLACE, atol=0.01)
    apart = signed_distance(found.shape, found.size, (points - found.centre) @ found.rotation)
    assert np.abs(apart).mean() < 0.01


def test_the_bone_gives_the_axis_where_the_points_do_not() -> None:
    """The skin of a short thick limb, open at both ends: its longest extent lies across the bone."""
    angle, height = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False), np.linspace(-0.07, 0.07, 8))
    round_limb = np.stack([0.1 * np.sin(angle), height, 0.1 * np.cos(angle)], axis=-1).reshape(-1, 3)
    points = round_limb @ TURN.T + PLACE
    found = fit_shape(points, np.ones(len(points)), TURN[:, 1])
    assert found.shape is ColliderShape.CAPSULE
    assert abs(found.rotation[:, 1] @ TURN[:, 1]) > 0.99
    assert found.size[0] == pytest.approx(0.1, abs=0.02)
    assert found.error < fit_shape(points, np.ones(len(points))).error


def test_the_quick_distance_is_right_at_the_surface() -> None:
    axes = np.array([0.5, 0.2, 0.9])
    surface = outline(ColliderShape.ELLIPSOID, axes)
    points = surface.positions.astype(np.float64) + 1e-3 * surface.normals
    np.testing.assert_allclose(ellipsoid_distance_estimate(points, axes), 1e-3, atol=3e-5)
    np.testing.assert_allclose(ellipsoid_distance_estimate(np.zeros((1, 3)), axes), [-0.2])


def check_figure(path: Path, unit_scale: float) -> None:
    """Few colliders, close to the skin; tolerances are parts of the height."""
    model, fitted = fitted_to(path, unit_scale)
    assert 10 <= len(fitted) <= COLLIDERS_MAX
    assert len({collider.bone for collider in fitted}) == len(fitted)
    apart = union_distance(model, fitted, unit_scale) / (model.mesh.bounds.extent * unit_scale)
    assert (np.abs(apart) < 0.02).mean() > 0.9
    assert (np.abs(apart) < 0.03).mean() > 0.97
    assert (apart > 0.01).mean() < 0.01
    assert apart.max() < 0.02


def test_the_shipped_figure() -> None:
    check_figure(HUMANOID, 1.0)
    model, fitted = fitted_to(HUMANOID, 1.0)
    assert fitted == fit_colliders(model)  # the same every time
    few = fit_colliders(model, count_max=12)
    assert len(few) <= 12
    assert np.abs(union_distance(model, few, 1.0)).max() < 0.25


def test_they_cover_the_shipped_figure_in_every_clip() -> None:
    """Riding on their bones, with the skin deformed: what sticks out of them stays under 2.5 % of the height."""
    model, colliders = fitted_to(HUMANOID, 1.0)
    assert model.skin is not None
    body = Node(id="m", settings=ModelSettings())
    riders = [
        Node(
            id=str(i),
            transform=fitted.transform,
            attachment=Attachment(node="m", bone=fitted.bone),
            settings=fitted.settings,
        )
        for i, fitted in enumerate(colliders)
    ]
    scene = Scene(nodes=(body, *riders))
    height = model.mesh.bounds.extent
    for clip in model.clips:
        for time in np.linspace(0.0, clip.duration, 4):
            pose = evaluate_pose(model, clip, float(time))
            stands = world_from_model(body.settings, model, np.eye(4))
            places = WorldTransforms(scene, {"m": Posed(model, pose, stands)})
            placed = placements(scene.of_kind("collider"), places)
            points = skin(model.mesh, model.skin, pose.palette, SkinningMethod.LBS).positions[::7]
            apart = np.min([_distance(placement, points) for placement in placed.values()], axis=0) / height
            assert not any(map(places.missing, riders))
            assert (apart > 0.01).mean() < 0.03
            assert apart.max() < 0.03


def _distance(placement: ColliderPlacement, points: np.ndarray) -> np.ndarray:
    matrix = placement.world_from_collider
    return signed_distance(placement.shape, placement.size, (points - matrix[:3, 3]) @ matrix[:3, :3])


def test_a_character_in_other_units(assets: Path) -> None:
    check_figure(assets / "ezm" / "dude" / "dude.ezm", 0.0254)


def test_spikes_of_little_weight_do_not_set_the_size() -> None:
    """A helmet with a plume: a thin blade far above a head is let stick out of its collider."""
    head = outline(ColliderShape.ELLIPSOID, np.array([0.1, 0.13, 0.11])).positions.astype(np.float64)
    plume = np.stack([np.zeros(40), np.linspace(0.13, 0.6, 40), np.zeros(40)], axis=1)
    plain = fit_shape(head, np.ones(len(head)))
    weights = np.concatenate([np.ones(len(head)), np.full(40, 0.008 * len(head) / 40)])
    crowned = fit_shape(np.concatenate([head, plume]), weights)
    assert crowned.shape is plain.shape
    assert crowned.size.sum() == pytest.approx(plain.size.sum(), rel=0.08)
    np.testing.assert_allclose(crowned.centre, plain.centre, atol=0.012)


@pytest.mark.parametrize("name", ["ezm/dude/dude.ezm", "ezm/character/character.ezm", "gltf/Fox/glTF-Binary/Fox.glb"])
def test_none_sticks_out_of_its_limb(assets: Path, name: str) -> None:
    """In no direction farther than a tenth of the length of the limb beyond the skin that its bones move."""
    model, fitted = fitted_to(assets / name, 1.0)
    assert model.skeleton is not None
    assert model.skin is not None
    directions = np.random.default_rng(0).normal(size=(300, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    joints = [model.skeleton.index(collider.bone) for collider in fitted]
    held = group_weights(model.skeleton, model.skin, joints)
    frames, positions = rigid_frames(model.skeleton.model_from_bind), model.mesh.positions.astype(np.float64)
    for collider, joint, weights in zip(fitted, joints, held.T, strict=True):
        limb = positions[weights >= MOVED] @ directions.T
        world = frames[joint] @ node_matrix(collider.transform)
        shape, size = sized(collider.settings, np.ones(3))
        surface = outline(shape, size).positions.astype(np.float64) @ world[:3, :3].T + world[:3, 3]
        beyond = (surface @ directions.T).max(axis=0) - limb.max(axis=0)
        assert beyond.max() <= 0.1 * np.ptp(limb, axis=0).max(), collider.bone


def test_weights_of_what_joined_a_limb_count_with_it() -> None:
    model, _ = fitted_to(HUMANOID, 1.0)
    assert model.skeleton is not None
    assert model.skin is not None
    roots = np.flatnonzero(model.skeleton.parents < 0).tolist()
    np.testing.assert_allclose(group_weights(model.skeleton, model.skin, roots).sum(axis=1), 1.0, atol=1e-6)


def test_they_are_fitted_to_the_surface_that_deformers_leave(repo_root: Path) -> None:
    model = load_model(repo_root / "resources" / "models" / "arm" / "arm.ezm")
    pulse = Bulge(mode=BulgeMode.PULSE, height=4.0, frequency=0.0, phase=90.0)
    pose = shaped(bind_pose(model), ModelSettings(deformers=(pulse,)), model, 0.0)
    swollen = replace(model, mesh=shaped_mesh(model.mesh, model.skin, pose))
    thin, thick = (np.abs(union_distance(swollen, fit_colliders(one), 1.0)).mean() for one in (model, swollen))
    assert thick < 0.5 * thin


def test_a_skeleton_without_skin_gets_none() -> None:
    assert fit_colliders(synthetic_character(10)) == []
