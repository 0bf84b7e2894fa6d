"""`import sinew` with OpenGL: the same bits and pixels as the command line, and the shipped examples."""

import gc
import inspect
import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import sinew
from sinew import resources
from sinew.app.api.nodes import ProjectNode
from sinew.app.api.project import Project
from sinew.app.cli.main import main
from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.context import Context
from sinew.sim.gl.errors import GLError
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Form
from sinew.sim.run.engine import Engine
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Scene

EXAMPLES = resources.path("examples")


@pytest.fixture(scope="module")
def flag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a small cloth named Cape."""
    try:
        Context.headless().release()
    except GLError as error:
        pytest.skip(f"no OpenGL here: {error}")
    path = tmp_path_factory.mktemp("flag") / "flag.sinew"
    with sinew.open() as project:
        project.add("cloth", "Cape", columns=8, rows=8, position=(0, 2, 0), placement="flat")
        project.add("collider", "Ball")
        project.save(path)
    return path


def simulated(project: Path, steps: int, output: Path) -> dict[str, np.ndarray]:
    assert main(["simulate", str(project), "--steps", str(steps), "--output", str(output)]) == 0
    with np.load(output) as arrays:
        return dict(arrays)


def test_the_bits_are_those_of_the_command(flag: Path, tmp_path: Path) -> None:
    file = simulated(flag, 8, tmp_path / "out.npz")
    with sinew.open(flag) as project:
        recorded = project.record(steps=8, every=4)
        for name in ("Cape.positions", "Cape.velocities"):
            np.testing.assert_array_equal(recorded[name], file[name][::4])
        np.testing.assert_array_equal(recorded["Cape.triangles"], file["Cape.triangles"])
        project.simulate(steps=5)
        cape = project.nodes["Cape"]
        np.testing.assert_array_equal(cape.arrays()["positions"], file["Cape.positions"][5])
        assert cape.measures()["strain"] >= 0.0
        project.step(3)
        assert project.steps == 8
        np.testing.assert_array_equal(cape.arrays()["positions"], file["Cape.positions"][8])
        with pytest.raises(ValueError, match="Ball is not simulated"):
            project.nodes["Ball"].arrays()


def test_edits_apply_to_the_next_step_and_a_simulation_starts_with_them(flag: Path, tmp_path: Path) -> None:
    with sinew.open(flag) as project:
        cape, seen = project.nodes["Cape"], []

        @project.on_step
        def follow(step: int) -> None:
            seen.append(step)
            if step == 3:
                cape.wind = (0, 0, 9)

        project.simulate(steps=6)
        assert seen == [1, 2, 3, 4, 5, 6]
        live = cape.arrays()["positions"]
        project.save(tmp_path / "edited.sinew")
        assert project.steps == 6
        project.simulate(steps=6)
        started = cape.arrays()["positions"]
    assert (live != started).any()
    file = simulated(tmp_path / "edited.sinew", 6, tmp_path / "out.npz")
    np.testing.assert_array_equal(started, file["Cape.positions"][6])


def test_nodes_and_counts_change_while_a_project_is_open(flag: Path) -> None:
    with sinew.open(flag) as project:
        project.simulate(steps=2)
        project.nodes["Cape"].columns = 5
        second = project.add("cloth", "Second", columns=4, rows=4)
        project.simulate(steps=2)
        assert project.nodes["Cape"].arrays()["positions"].shape == (40, 3)
        assert second.arrays()["positions"].shape == (16, 3)
        project.undo()
        project.simulate(steps=1)
        with pytest.raises(LookupError):
            second.arrays()


def test_images_are_those_of_the_command(flag: Path, tmp_path: Path) -> None:
    output = tmp_path / "frame.png"
    assert main(["render", str(flag), "--frames", "4", "--size", "96x64", "--output", str(output)]) == 0
    with sinew.open(flag) as project:
        project.simulate(steps=4)
        image = project.render(size=(96, 64))
        np.testing.assert_array_equal(image, np.asarray(Image.open(output)))
        np.testing.assert_array_equal(image, project.render(size=(96, 64), time=4 / 60))
        assert project.render((32, 16), alpha=True, view="top").shape == (16, 32, 4)
        assert project._repr_png_().startswith(b"\x89PNG")
        assert project.steps == 4


def test_wrong_numbers_are_refused_and_disable_nothing(flag: Path, tmp_path: Path) -> None:
    with sinew.open(flag) as project:
        strands = project.add("hair", "Bare")
        refused = {
            "steps = -1": (lambda: project.simulate(-1), lambda: project.record(-1), lambda: project.bake(-1)),
            "count = -1": (lambda: project.step(-1),),
            "every = 0": (lambda: project.record(4, 0),),
            "'0x8' is not WxH": (lambda: project.render((0, 8)),),
            "samples = 0": (lambda: project.render((8, 8), samples=0),),
            "time = (nan|inf)": (lambda: project.render((8, 8), time=np.nan), lambda: project.render(time=np.inf)),
            "rate = nan": (lambda: project.export(tmp_path / "a.glb", rate=np.nan),),
            "need a number": (lambda: project.export(tmp_path / "a.png", frames=(0, 1)),),
            "'2:1' ends before it starts": (lambda: project.export(tmp_path / "a.glb", frames=(2, 1)),),
        }
        for text, calls in refused.items():
            for call in calls:
                with pytest.raises(ValueError, match=text):
                    call()
        with pytest.raises(LookupError, match="no view 'upwards'; there are: back"):
            project.render((8, 8), view="upwards")
        assert list(tmp_path.iterdir()) == []
        project.simulate(1)
        assert (strands.measures(), strands.arrays()) == ({}, {})
        assert project.nodes["Cape"].measures()["strain"] >= 0.0
        assert project.render((8, 8)).shape == (8, 8, 3)


def test_keywords_are_the_options_of_jobs(flag: Path, tmp_path: Path) -> None:
    names = [*inspect.signature(sinew.Project.render).parameters]
    assert names == ["self", "size", "time", "camera", "view", "alpha", "samples"]
    assert {"rate", "size", "camera", "view", "alpha", "samples", "nodes", "children"} < {
        *inspect.signature(sinew.Project.export).parameters
    }
    assert "    samples: Images that are averaged" in inspect.getdoc(sinew.Project.render)
    with sinew.open(flag) as project:
        with pytest.raises(TypeError, match=r"render\(\) has no argument 'colour'; there are: size, "):
            project.render(colour=1)
        with pytest.raises(sinew.CommandError, match="no node 'Capes'"):
            project.export(tmp_path / "a.glb", frames=(0, 0), nodes="Capes")
        project.export(tmp_path / "a.webp", frames=(0, 1), size=(32, 24), alpha=True)
        with Image.open(tmp_path / "a.webp") as image:
            assert image.mode == "RGBA"


def test_two_projects_are_open_at_once(flag: Path) -> None:
    with sinew.open(flag) as one, sinew.open(flag) as other:
        one.simulate(steps=2)
        other.nodes["Cape"].gravity = (0, -5, 0)
        other.simulate(steps=3)
        assert (one.steps, other.steps) == (2, 3)
        assert (one.nodes["Cape"].arrays()["positions"] != other.nodes["Cape"].arrays()["positions"]).any()
    gc.collect()


def test_a_model_is_a_project_and_steps_are_baked(flag: Path, tmp_path: Path) -> None:
    with sinew.open(resources.path("models") / "arm" / "arm.ezm") as project:
        assert project.render((64, 48), view="front").std() > 1.0
        project.export(tmp_path / "arm.glb", frames=range(3), rate=30)
        project.export(tmp_path / "text.gif", frames="0:1", size=(32, 24), rate=10)
        project.export(tmp_path / "clip.glb", rate=10)
        with pytest.raises(ValueError, match="'5:2' ends before it starts"):
            project.export(tmp_path / "arm.glb", frames=(5, 2))
    with sinew.open(flag) as project:
        project.save(tmp_path / "baked.sinew")
        project.bake(steps=4)
    assert (tmp_path / "arm.glb").stat().st_size > 1000
    assert main(["verify", str(tmp_path / "baked.sinew")]) == 0


@pytest.mark.slow
def test_the_example_of_a_sweep_runs(flag: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (EXAMPLES / "sweep.py").read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if line and not line.startswith(('"""', "import"))]) <= 10
    assert main(["run", str(EXAMPLES / "sweep.py"), str(flag)]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[:2] for row in rows] == [[n, k] for n in ("60", "90") for k in ("100", "150", "200")]


