from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path

import numpy as np

from sinew.sim.assets.build_mesh import bounds_of, build_mesh, weight_starts_of
from sinew.sim.assets.build_skeleton import Joints, build_joints, unique_names
from sinew.sim.assets.clip import CurveClip, FrameClip, UniformClip, frame_step
from sinew.sim.assets.faults import ElementFault, quoted
from sinew.sim.assets.formats import MODEL_FORMATS
from sinew.sim.assets.influences import Influences, with_influences
from sinew.sim.assets.materials import build_materials
from sinew.sim.assets.model import Bounds, CharacterModel, Clip, Mesh, Palette, Skeleton, Skin, Targets
from sinew.sim.assets.raw import ModelError, RawClip, RawModel, RawSkin, RawTrack, RawVertices, reading
from sinew.sim.assets.rig import ordered
from sinew.sim.maths.arrays import Float32, Float64, UInt16
from sinew.sim.maths.transform import inverse_affine
from sinew.sim.printable import counted

SUM_TOLERANCE = 1e-4
ENTRIES_MAX = 1 << 16


def build_skin(raw: RawModel, joints: Joints, vertex_count: int, warnings: list[str]) -> Skin:
    """Builds the skin; a vertex without weights follows the first joint of its skeleton or skin.

    With skins, entries number the joints of all skins, one skin after the other.
    """
    weights_of = (buffer.attributes.get("blendweights") for mesh in raw.meshes for buffer in mesh.buffers)
    width = 8 if any(weights is not None and weights.shape[1] > 4 for weights in weights_of) else 4
    indices = np.zeros((vertex_count, width), dtype=np.uint16)
    weights = np.zeros((vertex_count, width), dtype=np.float32)
    starts, counts = joints.starts, joints.counts
    if raw.skins:
        starts, counts = skin_starts(raw.skins), tuple(len(skin.joints) for skin in raw.skins)
    start = 0
    for mesh in raw.meshes:
        number = mesh.skin if raw.skins else joints.match(mesh.skeleton)
        for buffer in mesh.buffers:
            own = slice(start, start + buffer.count)
            indices[own], weights[own] = _influences(buffer, width, counts[number], warnings)
            indices[own] += np.uint16(starts[number])
            start += buffer.count
    indices[weights == 0.0] = 0
    return Skin(indices, weights, int((weights > 0.0).sum(axis=1).max(initial=0)))


def skin_starts(skins: list[RawSkin]) -> tuple[int, ...]:
    *starts, total = accumulate((len(skin.joints) for skin in skins), initial=0)
    if total > ENTRIES_MAX:
        raise ElementFault("skins", f"have {total} joints in all, more than {ENTRIES_MAX}")
    return tuple(starts)


def _influences(buffer: RawVertices, width: int, joint_count: int, warnings: list[str]) -> tuple[UInt16, Float32]:
    """Returns joint numbers within the skeleton, and weights, both (V, width)."""
    joints, weights = _stored(buffer, width)
    bad = ~np.isfinite(weights) | (weights < 0.0)
    if bad.any():
        warnings.append(f"{counted(int(bad.sum()), 'weight is', 'weights are')} negative or not finite and taken as 0.")
        weights = np.where(bad, np.float32(0.0), weights)
    outside = (joints >= joint_count) & (weights > 0.0)
    if outside.any():
        warnings.append(
            f"{counted(int(outside.sum()), 'influence names', 'influences name')} joints that do not exist: left out."
        )
        weights = np.where(outside, np.float32(0.0), weights)
    if (weights[:, 1:] > weights[:, :-1]).any():
        order = np.argsort(-weights, axis=1, kind="stable")
        joints, weights = np.take_along_axis(joints, order, axis=1), np.take_along_axis(weights, order, axis=1)
    weights = _normalised(weights, warnings)
    unweighted = weights[:, 0] == 0.0
    if unweighted.any():
        subject = counted(
            int(unweighted.sum()), "vertex has no weight and follows", "vertices have no weight and follow"
        )
        warnings.append(f"{subject} the first joint.")
        joints, weights = joints.copy(), weights.copy()
        joints[unweighted, 0], weights[unweighted, 0] = 0, 1.0
    return np.where(weights > 0.0, joints, 0).astype(np.uint16), weights


def _stored(buffer: RawVertices, width: int) -> tuple[UInt16, Float32]:
    """Returns the stored influences; missing weights become 1 for the first joint, missing joints become joint 0."""
    joints = np.zeros((buffer.count, width), dtype=np.uint16)
    weights = np.zeros((buffer.count, width), dtype=np.float32)
    stored_weights = buffer.attributes.get("blendweights")
    stored_joints = buffer.attributes.get("blendindices")
    if stored_weights is None:
        weights[:, 0] = 1.0
    else:
        weights[:, : stored_weights.shape[1]] = stored_weights[:, :width]
    if stored_joints is not None:
        joints[:, : stored_joints.shape[1]] = stored_joints[:, :width]
    return joints, weights


