from collections import Counter
from dataclasses import replace

import numpy as np

from sinew.sim.assets.build_skeleton import unique_names
from sinew.sim.assets.faults import check_magnitude, quoted
from sinew.sim.assets.materials import base_name
from sinew.sim.assets.model import Bounds, Mesh, Section, Targets
from sinew.sim.assets.raw import RawMesh, RawModel, RawVertices
from sinew.sim.maths.arrays import Float32, Float64, Int64, UInt32

# Normal of vertices whose faces have no area; the reference reader of EZMesh uses it for all.
FALLBACK = (0.0, 1.0, 0.0)
_MIXING = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)
"""Odd factors that hash the three coordinates of a position to one key."""
BORDER_SHARE = 0.06
"""Fraction of border edges above which a mesh is an open sheet: a jacket has up to 0.05, a cape 0.1."""


def vertex_normals(positions: Float32 | Float64, triangles: UInt32) -> Float32:
    """Returns area-weighted means of adjacent faces, shape (V, 3); triangles are counter-clockwise from outside."""
    corners = positions.astype(np.float64)[triangles]
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    count = len(positions)
    summed = np.zeros((count, 3))
    for axis in range(3):
        for corner in range(3):
            summed[:, axis] += np.bincount(triangles[:, corner], weights=faces[:, axis], minlength=count)
    length = np.linalg.norm(summed, axis=1, keepdims=True)
    # Relative to the largest face: tiny models have tiny but meaningful areas.
    usable = length > 1e-12 * max(float(length.max(initial=0.0)), np.finfo(np.float64).tiny)
    return np.where(usable, summed / np.where(usable, length, 1.0), FALLBACK).astype(np.float32)


def with_open_sections(sections: tuple[Section, ...], positions: Float32, triangles: UInt32) -> tuple[Section, ...]:
    """Sets `is_open` of open sheets; vertices at one position count as one, since texture seams repeat them."""
    if not len(triangles):
        return sections
    welded = welded_numbers(positions)
    marked = []
    for section in sections:
        corners = welded[triangles[section.first_triangle : section.first_triangle + section.triangle_count]]
        marked.append(replace(section, is_open=border_share(corners) > BORDER_SHARE))
    return tuple(marked)


def border_share(triangles: Int64) -> float:
    """Returns the fraction of edges that only one triangle has; triangles without area do not count."""
    a, b, c = triangles.T
    has_area = (a != b) & (b != c) & (c != a)
    a, b, c = a[has_area], b[has_area], c[has_area]
    if not len(a):
        return 0.0
    starts, ends = np.concatenate([a, b, c]), np.concatenate([b, c, a])
    keys = np.sort((np.minimum(starts, ends) << 32) | np.maximum(starts, ends))
    begins = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1], [True]]))
    return float(np.count_nonzero(np.diff(begins) == 1) / (len(begins) - 1))


def welded_numbers(positions: Float32) -> Int64:
    """Returns the number of the distinct position of each vertex, shape (V,)."""
    # Adding zero makes negative zeros positive; equal places then have equal bits.
    bits = np.ascontiguousarray(positions + np.float32(0.0)).view(np.uint32).astype(np.uint64)
    keys = (bits * _MIXING).sum(axis=1, dtype=np.uint64)
    order = np.argsort(keys)
    ordered, keys = bits[order], keys[order]
    is_new = keys[1:] != keys[:-1]
    if (ordered[1:] != ordered[:-1])[~is_new].any():  # hash collision
        order = np.lexsort(bits.T)
        ordered = bits[order]
        is_new = (ordered[1:] != ordered[:-1]).any(axis=1)
    welded = np.zeros(len(bits), np.int64)
    welded[order[1:]] = np.cumsum(is_new)
    return welded


