from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from sinew.resources.samples.figure_charts import ATLAS, TEXTURES
from sinew.resources.samples.figure_clips import build_turn, build_wave
from sinew.resources.samples.figure_mesh import Piece, build_pieces
from sinew.resources.samples.figure_parts import build_parts
from sinew.resources.samples.figure_skeleton import Joint, build_skeleton
from sinew.resources.samples.motion import local_bind
from sinew.resources.samples.walk import build_walk
from sinew.resources.samples.weights import strongest
from sinew.sim.assets.raw import RawBone, RawMaterial, RawMesh, RawModel, RawSection, RawSkeleton, RawVertices
from sinew.sim.maths.arrays import Float64

_LOOKS = {
    "skin": "Ns=20,Ks=(0.05,0.045,0.04)",
    "hair": "Ns=28,Ks=(0.05,0.045,0.04)",
    "shirt": "Ns=8,Ks=(0.02,0.02,0.02)",
    "trousers": "Ns=8,Ks=(0.02,0.02,0.02)",
    "shoes": "Ns=30,Ks=(0.08,0.08,0.08)",
}
"""gloss of each material, in the order of the sections"""


def build_figure(path: Path) -> tuple[RawModel, dict[str, Image.Image]]:
    joints = build_skeleton()
    pieces, textures = build_pieces(build_parts(), joints)
    model = RawModel(path, "ezm", "MeshSystem", asset_name="humanoid", asset_info="metres, y up, faces +z")
    model.skeletons.append(RawSkeleton("humanoid", bones_of(joints)))
    model.clips += [build_walk(joints), build_turn(joints), build_wave(joints)]
    model.materials += [RawMaterial(name, f"diffuse={TEXTURES[name]},{look}") for name, look in _LOOKS.items()]
    model.meshes.append(_mesh(pieces))
    return model, textures


def bones_of(joints: Sequence[Joint]) -> list[RawBone]:
    by_name = {joint.name: joint for joint in joints}
    numbers = {joint.name: i for i, joint in enumerate(joints)}
    bones = []
    for joint in joints:
        position, orientation = local_bind(joint, by_name)
        parent = -1 if joint.parent is None else numbers[joint.parent]
        bones.append(RawBone(joint.name, parent, np.round(position, 6), np.round(orientation, 7), np.ones(3)))
    return bones


def _mesh(pieces: Sequence[Piece]) -> RawMesh:
    ordered = [piece for material in _LOOKS for piece in pieces if piece.material == material]
    first = np.cumsum([0, *(len(piece.points) for piece in ordered)])
    joints, weights = strongest(np.concatenate([piece.weights for piece in ordered]))
    attributes = {
        "position": _rounded([piece.points for piece in ordered], 5),
        "normal": _rounded([piece.normals for piece in ordered], 4),
        "texcoord1": _rounded([piece.texels / ATLAS for piece in ordered], 5),
        "blendweights": weights.astype(np.float32),
        "blendindices": joints.astype(np.uint16),
    }
    sections = []
    for material in _LOOKS:
        rows = [p.triangles + start for p, start in zip(ordered, first, strict=False) if p.material == material]
        sections.append(RawSection(material, "", 0, np.concatenate(rows).astype(np.uint32)))
    return RawMesh("humanoid", "humanoid", [RawVertices(int(first[-1]), dict(attributes))], sections)


def _rounded(arrays: Sequence[Float64], digits: int) -> np.ndarray:
    """Few decimals keep the file short and equal on every machine."""
    return (np.round(np.concatenate(arrays), digits) + 0.0).astype(np.float32)
