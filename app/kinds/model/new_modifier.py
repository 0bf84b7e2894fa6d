"""Modifiers that are added to a character with a bone and a target."""

import math

import msgspec
import numpy as np

from sinew.app.session.editor_context import EditorContext
from sinew.sim.assets.humanoid import bones_of
from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.modifiers.settings import LookAt, TwoBoneIK
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.group.kind import GroupSettings
from sinew.sim.scene.handles import HandleMode
from sinew.sim.scene.scene import Node
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view_state import Selection
from sinew.sim.scene.world_transforms import vector
from sinew.widgets.inspector.sections import name_of

LIMBS = {"leftHand": "Left hand", "rightHand": "Right hand", "leftFoot": "Left foot", "rightFoot": "Right foot"}
"""Bones of a human body that a new two-bone IK may move, with their labels."""

_DISTANCE = 1.0  # [m] from the head to what it looks at


TOO_HIGH = "A two-bone IK needs two bones above this one."


def can_have_ik(model: CharacterModel, bone: str) -> bool:
    skeleton = model.skeleton
    joint = skeleton.find(bone) if skeleton is not None else None
    if skeleton is None or joint is None:
        return False
    upper = int(skeleton.parents[joint])
    return upper >= 0 and bool(skeleton.parents[upper] >= 0)


def add_ik(context: EditorContext, node: Node, model: CharacterModel, bone: str) -> None:
    """Adds a two-bone IK of a bone, selects its new target and shows the handles that move it."""
    if can_have_ik(model, bone) and add_modifier(context, node, model, TwoBoneIK, bone=bone):
        changed = context.document.scene.node(node.id).settings
        assert isinstance(changed, ModelSettings)
        added = changed.modifiers[-1]
        assert isinstance(added, TwoBoneIK)
        context.document.select(Selection(node=added.target))
        context.show_handles(HandleMode.MOVE)


def add_modifier(
    context: EditorContext, node: Node, model: CharacterModel, cls: type[msgspec.Struct], *, bone: str = ""
) -> bool:
    """Adds a modifier and a target for a bone, by default for the first bone of a human body without one.

    Returns:
        False if there is no such bone.
    """
    settings, engine = node.settings, context.client.engine
    assert isinstance(settings, ModelSettings)
    character = engine.views.characters.get(node.id) if engine is not None else None
    if not issubclass(cls, LookAt | TwoBoneIK) or model.skeleton is None or character is None:
        return False
    taken = {modifier.bone for modifier in settings.modifiers if isinstance(modifier, cls)}
    bones = bones_of(model, settings.humanoid)
    limbs = {"head": "Head"} if issubclass(cls, LookAt) else LIMBS
    found = [(joint, label.lower()) for name, label in limbs.items() if (joint := bones.get(name)) is not None]
    if bone and (chosen := model.skeleton.find(bone)) is not None:
        found, taken = [(chosen, bone)], set()
    for joint, label in found:
        if model.skeleton.names[joint] in taken:
            continue
        place = character.joint_positions()[joint]
        if issubclass(cls, LookAt):
            yaw = math.radians(character.facing())
            place = place + _DISTANCE * np.array([math.sin(yaw), 0.0, math.cos(yaw)])
        document, name = context.document, "Look-at target" if issubclass(cls, LookAt) else "IK target"
        target = document.named(
            Node(id="", name=name, transform=Transform(position=vector(place)), settings=GroupSettings())
        )
        modifier = cls(bone=model.skeleton.names[joint], target=target.id)
        changed = msgspec.structs.replace(settings, modifiers=(*settings.modifiers, modifier))
        rest = (
            msgspec.structs.replace(one, settings=changed) if one.id == node.id else one for one in document.scene.nodes
        )
        document.set_nodes((*rest, target), f"Add {name_of(cls)} for {label}")
        return True
    return False
