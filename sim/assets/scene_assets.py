import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from sinew.sim.assets.environment import Panorama
from sinew.sim.assets.images import ImageBudget, MipImage, load_image, mip_image
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel, Mesh, upright_mesh
from sinew.sim.assets.strands import StrandSet, load_strands
from sinew.sim.maths.arrays import UInt8

Asset = Mesh | UInt8 | MipImage | StrandSet | CharacterModel | Panorama


@dataclass(frozen=True, slots=True, eq=False)
class SceneAssets:
    """Assets by path, without files that are missing or still being read; `textures` are images with mip levels.

    `animated` are the models of characters with the clips of their motions, by node.
    """

    meshes: Mapping[Path, Mesh] = field(default_factory=dict)
    images: Mapping[Path, UInt8] = field(default_factory=dict)
    textures: Mapping[Path, MipImage] = field(default_factory=dict)
    strands: Mapping[Path, StrandSet] = field(default_factory=dict)
    motions: Mapping[Path, CharacterModel] = field(default_factory=dict)
    animated: Mapping[str, CharacterModel] = field(default_factory=dict)
    panoramas: Mapping[Path, Panorama] = field(default_factory=dict)

    def animated_model(self, node_id: str, model: CharacterModel) -> CharacterModel:
        """Returns the model of a character with the clips of its motions, or the model itself."""
        animated = self.animated.get(node_id)
        return animated if animated is not None and animated.mesh is model.mesh else model

    def is_same(self, other: "SceneAssets") -> bool:
        if self is other:
            return True
        for name in self.__slots__:
            mine: Mapping[Path | str, Asset] = getattr(self, name)
            others: Mapping[Path | str, Asset] = getattr(other, name)
            if mine.keys() != others.keys() or not all(map(operator.is_, mine.values(), map(others.get, mine))):
                return False
        return True


CONTENTS = frozenset(("mesh", "image", "texture", "strands", "motion", "panorama"))
"""`FileUse.content` of the files that become assets; characters are not among them."""


def assets_from(
    contents: Mapping[tuple[str, Path], Asset], animated: Mapping[str, CharacterModel] | None = None
) -> SceneAssets:
    """Returns the assets of files by `FileUse.content` and path."""
    found = [(path, asset) for (_, path), asset in contents.items()]
    return SceneAssets(
        {path: asset for path, asset in found if isinstance(asset, Mesh)},
        {path: asset for path, asset in found if isinstance(asset, np.ndarray)},
        {path: asset for path, asset in found if isinstance(asset, MipImage)},
        {path: asset for path, asset in found if isinstance(asset, StrandSet)},
        {path: asset for path, asset in found if isinstance(asset, CharacterModel)},
        dict(animated or {}),
        {path: asset for path, asset in found if isinstance(asset, Panorama)},
    )


def load_asset(
    content: str, path: Path, budget: ImageBudget, read_model: Callable[[Path], CharacterModel] = load_model
) -> Asset:
    """Loads an asset; raises ModelError or ImageError if the file cannot be read."""
    match content:
        case "mesh":
            return upright_mesh(read_model(path))
        case "strands":
            return load_strands(path)
        case "motion":
            return read_model(path)
        case "panorama":
            from sinew.sim.assets.panorama_reader import load_panorama  # Readers are imported with their first file

            return load_panorama(path)
        case "image":
            return load_image(path, budget)
        case _:
            return mip_image(load_image(path, budget))
