import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.playing import facing
from sinew.sim.maths.arrays import Float64

_HEAD = re.compile(r"head(?!.*(?:nub|end|top|tip|light|gear|band))", re.IGNORECASE)
_NECK = re.compile(r"neck(?!.*(?:nub|end|tip|lace|tie))", re.IGNORECASE)

NAPE, HAIRLINE = 0.3, 0.78
"""Heights of the plane at the back and at the front of a head, as shares of its height."""
LEVEL = 0.55
"""Height of a level plane, for bone names that do not show the front."""
_SOFT = 0.04
"""Half the width of the edge, as a share of the height."""


def head_joint(names: Sequence[str], parents: npt.NDArray[np.integer]) -> int | None:
    """Returns the joint called head nearest to the root, else the last one of the neck."""
    heads = [index for index, name in enumerate(names) if _HEAD.search(name)]
    if heads:
        return min(heads, key=lambda joint: len(_line(joint, parents)))
    necks = [index for index, name in enumerate(names) if _NECK.search(name)]
    return max(necks, key=lambda joint: len(_line(joint, parents)), default=None)


def scalp(model: CharacterModel, up_axis: str) -> Float64 | None:
    """Returns hair density in the bind pose, 0 to 1, (V,); None without a head. `up_axis` is "y" or "z"."""
    skeleton, skin = model.skeleton, model.skin
    head = head_joint(skeleton.names, skeleton.parents) if skeleton is not None else None
    if skeleton is None or skin is None or head is None:
        return None
    below = np.array([head in _line(joint, skeleton.parents) for joint in range(len(skeleton.names))])
    moved = np.where(below[skin.joints_of(skin.joints)], skin.weights, 0.0).sum(axis=1, dtype=float)
    is_head = np.zeros(model.mesh.vertex_count, bool)
    is_head[model.mesh.triangles] = True
    is_head &= moved > 0.5
    positions, joints = model.mesh.positions.astype(np.float64), skeleton.model_from_bind[:, :3, 3]
    if up_axis == "z":
        positions, joints = (points[:, [0, 2, 1]] * (1.0, 1.0, -1.0) for points in (positions, joints))
    if is_head.sum() < 3 or not np.ptp(positions[is_head, 1]) > 0.0:
        return None
    height, line = _share(positions[:, 1], is_head), np.full(len(positions), LEVEL)
    yaw = facing(skeleton.names, skeleton.parents, joints)
    if yaw is not None:
        ahead = positions @ [np.sin(np.radians(yaw)), 0.0, np.cos(np.radians(yaw))]
        line = NAPE + (HAIRLINE - NAPE) * _share(ahead, is_head)
    above = np.clip(0.5 + 0.5 * (height - line) / _SOFT, 0.0, 1.0)
    found: Float64 = np.clip(moved, 0.0, 1.0) * above
    return found if (found > 0.0).any() else None


def _line(joint: int, parents: npt.NDArray[np.integer]) -> list[int]:
    found = [joint]
    while parents[found[-1]] >= 0:
        found.append(int(parents[found[-1]]))
    return found


def _share(values: Float64, chosen: npt.NDArray[np.bool_]) -> Float64:
    low, high = values[chosen].min(), values[chosen].max()
    found: Float64 = (values - low) / max(high - low, np.finfo(float).tiny)
    return found
