"""VRM files: springs in the same file, everything else as it was; VRM 1.0 from a humanoid."""

import contextlib
import itertools
import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import sinew
from sinew import resources
from sinew.app.cli.main import main
from sinew.app.jobs.avatar import AvatarSource, avatar_file
from sinew.app.project.digest import digest_of
from sinew.app.project.model_scene import scene_of_model
from sinew.app.project.project_file import load_project, save_project
from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.gltf.file import split_file
from sinew.sim.assets.humanoid import bones_of
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel
from sinew.sim.assets.raw import ModelError
from sinew.sim.assets.rig import SpringCollider, SpringColliderShape
from sinew.sim.characters.avatar import expressions_of
from sinew.sim.characters.reference import skin
from sinew.sim.characters.settings import SkinningMethod, model_settings
from sinew.sim.colliders.state import ColliderShape
from sinew.sim.export.vrm.file import GlbFile
from sinew.sim.export.vrm.springs import collider_record, sphere_row
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.springs.chains import chains_of, joint_values
from sinew.sim.kinds.springs.settings import SpringBoneSettings
from sinew.sim.kinds.springs.vrm import capsule_of
from sinew.sim.maths import quaternion
from sinew.sim.scene.avatar import LICENCE, AvatarMeta, CommercialUse
from sinew.sim.scene.curves import Curve, Key
from sinew.sim.scene.params import Settings
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view_state import ViewState
from tests.gltf_samples import Sample
from tests.json_schema import complaints
from tests.vrm_samples import BONES, HAIR, old_vrm, person, strict, vrm

META = AvatarMeta(name="Ada", authors="A. Author; B. Writer", accept_licence=True)
OWN = SpringBoneSettings(
    roots="hair 0", stiffness=0.5, gravity=0.3, direction=(0.0, -2.0, 0.0), drag=0.25, radius=0.03, tail_length=0.1,
    center="head", stiffness_curve=((0.0, 1.0), (1.0, 0.5)), substeps=4,
)  # fmt: skip


def source_of(sample: Sample, folder: Path, *more: Settings, bone: str = "", **changes: Any) -> AvatarSource:
    """A scene with the model of a sample, its own springs if none are given, and more objects on it."""
    path = folder / "Ada.vrm"
    path.write_bytes(sample.data())
    model = load_model(path)
    scene = scene_of_model(path, model)
    nodes = [scene.nodes[0]] if more else list(scene.nodes)
    for number, settings in enumerate(more):
        on = bone if isinstance(settings, ColliderSettings) else ""
        name = f"{settings.kind} {number}"
        attachment = Attachment(node=nodes[0].id, bone=on)
        nodes.append(Node(id=name, name=name, settings=settings, attachment=attachment))
    nodes[1:] = [msgspec.structs.replace(node, **changes) for node in nodes[1:]]
    return AvatarSource(Scene(nodes=tuple(nodes)), nodes[0].id, model, 0.5, digest_of(path.read_bytes()))


def parts_of(data: bytes) -> tuple[dict[str, Any], bytes]:
    text, binary = split_file(data)
    return json.loads(text), bytes(binary or b"")


def leaves(value: Any, place: str = "") -> dict[str, Any]:
    if isinstance(value, dict):
        return {k: v for name, part in value.items() for k, v in leaves(part, f"{place}.{name}").items()}
    if isinstance(value, list):
        return {k: v for i, part in enumerate(value) for k, v in leaves(part, f"{place}[{i}]").items()}
    return {place: value}


@pytest.mark.parametrize("make", [vrm, old_vrm])
def test_without_an_edit_every_byte_stays(make: Any, tmp_path: Path) -> None:
    source = source_of(make(), tmp_path)
    data, lost = avatar_file(source, AvatarMeta())
    assert data == source.path.read_bytes()
    assert lost == ["Viewers simulate at their own frame rate."]


def test_files_of_other_programs_stay_as_they_are(assets: Path) -> None:
    for path in sorted((assets / "vrm").glob("*.vrm")):
        try:
            model = load_model(path)
        except ModelError:  # needs another package
            continue
        scene = scene_of_model(path, model)
        data, _ = avatar_file(AvatarSource(scene, scene.nodes[0].id, model, 0.0), AvatarMeta())
        assert data == path.read_bytes(), path.name


