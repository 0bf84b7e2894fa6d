import importlib.util
import os
import subprocess
import sys
import tracemalloc
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from lxml import etree

from sinew.sim.animation.evaluate import bind_pose, evaluate_pose
from sinew.sim.assets.clip import CurveClip
from sinew.sim.assets.formats import IMAGE_FORMATS, MODEL_FORMATS, Format, Formats
from sinew.sim.assets.info import influence_counts
from sinew.sim.assets.load import is_model, load_model, read_raw
from sinew.sim.assets.model import CharacterModel
from sinew.sim.assets.raw import LoadCancelled, ModelError
from sinew.sim.assets.strands import load_strands
from sinew.sim.characters.reference import skin
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.export.ezm import write_ezm
from sinew.sim.export.formats import ARRAY_WRITERS, IMAGE_WRITERS, MODEL_WRITERS, SURFACE_WRITERS
from sinew.sim.printable import printable
from tests.ezm_samples import MESH_SYSTEM, mesh_text
from tests.gltf_answers import Answer
from tests.refusals import refusal
from tests.synthetic_models import synthetic_tube


def failure(path: Path) -> str:
    with pytest.raises(ModelError) as caught:
        load_model(path)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert message.startswith(f"{printable(str(path))}: ")
    assert caught.value.path == path
    return message.partition(": ")[2]


def test_content_that_is_no_model(tmp_path: Path) -> None:
    for content, reason in (
        (b"", "the file is empty"),
        (b" \r\n\t ", "the file has no content"),
        (b"\0" * 100, "the file has no content"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "this is a PNG image, not a model"),
        (b"PK\x03\x04", "this is a ZIP archive, not a model"),
        ('<?xml version="1.0"?><Mesh/>'.encode("utf-16"), "this is UTF-16 text, not a model"),
        (b"hello", "this is neither EZMesh text (which starts with '<') nor binary EZMesh"),
        (b"\0\0\0\x66\0\0\0\x06EZMESH", "this is neither EZMesh text (which starts with '<') nor binary EZMesh"),
        (b"<html><body/></html>", "the root element is 'html', not MeshSystem, Mesh or SceneGraph"),
        (b"<Mesh>", "XML: "),
        (b"<Mesh/><Mesh/>", "XML: Extra content at the end of the document"),
        (b"<Mesh name='&undefined;'/>", "XML: "),
        (b"<MeshSystem>" + b"<a>" * 400 + b"</a>" * 400 + b"</MeshSystem>", "XML: elements nest too deeply"),
        (b"<Mesh " + b" ".join(b'a%d=""' % number for number in range(600)) + b"/>", "XML: an element has more"),
    ):  # fmt: skip
        path = tmp_path / "model.ezm"
        path.write_bytes(content)
        assert failure(path).startswith(reason)


def test_document_types_are_refused(tmp_path: Path) -> None:
    for declaration in (
        '<!DOCTYPE m [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>',
        '<!DOCTYPE m SYSTEM "http://localhost/m.dtd">',
        '<?xml version="1.0"?><!-- x --><?pi?>\n<!DOCTYPE m>',
    ):
        path = tmp_path / "model.ezm"
        path.write_text(declaration + '<MeshSystem asset_name="x"/>')
        assert failure(path) == "DOCTYPE: document type declarations are not accepted"


def test_entities_do_not_read_files(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    path = tmp_path / "model.ezm"
    path.write_text(f'<?xml version="1.0" encoding="UTF-7"?>+ADwAIQ-DOCTYPE m [+ADwAIQ-ENTITY a SYSTEM "{secret}">]>'
                    '<MeshSystem asset_name="&a;"/>')  # fmt: skip
    assert "secret" not in failure(path).replace(str(tmp_path), "")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    assert failure(tmp_path) == "this is a folder"
    assert failure(tmp_path / "missing.ezm") == "no such file or directory"
    assert failure(Path("nul\0character.ezm")).startswith("embedded null")
    os.mkfifo(tmp_path / "pipe.ezm")
    assert failure(tmp_path / "pipe.ezm") == "this is not a regular file"
    with (tmp_path / "huge.ezm").open("wb") as file:
        file.truncate(600 << 20)  # takes no space on the disk
    assert failure(tmp_path / "huge.ezm") == "the file has 600 MiB, more than 512 MiB"
    (tmp_path / "a\nb.ezm").write_bytes(b"")
    assert failure(tmp_path / "a\nb.ezm") == "the file is empty"
    path = tmp_path / "model.ezm"
    path.write_text(mesh_text("x").replace('"m"', f'"{"n" * 5000}&#10;"'))
    assert len(failure(path)) < 200


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="needs a user whom permissions bind")
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = tmp_path / "model.ezm"
    path.write_text(MESH_SYSTEM)
    path.chmod(0)
    assert failure(path) == "permission denied"


