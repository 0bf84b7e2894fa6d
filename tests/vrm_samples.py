"""Small VRM files made by hand: a person of 19 bones with a hair, a face of three morph targets, and a motion."""

from typing import Any

import numpy as np

from tests.gltf_samples import QUAD, Sample, png_bytes

PLACES: dict[str, tuple[str, tuple[float, float, float]]] = {
    "hips": ("", (0.0, 1.0, 0.0)), "spine": ("hips", (0.0, 0.1, 0.0)), "chest": ("spine", (0.0, 0.1, 0.0)),
    "neck": ("chest", (0.0, 0.3, 0.0)), "head": ("neck", (0.0, 0.1, 0.0)),
    **{f"{side}{bone}": (above if above in ("hips", "chest") else f"{side}{above}", (sign * x, y, 0.0))
       for side, sign in (("left", 1.0), ("right", -1.0))
       for bone, above, x, y in (("UpperLeg", "hips", 0.1, 0.0), ("LowerLeg", "UpperLeg", 0.0, -0.45),
                                 ("Foot", "LowerLeg", 0.0, -0.45), ("UpperArm", "chest", 0.2, 0.2),
                                 ("LowerArm", "UpperArm", 0.25, 0.0), ("Hand", "LowerArm", 0.25, 0.0),
                                 ("ThumbMetacarpal", "Hand", 0.05, 0.0))},
}  # fmt: skip
"""Parent and place of each bone, in the order of the nodes."""

BONES = list(PLACES)
HAIR = len(BONES)
FACE = HAIR + 4
"""Numbers of nodes: the hair is a chain of three joints, whose second one has another child."""


def person(*, size: float = 1.0, turns: Any = None, motion: bool = False) -> Sample:
    """The nodes, and a face that follows the head and the hair.

    Args:
        turns: Local rotation of each bone by name, which keeps the bones where they are.
        motion: Leaves out the face.
    """
    sample = Sample()
    world: dict[str, np.ndarray] = {"": np.eye(3)}
    for name, (above, offset) in PLACES.items():
        world[name] = world[above] @ turns[name] if turns else np.eye(3)
        place = size * world[above].T @ np.array(offset)
        children = [BONES.index(other) for other, (parent, _) in PLACES.items() if parent == name]
        sample.put("nodes", {"name": name, "translation": place.tolist(), "children": children,
                             "rotation": _quaternion(world[above].T @ world[name])})  # fmt: skip
    sample.document["nodes"][BONES.index("head")]["children"] = [HAIR]
    for number, children in enumerate(([HAIR + 1, HAIR + 3], [HAIR + 2], [], [])):
        sample.put("nodes", {"name": f"hair {number}", "translation": [0.0, 0.2, 0.0 if number else -0.1],
                             "children": children})  # fmt: skip
    if not motion:
        _add_face(sample)
    for node in sample.document["nodes"]:
        if not node.get("children", True):
            del node["children"]
    return sample


def _add_face(sample: Sample) -> None:
    joints = sample.add([[0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0]], np.uint8)
    weights = sample.add([[1, 0, 0, 0], [1, 0, 0, 0], [0.5, 0.5, 0, 0], [1, 0, 0, 0]])
    moves = [np.eye(4, 3)[[number, 3, 3, 3]] for number in range(3)]
    image = sample.chunk.view(png_bytes())
    sample.put("images", {"bufferView": image, "mimeType": "image/png", "name": "dots"})
    sample.put("textures", {"source": 0})
    material = sample.put("materials", {"name": "skin", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}})
    sample.mesh(
        QUAD, node={"skin": 0, "name": "face"}, material=material, indices=sample.add([0, 1, 2, 1, 3, 2], np.uint16),
        attributes={"JOINTS_0": joints, "WEIGHTS_0": weights, "NORMAL": sample.add([[0, 0, 1]] * 4),
                    "TEXCOORD_0": sample.add([[0, 0], [1, 0], [0, 1], [1, 1]])},
        targets=[{"POSITION": sample.points(move)} for move in moves],
    )  # fmt: skip
    sample.document["meshes"][0]["extras"] = {"targetNames": ["eyes", "smile", "open"]}
    binds = np.tile(np.eye(4).ravel(), (2, 1))
    binds[:, 13] = -1.6
    sample.put("skins", {"joints": [BONES.index("head"), HAIR], "inverseBindMatrices": sample.add(binds)})


