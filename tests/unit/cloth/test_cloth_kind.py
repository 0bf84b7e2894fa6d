"""What the kind of cloths completes of an edit."""

import msgspec
import numpy as np
import pytest

from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.cloth.kind import completed
from sinew.sim.kinds.cloth.settings import ClothSettings, PinTarget
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.transform import Transform, node_matrix
from sinew.sim.scene.world_transforms import WorldTransforms

FIGURE = Node(
    id="figure",
    transform=Transform(position=(1.0, 2.0, -3.0), rotation=(10.0, 40.0, 5.0), scale=(2.0, 2.0, 2.0)),
    settings=ModelSettings(path="figure.ezm"),
)
CLOTH = Node(
    id="cloth", transform=Transform(position=(0.5, 1.5, 0.0), rotation=(0.0, 30.0, 0.0)), settings=ClothSettings()
)


def following(target: PinTarget, node: Node = CLOTH) -> Node:
    return msgspec.structs.replace(node, settings=msgspec.structs.replace(node.settings, pin_target=target))


@pytest.mark.parametrize("target", [PinTarget.BONE, PinTarget.SURFACE])
def test_pins_follow_the_only_figure_and_the_cloth_stays_where_it_is(target: PinTarget) -> None:
    node = following(target)
    made = completed(CLOTH, node, Scene(nodes=(FIGURE, node)))
    assert made.attachment == Attachment(node="figure")
    assert made.settings == node.settings
    placed = WorldTransforms(Scene(nodes=(FIGURE, made)), {}).world_from_node(made)
    np.testing.assert_allclose(placed, node_matrix(node.transform), rtol=0.0, atol=1e-12)


def test_where_there_is_a_choice_or_none_nothing_is_completed() -> None:
    other = msgspec.structs.replace(FIGURE, id="other")
    node = following(PinTarget.BONE)
    riding = msgspec.structs.replace(node, attachment=Attachment(node="other"))
    for before, edited, nodes in (
        (CLOTH, node, (FIGURE, other)),
        (CLOTH, node, ()),
        (CLOTH, CLOTH, (FIGURE,)),
        (CLOTH, riding, (FIGURE,)),
        (node, node, (FIGURE,)),  # was taken off the figure, and something else is edited
    ):
        assert completed(before, edited, Scene(nodes=(*nodes, edited))) is edited


def test_every_kind_completes() -> None:
    assert KINDS["cloth"].completed is completed
    assert KINDS["model"].completed(FIGURE, FIGURE, Scene(nodes=(FIGURE,))) is FIGURE
