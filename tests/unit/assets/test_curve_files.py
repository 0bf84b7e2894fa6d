"""Curves of USD and Alembic files as strands."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from sinew.app.cli.main import main
from sinew.app.project.project_file import save_project
from sinew.sim.assets.raw import ModelError
from sinew.sim.assets.strands import load_strands
from sinew.sim.kinds.hair.settings import HairSettings, HairSource
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.view_state import ViewState
from tests.conftest import slow
from tests.strand_samples import arcs, hair_bytes

CONTROLS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 1.0], [2.0, 0.5, 1.0], [3.0, 2.0, 0.0]])

USD = """#usda 1.0
( upAxis = "Z"
metersPerUnit = 0.01 )
def Xform "Top"
{{
    double3 xformOp:translate = (10, 0, 0)
    float3 xformOp:scale = (2, 2, 2)
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
    def BasisCurves "Hair"
    {{
        uniform token type = "{type}"
        uniform token basis = "{basis}"
        int[] curveVertexCounts = [{counts}]
        point3f[] points = [{points}]
        float[] widths = [0.1, 0.2, 0.3, 0.4]
    }}
}}
"""


def written(path: Path, type: str = "linear", basis: str = "bezier", counts: str = "4") -> Path:
    points = ", ".join(str(tuple(point)) for point in CONTROLS.tolist())
    path.write_text(USD.format(type=type, basis=basis, counts=counts, points=points))
    return path


@pytest.mark.parametrize(
    ("kind", "basis", "points"),
    [
        ("linear", "bezier", CONTROLS),
        slow("cubic", "bezier", CONTROLS[[0, 3]]),
        slow("cubic", "catmullRom", CONTROLS[[1, 2]]),
        ("cubic", "bspline", [(CONTROLS[:3].T @ [1, 4, 1]) / 6.0, (CONTROLS[1:].T @ [1, 4, 1]) / 6.0]),
    ],
)
def test_points_lie_on_the_curves_of_usd_in_metres_and_in_the_world(kind, basis, points, tmp_path: Path) -> None:
    pytest.importorskip("pxr")
    found = load_strands(written(tmp_path / "a.usda", kind, basis))
    np.testing.assert_allclose(found.points, 0.01 * (2.0 * np.array(points) + (10.0, 0.0, 0.0)), atol=1e-7)
    assert found.is_z_up
    assert found.unit == 1.0
    assert found.starts.tolist() == [0, len(points)]
    if kind == "linear":
        np.testing.assert_allclose(found.thickness, 0.02 * np.array([0.1, 0.2, 0.3, 0.4]), rtol=1e-6)


def test_faults_are_one_line(tmp_path: Path) -> None:
    pytest.importorskip("pxr")
    with pytest.raises(ModelError, match=r"a\.usda: .*/Top/Hair: has 4 points, its curves need 5"):
        load_strands(written(tmp_path / "a.usda", counts="2, 3"))
    (tmp_path / "b.usda").write_text('#usda 1.0\ndef Xform "A"\n{\n}\n')
    with pytest.raises(ModelError, match="has no curves"):
        load_strands(tmp_path / "b.usda")
    (tmp_path / "c.usda").write_text("#usda 1.0\ndef {")
    with pytest.raises(ModelError, match="damaged"):
        load_strands(tmp_path / "c.usda")


@pytest.mark.parametrize(("suffix", "module"), [("usdc", "pxr"), ("abc", "alembic3d")])
def test_exported_hair_is_read_as_hair(suffix: str, module: str, tmp_path: Path) -> None:
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"needs {module}")
    lines = arcs(5, 9)
    (tmp_path / "a.hair").write_bytes(hair_bytes(lines / (0.1 * 0.0254)))  # z up, in units of 0.1 inch
    look = HairSettings(source=HairSource.FILE, file="a.hair", noise=0.0, clump=0.0, curl_radius=0.0, knots=9)
    project = tmp_path / "a.sinew"
    save_project(project, Scene(nodes=(Node(id="h", name="Hair", settings=look),)), ViewState())
    output = tmp_path / f"out.{suffix}"
    assert main(["export", str(project), "--output", str(output), "--frames", "0"]) == 0
    found = load_strands(output)
    assert len(found.starts) == 6
    turned = np.stack([lines[..., 0], lines[..., 2], -lines[..., 1]], axis=2)
    np.testing.assert_allclose(found.points[found.starts[:-1]], turned[:, 0], atol=1e-5)
    ends = found.points[found.starts[1:] - 1]
    assert np.isfinite(ends).all()
    lengths = [
        np.linalg.norm(np.diff(found.points[a:b], axis=0), axis=1).sum()
        for a, b in zip(found.starts[:-1], found.starts[1:], strict=True)
    ]
    np.testing.assert_allclose(lengths, np.linalg.norm(np.diff(lines, axis=1), axis=2).sum(axis=1), rtol=2e-2)
    assert found.thickness is not None
