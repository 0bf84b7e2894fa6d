import csv
import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec import structs
from PIL import Image

from sinew import resources
from sinew.app.cli.main import main
from sinew.app.headless import run
from sinew.app.project.project_file import cache_folder, save_project
from sinew.sim.cache.bake import INDEX, Bake
from sinew.sim.kinds.cloth.settings import ClothPlacement, ClothSettings
from sinew.sim.kinds.cloth.system import ClothSystem
from sinew.sim.scene.playback import PlaybackSettings
from sinew.sim.scene.scene import Node, ParamRef, Scene, with_value
from sinew.sim.scene.view_state import ViewState


def saved(path: Path, **settings: object) -> Scene:
    values = {"columns": 8, "rows": 8, "substeps": 16, "placement": ClothPlacement.HANGING, **settings}
    node = Node(id="c", name="Sheet", settings=ClothSettings(**values))
    scene = Scene(nodes=(node,))
    save_project(path, scene, ViewState())
    return scene


def simulate(project: Path, *options: str) -> dict[str, np.ndarray]:
    output = project.with_name("out.npz")
    assert main(["simulate", str(project), "--steps", "12", "--output", str(output), *options]) == 0
    with np.load(output) as arrays:
        return {name: arrays[name] for name in arrays.files if name != "settings"}


