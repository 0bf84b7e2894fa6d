"""glTF 2.0, text and binary: rigid and skinned meshes with morph targets, their materials and clips.

Vertices are ordered by node, then by primitive; a mesh on two nodes is copied.  Every node is a joint, so rigid
parts are skins with one joint.  Source: Khronos Group, glTF 2.0 specification, version 2.0.1.
"""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sinew.sim.assets.build_skeleton import unit_quaternions
from sinew.sim.assets.faults import MAX_JOINTS, MAX_TRACKS, ElementFault, PartCounter, check_magnitude
from sinew.sim.assets.formats import GltfOptions
from sinew.sim.assets.gltf.document import (
    Animation,
    GltfDocument,
    GltfMesh,
    GltfNode,
    Instancing,
    Sampler,
    decode_document,
    part_of,
)
from sinew.sim.assets.gltf.file import GltfFile, split_file
from sinew.sim.assets.gltf.materials import MaterialReader
from sinew.sim.assets.gltf.primitives import LEFT_OUT, TRIANGLES, PrimitiveReader
from sinew.sim.assets.gltf.vrm import OLD, is_old, read_rig, turn_around
from sinew.sim.assets.gltf.vrm_document import OldVrm, extension_of
from sinew.sim.assets.raw import LoadWatch, RawBone, RawChannel, RawClip, RawMesh, RawModel, RawSkeleton, RawSkin
from sinew.sim.assets.rig import FileCamera, Rig
from sinew.sim.maths import quaternion
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.transform import compose, decompose
from sinew.sim.notes import Notes
from sinew.sim.printable import counted, printable


def read_gltf(data: bytes, path: Path, watch: LoadWatch, options: GltfOptions) -> RawModel:
    text, binary = split_file(data)
    warnings = Notes()
    document = decode_document(text, warnings)
    file = GltfFile(path, document, binary, len(data))
    model = RawModel(path, "gltf", None, asset_info=document.asset.generator, warnings=warnings)
    model.up_axis, model.texture_origin, model.files = "Y", "top", file.files
    if document.nodes:
        model.skeletons = [read_skeleton(document, warnings)]
    old = extension_of(document, OLD, OldVrm, warnings) if is_old(document) else OldVrm()
    model.materials = MaterialReader(file, old.material_properties, warnings).read()
    watch.advance()
    shown = shown_nodes(document, options.scene)
    _Placer(file, model, watch).place(shown)
    model.clips = read_clips(file, warnings)
    for placed in model.meshes:
        placed.are_frames &= _shows_one(placed, model.clips)
    model.rig = read_rig(document, model, old)
    if is_old(document) and model.skeletons:
        turn_around(model.skeletons[0].bones, (channel for clip in model.clips for channel in clip.channels))
    model.cameras = read_cameras(document, shown, warnings)
    lights = sum(node.extensions.lights is not None for node in document.nodes)
    if lights:
        warnings.append(f"{counted(lights, 'light')} of the file {'is' if lights == 1 else 'are'} left out.")
    if LEFT_OUT in warnings and model.rig == Rig():
        _remove_joints(model, nodes_without_content(document))
    return model