@pytest.mark.parametrize("make", [vrm, old_vrm])
def test_one_changed_stiffness_changes_one_number(make: Any, tmp_path: Path) -> None:
    settings = SpringBoneSettings(from_file=True, collide=False, stiffness_factor=1.5)
    source = source_of(strict(make()), tmp_path, settings)
    data, _ = avatar_file(source, AvatarMeta())
    (before, binary), (after, same) = parts_of(source.path.read_bytes()), parts_of(data)
    old, new = leaves(before), leaves(after)
    changed = {place: (old.get(place), value) for place, value in new.items() if old.get(place) != value}
    assert old.keys() <= new.keys()
    assert binary == same
    stiffness = [pair for place, pair in changed.items() if "stiff" in place]
    assert stiffness[0] == (2.0, 3.0)
    assert len(changed) == len(stiffness) == (1 if make is old_vrm else 2), "a default of the second joint is written"


@pytest.mark.parametrize("make", [vrm, old_vrm])
def test_springs_and_colliders_are_read_as_they_were_written(make: Any, tmp_path: Path) -> None:
    is_old = make is old_vrm
    settings = OWN
    if is_old:
        settings = msgspec.structs.replace(OWN, tail_length=0.07, stiffness_curve=((0.0, 1.0), (1.0, 1.0)))
    ball = ColliderSettings(shape=ColliderShape.SPHERE, radius=0.2)
    capsule = ColliderSettings(shape=ColliderShape.CAPSULE, radius=0.1, length=0.3)
    source = source_of(make(), tmp_path, settings, ball, capsule, bone="head")
    nodes = [
        msgspec.structs.replace(node, transform=Transform(position=(0.1, 0.2, 0.05), rotation=(0.0, 0.0, 30.0)))
        if node.kind == "collider"
        else node
        for node in source.scene.nodes
    ]
    source = AvatarSource(msgspec.structs.replace(source.scene, nodes=tuple(nodes)), source.node, source.model, 0.5)
    data, lost = avatar_file(source, AvatarMeta())
    target = tmp_path / "out.vrm"
    target.write_bytes(data)
    model = load_model(target)
    here, there = chains_of(source.model, settings, 1.0), chains_of(model, SpringBoneSettings(from_file=True), 1.0)
    assert here is not None and there is not None  # noqa: PT018
    assert there.joints.tolist() == here.joints.tolist()
    assert set(there.centers.tolist()) == {BONES.index("head")}
    once = msgspec.structs.replace(settings, substeps=1)
    np.testing.assert_allclose(
        joint_values(there, SpringBoneSettings(from_file=True)), joint_values(here, once), atol=1e-6
    )
    tips = [
        model.skeleton.bind_positions[tail] if tail >= 0 else offset  # type: ignore[union-attr]
        for tail, offset in zip(there.tails.tolist(), there.offsets, strict=True)
    ]
    for joint, tip in zip(here.joints.tolist(), tips, strict=True):
        row = here.joints.tolist().index(joint)
        rest = source.model.skeleton.bind_positions[here.tails[row]] if here.tails[row] >= 0 else here.offsets[row]  # type: ignore[union-attr]
        np.testing.assert_allclose(tip, rest, atol=1e-6)
    assert all(met for met in there.met)
    first, second, *row = model.rig.colliders
    np.testing.assert_allclose(first.offset, (0.1, 0.2, 0.05), atol=1e-6)
    place, axis = np.array([0.1, 0.2, 0.05]), 0.15 * np.array([-0.5, np.sqrt(0.75), 0.0])
    np.testing.assert_allclose(second.offset, place - axis, atol=1e-6)
    if is_old:
        assert len(row) == 6, "half a radius apart: 7 spheres"
        np.testing.assert_allclose(row[-1].offset, place + axis, atol=1e-6)
        assert any("7 spheres" in line for line in lost)
    else:
        np.testing.assert_allclose(second.tail, place + axis, atol=1e-6)
        assert (first.radius, second.radius) == (0.2, 0.1)
    assert any(line.startswith("Substeps of springs 0") for line in lost)
    assert any("own springs (1)" in line for line in lost)
    again, _ = avatar_file(AvatarSource(scene_of_model(target, model), "model-1", model, 0.0), AvatarMeta())
    assert again == data, "a second time nothing changes"


