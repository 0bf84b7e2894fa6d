import numpy as np
import pytest

from sinew.sim.kinds.cloth.face_tree import joined_trees, links_of
from sinew.sim.kinds.cloth.self_contact import EMPTY, END


def below(links: np.ndarray, node: int) -> list[int]:
    """Nodes without children below a node, by the links that a search follows."""
    found, at, end = [], node, int(links[node, 1])
    while at != end:
        child, after = int(links[at, 0]), int(links[at, 1])
        found += [at] if child == END else []
        at = after if child == END else child
    return found


@pytest.mark.parametrize("counts", [(1,), (3, 2), (70, 9, 70), (9, 500), (40, 300, 5, 33)])
def test_every_cloth_has_nodes_of_its_own(counts: tuple[int, ...]) -> None:
    cloths = np.repeat(np.arange(len(counts), dtype=np.uint32), counts)
    tree = joined_trees(np.random.default_rng(2).normal(size=(len(cloths), 3)), cloths)
    np.testing.assert_array_equal(np.sort(tree.order[tree.order != EMPTY]), np.arange(len(cloths)))
    links = links_of(tree, cloths)
    assert len(links) == tree.node_count
    assert below(links, 0) == list(range(tree.first_place, tree.node_count))
    for node in range(tree.node_count):
        held = tree.order[np.array(below(links, node)) - tree.first_place]
        owners = np.unique(cloths[held[held != EMPTY]])
        assert links[node, 2] == (owners[0] if len(owners) == 1 else END)
    leaves = tree.order.reshape(-1, tree.leaf_size)
    assert all(len(np.unique(cloths[leaf[leaf != EMPTY]])) <= 1 for leaf in leaves)
