"""`sinew export` without a display."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest

from sinew import resources
from sinew.app.cli.main import main
from sinew.sim.assets.load import load_model
from tests.frame_samples import write_all
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


def test_what_the_format_has_no_place_for_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "model.gltf"
    material = {"normalTexture": {"index": 0}}
    image = {"uri": "data:image/png;base64,AAAA", "name": "broken"}
    part = {"attributes": {"POSITION": 0}, "material": 0}
    view = {"buffer": 0, "byteLength": 36}
    document = {
        "asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}], "materials": [material],
        "meshes": [{"primitives": [part]}], "images": [image], "textures": [{"source": 0}], "bufferViews": [view],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "buffers": [{"byteLength": 36, "uri": "data:;base64," + base64.b64encode(np.eye(3, dtype="<f4")).decode()}],
    }  # fmt: skip
    source.write_text(json.dumps(document))
    frames = write_all(tmp_path)["md2"]
    for path, name, expected in (
        (source, "a.glb", ["left out: image broken: is not an image of a known format"]),
        (frames, "a.ezm", ["morph targets", "clips of key frames or curves", "colours and images of materials"]),
    ):
        assert main(["export", str(path), "--output", str(tmp_path / name)]) == 0
        err = capsys.readouterr().err
        assert all(line in err for line in expected)
        assert err.count("left out") + err.count("cannot store") == len(expected)
