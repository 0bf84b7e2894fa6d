import json
import signal
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from sinew import resources
from sinew.app.cli.main import main
from sinew.app.jobs import simulate as cli_simulate
from sinew.app.project.project_file import save_project
from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import Interpolation
from sinew.sim.characters.reference import skin
from sinew.sim.characters.settings import ModelSettings, SkinningMethod
from sinew.sim.colliders.state import ColliderShape
from sinew.sim.kinds.cloth.model import build_cloth
from sinew.sim.kinds.cloth.settings import ClothPlacement, ClothSettings, ClothSource, PinTarget
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.emitter.settings import EmissionAim, EmissionMode, EmitterSettings, EmitterSource
from sinew.sim.scene.playback import LoopMode, PlaybackSettings
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.strips import Strip
from sinew.sim.scene.transform import Transform, node_matrix
from sinew.sim.scene.view_state import ViewState

FALLING = resources.path("projects") / "cloth-on-ellipsoid.sinew"
CAPE = resources.path("projects") / "cape.sinew"
HUMANOID = resources.path("models") / "humanoid" / "humanoid.ezm"
SMALL: dict[str, Any] = {"columns": 8, "rows": 8, "substeps": 8}


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out.npz"


def simulated(project: Path, output: Path, *options: str) -> dict[str, np.ndarray]:
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


def test_the_file_has_the_documented_arrays(tmp_path: Path, output: Path) -> None:
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
    rest = build_cloth(sheet().settings, None, node_matrix(sheet().transform)).positions
    np.testing.assert_array_equal(arrays["Sheet.positions"][0], rest.astype(np.float32))
    np.testing.assert_array_equal(arrays["Sheet.velocities"][0], 0.0)
    whole = simulated(project, output, "--seconds", "0.15")
    np.testing.assert_array_equal(arrays["Sheet.positions"], whole["Sheet.positions"][::4])
    assert json.loads(str(arrays["settings"]))["format"] == "sinew-project"


