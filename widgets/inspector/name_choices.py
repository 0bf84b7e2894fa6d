"""What can be chosen for a parameter that names something: a clip, a model, a bone, a section of a file."""

from collections.abc import Callable
from dataclasses import dataclass

from sim.scene.params import Param, Role
from sim.scene.scene import NodeId
from widgets.protocols import EditTarget, ModelProvider

NAMED_ROLES = frozenset((Role.CLIP, Role.CARRIER, Role.BONE, Role.OWN_BONE, Role.SECTION))

SectionNames = Callable[[str], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Choices:
    """Names that can be chosen now."""

    empty: str  # What the empty name means
    items: tuple[tuple[str, str], ...] = ()  # Value and shown text of every name


class NameChoices:
    """Answers from the scene, its models and its files; keeps nothing.

    Args:
        target: Gives the scene.
        model_of: State of the model of a node.

    Attributes:
        section_names: Names of the sections of a mesh file, by path; empty for one that is not there.
    """

    def __init__(self, target: EditTarget, model_of: ModelProvider) -> None:
        self._target, self._model_of = target, model_of
        self.section_names: SectionNames = lambda _path: ()

    def of(self, record: Param, node_id: NodeId) -> Choices:
        if not self._target.scene.has(node_id):
            return Choices("None")
        if record.declared.role is Role.CARRIER:
            return self._carriers(node_id)
        if record.declared.role is Role.BONE:
            return self._bones(self._target.scene.node(node_id).attachment.node)
        if record.declared.role is Role.OWN_BONE:
            return Choices("Everywhere", self._bones(node_id).items)
        if record.declared.role is Role.SECTION:
            path = getattr(self._target.scene.node(node_id).settings, record.declared.source)
            names = self.section_names(path)
            return Choices("Whole file", tuple((name, name) for name in dict.fromkeys(names)))
        return self._clips(node_id)

    def _carriers(self, node_id: NodeId) -> Choices:
        scene = self._target.scene
        free = (n for n in scene.nodes if n.id != node_id and all(c.id != node_id for c in scene.carriers(n.id)))
        return Choices("Nothing", tuple((node.id, node.name) for node in free))

    def _bones(self, node_id: NodeId) -> Choices:
        if not node_id:
            return Choices("It rides on nothing")
        status = self._model_of(node_id)
        skeleton = status.model.skeleton if status is not None and status.model is not None else None
        if skeleton is None:
            return Choices("No bones")
        return Choices("None", tuple((name, name) for name in skeleton.names))

    def _clips(self, node_id: NodeId) -> Choices:
        status = self._model_of(node_id)
        names = tuple(clip.name for clip in status.model.clips) if status is not None and status.model else ()
        return Choices(f"{names[0]} (first)" if names else "No clips", tuple((name, name) for name in names))
