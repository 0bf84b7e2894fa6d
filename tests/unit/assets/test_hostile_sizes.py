"""Files made to exhaust time or memory are refused, or read in time that grows with their size only.

Each of these took minutes, or gigabytes, with a careless reader; a relapse runs into the time limit of the tests.
"""

import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from sinew.sim.assets import obj_reader
from sinew.sim.assets.clip import CurveClip
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import Interpolation
from sinew.sim.assets.raw import ModelError
from tests.conftest import campaign, slow
from tests.ezm_samples import bone_text, load_text, mesh_text, skeleton_text
from tests.gltf_samples import Sample

BUFFER = '<vertexbuffer count="3" ctype="fff" semantic="position">0 0 0 1 0 0 0 1 0</vertexbuffer>'
MANY = 200_000


@pytest.mark.parametrize(
    ("element", "kind"),
    [
        ("<Mesh/>", "mesh"),
        ("<Skeleton/>", "skeleton"),
        ("<Animation/>", "animation"),
        ("<Material/>", "material"),
        slow(f"<Mesh>{BUFFER}</Mesh>", "mesh"),
    ],
)
def test_parts_of_a_file_are_limited(tmp_path: Path, element: str, kind: str) -> None:
    with pytest.raises(ModelError, match=f": {kind}: there are more than 8192"):
        load_text(tmp_path, f"<MeshSystem>{element * 10_000}</MeshSystem>")


@pytest.mark.parametrize(
    "part",
    [BUFFER, campaign('<indexbuffer count="0"/>'), campaign('<MeshSection><indexbuffer count="0"/></MeshSection>')],
)
def test_parts_of_a_mesh_are_limited(tmp_path: Path, part: str) -> None:
    with pytest.raises(ModelError, match=r"(vertexbuffer|indexbuffer): there are more than 8192"):
        load_text(tmp_path, f"<MeshSystem><Mesh>{BUFFER}{part * 10_000}</Mesh></MeshSystem>")


@pytest.mark.slow
def test_tracks_are_limited(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="AnimTrack: there are more than 131072"):
        load_text(tmp_path, f"<MeshSystem><Animation>{'<AnimTrack/>' * 140_000}</Animation></MeshSystem>")


@pytest.mark.parametrize("attribute", ["ctype", "semantic"])
def test_layouts_are_limited(tmp_path: Path, attribute: str) -> None:
    with pytest.raises(ModelError, match="ctype or semantic has more than 2048 characters"):
        load_text(tmp_path, mesh_text("0", **{attribute: "texcoord " * 100_000}))


def test_attributes_are_limited(tmp_path: Path) -> None:
    attributes = " ".join(f'a{number}="<>"'.replace("<", "") for number in range(MANY))
    with pytest.raises(ModelError, match="an element has more than 500 attributes"):
        load_text(tmp_path, f"<MeshSystem {attributes}/>")


@pytest.mark.parametrize(
    "text", ["diffuse=x" + " " * MANY, "diffuse=" + " " * MANY + "x" + "%20" * MANY + "y", "(" * MANY, "," * MANY]
)
def test_descriptions_take_linear_time(tmp_path: Path, text: str) -> None:
    model = load_text(tmp_path, f'<MeshSystem><Material name="a" meta_data="{text}"/></MeshSystem>')
    assert model.materials[0].texture_path is None


def test_equal_names_take_linear_time(tmp_path: Path) -> None:
    model = load_text(tmp_path, skeleton_text(bone_text("a") * 8000))
    assert len(set(model.skeleton.names)) == 8000


@pytest.mark.parametrize("payload", ["x" * 2_000_000, campaign("," * 2_000_000), campaign("1$ " * MANY)])
def test_payloads_without_numbers(tmp_path: Path, payload: str) -> None:
    with pytest.raises(ModelError, match=r"vertexbuffer of mesh 'm' \(mesh 1\): "):
        load_text(tmp_path, mesh_text(payload))


