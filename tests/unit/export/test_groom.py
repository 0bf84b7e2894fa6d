"""Grooms are read back by the library, with the types, scopes and values of Epic's specification."""

from pathlib import Path

import numpy as np
import pytest

from sinew.sim.export.formats import SCENE_FORMATS, AlembicOptions, AlembicPurpose, ExportError, GroomFrames
from sinew.sim.export.scene.recording import SceneRecording, Track
from sinew.sim.export.scene.writing import write_scene
from tests.conftest import slow

alembic3d = pytest.importorskip("alembic3d")
KNOTS, FRAMES = 5, 3
EVERY = AlembicOptions(purpose=AlembicPurpose.GROOM, groom_frames=GroomFrames.STRANDS)


def strands(name: str, count: int, seed: int, **more) -> Track:
    random = np.random.default_rng(seed)
    roots = random.uniform(-1.0, 1.0, (1, count, 1, 3)) + np.array((5.0, 1.0, -2.0))
    steps = random.normal(0.0, 0.03, (FRAMES, count, KNOTS, 3)) + np.array((0.0, 0.05, 0.0))
    steps[:, :, 0] = 0.0
    positions = (roots + np.cumsum(steps, axis=2)).reshape(FRAMES, -1, 3).astype(np.float32)
    return Track(
        name=name, positions=positions, counts=np.full(count, KNOTS, np.int32),
        texcoords=random.random((count, 2)).astype(np.float32),
        widths=random.uniform(1e-4, 2e-4, (1, count * KNOTS)).astype(np.float32),
        colours=random.random((1, count * KNOTS, 4)).astype(np.float32), **more,
    )  # fmt: skip


def hair(name: str, guides: int, count: int, seed: int) -> tuple[Track, Track]:
    random = np.random.default_rng(seed + 100)
    closest = np.stack([random.permutation(guides)[:3] for _ in range(count)]).astype(np.int32)
    shares = random.uniform(0.1, 1.0, (count, 3)).astype(np.float32)
    links = {"guides": name, "closest": closest, "shares": shares}
    return strands(name, guides, seed), strands(f"{name} strands", count, seed + 1, **links)


def written(recording: SceneRecording, path: Path, options: AlembicOptions = EVERY) -> list[str]:
    warned: list[str] = []
    write_scene(recording, path, SCENE_FORMATS.of(path), options, lambda _: None, warned.append)
    return warned


def opened(path: Path):
    geometry = alembic3d.AbcGeom
    root = geometry.IXform(alembic3d.Abc.IArchive(str(path)).getTop(), "groom")
    names = [root.getChildHeader(index).getName() for index in range(root.getNumChildren())]
    return root, {name: geometry.ICurves(root, name).getSchema() for name in names}


def headers(values) -> dict[str, tuple[str, str]]:
    """Type and scope of each parameter."""
    found = [values.getPropertyHeader(number) for number in range(values.getNumProperties())]
    return {h.getName(): (str(h.getDataType()), h.getMetaData().get("geoScope")) for h in found}


def value(schema, kind: str, name: str) -> np.ndarray:
    param = getattr(alembic3d.AbcGeom, f"I{kind}GeomParam")(schema.getArbGeomParams(), name)
    values = param.getExpandedValue().getVals()
    if kind == "C3f":
        return np.array([tuple(values[index]) for index in range(len(values))])
    return np.array([values[i] for i in range(len(values))]) if kind == "Int16" else np.array(memoryview(values))


