"""The multisampled picture that all passes draw into before it reaches the window or a file."""

from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.gl.texture import Texture2D


class RenderTarget:
    """Colour and depth, re-created when the size changes; one for each number of samples in use.

    The engine owns it so that window and files get the same picture whatever the window's surface offers.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._size = (0, 0)
        self._targets: dict[int, Framebuffer] = {}
        self._resolved: Framebuffer | None = None
        self._current: Framebuffer | None = None

    def begin(self, width: int, height: int, samples: int) -> Framebuffer:
        """Binds and clears a target of this size [px] and number of samples."""
        if self._size != (width, height):
            self.release()
            self._size = (width, height)
        target = self._targets.get(samples)
        if target is None:
            target = self._targets[samples] = Framebuffer(self._context, self._size, samples=samples, label="picture")
        target.clear()
        self._current = target
        return target

    @property
    def current(self) -> Framebuffer:
        """What `begin` bound last."""
        assert self._current is not None
        return self._current

    def copy(self) -> Texture2D:
        """The picture so far with its samples averaged; leaves another framebuffer bound."""
        resolved = self._single_sampled()
        self.current.resolve_to(resolved)
        return resolved.colours[0]

    def finish(self, output: Framebuffer) -> None:
        """Copies the picture to `output`, averaging the samples.

        The average goes through a single-sampled image of our own format: a blit that averages samples demands
        equal formats, and the window's may differ.
        """
        if not self.current.samples:
            self.current.resolve_to(output)
            return
        resolved = self._single_sampled()
        self.current.resolve_to(resolved)
        resolved.resolve_to(output)

    def release(self) -> None:
        for framebuffer in (*self._targets.values(), self._resolved):
            if framebuffer is not None:
                framebuffer.release()
        self._targets.clear()
        self._resolved = self._current = None

    def _single_sampled(self) -> Framebuffer:
        if self._resolved is None:
            self._resolved = Framebuffer(self._context, self._size, depth=None, label="resolved picture")
        return self._resolved
