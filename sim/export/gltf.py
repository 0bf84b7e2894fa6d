"""Models as glTF 2.0: nodes, skins, morph targets, materials with their images, and clips.

Source: glTF 2.0 specification.  y points up, as the format requires; units of the model stay.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from sinew.sim.assets.build import build_model
from sinew.sim.assets.build_mesh import weight_starts_of
from sinew.sim.assets.model import CharacterModel, Clip, Interpolation, LocalPose, Material, Section, Targets
from sinew.sim.assets.raw import RawClip, RawModel
from sinew.sim.export.formats import ExportError
from sinew.sim.export.gltf_parts import INDEX_DATA, VERTEX_DATA, GlbChunk, MaterialWriter
from sinew.sim.export.surface import unit
from sinew.sim.maths import quaternion
from sinew.sim.maths.arrays import Float32, Float64, Intp, UInt16

Json = dict[str, Any]

_UNMOVED = 1e-7
"""Maximum relative deviation from the rest pose that needs no channel."""


class AnimationWriter:
    def __init__(self, name: str, chunk: GlbChunk) -> None:
        self._name, self._chunk = name, chunk
        self._samplers: list[Json] = []
        self._channels: list[Json] = []

    def add(self, node: int, path: str, mode: str, times: Float64, values: Float64) -> None:
        """Adds a channel; keys have shape (F, n), or (F, 3, n) for splines."""
        keys = times.astype(np.float32)
        # Times must ascend, also in single precision: a value that jumps has two keys at one time.
        for second in np.flatnonzero(np.diff(times) == 0.0) + 1:
            keys[second] = np.nextafter(keys[second - 1], np.float32(np.inf))
        rising = np.append(True, np.diff(keys) > 0.0)
        width = 1 if path == "weights" else values.shape[-1]
        rows = values[rising].astype(np.float32).reshape(-1, width)
        self.sample(node, path, mode, self._chunk.once(keys[rising][:, None], bounded=True), rows)

    def sample(self, node: int, path: str, mode: str, times: int, rows: Float32) -> None:
        """Adds a sampler and its channel; `times` is an accessor."""
        self._channels.append({"sampler": len(self._samplers), "target": {"node": node, "path": path}})
        self._samplers.append({"input": times, "output": self._chunk.once(rows), "interpolation": mode})

    def written(self) -> list[Json]:
        content = {"name": self._name, "channels": self._channels, "samplers": self._samplers}
        return [content] if self._channels else []


def animations(
    model: CharacterModel, raw: RawModel, nodes: Sequence[int], weighted: dict[int, list[int]], chunk: GlbChunk
) -> list[dict[str, Any]]:
    """Writes every clip of a model.

    Args:
        raw: Source of the model, whose curves are written unchanged.
        nodes: Node of each joint, length B.
        weighted: For each node with morph targets, weights of the model that drive them.
    """
    written: list[Json] = []
    of_name, starts = {clip.name: clip for clip in raw.clips}, weight_starts_of(raw)
    for clip in model.clips:
        stored = of_name.get(clip.name)
        made = AnimationWriter(clip.name, chunk)
        if stored is not None and stored.channels:
            for channel in stored.channels:
                if channel.path != "weights":
                    is_unit = channel.path == "rotation" and channel.mode != "CUBICSPLINE"
                    values = quaternion.normalised(channel.values) if is_unit else channel.values
                    made.add(nodes[channel.joint], channel.path, channel.mode, channel.times, values)
            _add_weights(made, clip, stored, weighted, starts)
        else:
            poses = [clip.sample(float(time), Interpolation.LINEAR) for time in clip.key_times]
            _add_poses(made, model, clip.key_times, poses, nodes)
            for node, weights in weighted.items() if len(poses[0].weights) else ():
                keys = np.array([pose.weights[weights] for pose in poses])
                made.add(node, "weights", "LINEAR", clip.key_times, keys)
        written += made.written()
    return written


def _add_weights(
    made: AnimationWriter, clip: Clip, stored: RawClip, weighted: dict[int, list[int]], starts: dict[int, int]
) -> None:
    """Adds weights as stored if one channel drives all of a node, else sampled at the keys of the clip."""
    driving = [channel for channel in stored.channels if channel.path == "weights" and channel.joint in starts]
    for node, weights in weighted.items():
        ends = {channel.joint: starts[channel.joint] + channel.values.shape[-1] for channel in driving}
        own = [part for part in driving if any(starts[part.joint] <= w < ends[part.joint] for w in weights)]
        if not own:
            continue
        (channel, *others), first = own, starts[own[0].joint]
        columns = [weight - first for weight in weights]
        if not others and min(columns) >= 0 and max(columns) < channel.values.shape[-1]:
            made.add(node, "weights", channel.mode, channel.times, channel.values[..., columns])
            continue
        keys = [clip.sample(float(time), Interpolation.LINEAR).weights[weights] for time in clip.key_times]
        made.add(node, "weights", "LINEAR", clip.key_times, np.array(keys))


def _add_poses(
    made: AnimationWriter, model: CharacterModel, times: Float64, poses: Sequence[LocalPose], nodes: Sequence[int]
) -> None:
    """Adds only properties that differ from the rest pose, at least one to keep the length."""
    rest = model.skeleton
    if rest is None:
        return
    moving = {
        "translation": (np.array([pose.positions for pose in poses]), rest.bind_positions),
        "rotation": (np.array([pose.orientations for pose in poses]), rest.bind_orientations),
        "scale": (np.array([pose.scales for pose in poses]), rest.bind_scales),
    }
    for path, (keys, still) in moving.items():
        room = _UNMOVED * max(float(np.abs(still).max(initial=0.0)), 1.0)
        moved = np.abs(keys - still).max(axis=(0, 2)) > room
        if path == "translation" and not moved.any():
            moved[0] = True
        for joint in np.flatnonzero(moved).tolist():
            made.add(nodes[joint], path, "LINEAR", times, keys[:, joint])


_UPRIGHT = [-(0.5**0.5), 0.0, 0.0, 0.5**0.5]
"""Rotation from z up to y up."""

ASPECT = 16.0 / 9.0
"""Width over height of orthographic cameras, which the format requires."""

_PLAIN = Material("plain", None, None, diffuse=(0.52, 0.53, 0.55))


def write_glb(raw: RawModel, file: BinaryIO) -> None:
    scene = _scene_of(raw)
    file.write(scene.chunk.file(scene.document()))


def write_gltf(raw: RawModel, file: BinaryIO) -> None:
    scene = _scene_of(raw)
    file.write(scene.chunk.text_file(scene.document()))


def _scene_of(raw: RawModel) -> "GltfScene":
    scene = GltfScene()
    scene.show(scene.add_model(build_model(raw), raw))
    raw.warnings.extend(scene.materials.lost)
    return scene


@dataclass(frozen=True, slots=True)
class _Part:
    section: Section
    vertices: Intp
    corners: Intp


class GltfScene:
    def __init__(self) -> None:
        self.chunk = GlbChunk()
        self.materials = MaterialWriter(self.chunk)
        self._parts: dict[str, list[Any]] = {}
        self._roots: list[int] = []

    def put(self, key: str, part: Json) -> int:
        parts = self._parts.setdefault(key, [])
        parts.append(part)
        return len(parts) - 1

    def show(self, nodes: list[int]) -> None:
        self._roots += nodes

    def document(self) -> Json:
        scene: Json = {"nodes": self._roots} if self._roots else {}
        head = {"asset": {"version": "2.0", "generator": "Sinew"}, "scene": 0, "scenes": [scene]}
        return head | self._parts | self.materials.parts

    def add_model(self, model: CharacterModel, raw: RawModel) -> list[int]:
        """Adds a model and returns its root nodes; the curves of `raw`, its source, are written unchanged."""
        groups = _by_skin(model)
        nodes, roots = self._add_joints(model, is_joined=any(_spans(model, entries) for entries, _ in groups))
        for camera in model.cameras:
            lens = self.lens(camera.field_of_view, camera.height, camera.near, camera.far)
            self._parts["nodes"][nodes[camera.joint]]["camera"] = lens
        weighted: dict[int, list[int]] = {}
        if model.default_up_axis.lower() == "z" and model.skeleton is None:
            roots.append(self.put("nodes", {"name": "upright", "rotation": _UPRIGHT, "children": []}))
        for skin, parts in groups:
            mesh, weights = self._add_mesh(model, parts, skin)
            node: Json = {"name": model.path.stem, "mesh": mesh}
            if skin is not None:
                node["skin"] = self._add_skin(model, skin, nodes)
            bare = _bare_joint(model, groups)
            number = nodes[bare] if bare is not None else -1
            if number in roots and "mesh" not in self._parts["nodes"][number]:
                self._parts["nodes"][number] |= node
                roots.remove(number)
            else:
                number = self.put("nodes", node)
            if weights:
                weighted[number] = weights
            if roots and model.skeleton is None:
                self._parts["nodes"][roots[0]]["children"].append(number)
            else:
                roots.append(number)
        for animation in animations(model, raw, nodes, weighted, self.chunk):
            self.put("animations", animation)
        return roots

    def lens(self, field_of_view: float, height: float, near: float, far: float | None) -> int:
        """Adds a camera, an orthographic one if `height` is not 0; returns its index."""
        depths: Json = {"znear": near} if far is None or far <= near else {"znear": near, "zfar": far}
        if not height:
            lens = {"type": "perspective", "perspective": {"yfov": math.radians(field_of_view), **depths}}
        else:
            sides = {"xmag": height / 2.0 * ASPECT, "ymag": height / 2.0, "zfar": 2.0 * near}
            lens = {"type": "orthographic", "orthographic": sides | depths}
        return self.put("cameras", lens)

    def _add_joints(self, model: CharacterModel, *, is_joined: bool) -> tuple[list[int], list[int]]:
        """Adds the joints; returns their nodes and the root nodes, `is_joined` puts several roots under one."""
        skeleton = model.skeleton
        if skeleton is None:
            return [], []
        nodes = []
        for joint, name in enumerate(skeleton.names):
            node: Json = {"name": name}
            for path, values, plain in (
                ("translation", skeleton.bind_positions[joint], np.zeros(3)),
                ("rotation", skeleton.bind_orientations[joint], np.array([0.0, 0.0, 0.0, 1.0])),
                ("scale", skeleton.bind_scales[joint], np.ones(3)),
            ):
                if not np.array_equal(values, plain):
                    node[path] = values.tolist()
            nodes.append(self.put("nodes", node))
        roots = []
        for joint, parent in enumerate(skeleton.parents.tolist()):
            if parent >= 0:
                self._parts["nodes"][nodes[parent]].setdefault("children", []).append(nodes[joint])
            else:
                roots.append(nodes[joint])
        if is_joined and len(roots) > 1:
            roots = [self.put("nodes", {"name": "skeleton", "children": roots})]
        if model.default_up_axis.lower() == "z":
            roots = [self.put("nodes", {"name": "upright", "rotation": _UPRIGHT, "children": roots})]
        return nodes, roots

    def _add_skin(self, model: CharacterModel, entries: dict[int, int], nodes: list[int]) -> int:
        assert model.skeleton is not None and model.skin is not None  # noqa: PT018
        palette = model.skin.palette
        binds = model.skeleton.bind_from_model if palette is None else palette.bind_from_mesh
        matrices = binds[list(entries.values())].astype(np.float32)
        matrices[:, 3] = (0.0, 0.0, 0.0, 1.0)
        columns = matrices.swapaxes(1, 2).reshape(-1, 16)
        joints = [nodes[joint] for joint in entries]
        return self.put("skins", {"joints": joints, "inverseBindMatrices": self.chunk.once(columns)})

    def _add_mesh(
        self, model: CharacterModel, parts: list[_Part], skin: dict[int, int] | None
    ) -> tuple[int, list[int]]:
        """Adds a mesh; returns its index, and the weights of the model that drive its morph targets."""
        targets = model.mesh.targets
        used = sorted({weight for part in parts for weight in _weights_in(targets, part.vertices)})
        primitives = []
        for part in parts:
            primitive: Json = {"attributes": (own := self._attributes(model, part, skin))}
            corners = part.corners.reshape(-1, 1)
            small = len(part.vertices) < np.iinfo(np.uint16).max
            primitive["indices"] = self.chunk.once(corners.astype(np.uint16 if small else np.uint32), INDEX_DATA)
            material = model.materials[part.section.material] if part.section.material >= 0 else _PLAIN
            primitive["material"] = self.materials.add(material, double_sided=part.section.is_open)
            if used and targets is not None:
                primitive["targets"] = [self.target(targets, weight, part.vertices, own) for weight in used]
            primitives.append(primitive)
        mesh: Json = {"name": model.path.stem, "primitives": primitives}
        if used and targets is not None:
            mesh["weights"] = targets.rest_weights[used].tolist()
            if not targets.is_frame[used].all():
                mesh["extras"] = {"targetNames": [targets.names[weight] for weight in used]}
        return self.put("meshes", mesh), used

    def _attributes(self, model: CharacterModel, part: _Part, skin: dict[int, int] | None) -> dict[str, int]:
        mesh, rows = model.mesh, part.vertices
        found = {"POSITION": self.chunk.once(mesh.positions[rows], VERTEX_DATA, bounded=True)}
        if not part.section.is_flat:
            found["NORMAL"] = self.chunk.once(unit(mesh.normals[rows]), VERTEX_DATA)
            if mesh.tangents is not None and (np.abs(mesh.tangents[rows, :3]).max(axis=1) > 0.0).all():
                tangents = mesh.tangents[rows].copy()
                tangents[:, :3] = unit(tangents[:, :3])
                found["TANGENT"] = self.chunk.once(tangents, VERTEX_DATA)
        texcoords = np.array(mesh.texcoords[rows])
        if texcoords.any():
            if model.default_texture_origin == "bottom":
                texcoords[:, 1] = np.float32(1.0) - texcoords[:, 1]
            found["TEXCOORD_0"] = self.chunk.once(texcoords, VERTEX_DATA)
        if mesh.colours is not None:
            found["COLOR_0"] = self.chunk.once(np.clip(mesh.colours[rows], 0.0, 1.0), VERTEX_DATA)
        if skin is not None and model.skin is not None:
            place = np.zeros(int(max(skin.values(), default=0)) + 1, np.uint16)
            place[list(skin.values())] = np.arange(len(skin))
            joints = place[np.minimum(model.skin.joints[rows].astype(np.intp), len(place) - 1)]
            found |= self.influences(joints, model.skin.weights[rows])
        return found

    def influences(self, joints: UInt16, weights: Float32) -> dict[str, int]:
        """Adds influences of shapes (V, K), four per attribute."""
        joints, exact = np.where(weights > 0.0, joints, 0).astype(np.uint16), weights.copy()
        exact[:, 0] = 1.0 - weights[:, 1:].sum(axis=1, dtype=np.float64)  # the strongest absorbs the rounding
        found = {}
        for number in range(weights.shape[1] // 4):
            own = slice(4 * number, 4 * number + 4)
            if number and not exact[:, own].any():
                continue
            found[f"JOINTS_{number}"] = self.chunk.once(joints[:, own], VERTEX_DATA)
            found[f"WEIGHTS_{number}"] = self.chunk.once(exact[:, own], VERTEX_DATA)
        return found

    def target(self, targets: Targets, weight: int, rows: Intp, names: Collection[str]) -> dict[str, int]:
        deltas = np.zeros((len(rows), targets.deltas.shape[1], 3), np.float32)
        for run in np.flatnonzero(targets.weight_of == weight).tolist():
            first, count, start = (int(table[run]) for table in (targets.firsts, targets.counts, targets.starts))
            inside = (rows >= first) & (rows < first + count)
            deltas[inside] += targets.deltas[start + rows[inside] - first, :, :3]
        target = {"POSITION": self.chunk.sparse(deltas[:, 0], VERTEX_DATA, bounded=True)}
        for name, moved in zip(("NORMAL", "TANGENT"), deltas.swapaxes(0, 1)[1:], strict=False):
            if name in names and moved.any():
                target[name] = self.chunk.sparse(moved, VERTEX_DATA)
        return target


def _by_skin(model: CharacterModel) -> list[tuple[dict[int, int] | None, list[_Part]]]:
    """Returns parts by skin: the palette entry of each joint, once, as glTF requires; None for no skin."""
    parts = []
    for section in model.mesh.sections:
        triangles = model.mesh.triangles[section.first_triangle : section.first_triangle + section.triangle_count]
        if len(triangles):
            vertices, corners = np.unique(triangles, return_inverse=True)
            parts.append(_Part(section, vertices.astype(np.intp), corners.reshape(-1, 3)))
    if model.skin is None or model.skeleton is None:
        return [(None, parts)] if parts else []
    if model.skin.palette is None:
        return [({joint: joint for joint in range(model.skeleton.joint_count)}, parts)] if parts else []
    groups: list[tuple[dict[int, int], list[_Part]]] = []
    for part in parts:
        weights = model.skin.weights[part.vertices]
        used = np.unique(model.skin.joints[part.vertices][weights > 0.0])
        entry_of = dict(zip(model.skin.joints_of(used).tolist(), used.tolist(), strict=True))
        if len(entry_of) < len(used):
            raise ExportError(f"{part.section.name}: a joint moves it from two places, for which glTF has no skins")
        for entries, members in groups:
            fits = all(entries.get(joint, entry) == entry for joint, entry in entry_of.items())
            if fits and not _spans(model, entries | entry_of):
                entries.update(entry_of)
                members.append(part)
                break
        else:
            groups.append((entry_of, [part]))
    return list(groups)


def _bare_joint(model: CharacterModel, groups: list[tuple[dict[int, int] | None, list[_Part]]]) -> int | None:
    """Returns a joint with the name of the model that moves nothing: it held the mesh in the source file."""
    skeleton = model.skeleton
    if skeleton is None or model.path.stem not in skeleton.names:
        return None
    joint = skeleton.names.index(model.path.stem)
    moves = any(entries is not None and joint in entries for entries, _ in groups)
    return None if moves or (skeleton.parents == joint).any() else joint


def _spans(model: CharacterModel, entries: dict[int, int] | None) -> bool:
    """Returns True for joints with several roots, which glTF does not allow in a skin."""
    if entries is None or model.skeleton is None:
        return False
    parents = model.skeleton.parents
    roots = np.array(list(entries), np.intp)
    while (parents[roots] >= 0).any():
        roots = np.unique(np.where(parents[roots] >= 0, parents[roots], roots))
    return len(np.unique(roots)) > 1


def _weights_in(targets: Targets | None, rows: Intp) -> set[int]:
    if targets is None or not len(rows):
        return set()
    # Runs that do not overlap the vertex range of the part do not move it.
    touched = (targets.firsts <= rows[-1]) & (targets.firsts + targets.counts > rows[0])
    return set(targets.weight_of[touched].tolist())
