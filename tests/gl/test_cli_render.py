"""`sinew render`: the right frames, from the right side, of the right size."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sinew import resources
from sinew.app.cli.main import main
from sinew.app.cli.render import OVERLAYS
from sinew.app.cli.renderer import straight_rgba
from sinew.app.files.project_file import save_project
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.cloth.settings import ClothSettings, PinPreset
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view import ViewSettings
from sinew.sim.scene.view_state import ViewState

SIZE = "96x64"


def rendered(path: Path, output: Path, *options: str) -> None:
    """Renders small pictures."""
    assert main(["render", str(path), "--output", str(output), "--size", SIZE, "--allow-outside", *options]) == 0


def pixels(path: Path) -> np.ndarray:
    """RGB of a picture as signed numbers, so that they can be subtracted."""
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
    """A project that looks at the dude from its right, at half a second."""
    path = tmp_path / "dude.sinew"
    scene = Scene(nodes=(Node(id="dude", name="dude", settings=ModelSettings(path=str(dude), unit_scale=0.0254)),))
    camera = Camera(yaw=90.0, pitch=5.0, distance=4.0)
    save_project(path, scene, ViewState(camera=camera, time=0.5))
    return path


def test_frames_are_numbered_by_key(dude: Path, tmp_path: Path) -> None:
    rendered(dude, tmp_path / "walk_%03d.png", "--frames", "9:11")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["walk_009.png", "walk_010.png", "walk_011.png"]
    pictures = [pixels(tmp_path / f"walk_{frame:03d}.png") for frame in (9, 10, 11)]
    assert all(picture.shape == (64, 96, 3) for picture in pictures)
    assert np.abs(pictures[0] - pictures[1]).max() > 30
    assert np.abs(pictures[1] - pictures[2]).max() > 30


def test_every_key_is_drawn_by_default(assets: Path, tmp_path: Path) -> None:
    rendered(assets / "ezm" / "export" / "export.ezm", tmp_path / "%d.png")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.png", "1.png"]


def test_a_model_without_clips_has_one_frame(assets: Path, tmp_path: Path) -> None:
    rendered(assets / "ezm" / "beshon" / "beshon.ezm", tmp_path / "b%02d.png")
    assert [path.name for path in tmp_path.iterdir()] == ["b00.png"]


def test_views_look_from_where_they_say(assets: Path, tmp_path: Path) -> None:
    """A terrain of 1024 x 64 x 1024 is flat from front and side, and square from above."""
    crater = assets / "ezm" / "crater" / "crater.ezm"
    heights = {}
    for view in ("front", "side", "top"):
        rendered(crater, tmp_path / f"{view}.png", "--view", view)
        rows, _ = silhouette(tmp_path / f"{view}.png")
        assert len(rows) > 100
        heights[view] = int(np.ptp(rows))
    assert heights["top"] > 1.5 * max(heights["front"], heights["side"])


def test_the_whole_model_is_in_the_picture(dude: Path, tmp_path: Path) -> None:
    rendered(dude, tmp_path / "a.png", "--frames", "0")
    rows, columns = silhouette(tmp_path / "a.png")
    assert np.ptp(rows) > 25
    assert 30 < columns.mean() < 66


def test_a_project_is_drawn_as_it_was_saved(project: Path, tmp_path: Path) -> None:
    rendered(project, tmp_path / "default.png")
    rendered(project, tmp_path / "saved.png", "--view", "saved")
    rendered(project, tmp_path / "frame.png", "--frames", "25")
    rendered(project, tmp_path / "front.png", "--view", "front")
    default = pixels(tmp_path / "default.png")
    np.testing.assert_array_equal(default, pixels(tmp_path / "saved.png"))
    # Key 25 lies at 0.49999997 s, the saved moment at 0.5 s.
    assert np.abs(default - pixels(tmp_path / "frame.png")).mean() < 0.1
    assert np.abs(default - pixels(tmp_path / "front.png")).mean() > 2.0


def test_equal_commands_give_equal_bytes(dude: Path, tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        rendered(dude, tmp_path / name, "--frames", "30")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


@pytest.mark.parametrize(
    ("options", "status", "expected"),
    [
        (["--output", "a%d.png", "--frames", "0:61"], 1, "--frames 0:61: clip 'Take 001' goes from 0 to 60"),
        (["--output", "a.png", "--frames", "0:1"], 1, "--output: several frames need a number such as %04d"),
        (["--output", "a.png", "--view", "saved"], 1, "--view saved: only projects have a saved camera"),
        (["--output", "a.jpg"], 2, "'a.jpg' does not end in .png"),
        (["--output", "a.png", "--frames", "3:1"], 2, "'3:1' ends before it starts"),
        (["--output", "a.png", "--frames", "one"], 2, "'one' is not A:B"),
        (["--output", "a.png", "--size", "0x10"], 2, "'0x10' is not WxH"),
        (["--output", "a.png", "--size", "99999x10"], 2, "'99999x10' is not WxH"),
        (["--output", "a.png", "--view", "below"], 2, "'below'"),
    ],
)
def test_what_cannot_be_drawn_is_told(
    options: list[str],
    status: int,
    expected: str,
    dude: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["render", str(dude), *options]) == status
    err = capsys.readouterr().err
    assert expected in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_missing_model_of_a_project_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.sinew"
    missing = tmp_path / "gone.ezm"
    save_project(
        path, Scene(nodes=(Node(id="m", name="hero", settings=ModelSettings(path=str(missing))),)), ViewState()
    )
    assert main(["render", str(path), "--output", str(tmp_path / "a.png")]) == 1
    assert capsys.readouterr().err == f"sinew: {path}: model 'hero': {missing} is missing\n"


def test_a_broken_project_names_the_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.sinew"
    path.write_text('{"format": "sinew-project", "version": 1, "playback": {"speed": 99}}', encoding="utf-8")
    assert main(["render", str(path), "--output", str(tmp_path / "a.png")]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"sinew: {path}: $.")
    assert "speed" in err
    assert err.count("\n") == 1


def test_an_empty_project_is_an_empty_picture(tmp_path: Path) -> None:
    path = tmp_path / "a.sinew"
    save_project(path, Scene(), ViewState())
    rendered(path, tmp_path / "a%d.png")
    assert pixels(tmp_path / "a0.png").std() > 0.0


# --- what is simulated --------------------------------------------------------------------------------


def falling(folder: Path, *, time: float = 0.0) -> Path:
    """A project with a dark sheet that falls out of the picture."""
    cloth = ClothSettings(columns=6, rows=6, substeps=8, pins=PinPreset.NONE, air_drag=0.0, normal_drag=0.0)
    path = folder / "falling.sinew"
    place = Transform(position=(0.0, 1.5, 0.0))
    node = Node(id="sheet", name="Sheet", transform=place, settings=cloth)
    camera = Camera(target=(0.0, 0.75, 0.0), yaw=0.0, pitch=0.0, distance=4.0)
    save_project(path, Scene(nodes=(node,)), ViewState(camera=camera, time=time))
    return path


def test_a_frame_shows_the_cloth_after_its_steps(tmp_path: Path) -> None:
    """Frame 20 is a third of a second after the start, wherever the range begins; the sheet has fallen 0.57 m."""
    project = falling(tmp_path)
    rendered(project, tmp_path / "a%d.png", "--frames", "0:20")
    rendered(project, tmp_path / "b%d.png", "--frames", "20")
    assert (tmp_path / "a20.png").read_bytes() == (tmp_path / "b20.png").read_bytes()
    tops = [silhouette(tmp_path / f"a{frame}.png")[0].min() for frame in (0, 10, 20)]
    assert tops[0] < tops[1] < tops[2]
    pixel = 2.0 * 4.0 * np.tan(np.radians(0.5 * Camera().field_of_view)) / 64
    assert abs((tops[2] - tops[0]) * pixel - 0.57) < 2.5 * pixel


def test_a_single_picture_is_simulated_up_to_the_saved_moment(tmp_path: Path) -> None:
    project = falling(tmp_path, time=20 / 60)
    rendered(project, tmp_path / "saved.png")
    rendered(project, tmp_path / "%d.png", "--frames", "20")
    np.testing.assert_array_equal(pixels(tmp_path / "saved.png"), pixels(tmp_path / "20.png"))


def test_a_cloth_that_blows_up_is_drawn_as_it_was_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cloth = ClothSettings(columns=6, rows=6, substeps=1, stretch_stiffness=1e6)
    path = tmp_path / "bad.sinew"
    save_project(path, Scene(nodes=(Node(id="sheet", name="Sheet", settings=cloth),)), ViewState())
    rendered(path, tmp_path / "%d.png", "--frames", "100")
    err = capsys.readouterr().err
    assert err.startswith(f"sinew: {path}: warning: Sheet: stopped at ")
    assert err.count("\n") == 1
    assert len(silhouette(tmp_path / "100.png")[0]) > 0


def test_frames_go_on_in_the_repetitions_of_the_clip(tmp_path: Path) -> None:
    """The figure stands as in the frame a loop earlier, only the cloth has moved on."""
    project = resources.path("projects") / "cape.sinew"
    rendered(project, tmp_path / "%d.png", "--frames", "3:35", "--view", "front")
    early, late = pixels(tmp_path / "3.png"), pixels(tmp_path / "35.png")
    assert np.mean(np.abs(early - late).max(axis=2) > 20) < 0.1
    assert np.abs(early - late).max() > 30


# --- how it is drawn ----------------------------------------------------------------------------------


def rgba(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        assert (image.format, image.mode) == ("PNG", "RGBA")
        return np.asarray(image).astype(np.float64)


def test_the_scene_is_drawn_alone_unless_overlays_are_asked_for(tmp_path: Path) -> None:
    """Every row of the background has one colour but for dither and vignette; grid and axes cross it."""
    project = falling(tmp_path)
    rendered(project, tmp_path / "alone.png")
    rendered(project, tmp_path / "all.png", "--overlays")
    edges = [np.abs(np.diff(pixels(tmp_path / f"{name}.png")[40:, :20], axis=1)).max() for name in ("alone", "all")]
    assert edges[0] <= 2
    assert edges[1] > 10


def test_overlays_are_those_of_the_project(tmp_path: Path) -> None:
    for name, view in (("with", ViewSettings()), ("without", ViewSettings(**dict.fromkeys(OVERLAYS, False)))):
        save_project(tmp_path / f"{name}.sinew", Scene(view=view), ViewState())
        rendered(tmp_path / f"{name}.sinew", tmp_path / f"{name}.png", "--overlays")
    rendered(tmp_path / "with.sinew", tmp_path / "plain.png")
    np.testing.assert_array_equal(pixels(tmp_path / "plain.png"), pixels(tmp_path / "without.png"))
    assert (pixels(tmp_path / "with.png") != pixels(tmp_path / "without.png")).any()


def test_alpha_is_what_the_background_shows_through(tmp_path: Path) -> None:
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


def test_an_empty_scene_is_wholly_transparent(tmp_path: Path) -> None:
    save_project(tmp_path / "empty.sinew", Scene(), ViewState())
    rendered(tmp_path / "empty.sinew", tmp_path / "empty.png", "--alpha")
    assert (rgba(tmp_path / "empty.png") == 0.0).all()


def test_straight_colours_of_known_opacities() -> None:
    """A picture of three pixels, of opacity 0, 0.4 and 1, over backgrounds that are not quite black and white."""
    opacity, colour = np.array([0.0, 0.4, 1.0])[None, :, None], np.array([(0, 0, 0), (100, 200, 50), (10, 20, 30)])
    black, white = np.full((1, 3, 3), 4.0), np.full((1, 3, 3), 240.0)
    over = [np.rint(colour * opacity + ground * (1.0 - opacity)).astype(np.uint8) for ground in (black, white)]
    found = straight_rgba(*over, black.astype(np.uint8), white.astype(np.uint8))
    np.testing.assert_allclose(found, [[(0, 0, 0, 0), (100, 200, 50, 102), (10, 20, 30, 255)]], atol=2)


def test_method_and_display_can_be_chosen(tmp_path: Path) -> None:
    arm = resources.path("projects") / "arm.sinew"
    for method in ("lbs", "dqs"):
        rendered(arm, tmp_path / f"{method}.png", "--method", method, "--view", "side", "--frames", "20")
    for display in ("shaded", "wireframe", "normals"):
        rendered(arm, tmp_path / f"{display}.png", "--display", display, "--view", "side", "--frames", "20")
    drawn = {name: pixels(tmp_path / f"{name}.png") for name in ("lbs", "dqs", "shaded", "wireframe", "normals")}
    names = list(drawn)
    same = {(a, b) for i, a in enumerate(names) for b in names[i + 1 :] if np.array_equal(drawn[a], drawn[b])}
    assert same <= {("lbs", "shaded"), ("dqs", "shaded")}


def test_the_front_is_where_the_shipped_figure_looks(tmp_path: Path) -> None:
    """Its face is brighter than the hair at the back of its head."""
    character = resources.path("models") / "humanoid" / "humanoid.ezm"
    heads = {}
    for view in ("front", "back", "left", "right"):
        rendered(character, tmp_path / f"{view}.png", "--frames", "0", "--view", view)
        rows, columns = silhouette(tmp_path / f"{view}.png")
        head = rows < rows.min() + 0.12 * np.ptp(rows)
        heads[view] = pixels(tmp_path / f"{view}.png")[rows[head], columns[head]].mean()
    assert heads["front"] > 1.2 * heads["back"]


def test_a_figure_that_stands_the_other_way_round_is_seen_from_its_front_too(tmp_path: Path) -> None:
    model = resources.path("models") / "humanoid" / "humanoid.ezm"
    for turn in (0.0, 180.0):
        character = Node(
            id="f", name="f", transform=Transform(rotation=(0.0, turn, 0.0)), settings=ModelSettings(path=str(model))
        )
        save_project(tmp_path / f"{turn:g}.sinew", Scene(nodes=(character,)), ViewState())
        rendered(tmp_path / f"{turn:g}.sinew", tmp_path / f"{turn:g}.png", "--frames", "0", "--view", "front")
    assert np.abs(pixels(tmp_path / "0.png") - pixels(tmp_path / "180.png")).mean() < 0.5
