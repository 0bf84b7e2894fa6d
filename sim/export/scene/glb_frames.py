"""What a binary glTF file of a scene shows frame by frame, for reading back."""

from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from sim.assets.gltf.accessors import Accessors, Budget
from sim.assets.gltf.container import Buffers, ModelFolder, split_file
from sim.assets.gltf.document import GltfDocument, GltfNode, GltfSkin, Primitive
from sim.export.scene.characters import LinearSkin
from sim.maths.transform import compose

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]

_TYPES = "SCALAR", "VEC2", "VEC3", "VEC4", "MAT4"


class GlbFrames:
    """A file as `sim.export.scene.glb` writes it: keys that move anything lie at the frames.

    Args:
        path: The file.

    Attributes:
        times: Moments of the frames [s], shape (F,).
        shown: Numbers of the nodes that a node of the scene became, in their order.
    """

    def __init__(self, path: Path) -> None:
        data, budget = path.read_bytes(), Budget()
        budget.stored(len(data))
        text, binary = split_file(data)
        self._document = msgspec.json.decode(text, type=GltfDocument)
        buffers = Buffers(self._document, binary, ModelFolder(path), budget.stored)
        self._accessors = Accessors(self._document, buffers, budget)
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
        """Points that a node has in every frame; those of a surface are shared by all its parts."""
        stored = self._nodes[node]
        if stored.mesh is None:
            return [self._page(stored.children, time) for time in self.times.tolist()]
        places = self._morphed(node, stored.mesh)
        if stored.skin is not None:
            part, palettes = self._part(stored.mesh), self._palettes(self._document.skins[stored.skin])
            joints, weights = (
                np.concatenate([self._array(part.attributes[key]) for key in sorted(part.attributes) if what in key], 1)
                for what in ("JOINTS", "WEIGHTS")
            )
            places = LinearSkin(joints.astype(np.intp), weights).moved(zip(places, palettes, strict=True))
        return [one.astype(np.float32) for one in places]

    def _morphed(self, node: int, mesh: int) -> Iterator[Float64]:
        """Points of a mesh, moved by its morph targets."""
        part = self._part(mesh)
        first = self._array(part.attributes["POSITION"]).astype(np.float64)
        weights = self._values(node, "weights", self._document.meshes[mesh].weights)
        for row in weights.reshape(len(self.times), -1):
            places = first
            for number in np.flatnonzero(row).tolist():
                places = places + float(row[number]) * self._array(part.targets[number]["POSITION"])
            yield places

    def _palettes(self, skin: GltfSkin) -> Float64:
        """What the joints of a skin do in every frame, shape (F, J, 4, 4)."""
        assert skin.inverse_bind_matrices is not None
        inverse = self._array(skin.inverse_bind_matrices).reshape(-1, 4, 4).swapaxes(1, 2).astype(np.float64)
        found: Float64 = np.stack([self._world(joint) for joint in skin.joints], axis=1) @ inverse
        return found

    def _world(self, node: int) -> Float64:
        """Where a node is in every frame, shape (F, 4, 4)."""
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
        """Keys of a property, one for each frame."""
        if (node, path) in self._keys:
            return self._keys[node, path][1]
        return np.tile(np.asarray(rest, np.float32), (len(self.times), 1))

    def _page(self, pages: list[int], time: float) -> Float32:
        """Points of those of some nodes that are not scaled to nothing at a moment."""
        shown = (self._nodes[node].mesh for node in pages if self._scale(node, time) != 0.0)
        points = [self._array(self._part(mesh).attributes["POSITION"]) for mesh in shown if mesh is not None]
        return np.concatenate([np.zeros((0, 3), np.float32), *points])

    def _scale(self, node: int, time: float) -> float:
        if (node, "scale") in self._keys:
            times, scales = self._keys[node, "scale"]
            return float(scales[max(bisect_right(times, time) - 1, 0), 0])
        return self._nodes[node].scale[0]

    def _is_book(self, node: GltfNode) -> bool:
        """Whether it is one of particles; joints have no meshes."""
        return not node.children or self._nodes[node.children[0]].mesh is not None

    def _part(self, mesh: int) -> Primitive:
        return self._document.meshes[mesh].primitives[0]

    def _array(self, number: int) -> Float32:
        return self._accessors.floats(number, f"accessors[{number}]", _TYPES)
