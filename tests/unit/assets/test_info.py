"""Facts about a model for scripts and people."""

import json
from pathlib import Path
from typing import Any

import pytest

from sinew.sim.assets.build import build_model
from sinew.sim.assets.info import info_text, model_info
from tests.ezm_samples import LEGACY, MESH_SYSTEM, bone_text, mesh_text, read_text, skeleton_text


def info(folder: Path, text: str) -> dict[str, Any]:
    raw = read_text(folder, text)
    return model_info(raw, build_model(raw))


def test_facts_of_the_sample(tmp_path: Path) -> None:
    (tmp_path / "skin.jpg").write_bytes(b"")
    found = json.loads(json.dumps(info(tmp_path, MESH_SYSTEM)))
    assert found["path"] == str(tmp_path / "model.ezm")
    assert {key: found[key] for key in ("format", "dialect", "up_axis", "texture_origin")} == {
        "format": "ezm", "dialect": "MeshSystem", "up_axis": "Y", "texture_origin": "bottom",
    }  # fmt: skip
    assert (found["vertex_count"], found["triangle_count"], found["influence_max"]) == (4, 2, 3)
    assert found["influence_counts"] == [2, 1, 1]
    assert found["bounds"] == {"min": [0.0, 0.0, 0.0], "max": [1.0, 1.0, 0.0]}
    assert found["submeshes"] == [
        {"name": "skin", "material": "skin", "triangle_count": 1},
        {"name": "plain", "material": "plain", "triangle_count": 1},
    ]
    assert [(item["name"], item["texture"], item["texture_found"]) for item in found["materials"]] == [
        ("skin", "skin.png", True), ("plain", None, False),
    ]  # fmt: skip
    assert found["bones"] == [
        {"name": "root", "parent": -1, "weighted_vertex_count": 3},
        {"name": "arm", "parent": 0, "weighted_vertex_count": 3},
        {"name": "hand", "parent": 1, "weighted_vertex_count": 1},
    ]
    (clip,) = found["clips"]
    assert (clip["name"], clip["frame_count"]) == ("wave", 3)
    assert (clip["duration"], clip["frame_step"]) == (pytest.approx(0.04), pytest.approx(0.02))
    assert found["warnings"] == []


@pytest.mark.parametrize("text", [MESH_SYSTEM, LEGACY, mesh_text("0 0 0 1 0 0 0 1 0"), skeleton_text(""), "<Mesh/>"])
def test_every_promised_key_exists(tmp_path: Path, text: str) -> None:
    assert {
        "path", "format", "dialect", "up_axis", "texture_origin", "vertex_count", "triangle_count", "influence_max",
        "bounds", "submeshes", "materials", "bones", "clips", "warnings",
    } <= set(info(tmp_path, text))  # fmt: skip


def test_text_tells_the_same(tmp_path: Path) -> None:
    lines = info_text(info(tmp_path, MESH_SYSTEM)).splitlines()
    assert lines[0] == str(tmp_path / "model.ezm")
    assert "  format      EZMesh text, MeshSystem dialect" in lines
    assert "  influences  2 with 1, 1 with 2, 1 with 3" in lines
    assert "Bones (3)" in lines
    bones = lines[lines.index("Bones (3)") + 2 :]
    assert [line[2 : 2 + 2 * depth + 4].rstrip() for depth, line in enumerate(bones[:3])] == [
        "root",
        "  arm",
        "    hand",
    ]


def test_text_of_a_model_without_anything(tmp_path: Path) -> None:
    text = info_text(info(tmp_path, "<Mesh/>"))
    assert "vertices    0" in text
    assert text.endswith("Warnings (1)\n  The model has no triangles.")


def test_the_table_of_bones_is_a_tree(tmp_path: Path) -> None:
    """Children stand below their parents, whatever the order of the file."""
    bones = [
        ("hips", None),
        ("leg_l", "hips"),
        ("spine", "hips"),
        ("foot_l", "leg_l"),
        ("head", "spine"),
        ("prop", None),
    ]
    elements = "".join(bone_text(name, *([parent] if parent else [])) for name, parent in bones)
    rows = info_text(info(tmp_path, skeleton_text(elements))).split("Bones (6)")[1].splitlines()[2:]
    assert [row[2:].split("  0")[0].rstrip(" 0123456789") for row in rows] == [
        "hips", "  leg_l", "    foot_l", "  spine", "    head", "prop",
    ]  # fmt: skip
