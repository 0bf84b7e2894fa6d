"""Scenes over time as binary glTF: characters as skins with keys for every frame, other surfaces as morph targets.

All move in one animation with linear keys, so that viewers play them together.  For surfaces without a skin, frame
0 is the mesh, and every further frame a morph target of positions, normals and, for normal maps, tangents, with
weight 1 at its own key.  Strands are lines with morph targets.  Particles appear and disappear: the points of each
frame are a node of their own, scaled to zero at all other times, as the specification proposes for hiding.

Source: glTF 2.0 specification; skins blend linearly.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from sinew.sim.assets.gltf.document import GltfDocument, GltfNode, Primitive
from sinew.sim.assets.gltf.file import GltfFile, split_file
from sinew.sim.assets.model import AlphaMode
from sinew.sim.export.formats import ExportError, GlbOptions
from sinew.sim.export.gltf import AnimationWriter, GltfScene
from sinew.sim.export.gltf_parts import INDEX_DATA, VERTEX_DATA
from sinew.sim.export.scene.recording import (
    BoneMotion,
    CameraTrack,
    FoundNode,
    JointMotion,
    LinearSkin,
    SceneRecording,
    Topology,
    Track,
    plain_material,
)
from sinew.sim.export.surface import unit
from sinew.sim.maths.arrays import Float32, Float64, UInt16
from sinew.sim.maths.transform import compose, decompose
from sinew.sim.printable import size_text

_TYPES = "SCALAR", "VEC2", "VEC3", "VEC4", "MAT4"


class GlbFrames:
    """Positions by frame from a file of this module; `times` are in seconds, `shown` are nodes in scene order."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        text, binary = split_file(data)
        self._document = msgspec.json.decode(text, type=GltfDocument)
        self._file = GltfFile(path, self._document, binary, len(data))
        self.times: Float32 = self._array(0)[:, 0]
        self._nodes = self._document.nodes
        roots = self._document.scenes[0].nodes
        self.shown = [root for root in roots if self._nodes[root].mesh is not None or self._is_book(self._nodes[root])]
        self._keys: dict[tuple[int | None, str], tuple[Float32, Float32]] = {}
        for animation in self._document.animations:
            for channel in animation.channels:
                sampler = animation.samplers[channel.sampler]
                keys = self._array(sampler.input)[:, 0], self._array(sampler.output)
                self._keys[channel.target.node, channel.target.path] = keys
        self._parents = {child: number for number, node in enumerate(self._nodes) for child in node.children}
        self._worlds: dict[int, Float64] = {}

    def frames_of(self, node: int) -> list[Float32]:
        """Returns the positions of a node in every frame; all parts of a surface share them."""
        stored = self._nodes[node]
        if stored.mesh is None:
            return [self._page(stored.children, time) for time in self.times.tolist()]
        places = self._morphed(node, stored.mesh)
        if stored.skin is not None:
            part, skin = self._part(stored.mesh), self._document.skins[stored.skin]
            assert skin.inverse_bind_matrices is not None
            inverse = self._array(skin.inverse_bind_matrices).reshape(-1, 4, 4).swapaxes(1, 2).astype(np.float64)
            palettes = np.stack([self._world(joint) for joint in skin.joints], axis=1) @ inverse
            joints, weights = (
                np.concatenate([self._array(part.attributes[key]) for key in sorted(part.attributes) if what in key], 1)
                for what in ("JOINTS", "WEIGHTS")
            )
            return list(LinearSkin(joints.astype(np.intp), weights).moved(zip(places, palettes, strict=True)))
        return [positions.astype(np.float32) for positions in places]

    def surface(self) -> tuple[Float32, Float32]:
        """Returns positions, (N, 3), and second texture coordinates, (N, 2), of the first mesh."""
        attributes = self._part(0).attributes
        return self._array(attributes["POSITION"]), self._array(attributes["TEXCOORD_1"])

    def _morphed(self, node: int, mesh: int) -> Iterator[Float64]:
        part = self._part(mesh)
        first = self._array(part.attributes["POSITION"]).astype(np.float64)
        weights = self._values(node, "weights", self._document.meshes[mesh].weights)
        for row in weights.reshape(len(self.times), -1):
            places = first
            for number in np.flatnonzero(row).tolist():
                places = places + float(row[number]) * self._array(part.targets[number]["POSITION"])
            yield places

    def _world(self, node: int) -> Float64:
        """Returns the world transforms of a node, shape (F, 4, 4)."""
        line = [node]
        while line[-1] not in self._worlds and line[-1] in self._parents:
            line.append(self._parents[line[-1]])
        for one in reversed(line):
            if one not in self._worlds:
                rest = ((path, getattr(self._nodes[one], path)) for path in ("translation", "rotation", "scale"))
                local = compose(*(self._values(one, path, value).astype(np.float64) for path, value in rest))
                self._worlds[one] = self._worlds[self._parents[one]] @ local if one in self._parents else local
        return self._worlds[node]

    def _values(self, node: int, path: str, rest: Any) -> Float32:
        """Returns one value for each frame."""
        if (node, path) in self._keys:
            return self._keys[node, path][1]
        return np.tile(np.asarray(rest, np.float32), (len(self.times), 1))

    def _page(self, pages: list[int], time: float) -> Float32:
        shown = (self._nodes[node].mesh for node in pages if self._scale(node, time) != 0.0)
        points = [self._array(self._part(mesh).attributes["POSITION"]) for mesh in shown if mesh is not None]
        return np.concatenate([np.zeros((0, 3), np.float32), *points])

    def _scale(self, node: int, time: float) -> float:
        if (node, "scale") in self._keys:
            times, scales = self._keys[node, "scale"]
            return float(scales[max(bisect_right(times, time) - 1, 0), 0])
        return self._nodes[node].scale[0]

    def _is_book(self, node: GltfNode) -> bool:
        """Returns True for a book, which holds particles; joints have no meshes."""
        if node.camera is not None:
            return False
        return not node.children or self._nodes[node.children[0]].mesh is not None

    def _part(self, mesh: int) -> Primitive:
        return self._document.meshes[mesh].primitives[0]

    def _array(self, number: int) -> Float32:
        return self._file.floats(number, f"accessors[{number}]", _TYPES)


