import numpy as np
import pytest
from msgspec import structs

from sinew.sim.colliders.state import ColliderShape
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.kinds.cloth.settings import ClothPlacement, ClothSettings
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.contract import Array
from sinew.sim.maths.ramps import Ramp, ramp_colours
from sinew.sim.render.coloured import ColouredArrays
from sinew.sim.render.detail_pass import LinesItem, PointsItem
from sinew.sim.render.ghost_pass import GhostPass, GhostStyle, ImageWithDepth
from sinew.sim.render.mesh_pass import SurfaceItem
from sinew.sim.render.pick_pass import Pick
from sinew.sim.render.render_view import JointRef, Overlay
from sinew.sim.run.engine import Engine
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view import Look, ViewSettings
from tests.gl.render.worlds import (
    FRONT,
    Stage,
    many_bones,
    model_node,
    model_of,
    pixel_of,
    quad,
    twisted_bar,
)

BALL = ColliderSettings(shape=ColliderShape.SPHERE, radius=0.4)
ORANGE = np.array([255.0, 153.0, 38.0])


def changed(stage: Stage, overlay: Overlay) -> np.ndarray:
    """Pixels that an overlay changes, shape (H, W)."""
    return np.abs(stage.picture(overlay=overlay) - stage.picture()).max(axis=2) > 8


def rim_of(shown: np.ndarray) -> np.ndarray:
    """Pixels of which one of the four at their corners is covered by something else, the float64 way."""
    rim = np.zeros(shown.shape, bool)
    inner = shown[1:-1, 1:-1]
    for row in (0, 2):
        for column in (0, 2):
            beside = shown[row : row + inner.shape[0], column : column + inner.shape[1]]
            rim[1:-1, 1:-1] |= beside != inner
    return rim


def silhouette(stage: Stage, *nodes: str) -> np.ndarray:
    numbers, _, known = stage.engine.layers(FRONT, (160, 120))
    wanted = [index + 1 for index, node in enumerate(known) if node in nodes]
    return np.where(np.isin(numbers, wanted), numbers, 0)


def test_the_outline_follows_the_silhouette_and_nothing_else_changes(stage: Stage) -> None:
    stage.show({"model": twisted_bar()}, model_node(), time=0.7, samples=4)
    rim = rim_of(silhouette(stage, "model"))
    assert 100 < rim.sum() < 1200
    np.testing.assert_array_equal(changed(stage, Overlay(selected_nodes={"model"})), rim)
    colours = stage.picture(overlay=Overlay(selected_nodes={"model"}))[rim]
    assert np.quantile(np.abs(colours - ORANGE).max(axis=1), 0.5) <= 2.0


def test_each_selected_node_has_an_outline_that_nothing_hides(stage: Stage) -> None:
    nodes = [model_node("a"), model_node("b", transform=Transform(position=(0.6, 0.3, -0.5))), model_node("wall")]
    stage.show({"a": model_of(quad(1.0, 1.0)), "b": model_of(quad(1.0, 1.0)),
                "wall": model_of(quad(1.4, 0.4, (0.0, 1.2, 1.0)))}, *nodes)  # fmt: skip
    stage.look(*nodes[:2])
    numbers = silhouette(stage, "a", "b")
    assert len(np.unique(numbers)) == 3
    rim = rim_of(numbers)
    stage.look(*nodes)
    np.testing.assert_array_equal(changed(stage, Overlay(selected_nodes={"a", "b"})), rim)


def test_a_selected_bone_is_drawn_without_an_outline_of_its_character(stage: Stage) -> None:
    stage.show({"model": many_bones(5)}, model_node())
    overlay = Overlay(selected=JointRef("model", 2), selected_nodes={"model"})
    rows = np.flatnonzero(changed(stage, overlay).any(axis=1))
    heights = [
        pixel_of(FRONT, (160, 120), place)[1] for place in stage.engine.views.characters["model"].joint_positions()
    ]
    assert rows[0] >= heights[3] - 8
    assert rows[-1] <= heights[2] + 8
    assert heights[3] < rows.mean() < heights[2] + 4


def test_colliders_of_a_character_are_picked_only_beside_it(stage: Stage) -> None:
    attached, free = (
        Node(
            id="attached",
            attachment=Attachment(node="model"),
            transform=Transform(position=(0.9, 1.5, 0.3)),
            settings=BALL,
        ),
        Node(id="free", transform=Transform(position=(-0.9, 1.5, 0.3)), settings=BALL),
    )
    stage.show({"model": model_of(quad())}, model_node(), attached, free)
    size, x_of = (160, 120), {"inside": 108, "beside": 122, "left": 52}

    def picked(name: str) -> str | None:
        hit = stage.engine.pick(FRONT, size, x_of[name], 60)
        return hit.node if hit is not None else None

    assert [picked(name) for name in x_of] == ["model", "attached", "free"]
    stage.look(structs.replace(model_node(), visible=False), attached, free)
    assert picked("inside") == "attached"