@pytest.mark.parametrize("element", ["<a b='' c=''/>", campaign("<a/>"), campaign("<!-- -->")])
def test_tags_and_attributes_are_limited_before_the_tree_is_made(tmp_path: Path, element: str) -> None:
    with pytest.raises(ModelError, match="XML: there are more than 1048576 tags and attributes"):
        load_text(tmp_path, f"<MeshSystem>{element * 1_100_000}</MeshSystem>")


@pytest.mark.parametrize("encoding", ["UTF-7", "HZ-GB-2312", "IBM037", "nonsense", "x" * 5000])
def test_encodings_that_could_hide_tags_are_refused(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(ModelError, match=r"XML: the encoding '.{1,60}' is not accepted") as caught:
        load_text(tmp_path, f'<?xml version="1.0" encoding="{encoding}"?><MeshSystem/>')
    assert len(str(caught.value)) < 300


@pytest.mark.slow
def test_many_skeletons_and_many_tracks_of_one_name_take_linear_time(tmp_path: Path) -> None:
    """Each of 40,000 tracks drives, or would drive, the joint of that name in each of 2,000 skeletons."""
    skeletons = "<Skeleton name='s'><Bone name='b'/></Skeleton>" * 2000
    tracks = "<AnimTrack name='b' count='1'>1 0 0 0 0 0 1</AnimTrack>" * 40_000
    model = load_text(tmp_path, f"<MeshSystem>{skeletons}<Animation name='a'>{tracks}</Animation></MeshSystem>")
    assert (model.clips[0].key(0).positions[:, 0] == 1.0).all()
    assert "Animation 'a': a second track for 'b' is ignored." in model.warnings
    assert len(model.warnings) < 10


def test_bones_of_all_skeletons_are_limited(tmp_path: Path) -> None:
    skeletons = f"<Skeleton>{bone_text('b') * 100}</Skeleton>" * 100
    with pytest.raises(ModelError, match="Bone: there are more than 8192"):
        load_text(tmp_path, f"<MeshSystem>{skeletons}</MeshSystem>")


def peak_of(path: Path) -> int:
    """Most memory while a file is loaded or refused [bytes]."""
    tracemalloc.start()
    try:
        load_model(path)
    except ModelError:
        pass
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return peak


@pytest.mark.slow
def test_columns_of_hexadecimal_numbers_take_no_multiple_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "mixed.ezm"
    path.write_text(mesh_text("0 0 0 f " * 100_000, count=100_000, ctype="fff x4", semantic="position color"))
    assert peak_of(path) < 20 * path.stat().st_size


@pytest.mark.parametrize("line", ["key{}\n", campaign("a\n"), campaign("v 0 0 0\n"), campaign("\\\n")])
def test_short_lines_take_no_multiple_of_the_text(tmp_path: Path, line: str) -> None:
    path = tmp_path / "lines.obj"
    path.write_text("v 0 0 0\n" + line.format(0))
    peak_of(path)  # The first file of a format imports its reader.
    path.write_text("v 0 0 0\n" + "".join(line.format(number) for number in range(50_000)))
    assert peak_of(path) < 5 * path.stat().st_size + (1 << 20)


@pytest.mark.parametrize(
    "text", ["f " + "1 " * 1_000_000, *map(campaign, ("v " * 1_000_000, "f 1 \\\n" * 300_000, "x" * 2_000_000))]
)
def test_lines_are_limited(tmp_path: Path, text: str) -> None:
    path = tmp_path / "line.obj"
    path.write_text("v 0 0 0\n" + text)
    with pytest.raises(ModelError, match="line 2: is longer than 1048576 characters"):
        load_model(path)


def test_vertices_that_are_collected_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(obj_reader, "MAX_VERTICES", 8)
    path = tmp_path / "corners.obj"
    path.write_text("v 0 0 0\n" * 9 + "f 1 2 3\nf 4 5 6\nf 7 8 9\n")
    with pytest.raises(ModelError, match="line 12: there are more than 8 vertices"):
        load_model(path)


def test_binary_tracks_are_limited(tmp_path: Path) -> None:
    """A track without poses takes sixteen bytes of the file and a thousand of memory."""
    count = 140_000
    text = b"\0\0\0\x65\0\0\0\6EZMESH" + b"\0" * 8 + b"\0" * 32 + b"\0" * 12 + struct.pack(">I", 1)
    clip = struct.pack(">Iiiff", 0, count, 0, 0.0, 0.0) + b"\0" * 16 * count
    path = tmp_path / "tracks.ezb"
    path.write_bytes(text + clip)
    with pytest.raises(ModelError, match="track: there are more than 131072"):
        load_model(path)


def animated(folder: Path, channels: int, animations: int = 1) -> Path:
    sample = Sample()
    sample.mesh()
    for _ in range(channels - 1):
        sample.put("nodes", {})
    times = sample.add(np.arange(4000.0))
    keys = sample.add(np.zeros((4000, 3)))
    for _ in range(animations):
        sampler = {"input": times, "output": keys}
        targets = [{"node": node, "path": "translation"} for node in range(channels)]
        moved = [{"sampler": number % 2, "target": target} for number, target in enumerate(targets)]
        sample.put("animations", {"channels": moved, "samplers": [sampler, sampler]})
    return sample.write(folder)


def test_channels_that_share_keys_take_memory_for_these_once(tmp_path: Path) -> None:
    path = animated(tmp_path, 2000)
    assert peak_of(path) < 40 << 20
    clip = load_model(path).clips[0]
    assert isinstance(clip, CurveClip)
    assert clip.sample(2.5, Interpolation.LINEAR).positions.shape == (2000, 3)


def test_animations_that_share_keys_are_charged_for_each(tmp_path: Path) -> None:
    path = animated(tmp_path, 2, 2000)
    with pytest.raises(ModelError, match=r"animations\[\d+\].*a file of this size may take"):
        load_model(path)
    assert peak_of(path) < 300 << 20


MOTION = "MOTION\nFrames: {}\nFrame Time: 0.1\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        slow("HIERARCHY " * MANY + "BONE", "line 1: unknown keyword 'BONE'"),
        (
            "HIERARCHY\nROOT " + "a" * 500_000 + "\n{\n" + "End Site\n{\n}\n" * 8000,
            "line 2: a name has 500,000 characters",
        ),
        ("HIERARCHY\nROOT a\n{\n" + "End Site\n{\n" * 8000, "line 6: End Site inside of an End Site"),
        slow(
            "HIERARCHY\nROOT a\n{\nCHANNELS 1 Xrotation\n" + "JOINT b\n{\n}\n" * 8000 + "}\n"
            + MOTION.format(300_000) + "0\n" * 300_000,
            r"MOTION: has 2,400,300,000 poses \(300,000 frames of 8,001 joints\)",
        ),
        campaign(
            "HIERARCHY\nROOT a\n{\nCHANNELS 0\n" + "JOINT b\n{\nCHANNELS 1 Xrotation\n}\n" * 8000 + "}\n"
            + MOTION.format(200) + "0 " * 1_600_000,
            "MOTION: has 1,600,200 poses",
        ),
    ],
)  # fmt: skip
def test_motions_take_no_more_than_their_text_says(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "a.bvh"
    path.write_text(text)
    with pytest.raises(ModelError, match=f"a.bvh: {reason}"):
        load_model(path)
    assert peak_of(path) < 100 << 20


def test_equal_names_of_a_motion_take_linear_time(tmp_path: Path) -> None:
    path = tmp_path / "a.bvh"
    path.write_text("HIERARCHY\nROOT a\n{\n" + "JOINT a\n{\n}\n" * 8000 + "}\n")
    skeleton = load_model(path).skeleton
    assert skeleton is not None
    assert skeleton.names == ("a", *(f"a {number}" for number in range(2, 8002)))
