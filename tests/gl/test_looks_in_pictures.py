"""`sinew render` shows materials as a project has them."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sinew import resources
from sinew.app.cli.main import main
from sinew.app.files.project_file import save_project
from sinew.sim.characters.settings import MaterialLook, ModelSettings
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.view_state import ViewState


def test_pictures_show_the_looks_of_a_project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
