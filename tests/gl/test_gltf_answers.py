"""glTF models as they are posed, on the GPU and in double precision, stand where another program has them."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from app.cli.main import main
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
