from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sinew.sim.assets.formats import model_format_name
from sinew.sim.assets.humanoid import Source, bone_sources, is_humanoid
from sinew.sim.assets.influences import weighted_vertex_counts
from sinew.sim.assets.model import CharacterModel, Skeleton, Skin
from sinew.sim.assets.raw import RawModel
from sinew.sim.printable import printable

CELL_MAX = 80
"""Longest name in a table [characters]."""


def model_info(raw: RawModel, model: CharacterModel) -> dict[str, Any]:
    """Returns the output of `sinew info --json`; lengths in file units, times in seconds."""
    mesh = model.mesh
    materials = [material.name for material in model.materials]
    attributes = (name for part in raw.meshes for buffer in part.buffers for name in buffer.attributes)
    return {
        "path": str(model.path),
        "format": model.format,
        "dialect": model.dialect,
        "asset_name": raw.asset_name,
        "asset_info": raw.asset_info,
        "up_axis": model.default_up_axis,
        "texture_origin": model.default_texture_origin,
        "mesh_count": len(raw.meshes),
        "vertex_count": mesh.vertex_count,
        "triangle_count": mesh.triangle_count,
        "influence_max": model.skin.influence_max if model.skin else 0,
        "influence_counts": influence_counts(model.skin) if model.skin else [],
        "bounds": {"min": mesh.bounds.lo.tolist(), "max": mesh.bounds.hi.tolist()},
        "vertex_attributes": list(dict.fromkeys(attributes)),
        "submeshes": [
            {
                "name": section.name,
                "material": materials[section.material] if section.material >= 0 else None,
                "triangle_count": section.triangle_count,
            }
            for section in mesh.sections
        ],
        "materials": [
            {
                "name": material.name,
                "texture": material.texture,
                "texture_found": material.image is not None,
                "texture_path": str(material.texture_path) if material.texture_path else None,
            }
            for material in model.materials
        ],
        "bones": _bones(model.skeleton, model.skin),
        **_humanoid(model),
        "springs": [
            {"name": spring.name, "joint_count": len(spring.joints), "collider_count": len(spring.colliders)}
            for spring in model.rig.springs
        ],
        "cameras": _cameras(model),
        "expressions": [
            {"name": part.name, "targets": dict(part.weights), "is_binary": part.is_binary}
            for part in model.rig.expressions
        ],
        "clips": [
            {
                "name": clip.name,
                "frame_count": len(clip.frame_times),
                "duration": clip.duration,
                "frame_step": clip.duration / max(len(clip.frame_times) - 1, 1),
            }
            for clip in model.clips
        ],
        "warnings": list(model.warnings),
    }


def _humanoid(model: CharacterModel) -> dict[str, Any]:
    """Returns the joint of each bone, and the bones that were found by shape; empty if the body is not human."""
    names, bones = model.skeleton.names if model.skeleton is not None else (), bone_sources(model)
    if not (model.rig.humanoid or is_humanoid(bones)):
        bones = {}
    return {
        "humanoid": {bone: names[joint] for bone, (joint, _) in bones.items()},
        "humanoid_by_shape": [bone for bone, (_, source) in bones.items() if source is Source.SHAPE],
    }


def _cameras(model: CharacterModel) -> list[dict[str, Any]]:
    if model.skeleton is None:
        return []
    names = model.skeleton.names
    return [{"joint": names[one.joint], "orthographic": one.height > 0.0} for one in model.cameras]


def influence_counts(skin: Skin) -> list[int]:
    """Returns the number of vertices with 1, 2, ... influences."""
    counts = np.bincount((skin.weights > 0.0).sum(axis=1), minlength=skin.influence_max + 1)
    return [int(count) for count in counts[1:]]


