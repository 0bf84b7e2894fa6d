from pathlib import Path

from sinew.sim.assets.model import Bounds
from sinew.sim.characters.character import Character
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.texture import Texture2D
from sinew.sim.kinds.contract import NOTHING, Counts, Mark, View, World
from sinew.sim.kinds.emitter.emitter import Emitter
from sinew.sim.kinds.emitter.handles import emitter_outline
from sinew.sim.kinds.emitter.particles import GradientTexture, Particles
from sinew.sim.kinds.emitter.settings import EmitterSettings, ParticleLook
from sinew.sim.kinds.emitter.source import emitter_box, source_box
from sinew.sim.kinds.emitter.system import EmitterSystem
from sinew.sim.maths.arrays import Float64
from sinew.sim.memo import Memo
from sinew.sim.render.items import Item
from sinew.sim.render.overlay_pass import GuideLinesItem
from sinew.sim.render.pick_pass import SELECTED_COLOUR
from sinew.sim.render.render_view import DisplayOptions
from sinew.sim.render.texture_upload import SharedTextures
from sinew.sim.scene.scene import Node
from sinew.sim.scene.world_transforms import PosedCharacters, WorldTransforms, vector

RADIUS = 9.0
"""Radius of the star on the screen [px]."""

COLOUR = (0.72, 0.90, 1.0, 0.95)


class EmitterView(View):
    def __init__(self, context: Context, _library: ShaderLibrary) -> None:
        self._node = Node(id="", settings=EmitterSettings())
        self._world: World | None = None
        self._system: EmitterSystem | None = None
        self._life = self.owns(GradientTexture(context))
        self._image: Texture2D | None = None
        self._particles = Memo[Particles]()
        self._guides: GuideLinesItem | None = None
        self._mark: Mark | None = None
        self._box: Bounds | None = None

    def apply(self, node: Node, subject: object, world: World) -> None:
        assert isinstance(subject, EmitterSystem | None)
        self._node, self._system, self._world = node, subject, world
        self._guides = self._mark = self._box = None
        settings = self._emitter.settings if self._emitter is not None else self._settings
        path = Path(settings.texture) if settings.look is ParticleLook.TEXTURED else Path()
        self._image = world.services.get(SharedTextures).of(world.assets.textures).get(path)

    @property
    def placement(self) -> Float64:
        assert self._world is not None
        return emitter_placement(self._world.places, self._world.characters, self._node)

    def parts(self, display: DisplayOptions) -> tuple[Item, ...]:
        particles: tuple[Item, ...] = ()
        emitter = self._emitter
        if emitter is not None:
            node, image = self._node, self._image

            def make() -> Particles:
                life = self._life.texture(emitter.settings)
                return Particles(node=node, emitter=emitter, life=life, image=image, reach=self.reach)

            particles = (self._particles.get((emitter, emitter.settings, image, node), make),)
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

    @property
    def _settings(self) -> EmitterSettings:
        assert isinstance(self._node.settings, EmitterSettings)
        return self._node.settings

    @property
    def _emitter(self) -> Emitter | None:
        if self._system is None or self._world is None or self._node.id not in self._world.scene.simulated:
            return None
        return self._system.emitter


def emitter_placement(places: WorldTransforms, characters: PosedCharacters, node: Node) -> Float64:
    """Returns world from source (4, 4), read-only; on a surface the node's axes at the centre of the character."""
    own, character = places.world_from_node(node), _emitting(characters, node)
    if character is None:
        return own
    moved, box = own.copy(), character.bounds()
    moved[:3, 3] = (box.lo + box.hi) / 2.0
    return moved


def emitter_bounds(characters: PosedCharacters, node: Node, world_from_source: Float64) -> Bounds:
    """Returns the world box [m] around the source and most of its particles."""
    settings, character = node.settings, _emitting(characters, node)
    assert isinstance(settings, EmitterSettings)
    source = source_box(settings, world_from_source) if character is None else character.bounds()
    return emitter_box(settings, source, world_from_source)


def _emitting(characters: PosedCharacters, node: Node) -> Character | None:
    assert isinstance(node.settings, EmitterSettings)
    character = characters.get(node.attachment.node) if node.settings.is_on_surface else None
    assert character is None or isinstance(character, Character)
    return character
