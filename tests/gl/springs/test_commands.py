"""Spring bones on the command line: arrays, bakes, pictures, and the joints of exported files."""

import shutil
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image

from sinew import resources
from sinew.app.cli.main import main
from sinew.app.project.project_file import ProjectError, load_project, save_project
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import Interpolation
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.springs.settings import SpringBoneSettings
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.view_state import ViewState

FOX = resources.path("models") / "fox" / "fox.ezm"
TAIL = SpringBoneSettings(roots="tail_1", stiffness=0.2, gravity=1.0)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "fox.sinew"
    save(path)
    return path


def save(path: Path, *more: Node) -> None:
    folder = path.parent / "fox"
    if not folder.exists():
        shutil.copytree(FOX.parent, folder)
    fox = Node(id="f", name="Fox", settings=ModelSettings(path=str(folder / FOX.name), clip="trot"))
    springs = Node(id="s", name="Tail", attachment=Attachment(node="f"), settings=TAIL)
    save_project(path, Scene(nodes=(fox, *(more or (springs,)))), ViewState(camera=Camera(distance=2.5)))


def test_arrays_bakes_and_pictures(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for options in ((), ("--cache",), ("--cache",)):
        assert main(["simulate", str(project), "--steps", "20", "--output", str(tmp_path / "a.npz"), *options]) == 0
        with np.load(tmp_path / "a.npz") as arrays:
            found.append({name: arrays[name] for name in arrays.files if name.startswith("Tail.")})
    assert found[0]["Tail.turns"].shape[1:] == (found[0]["Tail.tips"].shape[1], 4)
    assert len(found[0]["Tail.tips"]) == 21
    assert np.abs(found[0]["Tail.turns"][-1, :, 3]).min() < 0.999
    assert all(one[name].tobytes() == array.tobytes() for one in found for name, array in found[0].items())
    assert main(["verify", str(project)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 node, 20 steps, bit-identical"
    pictures = []
    for muted in (False, True):
        node = Node(id="s", name="Tail", attachment=Attachment(node="f"), settings=TAIL, muted=muted)
        save(project, node)
        assert main(["render", str(project), "--frames", "30", "--output", str(tmp_path / "a.png")]) == 0
        (path,) = tmp_path.glob("a*.png")
        pictures.append(np.asarray(Image.open(path)).astype(int))
        path.unlink()
    assert np.abs(pictures[0] - pictures[1]).max() > 60


def test_exported_joints_have_the_turns(project: Path, tmp_path: Path) -> None:
    for name, nodes in (("with", ()), ("without", (Node(id="s", settings=SpringBoneSettings()),))):
        save(tmp_path / f"{name}.sinew", *nodes)
        target = tmp_path / f"{name}.glb"
        assert main(["export", str(tmp_path / f"{name}.sinew"), "--frames", "0:31", "--output", str(target)]) == 0
    ends = []
    for name in ("with", "without"):
        model = load_model(tmp_path / f"{name}.glb")
        assert model.skeleton is not None
        tail = model.skeleton.index("tail_2")
        ends.append(model.clips[0].sample(0.5, Interpolation.LINEAR).orientations[tail])
    assert abs(float(ends[0] @ ends[1])) < 0.999


def test_damaged_settings_are_refused_with_their_name(project: Path) -> None:
    text = project.read_text()
    for damage, reason in (
        (('"drag": 0.4', '"drag": 1.4'), "drag"),
        (('"substeps": 1', '"substeps": 0'), "substeps"),
        (('"roots": "tail_1"', '"roots": 7'), "roots"),
        (('"stiffness_curve": [', '"stiffness_curve": [[2.0, 1.0], '), "stiffness_curve"),
        (('"direction": [0.0, -1.0, 0.0]', '"direction": [0.0, -1.0]'), "direction"),
    ):
        assert damage[0] in text, damage
        project.write_text(text.replace(*damage))
        with pytest.raises(ProjectError, match=reason):
            load_project(project)
    project.write_text(text.replace('"roots": "tail_1"', '"roots": "; gone;; tail_1;tail_1"'))
    assert main(["simulate", str(project), "--steps", "2", "--output", str(project.with_suffix(".npz"))]) == 0


def test_every_setting_survives_a_file(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(
        TAIL, from_file=True, end_bones="a; b", center="hips", drag_curve=((0.0, 1.0), (0.5, 0.25), (1.0, 0.0))
    )
    scene = Scene(nodes=(Node(id="s", name="Springs", settings=settings),))
    save_project(tmp_path / "a.sinew", scene, ViewState())
    assert load_project(tmp_path / "a.sinew").scene == scene
