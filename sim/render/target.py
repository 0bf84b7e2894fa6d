from typing import Any

from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.texture import Texture2D


class SizedFramebuffers(Owner):
    """Framebuffers of one size [px] are created at their first use and again when the size changes."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._size = (0, 0)
        self._made: dict[tuple[str, int], Framebuffer] = {}

    def resize(self, size: tuple[int, int]) -> None:
        if self._size != size:
            self.release()
            self._size = size

    def get(self, label: str, *, samples: int = 0, **options: Any) -> Framebuffer:
        """Returns a framebuffer by its label; `options` as for `Framebuffer`."""
        if (label, samples) not in self._made:
            made = Framebuffer(self._context, self._size, samples=samples, label=label, **options)
            self._made[label, samples] = self.owns(made)
        return self._made[label, samples]

    def release(self) -> None:
        super().release()
        self._made.clear()


class RenderTarget(SizedFramebuffers):
    """Target of images, which are the same for window and files, independent of the format of the window."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._current: Framebuffer | None = None
        self._kind, self._pixels = "", "rgba8"

    def begin(self, width: int, height: int, samples: int, *, is_linear: bool = False) -> Framebuffer:
        """Binds and clears a target of this size [px] and number of samples, of half floats for linear light."""
        self.resize((width, height))
        self._kind, self._pixels = ("linear ", "rgba16f") if is_linear else ("", "rgba8")
        self._current = self.get(f"{self._kind}picture", samples=samples, colours=(self._pixels,))
        self._current.clear()
        return self._current

    @property
    def current(self) -> Framebuffer:
        assert self._current is not None
        return self._current

    def copy(self) -> Texture2D:
        """Returns the image with samples averaged; leaves another framebuffer bound."""
        resolved = self._resolved()
        self.current.resolve_to(resolved)
        return resolved.colours[0]

    def _resolved(self) -> Framebuffer:
        return self.get(f"resolved {self._kind}picture", depth=None, colours=(self._pixels,))

    def finish(self, output: Framebuffer) -> None:
        """Copies to the output; averages samples in an intermediate image, as such a blit demands equal formats."""
        resolved = self.current
        if resolved.samples:
            resolved = self._resolved()
            self.current.resolve_to(resolved)
        resolved.resolve_to(output)

    def release(self) -> None:
        super().release()
        self._current = None
