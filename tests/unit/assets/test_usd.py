"""USD files against OpenUSD itself, which runs in a process of its own."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sinew.app.project.model_scene import scene_of_model
from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel, Clip, Interpolation
from sinew.sim.assets.raw import LoadCancelled, ModelError
from sinew.sim.characters.reference import skin
from sinew.sim.characters.settings import SkinningMethod
from tests.conftest import campaign, slow
from tests.refusals import refusal

ORACLES = Path(__file__).parents[2] / "oracles"

pytestmark = pytest.mark.skipif(importlib.util.find_spec("pxr") is None, reason="needs usd-core")


@pytest.fixture(scope="module")
def folder(assets: Path) -> Path:
    if not (assets / "usd").is_dir():
        pytest.skip("no files")
    return assets / "usd"


def posed(model: CharacterModel, clip: Clip | None, time: float, method: SkinningMethod) -> npt.NDArray[np.float64]:
    pose = evaluate_pose(model, clip, time, interpolation=Interpolation.LINEAR)
    found = skin(model.mesh, model.skin, pose.palette, method, pose.centres, pose.local.weights)
    return found.positions.astype(np.float64)


def expected(file: Path, *, baked: bool = False) -> dict[float, list[npt.NDArray[np.float64]]]:
    command = [sys.executable, ORACLES / "usd_points.py", file, *(["bake"] if baked else [])]
    output = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout
    found: dict[float, list[npt.NDArray[np.float64]]] = {}
    for _, seconds, points in json.loads(output.splitlines()[-1]):
        found.setdefault(seconds, []).append(np.array(points))
    return found


def furthest(points: npt.NDArray[np.float64], others: npt.NDArray[np.float64]) -> float:
    """Largest distance of a point from the nearest of others."""
    return max(
        float(np.sqrt(((block[:, None] - others) ** 2).sum(axis=2).min(axis=1)).max())
        for block in np.array_split(points, max(len(points) // 200, 1))
    )


@pytest.mark.parametrize("name", ["lbs", "dqs", "blendshapes", slow("blendshapesWithNormals")])
def test_skinned_points_are_those_of_openusd(name: str, folder: Path) -> None:
    """All meshes of the file against the same file baked by UsdSkel."""
    model = load_model(folder / f"{name}.usda")
    method = SkinningMethod.DQS if "dual quaternions" in "".join(model.warnings) else SkinningMethod.LBS
    assert (method is SkinningMethod.DQS) == (name == "dqs")
    (clip,) = model.clips
    for seconds, meshes in expected(folder / f"{name}.usda", baked=True).items():
        vertices = posed(model, clip, seconds, method)
        if name.startswith("blend"):  # beside a mesh whose points move, which is shown at the start
            meshes = [meshes[-1]]
        for points in meshes:
            extent = float(np.ptp(points, axis=0).max())
            assert furthest(points, vertices) < 1e-5 * extent, (name, seconds)


@pytest.mark.parametrize("name", ["CesiumMan", "RiggedSimple"])
def test_characters_are_those_of_the_same_gltf(name: str, folder: Path, assets: Path) -> None:
    other = assets / "gltf" / name / "glTF-Binary" / f"{name}.glb"
    if not other.is_file():
        pytest.skip("no glTF")
    model, known = load_model(folder / f"{name}.usdz"), load_model(other)
    (clip,) = model.clips
    extent = known.mesh.bounds.extent
    for frame in (1, 7, 20, 44):  # whole frames of the USD file, which begin at 1 of 24 in a second
        ours = posed(model, clip, (frame - 1) / 24.0, SkinningMethod.LBS)
        theirs = posed(known, known.clips[0], frame / 24.0, SkinningMethod.LBS)
        assert furthest(theirs, ours) < 1e-5 * extent, frame
    assert model.materials[0].image is not None or name != "CesiumMan"


def test_points_over_time_are_frames(folder: Path) -> None:
    model = load_model(folder / "lbs.baked.usda")
    assert model.skeleton is None
    (clip,) = model.clips
    for seconds, meshes in expected(folder / "lbs.baked.usda").items():
        vertices = posed(model, clip, seconds, SkinningMethod.LBS)
        for points in meshes:
            assert furthest(points, vertices) < 1e-5 * float(np.ptp(points, axis=0).max())


@pytest.mark.slow
def test_every_file_opens_or_says_why(folder: Path) -> None:
    refused = {}
    for file in sorted(folder.glob("*.usd*")):
        try:
            model = load_model(file)
        except ModelError as error:
            refused[file.name] = str(error)
            continue
        assert model.mesh.vertex_count or file.name == "empty.usda"
        assert model.default_up_axis == ("Z" if file.name.startswith("blendshapes.") else "Y")
    assert set(refused) == {"scopes_and_xforms_nested.usda", "simple_transform.usda", "xforms_nested.usda"}
    for name, text in refused.items():
        assert text == f"{folder / name}: names ../../../_common/axis.usda, which lies outside the folder of the file"


TRIANGLE = """#usda 1.0
(
    defaultPrim = "Top"
    metersPerUnit = {unit}
    upAxis = "{up}"
    timeCodesPerSecond = 10
    startTimeCode = 20
    endTimeCode = 30
)
def Xform "Top"
{{
    double3 xformOp:translate.timeSamples = {{ 20: (0, 0, 0), 30: (5, 0, 0) }}
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def Mesh "Tri"
    {{
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
        int[] faceVertexCounts = [4{more}]
        int[] faceVertexIndices = [0, 1, 2, 3]
        uniform token orientation = "{orientation}"
        color3f[] primvars:displayColor = [(1, 0, 0)]
        uniform token subdivisionScheme = "none"
    }}
    def DistantLight "Sun"
    {{
    }}
    def SphereLight "Lamp"
    {{
        float inputs:intensity = 100
        float inputs:exposure = 1
        float inputs:radius = 10
        color3f inputs:color = (1, 0.5, 0.25)
        double3 xformOp:translate = (0, 0, 300)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }}
    def RectLight "Panel"
    {{
        float inputs:intensity = 50
        bool inputs:normalize = 1
        double3 xformOp:translate = (0, 300, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }}
    def Camera "Cam"
    {{
        float focalLength = 50
        float verticalAperture = 24
    }}
    def Xform "Hidden" {{
        token visibility = "invisible"
        def Sphere "Ball"
        {{
        }}
    }}
}}
"""


def written(path: Path, **values: Any) -> Path:
    path.write_text(TRIANGLE.format(**({"unit": 0.01, "up": "Z", "orientation": "rightHanded", "more": ""} | values)))
    return path


def test_units_axes_times_and_what_is_left_out(tmp_path: Path) -> None:
    model = load_model(written(tmp_path / "a.usda"))
    assert model.mesh.bounds.extent == pytest.approx(0.01)
    assert (model.default_up_axis, [clip.duration for clip in model.clips]) == ("Z", [1.0])
    assert np.ptp(posed(model, model.clips[0], 1.0, SkinningMethod.LBS)[:, 0]) == pytest.approx(0.01)
    assert posed(model, model.clips[0], 1.0, SkinningMethod.LBS)[:, 0].min() == pytest.approx(0.05)
    assert model.cameras[0].field_of_view == pytest.approx(np.degrees(2.0 * np.arctan(0.24)), rel=1e-5)
    assert model.materials[0].diffuse == (1.0, 0.0, 0.0)
    assert "1 hidden prim, 1 light without a place of the file are left out." in model.warnings
    lamp, panel = model.lights
    assert (lamp.colour, lamp.strength) == ((1.0, 0.5, 0.25), pytest.approx(200.0 * np.pi * 0.1**2))
    assert panel.strength == pytest.approx(50.0)
    scene = scene_of_model(tmp_path / "a.usda", model)
    ours = {node.name: node for node in scene.of_kind("light")}
    assert list(ours) == ["Lamp", "Panel"]
    assert ours["Panel"].attachment.bone == "Panel"
    settings = ours["Panel"].settings
    assert settings.reach == pytest.approx(3.0, rel=5e-3)  # type: ignore[attr-defined]
    ratio = ours["Lamp"].settings.intensity / settings.intensity  # type: ignore[attr-defined]
    assert ratio == pytest.approx(lamp.strength / panel.strength, rel=2e-2)
    assert [node.settings.shadow for node in ours.values()] == [False, True]  # type: ignore[attr-defined]
    turned = load_model(written(tmp_path / "b.usda", orientation="leftHanded", unit=1.0))
    assert turned.mesh.bounds.extent == pytest.approx(1.0)
    normals = [np.cross(*np.diff(m.mesh.positions[m.mesh.triangles[0]], axis=0))[2] for m in (model, turned)]
    assert normals[0] > 0.0 > normals[1]


def test_layers_beside_the_file_are_read_and_others_refused_before_they_are_opened(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    written(tmp_path / "in" / "part.usda")
    written(tmp_path / "outside.usda")
    main = tmp_path / "in" / "main.usda"
    main.write_text('#usda 1.0\ndef "A" (references = @./part.usda@) {}\n')
    assert load_model(main).mesh.vertex_count == 4
    for wanted in ("../outside.usda", "/etc/hostname.usda", "https://example.org/a.usda"):
        main.write_text(f'#usda 1.0\ndef "A" (references = @{wanted}@) {{}}\n')
        assert refusal(load_model, main) == f"names {wanted}, which lies outside the folder of the file"
    (tmp_path / "in" / "link.usda").symlink_to(tmp_path / "outside.usda")
    main.write_text('#usda 1.0\ndef "A" (references = @./link.usda@) {}\n')
    assert "names ./link.usda, which lies outside" in refusal(load_model, main)


def test_damage_is_one_line(tmp_path: Path) -> None:
    for name, text, words in (
        ("faces.usda", TRIANGLE.format(unit=1, up="Y", orientation="rightHanded", more=", 3"), "need 7 corners"),
        ("unit.usda", TRIANGLE.format(unit=0, up="Y", orientation="rightHanded", more=""), "unusable unit"),
        ("none.usda", "#usda 1.0\n", "no meshes"),
        ("text.usda", '#usda 1.0\ndef Mesh "a"\n{\n    int\n}\n', "is damaged at line 4"),
        ("crate.usdc", "PXR-USDC" + "x" * 100, "is damaged"),
    ):  # fmt: skip
        path = tmp_path / name
        path.write_text(text)
        assert words in refusal(load_model, path), name
    with pytest.raises(LoadCancelled):
        load_model(written(tmp_path / "a.usda"), cancelled=lambda: True)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("count", [4, slow(12), campaign(2240)])
def test_bits_that_flip_end_in_a_model_or_in_one_line(folder: Path, tmp_path: Path, count: int) -> None:
    """Of 28 files; a lot runs for an hour."""
    random, refused = np.random.default_rng(5), []
    files = [file for file in sorted(folder.glob("*.usd*")) if file.stat().st_size < 3_000_000]
    for number in range(count):
        file = files[number * 7 % len(files)]
        data = bytearray(file.read_bytes())
        for place in random.integers(0, len(data), 12):
            data[place] ^= 1 << int(random.integers(0, 8))
        damaged = tmp_path / file.name
        damaged.write_bytes(data)
        try:
            load_model(damaged)
        except ModelError as error:
            refused.append((damaged, str(error)))
    assert all("\n" not in text and str(file) in text for file, text in refused)
    assert refused


@pytest.mark.parametrize("every", [8, slow(1)])
def test_damaged_alembic_files_are_refused_in_one_line(folder: Path, every: int) -> None:
    pytest.importorskip("alembic3d")
    files = sorted((folder / "alembic").glob("*.abc"))
    assert len(files) > 20
    for file in files[::every]:
        text = refusal(load_model, file)
        assert "EXCEPTION" not in text
        assert text.startswith(("is damaged", "has no meshes", "imagetostl_mesh208: a face names point 3 of 0")), text
