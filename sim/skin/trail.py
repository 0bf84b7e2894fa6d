"""SurfaceTrail: the skin of a figure now and a step ago, for what comes out of it with the velocity that it has."""

from dataclasses import dataclass

from sim.characters.character import Character
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
        character: Whose vertices.
    """

    def __init__(self, character: Character) -> None:
        self.character = character
        vertices = character.primary.vertices
        self._texels = vertices.dtype.itemsize // 16
        self._now = BufferTexture(vertices.context, vertices, "rgba32f", label="emitting surface")
        self._cached = Buffer(
            vertices.context, vertices.size, dtype=vertices.dtype, usage="copy", label="emitting surface before"
        )
        self._before = BufferTexture(vertices.context, self._cached, "rgba32f")
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
        self.character.primary.vertices.copy_to(self._cached)
        self._is_known = True

    def teleport(self) -> None:
        """Time jumped: the next step begins where it ends."""
        self._is_known = False

    def release(self) -> None:
        for owned in (self._now, self._before, self._cached):
            owned.release()


class SkinTrails:
    """One trail for each figure whose skin somebody wants to know of, whoever they are."""

    def __init__(self, _context: Context, _library: ShaderLibrary) -> None:
        self._trails: dict[Character, SurfaceTrail] = {}
        self._wanted: dict[object, Character] = {}

    def follow(self, user: object, character: Character | None) -> None:
        """Somebody wants to know of the skin of a figure from now on, or of none."""
        self._wanted.pop(user, None)
        if character is not None:
            self._wanted[user] = character
            if character not in self._trails:
                self._trails[character] = SurfaceTrail(character)
        for idle in [character for character in self._trails if character not in self._wanted.values()]:
            self._trails.pop(idle).release()

    def of(self, user: object) -> SurfaceTrail | None:
        character = self._wanted.get(user)
        return None if character is None else self._trails[character]

    def finish_step(self) -> None:
        for character, trail in self._trails.items():
            with character.primary.context.timers.scope("skin copy", character.primary.name):
                trail.keep()

    def teleport(self) -> None:
        """Time jumped: the next step begins where it ends."""
        for trail in self._trails.values():
            trail.teleport()

    def release(self) -> None:
        for trail in self._trails.values():
            trail.release()
        self._trails.clear()
        self._wanted.clear()