def info_text(info: dict[str, Any]) -> str:
    blocks = [_overview(info)]
    rows: list[tuple[str, ...]]
    if info["submeshes"]:
        rows = [(part["name"], f"{part['triangle_count']:,}", part["material"] or "-") for part in info["submeshes"]]
        blocks.append(table(f"Sections ({len(rows)})", ("name", ">triangles", "material"), rows))
    if info["materials"]:
        rows = [(item["name"], item["texture"] or "-", _texture_status(item)) for item in info["materials"]]
        blocks.append(table(f"Materials ({len(rows)})", ("name", "texture", ""), rows))
    if info["clips"]:
        rows = [
            (clip["name"], str(clip["frame_count"]), f"{clip['duration']:.3f} s", f"{clip['frame_step'] * 1e3:.3f} ms")
            for clip in info["clips"]
        ]
        blocks.append(table(f"Clips ({len(rows)})", ("name", ">frames", ">length", ">step"), rows))
    if info["bones"]:
        rows = [(name, f"{count:,}") for name, count in _bone_rows(info["bones"])]
        blocks.append(table(f"Bones ({len(rows)})", ("name", ">vertices"), rows))
    if info["humanoid"]:
        marks = dict.fromkeys(info["humanoid_by_shape"], str(Source.SHAPE))
        rows = [(bone, joint, marks.get(bone, "")) for bone, joint in info["humanoid"].items()]
        blocks.append(table(f"Humanoid ({len(rows)})", ("bone", "joint", ""), rows))
    if info["springs"]:
        rows = [(part["name"], str(part["joint_count"]), str(part["collider_count"])) for part in info["springs"]]
        blocks.append(table(f"Springs ({len(rows)})", ("name", ">joints", ">colliders"), rows))
    if info["cameras"]:
        rows = [(one["joint"], "orthographic" if one["orthographic"] else "perspective") for one in info["cameras"]]
        blocks.append(table(f"Cameras ({len(rows)})", ("node", "projection"), rows))
    if info["expressions"]:
        rows = [(part["name"], ", ".join(part["targets"]) or "-") for part in info["expressions"]]
        blocks.append(table(f"Expressions ({len(rows)})", ("name", "morph targets"), rows))
    if info["warnings"]:
        blocks.append(
            "\n".join([f"Warnings ({len(info['warnings'])})", *(f"  {printable(text)}" for text in info["warnings"])])
        )
    return "\n\n".join(blocks)


def _bones(skeleton: Skeleton | None, skin: Skin | None) -> list[dict[str, Any]]:
    if skeleton is None:
        return []
    counts = weighted_vertex_counts(skin, skeleton.joint_count).tolist()
    return [
        {"name": name, "parent": int(parent), "weighted_vertex_count": count}
        for name, parent, count in zip(skeleton.names, skeleton.parents, counts, strict=True)
    ]


def _overview(info: dict[str, Any]) -> str:
    lo, hi = np.array(info["bounds"]["min"]), np.array(info["bounds"]["max"])
    dialect = f", {info['dialect']} dialect" if info["dialect"] else ""
    rows = [
        ("format", model_format_name(info["format"]) + dialect),
        ("asset", printable(info["asset_name"], CELL_MAX) or "-"),
        ("vertices", f"{info['vertex_count']:,}"),
        ("triangles", f"{info['triangle_count']:,}"),
        ("attributes", printable(" ".join(info["vertex_attributes"]), 4 * CELL_MAX) or "-"),
        ("size", " × ".join(f"{edge:.4g}" for edge in hi - lo)),
        ("box", f"{_vector(lo)} to {_vector(hi)}"),
        ("up axis", info["up_axis"]),
        ("v = 0 is", f"at the {info['texture_origin']} of the image"),
    ]
    if info["influence_counts"]:
        spread = ", ".join(f"{count:,} with {number}" for number, count in enumerate(info["influence_counts"], 1))
        rows.append(("influences", spread))
    return "\n".join([printable(info["path"]), *(f"  {label:<11} {value}" for label, value in rows)])


def _vector(values: Iterable[float]) -> str:
    return "(" + ", ".join(f"{value:.4g}" for value in values) + ")"


def _texture_status(material: dict[str, Any]) -> str:
    if material["texture"] is None:
        return "untextured"
    return "found" if material["texture_found"] else "missing"


def _bone_rows(bones: Sequence[dict[str, Any]]) -> list[tuple[str, int]]:
    """Returns every bone and its descendants, indented by depth; siblings in file order."""
    children: dict[int, list[int]] = {}
    for joint, bone in enumerate(bones):
        children.setdefault(bone["parent"], []).append(joint)
    rows, left = [], [(joint, 0) for joint in reversed(children.get(-1, ()))]
    while left:
        joint, depth = left.pop()
        rows.append(("  " * min(depth, 24) + bones[joint]["name"], bones[joint]["weighted_vertex_count"]))
        left += [(child, depth + 1) for child in reversed(children.get(joint, ()))]
    return rows


def table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns a table as text; a heading that starts with ">" aligns its column to the right."""
    lines = aligned([headings, *([printable(cell, CELL_MAX) for cell in row] for row in rows)])
    return "\n".join([title, *(f"  {line}" for line in lines)])


def aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """Aligns lines, the first one with the headings; those that start with ">" align their column to the right."""
    is_right = [heading.startswith(">") for heading in lines[0]]
    lines = [[heading.removeprefix(">") for heading in lines[0]], *lines[1:]]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, is_right, strict=True)
        ).rstrip()
        for line in lines
    ]
