"""EZMesh text in both dialects; ctype and semantic of a vertex buffer give its layout."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.build_skeleton import parents_by_name, unit_quaternions
from sinew.sim.assets.ezm_text import (
    Element,
    NumberFault,
    attributes,
    children,
    count_tokens,
    local_name,
    parse_hex,
    parse_numbers,
    parse_xml,
    payload,
    split_tokens,
    token_rows,
    token_values,
)
from sinew.sim.assets.faults import (
    MAX_JOINTS,
    MAX_MAGNITUDE,
    MAX_TRACKS,
    ElementFault,
    PartCounter,
    check_magnitude,
    quoted,
)
from sinew.sim.assets.raw import (
    LoadWatch,
    RawBone,
    RawClip,
    RawMaterial,
    RawMesh,
    RawModel,
    RawSection,
    RawSkeleton,
    RawTrack,
    RawVertices,
)
from sinew.sim.maths.arrays import Float64, UInt32

OUTSIDE_JOINT = 65535
MAX_TEXCOORD_SETS = 4
MAX_LAYOUT = 2048
MAX_COUNT = 2**32 - 1

_LETTER = re.compile(r"x[124]?|[fdhbcp]")
_ENTRY = re.compile(r"(?:x[124]?|[fdhbcp])+")
_HEX_DIGITS = {"x": 8, "x4": 8, "x2": 4, "x1": 2}
_ALIASES = {
    "blendweighting": "blendweights",
    "boneweighting": "blendweights",
    "boneindices": "blendindices",
    **{f"texel{number}": f"texcoord{number}" for number in range(1, MAX_TEXCOORD_SETS + 1)},
}
SIZES = {
    "position": (3,),
    "normal": (3,),
    "color": (1,),
    **{f"texcoord{number}": (2, 3) for number in range(1, MAX_TEXCOORD_SETS + 1)},
    "tangent": (3, 4),
    "binormal": (3,),
    "blendweights": (1, 2, 3, 4, 8),
    "blendindices": (1, 2, 3, 4, 8),
    "radius": (1,),
    **{f"interp{number}": (3, 4) for number in range(1, 9)},
}
"""Numbers per vertex that each meaning allows, in the order in which they are written; other meanings take any."""


@dataclass(frozen=True, slots=True)
class Field:
    semantic: str
    letters: tuple[str, ...]
    first: int

    @property
    def columns(self) -> range:
        return range(self.first, self.first + len(self.letters))


def read_vertices(
    element: str, attribute: dict[str, str], text: str, watch: LoadWatch, warnings: list[str]
) -> RawVertices:
    fields = parse_layout(element, attribute.get("ctype", ""), attribute.get("semantic", ""))
    count = parse_count(element, "count", attribute)
    columns, fields, count = _vertex_values(element, fields, count, text, watch, warnings)
    stored: dict[str, npt.NDArray[np.generic]] = {}
    for entry in fields:
        if entry.semantic in stored:
            warnings.append(f"{element}: the second {entry.semantic} is ignored.")
        elif "p" not in entry.letters and "c" not in entry.letters:
            stored[entry.semantic] = _stored(entry, columns[:, entry.first : entry.first + len(entry.letters)])
    if count:
        if "position" not in stored:
            raise ElementFault(element, "the semantic has no position")
        check_magnitude(element, "position", np.asarray(stored["position"], np.float32))
    return RawVertices(count, stored)


def read_triangles(element: str, attribute: dict[str, str], text: str, watch: LoadWatch, warnings: list[str]) -> UInt32:
    """Reads triangles, shape (T, 3); indices are not yet checked against the vertex buffer."""
    name = "triangle_count" if "triangle_count" in attribute else "count"
    count = parse_count(element, name, attribute)
    values = _numbers(element, text, watch)
    if count is None:
        count = len(values) // 3
    count = checked_count(element, len(values), count, 3, "triangle", warnings)
    values = values[: count * 3]
    wrong = ~((values >= 0) & (values <= MAX_COUNT) & (values == np.floor(values)))
    if wrong.any():
        raise ElementFault(element, f"{values[np.argmax(wrong)]:.9g} is not a vertex index")
    return values.astype(np.uint32).reshape(count, 3)


def parse_layout(element: str, ctype: str, semantic: str) -> list[Field]:
    if max(len(ctype), len(semantic)) > MAX_LAYOUT:
        raise ElementFault(element, f"ctype or semantic has more than {MAX_LAYOUT} characters")
    storage, meanings = ctype.replace(",", " ").split(), semantic.replace(",", " ").lower().split()
    if len(storage) != len(meanings):
        reason = f"ctype has {len(storage)} entries, semantic has {len(meanings)}"
        raise ElementFault(element, reason)
    fields: list[Field] = []
    first = 0
    for entry, meaning in zip(storage, _canonical(meanings), strict=True):
        if not _ENTRY.fullmatch(entry.lower()):
            raise ElementFault(element, f"ctype {quoted(entry)} is unknown")
        letters = tuple(_LETTER.findall(entry.lower()))
        sizes = SIZES.get(meaning)
        if sizes is not None and len(letters) not in sizes:
            raise ElementFault(element, f"{meaning} cannot be stored as {quoted(entry)}")
        fields.append(Field(meaning, letters, first))
        first += len(letters)
    return fields


def parse_count(element: str, name: str, attribute: dict[str, str]) -> int | None:
    text = attribute.get(name)
    if text is None:
        return None
    if not re.fullmatch(r"\s*\+?[0-9]{1,18}\s*", text, re.ASCII) or int(text) > MAX_COUNT:
        raise ElementFault(element, f"{name} {quoted(text)} is not a usable number")
    return int(text)


def checked_count(element: str, available: int, count: int, stride: int, what: str, warnings: list[str]) -> int:
    """Returns the usable count; raises ElementFault if `available` numbers are too few, warns about a surplus."""
    if available < count * stride:
        plural = {"vertex": "vertices"}.get(what, what + "s")
        raise ElementFault(
            element,
            f"holds {available} numbers, {count} {what if count == 1 else plural} of {stride} need {count * stride}",
        )
    if available > count * stride:
        warnings.append(f"{element}: {available - count * stride} surplus numbers are ignored.")
    return count


def _canonical(meanings: Sequence[str]) -> list[str]:
    """Returns current names of meanings; plain `texcoord` entries take the free sets in order."""
    names = [_ALIASES.get(meaning, meaning) for meaning in meanings]
    numbers = (number for number in range(1, len(names) + 1) if f"texcoord{number}" not in names)
    return [f"texcoord{next(numbers)}" if name == "texcoord" else name for name in names]


def _vertex_values(
    element: str, fields: list[Field], count: int | None, text: str, watch: LoadWatch, warnings: list[str]
) -> tuple[Float64, list[Field], int]:
    """Returns the numbers of the buffer, with the layout and the number of vertices that fit them."""
    stride = sum(len(field.letters) for field in fields)
    if stride == 0:
        if count or text.strip():
            raise ElementFault(element, "ctype and semantic are missing")
        return np.empty((0, 1)), fields, 0
    mixed = any(letter[0] in "xcp" for field in fields for letter in field.letters)
    values = np.empty(0) if mixed else _numbers(element, text, watch)
    available = count_tokens(text) if mixed else len(values)
    if count is None:
        count = available // stride
    if available != count * stride:
        fields, stride = _three_for_interp(fields, stride, available, count)
    count = checked_count(element, available, count, stride, "vertex", warnings)
    if mixed:
        return _mixed_values(element, fields, stride, count, token_rows(text, stride, watch)), fields, count
    return values[: count * stride].reshape(count, stride), fields, count


def _three_for_interp(fields: list[Field], stride: int, available: int, count: int) -> tuple[list[Field], int]:
    """Returns a layout with three numbers per interp if only that fits: some writers declare four and print three."""
    shorter: list[Field] = []
    first = 0
    for entry in fields:
        letters = entry.letters[:3] if entry.semantic.startswith("interp") else entry.letters
        shorter.append(Field(entry.semantic, letters, first))
        first += len(letters)
    return (shorter, first) if available == count * first else (fields, stride)


def _mixed_values(element: str, fields: list[Field], stride: int, count: int, pieces: Iterable[list[str]]) -> Float64:
    values = np.zeros((count, stride))
    columns = [pair for field in fields for pair in zip(field.letters, field.columns, strict=True)]
    row = 0
    for tokens in pieces:
        rows = min(len(tokens) // stride, count - row)
        try:
            for letter, column in columns:
                own = tokens[column : rows * stride : stride]
                if letter[0] == "x":
                    values[row : row + rows, column] = parse_hex(own, _HEX_DIGITS[letter])
                elif letter not in "cp":
                    values[row : row + rows, column] = token_values(own)
        except NumberFault as fault:
            raise ElementFault(element, str(fault)) from None
        row += rows
    return values


def _numbers(element: str, text: str, watch: LoadWatch) -> Float64:
    try:
        return parse_numbers(text, watch)
    except NumberFault as fault:
        raise ElementFault(element, str(fault)) from None


def _stored(field: Field, values: Float64) -> npt.NDArray[np.generic]:
    if field.semantic == "color":
        return np.where((values >= 0) & (values <= MAX_COUNT), values, 0)[:, 0].astype(np.uint32)
    if field.semantic == "blendindices":
        return _four(np.where((values >= 0) & (values < OUTSIDE_JOINT), values, OUTSIDE_JOINT).astype(np.uint16))
    single = values.astype(np.float32)
    if field.semantic.startswith("texcoord"):
        return np.ascontiguousarray(single[:, :2])
    return _four(single) if field.semantic == "blendweights" else single


def _four(values: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    missing = 4 - values.shape[1]
    return np.pad(values, ((0, 0), (0, missing))) if missing > 0 else values


_TRUE = ("true", "1", "yes")


def read_skeleton(element: Element, parts: PartCounter, warnings: list[str]) -> RawSkeleton:
    skeleton = attributes(element).get("name", "")
    described = []
    for child in children(element, "bone"):
        parts.add("Bone", MAX_JOINTS)
        described.append(attributes(child))
    names = [bone.get("name", "") for bone in described]
    parents, notes = parents_by_name(names, [bone.get("parent") for bone in described])
    warnings.extend(notes)
    values = np.array([_transform(bone, warnings) for bone in described]).reshape(-1, 10)
    for joint in np.flatnonzero(~(np.abs(values) <= MAX_MAGNITUDE).all(axis=1)).tolist():
        check_magnitude(f"Bone {quoted(names[joint])}", "its transform", values[joint])
    orientations = unit_quaternions(values[:, 3:7])
    bones = [
        RawBone(name, parent, transform[:3], orientation, transform[7:])
        for name, parent, transform, orientation in zip(names, parents, values, orientations, strict=True)
    ]
    return RawSkeleton(skeleton, bones)


def read_clip(element: Element, watch: LoadWatch, parts: PartCounter, warnings: list[str]) -> RawClip:
    attribute = attributes(element)
    name = attribute.get("name", "")
    title = f"animation {quoted(name)}"
    stored = []
    for child in children(element, "animtrack"):
        parts.add("AnimTrack", MAX_TRACKS)
        stored.append(_read_poses(child, title, watch, warnings))
    tracks = _tracks(stored, title)
    frames = max((len(track.positions) for track in tracks), default=0)
    try:
        frames = frames or parse_count(title, "framecount", attribute) or 0
    except ElementFault:
        warnings.append(f"The framecount of {title} is not a number.")
    return RawClip(name, frames, _seconds(attribute, "duration"), _seconds(attribute, "dtime"), tracks)


def _transform(bone: dict[str, str], warnings: list[str]) -> list[float]:
    """Returns position, orientation and scale as ten numbers; missing attributes are the identity."""
    title = f"Bone {quoted(bone.get('name', ''))}"
    values: list[float] = []
    for what, default in (("position", (0.0,) * 3), ("orientation", (0.0, 0.0, 0.0, 1.0)), ("scale", (1.0,) * 3)):
        values.extend(_vector(title, what, bone, default, warnings))
    return values


def _vector(
    element: str, what: str, attribute: dict[str, str], default: tuple[float, ...], warnings: list[str]
) -> Sequence[float]:
    text = attribute.get(what)
    if text is None:
        return default
    try:
        values = token_values(split_tokens(text))
    except NumberFault as fault:
        raise ElementFault(element, f"{what}: {fault}") from None
    if len(values) < len(default):
        raise ElementFault(element, f"{what} has {len(values)} numbers, needs {len(default)}")
    if len(values) > len(default):
        warnings.append(f"{element}: surplus numbers in {what} are ignored.")
    return values[: len(default)]


def _read_poses(element: Element, clip: str, watch: LoadWatch, warnings: list[str]) -> tuple[str, Float64]:
    """Reads name and poses of a track, shape (count, 7) or, with scales, (count, 10)."""
    attribute = attributes(element)
    name = attribute.get("name", "")
    title = f"AnimTrack {quoted(name)} of {clip}"
    try:
        values = parse_numbers(payload(element), watch)
    except NumberFault as fault:
        raise ElementFault(title, str(fault)) from None
    stride = 10 if attribute.get("has_scale", "").strip().lower() in _TRUE else 7
    count = parse_count(title, "count", attribute)
    if count is None:
        count = len(values) // stride
    elif len(values) != count * stride and len(values) == count * (17 - stride):
        stride = 17 - stride
    count = checked_count(title, len(values), count, stride, "pose", warnings)
    return name, values[: count * stride].reshape(count, stride)


def _tracks(stored: list[tuple[str, Float64]], clip: str) -> list[RawTrack]:
    """Checks and normalises the poses of all tracks together, because that is much faster."""
    orientations = np.concatenate([np.empty((0, 4)), *(poses[:, 3:7] for _, poses in stored)])
    rest = np.concatenate([np.empty(0), *(poses.ravel() for _, poses in stored)])
    if not (np.abs(rest) <= MAX_MAGNITUDE).all():
        for name, poses in stored:
            check_magnitude(f"AnimTrack {quoted(name)} of {clip}", "pose", poses)
    orientations = unit_quaternions(orientations)
    tracks = []
    start = 0
    for name, poses in stored:
        end = start + len(poses)
        scales = poses[:, 7:] if poses.shape[1] == 10 else None
        tracks.append(RawTrack(name, poses[:, :3], orientations[start:end], scales))
        start = end
    return tracks


def _seconds(attribute: dict[str, str], name: str) -> float:
    """Parses a time; returns 0 if the attribute is missing or not a number."""
    try:
        values = token_values(split_tokens(attribute.get(name, "")))
    except NumberFault:
        return 0.0
    return values[0] if values and math.isfinite(values[0]) else 0.0


ROOTS = ("meshsystem", "mesh", "scenegraph")
_COUNTED = ("mesh", "skeleton", "animation", "material")
# Content that is not drawn: collision shapes hold vertex buffers of their own.
_SKIPPED = {
    "meshcollisionrepresentations", "meshcollisionrepresentation", "meshcollision", "meshcollisionconvex",
    "tetramesh", "tetrameshes", "textures", "userdata", "userbinarydata", "meshinstances", "meshinstance",
    "nodetriangle", "nodeinstance", "meshaabb",
}  # fmt: skip


def read_ezm(data: bytes, path: Path, watch: LoadWatch) -> RawModel:
    model = RawModel(path, "ezm", None)
    root = parse_xml(data, model.warnings)
    name = local_name(root)
    if name not in ROOTS:
        raise ElementFault("", f"the root element is {quoted(name)}, not MeshSystem, Mesh or SceneGraph")
    watch.total = len(data)
    watch.advance()
    model.dialect = "MeshSystem" if name == "meshsystem" else "legacy"
    if model.dialect == "MeshSystem":
        attribute = attributes(root)
        model.asset_name = attribute.get("asset_name", "")
        model.asset_info = attribute.get("asset_info", "")
    _ElementWalk(model, watch).container(root)
    return model


class _ElementWalk:
    def __init__(self, model: RawModel, watch: LoadWatch) -> None:
        self._model = model
        self._watch = watch
        self._mesh = RawMesh("", "", [], [])  # The mesh whose elements are read
        self._titles: list[str] = []  # Of its sections, for messages
        self._latest: RawMesh | None = None
        self._parts = PartCounter()

    def container(self, root: Element) -> None:
        """Reads everything below `root` in document order; unknown elements are searched."""
        pending = [root]
        while pending:
            element = pending.pop()
            name = local_name(element)
            if name in _COUNTED:
                self._parts.add(name)
            if name == "mesh":
                self._read_mesh(element, pending)
            elif name == "skeleton":
                self._model.skeletons.append(read_skeleton(element, self._parts, self._model.warnings))
            elif name == "animation":
                self._model.clips.append(read_clip(element, self._watch, self._parts, self._model.warnings))
            elif name == "material":
                attribute = attributes(element)
                self._model.materials.append(RawMaterial(attribute.get("name", ""), attribute.get("meta_data", "")))
            elif name in ("vertexbuffer", "indexbuffer", "meshsection"):
                self._model.warnings.append(f"A {name} outside a mesh is ignored.")
            elif name not in _SKIPPED:
                pending.extend(reversed(element))

    def _read_mesh(self, element: Element, pending: list[Element]) -> None:
        attribute = attributes(element)
        mesh = RawMesh(attribute.get("name", ""), attribute.get("skeleton", ""), [], [])
        self._model.meshes.append(mesh)
        self._mesh, self._titles = mesh, []
        place = f"mesh {quoted(mesh.name)} (mesh {len(self._model.meshes)})"
        nested = []
        for child in element:
            name = local_name(child)
            if name == "vertexbuffer":
                self._read_buffer(child, place)
            elif name == "indexbuffer":
                self._read_section(child, {}, place)
            elif name == "meshsection":
                self._read_mesh_section(child)
            elif name in ("skeleton", "animation", "mesh", "skeletons", "animations", "materials", "material"):
                nested.append(child)
        self._close(place)
        pending.extend(reversed(nested))

    def _read_mesh_section(self, element: Element) -> None:
        attribute = attributes(element)
        place = f"section {quoted(attribute.get('material', ''))} (mesh {len(self._model.meshes)})"
        parts = [(local_name(child), child) for child in element]
        own = any(name == "vertexbuffer" for name, _ in parts)
        before = len(self._mesh.buffers)
        early = []
        for name, child in parts:
            if name == "vertexbuffer":
                self._read_buffer(child, place)
            elif name == "indexbuffer" and own and len(self._mesh.buffers) == before:
                early.append(child)
            elif name == "indexbuffer":
                self._read_section(child, attribute, place)
        for child in early:
            self._read_section(child, attribute, place, buffer=before)
        if not any(name == "indexbuffer" for name, _ in parts):
            self._model.warnings.append(f"MeshSection {place} has no indexbuffer.")

    def _read_buffer(self, element: Element, place: str) -> None:
        self._parts.add("vertexbuffer")
        title = f"vertexbuffer of {place}"
        text = payload(element)
        vertices = read_vertices(title, attributes(element), text, self._watch, self._model.warnings)
        self._mesh.buffers.append(vertices)
        self._latest = self._mesh

    def _read_section(self, element: Element, attribute: dict[str, str], place: str, buffer: int | None = None) -> None:
        self._parts.add("indexbuffer")
        title = f"indexbuffer of {place}"
        triangles = read_triangles(title, attributes(element), payload(element), self._watch, self._model.warnings)
        latest = len(self._mesh.buffers) - 1 if buffer is None else buffer
        section = RawSection(attribute.get("material", ""), attribute.get("info", ""), latest, triangles)
        self._mesh.sections.append(section)
        self._titles.append(title)

    def _close(self, place: str) -> None:
        owner, sections = self._mesh, self._mesh.sections
        waiting = [section for section in sections if section.buffer < 0]
        if waiting and not owner.buffers:
            if self._latest is None:
                raise ElementFault(self._titles[0], "there is no vertexbuffer to refer to")
            self._model.warnings.append(f"The sections of {place} belong to the vertexbuffer of an earlier mesh.")
            owner = self._latest
            owner.sections.extend(sections)
            self._mesh.sections = []
        for section in waiting:
            section.buffer = 0 if owner is self._mesh else len(owner.buffers) - 1
        for title, section in zip(self._titles, sections, strict=True):
            check_indices(title, section.triangles, owner.buffers[section.buffer].count)


def check_indices(element: str, triangles: UInt32, vertex_count: int) -> None:
    if triangles.size and (highest := int(triangles.max())) >= vertex_count:
        raise ElementFault(element, f"vertex index {highest} is out of range, there are {vertex_count} vertices")
