"""`sinew simulate`: the arrays, their bytes, and what is refused."""

import json
import signal
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from sinew import resources
from sinew.app.cli import simulate as cli_simulate
from sinew.app.cli.main import main
from sinew.app.files.project_file import load_project, save_project
from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import Interpolation
from sinew.sim.characters.reference import skin
from sinew.sim.characters.settings import ModelSettings, SkinningMethod
from sinew.sim.colliders.scene_colliders import colliders_over
from sinew.sim.colliders.state import ColliderShape
from sinew.sim.export.npz import FrameArrays
from sinew.sim.kinds.cloth.model import build_cloth
from sinew.sim.kinds.cloth.settings import ClothPlacement, ClothSettings, ClothSource, PinPreset, PinTarget
from sinew.sim.kinds.collider.place import placements
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.emitter.settings import EmissionAim, EmissionMode, EmitterSettings, EmitterSource
from sinew.sim.kinds.hair.settings import HairSettings, HairSource
from sinew.sim.scene.playback import LoopMode, PlaybackSettings
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.strips import Strip
from sinew.sim.scene.transform import Transform, node_matrix
from sinew.sim.scene.view_state import ViewState
from sinew.sim.scene.world_transforms import WorldTransforms
from tests.oracles import cloth as reference

FALLING = resources.path("projects") / "cloth-on-ellipsoid.sinew"
CAPE = resources.path("projects") / "cape.sinew"
HUMANOID = resources.path("models") / "humanoid" / "humanoid.ezm"
SMALL: dict[str, Any] = {"columns": 8, "rows": 8, "substeps": 8}


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out.npz"


def simulated(project: Path, output: Path, *options: str) -> dict[str, np.ndarray]:
    """The arrays that the command writes."""
    assert main(["simulate", str(project), "--output", str(output), "--allow-outside", *options]) == 0
    with np.load(output) as arrays:
        return dict(arrays)


def saved(folder: Path, *nodes: Node, **parts: Any) -> Path:
    path = folder / "scene.sinew"
    save_project(path, Scene(nodes=nodes, **parts), ViewState())
    return path


def sheet(name: str = "Sheet", **settings: Any) -> Node:
    place = Transform(position=(0.0, 2.0, 0.0))
    return Node(id=name.lower(), name=name, transform=place, settings=ClothSettings(**(SMALL | settings)))


def refused(capsys: pytest.CaptureFixture[str], project: Path, output: Path, *options: str) -> str:
    """The one line of a failure, which must leave nothing behind."""
    before = sorted(output.parent.iterdir())
    assert main(["simulate", str(project), "--output", str(output), "--allow-outside", *options]) == 1
    assert sorted(output.parent.iterdir()) == before
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"sinew: {project}: ")
    assert captured.err.count("\n") == 1
    return captured.err


# --- the file -----------------------------------------------------------------------------------------


def test_strands_have_their_counts(tmp_path: Path, output: Path) -> None:
    hair = HairSettings(source=HairSource.ELLIPSOID, guides=12, children=40, knots=6)
    arrays = simulated(saved(tmp_path, Node(id="h", name="Hair", settings=hair)), output, "--steps", "2")
    assert arrays["Hair.positions"].shape == (3, 72, 3)
    assert (arrays["Hair.counts"].dtype, arrays["Hair.counts"].tolist()) == (np.int32, [6] * 12)
    assert "Hair.knots" not in arrays