def test_baked_steps_are_written_shown_and_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = tmp_path / "a.sinew"
    scene = saved(project)
    assert main(["verify", str(project)]) == 1
    assert "has no baked steps" in capsys.readouterr().err
    plain = simulate(project)
    cached = simulate(project, "--cache")
    again = simulate(project, "--cache")
    for name, array in plain.items():
        assert cached[name].tobytes() == array.tobytes() == again[name].tobytes()
    bake = Bake(cache_folder(project))
    assert bake.steps("c") == range(1, 13)
    assert main(["verify", str(project)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 node, 12 steps, bit-identical"

    node = scene.node("c")
    softer = with_value(with_value(scene, ParamRef("c", "cloth", "wind"), (0.0, 0.0, 2.0)), _baked(node), True)
    save_project(project, softer, ViewState())
    shown = simulate(project)
    assert shown["Sheet.positions"].tobytes() == plain["Sheet.positions"].tobytes(), "a baked node is not simulated"
    assert "its bake is out of date; it is shown as it was baked" in capsys.readouterr().err
    assert main(["verify", str(project)]) == 1
    reported = capsys.readouterr().err
    assert "Sheet: its bake is out of date" in reported
    assert "Sheet: step 1 is the first that differs" in reported
    save_project(project, with_value(softer, _baked(node), False), ViewState())
    variants = np.linalg.norm(simulate(project)["Sheet.positions"] - plain["Sheet.positions"], axis=2)
    step, particle = np.unravel_index(np.argmax(variants), variants.shape)
    assert f"by up to {variants.max():.3g} m, at step {step} in particle {particle} (" in reported

    (cache_folder(project) / INDEX).write_text(json.dumps({"format": "none"}))
    assert main(["verify", str(project)]) == 1
    assert INDEX in capsys.readouterr().err


def steps_file(project: Path, node: str = "c") -> Path:
    (path,) = cache_folder(project).glob(f"{node}-*.steps")
    return path


def damage(path: Path, step: int, index: dict[str, Any]) -> None:
    offset, size = index["rows"][step - index["first"]]
    data = bytearray(path.read_bytes())
    data[offset + size // 2] ^= 4
    path.write_bytes(data)


def index_of(project: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((cache_folder(project) / INDEX).read_text())
    return content


def test_a_damaged_row_is_simulated_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = tmp_path / "a.sinew"
    saved(project)
    plain = simulate(project, "--cache")
    path = steps_file(project)
    damage(path, 5, index_of(project)["nodes"]["c"])
    assert main(["verify", str(project)]) == 1
    assert capsys.readouterr().err == f"sinew: {path}: Sheet: step 5 is damaged\n"
    again = simulate(project, "--cache")
    line = f"Sheet: step 5 of a.sinewcache/{path.name} is damaged; the following steps are simulated"
    assert capsys.readouterr().err.splitlines() == [f"sinew: {project}: warning: {line}"]
    for name, array in plain.items():
        assert again[name].tobytes() == array.tobytes()
    assert main(["verify", str(project)]) == 0, "it is baked again"


def test_rows_without_checksums_and_unreadable_rows(tmp_path, capsys, monkeypatch):
    project = tmp_path / "a.sinew"
    scene = saved(project)
    plain = simulate(project, "--cache")
    index = index_of(project)
    del index["nodes"]["c"]["sums"]
    (cache_folder(project) / INDEX).write_text(json.dumps(index))
    save_project(project, with_value(scene, _baked(scene.node("c")), True), ViewState())
    with monkeypatch.context() as patch:
        patch.setattr(ClothSystem, "step", lambda *_: pytest.fail("it was simulated"))
        assert simulate(project)["Sheet.positions"].tobytes() == plain["Sheet.positions"].tobytes()
    path = steps_file(project)
    offset, size = index["nodes"]["c"]["rows"][6]
    for junk in (b"\xc1" * size, b"\x92\x81\xa1\xff\x00\x90" + bytes(size - 6)):
        data = bytearray(path.read_bytes())
        data[offset : offset + size] = junk
        path.write_bytes(data)
        assert simulate(project)["Sheet.positions"].tobytes() == plain["Sheet.positions"].tobytes()
        line = f"Sheet: step 7 of a.sinewcache/{path.name} is damaged; the following steps are simulated"
        assert capsys.readouterr().err.splitlines() == [f"sinew: {project}: warning: {line}"]
        assert main(["verify", str(project)]) == 1
        assert f"sinew: {path}: Sheet: step 7 is damaged\n" in capsys.readouterr().err
    data[offset : offset + size] = msgspec.msgpack.encode(["x" * (size - 4)])  # a value that is no state
    path.write_bytes(data)
    assert main(["simulate", str(project), "--output", str(tmp_path / "o.npz"), "--steps", "12"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"sinew: {project}: Sheet: its step 7 cannot be read: " in line
    assert main(["verify", str(project)]) == 1
    assert f"sinew: {path}: Sheet: step 7 cannot be read\n" in capsys.readouterr().err


def test_only_nodes_with_changed_settings_are_simulated_again(tmp_path, capsys, monkeypatch):
    project = tmp_path / "a.sinew"
    one = saved(project).node("c")
    other = structs.replace(one, id="d", name="Other")
    scene = Scene(nodes=(one, other))
    save_project(project, scene, ViewState())
    simulate(project, "--cache")
    changed = with_value(scene, ParamRef("d", "cloth", "wind"), (0.0, 0.0, 2.0))
    save_project(project, changed, ViewState())
    stepped = set()
    plain = ClothSystem.step

    def step(system: ClothSystem, inputs: object) -> None:
        stepped.add(system.node.id)
        plain(system, inputs)

    with monkeypatch.context() as patch:
        patch.setattr(ClothSystem, "step", step)
        cached = simulate(project, "--cache")
    assert stepped == {"d"}
    line = f"sinew: {project}: warning: Other: its bake is out of date; it is simulated again"
    assert capsys.readouterr().err.splitlines() == [line]
    shutil.rmtree(cache_folder(project))
    for name, array in simulate(project).items():
        assert cached[name].tobytes() == array.tobytes()


@pytest.mark.slow
def test_damaged_sample_bakes_are_reported(assets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in (
        ("cache_truncated_verify_ok", "hair-0.steps: Hair: has 4 of 12 steps; its file was cut off"),
        ("cache_first_1e9", "index.json: sheet: begins with step 1000000000"),
        ("cache_300_bitflips", "is the first that differs"),
    ):
        project = assets / "faults3" / name / "c.sinew"
        if not project.exists():
            pytest.skip("the damaged bakes are not there")
        assert main(["verify", str(project)]) == 1
        assert text in capsys.readouterr().err


def test_a_bake_begins_after_the_preroll(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shares: list[float] = []
    monkeypatch.setattr(run.Progress, "__call__", lambda _, share: shares.append(share))
    project = tmp_path / "a.sinew"
    save_project(project, structs.replace(saved(project), playback=PlaybackSettings(run_up=0.1)), ViewState())
    simulate(project, "--cache")
    assert shares[-19:-13] == pytest.approx([step / 6 for step in range(1, 7)])
    assert Bake(cache_folder(project)).steps("c") == range(6, 19), "the first frame of the scene, and 12 steps"
    assert main(["verify", str(project)]) == 0


def test_a_failed_run_leaves_the_bake_as_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project, output = tmp_path / "a.sinew", tmp_path / "out.npz"
    saved(project, substeps=1, stretch_stiffness=1e6)
    words = ["simulate", str(project), "--steps", "30", "--output", str(output), "--cache"]
    assert main(words) == 1
    assert "Sheet: stopped at" in capsys.readouterr().err
    assert not cache_folder(project).exists()
    saved(project)
    simulate(project, "--cache")
    before = Bake(cache_folder(project)).index
    saved(project, substeps=1, stretch_stiffness=1e6)
    assert main(words) == 1
    assert Bake(cache_folder(project)).index == before, "the one of before stays"
    (cache_folder(project) / INDEX).unlink()
    saved(project)
    capsys.readouterr()
    assert main(["verify", str(project)]) == 1
    assert "has no baked steps" in capsys.readouterr().err
    simulate(project, "--cache")
    assert main(["verify", str(project)]) == 0


def test_render_writes_and_reads_the_bake(tmp_path, capsys, monkeypatch):
    project = tmp_path / "a.sinew"
    saved(project)

    def render(name: str, frames: str, *options: str) -> bytes:
        output = tmp_path / f"{name}_%02d.png"
        words = ["render", str(project), "--size", "48x32", "--rate", "60", "--frames", frames, "--output", str(output)]
        assert main([*words, *options]) == 0
        return (tmp_path / f"{name}_{int(frames.split(':')[1]):02d}.png").read_bytes()

    plain = render("plain", "0:8")
    assert not cache_folder(project).exists()
    assert render("filled", "0:8", "--cache") == plain
    assert Bake(cache_folder(project)).steps("c") == range(1, 9)
    monkeypatch.setattr(ClothSystem, "step", lambda *_: pytest.fail("it was simulated"))
    assert render("baked", "0:8", "--cache") == plain
    render("short", "0:3", "--cache")
    assert Bake(cache_folder(project)).steps("c") == range(1, 9), "a longer one of the same settings stays"
    monkeypatch.undo()
    render("long", "0:11", "--cache")
    assert Bake(cache_folder(project)).steps("c") == range(1, 12)
    assert main(["verify", str(project)]) == 0
    assert "bit-identical" in capsys.readouterr().out


@pytest.mark.slow
def test_the_sweep_in_the_readme_is_stable(repo_root: Path, tmp_path: Path) -> None:
    readme = (repo_root / "README.md").read_text()
    words = shlex.split(next(line for line in readme.splitlines() if line.startswith("sinew sweep PROJECT ")))
    project, table = resources.path("projects") / "cape.sinew", tmp_path / "table.csv"
    sets = words[3 : words.index("--output")]
    assert main(["sweep", str(project), *sets, "--steps", "10", "--measure", "strain", "--output", str(table)]) == 0
    found = list(csv.DictReader(table.read_text().splitlines()))
    assert {row["Cape.stretch_stiffness"] for row in found} == {"50", "150", "450"}
    assert [row["problem"] for row in found] == [""] * len(found)


def _baked(node: Node) -> ParamRef:
    return ParamRef(node.id, "node", "baked")


def test_a_sweep_of_two_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project, rows, sheet = tmp_path / "a.sinew", tmp_path / "a.csv", tmp_path / "a.png"
    saved(project)
    command = ["sweep", str(project), "--set", "sheet.substeps=4,16", "--set", "sheet.stretch_stiffness=10:1e6:log:3"]
    command += ["--steps", "10", "--output", str(rows)]
    options = ["--measure", "strain,time", "--pictures", str(sheet), "--size", "80x60"]
    assert main([*command, *options]) == 0
    with rows.open() as file:
        found = list(csv.DictReader(file))
    assert [(row["Sheet.substeps"], row["Sheet.stretch_stiffness"]) for row in found[:3]] == [
        ("4", "10"), ("4", "3162.28"), ("4", "1e+06")
    ]  # fmt: skip
    assert len(found) == 6
    assert (found[3]["stable"], found[3]["steps"]) == ("yes", "10")
    assert float(found[3]["strain"]) > 0.0
    assert "stopped" in found[2]["problem"]
    with Image.open(sheet) as picture:
        assert picture.size == (3 * 80, 2 * (60 + 34))
    assert main([*command, "--measure", "beauty"]) == 1
    assert "'beauty' is not measured; there are: strain" in capsys.readouterr().err


def test_sweep_tables_contain_no_formulas(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project, table = tmp_path / "a.sinew", tmp_path / "a.csv"
    node = Node(id="c", name="@SUM(1+1)", settings=ClothSettings(columns=4, rows=4))
    save_project(project, Scene(nodes=(node,)), ViewState())
    command = ["sweep", str(project), "--set", "@SUM(1+1).wind=-1 0 0,0 0 1", "--steps", "2", "--output", str(table)]
    assert main(command) == 0
    rows = list(csv.reader(table.read_text().splitlines()))
    assert rows[0][0] == "'@SUM(1+1).wind"
    assert [row[0] for row in rows[1:]] == ["-1 0 0", "0 0 1"]
    assert capsys.readouterr().out == f"{table}: 2 combinations of 2 steps\n"


def test_bytes_that_belong_to_no_step_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = tmp_path / "a.sinew"
    saved(project)
    simulate(project, "--cache")
    path = steps_file(project)
    content = path.read_bytes()
    path.write_bytes(content + b"xyz")
    assert main(["verify", str(project)]) == 1
    assert capsys.readouterr().err == f"sinew: {path}: Sheet: has 3 bytes that belong to no step\n"
    path.write_bytes(content)
    assert main(["verify", str(project)]) == 0
