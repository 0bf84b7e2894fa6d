"""glTF models as they are posed, on the GPU and in double precision, stand where another program has them."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from sinew.app.cli.main import main
from tests.gltf_answers import ANSWERS, Answer


@pytest.mark.parametrize("backend", ["gpu", "reference"])
@pytest.mark.parametrize("answer", ANSWERS, ids=str)
def test_known_answers(answer: Answer, backend: str, assets: Path, tmp_path: Path) -> None:
    if answer.package is not None and importlib.util.find_spec(answer.package) is None:
        pytest.skip(f"needs the package {answer.package}")
    output, file = tmp_path / "pose.npz", assets / "gltf" / answer.file
    assert main(["pose", str(file), *answer.options(), "--backend", backend, "--output", str(output)]) == 0
    with np.load(output) as arrays:
        answer.check(arrays["positions"])
        bones, palette = arrays["palette_bones"], arrays["palette"]
        assert bones.dtype == np.int32
        assert len(bones) == len(palette)
        assert bones.max() < len(arrays["bone_names"])


@pytest.mark.parametrize("backend", ["gpu", "reference"])
def test_clips_of_different_parts_together(backend: str, assets: Path, tmp_path: Path) -> None:
    """Each of the nine clips moves a cube of its own: one after the other they give what all give at once."""
    file = assets / "gltf/InterpolationTest/glTF-Binary/InterpolationTest.glb"

    def posed(*options: str) -> np.ndarray:
        output = tmp_path / "pose.npz"
        assert main(["pose", str(file), *options, "--backend", backend, "--output", str(output)]) == 0
        with np.load(output) as arrays:
            return arrays["positions"].astype(np.float64)

    rest = posed()
    together, moved = rest.copy(), np.zeros(len(rest), bool)
    for clip in range(9):
        found = posed("--clip", str(clip), "--time", "0.6")
        part = np.abs(found - rest).max(axis=1) > 1e-6
        assert part.any()
        assert not (part & moved).any()
        together[part], moved = found[part], moved | part
    Answer(file.name, (-4.6564, -2.15946, -1.0), (4.7033, 11.0, 1.00367)).check(together)
