from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from sinew.sim.assets.images import ImageBudget, MipImage, load_image, mip_image
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel, Mesh, upright_mesh
from sinew.sim.assets.strands import StrandSet, load_strands
from sinew.sim.maths.arrays import UInt8

Asset = Mesh | UInt8 | MipImage | StrandSet


@dataclass(frozen=True, slots=True, eq=False)
class SceneAssets:
    """Assets by path, without files that are missing or still being read; `textures` are images with mip levels."""

    meshes: Mapping[Path, Mesh] = field(default_factory=dict)
    images: Mapping[Path, UInt8] = field(default_factory=dict)
    textures: Mapping[Path, MipImage] = field(default_factory=dict)
    strands: Mapping[Path, StrandSet] = field(default_factory=dict)

    def is_same(self, other: "SceneAssets") -> bool:
        if self is other:
            return True
        for name in (one.name for one in fields(self)):
            mine: Mapping[Path, Asset] = getattr(self, name)
            others: Mapping[Path, Asset] = getattr(other, name)
            if mine.keys() != others.keys() or any(mine[path] is not others[path] for path in mine):
                return False
        return True


FIELDS = {"mesh": "meshes", "image": "images", "texture": "textures", "strands": "strands"}
"""Field of `SceneAssets` for the `content` of a `FileUse`; characters are not among them."""


def load_asset(
    content: str, path: Path, budget: ImageBudget, read_model: Callable[[Path], CharacterModel] = load_model
) -> Asset:
    """Loads an asset; raises ModelError or ImageError if the file cannot be read."""
    match content:
        case "mesh":
            return upright_mesh(read_model(path))
        case "strands":
            return load_strands(path)
        case "image":
            return load_image(path, budget)
        case _:
            return mip_image(load_image(path, budget))
