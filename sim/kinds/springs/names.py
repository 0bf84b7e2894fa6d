"""Bones of hair, tails and clothes, found by their names."""

import re

import numpy as np

from sinew.sim.assets.influences import weighted_vertex_counts
from sinew.sim.assets.model import CharacterModel

WORDS = frozenset((
    "hair", "hairs", "bang", "bangs", "fringe", "braid", "braids", "pigtail", "ahoge", "tail", "tails", "ear", "ears",
    "skirt", "cape", "cloak", "coat", "ribbon", "ribbons", "scarf", "sleeve", "sleeves", "bust", "breast", "breasts",
    "bag", "bags", "pouch", "necklace", "earring", "earrings", "tassel", "antenna", "antennae", "feather", "feathers",
    "whisker", "whiskers", "mane", "beard", "dreadlock", "dreadlocks", "strap", "backpack", "accessory",
))  # fmt: skip
"""Whole words in names of bones that swing."""
PARTS = ("hair", "skirt", "ribbon", "ponytail", "髪", "スカート", "尻尾", "しっぽ", "耳", "リボン", "胸")
"""Texts anywhere in names of bones that swing."""
NEVER = frozenset(("ik", "pole", "ctrl", "control", "target", "helper"))

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")


def is_chain_name(name: str) -> bool:
    words = {word.lower() for word in _WORD.findall(name)}
    lowered = name.lower()
    return not words & NEVER and (bool(words & WORDS) or any(part in lowered for part in PARTS))


def proposed_roots(model: CharacterModel) -> list[str]:
    """Returns the names of the bones where chains begin; bones that move no vertices are left out."""
    skeleton = model.skeleton
    if skeleton is None:
        return []
    used = weighted_vertex_counts(model.skin, skeleton.joint_count) > 0
    used |= not used.any()
    for level in reversed(skeleton.hierarchy.levels):
        np.logical_or.at(used, skeleton.parents[level], used[level])
    named = [is_chain_name(name) for name in skeleton.names]
    found = []
    for joint, parent in enumerate(skeleton.parents.tolist()):
        above = parent
        while above >= 0 and not named[above]:
            above = int(skeleton.parents[above])
        if named[joint] and used[joint] and above < 0:
            found.append(skeleton.names[joint])
    return found
