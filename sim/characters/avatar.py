"""A VRM 1.0 file from any humanoid: T-pose, human bones, expressions and permissions.

Source: VRM Consortium, VRMC_vrm 1.0.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.build import build_model
from sinew.sim.assets.faults import ElementFault
from sinew.sim.assets.formats import GltfOptions
from sinew.sim.assets.gltf.vrm import NEW
from sinew.sim.assets.humanoid import FINGERS, REQUIRED, SIDES, SPINE
from sinew.sim.assets.model import CharacterModel, Skeleton
from sinew.sim.assets.raw import LoadWatch, RawModel
from sinew.sim.characters.reference import skin
from sinew.sim.characters.retarget import Body
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.export.gltf import GltfScene
from sinew.sim.export.vrm.file import GlbFile, Json
from sinew.sim.maths import quaternion
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.hierarchy import model_from_local
from sinew.sim.scene.avatar import LICENCE, AvatarMeta, AvatarUser, CommercialUse, Modification

NEEDED = ("hips", "spine", *REQUIRED[1:])
"""Bones that VRM 1.0 requires."""

_EVEN = 1e-3
_AS_VRM = {
    "blink": ("blink", "eyesclosed", "blinkboth"), "blinkLeft": ("blinkleft", "eyeblinkleft", "blinkl", "winkleft"),
    "blinkRight": ("blinkright", "eyeblinkright", "blinkr", "winkright"),
    "aa": ("aa", "a", "vaa", "visemeaa", "mtha", "jawopen", "mouthopen"), "ih": ("ih", "i", "vih", "visemei", "mthi"),
    "ou": ("ou", "u", "vou", "visemeu", "mthu", "mouthpucker"), "ee": ("ee", "e", "ve", "visemee", "mthe"),
    "oh": ("oh", "o", "voh", "visemeo", "mtho", "mouthfunnel"),
    "happy": ("happy", "joy", "smile", "allfun", "alljoy"), "angry": ("angry", "anger", "allangry"),
    "sad": ("sad", "sorrow", "allsorrow"), "relaxed": ("relaxed", "fun"), "surprised": ("surprised", "allsurprised"),
    "lookUp": ("lookup",), "lookDown": ("lookdown",), "lookLeft": ("lookleft",), "lookRight": ("lookright",),
}  # fmt: skip
"""Presets of VRM, and names of morph targets in lower case that mean them alone, the best first."""
_TOGETHER = {
    "blink": ("eyeblinkleft", "eyeblinkright"), "happy": ("mouthsmileleft", "mouthsmileright"),
    "sad": ("mouthfrownleft", "mouthfrownright"), "angry": ("browdownleft", "browdownright"),
    "surprised": ("eyewideleft", "eyewideright"), "lookUp": ("eyelookupleft", "eyelookupright"),
    "lookDown": ("eyelookdownleft", "eyelookdownright"), "lookLeft": ("eyelookoutleft", "eyelookinright"),
    "lookRight": ("eyelookinleft", "eyelookoutright"),
}  # fmt: skip
"""Presets by pairs of morph targets, as ARKit names them."""
_PERMISSIONS = {
    AvatarUser.AUTHOR: "onlyAuthor", AvatarUser.LICENSED: "onlySeparatelyLicensedPerson",
    AvatarUser.EVERYONE: "everyone", CommercialUse.PERSONAL: "personalNonProfit",
    CommercialUse.PERSONAL_PROFIT: "personalProfit", CommercialUse.CORPORATION: "corporation",
    Modification.PROHIBITED: "prohibited", Modification.ALLOWED: "allowModification",
    Modification.REDISTRIBUTED: "allowModificationRedistribution",
}  # fmt: skip
_PREFIXES = ("fcl", "eye", "mth", "all", "bs", "blendshape", "blendshapes", "vrc", "face", "head", "mouth")


@dataclass(frozen=True, slots=True)
class Avatar:
    file: GlbFile
    model: CharacterModel  # As the file is read
    lost: tuple[str, ...]


def expressions_of(model: CharacterModel) -> dict[str, tuple[tuple[str, float], ...]]:
    """Returns morph targets and weights of each expression: of the file, else by the names of the targets."""
    if model.rig.expressions:
        return {one.name: one.weights for one in model.rig.expressions}
    names = model.mesh.targets.settable if model.mesh.targets is not None else ()
    plain: dict[str, str] = {}
    for name in names:
        for form in _forms(name):
            plain.setdefault(form, name)
    found: dict[str, tuple[tuple[str, float], ...]] = {}
    for preset, forms in _AS_VRM.items():
        single = next((plain[form] for form in forms if form in plain), None)
        pair = _TOGETHER.get(preset, ())
        if single is not None:
            found[preset] = ((single, 1.0),)
        elif pair and all(form in plain for form in pair):
            found[preset] = tuple((plain[form], 1.0) for form in pair)
    return found


def _forms(name: str) -> Iterator[str]:
    """Yields a name in lower case without separators, then without common prefixes."""
    words = [word for word in "".join(c if c.isalnum() else " " for c in name).lower().split() if word]
    yield "".join(words)
    while len(words) > 1 and words[0] in _PREFIXES:
        words = words[1:]
        yield "".join(words)


def faults_of(model: CharacterModel, bones: Mapping[str, int]) -> str:
    """Returns one line why a model cannot become an avatar, or ""."""
    if model.skeleton is None or model.skin is None or not model.mesh.triangle_count:
        return "needs a skeleton and a mesh that it moves"
    missing = [bone for bone in NEEDED if bone not in bones]
    if missing:
        return f"VRM requires the bones {', '.join(missing)}; choose them in the Humanoid Map"
    scales = model.skeleton.bind_scales
    uneven = (np.ptp(scales, axis=1) > _EVEN * np.abs(scales).max(axis=1)) | (scales.min(axis=1) <= 0.0)
    if uneven.any():
        joint = int(np.argmax(uneven))
        scale = ", ".join(f"{part:.4g}" for part in scales[joint])
        return f"bone {model.skeleton.names[joint]}: has scale {scale}; VRM needs equal positive scales"
    for bone, joint in bones.items():
        above = _above(bone, bones)
        if above and not model.skeleton.below([bones[above]])[joint]:
            return f"bone {model.skeleton.names[joint]}: {bone} must be below {above} in VRM"
    return ""


def _above(bone: str, bones: Mapping[str, int]) -> str:
    """Returns the nearest bone of VRM above one, "" for the hips."""
    side = next((side for side in SIDES if bone.startswith(side)), "")
    limb, order = bone.removeprefix(side), [*SPINE, "neck", "head"]
    chains = [["UpperLeg", "LowerLeg", "Foot", "Toes"], ["Shoulder", "UpperArm", "LowerArm", "Hand"]]
    chains += [["Hand", *(f"{finger}{joint}" for joint in joints)] for finger, joints in FINGERS.items()]
    candidates: list[str] = []
    if bone in order:
        candidates = order[: order.index(bone)]
    elif limb in ("jaw", "Eye"):
        candidates = ["head"]
    for chain in chains if side else ():
        if limb in chain[1:] or (limb in chain and limb != "Hand"):
            candidates = [f"{side}{one}" for one in chain[: chain.index(limb)]]
            candidates = [*SPINE, *candidates] if chain[0] == "Shoulder" else candidates
    return next((one for one in reversed(candidates) if one in bones), "" if bone == "hips" else "hips")


def t_pose(body: Body) -> Float64:
    """Returns local orientations (B, 4) with arms, hands and fingers sideways and palms down; legs and thumbs stay."""
    skeleton, bones, frame = body.skeleton, body.bones, body.frame()
    rotations = _rotations(skeleton)
    points = skeleton.model_from_bind[:, :3, 3].copy()
    turned = np.zeros(skeleton.joint_count, bool)

    def turn(joint: int, rotation: Float64) -> None:
        below = skeleton.below([joint])
        points[below] = points[joint] + (points[below] - points[joint]) @ rotation.T
        rotations[below] = rotation @ rotations[below]
        turned[below] = True

    def aim(joint: int, aims: Sequence[int], target: Float64) -> None:
        direction = points[list(aims)].mean(axis=0) - points[joint] if len(aims) else np.zeros(3)
        if np.linalg.norm(direction) > 0.0:
            turn(joint, _arc(direction, target))

    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        across = sign * frame[:, 0]
        arm = [bones[f"{side}{bone}"] for bone in ("UpperArm", "LowerArm", "Hand")]
        roots = [
            bones[name] for finger in FINGERS if (name := f"{side}{finger}Proximal") in bones and finger != "Thumb"
        ]
        aim(arm[0], [arm[1]], across)
        aim(arm[1], [arm[2]], across)
        aim(arm[2], roots, across)
        if len(roots) > 1:
            angle = _twist(points[roots[0]] - points[roots[-1]], frame[:, 2], across)
            for joint in arm[1:]:
                turn(joint, quaternion.to_matrix(quaternion.from_axis_angle(across, 0.5 * angle)))
        for finger, joints in FINGERS.items():
            chain = [bones[name] for joint in joints if (name := f"{side}{finger}{joint}") in bones]
            for joint in chain if finger != "Thumb" else ():
                aim(joint, np.flatnonzero(skeleton.parents == joint).tolist(), across)
    found = skeleton.bind_orientations.copy()
    for joint in np.flatnonzero(turned).tolist():
        parent = int(skeleton.parents[joint])
        above = np.eye(3) if parent < 0 else rotations[parent]
        found[joint] = quaternion.from_matrix(above.T @ rotations[joint])
    return found


def _rotations(skeleton: Skeleton) -> Float64:
    found: Float64 = model_from_local(quaternion.to_matrix(skeleton.bind_orientations), skeleton.hierarchy)
    return found.copy()


def _arc(one: Float64, other: Float64) -> Float64:
    a, b = one / np.linalg.norm(one), other / np.linalg.norm(other)
    cosine = float(a @ b)
    if cosine < -1.0 + 1e-12:
        axis = np.cross(a, np.eye(3)[np.argmin(np.abs(a))])
        return quaternion.to_matrix(quaternion.from_axis_angle(axis, np.pi))
    return quaternion.to_matrix(quaternion.normalised(np.append(np.cross(a, b), 1.0 + cosine)))


def _twist(direction: Float64, target: Float64, axis: Float64) -> float:
    """Returns the angle about an axis from a direction to a target [rad]."""
    flat = direction - axis * (axis @ direction)
    return float(np.arctan2(axis @ np.cross(flat, target), flat @ target))


def humanoid_vrm(
    raw: RawModel, model: CharacterModel, body: Body, meta: AvatarMeta, *, unit_scale: float, thumbnail: bytes = b""
) -> Avatar:
    """Returns a VRM 1.0 without springs.

    Args:
        raw: Source of the model.
        body: With the bones that the user has chosen, and the axis that points up.
        thumbnail: A square PNG, or nothing.

    Raises:
        ElementFault: If bones or permissions are missing.
    """
    fault = faults_of(model, body.bones)
    if fault:
        raise ElementFault("", fault)
    if meta.missing:
        raise ElementFault("", f"VRM requires {', '.join(meta.missing)}")
    skeleton, lost = body.skeleton, []
    if model.clips:
        lost.append("Animations.")
    if model.cameras:
        lost.append("Cameras.")
    if any(material.toon is not None for material in model.materials):
        lost.append("Toon shading; materials are written as metal and roughness.")
    plain = replace(
        model, skeleton=replace(skeleton, bind_orientations=t_pose(body)), clips=(), cameras=(),
        default_up_axis="Y", mesh=replace(model.mesh, tangents=None),
    )  # fmt: skip
    scene = GltfScene()
    roots = scene.add_model(plain, replace(raw, clips=[], cameras=[]))
    nodes: list[Json] = scene.document()["nodes"]
    held = [root for root in roots if "mesh" not in nodes[root]]
    turn = quaternion.from_matrix(body.frame().T).tolist()
    root = scene.put("nodes", {"name": "avatar", "rotation": turn, "scale": [unit_scale] * 3, "children": held})
    scene.show([root, *(number for number in roots if number not in held)])
    document = scene.document()
    vrm = {
        "specVersion": "1.0",
        "meta": _meta(meta, _thumbnail(scene, document, thumbnail)),
        "humanoid": {"humanBones": {bone: {"node": joint} for bone, joint in body.bones.items()}},
    }
    if presets := _expressions(document, expressions_of(model)):
        vrm["expressions"] = {"preset": presets}
    document["extensions"] = {NEW: vrm}
    document["extensionsUsed"] = [*document.get("extensionsUsed", []), NEW]
    file = GlbFile(scene.chunk.file(document))
    file.change("nodes", root, translation=_to_ground(read_back(file.written(), model.path), body.bones).tolist())
    return Avatar(file, read_back(file.written(), model.path), (*lost, *scene.materials.lost))


def read_back(data: bytes, path: Path) -> CharacterModel:
    """Returns a model as a glTF file holds it."""
    from sinew.sim.assets.gltf.reader import read_gltf

    return build_model(read_gltf(data, path, LoadWatch(), GltfOptions()))


def _to_ground(model: CharacterModel, bones: Mapping[str, int]) -> Float64:
    """Returns the translation that puts the soles on the ground and the hips above the origin [m]."""
    assert model.skeleton is not None and model.skin is not None  # noqa: PT018
    pose = evaluate_pose(model, None, 0.0)
    points = skin(model.mesh, model.skin, pose.palette, SkinningMethod.LBS, pose.centres).positions
    feet = model.skeleton.below([bones[f"{side}Foot"] for side in SIDES])[model.skin.strongest]
    hips = model.skeleton.model_from_bind[bones["hips"], :3, 3]
    lowest = float(points[feet, 1].min() if feet.any() else points[:, 1].min())
    return np.array([-hips[0], -lowest, -hips[2]])


def _thumbnail(scene: GltfScene, document: Json, data: bytes) -> int | None:
    if not data:
        return None
    images = document.setdefault("images", [])
    images.append({"name": "thumbnail", "mimeType": "image/png", "bufferView": scene.chunk.view(data)})
    return len(images) - 1


def _meta(meta: AvatarMeta, thumbnail: int | None) -> Json:
    found: Json = {
        "name": meta.name.strip(), "authors": meta.author_list, "licenseUrl": LICENCE,
        "avatarPermission": _PERMISSIONS[meta.user], "allowExcessivelyViolentUsage": meta.violent,
        "allowExcessivelySexualUsage": meta.sexual, "commercialUsage": _PERMISSIONS[meta.commercial],
        "allowPoliticalOrReligiousUsage": meta.political, "allowAntisocialOrHateUsage": meta.antisocial,
        "creditNotation": meta.credit.value, "allowRedistribution": meta.redistribution,
        "modification": _PERMISSIONS[meta.modification],
    }  # fmt: skip
    texts = {
        "version": meta.version, "copyrightInformation": meta.copyright, "contactInformation": meta.contact,
        "thirdPartyLicenses": meta.third_party, "otherLicenseUrl": meta.other_licence,
    }  # fmt: skip
    found |= {name: text.strip() for name, text in texts.items() if text.strip()}
    return found if thumbnail is None else {**found, "thumbnailImage": thumbnail}


def _expressions(document: Json, expressions: Mapping[str, Sequence[tuple[str, float]]]) -> Json:
    """Returns presets with the morph targets of the nodes that have them."""
    targets = [
        (number, document["meshes"][node["mesh"]].get("extras", {}).get("targetNames", []))
        for number, node in enumerate(document["nodes"])
        if "mesh" in node
    ]
    found = {}
    for name, weights in expressions.items():
        binds = [
            {"node": node, "index": names.index(target), "weight": min(max(weight, 0.0), 1.0)}
            for target, weight in weights
            for node, names in targets
            if target in names
        ]
        if binds and name in (*_AS_VRM, "neutral"):
            found[name] = {"morphTargetBinds": binds}
    return found
