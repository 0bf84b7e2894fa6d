"""Export of web pages by the command and by Python."""

import json
from pathlib import Path

import numpy as np
import pytest

import sinew
from sinew import resources
from sinew.app.cli.main import main
from sinew.app.project.project_file import save_project
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.export.page.pack import Unpacked
from sinew.sim.kinds.camera.settings import CameraSettings
from sinew.sim.kinds.cloth.settings import ClothComparisonChoice, ClothSettings, ClothSolving
from sinew.sim.kinds.emitter.settings import EmissionMode, EmitterSettings
from sinew.sim.kinds.hair.settings import ComparisonSolverChoice, HairDisplay, HairSettings, HairSource
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.kinds.springs.settings import SpringBoneSettings
from sinew.sim.run import page_file as page
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view_state import ViewState
from tests.strict_shaders import VALIDATOR, complaints

SHEET = ClothSettings(columns=7, rows=6, substeps=8)


def project(path: Path, **settings: object) -> Path:
    nodes = [Node(id="l", name="Light", settings=LightSettings())]
    for number, (name, one) in enumerate(settings.items()):
        place = Transform(position=(0.3 + number, 1.5, -0.4))
        nodes.append(Node(id=name.lower(), name=name, transform=place, settings=one))
    save_project(path, Scene(nodes=tuple(nodes)), ViewState())
    return path


def exported(source: Path, *words: object) -> Unpacked:
    target = source.with_suffix(".html")
    assert main(["export", str(source), "--output", str(target), *map(str, words)]) == 0
    return page.read_page(target)


def forms(found: Unpacked) -> dict[str, tuple[str, str]]:
    return {node["name"]: (node["form"], node["why"]) for node in found.scene["nodes"]}


def test_each_kind_runs_in_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = project(
        tmp_path / "all.sinew", Springs=SHEET, Lines=ClothSettings(columns=7, rows=6, solver=ClothSolving.LINES),
        Sparks=EmitterSettings(capacity=60, rate=90.0, lifetime=0.3, size=0.02),
        Hair=HairSettings(source=HairSource.ELLIPSOID, guides=12, children=40, knots=6),
    )  # fmt: skip
    found = exported(source, "--frames", "0:20", "--option", "sliders=none")
    assert forms(found) == dict.fromkeys(("Springs", "Lines", "Sparks", "Hair"), ("live", ""))
    live, said = found.scene["live"], capsys.readouterr().out
    assert {name: one["count"] for name, one in live["outputs"].items()} == {
        "springs": 42, "lines": 42, "sparks": 60, "hair": 240,
    }  # fmt: skip
    assert live["period"] == 0  # births are no steps that repeat
    assert (found.scene["endless"], found.scene["length"], len(live["steps"])) == (False, 20, 20)
    assert said.count(": live\n") == 4
    assert "all.html: 0.333333 s, " in said
    text = json.dumps(live)
    assert "emitter/count" not in text  # nothing shown depends on it
    assert "hair/measure" not in text


def test_spring_bones_turn_the_skin_in_the_page(tmp_path: Path) -> None:
    fox = Node(id="f", name="Fox", settings=ModelSettings(path=str(resources.path("models/fox/fox.ezm")), clip="trot"))
    tail = SpringBoneSettings(roots="tail_1", stiffness=0.2, gravity=1.0)
    springs = Node(id="s", name="Tail", attachment=Attachment(node="f"), settings=tail)
    save_project(tmp_path / "fox.sinew", Scene(nodes=(fox, springs)), ViewState())
    found = exported(tmp_path / "fox.sinew", "--allow-outside", "--frames", "0:8", "--option", "sliders=gravity")
    assert forms(found) == {"Tail": ("live", "")}
    live = found.scene["live"]
    names = " ".join(one["name"] for one in live["programs"])
    assert "springs/step.glsl" in names
    assert "model/skin.glsl" not in names  # the page skins once for each image, not for each step
    assert [one["name"] for one in live["sliders"]] == ["gravity"]


def test_steps_without_inputs_repeat_for_ever(tmp_path: Path) -> None:
    full = EmitterSettings(capacity=60, mode=EmissionMode.FULL, lifetime=0.3)
    found = exported(project(tmp_path / "full.sinew", Sheet=SHEET, Fountain=full), "--frames", "0:30")
    live = found.scene["live"]
    assert found.scene["endless"]
    assert 0 < live["period"] <= 6
    assert not any(one["moving"]["n"] for one in live["inputs"])
    assert found.scene["frames"] == 1 + live["start"] + live["period"]


