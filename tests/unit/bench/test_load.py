"""The load benchmark measures what it says it does."""

from pathlib import Path

from sinew.sim.assets.load import load_model
from sinew.sim.bench.load import baseline, load_cases, synthetic_character, write_synthetic_glb
from sinew.sim.bench.runner import rows_of
from sinew.sim.export.ezm import write_ezm


def test_rows() -> None:
    rows = rows_of("load", 1, (200, 300))
    assert [(row.variant, row.size) for row in rows] == [
        ("lxml + numpy", 200), ("load_model", 200), ("load_model, glTF", 200),
        ("lxml + numpy", 300), ("load_model", 300), ("load_model, glTF", 300),
    ]  # fmt: skip
    assert all(row.ms_per_step_min > 0.0 for row in rows)


def test_both_ways_read_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "model.ezm"
    write_ezm(synthetic_character(150), path)
    model = load_model(path)
    assert model.skin is not None
    assert model.skeleton is not None
    poses = len(model.clips[0].key_times) * model.skeleton.joint_count
    assert baseline(path) == 150 * 16 + 3 * model.mesh.triangle_count + 10 * poses
    assert [case.variant for case in load_cases(path, 150)] == ["lxml + numpy", "load_model"]


def test_a_synthetic_glb_holds_the_whole_character_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "model.glb"
    raw = synthetic_character(500, joints=7, frames=4)
    write_synthetic_glb(raw, path, 9)
    model = load_model(path)
    assert model.mesh.triangle_count == len(raw.meshes[0].sections[0].triangles)
    assert model.mesh.vertex_count > 500
    assert model.skeleton is not None
    assert (model.skeleton.joint_count, len(model.clips[0].key_times)) == (8, 4)
