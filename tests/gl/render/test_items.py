from collections.abc import Iterator
from typing import ClassVar

import msgspec
import numpy as np
import pytest

from sinew.sim.assets.model import Bounds
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.vertex_array import Stream, VertexArray
from sinew.sim.kinds import register, unregister
from sinew.sim.kinds.contract import Counts, Kind, Mark, View, World
from sinew.sim.render.detail_pass import LinesItem, PointsItem
from sinew.sim.render.items import Item
from sinew.sim.render.pick_pass import REACH, Pick
from sinew.sim.render.render_view import DisplayOptions, Overlay
from sinew.sim.scene.params import Settings
from sinew.sim.scene.scene import Node
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.vectors import Vec3
from tests.gl.render.worlds import FRONT, Stage, model_node, model_of, pixel_of, quad

RECORD = np.dtype([("position", "f4", 4), ("scalar", "f4")])
PLACES = np.array([(-1.0, 1.0, 0.0), (-0.5, 2.0, 0.0), (0.5, 1.0, 0.0), (1.0, 2.0, 0.0)])
SIZE = (160, 120)


class RopeSettings(Settings, frozen=True, kw_only=True):
    kind: ClassVar[str] = "rope"

    knots: bool = False
    width: float = 2.0
    colour: Vec3 | None = (1.0, 0.0, 0.0)


class RopeView(View):
    def __init__(self, context: Context, _library: ShaderLibrary) -> None:
        records = np.zeros(len(PLACES), RECORD)
        records["position"][:, :3], records["scalar"] = PLACES, np.linspace(0.0, 1.0, len(PLACES))
        self._buffer = Buffer(context, records, label="rope")
        self._array = VertexArray(context, [Stream(self._buffer)], label="rope")

    def apply(self, node: Node, subject: object, world: World) -> None:
        settings = node.settings
        if settings.knots:
            self._item = PointsItem(node=node, vertices=self._array, colour=settings.colour, size=settings.width)
        else:
            self._item = LinesItem(
                node=node, vertices=self._array, strip=True, colour=settings.colour, width=settings.width
            )
        self._marks = (Mark(node.id, node.transform.position, (0.0, 1.0, 0.0, 1.0), 6.0, (0.0, 0.0, 1.0, 1.0)),)

    def parts(self, display: DisplayOptions) -> tuple[Item, ...]:
        return (self._item,)

    def bounds(self) -> Bounds:
        return Bounds(PLACES.min(axis=0), PLACES.max(axis=0))

    def counts(self) -> Counts:
        return Counts(vertices=len(PLACES))

    def marks(self) -> tuple[Mark, ...]:
        return self._marks

    def release(self) -> None:
        self._array.release()
        self._buffer.release()


ROPE = Kind(name="rope", label="Rope", icon="", settings=RopeSettings, view=f"{__name__}:RopeView")


@pytest.fixture(autouse=True)
def kind() -> Iterator[None]:
    register(ROPE)
    yield
    unregister(ROPE)


def rope(place: Vec3 = (0.0, 0.0, 0.0), **settings: object) -> Node:
    return Node(id="rope", name="rope", transform=Transform(position=place), settings=RopeSettings(**settings))


def drawn(stage: Stage, *nodes: Node) -> np.ndarray:
    stage.look(*nodes)
    shown = stage.picture()
    stage.look(*(msgspec.structs.replace(node, visible=False) for node in nodes))
    return np.abs(shown - stage.picture()).max(axis=2) > 20


def middle(first: int) -> tuple[int, int]:
    return pixel_of(FRONT, SIZE, (PLACES[first] + PLACES[first + 1]) / 2.0)


def test_a_line_connects_its_vertices_in_its_colour(stage: Stage) -> None:
    stage.look(rope())
    picture = stage.picture()
    for first in range(3):
        column, row = middle(first)
        assert (picture[row - 2 : row + 3, column] == (255, 0, 0)).all(axis=1).any()


