"""Target of drawing; it owns its attachments, or wraps a framebuffer of Qt."""

import ctypes
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sinew.sim.gl.bootstrap import GL, glReadPixels
from sinew.sim.gl.errors import GLError, GLLimitError
from sinew.sim.gl.objects import GLObject, Owner, new_name
from sinew.sim.gl.state import PipelineState
from sinew.sim.gl.texture import Filter, Texture2D, pixel_format

if TYPE_CHECKING:
    from sinew.sim.gl.context import Context

Rect = tuple[int, int, int, int]

_UNLIMITED = PipelineState()
"""State without scissor and masks, which would also affect clearing and copying."""


class Framebuffer(Owner):
    """Colour, depth and stencil attachments of one size [pixel].

    Single-sampled attachments are textures, which later passes can read; multisampled ones are renderbuffers, which
    must be resolved to a single-sampled framebuffer with the same formats.

    Args:
        depth_compare: Make the depth texture answer filtered comparisons (`sampler2DShadow`).
        samples: 0 or 1 for none; limited to the maximum of the driver.

    Attributes:
        colours: Colour textures; empty when multisampled or wrapped.
        depth: Depth texture, or None.
    """

    def __init__(
        self,
        context: "Context",
        size: tuple[int, int],
        colours: Sequence[str] = ("rgba8",),
        *,
        depth: str | None = "depth24",
        depth_compare: bool = False,
        samples: int = 0,
        label: str = "",
    ) -> None:
        self.context = context
        self._depth_compare = depth_compare
        self.size = (int(size[0]), int(size[1]))
        self.label = label
        self.formats = tuple(pixel_format(name) for name in colours)
        known = context.capabilities
        limit = known.max_samples
        if any(pixels.is_integer for pixels in self.formats):
            limit = min(limit, known.max_integer_samples)
        self.samples = min(samples, limit) if samples > 1 else 0
        self.colours: tuple[Texture2D, ...] = ()
        self.depth: Texture2D | None = None
        self._owner: GLObject | None = None
        self._wrapped = 0
        self._create(colours, depth)

    @classmethod
    def wrap(cls, context: "Context", name: int, size: tuple[int, int]) -> "Framebuffer":
        """Wraps a framebuffer owned by Qt (`defaultFramebufferObject()`), assumed to be 8-bit RGBA."""
        self = cls.__new__(cls)
        self.context, self.size, self.label = context, (int(size[0]), int(size[1])), "wrapped"
        self.formats, self.samples = (pixel_format("rgba8"),), 0
        self.colours, self.depth = (), None
        self._owner, self._wrapped = None, int(name)
        return self

    @property
    def name(self) -> int:
        return self._wrapped if self._owner is None else self._owner.name

    def bind(self) -> None:
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, self.name)
        GL.glViewport(0, 0, *self.size)

    def clear(
        self,
        colour: Sequence[float] | None = (0.0, 0.0, 0.0, 0.0),
        *,
        attachment: int = 0,
        depth: float | None = 1.0,
    ) -> None:
        """Clears without masks and scissor; None leaves colour or depth. Integer attachments take unsigned integers."""
        self.bind()
        _UNLIMITED.apply(self.context)
        if colour is not None:
            integer = self.formats[attachment].is_integer
            clear = GL.glClearBufferuiv if integer else GL.glClearBufferfv
            clear(GL.GL_COLOR, attachment, _components(tuple(colour), integer))
        if depth is not None:
            GL.glClearBufferfv(GL.GL_DEPTH, 0, _components((depth,), False))

    def resolve_to(self, target: "Framebuffer", *, depth: bool = False) -> None:
        """Resolves to a target: averages samples, but takes one of integers; sizes must agree when multisampled."""
        self._begin_copy(target)
        for index in range(min(len(self.formats), len(target.formats))):
            self._select(index, target)
            mask = GL.GL_COLOR_BUFFER_BIT | (GL.GL_DEPTH_BUFFER_BIT if depth and index == 0 else 0)
            GL.glBlitFramebuffer(0, 0, *self.size, 0, 0, *target.size, mask, GL.GL_NEAREST)
        target._restore_draw_buffers()
        target.bind()

    def copy_depth_to(self, target: "Framebuffer") -> None:
        """Copies one depth sample to a single-sampled target with the same depth format.

        Sizes must agree when multisampled; otherwise the nearest pixel is taken.
        """
        self._begin_copy(target)
        GL.glBlitFramebuffer(0, 0, *self.size, 0, 0, *target.size, GL.GL_DEPTH_BUFFER_BIT, GL.GL_NEAREST)
        target.bind()

    def _begin_copy(self, target: "Framebuffer") -> None:
        if self.samples and self.size != target.size:
            raise GLError(f"framebuffer {self.label!r} of {self.size} cannot resolve to one of {target.size}")
        _UNLIMITED.apply(self.context)
        GL.glBindFramebuffer(GL.GL_READ_FRAMEBUFFER, self.name)
        GL.glBindFramebuffer(GL.GL_DRAW_FRAMEBUFFER, target.name)

    def test_against(self, depth: Texture2D | None) -> None:
        """Attaches a depth texture of the same size, or detaches it for None; binds the framebuffer.

        The framebuffer must have no depth of its own.  While it is attached the texture must not be sampled.
        """
        if self.depth is not None or (depth is not None and depth.size != self.size):
            raise GLError(f"framebuffer {self.label!r} of {self.size} cannot borrow this depth")
        self.bind()
        name = 0 if depth is None else depth.name
        GL.glFramebufferTexture2D(GL.GL_FRAMEBUFFER, GL.GL_DEPTH_ATTACHMENT, GL.GL_TEXTURE_2D, name, 0)

    def read_pixels(self, attachment: int = 0, rect: Rect | None = None, *, flip: bool = False) -> npt.NDArray[Any]:
        """Reads pixels, shape (height, width, channels), bottom row first; waits for the GPU.

        Multisampled framebuffers must be resolved first.

        Args:
            rect: (x, y, width, height) from the lower left corner; everything by default.
            flip: Put the top row first, as in image files.
        """
        pixels = self.formats[attachment]
        x, y, width, height = rect or (0, 0, *self.size)
        if self.samples:
            raise GLError(f"framebuffer {self.label!r} is multisampled; resolve it before reading")
        if x < 0 or y < 0 or width < 1 or height < 1 or x + width > self.size[0] or y + height > self.size[1]:
            raise GLLimitError(f"framebuffer {self.label!r} of {self.size}: rectangle {(x, y, width, height)}")
        out = np.empty((height, width, pixels.channels), pixels.dtype)
        GL.glBindFramebuffer(GL.GL_READ_FRAMEBUFFER, self.name)
        if self.name:
            GL.glReadBuffer(GL.GL_COLOR_ATTACHMENT0 + attachment)
        GL.glPixelStorei(GL.GL_PACK_ALIGNMENT, 1)
        glReadPixels(x, y, width, height, pixels.transfer, pixels.element, ctypes.c_void_p(out.ctypes.data))
        return out[::-1].copy() if flip else out

    def read_depth(self) -> npt.NDArray[np.float32]:
        """Reads depth 0 to 1, shape (height, width), bottom row first; waits for the GPU."""
        width, height = self.size
        out = np.empty((height, width), np.float32)
        GL.glBindFramebuffer(GL.GL_READ_FRAMEBUFFER, self.name)
        GL.glPixelStorei(GL.GL_PACK_ALIGNMENT, 1)
        glReadPixels(0, 0, width, height, GL.GL_DEPTH_COMPONENT, GL.GL_FLOAT, ctypes.c_void_p(out.ctypes.data))
        return out

    def _create(self, colours: Sequence[str], depth: str | None) -> None:
        if min(self.size) < 1:
            raise GLLimitError(f"framebuffer {self.label!r}: size {self.size[0]} x {self.size[1]}")
        self._owner = self.owns(GLObject(self.context, "Framebuffer", new_name(GL.glGenFramebuffers), self.label))
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, self._owner.name)
        textures = [self._attach(GL.GL_COLOR_ATTACHMENT0 + index, pixels) for index, pixels in enumerate(colours)]
        if depth is not None:
            stencil = depth == "depth24_stencil8"
            self.depth = self._attach(GL.GL_DEPTH_STENCIL_ATTACHMENT if stencil else GL.GL_DEPTH_ATTACHMENT, depth)
        self.colours = tuple(texture for texture in textures if texture is not None)
        self._restore_draw_buffers()
        if not colours:
            GL.glReadBuffer(GL.GL_NONE)  # incomplete on macOS otherwise
        status = int(GL.glCheckFramebufferStatus(GL.GL_FRAMEBUFFER))
        if status != GL.GL_FRAMEBUFFER_COMPLETE:
            self.release()
            raise GLError(f"framebuffer {self.label!r} is incomplete: status 0x{status:04x}")

    def _attach(self, point: int, pixels: str) -> Texture2D | None:
        if self.samples:
            name = new_name(GL.glGenRenderbuffers)
            buffer = self.owns(GLObject(self.context, "Renderbuffer", name, self.label))
            GL.glBindRenderbuffer(GL.GL_RENDERBUFFER, name)
            internal = pixel_format(pixels).internal
            GL.glRenderbufferStorageMultisample(GL.GL_RENDERBUFFER, self.samples, internal, *self.size)
            GL.glFramebufferRenderbuffer(GL.GL_FRAMEBUFFER, point, GL.GL_RENDERBUFFER, buffer.name)
            return None
        compare = pixel_format(pixels).is_depth and self._depth_compare
        filtering: Filter = "nearest" if pixel_format(pixels).is_depth and not compare else "linear"
        texture = self.owns(
            Texture2D(self.context, self.size, pixels, filtering=filtering, compare=compare, label=self.label)
        )
        GL.glFramebufferTexture2D(GL.GL_FRAMEBUFFER, point, texture.target, texture.name, 0)
        return texture

    def _select(self, index: int, target: "Framebuffer") -> None:
        if self.name:
            GL.glReadBuffer(GL.GL_COLOR_ATTACHMENT0 + index)
        if target._owner is not None:
            slots = _slots(index, 1)
            GL.glDrawBuffers(len(slots), slots)

    def _restore_draw_buffers(self) -> None:
        if self._owner is None:
            return
        slots = _slots(0, len(self.formats))
        GL.glDrawBuffers(len(slots), slots)


@functools.lru_cache(maxsize=64)
def _components(values: tuple[float, ...], integer: bool) -> npt.NDArray[Any]:
    return np.array(values, np.uint32 if integer else np.float32)


@functools.lru_cache(maxsize=64)
def _slots(first: int, count: int) -> npt.NDArray[np.uint32]:
    """Returns the argument of glDrawBuffers: attachment i must be in slot i."""
    attachments = [GL.GL_COLOR_ATTACHMENT0 + first + index for index in range(count)]
    return np.array([GL.GL_NONE] * first + attachments or [GL.GL_NONE], np.uint32)
