from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.character import Character
from sinew.sim.characters.playing import up_axis
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.background import Background, BackgroundJob, Pause
from sinew.sim.kinds.cloth.garments import BodyOutline, body_of, dressed
from sinew.sim.kinds.cloth.settings import ClothSettings, ClothSource
from sinew.sim.kinds.cloth.surface import ClothSurface
from sinew.sim.kinds.contract import World
from sinew.sim.memo import Memo
from sinew.sim.scene.params import SettingsError, params_of
from sinew.sim.scene.scene import Node

_CUT = tuple(record.name for record in params_of(ClothSettings) if record.declared.group == "Garment")


class GarmentFitting:
    """The sheet of a garment, in the editor fitted on a worker thread.

    Attributes:
        job: That runs, for these `settings`; None if none does.
    """

    def __init__(self) -> None:
        self.settings = ClothSettings()
        self._body = Memo[BodyOutline]()
        self._key: tuple[object, ...] = ()
        self.job: BackgroundJob[ClothSurface] | None = None
        self._surface: ClothSurface | None = None

    def surface(self, node: Node, settings: ClothSettings, world: World) -> ClothSurface | None:
        """Returns the sheet in the frame of the parent, the same object until it changes; None while it is not known.

        Raises:
            SettingsError: Once for the same parent and settings, if nothing can be fitted.
        """
        parent, character = world.scene.by_id.get(node.attachment.node), world.characters.get(node.attachment.node)
        if parent is None or not isinstance(parent.settings, ModelSettings):
            key: tuple[object, ...] = ("no parent",)
        elif not isinstance(character, Character):
            return None
        else:
            model, own = character.model, parent.settings
            garments = [*_inner(node, settings, world), settings]
            key = model, _placement(model, own), tuple(tuple(getattr(one, name) for name in _CUT) for one in garments)
        if not self._is_same(key):
            self._key, self._surface, self.job, self.settings = key, None, None, settings
            if len(key) == 1:
                raise SettingsError("a garment needs a character as its parent")

            def work(_pause: Pause) -> ClothSurface:
                return dressed(self._body.get((model, str(key[1])), lambda: body_of(model, own)), garments)

            self.job = world.services.get(Background).start(work)
        job = self.job
        if job is not None and job.is_done:
            self.job = None
            self._surface = job.result()
        return self._surface

    def _is_same(self, key: tuple[object, ...]) -> bool:
        return len(key) == len(self._key) and key[0] is self._key[0] and key[1:] == self._key[1:]


def _placement(model: CharacterModel, settings: ModelSettings) -> tuple[object, ...]:
    return settings.unit_scale, up_axis(settings, model), settings.humanoid, settings.hidden_sections


def _inner(node: Node, settings: ClothSettings, world: World) -> list[ClothSettings]:
    """Returns the garments of the same character that this one meets, and that do not meet this one."""
    scene = world.scene
    met = scene.with_contents(settings.met_cloths) if settings.other_cloths else frozenset()
    found = []
    for other in scene.nodes:
        others = other.settings
        if other.id in met and isinstance(others, ClothSettings) and others.source is ClothSource.GARMENT:
            meets_back = others.other_cloths and node.id in scene.with_contents(others.met_cloths)
            if other.attachment == node.attachment and not meets_back:
                found.append(others)
    return found
