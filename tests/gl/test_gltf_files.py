"""Every glTF file at hand is drawn, and drawn the same after it was exported and read again."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sinew.app.cli.main import main
from sinew.sim.assets.load import load_model
from sinew.sim.assets.raw import ModelError

SIZE = "160x160"
VISIBLE = 8
"""Difference of a colour, of 255, from which on it is seen."""


def drawn(path: Path, frame: int, output: Path) -> np.ndarray:
    """The picture of a frame, shape (H, W, 3)."""
    assert main(["render", str(path), "--frames", str(frame), "--size", SIZE, "--output", str(output)]) == 0
    return np.asarray(Image.open(output).convert("RGB")).astype(int)


@pytest.mark.campaign
def test_every_file_is_drawn_the_same_after_a_round_trip(assets: Path, tmp_path: Path) -> None:
    files = sorted(path for path in (assets / "gltf").rglob("*") if path.suffix in (".gltf", ".glb"))
    assert files
    for path in files:
        try:
            model = load_model(path)
        except ModelError as error:
            if "needs the package" not in str(error):
                raise
            continue
        again = tmp_path / "again.glb"
        assert main(["export", str(path), "--output", str(again)]) == 0
        last = len(model.clips[0].frame_times) - 1 if model.clips else 0
        for frame in {0, last // 3}:
            first, second = (drawn(one, frame, tmp_path / "picture.png") for one in (path, again))
            assert np.ptp(first.reshape(-1, 3), axis=0).max() > 40, f"{path.name} shows nothing"
            assert np.abs(first - second).max() < VISIBLE, path.name
        again.unlink()
