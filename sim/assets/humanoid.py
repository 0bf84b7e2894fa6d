"""Bones of a human body, found by the names, the hierarchy and the places of joints; they have the names of VRM 1.0."""

import itertools
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache

import numpy as np

from sinew.sim.assets.body_shape import bones_by_shape
from sinew.sim.assets.model import CharacterModel, Skeleton

LIMB_BONES = (
    "UpperLeg", "LowerLeg", "Foot", "Toes", "Shoulder", "UpperArm", "LowerArm", "Hand", "Eye",
)  # fmt: skip
SIDES = ("left", "right")
OTHER_JOINTS = "Proximal", "Intermediate", "Distal"
FINGERS = {
    "Thumb": ("Metacarpal", "Proximal", "Distal"),
    "Index": OTHER_JOINTS, "Middle": OTHER_JOINTS, "Ring": OTHER_JOINTS, "Little": OTHER_JOINTS,
}  # fmt: skip
"""Fingers with their joints."""

SPINE = ("spine", "chest", "upperChest")

BONES = (
    "hips", *SPINE, "neck", "head", "jaw",
    *(f"{side}{bone}" for side in SIDES for bone in LIMB_BONES),
    *(f"{side}{finger}{joint}" for side in SIDES for finger, joints in FINGERS.items() for joint in joints),
)  # fmt: skip
"""All bones, in the order of VRM."""

REQUIRED = (
    "hips", "head",
    *(f"{side}{bone}" for side in SIDES
      for bone in ("UpperLeg", "LowerLeg", "Foot", "UpperArm", "LowerArm", "Hand")),
)  # fmt: skip
"""Bones without which a skeleton is not a human body."""

NEAR_HIPS = 0.02
"""Fraction of the leg length; nearer joints are no bones of the spine if there are more than three."""

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_COMPOUNDS = {
    "upperarm": ("upper", "arm"), "lowerarm": ("lower", "arm"), "upperleg": ("upper", "leg"),
    "lowerleg": ("lower", "leg"), "upleg": ("upper", "leg"), "lowleg": ("lower", "leg"), "uparm": ("upper", "arm"),
    "toebase": ("toe",), "toes": ("toe",), "hips": ("hip",), "eyes": ("eye",), "forarm": ("forearm",),
    "shldr": ("shoulder",), "femur": ("thigh",), "tibia": ("shin",), "humerus": ("upper", "arm"),
    "radius": ("forearm",), "uarm": ("upper", "arm"), "farm": ("forearm",),
    "lu": ("left", "upper"), "lf": ("left", "fore"), "ru": ("right", "upper"), "rf": ("right", "fore"),
    **{f"{short}{word}": (side, word) for side in SIDES for short in (side, side[0])
       for word in ("hand", "arm", "leg", "foot", "shoulder", "shldr", "forearm", "toe", "eye", "hip", "thigh", "knee",
                    "ankle", "elbow", "wrist", "upleg", "clavicle", "collar", "femur", "tibia", "humerus", "radius",
                    "shin", "uarm", "farm", "toes", "calf", "upperarm", "lowerarm", "upperleg", "lowerleg")},
}  # fmt: skip
_LEADING = {"bip", "biped", "def", "j", "c", "joint", "mixamorig", "bone", "b"}
_NO_BONES = {"twist", "roll", "nub", "end", "ik", "pole", "helper", "tip", "ctrl", "control", "target", "socket", "sec"}
_SIDES = {"l": "left", "left": "left", "r": "right", "right": "right"}
_FINGER_WORDS = {
    "thumb": "Thumb", "index": "Index", "pointer": "Index", "middle": "Middle", "mid": "Middle", "ring": "Ring",
    "pinky": "Little", "pinkie": "Little", "little": "Little", "small": "Little",
}  # fmt: skip
_BIPED_FINGER = re.compile(r"finger[ _.-]?([0-4])([0-9]?)$", re.IGNORECASE)