def test_everything_without_an_equivalent_is_reported(tmp_path: Path) -> None:
    box, egg = ColliderSettings(shape=ColliderShape.BOX), ColliderSettings(shape=ColliderShape.ELLIPSOID)
    source = source_of(vrm(), tmp_path, msgspec.structs.replace(OWN, center="leftHand"), box, egg, bone="head")
    loose = Node(id="p", name="Floor", settings=ColliderSettings(shape=ColliderShape.PLANE))
    keyed = (Curve(part="springs", field="drag", keys=(Key(0.0, 0.2), Key(1.0, 0.4))),)
    nodes = [msgspec.structs.replace(n, curves=keyed) if n.kind == "springs" else n for n in source.scene.nodes]
    muted = Node(id="q", name="Quiet", muted=True, settings=OWN, attachment=Attachment(node=source.node))
    scene = msgspec.structs.replace(source.scene, nodes=(*nodes, loose, muted))
    data, lost = avatar_file(AvatarSource(scene, source.node, source.model, 0.5), AvatarMeta())
    text = "\n".join(lost)
    for part in ("Muted spring bones: Quiet", "Keys of springs 0: the values at 0.5 s", "no bone of the model: Floor",
                 "Boxes and skins that collide: collider 1", "collider 2: an ellipsoid becomes a capsule",
                 "center bone leftHand is not above hair 0", "1 branch becomes a spring"):  # fmt: skip
        assert part in text, part
    joints = parts_of(data)[0]["extensions"]["VRMC_springBone"]["springs"][0]["joints"]
    assert joints[0]["dragForce"] == pytest.approx(0.3)


def test_an_old_file_reports_what_its_groups_cannot_store(tmp_path: Path) -> None:
    plane = ColliderSettings(shape=ColliderShape.PLANE)
    source = source_of(old_vrm(), tmp_path, msgspec.structs.replace(OWN, end_bones="hair 2"), plane, bone="head")
    data, lost = avatar_file(source, AvatarMeta())
    text = "\n".join(lost)
    for part in ("hair 0: VRM 0.x has one stiffness for all bones; the mean, 0.3333, is up to 0.1667 away",
                 "hair 0: VRM 0.x has no end bones; 1 bone below also swings",
                 "hair 0: last bones have a length of 0.07 m",
                 "VRM 0.x has no planes and no inside colliders: collider 1"):  # fmt: skip
        assert part in text, (part, text)
    (group,) = parts_of(data)[0]["extensions"]["VRM"]["secondaryAnimation"]["boneGroups"]
    assert group["stiffiness"] == pytest.approx(1.0 / 3.0)
    assert (group["gravityPower"], group["gravityDir"]) == (pytest.approx(0.6), {"x": 0.0, "y": -1.0, "z": 0.0})


def test_unknown_parts_of_a_joint_survive(tmp_path: Path) -> None:
    sample = vrm()
    limit = {"VRMC_springBone_limit": {"specVersion": "1.0-draft", "limit": {"cone": {"angle": 0.5}}}}
    sample.document["extensions"]["VRMC_springBone"]["springs"][0]["joints"][0] |= {"extensions": limit, "other": 1}
    settings = SpringBoneSettings(from_file=True, collide=False, drag_factor=0.5)
    data, _ = avatar_file(source_of(sample, tmp_path, settings), AvatarMeta())
    joint = parts_of(data)[0]["extensions"]["VRMC_springBone"]["springs"][0]["joints"][0]
    assert (joint["extensions"], joint["other"], joint["dragForce"]) == (limit, 1, 0.15)