class _Placer:
    def __init__(self, file: GltfFile, model: RawModel, watch: LoadWatch) -> None:
        self._file, self._document, self._model, self._watch = file, file.document, model, watch
        names = [material.name for material in model.materials]
        self._primitives = PrimitiveReader(file, names, model.warnings)
        self._parts = PartCounter()
        self._skins: dict[int, int] = {}

    def place(self, nodes: list[int]) -> None:
        for index in nodes:
            node = self._document.nodes[index]
            if node.mesh is None:
                continue
            mesh = part_of(self._document.meshes, node.mesh, f"nodes[{index}].mesh", "meshes")
            self._watch.advance()
            skins = self._skins_of(index, node)
            place = f"nodes[{index}]" + (f" with {len(skins):,} instances" if len(skins) > 1 else "")
            if skins:
                for number in range(len(mesh.primitives)):
                    self._primitives.charge(node.mesh, number, len(skins), place)
            for skin in skins:
                self._place(index, node, mesh, skin)

    def _place(self, index: int, node: GltfNode, mesh: GltfMesh, skin: int) -> None:
        assert node.mesh is not None
        self._parts.add("placed meshes")
        name = mesh.name.strip() or self._model.skeletons[0].bones[index].name
        placed = RawMesh(name, "", [], [], skin=skin, joint=index)
        for number in range(len(mesh.primitives)):
            self._parts.add("placed primitives")
            made = self._primitives.read(node.mesh, number)
            if made is None:
                continue
            vertices, section = made
            placed.sections.append(replace(section, buffer=len(placed.buffers)))
            if node.skin is None:  # influences have no meaning without a skin
                attributes = vertices.attributes.items()
                vertices = replace(vertices, attributes={k: v for k, v in attributes if not k.startswith("blend")})
            placed.buffers.append(vertices)
        count = max((len(buffer.targets) for buffer in placed.buffers), default=0)
        if count:
            stored = node.weights if node.weights is not None else mesh.weights
            placed.rest_weights = (list(stored) + [0.0] * count)[:count]
            # VRM 0.x stores the names with the primitives.
            extras = [mesh.extras, *(part.extras for part in mesh.primitives if is_old(self._document))]
            placed.target_names, placed.are_frames = _target_names(extras, count)
        if placed.buffers:
            self._model.meshes.append(placed)

    def _skins_of(self, index: int, node: GltfNode) -> list[int]:
        """Returns one skin of a node, or one for each instance."""
        if node.skin is not None:
            if node.skin not in self._skins:
                self._skins[node.skin] = self._added(self._skin(node.skin, f"nodes[{index}].skin"))
            return [self._skins[node.skin]]
        if node.extensions.instancing is None:
            return [self._added(RawSkin([index], np.eye(4)[None]))]
        placements = self._instances(node.extensions.instancing, f"nodes[{index}].extensions.EXT_mesh_gpu_instancing")
        self._parts.add("instances", count=len(placements))
        return [self._added(RawSkin([index], placement[None])) for placement in placements]

    def _added(self, skin: RawSkin) -> int:
        self._parts.add("skins")
        self._model.skins.append(skin)
        return len(self._model.skins) - 1

    def _skin(self, index: int, place: str) -> RawSkin:
        stored = part_of(self._document.skins, index, place, "skins")
        own = f"skins[{index}]"
        for joint in stored.joints:
            part_of(self._document.nodes, joint, f"{own}.joints", "nodes")
        count = len(stored.joints)
        if stored.inverse_bind_matrices is None:
            return RawSkin(list(stored.joints), np.tile(np.eye(4), (count, 1, 1)))
        own += ".inverseBindMatrices"
        values = self._file.floats(stored.inverse_bind_matrices, own, ("MAT4",))
        if len(values) < count:
            raise ElementFault(own, f"has {len(values)} matrices for {count} joints")
        # Stored column after column; the last row of an affine matrix is known.
        matrices = values[:count].reshape(-1, 4, 4).swapaxes(1, 2).astype(np.float64)
        matrices[:, 3] = (0.0, 0.0, 0.0, 1.0)
        return RawSkin(list(stored.joints), matrices)

    def _instances(self, stored: Instancing, place: str) -> Float64:
        parts = {}
        for name, kind in (("TRANSLATION", "VEC3"), ("ROTATION", "VEC4"), ("SCALE", "VEC3")):
            if name in stored.attributes:
                parts[name] = self._file.floats(stored.attributes[name], f"{place}.{name}", (kind,))
        counts = {len(values) for values in parts.values()}
        if len(counts) != 1:
            raise ElementFault(place, "needs attributes of equal counts")
        count = counts.pop()
        return compose(
            parts.get("TRANSLATION", np.zeros((count, 3))).astype(np.float64),
            quaternion.normalised(parts.get("ROTATION", np.tile(quaternion.IDENTITY, (count, 1))).astype(np.float64)),
            parts.get("SCALE", np.ones((count, 3))).astype(np.float64),
        )


def _target_names(extras: list[Any], count: int) -> tuple[list[str], bool]:
    """Returns the names in `targetNames`, where most writers store them, else numbers; True if there are no names."""
    stored = (part.get("targetNames") for part in extras if isinstance(part, dict))
    names: list[Any] = next((names for names in stored if isinstance(names, list)), [])
    numbered = [
        names[index] if index < len(names) and isinstance(names[index], str) else f"target {index}"
        for index in range(count)
    ]
    return numbered, not names


