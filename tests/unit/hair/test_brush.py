from dataclasses import replace

import msgspec
import numpy as np
import pytest

from sinew.sim.kinds.hair.brush import BrushedGroom, BrushStroke, Occlusion, RootFrames, mirrored
from sinew.sim.kinds.hair.groom import TURN_MAX, Groom, carried_loads, grow
from sinew.sim.kinds.hair.groom_edits import GroomEdits, packed_size, unpacked
from sinew.sim.kinds.hair.roots import Roots, RootSurface
from sinew.sim.kinds.hair.settings import HairSettings
from sinew.sim.kinds.hair.shaping import RISE, edited, edits_of
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.params import value_text

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
