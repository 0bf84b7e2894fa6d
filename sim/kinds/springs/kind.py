"""Spring bones: bones of hair, tails and clothes that swing as the character moves."""

from sinew.sim.assets.model import CharacterModel
from sinew.sim.kinds.contract import AddEntry, AddPlace, Adds, Coupling, Form, Kind
from sinew.sim.kinds.springs.names import proposed_roots
from sinew.sim.kinds.springs.settings import SpringBoneSettings
from sinew.sim.scene.params import Settings
from sinew.sim.scene.scene import Attachment, Node, Scene

ICON = "mdi6.sine-wave"
_OWN = frozenset(("roots", "end_bones", "tail_length", "center", "stiffness", "gravity", "direction", "drag", "radius"))
_OF_FILE = frozenset(("stiffness_factor", "gravity_factor", "drag_factor", "radius_factor"))


def settings_for(model: CharacterModel | None) -> SpringBoneSettings:
    """Returns settings of the springs of a model's file, else of those that the names of its bones propose."""
    if model is None:
        return SpringBoneSettings()
    if model.rig.springs:
        return SpringBoneSettings(from_file=True, collide=False)
    return SpringBoneSettings(roots="; ".join(proposed_roots(model)))


def new_springs(place: AddPlace) -> Node:
    """Returns spring bones of the selected or only character; below the selected bone if there is one."""
    characters = place.scene.characters
    character = place.character or (characters[0] if len(characters) == 1 else None)
    if character is None:
        return Node(id="", name="Spring bones", settings=SpringBoneSettings())
    bone = place.view.selection.bone if place.character is not None else None
    settings = SpringBoneSettings(roots=bone) if bone else settings_for(place.models.get(character.id))
    return Node(id="", name="Spring bones", attachment=Attachment(node=character.id), settings=settings)


def springs_of_file(model: CharacterModel, node: Node, _: Scene) -> tuple[Node, ...]:
    """Returns the spring bones that the file of a new model has."""
    if not model.rig.springs:
        return ()
    return (Node(id="", name="Spring bones", attachment=Attachment(node=node.id), settings=settings_for(model)),)


def idle(node: Node) -> frozenset[str]:
    settings = node.settings
    assert isinstance(settings, SpringBoneSettings)
    return _OWN if settings.from_file else _OF_FILE


def collides(settings: Settings) -> bool:
    assert isinstance(settings, SpringBoneSettings)
    return settings.collide


SPRINGS = Kind(
    name="springs",
    label="Spring bones",
    icon=ICON,
    hue="#cc79a7",
    settings=SpringBoneSettings,
    version=3,
    system="sinew.sim.kinds.springs.system:SpringSystem",
    parts=(
        Adds(
            (AddEntry("springs", "&Spring Bones", "Let bones of hair, tails and clothes swing, on the selected model.",
                      new_springs, ICON),),
            companions=springs_of_file,
        ),
        Form(idle=idle, panel="sinew.app.kinds.springs.panel:SpringPanel"),
        Coupling(collides=collides, turns_joints=True),
    ),
)  # fmt: skip