def test_the_arrays_are_those_of_the_interface(tmp_path: Path, output: Path) -> None:
    project = saved(tmp_path, sheet(), sheet("Flag, 2", columns=5), Node(id="b", settings=ColliderSettings()))
    arrays = simulated(project, output, "--steps", "10", "--every", "4")
    assert list(arrays) == [
        "Sheet.positions", "Sheet.velocities", "Flag, 2.positions", "Flag, 2.velocities",
        "Sheet.triangles", "Sheet.texcoords", "Flag, 2.triangles", "Flag, 2.texcoords", "step", "dt", "settings",
        "back_end", "backend",
    ]  # fmt: skip
    for name, count in (("Sheet", 64), ("Flag, 2", 40)):
        assert arrays[f"{name}.positions"].dtype == arrays[f"{name}.velocities"].dtype == np.float32
        assert arrays[f"{name}.positions"].shape == arrays[f"{name}.velocities"].shape == (3, count, 3)
        assert arrays[f"{name}.triangles"].dtype == np.uint32
        assert np.unique(arrays[f"{name}.triangles"]).tolist() == list(range(count))
        assert arrays[f"{name}.texcoords"].shape == (count, 2)
    assert arrays["step"].dtype == np.int64
    assert arrays["step"].tolist() == [0, 4, 8]
    assert arrays["dt"].dtype == np.float64
    assert arrays["dt"].shape == ()
    assert arrays["dt"] == 1.0 / 60.0
    assert str(arrays["settings"]) == project.read_text(encoding="utf-8")
    assert str(arrays["backend"]) == str(arrays["back_end"]) != ""
    assert json.loads(str(arrays["settings"]))["format"] == "sinew-project"


def test_the_first_frame_is_the_rest_shape(tmp_path: Path, output: Path) -> None:
    arrays = simulated(saved(tmp_path, sheet()), output, "--steps", "0")
    node = sheet()
    model = build_cloth(node.settings, None, node_matrix(node.transform))
    np.testing.assert_array_equal(arrays["Sheet.positions"], model.positions.astype(np.float32)[None])
    np.testing.assert_array_equal(arrays["Sheet.velocities"], 0.0)


def test_every_kth_step_is_that_of_a_whole_recording(tmp_path: Path, output: Path) -> None:
    project = saved(tmp_path, sheet())
    whole = simulated(project, output, "--steps", "12")
    sparse = simulated(project, output, "--seconds", "0.2", "--every", "6")
    np.testing.assert_array_equal(sparse["Sheet.positions"], whole["Sheet.positions"][::6])
    np.testing.assert_array_equal(sparse["Sheet.velocities"], whole["Sheet.velocities"][::6])


def test_a_sheet_without_pins_falls_as_the_scheme_says(tmp_path: Path, output: Path) -> None:
    node = sheet(pins=PinPreset.NONE, air_drag=0.0, normal_drag=0.0, tangent_drag=0.0)
    arrays = simulated(saved(tmp_path, node), output, "--steps", "30")
    n = 8 * arrays["step"]
    h = float(arrays["dt"]) / 8
    fallen = arrays["Sheet.positions"][:, :, 1] - arrays["Sheet.positions"][0, :, 1]
    np.testing.assert_allclose(fallen, np.broadcast_to(-9.81 * h * h * n * (n + 1) / 2, (64, 31)).T, atol=2e-5)
    speed = np.broadcast_to(-9.81 * h * n, (64, 31)).T
    np.testing.assert_allclose(arrays["Sheet.velocities"][:, :, 1], speed, atol=2e-4)


