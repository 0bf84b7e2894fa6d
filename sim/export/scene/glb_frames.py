"""What a binary glTF file of a scene holds beside surfaces: lines and points frame by frame, for reading back."""

import json
import struct
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Json = dict[str, Any]
Float32 = npt.NDArray[np.float32]

_TRIANGLES = 4
_WIDTHS = {"SCALAR": 1, "VEC3": 3}


class LooseFrames:
    """A file as `sim.export.scene.glb` writes it.

    Args:
        path: The file.

    Attributes:
        times: Moments of the frames [s], shape (F,).
        shown: Numbers of the nodes that a node of the scene became, in their order.
        surfaces: For those of them that have faces, number of vertices, and how many parts share them; a reader has
            these once for each part.
    """

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        (length,) = struct.unpack_from("<I", data, 12)
        self._document: Json = json.loads(data[20 : 20 + length])
        self._binary = data[28 + length :]
        self.times: Float32 = self._array(0)[:, 0]
        nodes = self._document["nodes"]
        roots = self._document["scenes"][0]["nodes"]
        self.shown = [root for root in roots if "mesh" in nodes[root] or self._is_book(nodes[root])]
        self._scales = dict(self._scale_keys())
        self.surfaces: dict[int, tuple[int, int]] = {}
        for node in self.shown:
            parts = self._parts(nodes[node])
            if parts and parts[0].get("mode", _TRIANGLES) == _TRIANGLES:
                count = self._document["accessors"][parts[0]["attributes"]["POSITION"]]["count"]
                self.surfaces[node] = count, len(parts)

    def frames_of(self, node: int) -> list[Float32]:
        """Points that a node without faces has in every frame."""
        stored = self._document["nodes"][node]
        if "mesh" not in stored:
            return [self._page(stored.get("children", []), time) for time in self.times.tolist()]
        (part,) = self._parts(stored)
        first = self._array(part["attributes"]["POSITION"])
        return [first, *(first + self._array(target["POSITION"]) for target in part.get("targets", []))]

    def _page(self, pages: list[int], time: float) -> Float32:
        """Points of those of some nodes that are not scaled to nothing at a moment."""
        found = [np.zeros((0, 3), np.float32)]
        for node in pages:
            if self._scale(node, time) != 0.0:
                (part,) = self._parts(self._document["nodes"][node])
                found.append(self._array(part["attributes"]["POSITION"]))
        return np.concatenate(found)

    def _scale(self, node: int, time: float) -> float:
        if node in self._scales:
            times, scales = self._scales[node]
            return scales[max(bisect_right(times, time) - 1, 0)]
        return float(self._document["nodes"][node].get("scale", (1.0,))[0])

    def _scale_keys(self) -> Iterator[tuple[int, tuple[list[float], list[float]]]]:
        """Times and widths of every node that is scaled."""
        for animation in self._document.get("animations", []):
            for channel in animation["channels"]:
                if channel["target"]["path"] == "scale":
                    sampler = animation["samplers"][channel["sampler"]]
                    keys = (self._array(sampler[name])[:, 0].tolist() for name in ("input", "output"))
                    times, scales = keys
                    yield channel["target"]["node"], (times, scales)

    def _is_book(self, node: Json) -> bool:
        """Whether it is one of particles; joints have no meshes."""
        children = node.get("children", [])
        return not children or "mesh" in self._document["nodes"][children[0]]

    def _parts(self, node: Json) -> list[Json]:
        return self._document["meshes"][node["mesh"]]["primitives"] if "mesh" in node else []

    def _array(self, number: int) -> Float32:
        accessor = self._document["accessors"][number]
        view = self._document["bufferViews"][accessor["bufferView"]]
        start, width = view.get("byteOffset", 0) + accessor.get("byteOffset", 0), _WIDTHS[accessor["type"]]
        return np.frombuffer(self._binary, "<f4", accessor["count"] * width, start).reshape(-1, width)