class Source(StrEnum):
    """How a bone was found."""

    FILE = "by the file"
    USER = "by the user"
    NAME = "by name"
    SHAPE = "by shape"


class _Joint:
    def __init__(self, name: str, index: int, parent: int, depth: int) -> None:
        self.index, self.parent, self.depth = index, parent, depth
        plain = name.rpartition(":")[2]
        words = [word.lower() for word in _WORD.findall(plain.replace("|", "_"))]
        words = [part for word in words for part in _COMPOUNDS.get(word, (word,))]
        words = [part for word in words for part in _COMPOUNDS.get(word, (word,))]
        while len(words) > 1 and (words[0] in _LEADING or words[0].isdigit()):
            words.pop(0)
        self.side = next((_SIDES[word] for word in words if word in _SIDES), "")
        self.numbers = [int(word) for word in words if word.isdigit()]
        self.words = {word for word in words if not word.isdigit() and word not in _SIDES and word != "joint"}
        self.finger = next((_FINGER_WORDS[word] for word in reversed(words) if word in _FINGER_WORDS), "")
        self.order = self.numbers[-1] if self.numbers else 0
        biped = _BIPED_FINGER.search(plain)
        if biped is not None:
            self.finger, self.order = list(FINGERS)[int(biped[1])], int(biped[2] or 0)

    def bone(self) -> str:
        """Returns the bone that the name alone means, such as "UpperLeg"; "arm", "leg" or "hip" if it is ambiguous."""
        words = self.words
        if words & _NO_BONES:
            return ""
        upper, lower = words & {"upper", "up"}, words & {"lower", "low", "fore"}
        for bone, found in (
            ("UpperLeg", "thigh" in words or bool("leg" in words and upper)),
            ("LowerLeg", bool(words & {"calf", "shin", "knee"}) or bool("leg" in words and lower)),
            ("Toes", bool(words & {"toe", "ball"}) and not words & {"eye"}),
            ("Foot", bool(words & {"foot", "ankle"})),
            ("LowerArm", bool(words & {"forearm", "elbow"}) or bool("arm" in words and lower)),
            ("UpperArm", bool("arm" in words and upper)),
            ("Shoulder", bool(words & {"clavicle", "shoulder", "collar"})),
            ("Hand", bool(words & {"hand", "wrist"})),
            ("Eye", "eye" in words and not words & {"ball", "lid", "brow", "lash"}),
            ("leg", "leg" in words),
            ("arm", "arm" in words),
            ("hip", bool(words & {"hip", "pelvis"})),
            ("jaw", "jaw" in words),
            ("head", "head" in words),
            ("neck", "neck" in words),
        ):
            if found:
                return bone
        return ""


def find_bones(skeleton: Skeleton) -> dict[str, int]:
    return _Finder(skeleton.names, skeleton.parents.tolist(), skeleton.model_from_bind[:, :3, 3]).bones()


def bones_of(model: CharacterModel, edits: Iterable[tuple[str, str]] = ()) -> dict[str, int]:
    """Returns the joint of each bone: as the file says, else found by its name, else by the shape of the body.

    Args:
        edits: Bones with the name of their joint, "" for none; they come first.  Unknown names are ignored.
    """
    return {bone: joint for bone, (joint, _) in bone_sources(model, edits).items()}


def bone_sources(model: CharacterModel, edits: Iterable[tuple[str, str]] = ()) -> dict[str, tuple[int, Source]]:
    """Returns the joint of each bone, see `bones_of`, and how it was found."""
    skeleton = model.skeleton
    if skeleton is None:
        return {}
    if model.rig.humanoid:
        bones = {bone: (joint, Source.FILE) for bone, joint in model.rig.humanoid.items()}
    else:
        bones = dict(_guessed(skeleton, "xyz".index(model.default_up_axis.lower())))
    for bone, name in edits:
        joint = skeleton.find(name)
        if bone not in BONES or (name and joint is None):
            continue
        bones = {other: found for other, found in bones.items() if other != bone and found[0] != joint}
        if joint is not None:
            bones[bone] = joint, Source.USER
    return {bone: bones[bone] for bone in BONES if bone in bones}


