"""USD: skinned characters with clips and blend shapes, moving objects, meshes over time, materials and textures; and
Alembic: meshes over time.

The libraries `usd-core` and `alembic3d` read a file in a process of its own (`child.py`, `alembic_child.py`), whose
output is checked here like any other file.  What the process leaves out is a warning.
"""

import json
import math
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.apart import read_apart
from sinew.sim.assets.faults import (
    MAX_JOINTS,
    MAX_MAGNITUDE,
    MAX_PARTS,
    MAX_VERTICES,
    ElementFault,
    check_magnitude,
    quoted,
)
from sinew.sim.assets.frame_mesh import add_frames, check_positions, check_size, clip_of
from sinew.sim.assets.in_betweens import hat_weights, target_names, with_crossings
from sinew.sim.assets.materials import TextureFolder, base_name
from sinew.sim.assets.model import AlphaMode, EmbeddedImage, ImageSource, Material
from sinew.sim.assets.raw import (
    LoadWatch,
    RawBone,
    RawChannel,
    RawClip,
    RawMaterial,
    RawMesh,
    RawModel,
    RawSection,
    RawSkeleton,
    RawSkin,
    RawVertices,
)
from sinew.sim.assets.rig import FileCamera, FileLight
from sinew.sim.maths import quaternion
from sinew.sim.maths.arrays import Float64, Int64
from sinew.sim.maths.polygons import triangulated

MEMORY = 4 << 30
"""Limit of the process [bytes]: an empty stage takes 0.8 GiB of addresses."""

INFLUENCES = 8
TARGET_BYTES = 1 << 29
"""Maximum size of the differences of all blend shapes [bytes]."""


def begins_as_usd(start: bytes) -> bool:
    is_package = start.startswith(b"PK\x03\x04") and b".usd" in start[30:542].lower()
    return is_package or start.startswith((b"#usda", b"PXR-USDC"))


def read_usd(data: bytes, path: Path, watch: LoadWatch) -> RawModel:
    """Reads a file and the layers beside it; `data` is not used, as layers name each other by their paths."""
    del data
    return _read("sinew.sim.assets.usd.child:content", "usd", path, watch)


def read_alembic(data: bytes, path: Path, watch: LoadWatch) -> RawModel:
    """Reads the meshes of a file, frame by frame."""
    del data
    return _read("sinew.sim.assets.usd.alembic_child:content", "abc", path, watch)


def _read(function: str, key: str, path: Path, watch: LoadWatch) -> RawModel:
    name = str(path.absolute()).encode("utf-8", "surrogateescape")
    arrays = read_apart(function, name, watch.advance, memory=MEMORY)
    document = json.loads(bytes(arrays.pop("document")))
    return _Reader(document, arrays, path, key, watch).model()