def build_mesh(raw: RawModel, material_of: dict[tuple[str, str], int], warnings: list[str]) -> Mesh:
    buffers = [buffer for mesh in raw.meshes for buffer in mesh.buffers]
    for number, part in enumerate(raw.meshes, start=1):
        for buffer in part.buffers:
            if buffer.count:
                place = f"vertices of mesh {quoted(part.name)} (mesh {number})"
                check_magnitude(place, "position", np.asarray(buffer.attributes["position"], np.float32))
    triangles, sections = _triangles(raw, material_of)
    positions = _joined(buffers, "position", np.zeros(3, np.float32))
    bounds = bounds_of(positions)
    if not len(triangles):
        if raw.meshes or not raw.skeletons:  # A file with bones alone is a motion
            warnings.append("The model has no triangles.")
    elif not bounds.size.any():
        warnings.append("All vertices of the model are at one point; nothing is visible.")
    texcoords = _joined(buffers, "texcoord1", np.zeros(2, np.float32))
    normals = _normals(buffers, positions, triangles)
    if any(section.is_double_sided is None for mesh in raw.meshes for section in mesh.sections):
        sections = with_open_sections(sections, positions, triangles)
    tangents = _tangents(buffers, normals)
    finite = np.isfinite(texcoords)
    if not finite.all():
        warnings.append(f"{int((~finite).sum())} texture coordinates are not finite and were set to 0.")
        texcoords = np.where(finite, texcoords, np.float32(0.0))
    is_coloured = any("color" in buffer.attributes for buffer in buffers)
    colours = np.concatenate([_buffer_colours(buffer) for buffer in buffers]) if is_coloured else None
    return Mesh(
        positions=positions,
        normals=normals,
        tangents=tangents,
        texcoords=texcoords,
        colours=colours,
        triangles=triangles,
        sections=sections,
        bounds=bounds,
        targets=build_targets(raw, tangents is not None),
        # Packed integers are often left over by tools; float colours are intended.
        is_coloured=any(
            buffer.attributes["color"].dtype == np.float32 for buffer in buffers if "color" in buffer.attributes
        ),
    )


def bounds_of(positions: Float32) -> Bounds:
    if not len(positions):
        return Bounds(np.zeros(3), np.zeros(3))
    # By column: four times as fast as by row.
    columns = [positions[:, axis] for axis in range(3)]
    lo, hi = [column.min() for column in columns], [column.max() for column in columns]
    return Bounds(np.array(lo, np.float64), np.array(hi, np.float64))


def _triangles(raw: RawModel, material_of: dict[tuple[str, str], int]) -> tuple[UInt32, tuple[Section, ...]]:
    parts: list[UInt32] = []
    sections: list[Section] = []
    first_triangle = mesh_start = 0
    for mesh in raw.meshes:
        starts = np.cumsum([mesh_start, *(buffer.count for buffer in mesh.buffers)])
        for section in mesh.sections:
            parts.append(section.triangles + np.uint32(starts[section.buffer]))
            material = material_of.get((section.material, section.info), -1)
            name = base_name(section.material) or mesh.name or f"section {len(sections) + 1}"
            is_open = bool(section.is_double_sided)
            sections.append(Section(name, material, first_triangle, len(section.triangles), is_open, section.is_flat))
            first_triangle += len(section.triangles)
        mesh_start = int(starts[-1])
    return np.concatenate([np.empty((0, 3), np.uint32), *parts]), tuple(sections)


def _joined(buffers: list[RawVertices], semantic: str, default: Float32) -> Float32:
    parts: list[Float32] = [np.empty((0, len(default)), np.float32)]
    for buffer in buffers:
        values = np.asarray(buffer.attributes.get(semantic, np.tile(default, (buffer.count, 1))), np.float32)
        parts.append(values[:, : len(default)])
    return np.concatenate(parts)


def _normals(buffers: list[RawVertices], positions: Float32, triangles: UInt32) -> Float32:
    stored = _joined(buffers, "normal", np.zeros(3, np.float32))
    squared = np.einsum("ij,ij->i", stored, stored)
    usable = (squared > 1e-12) & (squared < 1e12)
    if usable.all():
        unit: Float32 = stored / np.sqrt(squared)[:, None]
        return unit
    normals = vertex_normals(positions, triangles)
    normals[usable] = stored[usable] / np.sqrt(squared[usable])[:, None]
    return normals