def vrm(**changes: Any) -> Sample:
    """VRM 1.0 with everything that is read."""
    sample = person(**changes)
    binds = [[{"node": FACE, "index": index, "weight": weight}] for index, weight in ((0, 1.0), (1, 0.8), (2, 0.5))]
    blink, smile, mouth = ({"morphTargetBinds": part} for part in binds)
    head = BONES.index("head")
    sample.document["extensions"] = {
        "VRMC_vrm": {
            "specVersion": "1.0",
            "humanoid": {"humanBones": {name: {"node": number} for number, name in enumerate(BONES)}},
            "expressions": {
                "preset": {"happy": {**smile, "overrideBlink": "blend", "overrideMouth": "block"}, "aa": mouth,
                           "blink": {**blink, "isBinary": True}},
                "custom": {"wink": {"morphTargetBinds": [*binds[0], *binds[1]]}},
            },
        },
        "VRMC_springBone": {
            "specVersion": "1.0",
            "colliders": [
                {"node": head, "shape": {"sphere": {"offset": [0, 0.1, 0], "radius": 0.1}}},
                {"node": head, "shape": {"capsule": {"offset": [0, 0, 0], "radius": 0.1, "tail": [0, 0.2, 0]}}},
                {"node": head, "shape": {"sphere": {"radius": 0.0}}, "extensions": {
                    "VRMC_springBone_extended_collider": {"shape": {"plane": {"normal": [0, 1, 0]}}}}},
            ],
            "colliderGroups": [{"colliders": [0, 1]}, {"colliders": [1, 2]}],
            "springs": [{"name": "hair", "colliderGroups": [0, 1], "center": 0, "joints": [
                {"node": HAIR, "stiffness": 2.0, "gravityPower": 0.5, "gravityDir": [0, -1, 0], "dragForce": 0.3,
                 "hitRadius": 0.02}, {"node": HAIR + 1}, {"node": HAIR + 2}]}],
        },
    }  # fmt: skip
    sample.document["nodes"][BONES.index("leftLowerArm")]["extensions"] = {
        "VRMC_node_constraint": {"constraint": {"roll": {"source": BONES.index("leftHand"), "rollAxis": "X",
                                                         "weight": 0.5}}}}  # fmt: skip
    sample.document["nodes"][HAIR + 3]["extensions"] = {
        "VRMC_node_constraint": {"constraint": {"aim": {"source": head, "aimAxis": "NegativeY"}}}
    }
    sample.document["materials"][0]["extensions"] = {
        "KHR_materials_unlit": {},
        "VRMC_materials_mtoon": {"shadeColorFactor": [0.5, 0.25, 0.125], "shadeMultiplyTexture": {"index": 0},
                                 "shadingToonyFactor": 0.5, "matcapTexture": {"index": 0},
                                 "parametricRimColorFactor": [1, 0, 0]},
    }  # fmt: skip
    return sample