def test_the_examples_run(flag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(EXAMPLES / "live_edit.py"), str(flag)]) == 0
    assert capsys.readouterr().out.startswith("step 40: a particle has moved by ")
    assert main(["run", str(EXAMPLES / "animation.py"), str(flag), str(tmp_path)]) == 0
    with Image.open(tmp_path / "animation.gif") as images:
        assert (images.size, images.n_frames) == ((160, 120), 16)
    assert (tmp_path / "animation.glb").read_bytes()[:4] == b"glTF"


def test_steps_go_on_after_an_image(flag: Path) -> None:
    with sinew.open(flag) as project:
        plain = project.record(steps=12, every=4)["Cape.positions"]
    with sinew.open(flag) as project:
        found = []
        for _ in range(3):
            project.step(4)
            project.render((32, 24))
            found.append(project.nodes["Cape"].arrays()["positions"])
        np.testing.assert_array_equal(found, plain[1:])
        project.simulate(steps=8)
        np.testing.assert_array_equal(project.nodes["Cape"].arrays()["positions"], plain[2])


def test_an_unfinished_framebuffer_is_an_error_and_no_frozen_state() -> None:
    try:
        context = Context.headless()
    except GLError as error:
        pytest.skip(f"no OpenGL here: {error}")
    with context:
        engine = Engine(context)
        engine.apply(Scene(nodes=(KINDS["emitter"].new_node("sparks"),)))
        engine.step(STEP_TIME)
        GL.glFramebufferRenderbuffer(GL.GL_FRAMEBUFFER, GL.GL_COLOR_ATTACHMENT0, GL.GL_RENDERBUFFER, 0)
        for work in (engine.step, engine.advance, engine.refresh, engine.teleport, engine.restart):
            with pytest.raises(GLError, match=r"default framebuffer .* is incomplete: status 0x8cd7"):
                work(2.0 * STEP_TIME)
        with pytest.raises(GLError, match="is incomplete"):
            engine.apply(Scene())
        engine.release()