Json = dict[str, Any]

MORPH_BYTES = 2 << 30
"""Maximum size of the frames of a node [bytes]; readers load them all."""

_POINTS, _LINES = 0, 1


def write_glb_scene(recording: SceneRecording, files: tuple[Path, ...], options: GlbOptions) -> list[str]:
    """Writes a scene in metres, y up; returns lines about skipped content."""
    scene = _Scene(recording, has_normals=options.normals)
    for track in recording.tracks:
        if track.rig is not None:
            scene.add_character(track, track.rig)
        elif track.bones is not None:
            scene.add_bones(track, track.bones)
        elif track.form is Topology.POINTS:
            scene.add_flip_book(track)
        else:
            scene.add_morphs(track)
    for camera in recording.cameras:
        scene.add_camera(camera)
    files[0].write_bytes(scene.file())
    coloured = [(track.name, track.colours) for track in recording.tracks if track.colours is not None]
    bright = [name for name, colours in coloured if (np.nan_to_num(colours[..., :3]) > 1.0 + 1e-6).any()]
    return [f"left out: brightness beyond 1 of {name}" for name in bright]


def read_glb_scene(files: tuple[Path, ...]) -> list[FoundNode]:
    frames = GlbFrames(files[0])
    return [FoundNode(frames.frames_of(node)) for node in frames.shown]


def write_surface(track: Track, path: Path, places: Float32) -> None:
    """Writes the first frame of a surface with `places`, v from the top, (N, 2), as second texture coordinates."""
    still = replace(track, positions=track.positions[:1])
    scene = _Scene(SceneRecording((still,), 1.0), has_normals=True)
    scene.add_still(still, places)
    path.write_bytes(scene.file())