def _shows_one(mesh: RawMesh, clips: list[RawClip]) -> bool:
    """Returns True if every key of the weights of a mesh shows at most one morph target, and clips drive them."""
    channels = [c for clip in clips for c in clip.channels if c.joint == mesh.joint and c.path == "weights"]
    if not channels or any(channel.mode == "CUBICSPLINE" for channel in channels):
        return False
    rows = [np.array([mesh.rest_weights]), *(channel.values for channel in channels)]
    return all(((part >= 0.0) & (part <= 1.0)).all() and ((part > 0.0).sum(axis=1) <= 1).all() for part in rows)


LISTED, NAME_MAX = 8, 60
"""Maximum number of names in a warning, and of characters of each."""


def nodes_without_content(document: GltfDocument) -> set[int]:
    """Returns the nodes that only hold points and lines, or only such nodes."""
    used = {joint for skin in document.skins for joint in skin.joints}
    filled, parents = set[int](), node_parents(document)
    for index, node in enumerate(document.nodes):
        meshes = [] if node.mesh is None else document.meshes[node.mesh : node.mesh + 1]
        primitives = [primitive for mesh in meshes for primitive in mesh.primitives]
        is_empty = not primitives and not node.children
        if is_empty or node.camera is not None or index in used or any(p.mode >= TRIANGLES for p in primitives):
            while index != _NO_PARENT and index not in filled:
                filled.add(index)
                index = parents[index]
    return set(range(len(parents))) - filled


def _remove_joints(model: RawModel, removed: set[int]) -> None:
    """Removes joints that nothing refers to, with their channels; names the topmost ones in the warnings."""
    bones = model.skeletons[0].bones
    top = [bones[joint].name for joint in sorted(removed) if bones[joint].parent not in removed]
    if top:
        more = f" and {len(top) - LISTED} more" if len(top) > LISTED else ""
        names = ", ".join(printable(name, NAME_MAX) for name in top[:LISTED])
        model.warnings[model.warnings.index(LEFT_OUT)] = f"{LEFT_OUT.rstrip('.')}: {names}{more}."
    filled = [joint for joint in range(len(bones)) if joint not in removed]
    number_of = {joint: number for number, joint in enumerate(filled)} | {_NO_PARENT: _NO_PARENT}
    model.skeletons[0].bones = [replace(bones[joint], parent=number_of[bones[joint].parent]) for joint in filled]
    used = [number for number, skin in enumerate(model.skins) if removed.isdisjoint(skin.joints)]
    for mesh in model.meshes:
        mesh.joint, mesh.skin = number_of[mesh.joint], used.index(mesh.skin)
    model.skins = [
        RawSkin([number_of[joint] for joint in skin.joints], skin.bind_from_mesh)
        for skin in (model.skins[number] for number in used)
    ]
    for clip in model.clips:
        clip.channels = [replace(c, joint=number_of[c.joint]) for c in clip.channels if c.joint in number_of]
    model.clips = [clip for clip in model.clips if clip.channels]
    model.cameras = [replace(camera, joint=number_of[camera.joint]) for camera in model.cameras]


RESIDUE = 1e-5
"""Relative residue of a matrix after decomposition that needs no warning."""

_NO_PARENT = -1


