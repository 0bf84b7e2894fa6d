"""SurfaceTrail: the skin of a figure now and a step ago, for what comes out of it with the velocity that it has."""

from sim.gl.buffer import Buffer
from sim.gl.texture import BufferTexture
from sim.kinds.emitter.inputs import SurfaceInput
from sim.kinds.model.character import Character


class SurfaceTrail:
    """Keeps a copy of the skinned vertices, one for all emitters of a figure; it never leaves the GPU.

    Args:
        figure: Whose vertices.
    """

    def __init__(self, figure: Character) -> None:
        self.figure = figure
        vertices = figure.primary.vertices
        self._texels = vertices.dtype.itemsize // 16
        self._now = BufferTexture(vertices.context, vertices, "rgba32f", label="emitting surface")
        self._kept: tuple[Buffer, BufferTexture] | None = None
        if figure.primary.deforms:
            kept = Buffer(
                vertices.context, vertices.size, dtype=vertices.dtype, usage="copy", label="emitting surface before"
            )
            self._kept = kept, BufferTexture(vertices.context, kept, "rgba32f")
        self._is_known = False

    def motion(self) -> SurfaceInput:
        """The surface over the step that ends now; after a jump it rests."""
        if self._kept is None or not self._is_known:
            return self.rest()
        return SurfaceInput(self._now, self._kept[1], self._texels)

    def rest(self) -> SurfaceInput:
        """The surface as it is now, without a motion."""
        return SurfaceInput(self._now, self._now, self._texels)

    def keep(self) -> None:
        """A step has ended: where the surface is now, the next one begins."""
        if self._kept is not None:
            self.figure.primary.vertices.copy_to(self._kept[0])
            self._is_known = True

    def jump(self) -> None:
        """Time jumped: the next step begins where it ends."""
        self._is_known = False

    def release(self) -> None:
        """Deletes everything; may be called twice."""
        self._now.release()
        if self._kept is not None:
            self._kept[1].release()
            self._kept[0].release()