def _normalised(weights: Float32, warnings: list[str]) -> Float32:
    total = weights.sum(axis=1, dtype=np.float64)
    off = (np.abs(total - 1.0) > SUM_TOLERANCE) & (total > 0.0)
    if off.any():
        whose = counted(int(off.sum()), "vertex", "vertices")
        warnings.append(f"The weights of {whose} did not sum to 1 and were scaled.")
    return (weights / np.where(total > 0.0, total, 1.0)[:, None]).astype(np.float32)


_EQUAL = 1e-6
"""Relative tolerance of equal matrices, in terms of their largest element."""

_FLAT = 1e-10


def rebased(mesh: Mesh, skin: Skin, skeleton: Skeleton, raw: RawModel) -> tuple[Mesh, Skin]:
    """Returns the mesh in the rest pose, and its skin with a palette relative to that pose.

    A file may store each part in a space of its own (quantised, scaled, turned) with inverse bind matrices that undo
    it.  Each part is moved by the rest palette of its dominant joint, and its matrices by the inverse.  Boxes,
    colliders, emission and dual quaternions rely on parts in file units, where they are seen at rest.  The mesh has one
    part for each buffer of `raw`; entries of the skin number the joints of all skins of `raw`.
    """
    work = _RebasedArrays(mesh, skin, skeleton, raw)
    counts = [buffer.count for part in raw.meshes for buffer in part.buffers]
    skin_numbers = [part.skin for part in raw.meshes for _ in part.buffers]
    for skin_number, start, count in zip(skin_numbers, accumulate(counts, initial=0), counts, strict=False):
        if count:
            work.move(skin_number, slice(start, start + count))
    return work.result()


class _RebasedArrays:
    def __init__(self, mesh: Mesh, skin: Skin, skeleton: Skeleton, raw: RawModel) -> None:
        self._mesh, self._skin, self._raw = mesh, skin, raw
        self._starts = skin_starts(raw.skins)
        self._rest = [skeleton.model_from_bind[part.joints] @ part.bind_from_mesh for part in raw.skins]
        self._positions, self._normals = mesh.positions.copy(), mesh.normals.copy()
        self._tangents = None if mesh.tangents is None else mesh.tangents.copy()
        self._deltas = None if mesh.targets is None else mesh.targets.deltas.copy()
        self._triangles = mesh.triangles
        self._entries = skin.joints.copy()
        # By skin: matrices that its parts were moved by, and the first entry of each.
        self._moves: dict[int, list[tuple[Float64, int]]] = {}
        self._joints: list[int] = []
        self._binds: list[Float64] = []

    def move(self, skin_number: int, part: slice) -> None:
        start, size = self._starts[skin_number], len(self._raw.skins[skin_number].joints)
        joints = self._skin.joints[part].astype(np.intp) - start
        weights = self._skin.weights[part]
        used = weights > 0.0
        totals = np.bincount(joints[used], weights=weights[used], minlength=size)
        matrix = self._rest[skin_number][int(np.argmax(totals))]
        largest = max(float(np.abs(matrix[:3, :3]).max()), 1e-100)
        if not np.isfinite(matrix).all() or abs(np.linalg.det(matrix[:3, :3])) <= _FLAT * largest**3:
            matrix = np.eye(4)
        matrix, first = self._block(skin_number, matrix)
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

    def _block(self, skin_number: int, matrix: Float64) -> tuple[Float64, int]:
        """Returns matrix and first palette entry of a part; parts of a skin with equal matrices share them."""
        known = self._moves.setdefault(skin_number, [])
        for other, first in known:
            if np.abs(other - matrix).max() <= _EQUAL * np.abs(matrix).max():
                return other, first
        skin, first = self._raw.skins[skin_number], len(self._joints)
        if first + len(skin.joints) > ENTRIES_MAX:
            raise ElementFault("skins", f"need more than {ENTRIES_MAX} palette entries")
        self._joints.extend(skin.joints)
        self._binds.append(skin.bind_from_mesh @ inverse_affine(matrix))
        known.append((matrix, first))
        return matrix, first

    def _move_vertices(self, part: slice, matrix: Float64) -> None:
        linear = matrix[:3, :3]
        # The inverse transpose up to a positive factor; a mirror flips normals, so the triangles flip too.
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
    chosen = np.flatnonzero((targets.firsts >= part.start) & (targets.firsts < part.stop))
    return [
        (
            slice(int(targets.starts[index]), int(targets.starts[index] + targets.counts[index])),
            slice(
                int(targets.firsts[index]) - part.start, int(targets.firsts[index] + targets.counts[index]) - part.start
            ),
        )
        for index in chosen
    ]


# A file may name many joints and give one of them many poses: the poses of all other joints must not exhaust memory.
FREE_POSES = 1_000_000
MAX_GROWTH = 8


