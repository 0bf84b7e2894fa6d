from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from sinew.shaders import ROOT
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.record import record
from sinew.sim.gl.vertex_array import Stream, VertexArray
from tests.gl.shader_files import make_library

CASE = record("Case", light=(4, "f4"), eye=(4, "f4"))
ANSWER = record(
    "Answer", place=(3, "f4"), even="f4", along=(3, "f4"), mirrored="f4", lobes=(3, "f4"), spare="f4"
)  # fmt: skip
KNOTS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 1.0, 0.0], [3.0, 1.0, 0.0]])


def scattered(context: Context, tmp_path: Path, light: npt.ArrayLike, eye: npt.ArrayLike, colour: float) -> np.ndarray:
    """What the shipped functions say of a strand along x, for directions (N, 3)."""
    files = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("hair/curve.glsl", "hair/scatter.glsl")}
    files["probe.glsl"] = (Path(__file__).parent / "shading_probe.glsl").read_text(encoding="utf-8")
    kernel = Kernel(make_library(context, tmp_path, files), "probe.glsl", ANSWER, inputs=[CASE])
    lights, eyes = np.atleast_2d(light), np.atleast_2d(eye)
    cases = CASE.zeros(len(lights))
    cases["light"][:, :3], cases["eye"][:, :3] = lights, eyes
    target = Buffer(context, ANSWER.zeros(len(lights)))
    array = VertexArray(context, [Stream(Buffer(context, cases))])
    kernel.run(array, target, len(lights), u_knots=KNOTS, u_colour=(colour,) * 3)
    return target.read()


def test_the_curve_passes_through_its_knots(context: Context, tmp_path: Path) -> None:
    (found,) = scattered(context, tmp_path, (0.0, 1.0, 0.0), (0.0, 1.0, 0.0), 0.0)
    np.testing.assert_allclose(found["place"], [1.5, 0.5, 0.0], atol=1e-6)
    np.testing.assert_allclose(found["along"], [1.0, 1.25, 0.0], atol=1e-6)


def test_kajiya_kay_reflects_into_the_cone(context: Context, tmp_path: Path) -> None:
    (found,) = scattered(context, tmp_path, (0.6, 0.8, 0.0), (-0.6, 0.8, 0.0), 0.0)
    assert found["even"] == pytest.approx(0.8, abs=1e-6)
    assert found["mirrored"] == pytest.approx(1.0, abs=1e-5)


def test_the_lobes_have_their_published_heights_and_tilts(context: Context, tmp_path: Path) -> None:
    """A black strand mirrors at its surface only; what a white one adds towards the light was mirrored within."""
    (across,) = scattered(context, tmp_path, (0.0, 1.0, 0.0), (0.0, 1.0, 0.0), 0.0)
    np.testing.assert_allclose(across["lobes"], 0.03808, rtol=2e-4)
    sines = np.linspace(-0.2, 0.2, 801)
    towards = np.stack([sines, np.sqrt(1.0 - sines**2), np.zeros_like(sines)], axis=1)
    light = np.tile((0.0, 1.0, 0.0), (len(sines), 1))
    surface = scattered(context, tmp_path, light, towards, 0.0)["lobes"][:, 0].astype(np.float64)
    within = scattered(context, tmp_path, light, towards, 1.0)["lobes"][:, 0] - surface
    assert sines[np.argmax(surface)] == pytest.approx(-0.070, abs=1e-3)
    assert sines[np.argmax(within)] == pytest.approx(0.141, abs=3e-3)
