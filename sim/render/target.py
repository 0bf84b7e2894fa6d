"""The multisampled picture that all passes draw into before it reaches the window or a file."""

from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer

SAMPLES = 4


class RenderTarget:
    """Colour and depth with four samples, re-created when the size changes.

    The engine owns it so that window and files get the same picture whatever the window's surface offers.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._samples: Framebuffer | None = None
        self._resolved: Framebuffer | None = None

    def begin(self, width: int, height: int) -> Framebuffer:
        """Binds and clears a target of this size [px]."""
        if self._samples is None or self._samples.size != (width, height):
            self.release()
            self._samples = Framebuffer(self._context, (width, height), samples=SAMPLES, label="picture")
        self._samples.clear()
        return self._samples

    def finish(self, output: Framebuffer) -> None:
        """Copies the picture to `output`, averaging the samples.

        The copy goes through a single-sampled image of our own format: a blit that averages samples demands
        equal formats, and the window's may differ.
        """
        assert self._samples is not None
        if self._resolved is None:
            self._resolved = Framebuffer(self._context, self._samples.size, depth=None, label="resolved picture")
        self._samples.resolve_to(self._resolved)
        self._resolved.resolve_to(output)

    def release(self) -> None:
        """Deletes the attachments."""
        for framebuffer in (self._samples, self._resolved):
            if framebuffer is not None:
                framebuffer.release()
        self._samples = self._resolved = None