def test_numbers_of_other_members_keep_their_text() -> None:
    data = vrm().data()
    text, binary = split_file(data)
    text = text.rstrip().replace(b'"specVersion": "1.0", "humanoid"', b'"specVersion": "1.0", "odd": 1.50, "humanoid"')
    import struct

    text += b" " * (-len(text) % 4)
    rest = struct.pack("<2I", len(binary or b""), 0x004E4942) + bytes(binary or b"")
    whole = struct.pack("<4s4I", b"glTF", 2, 20 + len(text) + len(rest), len(text), 0x4E4F534A) + text + rest
    file = GlbFile(whole + b"")
    file.set_extension("VRMC_springBone", None)
    made = file.written()
    assert b'"odd": 1.50,' in made
    assert made.endswith(rest)
    assert "VRMC_springBone" not in parts_of(made)[0]["extensions"]


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        ((b'"stiffness": 2.0', b'"stiffness": "a"'), "stiffness"),
        ((b'"stiffness": 2.0', b'"stiffness": 2.0, "stiffness": 2.0'), "there twice"),
        ((b'"joints": [', b'"joints": 3, "x": ['), "joints"),
    ],
)
def test_damaged_files_are_refused_in_one_line(damage: tuple[bytes, bytes], reason: str, tmp_path: Path) -> None:
    source = source_of(vrm(), tmp_path)
    text, _ = split_file(source.path.read_bytes())
    assert damage[0] in text
    sample = vrm()
    changed = text.replace(*damage)
    data = sample.chunk.file(sample.document)
    head = data[:12] + len(changed + b" " * (-len(changed) % 4)).to_bytes(4, "little") + data[16:20]
    body = head + changed + b" " * (-len(changed) % 4) + data[20 + len(text) :]
    source.path.write_bytes(body[:8] + len(body).to_bytes(4, "little") + body[12:])
    with pytest.raises(ModelError, match=reason) as refused:
        avatar_file(AvatarSource(source.scene, source.node, source.model, 0.0), AvatarMeta())
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("make", [vrm, old_vrm])
def test_any_damage_ends_in_a_refusal_or_a_file(make: Any, tmp_path: Path) -> None:
    source, random = source_of(make(), tmp_path), np.random.default_rng(7)
    whole = source.path.read_bytes()
    for _ in range(60):
        data = bytearray(whole)
        for place in random.integers(12, len(data), 3):
            data[place] = int(random.integers(0, 256))
        source.path.write_bytes(bytes(data[: int(random.integers(20, len(data)))]) if random.random() < 0.3 else data)
        with contextlib.suppress(ModelError):
            avatar_file(AvatarSource(source.scene, source.node, source.model, 0.0), AvatarMeta())


def test_a_file_that_changed_on_disk_is_refused(tmp_path: Path) -> None:
    source = source_of(vrm(), tmp_path)
    source.path.write_bytes(old_vrm().data())
    with pytest.raises(ModelError, match="changed on disk"):
        avatar_file(source, AvatarMeta())


def test_colliders_have_the_fallbacks_of_their_extension() -> None:
    plane = SpringCollider(3, SpringColliderShape.PLANE, (0.0, 1.0, 0.0), (0.0, 2.0, 0.0))
    record = collider_record(plane)
    assert record["shape"] == {"sphere": {"offset": [0.0, -999.0, 0.0], "radius": 1000.0}}
    assert record["extensions"]["VRMC_springBone_extended_collider"]["shape"]["plane"]["normal"] == [0.0, 1.0, 0.0]
    inside = SpringCollider(3, SpringColliderShape.SPHERE, (1.0, 0.0, 0.0), radius=0.5, is_inside=True)
    assert collider_record(inside)["shape"] == {"sphere": {"offset": [0.0, -10000.0, 0.0], "radius": 0.0}}
    assert sphere_row(plane) == sphere_row(inside) == []


def test_the_capsule_of_an_ellipsoid_is_near() -> None:
    axis, radius, half, error = capsule_of(np.array([0.1, 0.3, 0.1]))
    assert (axis, radius) == (1, pytest.approx(0.1))
    assert 0.15 < half < 0.2
    assert error < 0.03
    assert capsule_of(np.array([0.2, 0.2, 0.2]))[1:] == (pytest.approx(0.2), 0.0, pytest.approx(0.0, abs=1e-12))