def _tangents(buffers: list[RawVertices], normals: Float32) -> Float32 | None:
    """Returns tangents with handedness, shape (V, 4), zero where missing; None if no vertex has one."""
    if not any("tangent" in buffer.attributes for buffer in buffers):
        return None
    tangents = np.nan_to_num(_joined(buffers, "tangent", np.zeros(3, np.float32)), posinf=0.0, neginf=0.0)
    binormals = np.nan_to_num(_joined(buffers, "binormal", np.zeros(3, np.float32)), posinf=0.0, neginf=0.0)
    wide = tangents.astype(np.float64)
    length = np.linalg.norm(wide, axis=1, keepdims=True)
    if not (length > 1e-6).any():
        return None
    unit = np.where(length > 1e-6, wide / np.maximum(length, 1e-6), 0.0)
    handedness = np.where(np.einsum("ij,ij->i", np.cross(normals, unit), binormals) < 0.0, -1.0, 1.0)
    start = 0
    for buffer in buffers:
        stored = buffer.attributes.get("tangent")
        if stored is not None and stored.shape[1] > 3:
            handedness[start : start + buffer.count] = np.where(np.asarray(stored[:, 3], np.float32) < 0.0, -1.0, 1.0)
        start += buffer.count
    return np.column_stack([unit, handedness]).astype(np.float32)


def _buffer_colours(buffer: RawVertices) -> Float32:
    """Returns RGBA from 0 to 1, shape (V, 4); white if the buffer has none."""
    stored = buffer.attributes.get("color")
    if stored is None:
        return np.ones((buffer.count, 4), np.float32)
    if stored.dtype == np.float32:
        return stored.astype(np.float32, copy=False)
    channels = (stored.astype(np.uint32)[:, None] >> np.array((16, 8, 0, 24), np.uint32)) & np.uint32(0xFF)
    return channels.astype(np.float32) / np.float32(255.0)


_ROWS = ("position", "normal", "tangent")


def weight_starts_of(raw: RawModel) -> dict[int, int]:
    starts: dict[int, int] = {}
    total = 0
    for joint, mesh in weighted_meshes(raw).items():
        starts[joint] = total
        total += len(mesh.rest_weights)
    return starts


def weighted_meshes(raw: RawModel) -> dict[int, RawMesh]:
    """Returns meshes with morph targets by joint; copies of a mesh on one joint share their weights."""
    found: dict[int, RawMesh] = {}
    for mesh in raw.meshes:
        if mesh.rest_weights:
            found.setdefault(mesh.joint, mesh)
    return found


def target_names(raw: RawModel) -> tuple[str, ...]:
    """Returns unique names of all weights; one that several meshes use is prefixed by the name of the mesh."""
    meshes = weighted_meshes(raw).values()
    uses = Counter(name for mesh in meshes for name in mesh.target_names)
    names = [f"{mesh.name}: {name}" if uses[name] > 1 else name for mesh in meshes for name in mesh.target_names]
    return tuple(unique_names(names, "target", []))


def build_targets(raw: RawModel, with_tangents: bool) -> Targets | None:
    starts = weight_starts_of(raw)
    if not starts:
        return None
    runs: list[tuple[int, int, int]] = []  # first vertex, number of vertices, weight
    deltas: list[Float32] = []
    vertex = 0
    for mesh in raw.meshes:
        for buffer in mesh.buffers:
            for number, target in enumerate(buffer.targets):
                rows = np.zeros((buffer.count, 3 if with_tangents else 2, 4), np.float32)
                for row, semantic in enumerate(_ROWS[: rows.shape[1]]):
                    if semantic in target:
                        rows[:, row, :3] = target[semantic]
                moved = np.flatnonzero(rows.any(axis=(1, 2)))
                if len(moved):
                    first, last = int(moved[0]), int(moved[-1]) + 1
                    runs.append((vertex + first, last - first, starts[mesh.joint] + number))
                    deltas.append(rows[first:last].copy())
            vertex += buffer.count
    table = np.array(runs, np.int32).reshape(-1, 3)
    counts = table[:, 1]
    meshes = weighted_meshes(raw).values()
    return Targets(
        firsts=table[:, 0],
        counts=counts,
        starts=(np.cumsum(counts) - counts).astype(np.int32),
        weight_of=table[:, 2],
        deltas=np.concatenate([np.zeros((0, 3 if with_tangents else 2, 4), np.float32), *deltas]),
        names=target_names(raw),
        rest_weights=np.array([weight for mesh in meshes for weight in mesh.rest_weights], np.float64),
        is_frame=np.repeat(
            [mesh.are_frames or any(clip.frames for clip in raw.clips) for mesh in meshes],
            [len(mesh.rest_weights) for mesh in meshes],
        ),
    )
