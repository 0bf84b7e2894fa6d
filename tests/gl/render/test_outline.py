"""The outline of what is selected, against the silhouettes that pictures of numbers give."""

import numpy as np
import pytest
from msgspec import structs

from sinew.sim.colliders.state import ColliderShape
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.render.render_view import JointRef, Overlay
from sinew.sim.scene.scene import Attachment, Node
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view import SkinningComparison
from tests.gl.render.worlds import FRONT, Stage, many_bones, model_node, model_of, pixel_of, quad, twisted_bar

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
    """Numbers of nodes by pixel, with the top row first; those that are not named are 0."""
    numbers, _, known = stage.engine.layers(FRONT, (160, 120))
    wanted = [index + 1 for index, node in enumerate(known) if node in nodes]
    return np.where(np.isin(numbers, wanted), numbers, 0)


@pytest.mark.parametrize("samples", [0, 4])
def test_a_line_follows_the_silhouette_and_nothing_else_changes(stage: Stage, samples: int) -> None:
    stage.show({"model": twisted_bar()}, model_node(), time=0.7, samples=samples)
    rim = rim_of(silhouette(stage, "model"))
    assert 100 < rim.sum() < 1200
    np.testing.assert_array_equal(changed(stage, Overlay(selected_nodes={"model"})), rim)
    colours = stage.picture(overlay=Overlay(selected_nodes={"model"}))[rim]
    assert np.quantile(np.abs(colours - ORANGE).max(axis=1), 0.5) <= 2.0


def test_each_of_several_has_its_own_and_what_is_in_front_hides_none(stage: Stage) -> None:
    nodes = [model_node("a"), model_node("b", transform=Transform(position=(0.6, 0.3, -0.5))), model_node("wall")]
    stage.show({"a": model_of(quad(1.0, 1.0)), "b": model_of(quad(1.0, 1.0)),
                "wall": model_of(quad(1.4, 0.4, (0.0, 1.2, 1.0)))}, *nodes)  # fmt: skip
    stage.look(*nodes[:2])
    numbers = silhouette(stage, "a", "b")
    assert len(np.unique(numbers)) == 3
    rim = rim_of(numbers)
    stage.look(*nodes)
    np.testing.assert_array_equal(changed(stage, Overlay(selected_nodes={"a", "b"})), rim)


def test_split_views_outline_what_each_side_shows(stage: Stage) -> None:
    stage.show({"model": twisted_bar()}, model_node(), time=1.0, comparison=SkinningComparison.SPLIT)
    marked = changed(stage, Overlay(selected_nodes={"model"}))
    assert marked[:, :80].any()
    assert marked[:, 80:].any()


def test_a_selected_bone_is_drawn_alone_without_the_overlay_of_bones_and_its_character_has_no_line(
    stage: Stage,
) -> None:
    stage.show({"model": many_bones(5)}, model_node())
    overlay = Overlay(selected=JointRef("model", 2), selected_nodes={"model"})
    rows = np.flatnonzero(changed(stage, overlay).any(axis=1))
    heights = [
        pixel_of(FRONT, (160, 120), place)[1] for place in stage.engine.views.characters["model"].joint_positions()
    ]
    assert rows[0] >= heights[3] - 8
    assert rows[-1] <= heights[2] + 8
    assert heights[3] < rows.mean() < heights[2] + 4


def test_neither_pictures_without_an_overlay_nor_endless_planes_have_a_line(stage: Stage) -> None:
    plane = Node(id="plane", settings=ColliderSettings(shape=ColliderShape.PLANE))
    stage.show({"model": twisted_bar()}, model_node(), plane, solids=False)
    bare = stage.picture()
    np.testing.assert_array_equal(stage.picture(overlay=Overlay(selected_nodes={"gone"})), bare)
    assert all(not item.has_outline for item in stage.engine.render_view(FRONT).items_of(
        stage.engine.render_view(FRONT, Overlay(selected_nodes={"plane"})).display()) if item.node.id == "plane"
        )  # fmt: skip


def test_a_click_on_a_character_never_takes_its_colliders_unless_nothing_else_is_there(stage: Stage) -> None:
    rides, stands = (
        Node(
            id="rides",
            attachment=Attachment(node="model"),
            transform=Transform(position=(0.9, 1.5, 0.3)),
            settings=BALL,
        ),
        Node(id="stands", transform=Transform(position=(-0.9, 1.5, 0.3)), settings=BALL),
    )
    stage.show({"model": model_of(quad())}, model_node(), rides, stands)
    size, x_of = (160, 120), {"inside": 108, "beside": 122, "left": 52}

    def picked(name: str) -> str | None:
        hit = stage.engine.pick(FRONT, size, x_of[name], 60)
        return hit.node if hit is not None else None

    assert [picked(name) for name in x_of] == ["model", "rides", "stands"]
    stage.look(structs.replace(model_node(), visible=False), rides, stands)
    assert picked("inside") == "rides"


def test_colliders_on_characters_are_wires_and_muted_ones_grey(stage: Stage) -> None:
    rides = Node(
        id="rides", attachment=Attachment(node="model"), transform=Transform(position=(0.0, 1.5, 1.0)), settings=BALL
    )
    stage.show({"model": model_of(quad(0.1, 0.1, (0.0, 0.0, 0.0)))}, model_node(), rides)
    with_it = stage.picture()
    stage.look(model_node(), rides, solids=False)
    covered = np.abs(with_it - stage.picture()).max(axis=2)
    assert 0.5 < (covered[covered > 0] < 30).mean() < 0.95  # a faint fill, with some clear lines
    assert (covered > 60).sum() > 60
    stage.look(model_node(), structs.replace(rides, muted=True))
    grey = stage.picture()[covered > 60]
    assert np.mean(np.ptp(grey, axis=1)) < 0.5 * np.mean(np.ptp(with_it[covered > 60], axis=1))