def test_long_recordings_lie_on_the_disk(tmp_path: Path, output: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = saved(tmp_path, sheet())
    simulated(project, output, "--steps", "5")
    expected = output.read_bytes()
    monkeypatch.setattr("sinew.sim.export.npz.IN_MEMORY", 100)
    simulated(project, output, "--steps", "5")
    assert output.read_bytes() == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.npz", "scene.sinew"]


# --- the shipped scenes -------------------------------------------------------------------------------


def test_the_shipped_sheet_gives_the_same_bytes_twice(tmp_path: Path) -> None:
    first, second = tmp_path / "a.npz", tmp_path / "b.npz"
    arrays = simulated(FALLING, first, "--steps", "200", "--every", "40")
    simulated(FALLING, second, "--steps", "200", "--every", "40")
    assert first.read_bytes() == second.read_bytes()
    positions = arrays["Sheet.positions"]
    np.testing.assert_array_equal(positions[:, [0, 39]], np.tile(positions[0, [0, 39]], (6, 1, 1)))
    assert positions[-1, :, 1].min() < 0.1, "it must have come down to the floor"


@pytest.mark.slow
def test_the_shipped_sheet_falls_as_the_reference(output: Path) -> None:
    """Folds of cloth that buckles magnify rounding errors; the bounds are parts of the sheet's four metres.

    It meets the ellipsoid after 59 steps.
    """
    steps = 90
    arrays = simulated(FALLING, output, "--steps", str(steps))
    scene = load_project(FALLING).scene
    (node,) = scene.of_kind("cloth")
    placed = placements(scene.of_kind("collider"), WorldTransforms(scene, {}))
    model = build_cloth(node.settings, None, node_matrix(node.transform))
    actions = reference.Actions(model.pinned(node.settings), model.positions, colliders_over(placed, placed))
    particles = reference.at_rest(model)
    errors = [np.zeros(model.particle_count)]
    for step in range(steps):
        particles = reference.step(model, node.settings, particles, actions, time=step / 60)
        found = arrays["Sheet.positions"][step + 1] - particles.positions
        errors.append(np.linalg.norm(found, axis=1) / 4.0)
    assert np.abs(particles.positions - model.positions).max() > 1.0
    assert np.max(errors[:59]) < 5e-6
    assert np.max(errors) < 2e-2
    assert np.median(errors, axis=1).max() < 1e-3


def test_the_cape_stays_on_the_shoulders(output: Path) -> None:
    """The collar is as far from the chest in the second loop as at the start, and nothing stretches."""
    arrays = simulated(CAPE, output, "--steps", "192", "--every", "64")
    positions = arrays["Cape.positions"].astype(np.float64)
    collar = positions[:, :23]
    widths = np.linalg.norm(collar[:, 0] - collar[:, -1], axis=1)
    np.testing.assert_allclose(widths, widths[0], atol=1e-4)
    # Every 64 steps the walk is where it was: the pins come back to their places.
    np.testing.assert_allclose(collar[2:], np.broadcast_to(collar[1], collar[2:].shape), atol=1e-5)
    hems = positions[1:, -23:, 1]
    assert hems.max() < 1.0
    assert hems.min() > 0.1


def depth_in_body(points: np.ndarray, vertices: np.ndarray, normals: np.ndarray) -> float:
    """How deep the deepest point lies below the skin near it [m], measured to the nearest vertex."""
    squares = np.sum(vertices**2, axis=1)
    nearest = [int(np.argmin(squares - 2.0 * vertices @ point)) for point in points]
    offsets = points - vertices[nearest]
    distances, heights = np.linalg.norm(offsets, axis=1), np.sum(offsets * normals[nearest], axis=1)
    inside = (heights < -0.5 * distances) & (distances < 0.08)
    return float(distances[inside].max(initial=0.0))


def test_the_cape_does_not_enter_the_body_in_the_second_loop(output: Path) -> None:
    positions = simulated(CAPE, output, "--steps", "128", "--every", "8")["Cape.positions"].astype(np.float64)
    model = load_model(HUMANOID)
    assert model.skin is not None
    assert depth_in_body(np.array([[0.0, 1.2, -0.07]]), model.mesh.positions, model.mesh.normals) > 0.02
    for frame in range(8, 16):
        pose = evaluate_pose(model, model.clip("walk"), (frame * 8 - 64) / 60, interpolation=Interpolation.LINEAR)
        body = skin(model.mesh, model.skin, pose.palette, SkinningMethod.DQS)
        assert depth_in_body(positions[frame], body.positions, body.normals) < 0.003


# --- time ---------------------------------------------------------------------------------------------


FIGURE = Node(id="figure", name="Figure", settings=ModelSettings(path=str(HUMANOID), clip="walk"))
ON_FIGURE, ON_HAND = Attachment(node="figure"), Attachment(node="figure", bone="hand_l")
NOBODY = Attachment(node="nobody")


def riding(node: Node, carrier: Attachment) -> Node:
    return msgspec.structs.replace(node, attachment=carrier)


def worn(carrier: Attachment = ON_FIGURE, **settings: Any) -> tuple[Node, Node]:
    follows: dict[str, Any] = {"pin_target": PinTarget.BONE, "pin_bone": "chest"}
    return FIGURE, riding(sheet(**(follows | settings)), carrier)


@pytest.mark.parametrize("target", [PinTarget.BONE, PinTarget.SURFACE])
def test_pins_follow_the_clip_through_its_loop(tmp_path: Path, output: Path, target: PinTarget) -> None:
    arrays = simulated(saved(tmp_path, *worn(pin_target=target)), output, "--steps", "130")
    pin = arrays["Sheet.positions"][:, 0]
    assert np.ptp(pin[1:65], axis=0).max() > 0.01
    np.testing.assert_allclose(pin[65:129], pin[1:65], atol=2e-5)


def played(*strips: Strip) -> Node:
    return msgspec.structs.replace(FIGURE, settings=msgspec.structs.replace(FIGURE.settings, strips=strips))


def test_a_strip_of_a_part_of_the_clip_comes_back_and_the_player_has_no_say(tmp_path: Path, output: Path) -> None:
    """Speed, in and out point belong to whoever looks; a strip of 16 steps comes back after 16."""
    character, cloth = worn()
    plain = simulated(saved(tmp_path, character, cloth), output, "--steps", "40")["Sheet.positions"]
    player = PlaybackSettings(speed=2.5, in_point=0.1, out_point=16 / 60, loop=LoopMode.PING_PONG)
    looked = saved(tmp_path, character, cloth, playback=player)
    np.testing.assert_array_equal(simulated(looked, output, "--steps", "40")["Sheet.positions"], plain)
    part = saved(tmp_path, played(Strip(clip="walk", clip_out=16 / 60)), cloth)
    pin = simulated(part, output, "--steps", "40")["Sheet.positions"][:, 0]
    np.testing.assert_allclose(pin[17:32], pin[1:16], atol=2e-5)
    np.testing.assert_allclose(pin[1:16], plain[1:16, 0], atol=1e-6)


def test_what_plays_once_goes_on_hanging_at_the_end(tmp_path: Path, output: Path) -> None:
    project = saved(tmp_path, played(Strip(clip="walk", repeats=1.0)), worn()[1])
    positions = simulated(project, output, "--steps", "80")["Sheet.positions"]
    np.testing.assert_array_equal(positions[65:, 0], np.tile(positions[65, 0], (16, 1)))
    assert np.abs(positions[80] - positions[66]).max() > 1e-4


def test_a_run_up_lets_a_cape_hang_before_the_first_frame(tmp_path: Path, output: Path) -> None:
    """The pins stand still in the first pose by then, and the sheet has come down."""
    rest = simulated(saved(tmp_path, *worn()), output, "--steps", "1")["Sheet.positions"][0]
    project = saved(tmp_path, *worn(), playback=PlaybackSettings(run_up=1.0, start=3))
    positions = simulated(project, output, "--steps", "1")["Sheet.positions"]
    assert np.abs(positions[0] - rest).max() > 0.05


# --- what is refused ----------------------------------------------------------------------------------


def test_a_cloth_that_blows_up_ends_the_command(
    tmp_path: Path, output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = saved(tmp_path, sheet(stretch_stiffness=1e6, substeps=1))
    line = refused(capsys, project, output, "--steps", "100")
    assert "Sheet: stopped at" in line
    assert "substeps or a softer fabric keep it stable" in line


def test_nothing_to_simulate_is_told(tmp_path: Path, output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "contains no simulation" in refused(capsys, saved(tmp_path), output)
    model = tmp_path / "model.ezm"
    model.write_bytes(HUMANOID.read_bytes())
    assert "is not a project" in refused(capsys, model, output)


def test_absurd_lengths_are_refused_at_once(tmp_path: Path, output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = saved(tmp_path, sheet(columns=256, rows=256))
    assert main(["simulate", str(project), "--steps", "900000000", "--output", str(output)]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"sinew: {output}: needs ")
    assert "iB are free" in err
    assert not output.exists()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--steps", "-1"], "'-1'"),
        (["--steps", "1.5"], "'1.5' is not a whole number"),
        (["--steps", "10", "--seconds", "1"], "not allowed with argument"),
        (["--seconds", "inf"], "'inf' is not a finite number"),
        (["--seconds", "-2"], "'-2'"),
        (["--every", "0"], "'0' is not a number from 1"),
        (["--output", "a.npy"], "'a.npy' does not end in .npz"),
    ],
)
def test_wrong_options_are_told(options: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", str(FALLING), "--output", "a.npz", *options]) == 2
    err = capsys.readouterr().err
    assert expected in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("part", "key", "value", "allowed"),
    [
        ("cloth", "density", 0.0, "0.0001"),
        ("cloth", "particle_mass", 0.0, "1e-09"),
        ("cloth", "stretch_stiffness", -1.0, "0"),
        ("cloth", "columns", 1, "2"),
        ("cloth", "rows", 1025, "1024"),
        ("cloth", "substeps", 0, "1"),
        ("collider", "radius", 0.0, "0.0001"),
        ("collider", "semi_axes", [1.0, 0.0, 1.0], "0.0001"),
    ],
)
def test_bad_values_name_their_place(
    part: str, key: str, value: object, allowed: str, tmp_path: Path, output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = saved(tmp_path, sheet(), Node(id="b", settings=ColliderSettings(shape=ColliderShape.ELLIPSOID)))
    content = json.loads(project.read_text(encoding="utf-8"))
    index = 0 if part == "cloth" else 1
    content["nodes"][index][part][key] = value
    project.write_text(json.dumps(content), encoding="utf-8")
    line = refused(capsys, project, output)
    assert f"$.nodes[{index}].{part}.{key}: " in line
    assert allowed in line.partition("allowed")[2]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"pin_list": "3 x"}, "Sheet: pin list: 'x'"),
        ({"source": ClothSource.MESH}, "cloth 'Sheet': names no mesh file"),
        ({"source": ClothSource.MESH, "mesh_path": "/gone/cape.ezm"}, "cape.ezm is missing"),
        ({"source": ClothSource.MESH, "mesh_path": str(HUMANOID), "mesh_section": "wings"}, "no section 'wings'"),
    ],
)
def test_what_cannot_be_built_is_named(
    settings: dict[str, Any], expected: str, tmp_path: Path, output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert expected in refused(capsys, saved(tmp_path, sheet(**settings)), output)


def test_a_sheet_scaled_to_nothing_is_named(tmp_path: Path, output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    node = msgspec.structs.replace(sheet(), transform=Transform(scale=(1.0, 0.0, 1.0)))
    assert "scaled to nothing" in refused(capsys, saved(tmp_path, node), output)


def test_a_missing_model_is_named(tmp_path: Path, output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    character, cape = worn()
    character = msgspec.structs.replace(character, settings=ModelSettings(path=str(tmp_path / "gone.ezm")))
    assert "model 'Figure'" in refused(capsys, saved(tmp_path, character, cape), output)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"pin_bone": "tail"}, "Sheet: Figure has no bone 'tail' for its pins to follow; they stay where they are"),
        ({"carrier": NOBODY}, "Sheet: the model that its pins follow is not in the scene; they stay where they are"),
        (
            {"carrier": NOBODY, "pin_target": PinTarget.SURFACE},
            "Sheet: the model that its pins follow is not in the scene; they stay where they are",
        ),
    ],
)
def test_pins_on_what_is_gone_stay_and_it_is_told_once(
    settings: dict[str, Any], expected: str, tmp_path: Path, output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = saved(tmp_path, *worn(**settings))
    positions = simulated(project, output, "--steps", "70")["Sheet.positions"]
    assert capsys.readouterr().err == f"sinew: {project}: warning: {expected}\n"
    np.testing.assert_array_equal(positions[:, 0], np.tile(positions[0, 0], (71, 1)))


def test_a_collider_on_a_bone_that_is_gone_is_told_once(
    tmp_path: Path, output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ball = Node(id="ball", name="Ball", attachment=Attachment(node="figure", bone="tail"), settings=ColliderSettings())
    simulated(saved(tmp_path, *worn(), ball), output, "--steps", "5")
    err = capsys.readouterr().err
    assert "Ball: Figure has no bone 'tail'" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("scale", [(0.0, 0.0, 0.0), (1.0, 0.0, 1.0), (-1.0, 1.0, 1.0)])
@pytest.mark.parametrize("shape", ColliderShape)
def test_colliders_scaled_to_nothing_do_no_harm(
    shape: ColliderShape, scale: tuple[float, float, float], tmp_path: Path, output: Path
) -> None:
    place = Transform(position=(0.0, 1.5, 0.0), scale=scale)
    ball = Node(id="ball", name="Ball", transform=place, settings=ColliderSettings(shape=shape))
    node = sheet(placement=ClothPlacement.FLAT, substeps=16)
    positions = simulated(saved(tmp_path, node, ball), output, "--steps", "30", "--every", "30")["Sheet.positions"]
    assert np.isfinite(positions).all()


def test_an_interruption_leaves_nothing(tmp_path: Path, output: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = saved(tmp_path, sheet())
    output.write_bytes(b"older")

    def interrupt(frames: FrameArrays, frame: np.ndarray) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_simulate.FrameArrays, "append", interrupt)
    assert main(["simulate", str(project), "--output", str(output)]) == 130
    assert output.read_bytes() == b"older"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.npz", "scene.sinew"]


@pytest.mark.parametrize(("ending", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_what_is_done_is_kept_where_that_is_asked_for(
    ending: signal.Signals,
    status: int,
    tmp_path: Path,
    output: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The frames up to the one that was being recorded, complete, as a shorter recording has them."""
    project = saved(tmp_path, sheet())
    expected = simulated(project, tmp_path / "short.npz", "--steps", "8", "--every", "2")
    add, before = cli_simulate.StepRecorder.add, signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupted(recorder: cli_simulate.StepRecorder) -> None:
        if recorder._count == 4:
            signal.raise_signal(ending)
        add(recorder)

    monkeypatch.setattr(cli_simulate.StepRecorder, "add", interrupted)
    command = ["simulate", str(project), "--output", str(output), "--steps", "100", "--every", "2"]
    try:
        assert main([*command, "--partial"]) == status
        err = f"sinew: {output}: warning: contains the steps up to 8 of 100\nsinew: interrupted\n"
        assert capsys.readouterr().err == err
        with np.load(output) as arrays:
            assert arrays["step"].tolist() == [0, 2, 4, 6, 8]
            assert set(arrays) == set(expected)
            assert all(np.array_equal(arrays[name], expected[name]) for name in expected)
        output.unlink()
        assert main(command) == status
        assert not output.exists(), "without the option nothing is kept"
    finally:
        signal.signal(signal.SIGINT, before)


def test_asked_twice_nothing_is_kept(tmp_path: Path, output: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = saved(tmp_path, sheet())

    def interrupt(frames: FrameArrays, frame: np.ndarray) -> None:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(cli_simulate.FrameArrays, "append", interrupt)
    assert main(["simulate", str(project), "--output", str(output), "--partial"]) == 143
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scene.sinew"]


def test_a_name_that_no_archive_holds_is_refused(
    tmp_path: Path, output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "cannot be written" in refused(capsys, saved(tmp_path, sheet("a\0b")), output)


# --- emitters -----------------------------------------------------------------------------------------


def emitter(name: str, *, muted: bool = False, **settings: Any) -> Node:
    values: dict[str, Any] = {"capacity": 100, "rate": 60.0, "lifetime": 0.5, "lifetime_variance": 0.0}
    return Node(id=name.lower(), name=name, muted=muted, settings=EmitterSettings(**(values | settings)))


def party(folder: Path) -> Path:
    """A project with every way of emitting, and a ball that moves among the particles."""
    ball = ColliderSettings(shape=ColliderShape.SPHERE, radius=0.2)
    inherits: dict[str, Any] = {"inherited_velocity": 0.5}
    skin = emitter("Skin", source=EmitterSource.FACES, aim=EmissionAim.OUTWARD, turbulence=0.5, **inherits)
    return saved(
        folder,
        FIGURE,
        Node(id="ball", attachment=ON_HAND, settings=ball),
        Node(id="floor", settings=ColliderSettings(shape=ColliderShape.PLANE)),
        emitter("Stream"),
        emitter("Bang", mode=EmissionMode.BURST, bursts="0.1:40", burst_period=0.4),
        emitter("Full", mode=EmissionMode.FULL, capacity=30),
        riding(emitter("Hand", **inherits), ON_HAND),
        riding(skin, ON_FIGURE),
        emitter("Formula", stateless=True),
        emitter("Quiet", muted=True),
        sheet(),
    )


def test_emitters_give_the_same_bytes_twice_and_as_many_live_as_the_settings_say(tmp_path: Path) -> None:
    project, first, second = party(tmp_path), tmp_path / "a.npz", tmp_path / "b.npz"
    arrays = simulated(project, first, "--steps", "60", "--every", "6")
    simulated(project, second, "--steps", "60", "--every", "6")
    assert first.read_bytes() == second.read_bytes()
    nodes = {name.removesuffix(".positions") for name in arrays if name.endswith(".positions")}
    assert nodes == {"Stream", "Bang", "Full", "Hand", "Skin", "Formula", "Sheet"}
    for name in nodes - {"Sheet"}:
        places, velocities = arrays[f"{name}.positions"], arrays[f"{name}.velocities"]
        assert places.dtype == velocities.dtype == np.float32
        assert places.shape == velocities.shape == (11, 30 if name == "Full" else 100, 3)
        np.testing.assert_array_equal(np.isnan(places), np.isnan(velocities))
        np.testing.assert_array_equal(np.isnan(places[..., 0]), arrays[f"{name}.ids"] < 0)
        np.testing.assert_array_equal(np.isnan(places[..., 0]), np.isnan(arrays[f"{name}.widths"]))
        assert np.isnan(places[0]).all()
    alive = {name: np.isfinite(arrays[f"{name}.positions"][..., 0]).sum(axis=1).tolist() for name in nodes}
    # One is born each step, and lives for thirty.
    assert alive["Stream"] == alive["Hand"] == alive["Skin"] == [0, 6, 12, 18, 24, 30, 30, 30, 30, 30, 30]
    assert alive["Formula"] == pytest.approx(alive["Stream"], abs=1)
    assert alive["Full"] == [0] + [30] * 10
    # Bursts after 6, 30 and 54 steps, which live for thirty.
    assert alive["Bang"] == [0, 0, 40, 40, 40, 40, 80, 40, 40, 40, 80]


def test_emitters_alone_are_simulated_and_a_hungry_one_is_told(
    tmp_path: Path, output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = saved(tmp_path, emitter("Rain", capacity=10))
    arrays = simulated(project, output, "--steps", "40", "--every", "40")
    assert np.isfinite(arrays["Rain.positions"][1]).all()
    assert "Rain: capacity 10 cuts lives short: this rate and lifetime take 31 particles" in capsys.readouterr().err


def test_emitters_that_are_all_silent_or_mistaken_end_the_command(
    tmp_path: Path, output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "contains no simulation" in refused(capsys, saved(tmp_path, emitter("Quiet", muted=True)), output)
    line = refused(capsys, saved(tmp_path, emitter("Wild", gravity=(1e35, 0.0, 0.0))), output, "--steps", "70")
    assert "$.nodes[0].emitter.gravity: [1e+35, 0.0, 0.0] is not allowed" in line
    line = refused(capsys, saved(tmp_path, emitter("Odd", bursts="soon")), output)
    assert "Odd: burst 'soon'" in line


def test_an_image_of_where_to_emit_that_is_none_is_told_and_it_emits_everywhere(
    tmp_path: Path, output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "no.png").write_text("no image")
    skin = riding(emitter("Skin", source=EmitterSource.FACES), ON_FIGURE)
    settings = msgspec.structs.replace(skin.settings, density_texture=str(tmp_path / "no.png"))
    project = saved(tmp_path, FIGURE, msgspec.structs.replace(skin, settings=settings))
    found = simulated(project, output, "--steps", "20", "--every", "20")["Skin.positions"]
    warnings = capsys.readouterr().err
    assert warnings.count("no.png") == 1
    assert "is not an image of a known format" in warnings
    plain = saved(tmp_path, FIGURE, skin)
    expected = simulated(plain, output, "--steps", "20", "--every", "20")["Skin.positions"]
    np.testing.assert_array_equal(found, expected)