def test_declared_sizes_take_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "model.ezm"
    path.write_text(mesh_text("0 0 0", count=10_000_000))
    tracemalloc.start()
    try:
        failure(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 << 20


def test_progress_and_cancelling(tmp_path: Path) -> None:
    path = tmp_path / "model.ezm"
    write_ezm(synthetic_tube(20_000), path)
    seen: list[float] = []
    load_model(path, progress=seen.append)
    assert len(seen) > 5
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    with pytest.raises(LoadCancelled):
        load_model(path, cancelled=lambda: True)
    with pytest.raises(LoadCancelled):
        load_model(path, progress=seen.append, cancelled=lambda: seen[-1] < 1.0 and len(seen) > 20)


REGISTRIES = (MODEL_FORMATS, IMAGE_FORMATS, MODEL_WRITERS, SURFACE_WRITERS, ARRAY_WRITERS, IMAGE_WRITERS)


@pytest.mark.parametrize("formats", REGISTRIES)
def test_suffixes_are_lower_case_and_those_of_one_format(formats: Formats[Format]) -> None:
    suffixes = formats.suffixes()
    assert len(set(suffixes)) == len(suffixes) > 0
    for suffix in suffixes:
        assert suffix == suffix.lower()
        assert formats.of(Path("A" + suffix.upper())).has_suffix(Path("b" + suffix))


def test_two_formats_have_no_suffix_in_common() -> None:
    formats = Formats(Format(name="one", suffixes=(".a", ".b")))
    with pytest.raises(ValueError, match=r"\.b is taken already"):
        formats.register(Format(name="two", suffixes=(".b", ".c")))
    assert formats.suffixes() == (".a", ".b")


def test_a_model_is_known_by_suffix_or_content(tmp_path: Path) -> None:
    for name, content, expected in (
        ("a.EZM", b"", True),
        ("a.txt", b"\xef\xbb\xbf <Mesh/>", True),
        ("a", b"\0\0\0\x65\0\0\0\x06EZMESH", True),
        ("a.txt", b"# c\nv 1 2 3\n", True),
        ("a.txt", b"\xef\xbb\xbfv 1 2 3\n", True),
        ("a.txt", b"mtllib a.mtl\nv -0.5 1 0", True),
        ("a.txt", b"\r\no x\r\nv .5 1 0", True),
        ("a.txt", b"mtllib a.mtl", False),
        ("a.txt", b"v x y z", False),
        ("a.txt", b"# only", False),
        ("a.txt", b"hello", False),
        ("a.png", b"\x89PNG\r\n\x1a\n", False),
        ("a.bin", b"", False),
    ):
        (tmp_path / name).write_bytes(content)
        assert is_model(tmp_path / name) is expected
        assert not is_model(tmp_path)
        assert not is_model(tmp_path / "missing.txt")


def test_asking_for_formats_and_info_load_neither_readers_nor_qt_nor_opengl(repo_root: Path) -> None:
    code = (
        "import sys; from sinew.sim.assets.formats import IMAGE_FORMATS, MODEL_FORMATS; "
        "from sinew.sim.export.formats import *; "
        "from sinew.app.cli.main import main; MODEL_FORMATS.suffixes(); main(['info', 'none.ezm']); "
        "loaded = {'PySide6', 'OpenGL', 'glcontext', 'pyqtgraph', 'shiboken6', 'lxml', 'PIL'}; "
        "print(sorted(name for name in sys.modules if name in loaded or name.startswith('sinew.sim.assets.')"
        " and name.endswith('_reader')))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=repo_root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@dataclass(frozen=True)
class Expected:
    dialect: str
    vertices: int
    triangles: int
    sections: tuple[int, ...]
    joints: int
    size: tuple[float, float, float]
    up: str = "Y"
    origin: str = "top"
    frames: int = 0
    step: float = 0.0
    duration: float = 0.0
    influences: tuple[int, ...] = ()
    textures: tuple[bool, ...] = ()


EXPECTED = {
    "dude/dude.ezm": Expected(
        "MeshSystem", 13114, 22507, (7230, 4449, 6579, 3807, 442), 60, (58.0, 74.4, 17.4), origin="bottom",
        frames=61, step=0.02, duration=1.2, influences=(3710, 1783, 3554, 4067), textures=(True,) * 5,
    ),
    "clothsim_zup/ClothSim.ezm": Expected(
        "MeshSystem", 4592, 5963, (3513, 336, 2114), 62, (1.734, 0.543, 1.996), up="Z",
        frames=300, step=6.25 / 299, duration=6.25, influences=(2680, 1804, 104, 4), textures=(False,) * 3,
    ),
    "character/character.ezm": Expected(
        "legacy", 2016, 1459, (60, 10, 29, 29, 98, 60), 43, (2.408, 2.274, 0.666), influences=(1320, 696),
        textures=(True, True),
    ),
    "beshon/beshon.ezm": Expected(
        "legacy", 1932, 2162, (1526, 636), 0, (0.870, 1.531, 1.387), textures=(True, True)
    ),
    "export/export.ezm": Expected(
        "MeshSystem", 3, 1, (1,), 1, (1, 1, 0), frames=2, step=0.016666668, duration=0.016666668, influences=(3,),
        textures=(False,),
    ),
    "woodchunk/woodChunkmesh.ezm": Expected(
        "MeshSystem", 38, 20, (20,), 0, (4.384, 2.734, 3.930), textures=(False,)
    ),
    "crater/crater.ezm": Expected("MeshSystem", 29756, 59391, (59391,), 0, (1024, 64, 1024), textures=(False,)),
    "crater/crater.ezb": Expected("MeshSystem", 29756, 59391, (59391,), 0, (1024, 64, 1024), textures=(False,)),
}  # fmt: skip


@pytest.fixture(scope="module")
def models(assets: Path) -> dict[str, CharacterModel]:
    return {name: load_model(assets / "ezm" / name) for name in EXPECTED}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_file_is_as_described(models: dict[str, CharacterModel], name: str) -> None:
    model, expected = models[name], EXPECTED[name]
    assert (model.dialect, model.format) == (expected.dialect, name[-3:])
    assert (model.mesh.vertex_count, model.mesh.triangle_count) == (expected.vertices, expected.triangles)
    counts = [section.triangle_count for section in model.mesh.sections]
    assert tuple(counts[: len(expected.sections)]) == expected.sections
    assert sum(counts) == expected.triangles
    np.testing.assert_allclose(model.mesh.bounds.size, expected.size, rtol=2e-3, atol=1e-3)
    assert (model.default_up_axis, model.default_texture_origin) == (expected.up, expected.origin)
    assert model.warnings == ()
    ends = np.cumsum([0, *counts])
    assert [section.first_triangle for section in model.mesh.sections] == ends[:-1].tolist()
    assert (model.skeleton.joint_count if model.skeleton else 0) == expected.joints
    assert (tuple(influence_counts(model.skin)) if model.skin else ()) == expected.influences
    if model.skin:
        np.testing.assert_allclose(model.skin.weights.sum(axis=1), 1.0, atol=1e-6)
        assert (model.skin.weights[:, 1:] <= model.skin.weights[:, :-1]).all()
        assert (model.skin.joints[model.skin.weights == 0.0] == 0).all()
    assert len(model.clips) == (1 if expected.frames else 0)
    for clip in model.clips:
        assert len(clip.key_times) == expected.frames
        assert clip.duration == pytest.approx(expected.duration, rel=1e-6)
        assert clip.key_times[1] == pytest.approx(expected.step, rel=1e-6)
    assert tuple(material.texture_path is not None for material in model.materials) == expected.textures


@pytest.mark.parametrize("name", [name for name in EXPECTED if name.endswith("m")])
def test_numbers_equal_those_of_a_plain_parse(assets: Path, models: dict[str, CharacterModel], name: str) -> None:
    positions, normals, triangles = [], [], []
    start = 0
    for element in etree.parse(str(assets / "ezm" / name)).getroot().iter("vertexbuffer", "indexbuffer"):
        numbers = element.text.replace(",", " ").split()
        if element.tag == "indexbuffer":
            triangles.append(np.array(numbers, dtype=np.int64).reshape(-1, 3) + start)
            continue
        start = sum(map(len, positions))
        # None of the files has colours before the normals, so the first six columns are plain numbers.
        rows = np.array(numbers).reshape(int(element.get("count")), -1)[:, :6].astype(np.float64)
        positions.append(rows[:, :3])
        normals.append(rows[:, 3:])
    mesh = models[name].mesh
    np.testing.assert_array_equal(mesh.positions, np.concatenate(positions).astype(np.float32))
    np.testing.assert_array_equal(mesh.triangles, np.concatenate(triangles))
    # Stored normals are unit vectors up to 3e-4 at worst.
    np.testing.assert_allclose(mesh.normals, np.concatenate(normals), atol=1e-3)
    np.testing.assert_allclose(np.linalg.norm(mesh.normals, axis=1), 1.0, atol=1e-6)


def test_binary_twin_is_equal(models: dict[str, CharacterModel]) -> None:
    text, binary = models["crater/crater.ezm"].mesh, models["crater/crater.ezb"].mesh
    # Nine decimals in the text, single precision in both.
    np.testing.assert_allclose(text.positions, binary.positions, rtol=1.2e-7, atol=5e-10)
    np.testing.assert_allclose(text.normals, binary.normals, rtol=0, atol=1.2e-7)
    np.testing.assert_allclose(text.texcoords, binary.texcoords, rtol=1.2e-7, atol=5e-10)
    np.testing.assert_array_equal(text.triangles, binary.triangles)
    assert 0.0 <= text.texcoords[:, 1].min() < 0.01
    assert models["crater/crater.ezm"].materials[0].diffuse == models["crater/crater.ezb"].materials[0].diffuse


MODELS = 55
PACKAGES = {"EXT_meshopt_compression": "meshopt", "KHR_draco_mesh_compression": "DracoPy"}
AT_ONCE = Answer("InterpolationTest/glTF/InterpolationTest.gltf", (-4.6564, -2.15946, -1), (4.7033, 11, 1.00367))


def gltf_models(assets: Path) -> list[Path]:
    folder = assets / "gltf"
    if not folder.is_dir():
        pytest.skip("the glTF gltf_models are not at hand")
    return sorted(path for path in folder.rglob("*") if path.suffix in (".gltf", ".glb"))


def test_every_model_opens(assets: Path) -> None:
    found = gltf_models(assets)
    assert len(found) >= MODELS
    for path in found:
        missing = [name for key, name in PACKAGES.items() if key in path.read_bytes().decode("latin-1")]
        missing = [name for name in missing if importlib.util.find_spec(name) is None]
        if missing:
            with pytest.raises(ModelError, match=f"needs the package {missing[0]}$"):
                load_model(path)
            continue
        model = load_model(path)
        assert all("Textures" in warning for warning in model.warnings), (path, model.warnings)
        assert model.mesh.vertex_count, path
        assert model.mesh.triangles.max() < model.mesh.vertex_count
        for time in (None, *(0.37 * clip.duration for clip in model.clips[:1])):
            pose = bind_pose(model) if time is None else evaluate_pose(model, model.clips[0], time)
            posed = skin(
                model.mesh, model.skin, pose.palette, SkinningMethod.LBS, pose.centres, pose.local.weights
            ).positions
            assert np.isfinite(posed).all(), path


def test_all_clips_at_once(assets: Path) -> None:
    path = assets / "gltf" / AT_ONCE.file
    if not path.is_file():
        pytest.skip("the model is not at hand")
    channels = [channel for clip in read_raw(path).clips for channel in clip.channels]
    model = load_model(path)
    pose = evaluate_pose(model, CurveClip("all", channels, model.skeleton), 0.6)
    AT_ONCE.check(skin(model.mesh, model.skin, pose.palette, SkinningMethod.LBS, pose.centres).positions)


def test_a_reader_that_fails_unforeseen_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader itself, and what is made from its content, fail with errors that nobody foresaw."""

    def fail(*_: object) -> None:
        raise IndexError("index 9\nof 8")

    path = tmp_path / "a.ezm"
    path.write_text(MESH_SYSTEM)
    for module, name in (("ezm_reader", "read_ezm"), ("build", "build_materials")):
        with monkeypatch.context() as patch:
            patch.setattr(f"sinew.sim.assets.{module}.{name}", fail)
            assert refusal(load_model, path) == "is damaged or not supported: IndexError index 9 of 8"
    path = tmp_path / "a.hair"
    path.write_bytes(b"HAIR" + bytes(200))
    monkeypatch.setattr("sinew.sim.assets.strands.read_hair", fail)
    assert "IndexError" in refusal(load_strands, path)


def test_text_of_extensions_is_checked(tmp_path: Path, assets: Path) -> None:
    path = tmp_path / "a.gltf"
    path.write_bytes(b'{"asset": {"version": "2.0"}, "extensions": {"VRMC_vrm": {"specVersion": "\xff"}}}')
    assert refusal(load_model, path) == "JSON: byte 74 is not UTF-8 text"
    for damaged in (assets / "faults4").glob("bad_utf8_*.vrm"):
        assert "is not UTF-8 text" in refusal(load_model, damaged)
