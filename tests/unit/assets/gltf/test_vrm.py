"""VRM 0.x, VRM 1.0 and VRM animations: what is read, what is left out, and what no damage can break."""

import importlib.util
import json
import random
from pathlib import Path

import numpy as np
import pytest

from sinew.sim.assets.formats import MODEL_FORMATS
from sinew.sim.assets.humanoid import BONES as HUMAN_BONES
from sinew.sim.assets.humanoid import bones_of
from sinew.sim.assets.info import model_info
from sinew.sim.assets.load import is_model, load_model, read_raw
from sinew.sim.assets.raw import ModelError
from sinew.sim.assets.rig import (
    Constraint,
    ConstraintType,
    Expression,
    Rig,
    SpringCollider,
    SpringColliderShape,
    SpringJoint,
)
from sinew.sim.characters.expressions import expression_weights
from tests.conftest import slow
from tests.fuzz.cases import outcome
from tests.fuzz.corpus import as_text
from tests.gltf_samples import morphing
from tests.vrm_samples import BONES, HAIR, old_vrm, vrm, vrm_animation

HEAD = BONES.index("head")


def test_a_vrm_1_file_has_a_rig(tmp_path: Path) -> None:
    rig = vrm().load(tmp_path).rig
    assert rig.humanoid == {name: BONES.index(name) for name in HUMAN_BONES if name in BONES}
    assert rig.colliders == (
        SpringCollider(HEAD, SpringColliderShape.SPHERE, (0.0, 0.1, 0.0), radius=0.1),
        SpringCollider(HEAD, SpringColliderShape.CAPSULE, (0.0, 0.0, 0.0), (0.0, 0.2, 0.0), 0.1),
        SpringCollider(HEAD, SpringColliderShape.PLANE, (0.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    )
    (spring,) = rig.springs
    assert (spring.name, spring.colliders, spring.center) == ("hair", (0, 1, 2), 0)
    assert spring.joints == (
        SpringJoint(HAIR, HAIR + 1, stiffness=2.0, gravity=(0.0, -0.5, 0.0), drag=0.3, radius=0.02),
        SpringJoint(HAIR + 1, HAIR + 2, stiffness=1.0, gravity=(0.0, 0.0, 0.0), drag=0.5),
    )
    assert rig.constraints == (
        Constraint(BONES.index("leftLowerArm"), BONES.index("leftHand"), ConstraintType.ROLL, (1.0, 0.0, 0.0), 0.5),
        Constraint(HAIR + 3, HEAD, ConstraintType.AIM, (0.0, -1.0, 0.0)),
    )
    assert rig.expressions == (
        Expression("happy", (("smile", 0.8),), overrides=(("blink", "blend"), ("mouth", "block"))),
        Expression("aa", (("open", 0.5),)),
        Expression("blink", (("eyes", 1.0),), is_binary=True),
        Expression("wink", (("eyes", 1.0), ("smile", 0.8))),
    )


def test_a_vrm_0_file_has_the_same_rig(tmp_path: Path) -> None:
    model = old_vrm().load(tmp_path)
    rig = model.rig
    assert rig.humanoid == vrm().load(tmp_path).rig.humanoid
    assert rig.colliders == (SpringCollider(HEAD, SpringColliderShape.SPHERE, (1.0, 2.0, -3.0), radius=0.1),)
    (spring,) = rig.springs
    assert (spring.name, spring.colliders, spring.center) == ("hair", (0,), -1)
    joints = {joint.joint: (joint.tail, joint.tail_offset) for joint in spring.joints}
    assert list(joints) == [HAIR, HAIR + 1, HAIR + 2, HAIR + 3], "parents come before their children"
    still = (0.0, 0.0, 0.0)
    assert joints[HAIR] == (HAIR + 1, still)
    assert joints[HAIR + 1] == (HAIR + 2, still)
    for leaf in (HAIR + 2, HAIR + 3):
        assert joints[leaf][0] == -1
        np.testing.assert_allclose(joints[leaf][1], (0.0, 0.07, 0.0))
    assert all((part.stiffness, part.drag, part.gravity) == (2.0, 0.3, (0.0, -0.5, 0.5)) for part in spring.joints)
    assert rig.expressions == (
        Expression("happy", (("smile", 0.8),)), Expression("Wink", (("eyes", 1.0),), is_binary=True),
    )  # fmt: skip


def test_a_vrm_0_file_is_turned_to_face_forward(tmp_path: Path) -> None:
    old, new = old_vrm(), vrm()
    for sample in (old, new):
        sample.animate(0, "translation", [0, 1], [[0, 1, 0], [1, 2, 3]])
        sample.animate(0, "rotation", [0, 1], [[0, 0, 0, 1], [0.6, 0, 0.8, 0]])
    one, other = old.load(tmp_path), new.load(tmp_path)
    half = np.diag([-1.0, 1.0, -1.0, 1.0])
    for model in (one, other):
        assert model.skeleton is not None
    np.testing.assert_allclose(one.skeleton.model_from_bind, half @ other.skeleton.model_from_bind, atol=1e-12)
    np.testing.assert_allclose(one.mesh.positions, other.mesh.positions * (-1, 1, -1), atol=1e-6)
    from sinew.sim.animation.evaluate import evaluate_pose

    for time in (0.0, 0.3, 1.0):
        turned, plain = (evaluate_pose(model, model.clips[0], time).model_from_joint for model in (one, other))
        np.testing.assert_allclose(turned, half @ plain, atol=1e-12)


def test_materials_are_toon_shaded(tmp_path: Path) -> None:
    (material,) = vrm().load(tmp_path).materials
    assert material.toon is not None
    assert (material.toon.shade, material.toon.toony, material.toon.rim) == ((0.5, 0.25, 0.125), 0.5, (1.0, 0.0, 0.0))
    assert material.shade_image == material.matcap_image == material.embedded
    assert len(material.images) == 3
    (old,) = old_vrm().load(tmp_path).materials
    assert old.toon is not None
    # The edge of 0.x goes from -0.45 to mix(1, -0.45, 0.8) = -0.16.
    for value in (-0.5, -0.45, -0.3, -0.16, 0.0):
        expected = np.clip((value + 0.45) / 0.29, 0.0, 1.0)
        toony = old.toon.toony
        found = np.clip((value + old.toon.shift + 1.0 - toony) / (2.0 - 2.0 * toony), 0.0, 1.0)
        assert found == pytest.approx(expected, abs=1e-9)
    np.testing.assert_allclose(old.toon.shade, [0.21404114] * 3, rtol=1e-6)
    assert (old.toon.equalization, old.toon.rim_mix, old.toon.rim_power) == (0.75, 1.0, 2.0)
    assert old.shade_image is not None
    plain = morphing().load(tmp_path).materials[0]
    assert (plain.toon, plain.shade_image) == (None, None)


def test_the_bones_of_the_file_come_before_their_names(tmp_path: Path) -> None:
    sample = vrm()
    sample.document["extensions"]["VRMC_vrm"]["humanoid"]["humanBones"]["neck"] = {"node": HAIR}
    model = sample.load(tmp_path)
    assert bones_of(model)["neck"] == HAIR
    info = model_info(read_raw(model.path), model)
    assert info["humanoid"]["neck"] == "hair 0"
    assert info["springs"] == [{"name": "hair", "joint_count": 2, "collider_count": 3}]
    assert info["expressions"][0] == {"name": "happy", "targets": {"smile": 0.8}, "is_binary": False}
    del sample.document["extensions"]["VRMC_vrm"]
    assert bones_of(sample.load(tmp_path))["neck"] == BONES.index("neck")


def test_the_suffixes_are_known(tmp_path: Path) -> None:
    assert {".vrm", ".vrma"} <= set(MODEL_FORMATS.suffixes())
    path = tmp_path / "motion.VRMA"
    path.write_bytes(vrm_animation().data())
    assert is_model(path)
    model = load_model(path)
    assert model.skeleton is not None
    assert model.rig.expression_joints == {"aa": HAIR + 4}
    assert "spine" in model.rig.humanoid


V1, SPRING = ("extensions", "VRMC_vrm"), ("extensions", "VRMC_springBone")
JOINTS = (*SPRING, "springs", 0, "joints")
WRIST = "nodes", BONES.index("leftHand"), "extensions"


def constraint(source: int) -> dict:
    return {"VRMC_node_constraint": {"constraint": {"rotation": {"source": source}}}}


WARNINGS = [
    ((*V1, "humanoid", "humanBones", "hips", "node"), 99,
     "extensions.VRMC_vrm.humanoid.humanBones.hips: nodes[99] does not exist, there are 24; left out."),
    ((*V1, "humanoid", "humanBones", "hips", "node"), "x",
     "extensions.VRMC_vrm.humanoid.humanBones[...].node is text, not a whole number; the extension is left out."),
    ((*V1, "humanoid", "humanBones", "tail"), {"node": 1},
     "extensions.VRMC_vrm.humanoid.humanBones: 'tail' is no bone of VRM; left out."),
    ((*V1, "humanoid", "humanBones", "neck", "node"), 4,
     "extensions.VRMC_vrm.humanoid.humanBones: nodes[4] is not the only head, or two bones; left out."),
    ((*V1, "expressions", "preset", "happy", "morphTargetBinds", 0, "index"), 3,
     "The expression 'happy': targets of nodes[23][3] does not exist, there are 3; left out."),
    ((*V1, "expressions", "preset", "happy", "materialColorBinds"), [{"material": 0}],
     "Colours and texture coordinates of expressions are left out; only shapes are drawn."),
    ((*V1, "expressions", "custom", "aa"), {},
     "The expression 'aa' is there twice; the second one is left out."),
    ((*JOINTS, 2, "node"), HAIR + 3, f"extensions.VRMC_springBone.springs[0].joints: nodes[{HAIR + 3}] is not below "
     f"nodes[{HAIR + 1}]; left out."),
    ((*JOINTS, 2, "node"), HAIR, f"extensions.VRMC_springBone.springs[0].joints: nodes[{HAIR}] is not below "
     f"nodes[{HAIR + 1}]; left out."),
    ((*SPRING, "springs", 0, "colliderGroups"), [7],
     "extensions.VRMC_springBone.springs[0]: colliderGroups[7] does not exist, there are 2; left out."),
    ((*SPRING, "colliders", 0, "shape"), {}, "extensions.VRMC_springBone.colliders[0] has no shape; left out."),
    ((*SPRING, "springs", 0, "joints"), 3,
     "extensions.VRMC_springBone.springs[0].joints is a whole number, not a list; the extension is left out."),
    (WRIST, constraint(99), f"nodes[{WRIST[1]}].extensions.VRMC_node_constraint: nodes[99] does not exist, there are "
     "24; left out."),
    (WRIST, constraint(BONES.index("leftLowerArm")),
     "The constraints of 'leftLowerArm', 'leftHand' follow each other; they are left out."),
    (("materials", 0, "extensions", "VRMC_materials_mtoon", "uvAnimationRotationSpeedFactor"), 1.0,
     "MToon materials are drawn without their moving texture coordinates."),
]  # fmt: skip


@pytest.mark.parametrize(("place", "value", "warning"), WARNINGS)
def test_parts_that_cannot_be_used_are_left_out(tmp_path: Path, place: tuple, value: object, warning: str) -> None:
    sample = vrm()
    part = sample.document
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    model = sample.load(tmp_path)
    assert warning in model.warnings
    assert model.mesh.vertex_count == 4


def test_a_second_spring_does_not_take_joints(tmp_path: Path) -> None:
    sample = vrm()
    springs = sample.document["extensions"]["VRMC_springBone"]["springs"]
    springs.append({"joints": [{"node": HAIR + 1}, {"node": HAIR + 2}]})
    model = sample.load(tmp_path)
    assert len(model.rig.springs) == 1
    assert any("belongs to two springs" in text for text in model.warnings)


def test_only_plain_files_have_no_rig(tmp_path: Path) -> None:
    assert morphing().load(tmp_path).rig == Rig()


# --- files of other programs ------------------------------------------------------------------------------

REFUSED = {"draco.vrm": "extensionsRequired: KHR_draco_mesh_compression needs the package DracoPy"}
BONE_COUNTS = {"Godette_vrm_v4.vrm": 45, "human_bone.vrm": 0, "sphere.vrm": 22, "bone_child_mesh.vrm": 17}
FACELESS = {"VRMC_materials_mtoon_UV_Animation_Test.vrm", "hips_spine_twisting.vrma", "sphere.vrm"}
"""Files without expressions."""


def test_files_of_other_programs_open(assets: Path) -> None:
    files = sorted((assets / "vrm").glob("*.vrm*"))
    if not files:
        pytest.skip("no VRM files")
    for path in files:
        if path.name in REFUSED and importlib.util.find_spec("DracoPy") is None:
            with pytest.raises(ModelError) as caught:
                load_model(path)
            assert str(caught.value) == f"{path}: {REFUSED[path.name]}"
            continue
        model = load_model(path)
        bones = len(model.rig.humanoid)
        assert bones == BONE_COUNTS.get(path.name, bones), path.name
        assert bones >= 15 or path.name == "human_bone.vrm", path.name
        assert bool(model.rig.expressions) == (path.name not in FACELESS), path.name
        assert len(model.warnings) <= 3, model.warnings
        if path.name == "Godette_vrm_v4.vrm":
            assert [len(spring.joints) for spring in model.rig.springs] == [8, 2, 6]
            assert [material.toon is not None for material in model.materials] == [True, True, False, False]
            angry = next(part for part in model.rig.expressions if part.name == "angry")
            assert dict(angry.weights)["ah"] == 0.25


# --- damage -----------------------------------------------------------------------------------------------

STRANGE = [None, True, -1, 0, 1, 3, 23, 10**6, 2**31, -(2**70), 0.5, 1e300, -1e30, "", "x", "hips", [], [0], [[]], {}]


def damaged(text: bytes, seed: int) -> bytes:
    """The JSON with one to three values replaced, removed or copied from elsewhere."""
    chosen = random.Random(seed)
    document = json.loads(text)
    for _ in range(chosen.randint(1, 3)):
        places = [(holder, key) for holder, key in _places(document) if chosen.random() < 0.1 or holder is not document]
        holder, key = chosen.choice([place for place in places if _is_of_rig(place)] or places)
        kind = chosen.random()
        if kind < 0.6:
            holder[key] = chosen.choice(STRANGE)
        elif kind < 0.8:
            other, name = chosen.choice(places)
            holder[key] = json.loads(json.dumps(other[name]))
        elif isinstance(holder, dict):
            del holder[key]
        else:
            holder.append(holder[key])
    return json.dumps(document).encode()


def _is_of_rig(place: tuple) -> bool:
    holder, key = place
    return key not in ("buffers", "uri", "byteLength") and "componentType" not in holder


def _places(part: object) -> list[tuple]:
    found: list[tuple] = []
    items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, value in items:
        found.append((part, key))
        found += _places(value)
    return found


@pytest.mark.parametrize("make", [vrm, slow(old_vrm), slow(vrm_animation)])
def test_damage_ends_in_a_model_or_in_one_line(tmp_path: Path, make: object) -> None:
    text = as_text(make().data())  # type: ignore[operator]
    results = []
    for seed in range(340):
        path = tmp_path / "damaged.vrm"
        path.write_bytes(damaged(text, seed))
        results.append(outcome(path))
        if results[-1] == "loaded":
            model = load_model(path)
            if model.mesh.targets is not None:
                ones = {part.name: 1.0 for part in model.rig.expressions}
                assert np.isfinite(expression_weights(model.rig, model.mesh.targets, ones)).all()
    assert results.count("loaded") > 30
    assert results.count("refused") > 30
