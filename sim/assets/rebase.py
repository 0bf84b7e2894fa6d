"""Brings parts of a mesh into the pose in which their file shows them at rest.

Formats may store each part in a space of its own, with inverse bind matrices that lead anywhere: quantised, scaled,
or turned.  Moved by the rest palette of the joint that holds most of it, and the matrices by the inverse of that, every
part stands at rest where it is seen, in units of the file.  Boxes, colliders, emission and dual quaternions rely on it.
"""

from dataclasses import replace
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from sim.assets.build_mesh import bounds_of
from sim.assets.build_skin import ENTRIES_MAX, skin_starts
from sim.assets.faults import ElementFault
from sim.assets.model import Mesh, Palette, Skeleton, Skin, Targets
from sim.assets.raw import RawModel
from sim.maths.transform import inverse_affine

Float64 = npt.NDArray[np.float64]

_SAME = 1e-6
"""Two matrices that differ by less, relative to their largest element, are one."""

_FLAT = 1e-10
"""Determinant, relative to the cube of the largest element, below which a matrix cannot be inverted."""


def rebased(mesh: Mesh, skin: Skin, skeleton: Skeleton, raw: RawModel) -> tuple[Mesh, Skin]:
    """The mesh in the rest pose, and its skin with a palette that leads from there.

    Args:
        mesh: As stored, one part for each buffer of `raw`.
        skin: Influences by joints of one skin of `raw` after the other.
        skeleton: In its rest pose.
        raw: The skins and buffers.

    Raises:
        ElementFault: If the palette gets too large.
    """
    work = _RebasedArrays(mesh, skin, skeleton, raw)
    counts = [buffer.count for part in raw.meshes for buffer in part.buffers]
    owners = [part.skin for part in raw.meshes for _ in part.buffers]
    for owner, start, count in zip(owners, accumulate(counts, initial=0), counts, strict=False):
        if count:
            work.move(owner, slice(start, start + count))
    return work.result()


