import numpy as np
import pytest

from sinew.sim.engine import Engine
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.kinds.cloth.settings import ClothPlacement, ClothSettings
from sinew.sim.kinds.contract import Array
from sinew.sim.maths.ramps import Ramp, ramp_colours
from sinew.sim.render.coloured import ColouredArrays
from sinew.sim.render.detail_pass import LinesItem, PointsItem
from sinew.sim.render.ghost_pass import GhostPass, GhostStyle, ImageWithDepth
from sinew.sim.render.mesh_pass import SurfaceItem
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view import ViewSettings

SIZE = (96, 96)
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
    ghost = Framebuffer(context, SIZE, label="ghost")
    silhouette = ImageWithDepth(ghost, engine.silhouette(ghost, CAMERA, ["ghost"]))
    covered = ghost.read_pixels()[..., 3] > 0
    assert 50 < covered.sum() < covered.size // 2
    output, behind = Framebuffer(context, SIZE, label="output"), Framebuffer(context, SIZE, (), label="behind")
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
    engine, output = Engine(context), Framebuffer(context, SIZE, label="output")
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
