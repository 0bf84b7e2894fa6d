"""FBX: skins, blend shapes with in-betweens, every animation stack, materials and embedded textures.

The library `ufbx` reads the file in a process of its own (`child.py`), with limits on memory and time; its output is
checked here like any other file.  Source: the documentation of ufbx 0.21.
"""

import json
import math
from pathlib import Path
from typing import Any, Literal

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
from sinew.sim.assets.formats import IMAGE_FORMATS
from sinew.sim.assets.in_betweens import hat_weights, target_names, with_crossings
from sinew.sim.assets.materials import TextureFolder, base_name, lost_colours
from sinew.sim.assets.model import (
    AlphaMode,
    EmbeddedImage,
    ImageSource,
    Material,
    reflectance_of_phong,
    roughness_of_exponent,
)
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
)  # fmt: skip
from sinew.sim.maths import quaternion
from sinew.sim.maths.arrays import Float64, UInt32
from sinew.sim.maths.polygons import triangulated
from sinew.sim.printable import printable

Index = npt.NDArray[np.int64]
Side = Literal["left", "right"]

INFLUENCES = 8
TARGET_BYTES = 1 << 29
"""Maximum size of the differences of all blend shapes [bytes]."""

DUAL_QUATERNION = {
    2: "asks for dual quaternions; choose them in the inspector.",
    3: "mixes dual quaternions and linear blending by vertex, which is not supported; choose one in the inspector.",
}
"""What is said of skinning methods of a file."""


def read_fbx(data: bytes, path: Path, watch: LoadWatch) -> RawModel:
    arrays = read_apart("sinew.sim.assets.fbx.child:content", data, watch.advance)
    document = json.loads(bytes(arrays.pop("document")))
    return _Reader(document, arrays, path, watch).model()


