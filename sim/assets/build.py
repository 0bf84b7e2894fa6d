"""Turns what a file says into the runtime character: one mesh, one skeleton, one list of clips."""

import numpy as np

from sim.assets.build_clips import build_clips
from sim.assets.build_mesh import build_mesh
from sim.assets.build_skeleton import build_joints
from sim.assets.build_skin import build_skin
from sim.assets.faults import ElementFault
from sim.assets.materials import build_materials
from sim.assets.model import Bounds, CharacterModel
from sim.assets.raw import ModelError, RawModel
from sim.assets.rebase import rebased


def build_model(raw: RawModel) -> CharacterModel:
    """The runtime form of `raw`; vertices, triangles and joints keep the order of the file.

    Raises:
        ModelError: If what the file says cannot be drawn or posed.
    """
    try:
        # Values come from a file: what overflows is found by the checks of the result.
        with np.errstate(all="ignore"):
            return _built(raw)
    except ElementFault as fault:
        raise ModelError(raw.path, fault.element, fault.reason) from None


def default_up_axis(bounds: Bounds) -> str:
    """ "Y", or "Z" for a box that stands on the floor in z and does not in y."""
    size = bounds.size
    touches_in_z = abs(bounds.lo[2]) < 0.05 * size[2]
    return "Z" if touches_in_z and abs(bounds.lo[1]) > 0.20 * size[1] else "Y"


def default_texture_origin(asset_name: str) -> str:
    """Where v = 0 lies in the image: "bottom" for what was converted from FBX, else "top"."""
    return "bottom" if asset_name.strip().lower().endswith(".fbx") else "top"


def _built(raw: RawModel) -> CharacterModel:
    notes = raw.warnings.copy()
    materials, material_of = build_materials(raw)
    mesh = build_mesh(raw, material_of, notes)
    joints = build_joints(raw.skeletons, notes, may_be_flat=bool(raw.skins))
    skin = build_skin(raw, joints, mesh.vertex_count, notes) if joints else None
    if raw.skins and skin is not None and joints is not None:
        mesh, skin = rebased(mesh, skin, joints.skeleton, raw)
    return CharacterModel(
        path=raw.path,
        format=raw.format,
        dialect=raw.dialect,
        asset_name=raw.asset_name,
        mesh=mesh,
        skeleton=joints.skeleton if joints else None,
        skin=skin,
        clips=build_clips(raw, joints, mesh.targets, notes),
        materials=materials,
        default_up_axis=raw.up_axis or default_up_axis(mesh.bounds),
        default_texture_origin=raw.texture_origin or default_texture_origin(raw.asset_name),
        warnings=tuple(notes),
        files=tuple(raw.files),
    )
