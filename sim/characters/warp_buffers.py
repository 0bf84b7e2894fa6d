"""WarpBuffers: the deformers of a figure on the GPU, and the weights that say where they act."""

from typing import Any

import numpy as np
import numpy.typing as npt

from sim.animation.pose import Warps
from sim.assets.model import Mesh, Skin
from sim.characters.deformers.settings import FUNCTIONS
from sim.characters.deformers.warping import mask_of, seams_of
from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.texture import BufferTexture

Float64 = npt.NDArray[np.float64]

NOT_SENT = (-1,)
"""Joints of masks that the buffer does not hold yet."""

WARP_CASES = " ".join(
    f"case {number}: warp = {name}(a, b, c, p, n, s); break;" for number, name in enumerate(FUNCTIONS)
)
"""Macro of `shaders/model/warps.glsl`: every function by its number."""


class WarpBuffers:
    """Values and masks as `shaders/model/warps.glsl` reads them.

    Args:
        context: Where they live.
        mesh: What is deformed.
        skin: Its weights, or None.
    """

    def __init__(self, context: Context, mesh: Mesh, skin: Skin | None) -> None:
        self._mesh, self._skin = mesh, skin
        self._value_buffer = Buffer(context, 16, usage="stream", label="deformers")
        self._values = BufferTexture(context, self._value_buffer, "rgba32f")
        self._mask_buffer = Buffer(context, 16, usage="dynamic", label="deformer masks")
        self._masks = BufferTexture(context, self._mask_buffer, "rgba32f")
        self._masked: tuple[int, ...] = ()
        self._seams: Float64 | None = None
        self._looks_for_seams = True

    def uniforms(self, warps: Warps) -> dict[str, Any]:
        """Uniforms of the kernel for what the deformers do at a moment."""
        masked = tuple(dict.fromkeys(bone for bone in warps.bones if bone >= 0))
        if self._looks_for_seams and "bulge" in warps.functions:
            self._looks_for_seams, self._seams = False, seams_of(self._mesh)
            if self._seams is not None:
                self._masked = NOT_SENT
        if masked != self._masked and (masked or self._seams is not None):
            masks = [mask_of(self._mesh, self._skin, bone) for bone in masked if self._skin is not None]
            masks += [self._seams] if self._seams is not None else []
            self._mask_buffer.orphan(np.concatenate(masks).astype(np.float32))
            self._masked = masked
        texels = np.zeros((len(warps.functions), 4, 4), np.float32)
        texels[:, 0, 0] = [FUNCTIONS.index(function) for function in warps.functions]
        texels[:, 0, 1] = [masked.index(bone) if bone >= 0 else -1 for bone in warps.bones]
        texels[:, 1:] = warps.values.reshape(-1, 3, 4)
        self._value_buffer.orphan(texels)
        return {
            "u_warps": self._values,
            "u_warp_count": len(texels),
            "u_masks": self._masks,
            "u_vertex_count": self._mesh.vertex_count,
            "u_seams": len(masked) if self._seams is not None else -1,
        }

    def release(self) -> None:
        for owned in (self._values, self._value_buffer, self._masks, self._mask_buffer):
            owned.release()