class _Reader:
    def __init__(
        self, document: dict[str, Any], arrays: dict[str, npt.NDArray[Any]], path: Path, key: str, watch: LoadWatch
    ) -> None:
        self._document, self._arrays, self._path, self._watch = document, arrays, path, watch
        self._model = RawModel(path, key, None, asset_name=path.name)
        self._model.up_axis, self._model.texture_origin = document["up"], "bottom"
        self._model.files = [Path(name) for name in document["layers"] if Path(name) != path]
        for name, values in arrays.items():
            if values.dtype.kind == "f" and not (np.abs(values) <= MAX_MAGNITUDE).all():
                raise ElementFault(name, "has unusable values")

    def model(self) -> RawModel:
        model, document = self._model, self._document
        if len(document["meshes"]) > MAX_PARTS:
            raise ElementFault("", f"has more than {MAX_PARTS} meshes")
        if not document["meshes"] and not document["nodes"]:
            raise ElementFault("", "has no meshes and no skeleton")
        model.materials = _MaterialReader(document["materials"], self._arrays, self._path.parent).read()
        if "frames" in self._arrays:
            self._read_frames()
        else:
            self._read_nodes()
            for mesh in document["meshes"]:
                self._watch.advance()
                self._read_mesh(mesh)
            self._read_clip()
            model.cameras = [
                FileCamera(one["node"], min(max(one["angle"], 1.0), 179.0), max(one["height"], 0.0),
                           max(one["near"], 1e-4), max(one["far"], 1e-3))
                for one in document["cameras"]
            ]  # fmt: skip
            model.lights = [
                FileLight(one["node"], _colour(one, "colour", (1.0, 1.0, 1.0)), one["strength"])
                for one in document["lights"]
            ]
        for note in document["notes"]:
            model.warnings.append(note)
        names = [f"{count:,} {what}{'s' if count != 1 else ''}" for what, count in document["left_out"].items()]
        if names:
            are = "is" if sum(document["left_out"].values()) == 1 else "are"
            model.warnings.append(f"{', '.join(names)} of the file {are} left out.")
        return model

    def _read_nodes(self) -> None:
        nodes = self._document["nodes"]
        if len(nodes) > MAX_JOINTS:
            raise ElementFault("nodes", f"there are more than {MAX_JOINTS}")
        for node in nodes:
            for part in ("position", "orientation", "scale"):
                check_magnitude(f"node {quoted(node['name'])}", part, np.array(node[part], np.float64))
        bones = [
            RawBone(
                node["name"] or f"node {number}", node["parent"], np.array(node["position"], np.float64),
                quaternion.normalised(np.array(node["orientation"], np.float64)), np.array(node["scale"], np.float64),
            )
            for number, node in enumerate(nodes)
        ]  # fmt: skip
        if bones:
            self._model.skeletons.append(RawSkeleton(self._path.stem, bones))

    def _vertices(self, mesh: dict[str, Any]) -> tuple[dict[str, npt.NDArray[Any]], Int64, list[RawSection]]:
        """Returns vertex data, the point of each vertex, and sections."""
        name, arrays, place = mesh["array"], self._arrays, f"mesh {quoted(mesh['name'])}"
        points, corners, faces = (arrays[f"{name}.{part}"] for part in ("points", "corners", "faces"))
        streams = [key for key in ("normal", "texcoord", "color") if f"{name}.{key}" in arrays]
        columns = np.stack([corners, *(arrays[f"{name}.{key}.corners"] for key in streams)], axis=1)
        used, vertex_of = np.unique(columns, axis=0, return_inverse=True)
        if len(used) > MAX_VERTICES:
            raise ElementFault(place, f"has more than {MAX_VERTICES:,} vertices")
        attributes: dict[str, npt.NDArray[Any]] = {"position": points[used[:, 0]].astype(np.float32)}
        for column, key in enumerate(streams, start=1):
            values = arrays[f"{name}.{key}"][used[:, column]].astype(np.float32)
            if key == "color":
                values = np.concatenate([values, np.ones((len(values), 1), np.float32)], axis=1)
            attributes["texcoord1" if key == "texcoord" else key] = values
        triangle_corners, face = triangulated(points[corners], faces[:, 0], faces[:, 1])
        triangles = vertex_of.reshape(-1)[triangle_corners].astype(np.uint32)
        if mesh["is_left"]:
            triangles = triangles[:, ::-1].copy()
        material, listed = arrays[f"{name}.materials"][face], mesh["materials"]
        sections = []
        for number in np.unique(material).tolist():
            shown = self._model.materials[listed[number]].name if listed[number] >= 0 else ""
            sections.append(
                RawSection(
                    shown,
                    "",
                    0,
                    triangles[material == number],
                    mesh["double_sided"] or None,
                    is_flat="normal" not in attributes and len(points) <= 8,
                )
            )
        return attributes, used[:, 0], sections

    def _read_mesh(self, mesh: dict[str, Any]) -> None:
        attributes, of_point, sections = self._vertices(mesh)
        count = len(self._arrays[f"{mesh['array']}.points"])
        joints, matrices, (slots, weights) = self._influences(mesh, count)
        self._model.skins.append(RawSkin(joints, matrices))
        names = [name for shape in mesh["shapes"] for name in target_names(shape["name"] or "shape", shape["targets"])]
        attributes |= {"blendindices": slots[of_point], "blendweights": weights[of_point]}
        self._model.meshes.append(
            RawMesh(
                mesh["name"], "", [RawVertices(len(of_point), attributes, self._targets(mesh, count, of_point))],
                sections, skin=len(self._model.skins) - 1, joint=mesh["node"], target_names=names,
                rest_weights=[0.0] * len(names),
            )
        )  # fmt: skip
        if mesh["skin"] and mesh["skin"]["method"] == "dualQuaternion":
            note = f"The skin of {mesh['name']!r} asks for dual quaternions; choose them in the inspector."
            self._model.warnings.append(note)

    def _influences(
        self, mesh: dict[str, Any], count: int
    ) -> tuple[list[int], Float64, tuple[npt.NDArray[np.uint16], npt.NDArray[np.float32]]]:
        """Returns joints, inverse bind matrices, and the influences of each point: its own node without a skin."""
        slots, weights = np.zeros((count, INFLUENCES), np.uint16), np.zeros((count, INFLUENCES), np.float64)
        if not mesh["skin"]:
            weights[:, 0] = 1.0
            return [mesh["node"]], np.eye(4)[None], (slots, weights.astype(np.float32))
        joints, name = mesh["skin"]["joints"], mesh["array"]
        indices, stored = self._arrays[f"{name}.joints"], np.maximum(self._arrays[f"{name}.weights"], 0.0)
        order = np.argsort(-stored, axis=1, kind="stable")[:, :INFLUENCES]
        near = min(order.shape[1], INFLUENCES)
        slots[:, :near] = np.take_along_axis(indices, order, axis=1)
        weights[:, :near] = np.take_along_axis(stored, order, axis=1)
        total = weights.sum(axis=1, keepdims=True)
        weights = np.where(total > 0.0, weights / np.where(total > 0.0, total, 1.0), np.eye(INFLUENCES)[0])
        return joints, self._arrays[f"{name}.bind"], (slots, weights.astype(np.float32))

    def _targets(self, mesh: dict[str, Any], count: int, of_point: Int64) -> list[dict[str, npt.NDArray[np.float32]]]:
        """Returns differences of each in-between, one row for each vertex."""
        wanted = [(number, key) for number, shape in enumerate(mesh["shapes"]) for key in range(len(shape["targets"]))]
        if len(wanted) * len(of_point) * 24 > TARGET_BYTES:
            raise ElementFault(
                f"mesh {quoted(mesh['name'])}", f"has {len(wanted):,} blend shapes, more than fit in memory"
            )
        targets = []
        for number, key in wanted:
            self._watch.advance()
            part = f"{mesh['array']}.shape{number}"
            target: dict[str, npt.NDArray[np.float32]] = {}
            for stored, semantic in (("points", "position"), ("normals", "normal")):
                offsets = self._arrays.get(f"{part}.{key}.{stored}")
                if offsets is not None:
                    table = np.zeros((count, 3), np.float32)
                    table[self._arrays[f"{part}.vertices"]] = offsets
                    target[semantic] = table[of_point]
            targets.append(target)
        return targets

    def _read_clip(self) -> None:
        channels = []
        for one in self._document["channels"]:
            keys = self._arrays[one["array"]].astype(np.float64)
            times, values = keys[:, 0], keys[:, 1:]
            if one["path"] == "weights":
                times, values = _shape_weights(times, values, self._document["meshes"][one["mesh"]]["shapes"])
            channels.append(RawChannel(one["node"], one["path"], "LINEAR", times, values))
        if any(len(channel.times) > 1 for channel in channels):
            self._model.clips.append(RawClip(self._path.stem, 0, 0.0, 0.0, [], channels))

    def _read_frames(self) -> None:
        """Makes one mesh of all, with the frames of its points in the world."""
        positions, times = self._arrays["frames"].astype(np.float32), self._arrays["frame_times"].astype(np.float64)
        check_size("the scene", len(positions), positions.shape[1])
        check_positions("the scene", positions)
        attributes: dict[str, list[npt.NDArray[Any]]] = {}
        of_vertex: list[Int64] = []
        sections: list[RawSection] = []
        first_point = first_vertex = 0
        found = [(mesh, *self._vertices(mesh)) for mesh in self._document["meshes"]]
        common = set.intersection(*(set(own) for _, own, _, _ in found)) - {"normal"}
        for mesh, own, of_point, parts in found:
            for key in common:
                attributes.setdefault(key, []).append(own[key])
            of_vertex.append(of_point + first_point)
            for part in parts:
                part.triangles = part.triangles + np.uint32(first_vertex)
                sections.append(part)
            first_point += len(self._arrays[f"{mesh['array']}.points"])
            first_vertex += len(of_point)
        joined = {key: np.concatenate(parts) for key, parts in attributes.items()}
        self._model.meshes.append(
            RawMesh(self._path.stem, "", [RawVertices(first_vertex, joined)], sections, are_frames=True)
        )
        names = [f"frame {number}" for number in range(len(positions))]
        add_frames(self._model, positions, np.concatenate(of_vertex), names, self._watch)
        if len(times) > 1:
            self._model.clips.append(clip_of(self._path.stem, range(len(times)), times - times[0]))


