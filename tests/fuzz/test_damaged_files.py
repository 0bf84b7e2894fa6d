"""Damaged files load or are refused in one line; `python -m tests.fuzz.run` does the same many times over."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sinew.sim.assets.ezb_reader import EZB_MAGIC
from sinew.sim.assets.model import Interpolation
from tests.conftest import REPO_ROOT, slow
from tests.ezm_samples import mesh_text, skeleton_text
from tests.fuzz import run
from tests.fuzz.cases import damaged, model_of, outcome, prepare
from tests.fuzz.corpus import corpus

COUNT = 300
BATCH = 30


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    folder = Path(os.environ.get("SINEW_ASSETS") or REPO_ROOT.parent / "shared" / "assets")
    return corpus(folder if folder.is_dir() else None)


@pytest.mark.parametrize("first", [*range(0, COUNT // 2, BATCH), *map(slow, range(COUNT // 2, COUNT, BATCH))])
def test_damaged_files(tmp_path: Path, files: dict[str, bytes], first: int) -> None:
    results = set()
    prepare(tmp_path)
    for seed in range(first, first + BATCH):
        name, data = damaged(seed, files)
        (tmp_path / name).write_bytes(data)
        results.add(outcome(tmp_path / name))
    # Damage that is always harmless or always fatal would test nothing.
    assert results == {"loaded", "refused"}


def test_undamaged_files_load(tmp_path: Path, files: dict[str, bytes]) -> None:
    prepare(tmp_path)
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        assert outcome(tmp_path / name) == "loaded", name


@pytest.mark.campaign
def test_ten_thousand_damaged_files_of_animated_models() -> None:
    assert run.main(["--count", "10000", "--only", ".gltf,.glb,.md2,.pc2,.mdd"]) == 0


@given(st.binary(max_size=200))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "model.ezm"
    for content in (data, b"<" + data, EZB_MAGIC + data):
        path.write_bytes(content)
        assert outcome(path) == "refused" or content.lstrip().startswith(b"<")


PAYLOADS = st.text(st.sampled_from("0123456789-.,$efxant \n"), max_size=60)
LAYOUTS = st.text(st.sampled_from("fdhbcpx124 "), max_size=12)
MEANINGS = st.lists(
    st.sampled_from(["position", "normal", "color", "texcoord", "blendweights", "blendindices", "interp1", "new"]),
    max_size=5,
).map(" ".join)


@given(PAYLOADS, LAYOUTS, MEANINGS, st.integers(-1, 9), PAYLOADS)
@example("0 0 0 1 0 0 0 1 0", "fff", "position", 3, "0 1 2")
@example("0 0 0 1 1 1 0 0 0 1 1", "fff hh", "position blendindices", 2, "0 1 1")
def test_any_buffer(tmp_path_factory, vertices, ctype, semantic, count, triangles):
    path = tmp_path_factory.mktemp("buffer") / "model.ezm"
    path.write_text(mesh_text(vertices, ctype=ctype, semantic=semantic, count=count, triangles=triangles))
    model = model_of(path)
    if model is not None:
        mesh = model.mesh
        assert mesh.vertex_count == count
        assert all(0 <= corner < count for corner in mesh.triangles.flat)
        assert sum(section.triangle_count for section in mesh.sections) == mesh.triangle_count
        assert np.isfinite(mesh.positions).all()
        np.testing.assert_allclose(np.linalg.norm(mesh.normals, axis=1), 1.0, atol=1e-5)


@given(st.lists(st.tuples(PAYLOADS, PAYLOADS, PAYLOADS), max_size=4), PAYLOADS, PAYLOADS)
@example([("0 0 0", "0 0 0 1", "1 1 1"), ("1 0 0", "0 0 0 1", "1 1 1")], "0 0 0 0 0 0 1", "1")
@example([("0 0 0", "0 0 0 1", "1 1 1")] * 2, "0 0 0 0 0 0 2, 0 3 0 0 0 0 -4", "2")
def test_any_motion(tmp_path_factory, bones, poses, count):
    path = tmp_path_factory.mktemp("motion") / "model.ezm"
    elements = "".join(
        f'<Bone name="{number % 3}" parent="{(number + 1) % 4}" position="{one}" orientation="{two}" scale="{three}"/>'
        for number, (one, two, three) in enumerate(bones)
    )
    tracks = f'<AnimTrack name="1" count="{count}">{poses}</AnimTrack>'
    path.write_text(skeleton_text(elements, tracks=tracks))
    model = model_of(path)
    if model is not None and model.skeleton is not None:
        names, parents = model.skeleton.names, model.skeleton.parents
        assert len(set(names)) == len(names) == len(bones)
        assert all(-1 <= parent < len(names) for parent in parents.tolist())
        assert np.isfinite(model.skeleton.model_from_bind).all()
        for clip in model.clips:
            pose = clip.sample(clip.duration, Interpolation.LINEAR)
            assert np.isfinite(pose.positions).all()
            np.testing.assert_allclose(np.linalg.norm(pose.orientations, axis=1), 1.0, atol=1e-9)
