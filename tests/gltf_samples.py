from pathlib import Path
from typing import Any

import numpy as np

from sinew.sim.assets.formats import GltfOptions
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel
from sinew.sim.export.gltf_parts import GlbChunk

TRIANGLE = np.array([[0, 0, 0], [2, 0, 0], [0, 1, 0]], np.float32)
QUAD = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], np.float32)


class Sample:
    def __init__(self) -> None:
        self.chunk = GlbChunk()
        self.document: dict[str, Any] = {"asset": {"version": "2.0"}}

    def add(self, values: Any, dtype: Any = np.float32, **more: Any) -> int:
        """Number of an accessor of rows (n, k), or of numbers (n,)."""
        rows = np.asarray(values, dtype)
        return self.chunk.add(rows.reshape(len(rows), -1), **more)

    def points(self, values: Any) -> int:
        """The same with bounds, as positions need them."""
        rows = np.asarray(values, np.float32)
        if not np.isfinite(rows).all():
            return self.add(rows)
        return self.add(rows, min=rows.min(axis=0).tolist(), max=rows.max(axis=0).tolist())

    def put(self, key: str, part: dict[str, Any]) -> int:
        self.document.setdefault(key, []).append(part)
        return len(self.document[key]) - 1

    def mesh(self, positions: Any = TRIANGLE, *, node: dict[str, Any] | None = None, **primitive: Any) -> int:
        attributes = {"POSITION": self.points(positions), **primitive.pop("attributes", {})}
        mesh = self.put("meshes", {"primitives": [{"attributes": attributes, **primitive}]})
        return self.put("nodes", {"mesh": mesh, **(node or {})})

    def animate(self, node: int, path: str, times: Any, values: Any, mode: str = "LINEAR") -> None:
        clips = self.document.setdefault("animations", [{"channels": [], "samplers": []}])
        clips[0]["channels"].append({"sampler": len(clips[0]["samplers"]), "target": {"node": node, "path": path}})
        clips[0]["samplers"].append({"input": self.add(times), "output": self.add(values), "interpolation": mode})

    def data(self) -> bytes:
        return self.chunk.file(self.document)

    def write(self, folder: Path) -> Path:
        path = folder / "sample.glb"
        path.write_bytes(self.data())
        return path

    def load(self, folder: Path, scene: int | None = None) -> CharacterModel:
        return load_model(self.write(folder), options=GltfOptions(scene=scene))


def skinned() -> Sample:
    sample = Sample()
    joints = sample.add([[0, 1, 0, 0]] * 3, np.uint8)
    weights = sample.add([[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 1, 0, 0]])
    binds = sample.add(np.tile(np.eye(4).ravel(), (2, 1)))
    sample.mesh(attributes={"JOINTS_0": joints, "WEIGHTS_0": weights}, node={"skin": 0, "name": "body"})
    sample.put("nodes", {"name": "root", "children": [2]})
    sample.put("nodes", {"name": "tip", "rotation": [0, 0, 0, 1]})
    sample.put("skins", {"joints": [1, 2], "inverseBindMatrices": binds})
    sample.animate(2, "translation", [0, 1], [[0, 0, 0], [0, 0, 2]])
    sample.animate(1, "rotation", [0, 0.5, 1], [[0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, -1]])
    return sample


def morphing() -> Sample:
    """A triangle with two targets, materials with an embedded image, colours and a clip of weights."""
    sample = Sample()
    image = sample.chunk.view(png_bytes())
    sample.put("images", {"bufferView": image, "mimeType": "image/png", "name": "dots"})
    sample.put("textures", {"source": 0})
    sample.put("materials", {"name": "red", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}})
    sample.mesh(
        attributes={"COLOR_0": sample.add([[255, 0, 0, 255]] * 3, np.uint8, normalized=True),
                    "TEXCOORD_0": sample.add([[0, 0], [1, 0], [0, 1]]),
                    "NORMAL": sample.add([[0, 0, 1]] * 3)},
        material=0,
        targets=[{"POSITION": sample.add([[0, 0, 0], [0, 0, 0], [0, 1, 0]])},
                 {"POSITION": sample.add([[0, 0, 1]] * 3), "NORMAL": sample.add([[1, 0, 0]] * 3)}],
    )  # fmt: skip
    sample.document["meshes"][0]["extras"] = {"targetNames": ["tall", "near"]}
    sample.document["meshes"][0]["weights"] = [0.25, 0.0]
    sample.animate(0, "weights", [0, 1], [0, 1, 1, 0])
    return sample


def png_bytes() -> bytes:
    import io

    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(np.array([[[255, 0, 0], [0, 255, 0]]], np.uint8)).save(out, "PNG")
    return out.getvalue()