class _Reader:
    def __init__(
        self, document: dict[str, Any], arrays: dict[str, npt.NDArray[Any]], path: Path, watch: LoadWatch
    ) -> None:
        self._document, self._arrays, self._path, self._watch = document, arrays, path, watch
        self._model = RawModel(path, "fbx", None, asset_name=path.name, asset_info=document["creator"])
        self._model.up_axis, self._model.texture_origin = "Y", "bottom"
        for name, values in arrays.items():
            if values.dtype.kind == "f" and not (np.abs(values) <= MAX_MAGNITUDE).all():
                raise ElementFault(name, "has unusable values")

    def model(self) -> RawModel:
        model, document = self._model, self._document
        if len(document["meshes"]) > MAX_PARTS or len(document["stacks"]) > MAX_PARTS:
            raise ElementFault("", f"has more than {MAX_PARTS} meshes or animations")
        if len(document["nodes"]) < 2:
            raise ElementFault("", "is empty or damaged: it has no nodes")
        joint_of = self._read_nodes()
        materials = _MaterialReader(document["materials"], self._arrays, self._path.parent, self._path.stem)
        model.materials = materials.read()
        for number, mesh in enumerate(document["meshes"]):
            self._watch.advance()
            self._read_mesh(number, mesh, joint_of)
        for number, stack in enumerate(document["stacks"]):
            self._watch.advance()
            self._read_stack(number, stack, joint_of)
        if not document["is_resampled"]:
            model.warnings.append("The animations are long: between the frames of the file they follow straight lines.")
        skipped = document["left_out"]
        names = [f"{count:,} {what}{'s' if count != 1 else ''}" for what, count in skipped.items()]
        if names:
            model.warnings.append(
                f"{', '.join(names)} of the file {'is' if sum(skipped.values()) == 1 else 'are'} left out."
            )
        return model

    def _read_nodes(self) -> dict[int, int]:
        nodes = self._document["nodes"]
        used = {node for mesh in self._document["meshes"] for node in mesh["nodes"]}
        used |= {joint for mesh in self._document["meshes"] if mesh["skin"] for joint in mesh["skin"]["joints"]}
        for number in range(len(nodes) - 1, 0, -1):
            if number in used or not nodes[number]["is_useless"]:
                used |= {number, nodes[number]["parent"]}
        numbers = sorted(used - {0})  # the first one is the root of the file
        if len(numbers) > MAX_JOINTS:
            raise ElementFault("nodes", f"there are more than {MAX_JOINTS}")
        joint_of = {number: joint for joint, number in enumerate(numbers)}
        for number in numbers:
            for part in ("position", "orientation", "scale"):
                check_magnitude(
                    f"node {quoted(nodes[number]['name'])}", part, np.array(nodes[number][part], np.float64)
                )
        bones = [
            RawBone(
                nodes[number]["name"].strip() or f"node {number}",
                joint_of.get(nodes[number]["parent"], -1),
                np.array(nodes[number]["position"], np.float64),
                quaternion.normalised(np.array(nodes[number]["orientation"], np.float64)),
                np.array(nodes[number]["scale"], np.float64),
            )
            for number in numbers
        ]
        if bones:
            self._model.skeletons.append(RawSkeleton(self._path.stem, bones))
        return joint_of

    def _read_mesh(self, number: int, mesh: dict[str, Any], joint_of: dict[int, int]) -> None:
        name, arrays = f"mesh{number}", self._arrays
        place = f"mesh {mesh['name'] or number!r}"
        points, corners, faces = arrays[f"{name}.points"], arrays[f"{name}.corners"], arrays[f"{name}.faces"]
        if not len(faces) or not len(points):
            return
        columns = [corners]
        streams = [key for key in ("normal", "texcoord", "color") if f"{name}.{key}" in arrays]
        columns += [arrays[f"{name}.{key}.corners"] for key in streams]
        used, vertex_of = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        if len(used) > MAX_VERTICES:
            raise ElementFault(place, f"has more than {MAX_VERTICES:,} vertices")
        of_point = used[:, 0]
        attributes: dict[str, npt.NDArray[Any]] = {"position": points[of_point].astype(np.float32)}
        for column, key in enumerate(streams, start=1):
            stored = "texcoord1" if key == "texcoord" else key
            attributes[stored] = arrays[f"{name}.{key}"][used[:, column]].astype(np.float32)
        triangle_corners, face = triangulated(points[corners], faces[:, 0], faces[:, 1])
        triangles = vertex_of.reshape(-1)[triangle_corners].astype(np.uint32)
        materials = arrays[f"{name}.materials"]
        material = materials[face] if len(materials) == len(faces) else np.zeros_like(face)
        shapes = self._targets(mesh, name, len(points), of_point, place)
        for node, geometry, listed in zip(mesh["nodes"], mesh["geometry"], mesh["materials"], strict=True):
            joints, matrices, influences = self._influences(mesh, name, len(points), joint_of, node, geometry)
            skin = RawSkin(joints, matrices)
            own = {**attributes, "blendindices": influences[0][of_point], "blendweights": influences[1][of_point]}
            self._model.skins.append(skin)
            placed = RawMesh(
                mesh["name"].strip() or self._document["nodes"][node]["name"].strip() or f"mesh {number}",
                "",
                [RawVertices(len(used), own, shapes)],
                self._sections(listed, triangles, material),
                skin=len(self._model.skins) - 1,
                joint=joint_of[node],
            )
            for shape in mesh["shapes"]:
                placed.target_names += target_names(shape["name"].strip() or "shape", shape["targets"])
                placed.rest_weights += hat_weights(np.array([shape["weight"]]), shape["targets"])[0].tolist()
            self._model.meshes.append(placed)
        if mesh["skin"] and mesh["skin"]["method"] in DUAL_QUATERNION:
            note = DUAL_QUATERNION[mesh["skin"]["method"]]
            self._model.warnings.append(f"The skin of {printable(mesh['name'] or str(number))!r} {note}")
        if mesh["skin"] and mesh.get("extra_skins"):
            self._model.warnings.append("Meshes with several skins follow the first one.")

    def _sections(self, listed: list[int], triangles: UInt32, material: Index) -> list[RawSection]:
        """Returns a section for each material of an instance; `material` is the number of each triangle."""
        sections = []
        for number in np.unique(material).tolist():
            found = self._model.materials[listed[number]].name if 0 <= number < len(listed) else ""
            sections.append(RawSection(found, "", 0, triangles[material == number]))
        return sections

    def _influences(
        self, mesh: dict[str, Any], name: str, count: int, joint_of: dict[int, int], node: int, geometry: Any
    ) -> tuple[list[int], Float64, tuple[npt.NDArray[np.uint16], npt.NDArray[np.float32]]]:
        """Returns joints of the skin and the node, their inverse bind matrices, and the influences of each point."""
        joints = [joint_of[joint] for joint in mesh["skin"]["joints"]] if mesh["skin"] else []
        matrices = np.zeros((len(joints) + 1, 4, 4))
        matrices[:, 3, 3] = 1.0
        if joints:
            matrices[:-1, :3] = self._arrays[f"{name}.skin.matrices"]
        matrices[-1, :3] = np.array(geometry, np.float64)[:3]
        slots = np.full((count, INFLUENCES), len(joints), np.uint16)
        weights = np.zeros((count, INFLUENCES), np.float64)
        if joints:
            vertices, owners, values = self._arrays[f"{name}.skin.influences"].T
            _check_points(f"the skin of mesh {quoted(mesh['name'])}", vertices, count)
            order = np.lexsort((-values, vertices))
            vertices, owners, values = vertices[order].astype(np.int64), owners[order], values[order]
            rank = np.arange(len(vertices)) - np.searchsorted(vertices, vertices)
            near = (rank < INFLUENCES) & (values > 0.0)
            slots[vertices[near], rank[near]] = owners[near]
            weights[vertices[near], rank[near]] = values[near]
        total = weights.sum(axis=1)
        weights[total <= 0.0, 0] = 1.0
        weights /= np.where(total > 0.0, total, 1.0)[:, None]
        return [*joints, joint_of[node]], matrices, (slots, weights.astype(np.float32))

    def _targets(
        self, mesh: dict[str, Any], name: str, point_count: int, of_point: Index, place: str
    ) -> list[dict[str, npt.NDArray[np.float32]]]:
        """Returns differences of each in-between, one row for each vertex."""
        count = sum(len(shape["targets"]) for shape in mesh["shapes"])
        if count * len(of_point) * 24 > TARGET_BYTES:
            raise ElementFault(
                place, f"has {count:,} blend shapes of {len(of_point):,} vertices, more than fit in memory"
            )
        targets = []
        for number, shape in enumerate(mesh["shapes"]):
            for key in range(len(shape["targets"])):
                self._watch.advance()
                part = f"{name}.shape{number}.{key}"
                vertices, target = self._arrays[f"{part}.vertices"], {}
                _check_points(f"blend shape {quoted(shape['name'])} of {place}", vertices, point_count)
                for stored, semantic in (("points", "position"), ("normals", "normal")):
                    offsets = self._arrays.get(f"{part}.{stored}")
                    if offsets is not None:
                        table = np.zeros((point_count, 3), np.float32)
                        table[vertices] = offsets
                        target[semantic] = table[of_point]
                targets.append(target)
        return targets

    def _read_stack(self, number: int, stack: dict[str, Any], joint_of: dict[int, int]) -> None:
        begin, end = float(stack["begin"]), float(stack["end"])
        bones = self._model.skeletons[0].bones if self._model.skeletons else []
        channels: list[RawChannel] = []
        for moved in stack["joints"]:
            joint = joint_of.get(moved["node"])
            if joint is None:
                continue
            bone = bones[joint]
            rest = {"translation": bone.position, "rotation": bone.orientation, "scale": bone.scale}
            for path in moved["paths"]:
                times, values = self._keys(f"stack{number}.{moved['place']}.{path}", begin, end, path == "rotation")
                if not _is_constant(values, rest[path], path == "rotation"):
                    channels.append(RawChannel(joint, path, "LINEAR", times, values))
        channels += self._weights(number, stack, joint_of, begin, end)
        if channels:
            self._model.clips.append(RawClip(stack["name"].strip() or f"take {number + 1}", 0, 0.0, 0.0, [], channels))

    def _keys(self, name: str, begin: float, end: float, is_rotation: bool) -> tuple[Float64, Float64]:
        """Returns times from the start of the stack [s] and values, cut to the stack."""
        keys = self._arrays[name].astype(np.float64)
        times, values = keys[:, 0] - begin, keys[:, 1:]
        length = end - begin
        if length <= 0.0 or len(times) < 2:
            return (np.maximum(times - times[0], 0.0) if len(times) else times), values
        inside = (times > 0.0) & (times < length)
        begins = _at(np.zeros(1), times, values, is_rotation)
        ends = [_at(np.array([length]), times, values, is_rotation, side) for side in ("left", "right")]
        if np.array_equal(ends[0], ends[1]):
            del ends[1]
        return (
            np.concatenate([[0.0], times[inside], [length] * len(ends)]),
            np.concatenate([begins, values[inside], *ends]),
        )

    def _weights(
        self, number: int, stack: dict[str, Any], joint_of: dict[int, int], begin: float, end: float
    ) -> list[RawChannel]:
        """Returns one channel for each mesh that the stack moves."""
        found: list[RawChannel] = []
        for mesh_number in sorted({mesh for mesh, _ in stack["weights"]}):
            mesh = self._document["meshes"][mesh_number]
            curves: dict[int, tuple[Float64, Float64]] = {}
            for channel in sorted(channel for one, channel in stack["weights"] if one == mesh_number):
                times, values = self._keys(f"stack{number}.weight{mesh_number}.{channel}", begin, end, False)
                curves[channel] = with_crossings(times, values[:, 0] / 100.0, mesh["shapes"][channel]["targets"])
            moments = np.unique(np.concatenate([times for times, _ in curves.values()]))
            jumps = np.concatenate([times[1:][np.diff(times) == 0.0] for times, _ in curves.values()])
            times = np.sort(np.concatenate([moments, np.unique(jumps)]))
            comes_before = np.append(np.diff(times) == 0.0, False)
            columns = []
            for channel, shape in enumerate(mesh["shapes"]):
                weight = np.full(len(times), shape["weight"])
                if channel in curves:
                    known, values = curves[channel][0], curves[channel][1][:, None]
                    before, after = (_at(times, known, values, False, side)[:, 0] for side in ("left", "right"))
                    weight = np.where(comes_before, before, after)
                columns.append(hat_weights(weight, shape["targets"]))
            values = np.concatenate(columns, axis=1)
            found += [RawChannel(joint_of[node], "weights", "LINEAR", times, values) for node in mesh["nodes"]]
        return found