def test_attached_colliders_are_drawn_as_wires_and_muted_ones_grey(stage: Stage) -> None:
    attached = Node(
        id="attached", attachment=Attachment(node="model"), transform=Transform(position=(0.0, 1.5, 1.0)), settings=BALL
    )
    stage.show({"model": model_of(quad(0.1, 0.1, (0.0, 0.0, 0.0)))}, model_node(), attached)
    with_it = stage.picture()
    stage.look(model_node(), attached, solids=False)
    covered = np.abs(with_it - stage.picture()).max(axis=2)
    assert 0.5 < (covered[covered > 0] < 30).mean() < 0.95  # a faint fill, with some clear lines
    assert (covered > 60).sum() > 60
    stage.look(model_node(), structs.replace(attached, muted=True))
    grey = stage.picture()[covered > 60]
    assert np.mean(np.ptp(grey, axis=1)) < 0.5 * np.mean(np.ptp(with_it[covered > 60], axis=1))


def test_the_standard_look_shows_faint_fills_and_clear_edges(stage: Stage) -> None:
    ball, plane = (Node(id=name, settings=settings) for name, settings in
                   (("ball", BALL), ("plane", ColliderSettings(shape=ColliderShape.PLANE))))  # fmt: skip
    stage.look(ball, plane, look=Look.STANDARD)
    for selected, alpha in (((), 0.05), (("ball", "plane"), 0.12)):
        render_view = stage.engine.render_view(FRONT, Overlay(selected_nodes=selected))
        assert [(item.colour[3], item.wire is not None) for item in render_view.items] == [(alpha, True)] * 2
    stage.look(ball, plane, look=Look.CLASSIC)
    assert [(item.colour[3] > 0.05, item.wire is None) for item in stage.engine.render_view(FRONT).items] == [
        (True, True)
    ] * 2


SIZE = (160, 120)
ON_TIP = Attachment(node="model", bone="joint 3")
SMALL_BALL = ColliderSettings(shape=ColliderShape.SPHERE, radius=0.2)


def tip(stage: Stage) -> np.ndarray:
    return stage.engine.views.characters["model"].joint_positions()[3]


def test_an_attached_collider_moves_with_its_bone(stage: Stage) -> None:
    ball = Node(id="ball", attachment=ON_TIP, settings=SMALL_BALL)
    stage.show({"model": many_bones(4)}, model_node(), ball)
    for time in (0.0, 0.8):
        stage.look(model_node(), ball, time=time)
        place = tip(stage)
        box = stage.engine.views.bounds("ball")
        np.testing.assert_allclose((box.lo + box.hi) / 2.0, place, atol=1e-9)
        column, row = pixel_of(FRONT, SIZE, place)
        assert stage.engine.pick(FRONT, SIZE, column, row).node == "model"
        before, marked = stage.picture(), stage.picture(overlay=Overlay(selected_nodes={"ball"}))
        rows, columns = np.nonzero(np.abs(marked - before).max(axis=2) > 20)
        assert abs(columns.mean() - column) < 2.0
        assert abs(rows.mean() - row) < 2.0
    assert abs(tip(stage)[0]) > 0.1


def test_colliders_do_not_widen_the_scene_and_hidden_ones_are_not_picked(stage: Stage) -> None:
    wide = Node(id="wide", transform=Transform(position=(1.6, 1.5, 0.0)), settings=SMALL_BALL)
    stage.show({"model": model_of(quad())}, model_node(), wide)
    np.testing.assert_allclose(stage.engine.views.bounds().hi, [1.0, 2.5, 0.0])
    np.testing.assert_allclose(stage.engine.views.bounds("wide").hi, [1.8, 1.7, 0.2])
    column, row = pixel_of(FRONT, SIZE, (1.6, 1.5, 0.0))
    assert isinstance(stage.engine.pick(FRONT, SIZE, column, row), Pick)
    stage.look(model_node(), wide, solids=False)
    assert stage.engine.pick(FRONT, SIZE, column, row) is None
    assert stage.engine.views.bounds("wide") is not None


RAMP_SIZE = (96, 96)
CAMERA = Camera(target=(0.0, 0.0, 0.0), distance=4.0, yaw=0.0, pitch=0.0)
STYLE = GhostStyle((1.0, 0.0, 1.0), 1.0, 0.8, 1.0)