# --- VRM 1.0 from a humanoid ----------------------------------------------------------------------------------------

TEXT, NUMBER, FLAG = {"type": "string"}, {"type": "number"}, None
SCHEMA: dict[str, Any] = {
    "type": "object", "required": ["specVersion", "meta", "humanoid"],
    "properties": {
        "specVersion": {"const": "1.0"},
        "meta": {
            "type": "object", "required": ["name", "authors", "licenseUrl"],
            "properties": {
                "name": {"type": "string", "minLength": 1}, "licenseUrl": {"const": LICENCE},
                "authors": {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}},
                "avatarPermission": {"enum": ["onlyAuthor", "onlySeparatelyLicensedPerson", "everyone"]},
                "commercialUsage": {"enum": ["personalNonProfit", "personalProfit", "corporation"]},
                "creditNotation": {"enum": ["required", "unnecessary"]},
                "modification": {"enum": ["prohibited", "allowModification", "allowModificationRedistribution"]},
                "thumbnailImage": {"type": "integer", "minimum": 0},
                **{name: {"enum": [True, False]} for name in (
                    "allowExcessivelyViolentUsage", "allowExcessivelySexualUsage", "allowPoliticalOrReligiousUsage",
                    "allowAntisocialOrHateUsage", "allowRedistribution")},
                **dict.fromkeys(("version", "copyrightInformation", "contactInformation", "thirdPartyLicenses",
                                 "otherLicenseUrl"), TEXT),
            },
            "additionalProperties": False,
        },
        "humanoid": {"type": "object", "required": ["humanBones"], "properties": {"humanBones": {
            "type": "object",
            "required": ["hips", "spine", "head", *(f"{side}{bone}" for side in ("left", "right") for bone in (
                "UpperLeg", "LowerLeg", "Foot", "UpperArm", "LowerArm", "Hand"))],
            "additionalProperties": {"type": "object", "required": ["node"], "properties": {
                "node": {"type": "integer", "minimum": 0}}, "additionalProperties": False}}}},
        "expressions": {"type": "object", "properties": {"preset": {"type": "object", "additionalProperties": {
            "type": "object", "properties": {"morphTargetBinds": {"type": "array", "items": {
                "type": "object", "required": ["node", "index", "weight"],
                "properties": {"node": {"type": "integer", "minimum": 0}, "index": {"type": "integer", "minimum": 0},
                               "weight": {"type": "number", "minimum": 0}}}}}}}}},
    },
    "additionalProperties": False,
}  # fmt: skip
"""The members of VRMC_vrm 1.0 that are written."""


def a_posed(folder: Path, size: float = 1.0) -> tuple[AvatarSource, CharacterModel]:
    """A person whose joints are turned so that the arms hang; `size` is the number of units of a metre."""
    sample = person(size=size)
    for side, sign in (("left", -1.0), ("right", 1.0)):
        node = sample.document["nodes"][BONES.index(f"{side}UpperArm")]
        node["rotation"] = quaternion.from_axis_angle([0.1, 0.2, 1.0], np.radians(sign * 50.0)).tolist()
    sample.document["meshes"][0]["extras"] = {"targetNames": ["eyeBlinkLeft", "mouth_A", "jawOpen"]}
    path = folder / "Ada.glb"
    path.write_bytes(sample.data())
    model = load_model(path)
    scene = scene_of_model(path, model)
    settings = msgspec.structs.replace(model_settings(scene.nodes[0]), unit_scale=1.0 / size)
    scene = Scene(nodes=(msgspec.structs.replace(scene.nodes[0], settings=settings),))
    return AvatarSource(scene, scene.nodes[0].id, model, 0.0), model