@pytest.mark.parametrize("width", [1.0, 9.0])
def test_a_line_has_its_width(stage: Stage, width: float) -> None:
    level = np.array([[-1.0, 1.5, 0.0], [1.0, 1.5, 0.0]])
    stage.look(rope(width=width))
    view = stage.engine.views.view("rope")
    records = np.zeros(len(PLACES), RECORD)
    records["position"][:, :3] = level[[0, 1, 1, 1]]
    view._buffer.write(records)
    found = drawn(stage, rope(width=width))
    assert found[:, 80].sum() == pytest.approx(width, abs=1.01)


@pytest.mark.parametrize(("knots", "width"), [(False, 4.0), (True, 4.0), (False, 1.0)])
def test_without_a_colour_scalars_are_shown_by_the_ramp(stage: Stage, knots: bool, width: float) -> None:
    stage.look(rope(colour=None, knots=knots, width=width))
    picture = stage.picture()
    ends = [picture[row - 3 : row + 4, column - 3 : column + 4] for column, row in (
        pixel_of(FRONT, SIZE, PLACES[0]), pixel_of(FRONT, SIZE, PLACES[3])
    )]  # fmt: skip
    # Viridis begins violet and ends yellow.
    assert (ends[0][..., 2] - ends[0][..., 1]).max() > 20
    assert (ends[1][..., 1] - ends[1][..., 2]).max() > 40


def test_points_have_their_size(stage: Stage) -> None:
    size = 11.0
    found = drawn(stage, rope(knots=True, width=size))
    column, row = pixel_of(FRONT, SIZE, PLACES[1])
    assert found[row, column - 12 : column + 13].sum() == pytest.approx(size, abs=1.0)


def test_segments_and_points_are_picked(stage: Stage) -> None:
    stage.look(rope())
    for first in range(3):
        assert stage.engine.pick(FRONT, SIZE, *middle(first)) == Pick("rope", first)
    column, row = middle(0)
    assert stage.engine.pick(FRONT, SIZE, column - REACH, row) == Pick("rope", 0)
    assert stage.engine.pick(FRONT, SIZE, column - 3 * REACH, row) is None
    stage.look(rope(knots=True))
    for index, place in enumerate(PLACES):
        column, row = pixel_of(FRONT, SIZE, place)
        assert stage.engine.pick(FRONT, SIZE, column + REACH - 1, row) == Pick("rope", index)
    assert stage.engine.pick(FRONT, SIZE, *middle(0)) is None


@pytest.mark.parametrize("depth", [-1.0, 1.0])
def test_a_line_behind_a_wall_is_not_picked(stage: Stage, depth: float) -> None:
    wall = model_of(quad(6.0, 6.0, centre=(0.0, 1.5, -depth)))
    stage.show({"wall": wall}, model_node("wall"), rope())
    column, row = middle(1)
    found = stage.engine.pick(FRONT, SIZE, column + 3, row)
    assert found is not None
    assert found.node == ("rope" if depth > 0.0 else "wall")
    far = stage.engine.pick(FRONT, SIZE, *pixel_of(FRONT, SIZE, (0.0, 2.7, 0.0)))
    assert far is not None
    assert far.node == "wall"


def test_it_has_counts_bounds_and_marks(stage: Stage) -> None:
    stage.look(rope((0.0, 2.5, 0.0)))
    assert stage.engine.views.counts() == Counts(vertices=4)
    np.testing.assert_array_equal(stage.engine.views.bounds().lo, PLACES.min(axis=0))
    assert [(mark.node_id, mark.position) for mark in stage.engine.views.marks()] == [("rope", (0.0, 2.5, 0.0))]
    column, row = pixel_of(FRONT, SIZE, (0.0, 2.5, 0.0))
    assert tuple(stage.picture(overlay=Overlay(marks=True))[row, column]) == (0, 255, 0)
    selected = Overlay(marks=True, selected_nodes={"rope"})
    assert tuple(stage.picture(overlay=selected)[row, column]) == (0, 0, 255)
