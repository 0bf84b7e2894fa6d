"""What is seen of an emitter: its particles as they are, its star, and its outline while it is selected."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from sim.assets.model import Bounds
from sim.characters.character import Character
from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.gl.texture import Texture2D
from sim.kinds.contract import NOTHING, Counts, Mark, View, World
from sim.kinds.emitter.emitter import Emitter
from sim.kinds.emitter.outline import emitter_outline
from sim.kinds.emitter.particles import GradientTexture, Particles
from sim.kinds.emitter.settings import EmitterSettings, ParticleLook
from sim.kinds.emitter.source import emits_from_surface, emitter_box, source_box
from sim.kinds.emitter.system import EmitterSystem
from sim.render.items import GuideLinesItem, Item
from sim.render.overlay_records import SELECTED_COLOUR
from sim.render.render_view import DisplayOptions
from sim.render.texture_upload import SharedTextures
from sim.scene.scene import Node
from sim.scene.world_transforms import Figures, WorldTransforms, vector

UInt8 = npt.NDArray[np.uint8]
Float64 = npt.NDArray[np.float64]


RADIUS = 9.0
"""Of the star on the screen [px]."""

COLOUR = (0.72, 0.90, 1.0, 0.95)


class EmitterView(View):
    """Draws one emitter; silent ones have a star and an outline alone."""

    def __init__(self, context: Context, _library: ShaderLibrary) -> None:
        self._context = context
        self._node = Node(id="", settings=EmitterSettings())
        self._world: World | None = None
        self._system: EmitterSystem | None = None
        self._life = GradientTexture(context)
        self._picture: Texture2D | None = None
        self._particles: tuple[tuple[object, ...], Particles] | None = None
        self._guides: GuideLinesItem | None = None
        self._mark: Mark | None = None
        self._box: Bounds | None = None

    def apply(self, node: Node, subject: EmitterSystem | None, world: World) -> None:
        self._node, self._system, self._world = node, subject, world
        self._guides = self._mark = self._box = None
        settings = self._emitter.settings if self._emitter is not None else self._settings
        wanted = Path(settings.texture) if settings.look is ParticleLook.TEXTURED else Path()
        self._picture = world.services.get(SharedTextures).of(world.textures).get(wanted)

    @property
    def placement(self) -> npt.NDArray[np.float64]:
        """Where its source stands, shape (4, 4); in the middle of the figure that it emits from the surface of."""
        assert self._world is not None
        return emitter_placement(self._world.places, self._world.characters, self._node)

    def parts(self, display: DisplayOptions) -> tuple[Item, ...]:
        emitter = self._emitter
        particles: tuple[Item, ...] = () if emitter is None else (self._particles_of(emitter),)
        if self._node.id not in display.overlay.selected_nodes:
            return particles
        if self._guides is None:
            outline = emitter_outline(self._settings)
            self._guides = GuideLinesItem(node=self._node, segments=outline, world_from_guides=self.placement)
        return (*particles, self._guides)

    def reach(self) -> Bounds | None:
        if self._box is None:
            assert self._world is not None
            self._box = emitter_bounds(self._world.characters, self._node, self.placement)
        return self._box

    def counts(self) -> Counts:
        emitter = self._emitter
        return NOTHING if emitter is None else Counts(particles=emitter.alive)

    def marks(self) -> tuple[Mark, ...]:
        if self._mark is None:
            place = vector(self.placement[:3, 3])
            self._mark = Mark(self._node.id, place, COLOUR, RADIUS, SELECTED_COLOUR, is_star=True)
        return (self._mark,)

    def release(self) -> None:
        self._life.release()

    @property
    def _settings(self) -> EmitterSettings:
        assert isinstance(self._node.settings, EmitterSettings)
        return self._node.settings

    @property
    def _emitter(self) -> Emitter | None:
        """Its particles; None while there are none to be seen."""
        if self._system is None or self._world is None or self._node.id not in self._world.scene.simulated:
            return None
        return self._system.emitter

    def _particles_of(self, emitter: Emitter) -> Particles:
        """The item of its particles, which lives as long as they look the same."""
        key = (emitter, emitter.settings, self._picture, self._node)
        if self._particles is None or any(a is not b for a, b in zip(self._particles[0], key, strict=True)):
            item = Particles.of(self._node, emitter, self._life.texture(emitter.settings), self._picture, self.reach)
            self._particles = (key, item)
        return self._particles[1]


def emitter_placement(places: WorldTransforms, characters: Figures, node: Node) -> Float64:
    """Placement world_from_source (4, 4) of an emitter as the figures stand now, read-only.

    One that emits from a surface is shown with the axes of its own node in the middle of the model.
    """
    own, character = places.world_from_node(node), _emitting(characters, node)
    if character is None:
        return own
    moved, box = own.copy(), character.bounds()
    moved[:3, 3] = (box.lo + box.hi) / 2.0
    return moved


def emitter_bounds(characters: Figures, node: Node, world_from_source: Float64) -> Bounds:
    """Box in the world [m] around the source of an emitter at its placement and most of what comes out of it."""
    settings, character = node.settings, _emitting(characters, node)
    assert isinstance(settings, EmitterSettings)
    if character is None:
        return emitter_box(settings, source_box(settings, world_from_source), world_from_source)
    return emitter_box(settings, character.bounds(), world_from_source)


def _emitting(characters: Figures, node: Node) -> Character | None:
    """The figure whose surface emits, if it does and is there."""
    assert isinstance(node.settings, EmitterSettings)
    character = characters.get(node.attachment.node) if emits_from_surface(node.settings) else None
    assert character is None or isinstance(character, Character)
    return character