def test_a_humanoid_becomes_an_avatar_in_t_pose(tmp_path: Path) -> None:
    source, _ = a_posed(tmp_path)
    meta = msgspec.structs.replace(META, commercial=CommercialUse.CORPORATION, version="3", political=True)
    source = AvatarSource(source.scene, source.node, source.model, 0.0, thumbnail=b"\x89PNG")
    data, _ = avatar_file(source, meta)
    document, _ = parts_of(data)
    stored = document["extensions"]["VRMC_vrm"]
    assert complaints(stored, SCHEMA) == []
    assert stored["meta"]["authors"] == ["A. Author", "B. Writer"]
    assert document["images"][stored["meta"]["thumbnailImage"]]["name"] == "thumbnail"
    assert "animations" not in document
    target = tmp_path / "Ada.vrm"
    target.write_bytes(data)
    model = load_model(target)
    assert model.skeleton is not None
    bones, points = bones_of(model), model.skeleton.model_from_bind[:, :3, 3]
    for side, sign in (("left", 1.0), ("right", -1.0)):
        for upper, lower in (("UpperArm", "LowerArm"), ("LowerArm", "Hand")):
            arm = points[bones[f"{side}{lower}"]] - points[bones[f"{side}{upper}"]]
            assert np.degrees(np.arccos(sign * arm[0] / np.linalg.norm(arm))) < 0.1
    assert np.allclose(points[bones["hips"]][[0, 2]], 0.0, atol=1e-6)
    assert {one.name: one.weights for one in model.rig.expressions} == {
        "blinkLeft": (("eyeBlinkLeft", 1.0),), "aa": (("mouth_A", 1.0),)
    }  # fmt: skip


def test_the_sample_humanoid_stands_on_the_ground(tmp_path: Path) -> None:
    path = resources.path("models") / "humanoid" / "humanoid.ezm"
    model = load_model(path)
    scene = scene_of_model(path, model)
    data, lost = avatar_file(AvatarSource(scene, scene.nodes[0].id, model, 0.0), META)
    assert "Animations." in lost
    target = tmp_path / "a.vrm"
    target.write_bytes(data)
    made = load_model(target)
    assert made.skeleton is not None
    pose = evaluate_pose(made, None, 0.0)
    points = skin(made.mesh, made.skin, pose.palette, SkinningMethod.LBS, pose.centres).positions
    assert abs(points[:, 1].min()) < 1e-3
    places, bones = made.skeleton.model_from_bind[:, :3, 3], bones_of(made)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        chain = [places[bones[f"{side}{bone}"]] for bone in ("UpperArm", "LowerArm", "Hand")]
        for one, other in itertools.pairwise(chain):
            assert np.degrees(np.arccos(sign * (other - one)[0] / np.linalg.norm(other - one))) < 0.1
        assert places[bones[f"{side}IndexProximal"]][2] > places[bones[f"{side}LittleProximal"]][2], "palms down"
    toes, feet = (places[bones[f"left{bone}"]] for bone in ("Toes", "Foot"))
    assert toes[2] > feet[2], "faces +z"


def test_missing_bones_and_permissions_are_named(tmp_path: Path) -> None:
    source, model = a_posed(tmp_path)
    with pytest.raises(ModelError, match="VRM requires name, authors, accept_licence"):
        avatar_file(source, AvatarMeta())
    settings = msgspec.structs.replace(source.settings, humanoid=(("spine", ""),))
    node = msgspec.structs.replace(source.scene.nodes[0], settings=settings)
    with pytest.raises(ModelError, match="requires the bones spine"):
        avatar_file(AvatarSource(Scene(nodes=(node,)), node.id, model, 0.0), META)


def test_expressions_are_found_by_the_names_of_morph_targets(tmp_path: Path) -> None:
    sample = person()
    sample.document["meshes"][0]["extras"] = {"targetNames": ["Fcl_MTH_A", "mouthSmileLeft", "mouthSmileRight"]}
    (tmp_path / "a.glb").write_bytes(sample.data())
    found = expressions_of(load_model(tmp_path / "a.glb"))
    assert found == {
        "aa": (("Fcl_MTH_A", 1.0),), "happy": (("mouthSmileLeft", 1.0), ("mouthSmileRight", 1.0))
    }  # fmt: skip


