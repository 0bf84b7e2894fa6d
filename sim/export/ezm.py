import re
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO
from xml.sax.saxutils import escape

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.build_skeleton import unique_names
from sinew.sim.assets.clip import frame_step
from sinew.sim.assets.ezm_reader import SIZES
from sinew.sim.assets.raw import ModelError, RawClip, RawMesh, RawModel, RawSection, RawSkeleton, RawTrack, RawVertices
from sinew.sim.export.atomic_file import atomic_file

Values = npt.NDArray[np.generic]
# Values of missing attributes.  A zero normal is computed from the faces.
_DEFAULTS = {"color": (0xFFFFFFFF,), "blendweights": (1.0,)}
_ORDER = tuple(SIZES)
_STORAGE = {"color": "x4", "blendindices": "h"}
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BLANKS = {'"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}


def format_numbers(values: npt.NDArray[np.generic]) -> list[str]:
    """Returns numbers as text; values that are not finite become 0, float32 values get the digits they need."""
    flat = values.ravel()
    if flat.dtype.kind != "f":
        return [str(value) for value in flat.tolist()]
    finite = np.where(np.isfinite(flat), flat, flat.dtype.type(0.0))
    texts: list[str] = finite.astype("U32").tolist()
    for index, text in enumerate(texts):
        if text.endswith(".0"):
            texts[index] = text[:-2]
        elif "e" in text:
            texts[index] = np.format_float_positional(finite[index], trim="-")
    return texts


def format_rows(columns: list[list[str]]) -> str:
    """Returns one line for each item, with a comma after it; `columns` are first, second, ... number of all items."""
    return "".join(f"{' '.join(row)},\n" for row in zip(*columns, strict=True))


def columns_of(values: npt.NDArray[np.generic]) -> list[list[str]]:
    """Returns the columns of (n, k) values; (n,) values are one column."""
    width = 1 if values.ndim == 1 else values.shape[1]
    texts = format_numbers(values)
    return [texts[column::width] for column in range(width)]


def merged(mesh: RawMesh) -> RawMesh:
    if len(mesh.buffers) < 2:
        return mesh
    starts = np.cumsum([0, *(buffer.count for buffer in mesh.buffers)])
    sections = [
        RawSection(section.material, section.info, 0, section.triangles + np.uint32(starts[section.buffer]))
        for section in mesh.sections
    ]
    names = dict.fromkeys(name for buffer in mesh.buffers for name in buffer.attributes)
    attributes = {name: _joined(name, mesh.buffers) for name in names}
    return RawMesh(mesh.name, mesh.skeleton, [RawVertices(int(starts[-1]), attributes)], sections)


def _joined(name: str, buffers: list[RawVertices]) -> Values:
    """Joins buffers, as wide as the widest one, with the defaults of the format where the attribute is missing."""
    stored = [buffer.attributes.get(name) for buffer in buffers]
    pattern = next(values for values in stored if values is not None)
    width = max(1 if values.ndim == 1 else values.shape[1] for values in stored if values is not None)
    default = np.zeros(width, dtype=pattern.dtype)
    default[: len(_DEFAULTS.get(name, ()))] = _DEFAULTS.get(name, ())
    parts = []
    for buffer, values in zip(buffers, stored, strict=True):
        part = np.tile(default, (buffer.count, 1))
        if values is not None:
            columns = values.reshape(buffer.count, -1) if buffer.count else part
            part[:] = 0
            part[:, : columns.shape[1]] = columns
        parts.append(part)
    joined: Values = np.concatenate(parts)
    return joined[:, 0] if pattern.ndim == 1 else joined


def write_ezm(raw: RawModel, path: Path | str) -> None:
    """Writes an EZMesh file, which replaces `path` atomically.

    Boxes are recomputed, clip timing is written as judged, and a mesh with several vertex buffers gets a single one.
    Names of joints become unique, since parents are given by name.

    Raises:
        OSError: If the file cannot be written.
    """
    with atomic_file(Path(path)) as file:
        write_ezm_file(raw, file)


def write_ezm_file(raw: RawModel, file: BinaryIO) -> None:
    """Writes as `write_ezm`; warns about content that EZMesh cannot store, raises ModelError for a model with skins."""
    if raw.skins:
        raise ModelError(raw.path, "", f"models of the format {raw.format} are not written as EZMesh")
    lost = {
        "morph targets": any(buffer.targets for mesh in raw.meshes for buffer in mesh.buffers),
        "clips of key frames or curves": any(clip.frames or clip.channels for clip in raw.clips),
        "colours and images of materials": any(material.look is not None for material in raw.materials),
    }
    raw.warnings.extend(f"EZMesh cannot store {what}; skipped" for what, there in lost.items() if there)
    file.write(ezm_text(raw).encode("ascii", "xmlcharrefreplace"))


def ezm_text(raw: RawModel) -> str:
    # Boxes and formatting must not fail on values near the limits of a float.
    with np.errstate(all="ignore"):
        return _system(raw)


def _system(raw: RawModel) -> str:
    meshes = [merged(mesh) for mesh in raw.meshes]
    positions = [buffer.attributes["position"] for mesh in meshes for buffer in mesh.buffers if buffer.count]
    head = _attributes(
        asset_name=raw.asset_name, asset_info=raw.asset_info, mesh_system_version=1, mesh_system_asset_version=0
    )
    return "".join(
        [
            f'<?xml version="1.0"?>\n<MeshSystem {head}>\n',
            _box(np.concatenate(positions)) if positions else "",
            _group("Skeletons", [_skeleton(skeleton) for skeleton in raw.skeletons]),
            _group("Animations", [_clip(clip) for clip in raw.clips]),
            _group("Materials", [_material(material.name, material.meta_data) for material in raw.materials]),
            _group("Meshes", [_mesh(mesh) for mesh in meshes]),
            "</MeshSystem>\n",
        ]
    )


def _group(name: str, items: Sequence[str]) -> str:
    return f'<{name} count="{len(items)}">\n{"".join(items)}</{name}>\n' if items else ""


def _attributes(**values: str | int | float) -> str:
    # Characters that XML cannot hold become replacement characters.
    texts = {name: escape(_NOT_XML.sub("\ufffd", str(value)), _BLANKS) for name, value in values.items()}
    return " ".join(f'{name}="{text}"' for name, text in texts.items())


def _vector(values: npt.NDArray[np.generic], separator: str = " ") -> str:
    return separator.join(format_numbers(values))


def _box(positions: npt.NDArray[np.generic]) -> str:
    lo, hi = np.min(positions, axis=0), np.max(positions, axis=0)
    return f"<MeshAABB {_attributes(min=_vector(lo, ','), max=_vector(hi, ','))}/>\n"


def _skeleton(skeleton: RawSkeleton) -> str:
    names = unique_names([bone.name for bone in skeleton.bones], "bone", [])
    lines = []
    for name, bone in zip(names, skeleton.bones, strict=True):
        parent = {"parent": names[bone.parent]} if bone.parent >= 0 else {}
        transform = _attributes(
            orientation=_vector(bone.orientation), position=_vector(bone.position), scale=_vector(bone.scale)
        )
        lines.append(f"<Bone {_attributes(name=name, **parent)} {transform}/>\n")
    head = _attributes(name=skeleton.name, count=len(lines))
    return f"<Skeleton {head}>\n{''.join(lines)}</Skeleton>\n"


def _clip(clip: RawClip) -> str:
    step, _ = frame_step(clip.frame_count, clip.duration, clip.frame_step)
    duration = step * max(0, clip.frame_count - 1)
    head = _attributes(
        name=clip.name,
        trackcount=len(clip.tracks),
        framecount=clip.frame_count,
        duration=_vector(np.array([duration])),
        dtime=_vector(np.array([step])),
    )
    return f"<Animation {head}>\n{''.join(_track(track) for track in clip.tracks)}</Animation>\n"


def _track(track: RawTrack) -> str:
    parts = [track.positions, track.orientations, *([] if track.scales is None else [track.scales])]
    head = _attributes(
        name=track.name, count=len(track.positions), has_scale="false" if track.scales is None else "true"
    )
    columns = [column for part in parts for column in columns_of(part)]
    return f"<AnimTrack {head}>\n{format_rows(columns)}</AnimTrack>\n"


def _material(name: str, meta_data: str) -> str:
    # The format cannot hold a double quote; its own writers put this instead.
    return f"<Material {_attributes(name=name, meta_data=meta_data.replace(chr(34), '%20'))}/>\n"


def _mesh(mesh: RawMesh) -> str:
    head = _attributes(name=mesh.name, skeleton=mesh.skeleton, submesh_count=len(mesh.sections))
    body = []
    for buffer in mesh.buffers:
        layout = _layout(buffer)
        if buffer.count:
            body.append(_box(buffer.attributes["position"]))
        body.append(_vertices(buffer, layout))
        body.extend(_section(section, buffer, layout) for section in mesh.sections)
    return f"<Mesh {head}>\n{''.join(body)}</Mesh>\n"


def _layout(buffer: RawVertices) -> dict[str, str]:
    names = sorted(buffer.attributes, key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name))
    storage = []
    for name in names:
        values = buffer.attributes[name]
        storage.append(_STORAGE.get(name, "f") * (1 if values.ndim == 1 else values.shape[1]))
    return {"ctype": " ".join(storage), "semantic": " ".join(names)}


def _vertices(buffer: RawVertices, layout: dict[str, str]) -> str:
    columns = []
    for name in layout["semantic"].split():
        values = buffer.attributes[name]
        columns.extend([[f"{value:08X}" for value in values.tolist()]] if name == "color" else columns_of(values))
    head = _attributes(count=buffer.count, **layout)
    return f"<vertexbuffer {head}>\n{format_rows(columns)}</vertexbuffer>\n"


def _section(section: RawSection, buffer: RawVertices, layout: dict[str, str]) -> str:
    info = {"info": section.info} if section.info else {}
    head = _attributes(material=section.material, **info, **layout)
    box = ""
    if len(section.triangles):
        box = _box(buffer.attributes["position"][np.unique(section.triangles)])
    triangles = format_rows(columns_of(section.triangles))
    count = _attributes(triangle_count=len(section.triangles))
    indices = f"<indexbuffer {count}>\n{triangles}</indexbuffer>\n"
    return f"<MeshSection {head}>\n{box}{indices}</MeshSection>\n"