def sheet(name: str, x: float, depth: float, size: float) -> Node:
    settings = ClothSettings(columns=6, rows=6, width=size, height=size, placement=ClothPlacement.HANGING)
    return Node(id=name, settings=settings, transform=Transform(position=(x, 0.5 * size, depth)))


@pytest.mark.parametrize(("depth", "is_hidden"), [(0.1, True), (-0.1, False)])
def test_a_nearer_surface_hides_a_ghost(context: Context, depth: float, is_hidden: bool) -> None:
    engine = Engine(context)
    view = ViewSettings(grid=False, axes=False)
    engine.apply(Scene(nodes=(sheet("ghost", 0.0, 0.0, 0.5), sheet("other", 0.0, depth, 6.0)), view=view))
    engine.advance(0.0)
    engine.refresh(0.0)
    ghost = Framebuffer(context, RAMP_SIZE, label="ghost")
    silhouette = ImageWithDepth(ghost, engine.silhouette(ghost, CAMERA, ["ghost"]))
    covered = ghost.read_pixels()[..., 3] > 0
    assert 50 < covered.sum() < covered.size // 2
    output, behind = (
        Framebuffer(context, RAMP_SIZE, label="output"),
        Framebuffer(context, RAMP_SIZE, (), label="behind"),
    )
    engine.apply(Scene(nodes=(sheet("other", 0.0, depth, 6.0),), view=view))
    engine.refresh(1.0)
    engine.draw(output, CAMERA)
    plain = output.read_pixels()
    scene = ImageWithDepth(behind, engine.copy_depth(behind))
    assert scene.terms != silhouette.terms, "depths of another range"
    ghost_pass = GhostPass(context, engine.library)
    ghost_pass.draw(output, silhouette, STYLE, scene)
    changed = np.abs(output.read_pixels().astype(int) - plain).max(axis=2) > 3
    assert changed.any() != is_hidden
    assert not is_hidden or not changed.any()
    assert is_hidden or (changed & covered).sum() > 0.9 * covered.sum()
    for owned in (ghost_pass, ghost, output, behind, engine):
        owned.release()


PLACES = np.array([[x, y, 0.0] for y in (-0.5, 0.0, 0.5) for x in (-0.5, 0.0, 0.5)], np.float32)
FACES = np.array([[a, a + 1, a + 3] for a in (0, 1, 3, 4)] + [[a + 1, a + 4, a + 3] for a in (0, 1, 3, 4)], np.uint32)
TOPOLOGY = {
    SurfaceItem: {"faces": Array(lambda: FACES, FACES.shape, np.uint32, "triangles")},
    LinesItem: {"counts": Array(lambda: np.array([4, 5], np.uint32), (2,), np.uint32, "counts")},
    PointsItem: {},
}


@pytest.mark.parametrize("kind", list(TOPOLOGY))
def test_arrays_are_drawn_in_the_colours_of_their_numbers(context: Context, kind: type) -> None:
    engine, output = Engine(context), Framebuffer(context, RAMP_SIZE, label="output")
    engine.apply(Scene(nodes=(sheet("c", 0.0, 0.0, 0.1),), view=ViewSettings(grid=False, axes=False)))
    engine.advance(0.0)
    engine.refresh(0.0)
    arrays = {"points": Array(lambda: PLACES, PLACES.shape, np.float32, "points"), **TOPOLOGY[kind]}
    coloured = ColouredArrays(context, engine.world.scene.node("c"), arrays)
    values = np.full(len(PLACES), 3.0)
    places = PLACES.copy()
    places[-1], values[-1] = (np.nan, np.nan)
    coloured.write(places, values)
    item = coloured.item(4.0)
    assert isinstance(item, kind)
    assert coloured.item(4.0) is item
    assert coloured.item(5.0) is not item
    if kind is LinesItem:
        assert coloured.triangles.indices is not None
        pairs = coloured.triangles.indices.read().reshape(-1, 2)
        assert pairs.tolist() == [[0, 1], [1, 2], [2, 3], [4, 5], [5, 6], [6, 7], [7, 8]], "strands do not touch"
    render_view = engine.render_view(CAMERA)
    render_view.__dict__["items"] = (item,)
    engine.pictures.draw(output, render_view)
    shown = output.read_pixels()[..., :3].astype(int)
    expected = ramp_colours(Ramp.VIRIDIS)[round(0.75 * 255)].astype(int)
    ratios = shown / np.maximum(expected, 1)
    alike = (np.ptp(ratios, axis=2) < 0.08) & (shown.sum(axis=2) > 150)
    assert alike.sum() > 8, "the ramp at three quarters, lit"
    for owned in (coloured, output, engine):
        owned.release()
