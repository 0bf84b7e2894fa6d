"""What the shipped projects compile passes the reference compiler as version 330 core; drivers take more than that."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from sinew.app.cli.renderer import Renderer
from sinew.app.cli.scene import opened
from sinew.sim.gl.context import Context
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.params import params_of, validated
from sinew.sim.scene.view import DisplayMode, SkinningComparison, ViewSettings
from tests.strict_shaders import VALIDATOR, Compiled, complaints

pytestmark = pytest.mark.skipif(VALIDATOR is None, reason="glslangValidator is not installed")

GOOD = "#version 330 core\nvoid main() { gl_Position = vec4(0.0); }\n"
CONTINUED = "#version 330 core\n#define ZERO \\\n    vec4(0.0)\nvoid main() { gl_Position = ZERO; }\n"
NEWER = "#version 330 core\nvoid main() { gl_Position = vec4(fma(1.0, 2.0, 3.0)); }\n"


@pytest.mark.parametrize(("text", "reason"), [(CONTINUED, "line continuation"), (NEWER, "fma")])
def test_what_drivers_let_pass_is_refused_by_name(text: str, reason: str, tmp_path: Path) -> None:
    reported = complaints({("vertex", GOOD): "good.vert", ("vertex", text): "bad.vert"}, tmp_path)
    assert reported
    assert all(line.startswith("bad.vert") for line in reported)
    assert reason in reported[0]


def looks(view: ViewSettings) -> list[ViewSettings]:
    """Every display mode with all overlays, every comparison, and without smoothed edges."""
    overlays = dict.fromkeys((record.name for record in params_of(ViewSettings) if record.type is bool), True)
    modes = [validated(view, **overlays, display=mode) for mode in DisplayMode]
    return [*modes, *(validated(view, comparison=one) for one in SkinningComparison), validated(view, samples=0)]


@pytest.mark.parametrize("name", ["arm", "cloth-on-ellipsoid", "fountain", "sparks"])
def test_shipped_projects_compile_strictly(
    name: str, context: Context, repo_root: Path, strict_shaders: Compiled, tmp_path: Path
) -> None:
    project = opened(repo_root / "resources" / "projects" / f"{name}.sinew")
    for view in looks(project.scene.view):
        scene = replace(project, scene=msgspec.structs.replace(project.scene, view=view))
        renderer = Renderer(context, scene, (64, 48))
        renderer.picture([0.1], Camera())
        renderer.release()
    assert strict_shaders.texts
    assert complaints(strict_shaders.texts, tmp_path) == []
