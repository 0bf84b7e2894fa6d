"""Records of bones, joints and marks for the overlay passes."""

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from sim.characters.prepared import BoneSegments
from sim.kinds.contract import Mark
from sim.render.overlay_pass import BONE, MARKER
from sim.scene.scene import NodeId

Places = npt.NDArray[np.float64]  # joints in the world [m], (B, 3)
PLAIN, HOVERED, SELECTED = 0.0, 1.0, 2.0
_JOINT_RADIUS = 2.5
SELECTED_COLOUR = (1.0, 0.60, 0.15, 1.0)
"""Of what is selected, over the scene; sRGB and alpha."""
_COLOURS = {PLAIN: (0.93, 0.95, 0.97, 0.85), HOVERED: (1.0, 0.85, 0.45, 1.0), SELECTED: SELECTED_COLOUR}


def bone_records(
    segments: BoneSegments | None, places: Places, selected: int | None, hovered: int | None
) -> npt.NDArray[np.void]:
    """Octahedra of the drawn segments; those that start at the selected joint are marked."""
    if segments is None or not len(segments.heads):
        return np.zeros(0, BONE)
    records = np.zeros(len(segments.heads), BONE)
    heads, tails = places[segments.heads], places[segments.tails]
    lengths = np.linalg.norm(tails - heads, axis=1)
    # Long bones stay slender and short ones visible: thickness follows the length, bounded by the usual one.
    records["head"][:, :3], records["head"][:, 3] = heads, np.minimum(lengths, np.median(lengths) * 2.0) * 0.09
    records["tail"][:, :3] = tails
    records["tail"][:, 3] = _states(segments.heads, selected, hovered)
    return records[lengths > 1e-9]


def joint_markers(
    segments: BoneSegments | None, places: Places, selected: int | None, hovered: int | None
) -> npt.NDArray[np.void]:
    """Discs at the drawn joints, and at the selected one even when it is not drawn."""
    if segments is None:
        return np.zeros(0, MARKER)
    joints = segments.joints
    if selected is not None:
        joints = np.union1d(joints, [selected])
    states = _states(joints, selected, hovered)
    records = np.zeros(len(joints), MARKER)
    records["centre"][:, :3] = places[joints]
    records["centre"][:, 3] = np.where(states > PLAIN, _JOINT_RADIUS + 1.5, _JOINT_RADIUS)
    for state, colour in _COLOURS.items():
        records["colour"][states == state] = colour
    return records


def mark_records(marks: Sequence[Mark], selected: Collection[NodeId]) -> npt.NDArray[np.void]:
    """Discs and stars of nodes, some of which may be selected."""
    records = np.zeros(len(marks), MARKER)
    if marks:
        records["centre"] = [(*mark.position, mark.radius) for mark in marks]
        records["colour"] = [mark.selected_colour if mark.node_id in selected else mark.colour for mark in marks]
        records["star"] = [mark.is_star for mark in marks]
    return records


def _states(joints: npt.NDArray[np.intp], selected: int | None, hovered: int | None) -> npt.NDArray[np.float64]:
    states = np.full(len(joints), PLAIN)
    states[joints == (-1 if hovered is None else hovered)] = HOVERED
    states[joints == (-1 if selected is None else selected)] = SELECTED
    return states