def test_the_start_is_the_first_frame_that_was_asked_for(tmp_path: Path) -> None:
    found = exported(project(tmp_path / "late.sinew", Sheet=SHEET), "--frames", "10:30", "--option", "sliders=none")
    live = found.scene["live"]
    output = live["outputs"]["sheet"]
    data = found.array(live["buffers"][output["buffers"][0]]["data"]).view(np.float32)
    with sinew.open(tmp_path / "late.sinew") as one:
        one.simulate(10)
        expected = one.nodes["Sheet"].arrays()["positions"]
    assert np.array_equal(data.reshape(-1, 8)[:42, :3], expected)


def test_kernels_of_a_page_pass_the_reference_compiler(tmp_path: Path) -> None:
    if VALIDATOR is None:
        pytest.skip("glslangValidator is not installed")
    target = tmp_path / "cape.html"
    with sinew.open(resources.path("projects/cape.sinew")) as one:
        one.export(target, range(3), options={"sliders": "none"})
    programs = page.read_page(target).scene["live"]["programs"]
    assert len(programs) > 1
    assert complaints({("vertex", one["text"]): one["name"] for one in programs}, tmp_path) == []


# --- sliders --------------------------------------------------------------------------------------------------------


def test_sliders_have_the_units_and_ranges_of_the_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sparks = EmitterSettings(capacity=60, mode=EmissionMode.FULL, lifetime=0.5, drag=0.5)
    source = project(tmp_path / "two.sinew", Sheet=SHEET, Sparks=sparks)
    names = "gravity.y, Sheet.stretch_stiffness, Sheet.density, Sparks.speed, Sheet.thickness"
    found = exported(source, "--frames", "0:20", "--option", f"sliders={names}")
    sliders = {(one["node"], one["name"]): one for one in found.scene["live"]["sliders"]}
    assert list(sliders) == [
        ("Sheet", "gravity.y"), ("Sparks", "gravity.y"), ("Sheet", "stretch_stiffness"), ("Sheet", "density"),
        ("Sparks", "speed"),
    ]  # fmt: skip
    stretch, gravity = sliders["Sheet", "stretch_stiffness"], sliders["Sheet", "gravity.y"]
    assert (stretch["unit"], stretch["log"], stretch["label"]) == ("N/m", True, "Stretch stiffness")
    assert (gravity["unit"], gravity["log"], gravity["lo"], gravity["hi"]) == ("m/s²", False, -20.0, 20.0)
    assert stretch["hi"] < 10_000.0  # beyond it the sheet is unstable
    assert stretch["lo"] == 1.0
    # Of the sheet a uniform of each pass, of the particles a word of their block.
    assert all(len(target["parts"]) == 1 and target["passes"] for target in gravity["targets"])
    (block,) = sliders["Sparks", "gravity.y"]["targets"]
    assert (len(block["parts"]), "passes" in block) == (1, False)
    table = found.array(block["table"])
    assert table.tolist() == np.linspace(-20.0, 20.0, len(table), dtype=np.float32).tolist()
    assert block["starts"] == pytest.approx([-9.81])
    assert "Sheet: no slider for thickness: it changes nothing here" in capsys.readouterr().err


def test_two_sliders_on_one_number_multiply_it(tmp_path: Path) -> None:
    found = exported(project(tmp_path / "both.sinew", Sheet=SHEET), "--frames", "0:12", "--option",
                     "sliders=wind.x,normal_drag,stretch_stiffness,internal_damping")  # fmt: skip
    sliders = {one["name"]: one for one in found.scene["live"]["sliders"]}
    assert "stretch_stiffness" in sliders
    assert "internal_damping" in sliders
    shared = [target for target in sliders["internal_damping"]["targets"] if any(target["products"])]
    assert shared  # damping is a part of the stiffness