def test_a_recording_on_disk(tmp_path: Path, output: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = saved(tmp_path, sheet())
    simulated(project, output, "--steps", "5")
    expected = output.read_bytes()
    monkeypatch.setattr("sinew.sim.export.npz.IN_MEMORY", 100)
    simulated(project, output, "--steps", "5")
    assert output.read_bytes() == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.npz", "scene.sinew"]


def depth_in_body(points: np.ndarray, vertices: np.ndarray, normals: np.ndarray) -> float:
    """How deep the deepest point lies below the skin near it [m], measured to the nearest vertex."""
    squares = np.sum(vertices**2, axis=1)
    nearest = [int(np.argmin(squares - 2.0 * vertices @ point)) for point in points]
    offsets = points - vertices[nearest]
    distances, heights = np.linalg.norm(offsets, axis=1), np.sum(offsets * normals[nearest], axis=1)
    inside = (heights < -0.5 * distances) & (distances < 0.08)
    return float(distances[inside].max(initial=0.0))


@pytest.mark.slow
def test_the_cape_hangs_from_the_shoulders_and_does_not_enter_the_body(output: Path) -> None:
    positions = simulated(CAPE, output, "--steps", "128", "--every", "8")["Cape.positions"].astype(np.float64)
    collar, hems = positions[:, :23], positions[8:, -23:, 1]
    widths = np.linalg.norm(collar[:, 0] - collar[:, -1], axis=1)
    np.testing.assert_allclose(widths[::8], widths[0], atol=1e-4)
    # Every 64 steps the walk is where it was: the pins return to their positions.
    np.testing.assert_allclose(collar[16], collar[8], atol=1e-5)
    assert 0.1 < hems.min() < hems.max() < 1.1
    model = load_model(HUMANOID)
    assert model.skin is not None
    assert depth_in_body(np.array([[0.0, 1.2, -0.07]]), model.mesh.positions, model.mesh.normals) > 0.02
    for frame in range(8, 16):
        pose = evaluate_pose(model, model.clip("walk"), (frame * 8 - 64) / 60, interpolation=Interpolation.LINEAR)
        body = skin(model.mesh, model.skin, pose.palette, SkinningMethod.DQS)
        assert depth_in_body(positions[frame], body.positions, body.normals) < 0.003


CHARACTER = Node(id="character", name="Character", settings=ModelSettings(path=str(HUMANOID), clip="walk"))
ON_CHARACTER, ON_HAND = Attachment(node="character"), Attachment(node="character", bone="hand_l")
MISSING = Attachment(node="missing")


def attached(node: Node, carrier: Attachment) -> Node:
    return msgspec.structs.replace(node, attachment=carrier)


def sheet_on_character(carrier: Attachment = ON_CHARACTER, **settings: Any) -> tuple[Node, Node]:
    follows: dict[str, Any] = {"pin_target": PinTarget.BONE, "pin_bone": "chest"}
    return CHARACTER, attached(sheet(**(follows | settings)), carrier)


def with_strips(*strips: Strip) -> Node:
    return msgspec.structs.replace(CHARACTER, settings=msgspec.structs.replace(CHARACTER.settings, strips=strips))


def test_strips_drive_the_simulation_and_playback_settings_do_not(tmp_path: Path, output: Path) -> None:
    """Speed, in and out point affect only the viewport; a strip of 16 steps repeats after 16, or stops there."""
    character, cloth = sheet_on_character()
    plain = simulated(saved(tmp_path, character, cloth), output, "--steps", "40")["Sheet.positions"]
    player = PlaybackSettings(speed=2.5, in_point=0.1, out_point=16 / 60, loop=LoopMode.PING_PONG)
    looked = saved(tmp_path, character, cloth, playback=player)
    np.testing.assert_array_equal(simulated(looked, output, "--steps", "40")["Sheet.positions"], plain)
    part = saved(tmp_path, with_strips(Strip(clip="walk", clip_out=16 / 60)), cloth)
    pin = simulated(part, output, "--steps", "40")["Sheet.positions"][:, 0]
    np.testing.assert_allclose(pin[17:32], pin[1:16], atol=2e-5)
    np.testing.assert_allclose(pin[1:16], plain[1:16, 0], atol=1e-6)
    once = saved(tmp_path, with_strips(Strip(clip="walk", clip_out=16 / 60, repeats=1.0)), cloth)
    positions = simulated(once, output, "--steps", "32")["Sheet.positions"]
    np.testing.assert_array_equal(positions[17:, 0], np.tile(positions[17, 0], (16, 1)))
    assert np.abs(positions[32] - positions[18]).max() > 1e-4, "the cloth still moves"


def test_an_unstable_cloth_ends_the_command(tmp_path: Path, output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = saved(tmp_path, sheet(stretch_stiffness=1e6, substeps=1))
    line = refused(capsys, project, output, "--steps", "100")
    assert "Sheet: stopped at" in line
    assert "substeps or a softer fabric keep it stable" in line


def test_a_file_larger_than_the_disk(tmp_path: Path, output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = saved(tmp_path, sheet(columns=256, rows=256))
    assert main(["simulate", str(project), "--steps", "900000000", "--output", str(output)]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"sinew: {output}: needs ")
    assert "iB are free" in err
    assert not output.exists()


def test_wrong_options_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    for options, expected in (
        (["--steps", "-1"], "'-1'"),
        (["--steps", "1.5"], "'1.5' is not a whole number"),
        (["--steps", "10", "--seconds", "1"], "not allowed with argument"),
        (["--seconds", "inf"], "'inf' is not a finite number"),
        (["--seconds", "-2"], "'-2'"),
        (["--every", "0"], "'0' is not a whole number from 1"),
        (["--output", "a.npy"], "'a.npy' does not end in .npz"),
    ):
        assert main(["simulate", str(FALLING), "--output", "a.npz", *options]) == 2
        err = capsys.readouterr().err
        assert expected in err
        assert err.count("\n") == 1


def test_invalid_values_are_reported(tmp_path: Path, output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ball = Node(id="b", settings=ColliderSettings(shape=ColliderShape.ELLIPSOID))
    for part, key, value, allowed in (
        ("cloth", "density", 0.0, "0.0001"),
        ("cloth", "rows", 1025, "1024"),
        ("collider", "semi_axes", [1.0, 0.0, 1.0], "0.0001"),
    ):
        project = saved(tmp_path, sheet(), ball)
        content = json.loads(project.read_text(encoding="utf-8"))
        index = 0 if part == "cloth" else 1
        content["nodes"][index][part][key] = value
        project.write_text(json.dumps(content), encoding="utf-8")
        line = refused(capsys, project, output)
        assert f"$.nodes[{index}].{part}.{key}: " in line
        assert allowed in line.partition("allowed")[2]


def test_invalid_nodes_are_reported(tmp_path: Path, output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    character, cape = sheet_on_character()
    missing = msgspec.structs.replace(character, settings=ModelSettings(path=str(tmp_path / "gone.ezm")))
    mesh = {"source": ClothSource.MESH, "mesh_path": str(HUMANOID)}
    for nodes, expected in (
        ([], "contains no simulation"),
        ([sheet(pin_list="3 x")], "Sheet: pin list: 'x'"),
        ([sheet(source=ClothSource.MESH)], "cloth 'Sheet': names no mesh file"),
        ([sheet(**mesh | {"mesh_path": "/gone/cape.ezm"})], "cape.ezm is missing"),
        ([sheet(**mesh, mesh_section="wings")], "no section 'wings'"),
        ([msgspec.structs.replace(sheet(), transform=Transform(scale=(1.0, 0.0, 1.0)))], "scaled to nothing"),
        ([missing, cape], "model 'Character'"),
        ([sheet("a\0b")], "cannot be written"),
    ):
        assert expected in refused(capsys, saved(tmp_path, *nodes), output)
    model = tmp_path / "model.ezm"
    model.write_bytes(HUMANOID.read_bytes())
    assert "is not a project" in refused(capsys, model, output)


def test_missing_carriers_are_reported(tmp_path: Path, output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tail = Attachment(node="character", bone="tail")
    no_model = "Sheet: the model that its pins follow is not in the scene; they stay where they are"
    no_bone = "Sheet: Character has no bone 'tail' for its pins to follow; they stay where they are"
    for nodes, expected in (
        (sheet_on_character(pin_bone="tail"), no_bone),
        (sheet_on_character(MISSING), no_model),
        (sheet_on_character(MISSING, pin_target=PinTarget.SURFACE), no_model),
    ):
        project = saved(tmp_path, *nodes)
        positions = simulated(project, output, "--steps", "5")["Sheet.positions"]
        assert capsys.readouterr().err == f"sinew: {project}: warning: {expected}\n"
        np.testing.assert_array_equal(positions[:, 0], np.tile(positions[0, 0], (6, 1)))
    ball = Node(id="ball", name="Ball", attachment=tail, settings=ColliderSettings())
    simulated(saved(tmp_path, *sheet_on_character(), ball), output, "--steps", "5")
    err = capsys.readouterr().err
    assert "Ball: Character has no bone 'tail'" in err
    assert err.count("\n") == 1


def test_colliders_scaled_to_zero_or_mirrored_leave_finite_positions(tmp_path: Path, output: Path) -> None:
    node = sheet(placement=ClothPlacement.FLAT, substeps=16)
    for shape in ColliderShape:
        balls = [
            Node(
                id=str(scale),
                transform=Transform(position=(0.0, 1.9, 0.0), scale=scale),
                settings=ColliderSettings(shape=shape),
            )
            for scale in ((0.0, 0.0, 0.0), (1.0, 0.0, 1.0), (-1.0, 1.0, 1.0))
        ]
        positions = simulated(saved(tmp_path, node, *balls), output, "--steps", "12", "--every", "12")
        assert np.isfinite(positions["Sheet.positions"]).all()


@pytest.mark.parametrize(("ending", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_writes_the_finished_steps_only_if_asked_for(
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
        output.write_bytes(b"older")
        assert main(command) == status
        assert output.read_bytes() == b"older", "without the option nothing is written"
    finally:
        signal.signal(signal.SIGINT, before)


def emitter(name: str, *, muted: bool = False, **settings: Any) -> Node:
    values: dict[str, Any] = {"capacity": 100, "rate": 60.0, "lifetime": 0.5, "lifetime_variance": 0.0}
    return Node(id=name.lower(), name=name, muted=muted, settings=EmitterSettings(**(values | settings)))


def emitter_project(folder: Path) -> Path:
    ball = ColliderSettings(shape=ColliderShape.SPHERE, radius=0.2)
    inherits: dict[str, Any] = {"inherited_velocity": 0.5}
    skin = emitter("Skin", source=EmitterSource.FACES, aim=EmissionAim.OUTWARD, turbulence=0.5, **inherits)
    return saved(
        folder,
        CHARACTER,
        Node(id="ball", attachment=ON_HAND, settings=ball),
        Node(id="floor", settings=ColliderSettings(shape=ColliderShape.PLANE)),
        emitter("Stream"),
        emitter("Bang", mode=EmissionMode.BURST, bursts="0.1:40", burst_period=0.4),
        emitter("Full", mode=EmissionMode.FULL, capacity=30),
        attached(emitter("Hand", **inherits), ON_HAND),
        attached(skin, ON_CHARACTER),
        emitter("Formula", stateless=True),
        emitter("Quiet", muted=True),
        sheet(),
    )


def test_emitters_write_the_same_bytes_twice_and_the_expected_numbers_of_particles(tmp_path: Path) -> None:
    project, first, second = emitter_project(tmp_path), tmp_path / "a.npz", tmp_path / "b.npz"
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


def test_muted_or_invalid_emitters(tmp_path: Path, output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "contains no simulation" in refused(capsys, saved(tmp_path, emitter("Quiet", muted=True)), output)
    line = refused(capsys, saved(tmp_path, emitter("Wild", gravity=(1e35, 0.0, 0.0))), output, "--steps", "70")
    assert "$.nodes[0].emitter.gravity: [1e+35, 0.0, 0.0] is not allowed" in line
    line = refused(capsys, saved(tmp_path, emitter("Odd", bursts="soon")), output)
    assert "Odd: burst 'soon'" in line
    simulated(saved(tmp_path, emitter("Rain", capacity=10)), output, "--steps", "2")
    assert "Rain: capacity 10 cuts lives short: this rate and lifetime take 31 particles" in capsys.readouterr().err
