"""What a binary glTF file of a scene shows frame by frame, for reading back; independent of the reader of models."""

import json
import struct
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.export.scene.characters import LinearSkin
from sim.maths.transform import compose

Json = dict[str, Any]
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]

_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
_TYPES: dict[int, np.dtype[Any]] = {5123: np.dtype("<u2"), 5125: np.dtype("<u4"), 5126: np.dtype("<f4")}
_PLAIN = {"translation": (0.0, 0.0, 0.0), "rotation": (0.0, 0.0, 0.0, 1.0), "scale": (1.0, 1.0, 1.0)}


class GlbFrames:
    """A file as `sim.export.scene.glb` writes it: keys that move anything lie at the frames.

    Args:
        path: The file.

    Attributes:
        times: Moments of the frames [s], shape (F,).
        shown: Numbers of the nodes that a node of the scene became, in their order.
    """

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        (length,) = struct.unpack_from("<I", data, 12)
        self._document: Json = json.loads(data[20 : 20 + length])
        self._binary = data[28 + length :]
        self.times: Float32 = self._array(0)[:, 0]
        self._nodes: list[Json] = self._document["nodes"]
        roots = self._document["scenes"][0]["nodes"]
        self.shown = [root for root in roots if "mesh" in self._nodes[root] or self._is_book(self._nodes[root])]
        self._keys: dict[tuple[int, str], tuple[Float32, Float32]] = {}
        for animation in self._document.get("animations", []):
            for channel in animation["channels"]:
                sampler, target = animation["samplers"][channel["sampler"]], channel["target"]
                keys = self._array(sampler["input"])[:, 0], self._array(sampler["output"])
                self._keys[target["node"], target["path"]] = keys
        self._parents = {child: n for n, node in enumerate(self._nodes) for child in node.get("children", [])}
        self._worlds: dict[int, Float64] = {}

    def frames_of(self, node: int) -> list[Float32]:
        """Points that a node has in every frame; those of a surface are shared by all its parts."""
        stored = self._nodes[node]
        if "mesh" not in stored:
            return [self._page(stored.get("children", []), time) for time in self.times.tolist()]
        mesh = self._document["meshes"][stored["mesh"]]
        part = mesh["primitives"][0]
        places = self._morphed(node, mesh, part)
        if "skin" in stored:
            palettes = self._palettes(self._document["skins"][stored["skin"]])
            names = part["attributes"]
            joints, weights = (
                np.concatenate([self._array(names[key]) for key in sorted(names) if key.startswith(what)], axis=1)
                for what in ("JOINTS", "WEIGHTS")
            )
            blend = LinearSkin(joints, weights)
            places = (blend.moved(one, palette) for one, palette in zip(places, palettes, strict=True))
        return [one.astype(np.float32) for one in places]

    def _morphed(self, node: int, mesh: Json, part: Json) -> Iterator[Float64]:
        """Points of a mesh, moved by its morph targets."""
        first = self._array(part["attributes"]["POSITION"]).astype(np.float64)
        targets = [target["POSITION"] for target in part.get("targets", [])]
        rest = np.array(mesh.get("weights", []), np.float32)
        for row in self._values(node, "weights", rest).reshape(len(self.times), -1):
            places = first.copy()
            for number in np.flatnonzero(row).tolist():
                places += float(row[number]) * self._array(targets[number])
            yield places

    def _palettes(self, skin: Json) -> Float64:
        """What the joints of a skin do in every frame, shape (F, J, 4, 4)."""
        inverse = self._array(skin["inverseBindMatrices"]).reshape(-1, 4, 4).swapaxes(1, 2).astype(np.float64)
        found: Float64 = np.stack([self._world(joint) for joint in skin["joints"]], axis=1) @ inverse
        return found

    def _world(self, node: int) -> Float64:
        """Where a node is in every frame, shape (F, 4, 4)."""
        line = [node]
        while line[-1] not in self._worlds and line[-1] in self._parents:
            line.append(self._parents[line[-1]])
        for one in reversed(line):
            if one not in self._worlds:
                parts = (self._values(one, path, self._nodes[one].get(path, rest)) for path, rest in _PLAIN.items())
                local = compose(*(part.astype(np.float64) for part in parts))
                self._worlds[one] = self._worlds[self._parents[one]] @ local if one in self._parents else local
        return self._worlds[node]

    def _values(self, node: int, path: str, rest: Any) -> Float32:
        """Keys of a property, one for each frame."""
        if (node, path) in self._keys:
            return self._keys[node, path][1]
        return np.tile(np.asarray(rest, np.float32), (len(self.times), 1))

    def _page(self, pages: list[int], time: float) -> Float32:
        """Points of those of some nodes that are not scaled to nothing at a moment."""
        found = [np.zeros((0, 3), np.float32)]
        for node in pages:
            if self._scale(node, time) != 0.0:
                (part,) = self._document["meshes"][self._nodes[node]["mesh"]]["primitives"]
                found.append(self._array(part["attributes"]["POSITION"]))
        return np.concatenate(found)

    def _scale(self, node: int, time: float) -> float:
        if (node, "scale") in self._keys:
            times, scales = self._keys[node, "scale"]
            return float(scales[max(bisect_right(times, time) - 1, 0), 0])
        return float(self._nodes[node].get("scale", (1.0,))[0])

    def _is_book(self, node: Json) -> bool:
        """Whether it is one of particles; joints have no meshes."""
        children = node.get("children", [])
        return not children or "mesh" in self._nodes[children[0]]

    def _array(self, number: int) -> npt.NDArray[Any]:
        accessor = self._document["accessors"][number]
        width, count = _WIDTHS[accessor["type"]], accessor["count"]
        found = np.zeros((count, width), np.float32)
        if "bufferView" in accessor:
            found = self._rows(accessor, accessor["componentType"], count, width)
        if (sparse := accessor.get("sparse")) is not None:
            found = found.copy()
            rows = self._rows(sparse["indices"], sparse["indices"]["componentType"], sparse["count"], 1)[:, 0]
            found[rows] = self._rows(sparse["values"], accessor["componentType"], sparse["count"], width)
        return found

    def _rows(self, place: Json, kind: int, count: int, width: int) -> npt.NDArray[Any]:
        start = self._document["bufferViews"][place["bufferView"]].get("byteOffset", 0) + place.get("byteOffset", 0)
        found: npt.NDArray[Any] = np.frombuffer(self._binary, _TYPES[kind], count * width, start)
        return found.reshape(-1, width)