def _check_points(place: str, points: npt.NDArray[Any], count: int) -> None:
    if len(points) and not 0 <= points.min() <= points.max() < count:
        wrong = points[(points < 0) | (points >= count)][0]
        raise ElementFault(place, f"names point {wrong:.0f} of {count}")


def _at(moments: Float64, times: Float64, values: Float64, is_rotation: bool, side: Side = "right") -> Float64:
    """Interpolates linear keys at times; rotations along the shortest arc.

    Where two keys have the same time the value jumps, and `side` selects the value before or after.
    """
    if len(times) < 2:
        return np.repeat(values, len(moments), axis=0)
    after = np.clip(np.searchsorted(times, moments, side), 1, len(times) - 1)
    spans = times[after] - times[after - 1]
    share = np.clip((moments - times[after - 1]) / np.where(spans > 0.0, spans, 1.0), 0.0, 1.0)
    share[spans <= 0.0] = side == "right"
    if is_rotation:
        return quaternion.slerp(quaternion.normalised(values[after - 1]), quaternion.normalised(values[after]), share)
    found: Float64 = values[after - 1] + share[:, None] * (values[after] - values[after - 1])
    return found


def _is_constant(values: Float64, rest: Float64, is_rotation: bool) -> bool:
    if is_rotation:
        values = quaternion.aligned(values, rest)
    return bool((np.abs(values - rest) <= 1e-12).all())