def build_clips(raw: RawModel, joints: Joints | None, targets: Targets | None, warnings: list[str]) -> tuple[Clip, ...]:
    clips = raw.clips
    if targets is not None and any(clip.frames for clip in clips):
        names = unique_names([clip.name for clip in clips], "clip", warnings)
        count = 1 + len(targets.names)
        return tuple(
            FrameClip(name, clip.frame_times, clip.frames, count) for name, clip in zip(names, clips, strict=True)
        )
    if joints is None:
        if clips:
            warnings.append("Animations without a skeleton are ignored.")
        return ()
    stored = sum(len(track.positions) for clip in clips for track in clip.tracks)
    needed = sum(clip.frame_count for clip in clips if clip.tracks) * joints.skeleton.joint_count
    if needed > max(FREE_POSES, MAX_GROWTH * stored):
        reason = f"need {needed} poses for {joints.skeleton.joint_count} joints, the file holds {stored}"
        raise ElementFault("Animations", reason)
    names = unique_names([clip.name for clip in clips], "clip", warnings)
    built: list[Clip] = []
    weight_starts = weight_starts_of(raw)
    for name, clip in zip(names, clips, strict=True):
        if clip.channels:
            built.append(CurveClip(name, clip.channels, joints.skeleton, targets, weight_starts))
        elif clip.frame_count and any(len(track.positions) for track in clip.tracks):
            built.append(_build_clip(name, clip, joints, warnings))
        else:
            warnings.append(f"Animation {quoted(name)} has no poses and is ignored.")
    return tuple(built)


def _build_clip(name: str, clip: RawClip, joints: Joints, warnings: list[str]) -> UniformClip:
    frames = clip.frame_count
    step, note = frame_step(frames, clip.duration, clip.frame_step)
    if note:
        warnings.append(f"Animation {quoted(name)} {note}.")
    bind = joints.skeleton
    positions = np.repeat(bind.bind_positions[None], frames, axis=0)
    orientations = np.repeat(bind.bind_orientations[None], frames, axis=0)
    scales = np.repeat(bind.bind_scales[None], frames, axis=0)
    for track, joint in _matched(name, clip.tracks, joints, warnings):
        count = len(track.positions)
        if count < frames:
            warnings.append(
                f"Animation {quoted(name)}: the track of {quoted(track.name)} is short; its last pose holds."
            )
        for target, source in ((positions, track.positions), (orientations, track.orientations)):
            target[:count, joint], target[count:, joint] = source, source[-1]
        scales[:count, joint] = 1.0 if track.scales is None else track.scales
        scales[count:, joint] = scales[count - 1, joint]
    return UniformClip(name, step, positions, orientations, scales)


def _matched(clip: str, tracks: list[RawTrack], joints: Joints, warnings: list[str]) -> list[tuple[RawTrack, int]]:
    """Returns tracks with their joints in every skeleton that has them; ignores later tracks of a joint."""
    matched: dict[str, RawTrack] = {}
    for track in tracks:
        if track.name not in joints.of_name:
            warnings.append(f"Animation {quoted(clip)}: no joint is called {quoted(track.name)}; its track is ignored.")
        elif track.name in matched:
            warnings.append(f"Animation {quoted(clip)}: a second track for {quoted(track.name)} is ignored.")
        elif len(track.positions):
            matched[track.name] = track
    return [(track, joint) for name, track in matched.items() for joint in joints.of_name[name]]


def build_model(raw: RawModel) -> CharacterModel:
    """Builds the model; vertices, triangles and joints keep the order of the file.

    Raises:
        ModelError: If the content cannot be drawn or posed.
    """
    with reading(partial(ModelError, raw.path)):
        return _built(raw)


def default_up_axis(bounds: Bounds) -> str:
    """Returns "Z" if the box touches the floor in z and not in y, else "Y"."""
    size = bounds.size
    touches_in_z = abs(bounds.lo[2]) < 0.05 * size[2]
    return "Z" if touches_in_z and abs(bounds.lo[1]) > 0.20 * size[1] else "Y"


def default_texture_origin(asset_name: str) -> str:
    """Returns the row of the image at v = 0: "bottom" for files converted from FBX, else "top"."""
    is_fbx = any(known.key == "fbx" and known.has_suffix(Path(asset_name.strip())) for known in MODEL_FORMATS)
    return "bottom" if is_fbx else "top"


def _built(raw: RawModel) -> CharacterModel:
    notes = raw.warnings.copy()
    materials, material_of = build_materials(raw)
    mesh = build_mesh(raw, material_of, notes)
    joints = build_joints(raw.skeletons, notes, may_be_flat=bool(raw.skins))
    skin = build_skin(raw, joints, mesh.vertex_count, notes) if joints else None
    if raw.skins and skin is not None and joints is not None:
        mesh, skin = rebased(mesh, skin, joints.skeleton, raw)
    rig = ordered(raw.rig, joints.skeleton.names, notes) if joints is not None else raw.rig
    model = CharacterModel(
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
        rig=rig,
        cameras=tuple(raw.cameras),
        lights=tuple(raw.lights),
    )
    if raw.changed is None or model.skeleton is None:
        return model
    joints_of, weights = raw.changed
    return with_influences(model, Influences(joints_of.astype(np.intp), weights.astype(np.float64)))