def _shape_weights(times: Float64, values: Float64, shapes: list[dict[str, Any]]) -> tuple[Float64, Float64]:
    """Returns times and weights of all in-betweens, which are linear between keys."""
    curves = [with_crossings(times, values[:, number], shape["targets"]) for number, shape in enumerate(shapes)]
    moments = np.unique(np.concatenate([found for found, _ in curves]))
    columns = [
        hat_weights(np.interp(moments, found, weights), shape["targets"])
        for (found, weights), shape in zip(curves, shapes, strict=True)
    ]
    return moments, np.concatenate(columns, axis=1)


class _MaterialReader:
    def __init__(self, stored: list[dict[str, Any]], arrays: dict[str, Any], folder: Path) -> None:
        self._stored, self._arrays, self._folder = stored, arrays, folder

    def read(self) -> list[RawMaterial]:
        found, taken = [], set[str]()
        for number, stored in enumerate(self._stored):
            name = stored["name"].strip() or f"material {number}"
            name = f"{name} ({number})" if name in taken else name
            taken.add(name)
            found.append(RawMaterial(name, "", self._material(number, name, stored)))
        return found

    def _material(self, number: int, name: str, stored: dict[str, Any]) -> Material:
        texture, image = self._texture(number, stored, "base")
        _, emission = self._texture(number, stored, "emission")
        _, normal = self._texture(number, stored, "normal")
        base = _colour(stored, "base", (1.0, 1.0, 1.0) if image is not None else (0.18, 0.18, 0.18))
        metal, opacity = _number(stored, "metal", 0.0), _number(stored, "opacity", 1.0)
        cutoff = _number(stored, "cutoff", 0.0)
        red, green, blue = base
        mode = AlphaMode.BLEND if opacity < 0.999 or "opacity" in stored["textures"] else AlphaMode.OPAQUE
        glow = (1.0, 1.0, 1.0) if emission is not None else (0.0, 0.0, 0.0)
        return Material(
            name=name, texture=texture,
            texture_path=image if isinstance(image, Path) else None,
            embedded=image if isinstance(image, EmbeddedImage) else None,
            diffuse=(red * (1.0 - metal), green * (1.0 - metal), blue * (1.0 - metal)), base=base,
            alpha_mode=AlphaMode.MASK if cutoff > 0.0 else mode, alpha_cutoff=cutoff or 0.5, opacity=opacity or 1.0,
            emission=_colour(stored, "emission", glow), emission_image=emission, normal_image=normal,
            metal=metal, roughness=_number(stored, "roughness", 0.5),
        )  # fmt: skip

    def _texture(self, number: int, stored: dict[str, Any], key: str) -> tuple[str | None, ImageSource | None]:
        use = stored["textures"].get(key)
        if use is None:
            return None, None
        name = base_name(use["name"]) or f"image {number}"
        if use["embedded"]:
            return name, EmbeddedImage(name, self._arrays[f"material{number}.{key}"].tobytes())
        below = PurePosixPath(use["name"]).parent
        places = [str(below), ""] if not below.is_absolute() else [""]
        found = (TextureFolder(self._folder, place).find(name) for place in places)
        return name, next(filter(None, found), None)


def _number(stored: dict[str, Any], key: str, default: float) -> float:
    value = stored.get(key)
    number = float(value[0]) if value else default
    return min(max(number, 0.0), 1.0) if math.isfinite(number) else default


def _colour(stored: dict[str, Any], key: str, default: tuple[float, float, float]) -> tuple[float, float, float]:
    value = stored.get(key)
    if not value or len(value) < 3 or not all(map(math.isfinite, value)):
        return default
    red, green, blue = (min(max(float(part), 0.0), 1e3) for part in value[:3])
    return red, green, blue