def test_a_setting_that_needs_other_programs_has_no_slider(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = project(tmp_path / "one.sinew", Sheet=SHEET)
    exported(source, "--frames", "0:12", "--option", "sliders=pressure,width")
    said = capsys.readouterr().err
    assert "Sheet: no slider for pressure: " in said
    assert "Sheet: no slider for width: " in said


# --- what is refused ------------------------------------------------------------------------------------------------


def refused(source: Path, capsys: pytest.CaptureFixture[str], *words: object) -> str:
    target = source.with_suffix(".html")
    target.write_text("before")
    assert main(["export", str(source), "--output", str(target), *map(str, words)]) == 1
    assert target.read_text() == "before"
    return capsys.readouterr().err


def test_wrong_options_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = project(tmp_path / "one.sinew", Sheet=SHEET)
    assert "--rate 24: a page has one of these rates: 60, 30, 20, 15, 12, 10" in refused(source, capsys, "--rate", 24)
    words = "--frames", "0:3", "--option", "sliders=gravity"
    assert "slider 'gravity': no simulated object has this setting, or it is no number" in refused(
        source, capsys, *words
    )
    assert "no option 'bits'; there are: live, sliders, rounding" in refused(source, capsys, "--option", "bits=3")


def test_a_simulation_that_fails_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wild = ClothSettings(columns=7, rows=6, substeps=1, stretch_stiffness=1e4)
    said = refused(project(tmp_path / "wild.sinew", Wild=wild), capsys, "--frames", "0:90", "--option", "sliders=none")
    assert "node Wild: stopped at" in said


def test_a_large_page_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "LARGEST", 1 << 10)
    source = project(tmp_path / "one.sinew", Sheet=SHEET)
    said = refused(source, capsys, "--frames", "0:3", "--option", "sliders=none")
    assert "the page would have " in said
    assert "fewer frames, a lower rate, a larger rounding or fewer objects make it smaller" in said


def test_what_cannot_be_live_is_recorded_and_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compared = ClothSettings(columns=7, rows=6, substeps=8, rival=ClothComparisonChoice.LINES)
    source = project(tmp_path / "mixed.sinew", Sheet=SHEET, Compared=compared)
    found = exported(source, "--frames", "0:2", "--option", "sliders=none")
    why = "its kind, or its comparison, shows nothing that a page repeats"
    assert forms(found) == {"Sheet": ("live", ""), "Compared": ("recorded", why)}
    assert list(found.scene["live"]["outputs"]) == ["sheet"]
    assert not found.scene["endless"]
    assert f"Compared: recorded, {why}" in capsys.readouterr().out
    found = exported(source, "--frames", "0:2", "--option", "live=off")
    assert {form for form, _ in forms(found).values()} == {"recorded"}
    assert found.scene["live"] is None


def test_what_a_page_cannot_draw_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compared = HairSettings(
        source=HairSource.ELLIPSOID, guides=12, children=4, knots=6, rival=ComparisonSolverChoice.SPRINGS,
        show=HairDisplay.DISTANCE,
    )  # fmt: skip
    nodes = {"Wide": CameraSettings(aperture=2.8), "Sharp": CameraSettings(), "Hair": compared}
    exported(project(tmp_path / "both.sinew", **nodes), "--frames", "0:3")
    said = capsys.readouterr().err
    assert "Wide: its depth of field is not in the page" in said
    assert "lines wider than a pixel are not in the page" in said
    assert "Sharp" not in said
    exported(project(tmp_path / "sheet.sinew", Sheet=SHEET), "--frames", "0:3", "--option", "sliders=none")
    assert "not in the page" not in capsys.readouterr().err


@pytest.mark.slow
def test_cloths_that_meet_have_sliders(tmp_path: Path) -> None:
    with sinew.open(resources.path("projects/cloth-on-cloth.sinew")) as one:
        for node in ("Hammock", "Blanket"):
            one.nodes[node].columns = one.nodes[node].rows = 9
        one.export(tmp_path / "page.html", range(13), options={"sliders": "Blanket.gravity.y"})
    (slider,) = page.read_page(tmp_path / "page.html").scene["live"]["sliders"]
    assert (slider["node"], slider["name"], slider["lo"], slider["hi"]) == ("Blanket", "gravity.y", -20.0, 20.0)
    assert all(target["passes"] for target in slider["targets"])


def test_python_writes_the_same_page(tmp_path: Path) -> None:
    source = project(tmp_path / "one.sinew", Sheet=SHEET)
    exported(source, "--frames", "0:12", "--option", "sliders=gravity.y")
    target = tmp_path / "python.html"
    with sinew.open(source) as one:
        one.export(target, range(13), options={"sliders": "gravity.y"})
    assert target.read_bytes() == source.with_suffix(".html").read_bytes()


@pytest.mark.slow
def test_a_pass_may_write_what_no_other_reads(tmp_path: Path) -> None:
    """The first pass of the bending of a mesh writes aims for more passes, which the dress does not need."""
    target = tmp_path / "dress.html"
    with sinew.open(resources.path("projects/dress.sinew")) as one:
        one.playback.run_up = 0.0
        one.export(target, range(2), nodes="Dress", options={"sliders": "none"})
    assert forms(page.read_page(target))["Dress"] == ("live", "")