def read_skeleton(document: GltfDocument, warnings: list[str]) -> RawSkeleton:
    """Reads the skeleton, in which joint i is node i."""
    nodes = document.nodes
    if len(nodes) > MAX_JOINTS:
        raise ElementFault("nodes", f"there are {len(nodes)}, more than {MAX_JOINTS}")
    parents = node_parents(document)
    positions = np.array([node.translation for node in nodes], np.float64).reshape(-1, 3)
    rotations = np.array([node.rotation for node in nodes], np.float64).reshape(-1, 4)
    scales = np.array([node.scale for node in nodes], np.float64).reshape(-1, 3)
    with_matrix = [index for index, node in enumerate(nodes) if node.matrix is not None]
    if with_matrix:
        # Stored column after column.
        matrices = np.array([nodes[index].matrix for index in with_matrix], np.float64).reshape(-1, 4, 4)
        matrices = matrices.swapaxes(1, 2)
        for index, matrix in zip(with_matrix, matrices, strict=True):
            check_magnitude(f"nodes[{index}].matrix", "", matrix.ravel())
        parts = decompose(matrices)
        positions[with_matrix], rotations[with_matrix], scales[with_matrix] = parts
        apart = np.abs(matrices - compose(*parts)).max(axis=(1, 2))
        skewed = apart > RESIDUE * np.maximum(1.0, np.abs(matrices).max(axis=(1, 2)))
        if skewed.any():
            first = with_matrix[int(np.argmax(skewed))]
            warnings.append(
                f"nodes[{first}].matrix has shear or perspective, which is left out"
                + (f", as in {int(skewed.sum()) - 1} more." if skewed.sum() > 1 else ".")
            )
    for what, values in (("translation", positions), ("rotation", rotations), ("scale", scales)):
        check_magnitude("nodes", what, values)
    rotations = unit_quaternions(rotations)
    bones = [
        RawBone(name, parent, *place)
        for name, parent, *place in zip(_names(document), parents, positions, rotations, scales, strict=True)
    ]
    return RawSkeleton("", bones)


def node_parents(document: GltfDocument) -> list[int]:
    """Returns the parent of each node, or -1; fails for two parents and for cycles."""
    parents = [_NO_PARENT] * len(document.nodes)
    for index, node in enumerate(document.nodes):
        for child in node.children:
            place = f"nodes[{index}].children"
            part_of(document.nodes, child, place, "nodes")
            if parents[child] != _NO_PARENT:
                raise ElementFault(place, f"nodes[{child}] has two parents, {parents[child]} and {index}")
            parents[child] = index
    known = [False] * len(parents)
    for start in range(len(parents)):
        chain, above = set(), start
        while above != _NO_PARENT and not known[above]:
            if above in chain:
                raise ElementFault(f"nodes[{above}]", "is its own ancestor")
            chain.add(above)
            above = parents[above]
        for below in chain:
            known[below] = True
    return parents


def shown_nodes(document: GltfDocument, scene_number: int | None) -> list[int]:
    """Returns the nodes of a scene in file order; without a number, of the default scene, else the first, else all."""
    number = document.scene if scene_number is None else scene_number
    if not document.scenes and number is None:
        return list(range(len(document.nodes)))
    number = number or 0
    scene = part_of(document.scenes, number, "scene", "scenes")
    found: set[int] = set()
    left = list(scene.nodes)
    while left:
        index = left.pop()
        node = part_of(document.nodes, index, f"scenes[{number}].nodes", "nodes")
        if index not in found:
            found.add(index)
            left.extend(node.children)
    return sorted(found)


def _names(document: GltfDocument) -> list[str]:
    taken: set[str] = set()
    names = []
    for index, node in enumerate(document.nodes):
        name = node.name.strip() or f"node {index}"
        if name in taken:
            name = f"{name} ({index})"
        while name in taken:
            name += "'"
        taken.add(name)
        names.append(name)
    return names


CAMERAS_MAX = 100
"""Maximum number of cameras that are read from a file."""


def read_cameras(document: GltfDocument, shown: list[int], warnings: list[str]) -> list[FileCamera]:
    """Returns the cameras on nodes; joints have the numbers of their nodes."""
    found = []
    for index in shown:
        node = document.nodes[index]
        if node.camera is None:
            continue
        camera = part_of(document.cameras, node.camera, f"nodes[{index}].camera", "cameras")
        if (lens := camera.perspective) is not None:
            found.append(FileCamera(index, math.degrees(lens.yfov), 0.0, lens.znear, lens.zfar))
        elif (box := camera.orthographic) is not None:
            found.append(FileCamera(index, 0.0, 2.0 * abs(box.ymag), box.znear, box.zfar))
        else:
            warnings.append(f"cameras[{node.camera}] has neither perspective nor orthographic and is left out.")
    if len(found) > CAMERAS_MAX:
        warnings.append(f"Of {len(found)} cameras the first {CAMERAS_MAX} are read.")
    return found[:CAMERAS_MAX]


UNEVEN = 1e-3, 1e-2
"""Maximum rounding error of the length of a quaternion; the second one is for keys in bytes."""

BYTE = 5120


_CHANNEL_BYTES, _KEY_BYTES = 512, 64
"""Approximate memory of a driven number, and of a time or key."""