class _MaterialReader:
    def __init__(self, stored: list[dict[str, Any]], arrays: dict[str, Any], folder: Path, stem: str) -> None:
        self._stored, self._arrays = stored, arrays
        self._folders = [TextureFolder(folder, name) for name in ("", "textures", "Textures", f"{stem}.fbm")]

    def read(self) -> list[RawMaterial]:
        found, taken = [], set[str]()
        for number, stored in enumerate(self._stored):
            name = stored["name"].strip() or f"material {number}"
            name = f"{name} ({number})" if name in taken else name
            taken.add(name)
            found.append(RawMaterial(name, "", self._material(number, name, stored)))
        return found

    def _material(self, number: int, name: str, stored: dict[str, Any]) -> Material:
        texture, image = self._texture(number, stored, "base_color")
        _, normal = self._texture(number, stored, "normal")
        emission_name, emission_image = self._texture(number, stored, "emission")
        factor = _number(stored, "base_factor", 1.0)
        colour = _colour(stored.get("base_color") or stored.get("diffuse"), (1.0, 1.0, 1.0))
        is_lost = emission_name is not None and emission_image is None
        glow = 0.0 if is_lost else _number(stored, "emission_factor", 1.0)
        # Maya writes transparency as a colour at factor 1, Blender and 3ds Max as the factor.
        clear = _number(stored, "transparency", 0.0)
        clear = clear if clear < 1.0 else sum(_colour(stored.get("transparent"), (0.0, 0.0, 0.0))) / 3.0
        opacity = _number(stored, "opacity", 1.0 - clear)
        roughness = _number(stored, "roughness", 0.7)
        metal = _number(stored, "metalness", 0.0)
        diffuse, (red, green, blue) = (1.0, 1.0, 1.0) if image is not None else colour, colour
        base_factor = min(max(factor, 0.0), 1.0)
        exponent, more = stored.get("exponent"), dict[str, Any]()
        if exponent:  # a Phong material
            highlights = _scaled(_colour(stored.get("highlights"), (0.0, 0.0, 0.0)), _number(stored, "gloss", 1.0))
            more["dielectric"] = reflectance_of_phong(highlights)
        # The exponent of Phong is about the mirror direction.
        rough = roughness_of_exponent(4.0 * _number(stored, "exponent", 0.0)) if exponent else roughness
        return Material(
            name=name,
            texture=texture,
            texture_path=image if isinstance(image, Path) else None,
            embedded=image if isinstance(image, EmbeddedImage) else None,
            diffuse=_scaled(diffuse, base_factor * (1.0 - metal)),
            specular=(0.04 + metal * (red - 0.04), 0.04 + metal * (green - 0.04), 0.04 + metal * (blue - 0.04)),
            shininess=min(2.0 / max(roughness**2, 0.03) ** 2 - 2.0, 1e4),
            alpha_mode=AlphaMode.BLEND if 0.0 < opacity < 0.999 else AlphaMode.OPAQUE,
            opacity=opacity if opacity > 0.0 else 1.0,
            emission=_scaled(_colour(stored.get("emission"), (0.0, 0.0, 0.0)), glow),
            emission_image=emission_image,
            normal_image=normal,
            lost=lost_colours(texture, image if isinstance(image, Path) else None) if image is None else (),
            metal=min(metal, 1.0),
            base=_scaled(diffuse, base_factor),
            roughness=min(rough, 1.0),
            **more,
        )

    def _texture(self, number: int, stored: dict[str, Any], key: str) -> tuple[str | None, ImageSource | None]:
        """Returns path and content of a texture, without an image if it was not found."""
        use = stored["textures"].get(key)
        if use is None:
            return None, None
        recorded = use["relative"] or use["file"]
        name = base_name(recorded) or f"image {number}"
        if use["embedded"]:
            return name, EmbeddedImage(name, self._arrays[f"material{number}.{key}"].tobytes())
        for path in (use["relative"], use["file"]):
            for folder in self._folders:
                found = folder.find(path) if path else None
                if found is not None:
                    return name, found
        is_image = name.casefold().endswith(IMAGE_FORMATS.suffixes())
        return (name if is_image else None), None


def _number(stored: dict[str, Any], key: str, default: float) -> float:
    value = stored.get(key)
    number = float(value[0]) if value else default
    return min(max(number, 0.0), 1e3) if math.isfinite(number) else default


def _scaled(colour: tuple[float, float, float], factor: float) -> tuple[float, float, float]:
    red, green, blue = colour
    return factor * red, factor * green, factor * blue


def _colour(value: list[float] | None, default: tuple[float, float, float]) -> tuple[float, float, float]:
    if not value:
        return default
    red, green, blue = (value * 3)[:3] if len(value) < 3 else value[:3]
    return (min(max(red, 0.0), 1e3), min(max(green, 0.0), 1e3), min(max(blue, 0.0), 1e3))
