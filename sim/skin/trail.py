from dataclasses import dataclass

from sinew.sim.characters.character import Character
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.texture import BufferTexture, TexelBuffer
from sinew.sim.kinds.contract import Service
from sinew.sim.owner import Owner


@dataclass(frozen=True, slots=True)
class SurfaceInput:
    vertices: BufferTexture  # At the end of the step, as texels
    vertices_before: BufferTexture  # At its start; the same texture for a surface at rest
    texels_per_vertex: int = 2  # 2 for position and normal, 3 with a tangent


class SurfaceTrail(Owner):
    """Skinned vertices now and one step ago, shared by all emitters of a character."""

    def __init__(self, character: Character) -> None:
        self.character = character
        vertices = character.primary.vertices
        self._texels = vertices.dtype.itemsize // 16
        self._now = self.owns(BufferTexture(vertices.context, vertices, "rgba32f", label="emitting surface"))
        before = TexelBuffer(vertices.context, vertices.size, usage="copy", label="emitting surface before")
        self._before = self.owns(before)
        self._is_known = False

    def motion(self) -> SurfaceInput:
        """Returns the motion over the step that ends now; at rest after a jump."""
        if not self._is_known:
            return self.rest()
        return SurfaceInput(self._now, self._before, self._texels)

    def rest(self) -> SurfaceInput:
        return SurfaceInput(self._now, self._now, self._texels)

    def keep(self) -> None:
        self.character.primary.vertices.copy_to(self._before.buffer)
        self._is_known = True

    def teleport(self) -> None:
        """Forgets the last step, so that the next one is at rest."""
        self._is_known = False


class SkinTrails(Service):
    def __init__(self, _context: Context, _library: ShaderLibrary) -> None:
        self._trails: dict[Character, SurfaceTrail] = {}
        self._followed: dict[object, Character] = {}

    def follow(self, user: object, character: Character | None) -> SurfaceTrail | None:
        """Returns the trail of a character, valid until the next call of the user."""
        self._followed.pop(user, None)
        if character is not None:
            self._followed[user] = character
            if character not in self._trails:
                self._trails[character] = self.owns(SurfaceTrail(character))
        for idle in [character for character in self._trails if character not in self._followed.values()]:
            self.disown(self._trails.pop(idle))
        return None if character is None else self._trails[character]

    def finish_step(self) -> None:
        for character, trail in self._trails.items():
            with character.primary.context.timers.scope("skin copy", character.primary.name):
                trail.keep()

    def teleport(self) -> None:
        for trail in self._trails.values():
            trail.teleport()

    def release(self) -> None:
        super().release()
        self._trails.clear()
        self._followed.clear()
