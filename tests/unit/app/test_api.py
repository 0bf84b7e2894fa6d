"""`import sinew` without OpenGL: nodes, settings, history, files and `sinew run`."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import sinew
from sinew import resources
from sinew.app.cli.main import main
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import AddPlace, Adds
from sinew.sim.scene.scene import Scene
from sinew.sim.scene.view_state import ViewState
from tests.conftest import slow
from tests.vrm_samples import vrm

PROJECTS = resources.path("projects")


@pytest.fixture
def project():
    with sinew.open(PROJECTS / "cape.sinew") as opened:
        yield opened


def test_the_public_names_are_listed_and_cheap() -> None:
    assert sinew.api_version == 1
    assert all(hasattr(sinew, name) for name in sinew.__all__)
    code = "import sinew, sys; print([name for name in sys.modules if name.startswith(('sinew', 'numpy', 'PySide'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['sinew']"


def test_settings_are_read_and_written_as_undoable_edits(project) -> None:
    cape = project.nodes["Cape"]
    assert (cape.kind, cape.name, cape.placement, cape.visible) == ("cloth", "Cape", "hanging", True)
    before = cape.stretch_stiffness
    cape.stretch_stiffness = 123
    cape.set(placement="flat", position=np.array([0, 1, 0]), substeps=np.int64(50))
    assert (cape.stretch_stiffness, cape.placement, cape.position, cape.substeps) == (123.0, "flat", (0, 1, 0), 50)
    project.undo()
    assert (cape.stretch_stiffness, cape.placement) == (123.0, "hanging")
    project.undo()
    assert cape.stretch_stiffness == before
    project.redo()
    assert cape.stretch_stiffness == 123.0
    project.playback.rate = 48
    assert project.playback.rate == 48.0
    assert "stretch_stiffness" in dir(cape)
    assert "render" in dir(project)


def test_new_nodes_are_those_of_the_window() -> None:
    place = AddPlace(Scene(), ViewState())
    with sinew.open() as project:
        for name in ("cloth", "emitter", "springs", "camera", "environment", "group"):
            project.add(name, name)
            made, shown = project.document.scene.nodes[-1], KINDS[name].part(Adds).entries[0].make(place)
            assert made.settings == shown.settings == KINDS[name].new_node().settings
        cloth = project.nodes["cloth"]
        assert (cloth.solver, cloth.substeps, cloth.stretch_stiffness) == ("lines", 24, 1e4)
        assert project.add("cloth", solver="springs").solver == "springs"


def test_refused_values_and_names_say_what_is_possible(project) -> None:
    cape = project.nodes["Cape"]
    with pytest.raises(ValueError, match=r"substeps = -3: .*allowed: 1 to 4096"):
        cape.set(density=0.31, substeps=-3)
    assert cape.density != 0.31
    with pytest.raises(AttributeError, match=r"no setting 'substep'; there are: .*substeps"):
        cape.substep = 3
    with pytest.raises(LookupError, match=r"no node 'Cap'; there are: .*Cape"):
        project.nodes["Cap"]
    with pytest.raises(LookupError, match=r"no type 'clot'; there are: cloth"):
        project.add("clot")
    with pytest.raises(LookupError, match="no part 'deformers"):
        cape.part("deformers.7")
    with sinew.open() as other:
        for wrong in (5, other.add("model", "Humanoid"), [cape]):
            with pytest.raises(ValueError, match=r"parent = .* is not a node of this project"):
                cape.parent = wrong
    assert cape.parent == project.nodes["Humanoid"]
    cape.remove()
    with pytest.raises(LookupError, match="was removed"):
        cape.parent = None


def test_equal_names_are_refused_but_ids_are_not(tmp_path: Path) -> None:
    content = json.loads((PROJECTS / "cloth-on-ellipsoid.sinew").read_text(encoding="utf-8"))
    for node in content["nodes"][:2]:
        node["name"] = "Same"
    path = tmp_path / "same.sinew"
    path.write_text(json.dumps(content), encoding="utf-8")
    with sinew.open(path) as project:
        first, second = list(project.nodes)[:2]
        if first.name == second.name:
            with pytest.raises(LookupError, match=f"{first.id}, {second.id}"):
                project.nodes["Same"]
        assert project.nodes[second.id] == second


def test_nodes_are_added_attached_and_removed() -> None:
    with sinew.open() as project:
        model = project.add("model", "Body")
        cloth = project.add("cloth", "Flag", columns=5, rows=6, position=(0, 2, 0), parent=model)
        assert project.selected == cloth
        assert (cloth.columns, cloth.position, cloth.parent) == (5, (0.0, 2.0, 0.0), model)
        assert [node.name for node in project.nodes] == ["Body", "Flag"]
        assert "Flag" in project.nodes
        cloth.parent = None
        assert cloth.parent is None
        cloth.part("transform").scale = (2, 2, 2)
        assert cloth.scale == (2.0, 2.0, 2.0)
        cloth.remove()
        with pytest.raises(LookupError, match="was removed"):
            _ = cloth.columns
        project.undo()
        assert cloth.columns == 5
        for _ in range(4):
            project.undo()
        assert len(project.nodes) == 0
        with pytest.raises(RuntimeError, match="nothing to undo"):
            project.undo()


def test_an_edit_block_is_one_entry_and_is_undone_when_it_raises(project) -> None:
    cape = project.nodes["Cape"]
    before = cape.density, cape.substeps
    cape.visible = False
    with project.edit("Tune cape"):
        cape.density = 0.5
        cape.substeps = 77
        with pytest.raises(RuntimeError, match="must end"):
            project.undo()
    assert project.document.undo_stack.undo_text == "Tune cape"
    project.undo()
    assert (cape.density, cape.substeps) == before

    def fail() -> None:
        with project.edit("Fail"):
            cape.density = 0.5
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert cape.density == before[0]


def test_a_project_is_for_the_main_thread_and_ends_with_its_block(project) -> None:
    found: list[BaseException] = []

    def edit() -> None:
        for use in (lambda: project.nodes["Cape"].set(density=0.5), project.close):
            try:
                use()
            except RuntimeError as error:
                found.append(error)

    thread = threading.Thread(target=edit)
    thread.start()
    thread.join()
    assert ["main thread" in str(error) for error in found] == [True, True]
    project.close()
    with pytest.raises(RuntimeError, match="was closed"):
        _ = project.nodes["Cape"].density


def test_saving_keeps_what_this_version_does_not_know(tmp_path: Path) -> None:
    content = json.loads((PROJECTS / "cloth-on-ellipsoid.sinew").read_text(encoding="utf-8"))
    path, other = tmp_path / "a.sinew", tmp_path / "b.sinew"
    path.write_text(json.dumps(content | {"later": 5}), encoding="utf-8")
    with sinew.open(path) as project:
        cloth = next(node for node in project.nodes if node.kind == "cloth")
        cloth.density = 0.4
        project.save(other)
        assert project.path == other
        with pytest.raises(ValueError, match=r"NAME\.sinew"):
            project.save(tmp_path / "c.txt")
    assert json.loads(other.read_text(encoding="utf-8"))["later"] == 5
    with sinew.open(other) as project:
        assert project.nodes[cloth.id].density == 0.4
    with pytest.raises(ValueError, match=r"none\.sinew"):
        sinew.open(tmp_path / "none.sinew")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = 1\nraise ValueError('no')", "line 2: ValueError: no"),
        ("def f(:\n", "line 1: invalid syntax"),
        ("import sinew\nwith sinew.open() as p:\n    p.playback.rate = -1\n", "line 3: rate = -1: "),
        ("def f():\n    len(5)\nf()\n", "line 2: TypeError: "),
        ("class Stop(BaseException): ...\nraise Stop('now')\n", "line 2: Stop: now"),
    ],
)
def test_a_failing_script_prints_one_line(tmp_path: Path, capsys, text: str, line: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(text)
    assert main(["run", str(script)]) == 1
    output = capsys.readouterr().err
    assert output.startswith(f"sinew: {script}: {line}")
    assert output.count("\n") == 1
    assert main(["run", "--verbose", str(script)]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_script_gets_its_arguments_and_ends_with_its_status(tmp_path: Path, capsys) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys, sibling\nprint(__name__, sys.argv[1:], sibling.X)\nsys.exit(7)\n")
    (tmp_path / "sibling.py").write_text("X = 5\n")
    before = list(sys.argv), list(sys.path)
    assert main(["run", str(script), "a", "--b", "-c"]) == 7
    assert capsys.readouterr().out == "__main__ ['a', '--b', '-c'] 5\n"
    assert (sys.argv, sys.path) == before
    script.write_text("import sys\nsys.exit('not today')\n")
    assert main(["run", str(script)]) == 1
    assert capsys.readouterr().err == "not today\n"
    script.write_text("import sys\nsys.exit(['not', 'today'])\n")
    assert main(["run", str(script)]) == 1
    assert capsys.readouterr().err == "['not', 'today']\n"
    assert main(["run", str(tmp_path / "none.py")]) == 1
    assert "no such file" in capsys.readouterr().err


def test_numbers_of_numpy_are_taken_everywhere(project) -> None:
    cape = project.nodes["Cape"]
    cape.rotation = (np.float64(10.0), 0, np.float32(0.5))
    assert cape.rotation == (10.0, 0.0, 0.5)
    cape.position = [np.int64(1), np.float32(2.0), np.array(3.0)]
    assert cape.position == (1.0, 2.0, 3.0)
    light = project.add("light", colour=(np.float32(0.5), np.float64(0.25), 1), position=np.zeros(3, np.float32))
    assert (light.colour, light.position) == ((0.5, 0.25, 1.0), (0.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="rotation"):
        cape.rotation = (np.float64("nan"), 0, 0)
    with pytest.raises(ValueError, match="substeps"):
        cape.substeps = np.float64(3.5)


def test_nodes_are_found_by_their_number(project) -> None:
    nodes = list(project.nodes)
    assert [project.nodes[number] for number in range(len(nodes))] == nodes
    assert project.nodes[np.int64(-1)] == nodes[-1]
    with pytest.raises(IndexError, match=f"there is no node {len(nodes)}; there are {len(nodes)}"):
        project.nodes[len(nodes)]
    with pytest.raises(TypeError, match=r"by its id, its name or its number, not by 1\.5"):
        project.nodes[1.5]


def test_a_model_of_its_own_comes_with_its_springs_and_a_light(tmp_path: Path) -> None:
    path = tmp_path / "person.vrm"
    path.write_bytes(vrm().data())
    with sinew.open(path) as opened:
        assert sorted(node.kind for node in opened.nodes) == ["light", "model", "springs"]
        assert opened.nodes[0].kind == "model"
        (springs,) = (node for node in opened.nodes if node.kind == "springs")
        assert springs.parent == opened.nodes[0]
        assert opened.view.follow


FAILING_THREAD = """
import threading, time

def fail():
    time.sleep({delay})
    raise ValueError("of a thread")

thread = threading.Thread(target=fail)
thread.start()
{more}
print("done")
"""


@pytest.mark.parametrize(
    ("delay", "more"), [slow(0.0, "thread.join()"), (0.5, ""), slow(0.0, "thread.join()\nraise SystemExit")]
)
def test_an_exception_of_a_thread_fails_the_program_with_one_line(tmp_path: Path, delay: float, more: str) -> None:
    script = tmp_path / "a.py"
    script.write_text(FAILING_THREAD.format(delay=delay, more=more))
    command = [sys.executable, "-m", "sinew", "run", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (1, f"sinew: {script}: line 6: ValueError: of a thread\n")
    assert "done" in done.stdout or "SystemExit" in more


def test_threads_that_end_well_do_not_fail_a_program(tmp_path: Path) -> None:
    script = tmp_path / "a.py"
    script.write_text(
        "import concurrent.futures, threading\n"
        "pool = concurrent.futures.ThreadPoolExecutor(2)\npool.submit(int, 'x')\n"
        "threading.Thread(target=print, args=('end',)).start()\nthreading.Thread(target=exit).start()\n"
    )
    command = [sys.executable, "-m", "sinew", "run", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "end\n")