def test_the_examples_of_the_guide_run(flag: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def added(self: Project, kind: str, name: str = "", **values: object) -> ProjectNode:
        node = add(self, kind, name, **values)
        unused = KINDS[kind].part(Form).idle(self.document.scene.by_id[node.id])
        assert not unused & values.keys(), f"the guide sets what {kind} {name} does not use"
        return node

    add = Project.add
    monkeypatch.setattr(Project, "add", added)
    page = (resources.path("guide") / "python.md").read_text(encoding="utf-8")
    names: dict[str, object] = {"PROJECT": flag, "FOLDER": tmp_path}
    for block in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL):
        exec(block, names)
    assert np.shape(names["positions"]) == (64, 3)
    assert np.shape(names["heights"]) == (3, 64)
    assert np.shape(names["image"]) == (120, 160, 3)
    assert {path.suffix for path in tmp_path.iterdir()} == {".gif", ".glb", ".sinew", ".sinewcache"}


@pytest.mark.slow
def test_the_cells_of_the_notebook_run(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = json.loads((EXAMPLES / "notebook.ipynb").read_text(encoding="utf-8"))["cells"]
    names: dict[str, object] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    heights = names["heights"]
    assert isinstance(heights, dict)
    assert list(heights) == [100, 200]
    assert np.shape(names["speed"]) == (4,)
