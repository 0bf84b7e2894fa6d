"""The multisampled image that all passes draw into, before it is copied to the window or a file."""

from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.texture import Texture2D


class RenderTarget(Owner):
    """Colour and depth, one framebuffer for each number of samples in use; created again when the size changes.

    Window and files get the same image, independent of the format of the window.
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
        if samples not in self._targets:
            self._targets[samples] = self.owns(Framebuffer(self._context, self._size, samples=samples, label="picture"))
        target = self._targets[samples]
        target.clear()
        self._current = target
        return target

    @property
    def current(self) -> Framebuffer:
        assert self._current is not None
        return self._current

    def copy(self) -> Texture2D:
        """Returns the image so far, samples averaged; leaves another framebuffer bound."""
        resolved = self._single_sampled()
        self.current.resolve_to(resolved)
        return resolved.colours[0]

    def finish(self, output: Framebuffer) -> None:
        """Copies the image to `output`, averaging the samples through an intermediate image of the same format.

        A blit that averages samples demands equal formats, and the window may have another one.
        """
        if not self.current.samples:
            self.current.resolve_to(output)
            return
        resolved = self._single_sampled()
        self.current.resolve_to(resolved)
        resolved.resolve_to(output)

    def release(self) -> None:
        super().release()
        self._targets.clear()
        self._resolved = self._current = None

    def _single_sampled(self) -> Framebuffer:
        if self._resolved is None:
            self._resolved = self.owns(Framebuffer(self._context, self._size, depth=None, label="resolved picture"))
        return self._resolved