@lru_cache(maxsize=64)
def _guessed(skeleton: Skeleton, up: int) -> Mapping[str, tuple[int, Source]]:
    """Returns the bones that names tell, and by the shape of the body those that a body needs."""
    named = find_bones(skeleton)
    bones = {bone: (joint, Source.NAME) for bone, joint in named.items()}
    missing = [bone for bone in REQUIRED if bone not in named]
    if not missing:
        return bones
    shape = bones_by_shape(skeleton.parents.tolist(), skeleton.model_from_bind[:, :3, 3], up)
    agreeing = sum(named[bone] == joint for bone, joint in shape.items() if bone in named)
    if agreeing < sum(bone in shape for bone in named) / 2:
        return bones
    taken = set(named.values())
    return bones | {
        bone: (joint, Source.SHAPE) for bone, joint in shape.items() if bone not in named and joint not in taken
    }


def is_humanoid(bones: Container[str]) -> bool:
    return all(bone in bones for bone in REQUIRED)


class _Finder:
    def __init__(self, names: Sequence[str], parents: Sequence[int], positions: np.ndarray) -> None:
        self._parents, self._positions = parents, positions
        depths = [len(self._ancestors(index)) for index in range(len(names))]
        self._joints = [_Joint(name, index, parents[index], depths[index]) for index, name in enumerate(names)]
        self._found: dict[str, int] = {}

    def bones(self) -> dict[str, int]:
        for side in SIDES:
            self._find_limb(side, "leg", ("UpperLeg", "LowerLeg", "Foot", "Toes"))
            self._find_limb(side, "arm", ("UpperArm", "LowerArm", "Hand"))
            self._find_upper_arm(side)
            self._take(f"{side}Shoulder", self._named("Shoulder", side, above=self._found.get(f"{side}UpperArm")))
        self._find_body()
        for side in SIDES:
            self._find_fingers(side)
            self._take(f"{side}Eye", self._named("Eye", side))
        self._take("jaw", self._named("jaw", ""))
        return {bone: self._found[bone] for bone in BONES if bone in self._found}

    def _find_limb(self, side: str, word: str, bones: Sequence[str]) -> None:
        for bone in bones:
            self._take(f"{side}{bone}", self._named(bone, side))
        bare = self._named(word, side)
        chain: list[_Joint] = []
        for joint in bare:
            if not chain or chain[-1].index in self._ancestors(joint.index):
                chain.append(joint)
        alone, missing = ("UpperArm", "LowerArm") if word == "arm" else ("LowerLeg", "UpperLeg")
        if len(chain) >= 3 and f"{side}{missing}" not in self._found:
            self._found |= {f"{side}{bone}": joint.index for bone, joint in zip(bones, chain, strict=False)}
        else:
            self._take(f"{side}{alone}", bare)
        if word == "leg":
            self._take(f"{side}UpperLeg", self._named("hip", side))

    def _find_upper_arm(self, side: str) -> None:
        """Takes the lowest "shoulder" above the forearm where no joint is called an upper arm."""
        forearm = self._found.get(f"{side}LowerArm")
        if forearm is not None and f"{side}UpperArm" not in self._found:
            above = self._ancestors(forearm)
            self._take(f"{side}UpperArm", [j for j in reversed(self._named("Shoulder", side)) if j.index in above])

    def _find_fingers(self, side: str) -> None:
        hand = self._found.get(f"{side}Hand")
        if hand is None:
            return
        for finger, bones in FINGERS.items():
            found = [
                joint
                for joint in self._joints
                if joint.finger == finger and joint.side in (side, "") and hand in self._ancestors(joint.index)
                and not joint.words & _NO_BONES
            ]  # fmt: skip
            found.sort(key=lambda joint: (joint.depth, joint.order, joint.index))
            if finger != "Thumb" and len(found) > 3 and found[0].words & {"metacarpal", "meta", "palm", "carpal"}:
                found = found[1:]
            for bone, joint in zip(bones, found, strict=False):
                self._found[f"{side}{finger}{bone}"] = joint.index

    def _find_body(self) -> None:
        above = self._above_both("UpperLeg")
        named = [joint.index for joint in self._named("hip", "") if joint.index in above]
        if not above:
            return
        hips = named[0] if named else above[0]
        self._found["hips"] = hips
        self._take("neck", [joint for joint in self._named("neck", "") if hips in self._ancestors(joint.index)])
        self._take("head", [joint for joint in self._named("head", "") if hips in self._ancestors(joint.index)])
        self._find_neck(hips)
        neck = self._found.get("neck", self._found.get("head"))
        if neck is None:
            return
        between = [joint for joint in reversed(self._ancestors(neck)) if hips in self._ancestors(joint)]
        if len(between) > 3:
            chain = [self._found.get(f"left{bone}") for bone in ("UpperLeg", "LowerLeg", "Foot")]
            points = [self._positions[joint] for joint in chain if joint is not None]
            leg = float(sum(np.linalg.norm(b - a) for a, b in itertools.pairwise(points)))
            far = [j for j in between if np.linalg.norm(self._positions[j] - self._positions[hips]) > NEAR_HIPS * leg]
            between = far or between
        if len(between) > 3:
            between = [between[0], between[len(between) // 2], between[-1]]
        for bone, joint in zip(SPINE, between, strict=False):
            self._found[bone] = joint

    def _find_neck(self, hips: int) -> None:
        """Finds neck and head without such names: the end of the chain above the arms."""
        neck, head = self._found.get("neck"), self._found.get("head")
        if neck is not None and head is None:
            chain = self._central(neck)
            if chain:
                self._found["head"] = chain[-1]
            return
        above = self._above_both("UpperArm")
        if hips not in above:
            return
        chest = above[0]
        if head is not None and neck is None:
            parent = self._parents[head]
            if parent not in (-1, chest, hips) and chest in self._ancestors(parent):
                self._found["neck"] = parent
        elif head is None:
            chain = self._central(chest)
            if len(chain) > 1:
                self._found["neck"], self._found["head"] = chain[-2:]

    def _central(self, start: int) -> list[int]:
        """Returns joints below `start`, without a side and with the same words."""
        chain: list[int] = []
        current = start
        while True:
            words = self._joints[start].words
            below = [j for j in self._joints if j.parent == current and not j.side and j.words == words]
            if not below:
                return chain
            current = below[0].index
            chain.append(current)

    def _named(self, bone: str, side: str, above: int | None = None) -> list[_Joint]:
        """Returns joints that mean a bone, nearest to the root first."""
        found = [joint for joint in self._joints if joint.side == side and not joint.finger and joint.bone() == bone]
        if above is not None:
            found = [joint for joint in found if joint.index in self._ancestors(above)] or found
        return sorted(found, key=lambda joint: (joint.depth, joint.index))

    def _take(self, bone: str, joints: Sequence[_Joint]) -> None:
        taken = self._found.values()
        free = next((joint.index for joint in joints if joint.index not in taken), None)
        if free is not None:
            self._found.setdefault(bone, free)

    def _ancestors(self, index: int) -> list[int]:
        """Returns joints from the parent to the root."""
        found = []
        while (index := self._parents[index]) >= 0:
            found.append(index)
        return found

    def _above_both(self, bone: str) -> list[int]:
        """Returns joints above a bone of both sides, up to the root; none if one of them is not found."""
        left, right = (self._found.get(f"{side}{bone}") for side in SIDES)
        if left is None or right is None:
            return []
        others = self._ancestors(left)
        return [joint for joint in self._ancestors(right) if joint in others]
