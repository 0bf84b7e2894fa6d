"""Boxes and places of posed glTF models as another program gives them (three.js r187), in file units."""

from dataclasses import dataclass

import numpy as np

EXACT = 1e-5


@dataclass(frozen=True)
class Answer:
    file: str  # below the folder of glTF models
    lo: tuple[float, float, float]  # box of the posed vertices
    hi: tuple[float, float, float]  # box of the posed vertices
    clip: int = 0  # number of the clip
    time: float | None = None  # moment in it [s]; None for the rest pose
    tolerance: float = EXACT  # part of the extent
    scene: int | None = None  # number of the scene; None for the file's own
    vertex: tuple[int, tuple[float, float, float]] | None = None  # number and place of one vertex
    weights: tuple[float, ...] | None = None  # weights of the morph targets
    package: str | None = None

    def __str__(self) -> str:
        return f"{self.file.rpartition('/')[2]}-{self.time}"

    def options(self) -> list[str]:
        moment = [] if self.time is None else ["--clip", str(self.clip), "--time", repr(self.time)]
        return moment + ([] if self.scene is None else ["--scene", str(self.scene)])

    def check(self, positions: np.ndarray) -> None:
        lo, hi = np.array(self.lo), np.array(self.hi)
        # The answers are written with five digits.
        allowed = self.tolerance * float((hi - lo).max()) + 5e-6
        np.testing.assert_allclose(positions.min(axis=0), lo, rtol=0, atol=allowed)
        np.testing.assert_allclose(positions.max(axis=0), hi, rtol=0, atol=allowed)
        if self.vertex is not None:
            number, place = self.vertex
            np.testing.assert_allclose(positions[number], place, rtol=0, atol=allowed)


_MAN = (-0.25467, 0.01748, -0.40572), (0.18991, 1.50199, 0.37177)
_FOX = (-13.08644, 6.43598, -92.64678), (13.75206, 69.34772, 72.43568)
_GENERATED = "AssetGenerator/"

ANSWERS = [
    Answer("CesiumMan/glTF/CesiumMan.gltf", *_MAN, time=0.5, vertex=(1636, (0.13351, 1.42461, 0.05103))),
    Answer("CesiumMan/glTF-Binary/CesiumMan.glb", *_MAN, time=0.5, vertex=(1636, (0.13351, 1.42461, 0.05103))),
    Answer(
        "Derived/CesiumMan-8influences.glb", (-0.23526, 0.00489, -0.28227), (0.19841, 1.49151, 0.23884), time=1.234
    ),
    Answer("Derived/CesiumMan-quantize.glb", *_MAN, time=0.5, tolerance=5e-5),
    Answer("CesiumMan/glTF-Draco/CesiumMan.gltf", *_MAN, time=0.5, tolerance=3e-4, package="DracoPy"),
    Answer("Fox/glTF/Fox.gltf", (-11.59651, -0.1307, -84.91232), (18.53741, 77.7259, 67.44333), time=1.7),
    Answer("Fox/glTF-Binary/Fox.glb", *_FOX, clip=2, time=0.4),
    Answer("Derived/Fox-meshopt.glb", *_FOX, clip=2, time=0.4, tolerance=1e-4, package="meshopt"),
    Answer(
        "RiggedFigure/glTF-Binary/RiggedFigure.glb", (-0.45011, 0.0, -0.12237), (0.4406, 1.46761, 0.21837), time=0.6
    ),
    Answer("SimpleSkin/glTF/SimpleSkin.gltf", (-1.06083, 0, 0), (0.55178, 2.06049, 0), time=2.0, tolerance=5e-5),
    Answer(
        "Derived/Torture-1.glb", (-3.55255, -2.62474, 0.19324), (0.76246, -0.34168, 3.88262), time=1.7,
        weights=(0.0201, -0.036), vertex=(42, (0.10207, -1.7337, 0.3959)),
    ),
    Answer("Derived/Torture-2.glb", (0.79457, -3.25098, 0.05302), (2.33839, -0.77631, 2.15751), time=1.7),
    Answer("AnimatedMorphCube/glTF-Binary/AnimatedMorphCube.glb", (-1, -1, -1), (1, 1, -0.29422), time=1.0),
    Answer("Derived/AnimatedMorphCube-sparse.glb", (-1, -1, -1), (1, 1, -0.29422), time=1.0),
    Answer(
        "BlenderIO/01_morphed_cube/01_morphed_cube.gltf", (-1.784, -1, -1.784), (1.784, 1, 1.784), time=0.7,
        weights=(0.784, 0.784),
    ),
    Answer(
        f"{_GENERATED}Animation_SamplerType/Animation_SamplerType_01.gltf", (-0.40359, -0.3, -0.40359),
        (0.40359, 0.3, 0.40359), time=0.7, tolerance=4e-4,
    ),
    Answer(f"{_GENERATED}Animation_Skin/Animation_Skin_03.gltf", (-0.25, -0.4, -0.1), (0.25, 0.17321, 0)),
    Answer(f"{_GENERATED}Animation_Skin/Animation_Skin_05.gltf", (-0.25, -0.2, -0.1), (0.85, 0.17321, 0)),
    Answer(f"{_GENERATED}Animation_Skin/Animation_Skin_11.gltf", (-0.25, -0.2, -0.1), (0.85, 0.17321, 0)),
    Answer(
        f"{_GENERATED}Animation_Skin/Animation_Skin_07.gltf", (-0.55944, -0.3, -0.55944), (0.48, 0.3, 0.48), time=0.7
    ),
    Answer("SimpleSparseAccessor/glTF/SimpleSparseAccessor.gltf", (0, 0, 0), (6, 4, 0)),
    Answer("MultipleScenes/glTF/MultipleScenes.gltf", (0, 0, 0), (1, 1, 0), scene=1),
]  # fmt: skip
