"""SurfaceTrail: the skin of a figure now and a step ago, for what comes out of it with the velocity that it has."""

from dataclasses import dataclass

from sim.figures.character import Character
from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.gl.texture import BufferTexture


@dataclass(frozen=True, slots=True)
class SurfaceInput:
    """The skinned vertices of the model that emits, as texels.

    Attributes:
        vertices: At the end of the step.
        vertices_before: At its start; the same ones for a surface at rest.
        texels_per_vertex: 2 with position and normal, 3 with a tangent too.
    """

    vertices: BufferTexture
    vertices_before: BufferTexture
    texels_per_vertex: int = 2


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
        self._kept = Buffer(
            vertices.context, vertices.size, dtype=vertices.dtype, usage="copy", label="emitting surface before"
        )
        self._before = BufferTexture(vertices.context, self._kept, "rgba32f")
        self._is_known = False

    def motion(self) -> SurfaceInput:
        """The surface over the step that ends now; after a jump it rests."""
        if not self._is_known:
            return self.rest()
        return SurfaceInput(self._now, self._before, self._texels)

    def rest(self) -> SurfaceInput:
        """The surface as it is now, without a motion."""
        return SurfaceInput(self._now, self._now, self._texels)

    def keep(self) -> None:
        """A step has ended: where the surface is now, the next one begins."""
        self.figure.primary.vertices.copy_to(self._kept)
        self._is_known = True

    def jump(self) -> None:
        """Time jumped: the next step begins where it ends."""
        self._is_known = False

    def release(self) -> None:
        for owned in (self._now, self._before, self._kept):
            owned.release()


class SkinTrails:
    """One trail for each figure whose skin somebody wants to know of, whoever they are."""

    def __init__(self, _context: Context, _library: ShaderLibrary) -> None:
        self._trails: dict[Character, SurfaceTrail] = {}
        self._wanted: dict[object, Character] = {}

    def follow(self, user: object, figure: Character | None) -> None:
        """Somebody wants to know of the skin of a figure from now on, or of none."""
        self._wanted.pop(user, None)
        if figure is not None:
            self._wanted[user] = figure
            if figure not in self._trails:
                self._trails[figure] = SurfaceTrail(figure)
        for idle in [figure for figure in self._trails if figure not in self._wanted.values()]:
            self._trails.pop(idle).release()

    def of(self, user: object) -> SurfaceTrail | None:
        figure = self._wanted.get(user)
        return None if figure is None else self._trails[figure]

    def finish_step(self) -> None:
        for figure, trail in self._trails.items():
            with figure.primary.context.timers.scope("skin copy", figure.primary.name):
                trail.keep()

    def jump(self) -> None:
        """Time jumped: the next step begins where it ends."""
        for trail in self._trails.values():
            trail.jump()

    def release(self) -> None:
        for trail in self._trails.values():
            trail.release()
        self._trails.clear()
        self._wanted.clear()