def read_surface(path: Path) -> tuple[Float32, Float32]:
    """Reads positions and second texture coordinates of a file of `write_surface`."""
    return GlbFrames(path).surface()


def as_skin(rig: JointMotion) -> tuple[JointMotion | None, str]:
    """Returns the rig that glTF can show, and why it differs, or ""."""
    return (replace(rig, is_dual=False), "dual quaternions") if rig.is_dual else (rig, "")


class _SharedSkin:
    """Joints of all characters and fitted bones: importers merge several skins in different ways.

    Attributes:
        roots: Nodes above the joints.
    """

    def __init__(self) -> None:
        self.joints: list[int] = []
        self.binds: list[Float64] = []
        self.roots: list[int] = []

    def added(self, nodes: list[int], binds: Float64) -> UInt16:
        """Adds joints that are not yet there; returns the entry of each."""
        for node, bind in zip(nodes, binds, strict=True):
            if node not in self.joints:
                self.joints.append(node)
                self.binds.append(bind)
        return np.array([self.joints.index(node) for node in nodes], np.uint16)


class _Scene(GltfScene):
    def __init__(self, recording: SceneRecording, *, has_normals: bool) -> None:
        super().__init__()
        self._has_normals = has_normals
        self._moments = recording.times.astype(np.float32)[:, None]
        self._times = self.chunk.once(self._moments, bounded=True)
        self._animation = AnimationWriter("scene", self.chunk)
        self._is_moving = recording.frame_count > 1
        self._joints: dict[str, tuple[int, list[int], JointMotion]] = {}  # Root node, joint nodes and rig by track
        self._skin = _SharedSkin() if any(track.bones is not None for track in recording.tracks) else None

    def file(self) -> bytes:
        if self._skin is not None:
            self._add_shared_skin(self._skin)
        for animation in self._animation.written():
            self.put("animations", animation)
        return self.chunk.file(self.document())

    def add_morphs(self, track: Track) -> None:
        positions, tangents = np.asarray(track.positions), track.tangents
        has_normals = (
            self._has_normals and track.form is Topology.SURFACE and not all(s.is_flat for s in track.sections)
        )
        sizes = positions.nbytes * (1 + has_normals), tangents.nbytes if has_normals and tangents is not None else 0
        _require_size(track, sum(sizes))
        count, targets = len(positions) - 1, list[dict[str, int]]()
        normals = unit(track.surface().normals) if track.form is Topology.SURFACE else None
        for frame in range(1, count + 1):
            moved = {"POSITION": self.chunk.once(positions[frame] - positions[0], VERTEX_DATA, bounded=True)}
            if has_normals and normals is not None:
                moved["NORMAL"] = self.chunk.once(unit(track.surface(frame).normals) - normals, VERTEX_DATA)
            if has_normals and tangents is not None:
                moved["TANGENT"] = self.chunk.once(tangents[frame, :, :3] - tangents[0, :, :3], VERTEX_DATA)
            targets.append(moved)
        if normals is not None:
            mesh = self._mesh(track, positions[0], normals, tangents[0] if tangents is not None else None, {}, targets)
        else:
            mesh = self._lines(track, positions[0], targets)
        if count:
            mesh["weights"] = [0.0] * count
        self._roots.append(self.put("nodes", {"name": track.name, "mesh": self.put("meshes", mesh)}))
        if count:
            keys = np.eye(count + 1, dtype=np.float32)[:, 1:].reshape(-1, 1)
            self._move(self._roots[-1], "weights", keys)

    def add_still(self, track: Track, places: Float32) -> None:
        """Adds the first frame of a surface with second texture coordinates, v from the top."""
        own = {"TEXCOORD_1": self.chunk.once(places, VERTEX_DATA)}
        if track.texcoords is None or not track.texcoords.any():
            own["TEXCOORD_0"] = self.chunk.once(np.zeros_like(places), VERTEX_DATA)  # sets are numbered without gaps
        tangents = track.tangents[0] if track.tangents is not None else None
        mesh = self._mesh(track, np.asarray(track.positions[0]), track.surface().normals, tangents, own, [])
        self._roots.append(self.put("nodes", {"name": track.name, "mesh": self.put("meshes", mesh)}))

    def add_flip_book(self, track: Track) -> None:
        """Adds particles as a node for each frame that has any."""
        frames = [np.ascontiguousarray(track.living(track.positions, frame)) for frame in range(len(track.positions))]
        _require_size(track, sum(points.nbytes for points in frames))
        pages = []
        for frame, points in enumerate(frames):
            if not len(points):
                continue
            name = f"{track.name} {frame}"
            primitive = self._loose(track, points, frame) | {"mode": _POINTS}
            mesh = self.put("meshes", {"name": name, "primitives": [primitive]})
            pages.append(self.put("nodes", {"name": name, "mesh": mesh, "scale": [float(frame == 0)] * 3}))
            if self._is_moving:
                self._show(pages[-1], frame, len(frames))
        book: Json = {"name": track.name} | ({"children": pages} if pages else {})
        self._roots.append(self.put("nodes", book))

    def add_character(self, track: Track, rig: JointMotion) -> None:
        model = rig.model
        assert model.skeleton is not None
        assert model.skin is not None
        placement = self.put("nodes", {"name": track.name, "children": []})
        parts = [decompose(matrix) for matrix in rig.world_from_model]
        self._place(placement, *(np.stack(values) for values in zip(*parts, strict=True)))
        joints = [self.put("nodes", {"name": name}) for name in model.skeleton.names]
        for joint, parent in enumerate(model.skeleton.parents.tolist()):
            self._put_below(joints[parent] if parent >= 0 else placement, joints[joint])
            self._place(joints[joint], rig.positions[:, joint], rig.orientations[:, joint], rig.scales[:, joint])
        skin_joints, binds = joints, model.skeleton.bind_from_model
        if model.skin.palette is not None:
            # A skin binds each joint once, so further bindings are child nodes.
            binds, skin_joints = model.skin.palette.bind_from_mesh, []
            for entry, joint in enumerate(model.skin.palette.entry_joints.tolist()):
                skin_joints.append(self.put("nodes", {"name": f"{model.skeleton.names[joint]} {entry}"}))
                self._put_below(joints[joint], skin_joints[-1])
        entries = model.skin.joints
        if self._skin is None:
            self._roots.append(placement)
            number = self._add_skin_of(skin_joints, binds, placement)
        else:
            self._joints[track.name] = placement, joints, rig
            self._skin.roots.append(placement)
            number, entries = 0, self._skin.added(skin_joints, binds)[model.skin.joints]
        tangents, morphs = model.mesh.tangents, model.mesh.targets
        if tangents is not None and not np.linalg.norm(tangents[:, :3], axis=1).all():
            tangents = None
        own, names = self.influences(entries, model.skin.weights), morphs.names if morphs is not None else ()
        known, rows = ("NORMAL", *(("TANGENT",) if tangents is not None else ())), np.arange(model.mesh.vertex_count)
        targets = [self.target(morphs, weight, rows, known) for weight in range(len(names)) if morphs is not None]
        mesh = self._mesh(track, model.mesh.positions, model.mesh.normals, tangents, own, targets)
        if targets:
            mesh |= {"weights": rig.weights[0].tolist(), "extras": {"targetNames": list(names)}}
        node = self.put("nodes", {"name": f"{track.name} mesh", "mesh": self.put("meshes", mesh), "skin": number})
        self._roots.append(node)
        if targets:
            self._move(node, "weights", rig.weights.astype(np.float32).reshape(-1, 1))

    def add_bones(self, track: Track, motion: BoneMotion) -> None:
        """Adds a surface or strands that follow bones below a joint of a character that was added, or the world."""
        assert self._skin is not None
        bones = [self.put("nodes", {"name": name}) for name in motion.names]
        if motion.owner:
            placement, joints, rig = self._joints[motion.owner]
            assert rig.model.skeleton is not None
            above = joints[motion.parent] if motion.parent >= 0 else placement
            moved, binds = [joints[joint] for joint in motion.joints], rig.model.skeleton.bind_from_model[motion.joints]
        else:
            above, moved, binds = self.put("nodes", {"name": f"{track.name} bones"}), [], np.zeros((0, 4, 4))
            self._skin.roots.append(above)
        for number, node in enumerate(bones):
            self._put_below(above, node)
            scales = np.ones_like(motion.positions[:, number])
            self._place(node, motion.positions[:, number], motion.orientations[:, number], scales)
        binds = np.concatenate((motion.bind_from_mesh, binds))
        own = self.influences(self._skin.added([*bones, *moved], binds)[motion.entries], motion.weights)
        if track.form is Topology.SURFACE:
            normals = replace(track, positions=motion.rest[None]).surface().normals
            mesh = self._mesh(track, motion.rest, normals, None, own, [])
        else:
            mesh = self._lines(track, motion.rest, [])
            mesh["primitives"][0]["attributes"] |= own
        self._roots.append(self.put("nodes", {"name": track.name, "mesh": self.put("meshes", mesh), "skin": 0}))

    def _put_below(self, above: int, node: int) -> None:
        self._parts["nodes"][above].setdefault("children", []).append(node)

    def _add_skin_of(self, joints: list[int], binds: Float64, root: int) -> int:
        columns = np.ascontiguousarray(binds.astype(np.float32).swapaxes(1, 2).reshape(-1, 16))
        bound = self.chunk.once(columns)
        return self.put("skins", {"joints": joints, "inverseBindMatrices": bound, "skeleton": root})

    def _add_shared_skin(self, skin: "_SharedSkin") -> None:
        """Adds the skin and its root; joints of a skin need a common root."""
        root, *others = skin.roots
        if others:
            root = self.put("nodes", {"name": "Skeleton", "children": skin.roots})
        self._roots.append(root)
        self._add_skin_of(skin.joints, np.stack(skin.binds), root)

    def add_camera(self, camera: CameraTrack) -> None:
        lens = self.lens(camera.field_of_view, camera.height, camera.near, camera.far)
        node = self.put("nodes", {"name": camera.name, "camera": lens})
        self._roots.append(node)
        parts = [decompose(matrix) for matrix in camera.world_from_camera]
        positions, orientations, _ = (np.stack(values) for values in zip(*parts, strict=True))
        self._place(node, positions, orientations, np.ones((len(parts), 3)))

    def _mesh(
        self, track: Track, positions: Float32, normals: Float32, tangents: Float32 | None, more: dict[str, int],
        targets: list[dict[str, int]],
    ) -> Json:  # fmt: skip
        assert track.triangles is not None
        attributes = {"POSITION": self.chunk.once(np.asarray(positions, np.float32), VERTEX_DATA, bounded=True)}
        shaded = {"NORMAL": self.chunk.once(unit(normals), VERTEX_DATA)}
        bumped = shaded
        if tangents is not None and any(section.material.normal_image is not None for section in track.sections):
            along = np.column_stack((unit(tangents[:, :3]), tangents[:, 3])).astype(np.float32)
            bumped = shaded | {"TANGENT": self.chunk.once(along, VERTEX_DATA)}
        if track.texcoords is not None and track.texcoords.any():
            flipped = np.column_stack((track.texcoords[:, 0], 1.0 - track.texcoords[:, 1])).astype(np.float32)
            attributes["TEXCOORD_0"] = self.chunk.once(flipped, VERTEX_DATA)
        if track.colours is not None:
            attributes["COLOR_0"] = self.chunk.once(_within_one(track.colours[0]), VERTEX_DATA)
        primitives = []
        for section in track.sections:
            corners = track.triangles[section.first : section.first + section.count].astype(np.uint32).reshape(-1, 1)
            if not len(corners):
                continue
            # Readers shade flat without normals.
            own = attributes | more
            own |= {} if section.is_flat else bumped if section.material.normal_image is not None else shaded
            primitive: Json = {"attributes": own, "indices": self.chunk.once(corners, INDEX_DATA)}
            primitive["material"] = self.materials.add(section.material, double_sided=section.has_backs)
            if targets:
                primitive["targets"] = [{k: t[k] for k in t if k in own} for t in targets]
            primitives.append(primitive)
        return {"name": track.name, "primitives": primitives}

    def _lines(self, track: Track, positions: Float32, targets: list[dict[str, int]]) -> Json:
        assert track.counts is not None
        ends = np.cumsum(track.counts)
        starts = np.setdiff1d(np.arange(len(positions), dtype=np.uint32), ends - 1)
        pairs = np.column_stack((starts, starts + 1)).astype(np.uint32).reshape(-1, 1)
        primitive = self._loose(track, positions) | {"indices": self.chunk.once(pairs, INDEX_DATA), "mode": _LINES}
        if track.texcoords is not None:
            u, v = np.repeat(track.texcoords, track.counts, axis=0).T
            texcoords = np.column_stack((u, 1.0 - v)).astype(np.float32)
            primitive["attributes"]["TEXCOORD_0"] = self.chunk.once(texcoords, VERTEX_DATA)
        if targets:
            primitive["targets"] = targets
        return {"name": track.name, "primitives": [primitive]}

    def _loose(self, track: Track, positions: Float32, frame: int = 0) -> Json:
        given = track.materials[0] if track.form is Topology.STRANDS and track.materials else plain_material(track.name)
        material = replace(given, is_unlit=True)
        attributes = {"POSITION": self.chunk.once(positions, VERTEX_DATA, bounded=True)}
        if track.colours is not None:
            colours = _within_one(track.living(track.colours, frame))
            attributes["COLOR_0"] = self.chunk.once(colours, VERTEX_DATA)
            mode = AlphaMode.BLEND if (np.nan_to_num(track.colours[..., 3], nan=1.0) < 1.0).any() else AlphaMode.OPAQUE
            material = replace(material, diffuse=(1.0, 1.0, 1.0), alpha_mode=mode)
        return {"attributes": attributes, "material": self.materials.add(material, double_sided=False)}

    def _show(self, node: int, frame: int, count: int) -> None:
        frames = sorted({0, frame, min(frame + 1, count - 1)})
        times = self.chunk.once(self._moments[frames], bounded=True)
        scales = np.repeat(np.array(frames, np.float32)[:, None] == frame, 3, axis=1).astype(np.float32)
        self._animation.sample(node, "scale", "STEP", times, scales)

    def _place(self, node: int, positions: Any, orientations: Any, scales: Any) -> None:
        """Sets the transform of a node, with keys only if it moves."""
        turns = orientations.copy()
        for frame in range(1, len(turns)):
            if turns[frame] @ turns[frame - 1] < 0.0:  # the same rotation, on the short way
                turns[frame] *= -1.0
        for path, values, plain in (
            ("translation", positions, (0.0, 0.0, 0.0)),
            ("rotation", turns, (0.0, 0.0, 0.0, 1.0)),
            ("scale", scales, (1.0, 1.0, 1.0)),
        ):
            if (values != values[0]).any():
                self._move(node, path, values.astype(np.float32))
            if (values[0] != plain).any():
                self._parts["nodes"][node][path] = values[0].tolist()

    def _move(self, node: int, path: str, keys: Float32) -> None:
        if self._is_moving:
            self._animation.sample(node, path, "LINEAR", self._times, keys)


def _within_one(colours: Float32) -> Float32:
    """Scales colours to at most 1 with the same hue, shape (N, 4)."""
    bright = np.maximum(colours[:, :3].max(axis=1, keepdims=True), 1.0)
    within = np.concatenate((colours[:, :3] / bright, colours[:, 3:]), axis=1)
    clipped: Float32 = np.clip(within, 0.0, 1.0).astype(np.float32)
    return clipped


def _require_size(track: Track, size: int) -> None:
    if size > MORPH_BYTES:
        remedy = "fewer frames, or normals=false, take less"
        raise ExportError(f"{track.name}: {size_text(size)} of frames are too much; {remedy}")
