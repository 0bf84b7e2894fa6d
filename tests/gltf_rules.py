"""What the specification of glTF 2.0 demands of a binary file, checked without the reader of this program."""

import json
import struct
from typing import Any

import numpy as np

_TYPES = {5121: "u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_VERTICES, _CORNERS = 34962, 34963
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class Checked:
    def __init__(self, data: bytes) -> None:
        magic, version, length, size, kind = struct.unpack_from("<4s4I", data)
        assert (magic, version, length, kind) == (b"glTF", 2, len(data), 0x4E4F534A)
        assert size % 4 == 0
        self.document: dict[str, Any] = json.loads(data[20 : 20 + size])
        self._binary = data[28 + size :]
        binary = len(self._binary)
        if len(data) > 20 + size:
            assert struct.unpack_from("<2I", data, 20 + size) == (binary, 0x004E4942)
            assert self.document["buffers"] == [{"byteLength": binary}]
        assert [] not in self.document.values()
        for view in self.document.get("bufferViews", []):
            assert view["byteOffset"] % 4 == 0
            assert view["byteOffset"] + view["byteLength"] <= binary
        self._check_accessors()
        self._check_nodes()
        for mesh in self.document.get("meshes", []):
            self._check_mesh(mesh)
        for skin in self.document.get("skins", []):
            assert len(set(skin["joints"])) == len(skin["joints"])
            assert len(self.values(skin["inverseBindMatrices"])) == len(skin["joints"])
            assert len({self._root(joint) for joint in skin["joints"]}) == 1
        for animation in self.document.get("animations", []):
            self._check_animation(animation)
        for image in self.document.get("images", []):
            assert image["mimeType"] in ("image/png", "image/jpeg")
        self._check_targets()
        self._check_use()

    def values(self, accessor: int) -> np.ndarray:
        part = self.document["accessors"][accessor]
        width, kind = _WIDTHS[part["type"]], part["componentType"]
        if "bufferView" in part:
            return self._rows(part["bufferView"], part["count"], width, kind)
        found = np.zeros((part["count"], width), _TYPES[kind])
        if "sparse" in part:
            sparse, indices = part["sparse"], part["sparse"]["indices"]
            rows = self._rows(indices["bufferView"], sparse["count"], 1, indices["componentType"])[:, 0]
            assert (np.diff(rows.astype(np.int64)) > 0).all()
            found[rows] = self._rows(sparse["values"]["bufferView"], sparse["count"], width, kind)
        return found

    def _rows(self, number: int, count: int, width: int, kind: int) -> np.ndarray:
        view, dtype = self.document["bufferViews"][number], np.dtype(_TYPES[kind])
        assert count * width * dtype.itemsize <= view["byteLength"]
        return np.frombuffer(self._binary, dtype, count * width, view["byteOffset"]).reshape(count, width)

    def _check_accessors(self) -> None:
        for number, part in enumerate(self.document.get("accessors", [])):
            values = self.values(number)
            assert part["count"] > 0
            assert np.isfinite(values).all()
            if "min" in part:
                np.testing.assert_array_equal(np.float32(part["min"]), values.min(axis=0))
                np.testing.assert_array_equal(np.float32(part["max"]), values.max(axis=0))

    def _check_nodes(self) -> None:
        nodes = self.document.get("nodes", [])
        children = [child for node in nodes for child in node.get("children", [])]
        assert len(set(children)) == len(children)
        for node in nodes:
            assert node.get("children") != []
            assert abs(np.linalg.norm(node.get("rotation", [0, 0, 0, 1])) - 1.0) < 1e-6
            assert "skin" not in node or "mesh" in node
        for root in self.document["scenes"][0].get("nodes", []):
            assert root not in children

    def _check_mesh(self, mesh: dict[str, Any]) -> None:
        counts = {len(primitive.get("targets", [])) for primitive in mesh["primitives"]}
        assert counts == {len(mesh.get("weights", []))}
        for primitive in mesh["primitives"]:
            attributes = {name: self.values(number) for name, number in primitive["attributes"].items()}
            (count,) = {len(values) for values in attributes.values()}
            assert "min" in self.document["accessors"][primitive["attributes"]["POSITION"]]
            corner_count = {0: 1, 1: 2, 4: 3}[primitive.get("mode", 4)]
            corners = self.values(primitive["indices"]) if "indices" in primitive else np.arange(count)
            assert "indices" in primitive or corner_count == 1
            assert len(corners) % corner_count == 0
            assert corners.max() < count
            for name in ("NORMAL", "TANGENT"):
                if name in attributes:
                    np.testing.assert_allclose(np.linalg.norm(attributes[name][:, :3], axis=1), 1.0, atol=1e-5)
            if "WEIGHTS_0" in attributes:
                weights = np.hstack([attributes[name] for name in sorted(attributes) if name.startswith("WEIGHTS")])
                joints = np.hstack([attributes[name] for name in sorted(attributes) if name.startswith("JOINTS")])
                np.testing.assert_allclose(weights.sum(axis=1, dtype=np.float64), 1.0, atol=2e-7)
                assert (weights >= 0.0).all()
                assert (joints[weights == 0.0] == 0).all()
            for target in primitive.get("targets", []):
                assert "min" in self.document["accessors"][target["POSITION"]]
                assert set(target) <= set(primitive["attributes"])
                assert {len(self.values(number)) for number in target.values()} == {count}

    def _check_animation(self, animation: dict[str, Any]) -> None:
        targets = [(channel["target"]["node"], channel["target"]["path"]) for channel in animation["channels"]]
        assert targets
        assert len(set(targets)) == len(targets)
        for channel in animation["channels"]:
            sampler = animation["samplers"][channel["sampler"]]
            times, values = self.values(sampler["input"]), self.values(sampler["output"])
            assert "min" in self.document["accessors"][sampler["input"]]
            assert times[0] >= 0.0
            assert (np.diff(times[:, 0]) > 0.0).all()
            each = 3 if sampler.get("interpolation") == "CUBICSPLINE" else 1
            node = self.document["nodes"][channel["target"]["node"]]
            if channel["target"]["path"] == "weights":
                each *= len(self.document["meshes"][node["mesh"]]["weights"])
            assert len(values) == each * len(times)
            if channel["target"]["path"] == "rotation" and each == 1:
                np.testing.assert_allclose(np.linalg.norm(values, axis=1), 1.0, atol=1e-5)

    def _check_targets(self) -> None:
        """Views of vertices and of corners say so, others do not."""
        wanted: dict[int, int | None] = {}
        views = [part.get("bufferView") for part in self.document.get("accessors", [])]
        for number, view in enumerate(views):
            if view is not None:
                is_corners = any(number == one["indices"] for one in self._primitives if "indices" in one)
                is_vertices = any(number in self._vertices(one) for one in self._primitives)
                target = _CORNERS if is_corners else _VERTICES if is_vertices else None
                assert wanted.setdefault(view, target) == target
        for number, view in enumerate(self.document.get("bufferViews", [])):
            assert view.get("target") == wanted.get(number)

    @property
    def _primitives(self) -> list[dict[str, Any]]:
        return [one for mesh in self.document.get("meshes", []) for one in mesh["primitives"]]

    def _vertices(self, primitive: dict[str, Any]) -> set[int]:
        tables = [primitive["attributes"], *primitive.get("targets", [])]
        return {number for table in tables for number in table.values()}

    def _check_use(self) -> None:
        """Nothing lies about that nothing uses."""
        document = self.document
        samplers = [one for animation in document.get("animations", []) for one in animation["samplers"]]
        skins, nodes = document.get("skins", []), document.get("nodes", [])
        accessors = {number for one in self._primitives for number in self._vertices(one)}
        accessors |= {one["indices"] for one in self._primitives if "indices" in one}
        accessors |= {one[key] for one in samplers for key in ("input", "output")}
        accessors |= {one["inverseBindMatrices"] for one in skins if "inverseBindMatrices" in one}
        # The first one may tell the moments of all frames, which nothing needs where nothing moves in all of them.
        assert accessors | {0} == set(range(len(document.get("accessors", [])))) | {0}
        for key, used in (("mesh", "meshes"), ("skin", "skins")):
            assert {node[key] for node in nodes if key in node} == set(range(len(document.get(used, []))))
        materials = {one["material"] for one in self._primitives if "material" in one}
        assert materials == set(range(len(document.get("materials", []))))
        for animation in document.get("animations", []):
            assert {one["sampler"] for one in animation["channels"]} == set(range(len(animation["samplers"])))
        shown = list(document["scenes"][0].get("nodes", []))
        for number in shown:
            shown += nodes[number].get("children", [])
        assert sorted(shown) == list(range(len(nodes)))

    def _root(self, node: int) -> int:
        above = {
            child: number for number, part in enumerate(self.document["nodes"]) for child in part.get("children", [])
        }
        while node in above:
            node = above[node]
        return node