class _RebasedArrays:
    """Arrays that are being moved, part by part."""

    def __init__(self, mesh: Mesh, skin: Skin, skeleton: Skeleton, raw: RawModel) -> None:
        self._mesh, self._skin, self._raw = mesh, skin, raw
        self._starts = skin_starts(raw.skins)
        self._rest = [skeleton.model_from_bind[part.joints] @ part.bind_from_mesh for part in raw.skins]
        self._positions, self._normals = mesh.positions.copy(), mesh.normals.copy()
        self._tangents = None if mesh.tangents is None else mesh.tangents.copy()
        self._deltas = None if mesh.targets is None else mesh.targets.deltas.copy()
        self._triangles = mesh.triangles
        self._entries = skin.joints.copy()
        # For each skin: matrices that parts of it were moved by, and the first entry of each.
        self._moves: dict[int, list[tuple[Float64, int]]] = {}
        self._joints: list[int] = []
        self._binds: list[Float64] = []

    def move(self, owner: int, part: slice) -> None:
        """Moves the vertices of a part that stands in a skin."""
        start, size = self._starts[owner], len(self._raw.skins[owner].joints)
        joints = self._skin.joints[part].astype(np.intp) - start
        weights = self._skin.weights[part]
        used = weights > 0.0
        totals = np.bincount(joints[used], weights=weights[used], minlength=size)
        matrix = self._rest[owner][int(np.argmax(totals))]
        if not _is_invertible(matrix):
            matrix = np.eye(4)
        matrix, first = self._block(owner, matrix)
        self._entries[part] = np.where(used, joints + first, 0)
        if not np.array_equal(matrix, np.eye(4)):
            self._move_vertices(part, matrix)

    def result(self) -> tuple[Mesh, Skin]:
        binds = np.concatenate([np.zeros((0, 4, 4)), *self._binds])
        centres = inverse_affine(binds)[:, :3, 3]
        targets = self._mesh.targets
        if targets is not None and self._deltas is not None:
            targets = replace(targets, deltas=self._deltas)
        mesh = replace(
            self._mesh,
            positions=self._positions,
            normals=self._normals,
            tangents=self._tangents,
            triangles=self._triangles,
            bounds=bounds_of(self._positions),
            targets=targets,
        )
        palette = Palette(np.array(self._joints, np.intp), binds, centres)
        return mesh, replace(self._skin, joints=self._entries, palette=palette)

    def _block(self, owner: int, matrix: Float64) -> tuple[Float64, int]:
        """Matrix and first entry of a skin's joints for parts that are moved by it, shared by those that agree."""
        known = self._moves.setdefault(owner, [])
        for other, first in known:
            if np.abs(other - matrix).max() <= _SAME * np.abs(matrix).max():
                return other, first
        skin, first = self._raw.skins[owner], len(self._joints)
        if first + len(skin.joints) > ENTRIES_MAX:
            raise ElementFault("skins", f"need more than {ENTRIES_MAX} palette entries")
        self._joints.extend(skin.joints)
        self._binds.append(skin.bind_from_mesh @ inverse_affine(matrix))
        known.append((matrix, first))
        return matrix, first

    def _move_vertices(self, part: slice, matrix: Float64) -> None:
        linear = matrix[:3, :3]
        # The inverse transpose up to a positive factor; a mirror turns the normals, and so must the triangles.
        cofactor = np.linalg.det(linear) * np.linalg.inv(linear).T
        mirrors = bool(np.linalg.det(linear) < 0.0)
        cofactor = -cofactor if mirrors else cofactor
        self._positions[part] = self._positions[part].astype(np.float64) @ linear.T + matrix[:3, 3]
        normals = self._normals[part].astype(np.float64) @ cofactor.T
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        factors = 1.0 / np.where(length > 0.0, length, 1.0)
        self._normals[part] = normals * factors
        if self._tangents is not None:
            tangents = self._tangents[part, :3].astype(np.float64) @ linear.T
            length = np.linalg.norm(tangents, axis=1, keepdims=True)
            shorter = 1.0 / np.where(length > 0.0, length, 1.0)
            self._tangents[part, :3] = tangents * shorter
            if mirrors:
                self._tangents[part, 3] *= -1.0
        else:
            shorter = factors
        if self._mesh.targets is not None and self._deltas is not None:
            for rows, inside in _runs_within(self._mesh.targets, part):
                own = self._deltas[rows, :, :3].astype(np.float64)
                own[:, 0] = own[:, 0] @ linear.T
                own[:, 1] = own[:, 1] @ cofactor.T * factors[inside]
                if own.shape[1] > 2:
                    own[:, 2] = own[:, 2] @ linear.T * shorter[inside]
                self._deltas[rows, :, :3] = own
        if mirrors:
            turned = ((self._triangles >= part.start) & (self._triangles < part.stop)).all(axis=1)
            self._triangles = np.where(turned[:, None], self._triangles[:, [0, 2, 1]], self._triangles)


def _runs_within(targets: Targets, part: slice) -> list[tuple[slice, slice]]:
    """Rows of the targets of a part, and the vertices of the part that they are for."""
    chosen = np.flatnonzero((targets.firsts >= part.start) & (targets.firsts < part.stop))
    return [
        (
            slice(int(targets.starts[index]), int(targets.starts[index] + targets.counts[index])),
            slice(
                int(targets.firsts[index]) - part.start,
                int(targets.firsts[index] + targets.counts[index]) - part.start,
            ),
        )
        for index in chosen
    ]


def _is_invertible(matrix: Float64) -> bool:
    largest = float(np.abs(matrix[:3, :3]).max())
    return bool(np.isfinite(matrix).all() and abs(np.linalg.det(matrix[:3, :3])) > _FLAT * max(largest, 1e-100) ** 3)