@pytest.mark.parametrize("size", [1.0, 100.0])
def test_springs_of_an_avatar_are_in_metres(size: float, tmp_path: Path) -> None:
    source, model = a_posed(tmp_path, size)
    springs = Node(id="s", name="Hair", attachment=Attachment(node=source.node), settings=OWN)
    ball = Node(id="c", name="Ball", attachment=Attachment(node=source.node, bone="head"), transform=Transform(
        position=(0.1, 0.0, 0.0)), settings=ColliderSettings(shape=ColliderShape.SPHERE, radius=0.2))  # fmt: skip
    scene = msgspec.structs.replace(source.scene, nodes=(*source.scene.nodes, springs, ball))
    data, _ = avatar_file(AvatarSource(scene, source.node, model, 0.0), META)
    target = tmp_path / "Ada.vrm"
    target.write_bytes(data)
    made = load_model(target)
    assert [spring.name for spring in made.rig.springs] == ["hair 0", "hair 3"]
    assert made.rig.springs[0].joints[0].joint == HAIR
    assert made.skeleton is not None
    places = made.skeleton.model_from_bind[:, :3, 3]
    assert places[made.skeleton.index("head"), 1] - places[made.skeleton.index("hips"), 1] == pytest.approx(
        0.6, abs=1e-6
    )
    tail = made.skeleton.index("hair 2_end")
    assert np.linalg.norm(places[tail] - places[made.skeleton.index("hair 2")]) == pytest.approx(0.1, abs=1e-6)
    (collider,) = made.rig.colliders
    head = made.skeleton.model_from_bind[collider.joint]
    np.testing.assert_allclose(head[:3, :3] @ collider.offset, (0.1, 0.0, 0.0), atol=1e-6)
    assert (collider.radius, made.rig.springs[0].joints[0].radius) == (0.2, 0.03)


# --- command line, Python and projects ------------------------------------------------------------------------------


def test_the_command_reports_what_is_left_out_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = tmp_path / "Ada.vrm", tmp_path / "out.vrm"
    source.write_bytes(vrm().data())
    assert main(["export", str(source), "--output", str(target)]) == 0
    assert target.read_bytes() == source.read_bytes()
    out, err = capsys.readouterr()
    assert "not in the file: Viewers simulate at their own frame rate." in err
    assert out.startswith(f"{target}: Ada, ")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--frames", "0:3"], "--frames: a VRM file has no animation"),
        (["--rate", "30"], "--rate: a VRM file has no animation"),
        (["--node", "Bob"], "--node names one character; there are: Ada"),
        (["--option", "nmae=x"], "VRM avatar has no option 'nmae'"),
        (["--option", "user=me"], "user"),
        ([], "VRM requires name, authors, accept_licence"),
    ],
)
def test_the_command_refuses_in_one_line(
    words: list[str], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "Ada.glb", tmp_path / "out.vrm"
    source.write_bytes(person().data())
    assert main(["export", str(source), "--output", str(target), *words]) == 1
    (line,) = [one for one in capsys.readouterr().err.splitlines() if "warning" not in one]
    assert reason in line
    assert not target.exists()


def test_the_file_of_the_scene_is_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "Ada.vrm"
    source.write_bytes(vrm().data())
    assert main(["export", str(source), "--output", str(source)]) == 1
    assert "choose another name" in capsys.readouterr().err


def test_a_project_stores_the_permissions(tmp_path: Path) -> None:
    source, _ = a_posed(tmp_path)
    meta = msgspec.structs.replace(META, thumbnail=False, commercial=CommercialUse.CORPORATION)
    settings = msgspec.structs.replace(source.settings, avatar=(meta,))
    node = msgspec.structs.replace(source.scene.nodes[0], settings=settings)
    project, target = tmp_path / "a.sinew", tmp_path / "out.vrm"
    save_project(project, Scene(nodes=(node,)), ViewState())
    assert load_project(project).scene.nodes[0].settings == settings
    assert main(["export", str(project), "--output", str(target), "--option", "version=2"]) == 0
    found = parts_of(target.read_bytes())[0]["extensions"]["VRMC_vrm"]["meta"]
    assert (found["commercialUsage"], found["version"], found["name"]) == ("corporation", "2", "Ada")
    with sinew.open(project) as opened:
        opened.export(tmp_path / "python.vrm", options={"version": "2"})
    assert (tmp_path / "python.vrm").read_bytes() == target.read_bytes()
