import base64
import hashlib
import html
import io
import re
import shutil
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image

from sinew import resources
from sinew.app.cli.main import main
from sinew.app.jobs.render import OVERLAYS
from sinew.app.project.project_file import save_project
from sinew.sim.assets.load import load_model
from sinew.sim.characters.settings import MaterialLook, ModelSettings
from sinew.sim.kinds.cloth.settings import ClothSettings, PinPreset
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view import Look, ViewSettings
from sinew.sim.scene.view_state import ViewState

SIZE = "96x64"


def rendered(path: Path, output: Path, *options: str) -> None:
    assert main(["render", str(path), "--output", str(output), "--size", SIZE, "--allow-outside", *options]) == 0


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        assert (image.format, image.mode) == ("PNG", "RGB")
        return np.asarray(image).astype(np.int16)


def silhouette(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns where a picture differs from the same picture of nothing (the top row's gradient)."""
    picture = pixels(path)
    difference = np.abs(picture - picture[:, :1]).sum(axis=2)
    return np.nonzero(difference > 90)


@pytest.fixture
def dude(assets: Path) -> Path:
    return assets / "ezm" / "dude" / "dude.ezm"


@pytest.fixture
def project(dude: Path, tmp_path: Path) -> Path:
    path = tmp_path / "dude.sinew"
    scene = Scene(nodes=(Node(id="dude", name="dude", settings=ModelSettings(path=str(dude), unit_scale=0.0254)),))
    camera = Camera(yaw=90.0, pitch=5.0, distance=4.0)
    save_project(path, scene, ViewState(camera=camera, time=0.5))
    return path


def test_frames_are_numbered_by_key_and_all_are_rendered_by_default(dude: Path, assets: Path, tmp_path: Path) -> None:
    rendered(dude, tmp_path / "walk_%03d.png", "--frames", "9:10")
    rendered(assets / "ezm" / "export" / "export.ezm", tmp_path / "%d.png")
    rendered(assets / "ezm" / "beshon" / "beshon.ezm", tmp_path / "b%02d.png")
    names = ["0.png", "1.png", "b00.png", "walk_009.png", "walk_010.png"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    pictures = [pixels(tmp_path / f"walk_{frame:03d}.png") for frame in (9, 10)]
    assert all(picture.shape == (64, 96, 3) for picture in pictures)
    assert np.abs(pictures[0] - pictures[1]).max() > 20
    rows, columns = silhouette(tmp_path / "walk_009.png")
    assert np.ptp(rows) > 25, "the whole model is in the image"
    assert 30 < columns.mean() < 66


@pytest.mark.slow
def test_a_project_is_rendered_with_its_saved_view(project: Path, tmp_path: Path) -> None:
    rendered(project, tmp_path / "default.png")
    rendered(project, tmp_path / "saved.png", "--view", "saved")
    rendered(project, tmp_path / "frame.png", "--frames", "25")
    rendered(project, tmp_path / "front.png", "--view", "front")
    default = pixels(tmp_path / "default.png")
    np.testing.assert_array_equal(default, pixels(tmp_path / "saved.png"))
    # Key 25 lies at 0.49999997 s, the saved moment at 0.5 s.
    assert np.abs(default - pixels(tmp_path / "frame.png")).mean() < 0.1
    assert np.abs(default - pixels(tmp_path / "front.png")).mean() > 2.0


def test_wrong_options_are_reported(dude, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    arm = resources.path("projects") / "arm.sinew"
    for path, options, status, expected in (
        (dude, ["--output", "a%d.png", "--frames", "0:61"], 1, "--frames 0:61: clip 'Take 001' goes from 0 to 60"),
        (dude, ["--output", "a.png", "--frames", "0:1"], 1, "--output: several frames need a number such as %04d"),
        (dude, ["--output", "a.png", "--view", "saved"], 1, "--view saved: only projects have a saved camera"),
        (dude, ["--output", "a.jpg"], 2, "'a.jpg' does not end in .png"),
        (dude, ["--output", "a.png", "--frames", "3:1"], 2, "'3:1' ends before it starts"),
        (dude, ["--output", "a.png", "--frames", "one"], 2, "'one' is not A:B"),
        (dude, ["--output", "a.png", "--size", "0x10"], 2, "'0x10' is not WxH"),
        (dude, ["--output", "a.png", "--size", "99999x10"], 2, "'99999x10' is not WxH"),
        (arm, ["--output", "a.png", "--beside", "Arm.colour=red"], 1, "model has no such setting"),
        (arm, ["--output", "a.png", "--beside", "Arm.colour_by=0 1"], 1, "model has no such setting"),
        (arm, ["--output", "a.png", "--beside", "method=best"], 1, "no such method; there are: lbs, dqs, dqs-scale"),
        (arm, ["--output", "a.png", "--burn-in", "Leg.x"], 1, "there is no node 'Leg'; there are: "),
        (arm, ["--output", "a.png", "--around", "Leg"], 1, "there is no node 'Leg'; there are: "),
        (arm, ["--output", "a.mp4", "--alpha"], 1, "a.mp4: MP4 stores no opacity; images, animated WebP and GIF do"),
        (arm, ["--output", "a.webp", "--rate", "0"], 2, "'0' is not a number from 0.001 to 1000"),
    ):
        assert main(["render", str(path), *options]) == status
        err = capsys.readouterr().err
        assert expected in err
        assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_missing_models_and_invalid_projects(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, missing = tmp_path / "a.sinew", tmp_path / "gone.ezm"
    hero = Node(id="m", name="hero", settings=ModelSettings(path=str(missing)))
    save_project(path, Scene(nodes=(hero,)), ViewState())
    assert main(["render", str(path), "--output", str(tmp_path / "a.png")]) == 1
    assert capsys.readouterr().err == f"sinew: {path}: model 'hero': {missing} is missing\n"
    path.write_text('{"format": "sinew-project", "version": 1, "playback": {"speed": 99}}', encoding="utf-8")
    assert main(["render", str(path), "--output", str(tmp_path / "a.png")]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"sinew: {path}: $.")
    assert "speed" in err
    assert err.count("\n") == 1


def falling(folder: Path, *, time: float = 0.0) -> Path:
    cloth = ClothSettings(columns=6, rows=6, substeps=8, pins=PinPreset.NONE, air_drag=0.0, normal_drag=0.0)
    path = folder / "falling.sinew"
    place = Transform(position=(0.0, 1.5, 0.0))
    node = Node(id="sheet", name="Sheet", transform=place, settings=cloth)
    camera = Camera(target=(0.0, 0.75, 0.0), yaw=0.0, pitch=0.0, distance=4.0)
    save_project(path, Scene(nodes=(node,)), ViewState(camera=camera, time=time))
    return path


def test_a_frame_shows_the_cloth_after_its_steps(tmp_path: Path) -> None:
    """Frame 20 is a third of a second after the start, wherever the range begins; the sheet has fallen 0.57 m."""
    project = falling(tmp_path, time=20 / 60)
    rendered(project, tmp_path / "a%d.png", "--frames", "0:20")
    rendered(project, tmp_path / "b%d.png", "--frames", "20")
    rendered(project, tmp_path / "saved.png")
    assert (tmp_path / "a20.png").read_bytes() == (tmp_path / "b20.png").read_bytes()
    np.testing.assert_array_equal(pixels(tmp_path / "saved.png"), pixels(tmp_path / "a20.png"))
    tops = [silhouette(tmp_path / f"a{frame}.png")[0].min() for frame in (0, 10, 20)]
    assert tops[0] < tops[1] < tops[2]
    pixel = 2.0 * 4.0 * np.tan(np.radians(0.5 * Camera().field_of_view)) / 64
    assert abs((tops[2] - tops[0]) * pixel - 0.57) < 2.5 * pixel


def test_an_unstable_cloth_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cloth = ClothSettings(columns=6, rows=6, substeps=1, stretch_stiffness=1e6)
    path = tmp_path / "bad.sinew"
    save_project(path, Scene(nodes=(Node(id="sheet", name="Sheet", settings=cloth),)), ViewState())
    rendered(path, tmp_path / "%d.png", "--frames", "100")
    err = capsys.readouterr().err
    assert err.startswith(f"sinew: {path}: warning: Sheet: stopped at ")
    assert err.count("\n") == 1
    assert len(silhouette(tmp_path / "100.png")[0]) > 0


def rgba(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        assert (image.format, image.mode) == ("PNG", "RGBA")
        return np.asarray(image).astype(np.float64)


def test_overlays_are_rendered_only_if_asked_for(tmp_path: Path) -> None:
    """Every row of the background has one colour but for dither and vignette; grid and axes cross it."""
    project = falling(tmp_path)
    rendered(project, tmp_path / "alone.png")
    rendered(project, tmp_path / "all.png", "--overlays")
    edges = [np.abs(np.diff(pixels(tmp_path / f"{name}.png")[40:, :20], axis=1)).max() for name in ("alone", "all")]
    assert edges[0] <= 2
    assert edges[1] > 10
    for name, view in (("with", ViewSettings()), ("without", ViewSettings(**dict.fromkeys(OVERLAYS, False)))):
        save_project(tmp_path / f"{name}.sinew", Scene(view=view), ViewState())
        rendered(tmp_path / f"{name}.sinew", tmp_path / f"{name}.png", "--overlays")
    rendered(tmp_path / "with.sinew", tmp_path / "plain.png")
    np.testing.assert_array_equal(pixels(tmp_path / "plain.png"), pixels(tmp_path / "without.png"))
    assert (pixels(tmp_path / "with.png") != pixels(tmp_path / "without.png")).any()


def test_alpha_is_the_opacity_over_the_background(tmp_path: Path) -> None:
    """Colours are straight: laid over the background, the picture is the one that has it."""
    project = resources.path("projects") / "cape.sinew"
    rendered(project, tmp_path / "cut.png", "--alpha", "--frames", "0")
    rendered(project, tmp_path / "whole.png", "--frames", "0")
    save_project(tmp_path / "empty.sinew", Scene(), ViewState())
    rendered(tmp_path / "empty.sinew", tmp_path / "empty.png")
    cut, whole, empty = rgba(tmp_path / "cut.png"), pixels(tmp_path / "whole.png"), pixels(tmp_path / "empty.png")
    opacity = cut[..., 3:] / 255.0
    assert (opacity == 0.0).mean() > 0.5
    assert (opacity == 1.0).mean() > 0.05
    assert ((opacity > 0.1) & (opacity < 0.9)).any(), "edges and the shadow"
    assert np.abs(cut[..., :3] * opacity + empty * (1.0 - opacity) - whole).max() < 4.0
    assert (cut[..., :3][opacity[..., 0] == 0.0] == 0.0).all()
    rendered(tmp_path / "empty.sinew", tmp_path / "clear.png", "--alpha")
    assert (rgba(tmp_path / "clear.png") == 0.0).all()


@pytest.mark.slow
def test_images_show_the_materials_of_a_project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(resources.path("models") / "humanoid", tmp_path / "humanoid")
    model = str(tmp_path / "humanoid" / "humanoid.ezm")
    red = tmp_path / "humanoid" / "red.png"
    Image.new("RGB", (4, 4), (255, 0, 0)).save(red)
    plain = [MaterialLook(material=name, texture="", diffuse=(0.0, 1.0, 0.0)) for name in ("skin", "hair", "shoes")]
    clothes = [MaterialLook(material=name, texture=str(red)) for name in ("shirt", "trousers")]
    gone = MaterialLook(material="shoes", texture=str(red.with_name("gone.png")), diffuse=(0.0, 0.0, 1.0))
    shares = []
    for looks in ((), (*plain, *clothes), (*plain[:2], *clothes, gone)):
        project, picture = tmp_path / "humanoid" / "a.sinew", tmp_path / "a.png"
        save_project(
            project, Scene(nodes=(Node(id="m", settings=ModelSettings(path=model, materials=looks)),)), ViewState()
        )
        options = ("--view", "front", "--size", "96x96", "--alpha", "--output", str(picture))
        assert main(["render", str(project), *options]) == 0
        rgba = np.asarray(Image.open(picture)).astype(int)
        shown = rgba[rgba[..., 3] > 200][:, :3]
        shares.append([np.mean(shown[:, one] > 1.5 * np.delete(shown, one, axis=1).max(axis=1)) for one in range(3)])
    assert shares[1][0] > 0.3
    assert shares[1][1] > 0.15
    assert max(shares[0][1:]) < 0.2
    assert shares[2][2] > 0.01, "without its image a surface has the colour that was chosen"
    assert "gone.png" in capsys.readouterr().err


@pytest.mark.slow
def test_a_report_lists_how_far_feet_slide(tmp_path: Path) -> None:
    model, output = resources.path("models") / "humanoid" / "humanoid.ezm", tmp_path / "a.html"
    assert main(["report", str(model), "--output", str(output), "--frames", "0:30"]) == 0
    text = output.read_text(encoding="utf-8")
    part = text[text.index("Slide of standing feet") :]
    rows = [re.findall("<td[^>]*>(.*?)</td>", row) for row in re.findall("<tr>(.*?)</tr>", part)[1:3]]
    assert [(row[0], row[1]) for row in rows] == [("humanoid", "left"), ("humanoid", "right")]
    for row in rows:
        assert int(row[2]) >= 0
        assert float(row[-2]) > 100.0, "walks on the spot"
        assert row[-1] == "mm, mm/s"


def test_a_report_has_image_settings_costs_and_checksums(tmp_path: Path) -> None:
    project, output = tmp_path / "a & b.sinew", tmp_path / "report.html"
    sheet = ClothSettings(columns=8, rows=6, substeps=8)
    node = Node(id="s", name="<Sheet>", transform=Transform(position=(0.0, 2.0, 0.0)), settings=sheet)
    save_project(project, Scene(nodes=(node,)), ViewState())
    command = ["report", str(project), "--output", str(output), "--frames", "0:12"]
    assert main(command) == 0
    text = output.read_text(encoding="utf-8")
    assert "<h1>a &amp; b</h1>" in text
    (source,) = re.findall("(?:src|href)=['\"]([^'\"]*)", text)  # nothing is loaded from elsewhere
    picture = base64.b64decode(source.removeprefix("data:image/png;base64,"))
    with Image.open(io.BytesIO(picture)) as shown:
        assert shown.size == (960, 540)
        assert len(shown.getcolors(1 << 20) or ()) > 50, "something is drawn"
    table = [
        [html.unescape(cell) for cell in re.findall("<t[dh][^>]*>(.*?)</t[dh]>", row)]
        for row in re.findall("<tr>(.*?)</tr>", text)
    ]
    rows = {(row[0], row[1]): row[2:] for row in table if len(row) > 1}
    assert rows["<Sheet> (cloth)", "Columns"] == ["8", str(ClothSettings().columns)]
    assert rows["<Sheet> (cloth)", "Transform: Position"] == ["0 2 0", "0 0 0"]
    assert rows["<Sheet>", "stable"]
    simulate = next(row for row in table if row[:1] == ["simulate"])
    median, p95, p99, largest = (float(value) for value in simulate[1:5])
    assert 0.0 < median <= p95 <= p99 <= largest
    recorded = tmp_path / "a.npz"
    assert main(["simulate", str(project), "--steps", "12", "--output", str(recorded)]) == 0
    with np.load(recorded) as arrays:
        last = np.ascontiguousarray(arrays["<Sheet>.positions"][-1])
    assert rows["<Sheet>", "positions"] == ["48 × 3", hashlib.sha256(last.tobytes()).hexdigest()]


@pytest.mark.parametrize("options", [(), ("--alpha", "--blur", "2")])
def test_openexr_keeps_light_beyond_white(tmp_path: Path, options: tuple[str, ...]) -> None:
    """A white arm at four times the exposure; the project without a look is of an older version."""
    exr = pytest.importorskip("OpenEXR")
    look = MaterialLook(material="arm", emission=(1.0, 1.0, 1.0))
    path = str(resources.path("models/arm/arm.ezm"))
    names = {material.name for material in load_model(path).materials}
    looks = tuple(msgspec.structs.replace(look, material=name) for name in names)
    scene = Scene(nodes=(Node(id="m", settings=ModelSettings(path=path, materials=looks)),))
    for number, (view, brightest) in enumerate(
        ((ViewSettings(look=Look.STANDARD, exposure=2.0), 4.0), (ViewSettings(), 1.0))
    ):
        save_project(tmp_path / "a.sinew", msgspec.structs.replace(scene, view=view), ViewState(camera=Camera()))
        output = tmp_path / f"{number}.exr"
        rendered(tmp_path / "a.sinew", output, "--frames", "0", "--size", "64x48", "--allow-outside", *options)
        channels = exr.File(str(output), separate_channels=True).channels()
        covered = channels["A"].pixels > 0.99
        assert covered.any()
        found = channels["R"].pixels[covered].max()
        assert found >= brightest if number == 0 else found <= brightest


@pytest.mark.slow
def test_samples_are_the_same_in_every_call(project: Path, tmp_path: Path) -> None:
    """One is the default of the classic look; times and samples are averaged together."""
    calls = {"a": ("16",), "b": ("16",), "one": ("1",), "blurred": ("4", "--blur", "8")}
    for name, options in calls.items():
        rendered(project, tmp_path / f"{name}.png", "--samples", *options)
    rendered(project, tmp_path / "plain.png")
    rendered(project, tmp_path / "blur.png", "--blur", "8")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    found = {name: pixels(tmp_path / f"{name}.png") for name in (*calls, "plain", "blur")}
    np.testing.assert_array_equal(found["one"], found["plain"])
    assert 0.05 < np.abs(found["a"] - found["plain"]).mean() < 2.0
    assert 0.05 < np.abs(found["blurred"] - found["blur"]).mean() < 2.0