_TYPES = {"translation": ("VEC3",), "rotation": ("VEC4",), "scale": ("VEC3",), "weights": ("SCALAR",)}


def read_clips(file: GltfFile, warnings: list[str]) -> list[RawClip]:
    parts = PartCounter()
    clips = []
    for number, animation in enumerate(file.document.animations):
        name = animation.name.strip() or f"clip {number}"
        clips.append(RawClip(name, 0, 0.0, 0.0, [], _channels(file, number, animation, parts, warnings)))
    return clips


def _channels(
    file: GltfFile, number: int, animation: Animation, parts: PartCounter, warnings: list[str]
) -> list[RawChannel]:
    document, keys = file.document, _Keys(file)
    found: dict[tuple[int, str], RawChannel] = {}
    for index, channel in enumerate(animation.channels):
        place, target = f"animations[{number}].channels[{index}]", channel.target
        parts.add("animation channels", MAX_TRACKS)
        if target.path not in _TYPES:
            what = "pointers" if target.path == "pointer" else f"{target.path[:40]!r}"
            warnings.append(f"Animation channels that drive {what} are left out.")
            continue
        sampler = part_of(animation.samplers, channel.sampler, f"{place}.sampler", f"animations[{number}].samplers")
        if target.node is None:
            continue
        node = part_of(document.nodes, target.node, f"{place}.target.node", "nodes")
        if (target.node, target.path) in found:
            warnings.append(f"{place} drives {target.path} of nodes[{target.node}] a second time and is left out.")
            continue
        width = 0
        if target.path == "weights":
            if node.mesh is None:
                continue
            mesh = part_of(document.meshes, node.mesh, f"nodes[{target.node}].mesh", "meshes")
            width = max((len(primitive.targets) for primitive in mesh.primitives), default=0)
            if not width:
                continue
        own = f"animations[{number}].samplers[{channel.sampler}]"
        found[target.node, target.path] = keys.channel(target.node, target.path, sampler, width, own)
        uneven = UNEVEN[document.accessors[sampler.output].component_type == BYTE]
        lengths = np.linalg.norm(found[target.node, target.path].values, axis=-1)
        if target.path == "rotation" and sampler.interpolation != "CUBICSPLINE" and (abs(lengths - 1.0) > uneven).any():
            warnings.append("Rotation keys that are no unit quaternions are made unit, which not all programs do.")
    return list(found.values())


class _Keys:
    """Keys of one animation, read once even if several channels share them."""

    def __init__(self, file: GltfFile) -> None:
        self._file = file
        self._read: dict[tuple[object, ...], tuple[Float64, Float64]] = {}

    def channel(self, node: int, path: str, sampler: Sampler, weight_count: int, place: str) -> RawChannel:
        """Reads a channel; keys count once against the budget, and so does each driven number."""
        self._file.take(_CHANNEL_BYTES * (weight_count or 1), place)
        key = sampler.input, sampler.output, sampler.interpolation, path, weight_count
        if key not in self._read:
            self._read[key] = self._keys(path, sampler, weight_count, place)
        return RawChannel(node, path, sampler.interpolation, *self._read[key])

    def _keys(self, path: str, sampler: Sampler, weight_count: int, place: str) -> tuple[Float64, Float64]:
        times = self._file.floats(sampler.input, f"{place}.input", ("SCALAR",))[:, 0]
        values = self._file.floats(sampler.output, f"{place}.output", _TYPES[path])
        self._file.take(_KEY_BYTES * (len(times) + len(values)), place)
        check_magnitude(f"{place}.input", "time", times)
        check_magnitude(f"{place}.output", "key", values)
        if not len(times):
            raise ElementFault(f"{place}.input", "has no keys")
        if (np.diff(times) < 0.0).any() or times[0] < 0.0:
            raise ElementFault(f"{place}.input", "the times of keys must not fall, nor begin before 0")
        tangents = 3 if sampler.interpolation == "CUBICSPLINE" else 1
        needed = len(times) * tangents * (weight_count or 1)
        if len(values) != needed:
            raise ElementFault(f"{place}.output", f"has {len(values)} elements, {len(times)} keys need {needed}")
        shape = (len(times), tangents, -1) if tangents > 1 else (len(times), -1)
        return times.astype(np.float64), values.astype(np.float64).reshape(shape)
