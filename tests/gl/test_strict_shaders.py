"""What the shipped projects compile passes the reference compiler as version 330 core; drivers take more than that."""

from pathlib import Path

import pytest

from tests.strict_shaders import VALIDATOR, complaints

pytestmark = pytest.mark.skipif(VALIDATOR is None, reason="glslangValidator is not installed")

GOOD = "#version 330 core\nvoid main() { gl_Position = vec4(0.0); }\n"
CONTINUED = "#version 330 core\n#define ZERO \\\n    vec4(0.0)\nvoid main() { gl_Position = ZERO; }\n"
NEWER = "#version 330 core\nvoid main() { gl_Position = vec4(fma(1.0, 2.0, 3.0)); }\n"


@pytest.mark.parametrize(("text", "reason"), [(CONTINUED, "line continuation"), (NEWER, "fma")])
def test_newer_glsl_is_refused(text: str, reason: str, tmp_path: Path) -> None:
    reported = complaints({("vertex", GOOD): "good.vert", ("vertex", text): "bad.vert"}, tmp_path)
    assert reported
    assert all(line.startswith("bad.vert") for line in reported)
    assert reason in reported[0]
