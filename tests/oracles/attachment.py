import numpy as np
import numpy.typing as npt

from sinew.sim.skin.attachment import SurfaceAttachment

Float64 = npt.NDArray[np.float64]


def attached_points(attachment: SurfaceAttachment, positions: Float64) -> Float64:
    """Places [m] of the particles on a surface that has moved, shape (H, 3)."""
    corners = positions[attachment.corners]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal = area / np.maximum(np.linalg.norm(area, axis=1, keepdims=True), 1e-30)
    foot = np.einsum("hc,hcx->hx", attachment.weights, corners)
    points: Float64 = foot + attachment.heights[:, None] * normal
    return points
