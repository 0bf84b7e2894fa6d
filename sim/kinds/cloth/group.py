"""Steps of cloths that meet: their substeps alternate, as each reads the others as they were before the substep."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.cloth_contact import ClothContact
from sinew.sim.kinds.cloth.kind import pairs
from sinew.sim.kinds.cloth.model import ClothModel
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.cloth.solver import ClothInputs
from sinew.sim.kinds.contract import Service
from sinew.sim.memo import same_objects
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import NodeId, Scene

Pairs = Sequence[tuple[NodeId, NodeId]]


@dataclass(frozen=True, slots=True)
class ClothInStep:
    """A cloth in the present step.

    Attributes:
        inputs: None if it makes no substeps, because it is stopped or was teleported; it then meets no other.
    """

    cloth: Cloth
    inputs: ClothInputs | None


class ClothGroup(Owner):
    """Cloths that are linked by pairs, sorted by id: results do not depend on the order of the nodes."""

    def __init__(
        self, context: Context, library: ShaderLibrary, models: dict[NodeId, ClothModel], meeting: Pairs
    ) -> None:
        self._models, self._meeting = models, meeting
        place = {node: number for number, node in enumerate(models)}
        known = [(place[one], place[other]) for one, other in meeting if one in place and other in place]
        self._contact = self.owns(ClothContact(context, library, list(models.values()), known))
        self._values: tuple[object, ...] = ()
        self._settings: list[ClothSettings] = []

    def is_of(self, models: dict[NodeId, ClothModel], meeting: Pairs) -> bool:
        known = self._models
        is_same = same_objects((*models, *models.values()), (*known, *known.values()))
        return is_same and meeting == self._meeting

    def step(self, cloths: Sequence[ClothInStep], substeps: int) -> None:
        """Makes a step of all cloths that have inputs, in the order of `models`."""
        contact, present = self._contact, [one.inputs is not None for one in cloths]
        values = (substeps, *present, *(one.cloth.settings for one in cloths))
        if not same_objects(values, self._values):
            self._values = values
            self._settings = [msgspec.structs.replace(one.cloth.settings, substeps=substeps) for one in cloths]
            contact.set_cloths(self._settings, present)
        moving = []
        for number, (one, settings) in enumerate(zip(cloths, self._settings, strict=True)):
            contact.set_held(number, one.cloth.held)
            contact.take_failure(number, one.cloth.sound)
            contact.take_state(number, one.cloth.simulated)
            if one.inputs is not None:
                steps = one.cloth.step_with_others(replace(one.inputs, met=contact.cloths[number]), settings)
                next(steps)
                moving.append((number, one.cloth, steps))
        contact.find(STEP_TIME)
        for index in range(substeps):
            for number, cloth, _ in moving if index else ():
                contact.take_state(number, cloth.simulated)
            contact.touch(STEP_TIME / substeps)
            for _, _, steps in moving:
                next(steps, None)


class ClothGroups(Service):
    """The groups of a simulation: `add` takes the cloths of a step, the first `finish` of a group makes its step.

    The second cloths of comparisons, see `ClothComparison`, meet one another in groups of their own.
    """

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._library = context, library
        self._waiting: dict[tuple[NodeId, bool], ClothInStep] = {}
        self._groups: dict[tuple[tuple[NodeId, ...], bool], ClothGroup] = {}
        self._used: set[tuple[tuple[NodeId, ...], bool]] = set()

    def add(self, node: NodeId, cloth: Cloth, inputs: ClothInputs | None, *, is_second: bool = False) -> None:
        self._waiting[node, is_second] = ClothInStep(cloth, inputs)

    def finish(self, nodes: tuple[NodeId, ...], scene: Scene, *, is_second: bool = False) -> None:
        """Makes the step of the cloths among these nodes that were added."""
        waiting, key = self._waiting, (nodes, is_second)
        cloths = {node: waiting.pop((node, is_second)) for node in nodes if (node, is_second) in waiting}
        if not any(one.inputs is not None for one in cloths.values()):
            return
        self._used.add(key)
        meeting = pairs(scene)
        models = {node: one.cloth.model for node, one in cloths.items()}
        group = self._groups.get(key)
        if group is None or not group.is_of(models, meeting):
            self.disown(self._groups.pop(key, None))
            group = self._groups[key] = self.owns(ClothGroup(self._context, self._library, models, meeting))
        substeps = max(one.cloth.settings.substeps for one in cloths.values())
        group.step(list(cloths.values()), substeps)

    def finish_step(self) -> None:
        """Releases the groups of former steps; keeps them if none made a step, as after a restored state."""
        self._waiting.clear()
        for key in self._groups.keys() - self._used if self._used else ():
            self.disown(self._groups.pop(key))
        self._used.clear()
