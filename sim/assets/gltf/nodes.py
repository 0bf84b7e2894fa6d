"""The hierarchy of a glTF file as joints, one for each node, and which nodes a scene shows."""

import numpy as np
import numpy.typing as npt

from sim.assets.faults import MAX_JOINTS, ElementFault, check_magnitude
from sim.assets.gltf.document import GltfDocument, part_of
from sim.assets.hierarchy import unit_quaternions
from sim.assets.raw import RawBone, RawSkeleton
from sim.maths.transform import compose, decompose

Float64 = npt.NDArray[np.float64]

RESIDUE = 1e-5
"""Part of a matrix that translation, rotation and scale may leave over without a warning."""

_NO_PARENT = -1


def read_skeleton(document: GltfDocument, warnings: list[str]) -> RawSkeleton:
    """Joint i is node i.

    Raises:
        ElementFault: For a node with two parents, a cycle, or transforms that are none.
    """
    nodes = document.nodes
    if len(nodes) > MAX_JOINTS:
        raise ElementFault("nodes", f"there are {len(nodes)}, more than {MAX_JOINTS}")
    parents = node_parents(document)
    positions = np.array([node.translation for node in nodes], np.float64).reshape(-1, 3)
    rotations = np.array([node.rotation for node in nodes], np.float64).reshape(-1, 4)
    scales = np.array([node.scale for node in nodes], np.float64).reshape(-1, 3)
    with_matrix = [index for index, node in enumerate(nodes) if node.matrix is not None]
    if with_matrix:
        # Stored column after column.
        matrices = np.array([nodes[index].matrix for index in with_matrix], np.float64).reshape(-1, 4, 4)
        matrices = matrices.swapaxes(1, 2)
        for index, matrix in zip(with_matrix, matrices, strict=True):
            check_magnitude(f"nodes[{index}].matrix", "", matrix.ravel())
        parts = decompose(matrices)
        positions[with_matrix], rotations[with_matrix], scales[with_matrix] = parts
        _warn_of_residue(with_matrix, matrices, compose(*parts), warnings)
    for what, values in (("translation", positions), ("rotation", rotations), ("scale", scales)):
        check_magnitude("nodes", what, values)
    rotations = unit_quaternions(rotations)
    bones = [
        RawBone(name, parent, *place)
        for name, parent, *place in zip(_names(document), parents, positions, rotations, scales, strict=True)
    ]
    return RawSkeleton("", bones)


def node_parents(document: GltfDocument) -> list[int]:
    """Parent of each node, or -1.

    Raises:
        ElementFault: For a node with two parents; cycles have one, or no way in from a root.
    """
    parents = [_NO_PARENT] * len(document.nodes)
    for index, node in enumerate(document.nodes):
        for child in node.children:
            place = f"nodes[{index}].children"
            part_of(document.nodes, child, place, "nodes")
            if parents[child] != _NO_PARENT:
                raise ElementFault(place, f"nodes[{child}] has two parents, {parents[child]} and {index}")
            parents[child] = index
    known = [False] * len(parents)
    for start in range(len(parents)):
        chain, above = set(), start
        while above != _NO_PARENT and not known[above]:
            if above in chain:
                raise ElementFault(f"nodes[{above}]", "is its own ancestor")
            chain.add(above)
            above = parents[above]
        for below in chain:
            known[below] = True
    return parents


def shown_nodes(document: GltfDocument, wanted: int | None) -> list[int]:
    """Nodes of a scene in the order of the file.

    Args:
        document: The file.
        wanted: Number of the scene; None for the file's own, else the first, else all nodes.

    Raises:
        ElementFault: If there is no such scene.
    """
    number = document.scene if wanted is None else wanted
    if not document.scenes and number is None:
        return list(range(len(document.nodes)))
    number = number or 0
    scene = part_of(document.scenes, number, "scene", "scenes")
    found: set[int] = set()
    left = list(scene.nodes)
    while left:
        index = left.pop()
        node = part_of(document.nodes, index, f"scenes[{number}].nodes", "nodes")
        if index not in found:
            found.add(index)
            left.extend(node.children)
    return sorted(found)


def _names(document: GltfDocument) -> list[str]:
    """Unique names of the nodes; those without one are numbered, and so are those that others had before."""
    taken: set[str] = set()
    names = []
    for index, node in enumerate(document.nodes):
        name = node.name.strip() or f"node {index}"
        if name in taken:
            name = f"{name} ({index})"
        while name in taken:
            name += "'"
        taken.add(name)
        names.append(name)
    return names


def _warn_of_residue(nodes: list[int], matrices: Float64, composed: Float64, warnings: list[str]) -> None:
    apart = np.abs(matrices - composed).max(axis=(1, 2))
    skewed = apart > RESIDUE * np.maximum(1.0, np.abs(matrices).max(axis=(1, 2)))
    if skewed.any():
        first = nodes[int(np.argmax(skewed))]
        warnings.append(
            f"nodes[{first}].matrix has shear or perspective, which is left out"
            + (f", as in {int(skewed.sum()) - 1} more." if skewed.sum() > 1 else ".")
        )
