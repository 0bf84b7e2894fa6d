import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from sinew.app.cli.main import main
from sinew.sim.bench import hair, particles, runner, skin
from sinew.sim.bench.runner import rows_of
from sinew.sim.bench.skinning import (
    JOINTS,
    gpu_cases,
    numpy_cases,
    random_pose,
    synthetic_mesh,
    synthetic_skin,
)
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.characters.skinning import SkinnedMesh
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.collider.fit import fit_colliders


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """With small images and few colliders."""
    monkeypatch.setattr(skin, "SETTLED", 2)
    monkeypatch.setattr(skin, "fit_colliders", partial(fit_colliders, count_max=3))
    monkeypatch.setattr(hair, "IMAGE", (48, 32))
    monkeypatch.setattr(particles, "IMAGE", (48, 32))
    duration = runner._duration
    monkeypatch.setattr(runner, "_duration", lambda case: duration(replace(case, steps=min(case.steps, 2))))


def test_reports_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = tmp_path / "old.json"
    assert main(["bench", "skinning", "--sizes", "7,9", "--repeat", "1", "--json", str(old)]) == 0
    content = json.loads(old.read_text(encoding="utf-8"))
    for row in content["rows"]:
        row["ms_per_step_min"] *= 1e6
    content["cpu"] = "another"
    old.write_text(json.dumps(content), encoding="utf-8")
    capsys.readouterr()
    assert main(["bench", "skinning", "--sizes", "7", "--repeat", "1", "--compare", str(old)]) == 0
    out, err = capsys.readouterr()
    lines = out[out.index("compared with") :].splitlines()
    assert lines[1].startswith("system")
    assert [line.split()[-2] for line in lines[2:7]] == ["0.00"] * 5
    assert sum("only old" in line for line in lines) == 5
    assert "warning: cpu is " in err
    assert "was 'another'" in err
    old.write_text("{}", encoding="utf-8")
    assert main(["bench", "skinning", "--compare", str(old)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"sinew: {old}: not a report of a benchmark: rows is missing\n"


def test_numpy_and_gpu_skin_alike(context: Context, library: ShaderLibrary) -> None:
    random = np.random.default_rng(1)
    mesh, skin = synthetic_mesh(3000, random), synthetic_skin(3000, random)
    pose = random_pose(random)
    skinned = SkinnedMesh(context, library, mesh, skin)
    linear = next(case for case in gpu_cases(context, skinned, [pose]) if case.variant.endswith(" lbs"))
    linear.step()
    for case in numpy_cases(mesh, skin, pose):
        np.testing.assert_allclose(skinned.read()["position"], case.step(), atol=1e-4)
    assert len(pose.palette) == JOINTS


METHODS = [method.value for method in SkinningMethod]
ROWS = {
    "skinning": {"skinning": (
        "vertices", ["numpy einsum", "numpy einsum, two steps", *(f"transform feedback {m}" for m in METHODS)]
    )},
    "cloth": {
        "cloth": ("particles", ["without collisions", "with an ellipsoid and a floor"]),
        "cloth self-collision": ("particles", ["solver", "with self-collision"]),
        "cloth lines": ("particles", ["springs", "lines"]),
        "garment lines": ("particles", ["springs", "lines"]),
        "cloth on cloth": ("particles", ["solver", "with contact"]),
    },
    "hair": {
        "hair": ("strands", [
            "springs", "rod", "rod with the head", "rod with all", "rod with loads", "rod with exact rest",
            "springs of 6 knots", "layers",
        ]),
        "images of hair": ("strands", [
            "drawn", "drawn without self-shadow", "drawn with soft tips", "fur of ten times as many",
            "the same as shells", "drawn with 16 samples",
        ]),
    },
    "particles": {
        "particles": ("particles", ["steady stream", "always full", "all features"]),
        "images of particles": ("particles", ["spots", "streaks", "spots in a draft"]),
    },
    "colliders": {"colliders": ("substeps", ["fitted colliders", "skin"])},
}  # fmt: skip
SIZES = {"skinning": (40, 60), "cloth": (144,), "hair": (60,), "particles": (700,), "colliders": (4,)}


@pytest.mark.parametrize("system", ROWS)
def test_a_system_has_its_rows_at_every_size(system):
    rows = rows_of(system, 1, SIZES[system])
    assert [(row.size, row.system, row.unit, row.variant) for row in rows] == [
        (size, name, unit, variant)
        for size in SIZES[system]
        for name, (unit, variants) in ROWS[system].items()
        for variant in variants
    ]
    assert all(row.elements_per_second > 0.0 for row in rows)


@pytest.mark.parametrize("system", ["skinning", "particles"])
def test_no_repetitions_are_refused(system):
    with pytest.raises(ValueError, match="repeat"):
        rows_of(system, 0, (10,))


def test_back_ends_are_compared():
    rows = rows_of("back-ends", 1, (500,))
    systems = ["cloth", "hair", "emitter", "skinning lbs", "skinning dqs"]
    with Context.headless() as context:
        ways = ["transform feedback", "compute"][: 1 + context.back_ends.has_compute]
    assert [(row.system, row.variant) for row in rows] == [(f"back ends: {n}", way) for n in systems for way in ways]


def test_table_and_json_have_the_same_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "bench.json"
    assert main(["bench", "skinning", "hair", "--sizes", "40,60", "--repeat", "2", "--json", str(output)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    content = json.loads(output.read_text(encoding="utf-8"))
    assert set(content) == {"renderer", "gl_version", "timer_source", "cpu", "rows"}
    assert all(isinstance(content[key], str) and content[key] for key in ("renderer", "gl_version", "cpu"))
    assert {(row["system"], row["size"]) for row in content["rows"]} == {
        (name, size) for name in ("skinning", "hair", "images of hair") for size in (40, 60)
    }  # fmt: skip
    required = {
        "system", "variant", "size", "unit", "steps", "ms_per_step_min", "ms_per_step_median", "ms_per_step_max",
        "elements_per_second",
    }  # fmt: skip
    for row in content["rows"]:
        assert required <= set(row)
        assert 0.0 < row["ms_per_step_min"] <= row["ms_per_step_median"] <= row["ms_per_step_max"]
        assert row["elements_per_second"] == pytest.approx(row["size"] / row["ms_per_step_min"] * 1e3)
    lines = out.splitlines()
    assert lines[0] == f"renderer: {content['renderer']}"
    assert sum(line.startswith(("skinning ", "hair ", "images of hair ")) for line in lines) == len(content["rows"])
