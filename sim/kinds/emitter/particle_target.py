"""Where transparent particles gather before they are laid over the picture; made when there are such particles."""

from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.gl.texture import Texture2D

Size = tuple[int, int]


class ParticleTarget:
    """Sums of half floats, and the depth of the scene as a texture; all single-sampled and of one size.

    Half floats since light adds up beyond white and layers beyond what eight bits resolve; single samples since spots
    have soft edges anyway, and a texture of depth can then be read.

    Args:
        context: Where they live.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._size: Size = (0, 0)
        self._depth: Framebuffer | None = None
        self._light: Framebuffer | None = None
        self._cover: Framebuffer | None = None

    def begin(self, size: Size, scene: Framebuffer) -> Texture2D:
        """Takes a size [px] and the depth of what is drawn already; returns it as a texture."""
        if self._size != size:
            self.release()
            self._size = size
        if self._depth is None:
            self._depth = Framebuffer(self._context, size, (), label="depth behind particles")
        scene.copy_depth_to(self._depth)
        assert self._depth.depth is not None
        return self._depth.depth

    def light(self) -> Framebuffer:
        """Cleared sum of the light that additive particles give off."""
        if self._light is None:
            self._light = Framebuffer(self._context, self._size, ("rgba16f",), depth=None, label="particle light")
        self._light.clear(depth=None)
        return self._light

    def cover(self) -> Framebuffer:
        """Cleared sums of weighted blending: colour with what is left to see of the background, and weight."""
        if self._cover is None:
            formats = ("rgba16f", "r16f")
            self._cover = Framebuffer(self._context, self._size, formats, depth=None, label="particle cover")
        self._cover.clear((0.0, 0.0, 0.0, 1.0), depth=None)
        self._cover.clear(attachment=1, depth=None)
        return self._cover

    def release(self) -> None:
        """Deletes everything; may be called twice."""
        for framebuffer in (self._depth, self._light, self._cover):
            if framebuffer is not None:
                framebuffer.release()
        self._depth = self._light = self._cover = None