def test_types_scopes_and_values(tmp_path):
    (one, of_one), (two, of_two) = hair("Fringe", 6, 20, 1), hair("Tail", 4, 9, 2)
    assert written(SceneRecording((one, of_one, two, of_two), 30.0), tmp_path / "a.abc") == []
    root, curves = opened(tmp_path / "a.abc")
    about = headers(root.getSchema().getArbGeomParams())
    assert about == {
        "groom_version_major": ("int16_t", "con"), "groom_version_minor": ("int16_t", "con"),
        "groom_tool": ("string", "con"),
    }  # fmt: skip
    assert [value(root.getSchema(), "Int16", f"groom_version_{part}")[0] for part in ("major", "minor")] == [1, 5]
    assert list(curves) == ["Fringe_guides", "Fringe_strands", "Tail_guides", "Tail_strands"]
    ids = np.concatenate([value(schema, "Int32", "groom_id") for schema in curves.values()])
    assert len(np.unique(ids)) == len(ids) == 39
    for (name, schema), track, group in zip(curves.items(), (one, of_one, two, of_two), (0, 0, 1, 1), strict=True):
        is_guide = name.endswith("_guides")
        own = headers(schema.getArbGeomParams())
        assert own["groom_guide"] == ("int16_t", "con")
        assert own["groom_group_id"] == ("int32_t", "con")
        assert own["groom_id"] == ("int32_t", "uni")
        assert own["groom_root_uv"] == ("float32_t[2]", "uni")
        assert own["groom_width"] == ("float32_t", "vtx")
        assert own["groom_color"] == ("float32_t[3]", "vtx")
        assert value(schema, "Int16", "groom_guide")[0] == is_guide
        assert value(schema, "Int32", "groom_group_id")[0] == group
        np.testing.assert_allclose(value(schema, "Float", "groom_width"), 100.0 * track.widths[0], rtol=1e-6)
        np.testing.assert_allclose(value(schema, "C3f", "groom_color"), track.colours[0, :, :3], rtol=1e-6)
        np.testing.assert_allclose(value(schema, "V2f", "groom_root_uv"), track.texcoords, rtol=1e-6)
        assert schema.getNumSamples() == FRAMES
        for frame in range(FRAMES):
            selector = alembic3d.Abc.ISampleSelector(
                frame / 30.0, alembic3d.Abc.ISampleSelector.TimeIndexType.kNearIndex
            )
            found = np.array(memoryview(schema.getValue(selector).getPositions()))
            x, y, z = track.positions[frame].T
            np.testing.assert_allclose(found, 100.0 * np.stack((x, z, y), axis=1), atol=1e-4)
        assert ("groom_closest_guides" in own) is not is_guide
        if not is_guide:
            assert own["groom_closest_guides"] == ("int32_t[3]", "uni")
            assert own["groom_guide_weights"] == ("float32_t[3]", "uni")
            guides = value(curves[name.replace("_strands", "_guides")], "Int32", "groom_id")
            closest = value(schema, "V3i", "groom_closest_guides")
            assert np.isin(closest, guides).all()
            assert np.array_equal(closest - guides[0], track.closest)
            weights = value(schema, "V3f", "groom_guide_weights")
            np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-6)
            np.testing.assert_allclose(weights, track.shares / track.shares.sum(axis=1)[:, None], atol=1e-6)


@pytest.mark.parametrize(
    ("frames", "guides", "drawn"), [slow("first", 1, 1), slow("guides", FRAMES, 1), ("strands", FRAMES, FRAMES)]
)
def test_frames(frames, guides, drawn, tmp_path):
    options = AlembicOptions(purpose=AlembicPurpose.GROOM, groom_frames=GroomFrames(frames))
    written(SceneRecording(hair("Hair", 6, 20, 1), 24.0, first=7), tmp_path / "a.abc", options)
    _, curves = opened(tmp_path / "a.abc")
    assert [schema.getNumSamples() for schema in curves.values()] == [guides, drawn]


def test_what_engines_cannot_read_is_left_out(tmp_path):
    guides, drawn = hair("Hair", 6, 20, 1)
    for track, lost in ((guides, 2), (drawn, 5)):
        first = KNOTS * lost
        track.positions[:, first : first + KNOTS] = track.positions[:, first : first + 1]
    drawn.shares[7] = np.where(drawn.closest[7] == 2, 1.0, 0.0)
    if not drawn.shares[7].any():
        drawn.closest[7, 0], drawn.shares[7, 0] = 2, 1.0
    sheet = Track(
        name="Skin", positions=np.eye(3, dtype=np.float32)[None].repeat(FRAMES, 0),
        triangles=np.array([[0, 1, 2]], np.uint32),
    )  # fmt: skip
    warned = written(SceneRecording((sheet, guides, drawn), 30.0), tmp_path / "a.abc")
    path = tmp_path / "a.abc"
    assert f"{path}: left out: 1 strands of Hair without length or guides" in warned
    assert f"{path}: left out: 2 strands of Hair strands without length or guides" in warned
    assert f"{path}: left out: Skin; Unreal groom holds strands only" in warned
    _, curves = opened(path)
    guide_ids = value(curves["Hair_guides"], "Int32", "groom_id")
    assert len(guide_ids) == 5
    closest, weights = (
        value(curves["Hair_strands"], k, f"groom_{n}") for k, n in (("V3i", "closest_guides"), ("V3f", "guide_weights"))
    )
    assert len(closest) == 18
    kept = np.delete(np.arange(6), 2)
    rows = np.delete(np.arange(20), (5, 7))
    for row, near, shares in zip(rows, closest, weights, strict=True):
        used = {int(guide): float(share) for guide, share in zip(near - guide_ids[0], shares, strict=True) if share > 0}
        wanted = {g: s for g, s in zip(drawn.closest[row], drawn.shares[row], strict=True) if g != 2 and s > 0}
        total = sum(wanted.values())
        assert {kept[guide]: pytest.approx(share, abs=1e-5) for guide, share in used.items()} == {
            guide: share / total for guide, share in wanted.items()
        }


def test_a_scene_without_hair_is_refused(tmp_path):
    sheet = Track(name="Skin", positions=np.eye(3, dtype=np.float32)[None], triangles=np.array([[0, 1, 2]], np.uint32))
    with pytest.raises(ExportError, match="Unreal groom holds strands, of which there is none"):
        written(SceneRecording((sheet,), 30.0), tmp_path / "a.abc")
    assert list(tmp_path.iterdir()) == []