def old_vrm() -> Sample:
    """The same in VRM 0.x, where the face looks along -z."""
    sample = person()
    names = {"ThumbMetacarpal": "ThumbProximal"}
    bones = [(name.replace(*next(iter(names.items()))), number) for number, name in enumerate(BONES)]
    head = BONES.index("head")
    sample.document["meshes"][0].pop("extras")
    sample.document["meshes"][0]["primitives"][0]["extras"] = {"targetNames": ["eyes", "smile", "open"]}
    sample.document["extensions"] = {
        "VRM": {
            "humanoid": {"humanBones": [{"bone": name, "node": number} for name, number in bones]},
            "blendShapeMaster": {"blendShapeGroups": [
                {"name": "Joy", "presetName": "joy", "binds": [{"mesh": 0, "index": 1, "weight": 80}]},
                {"name": "Wink", "presetName": "unknown", "isBinary": True,
                 "binds": [{"mesh": 0, "index": 0, "weight": 100}]},
            ]},
            "secondaryAnimation": {
                "boneGroups": [{"comment": "hair", "stiffiness": 2.0, "gravityPower": 0.5,
                                "gravityDir": {"x": 0, "y": -1, "z": 1}, "dragForce": 0.3, "hitRadius": 0.02,
                                "center": -1, "bones": [HAIR + 1, HAIR], "colliderGroups": [0]}],
                "colliderGroups": [{"node": head, "colliders": [{"offset": {"x": 1, "y": 2, "z": 3}, "radius": 0.1}]}],
            },
            "materialProperties": [
                {"name": "skin", "shader": "VRM/MToon",
                 "floatProperties": {"_ShadeShift": -0.45, "_ShadeToony": 0.8, "_IndirectLightIntensity": 0.25,
                                     "_RimLightingMix": 1.0, "_RimFresnelPower": 2.0},
                 "vectorProperties": {"_ShadeColor": [0.5, 0.5, 0.5, 1.0]}, "textureProperties": {"_ShadeTexture": 0}},
            ],
        },
    }  # fmt: skip
    return sample


def vrm_animation(turns: Any = None, size: float = 1.0) -> Sample:
    """A motion that turns hips, chest and an arm, moves the hips and opens the mouth."""
    sample = person(size=size, turns=turns, motion=True)
    node = sample.put("nodes", {"name": "aa"})
    sample.document["extensions"] = {
        "VRMC_vrm_animation": {
            "specVersion": "1.0",
            "humanoid": {"humanBones": {name: {"node": number} for number, name in enumerate(BONES)}},
            "expressions": {"preset": {"aa": {"node": node}}},
        }
    }
    generator = np.random.default_rng(5)
    for bone in ("hips", "chest", "leftUpperArm", "leftLowerArm", "head"):
        keys = generator.normal(size=(3, 4))
        keys /= np.linalg.norm(keys, axis=1, keepdims=True)
        sample.animate(BONES.index(bone), "rotation", [0.0, 0.5, 1.0], keys)
    rest = np.array(sample.document["nodes"][0]["translation"])
    sample.animate(
        0, "translation", [0.0, 0.5, 1.0], rest + np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.2], [0.0, -0.3, 0.0]])
    )
    sample.animate(node, "translation", [0.0, 0.5, 1.0], [[0, 0, 0], [1, 0, 0], [0.5, 0, 0]])
    return sample


def _quaternion(turn: np.ndarray) -> list[float]:
    from sinew.sim.maths import quaternion

    found: list[float] = quaternion.from_matrix(turn).tolist()
    return found


def strict(sample: Sample) -> Sample:
    """The same, with all that gltf-validator and viewers require: a scene, used extensions and permissions."""
    document = sample.document
    parents = {child for node in document["nodes"] for child in node.get("children", [])}
    document["scenes"] = [{"nodes": [number for number in range(len(document["nodes"])) if number not in parents]}]
    document["scene"] = 0
    extensions = document["extensions"]
    if "VRMC_vrm" in extensions:
        licence = "https://vrm.dev/licenses/1.0/"
        extensions["VRMC_vrm"]["meta"] = {"name": "Ada", "authors": ["Somebody"], "licenseUrl": licence}
        for node in document["nodes"]:  # a bone cannot follow one below it
            node.pop("extensions", None)
        for part in (*document["materials"], *extensions["VRMC_springBone"]["colliders"]):
            for name, extension in part.get("extensions", {}).items():
                if name.startswith("VRMC"):
                    part["extensions"][name] = {"specVersion": "1.0", **extension}
    else:
        extensions["VRM"]["meta"] = {"title": "Ada"}
    colliders = extensions.get("VRMC_springBone", {}).get("colliders", [])
    parts = [document, *document["nodes"], *document["materials"], *colliders]
    document["extensionsUsed"] = sorted({name for part in parts for name in part.get("extensions", {})})
    return sample
