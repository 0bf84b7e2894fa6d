"""`sinew export` without a display."""

from pathlib import Path

import pytest

import resources
from app.cli.main import main
from sim.assets.load import load_model
from tests.gltf_rules import Checked


def test_a_model_is_written_with_its_clips(tmp_path: Path) -> None:
    target = tmp_path / "arm.glb"
    assert main(["export", str(resources.path("models/arm/arm.ezm")), "--output", str(target)]) == 0
    Checked(target.read_bytes())
    assert [clip.name for clip in load_model(target).clips] == ["twist", "bend"]


def test_failures_are_one_line_and_leave_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(tmp_path / "none.ezm"), "--output", str(tmp_path / "x.glb")]) == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["export", str(tmp_path / "none.ezm"), "--output", str(tmp_path / "x.png")]) == 2
    assert list(tmp_path.iterdir()) == []
