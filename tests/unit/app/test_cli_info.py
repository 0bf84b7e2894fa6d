"""`sinew info` on the sample models, against what their notes say."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from app.cli.main import main


class Facts(NamedTuple):
    """One line of the notes on the sample files."""

    file: str
    format: str
    dialect: str
    vertices: int
    triangles: int
    sections: int
    bones: int
    frames: int
    duration: float
    frame_step: float
    size: tuple[float, float, float]
    up_axis: str
    origin: str


FACTS = [
    Facts("dude/dude.ezm", "ezm", "MeshSystem", 13114, 22507, 5, 60, 61, 1.2, 0.02, (58.0, 74.4, 17.4), "Y", "bottom"),
    Facts("clothsim_zup/ClothSim.ezm", "ezm", "MeshSystem", 4592, 5963, 3, 62, 300, 6.25, 6.25 / 299,
          (1.734, 0.543, 1.996), "Z", "top"),
    Facts("character/character.ezm", "ezm", "legacy", 2016, 1459, 12, 43, 0, 0, 0, (2.408, 2.274, 0.666), "Y", "top"),
    Facts("beshon/beshon.ezm", "ezm", "legacy", 1932, 2162, 2, 0, 0, 0, 0, (0.870, 1.531, 1.387), "Y", "top"),
    Facts("export/export.ezm", "ezm", "MeshSystem", 3, 1, 1, 1, 2, 1 / 60, 1 / 60, (1, 1, 0), "Y", "top"),
    Facts("woodchunk/woodChunkmesh.ezm", "ezm", "MeshSystem", 38, 20, 1, 0, 0, 0, 0, (4.384, 2.734, 3.930), "Y", "top"),
    Facts("crater/crater.ezm", "ezm", "MeshSystem", 29756, 59391, 1, 0, 0, 0, 0, (1024, 64, 1024), "Y", "top"),
    Facts("crater/crater.ezb", "ezb", "MeshSystem", 29756, 59391, 1, 0, 0, 0, 0, (1024, 64, 1024), "Y", "top"),
]  # fmt: skip


def described(path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What `info --json` prints about a file."""
    assert main(["info", str(path), "--json"]) == 0
    info = json.loads(capsys.readouterr().out)
    assert isinstance(info, dict)
    return info


@pytest.mark.parametrize("facts", FACTS, ids=lambda facts: facts.file)
def test_a_sample_is_as_its_notes_say(facts: Facts, assets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    info = described(assets / "ezm" / facts.file, capsys)
    assert info["path"] == str(assets / "ezm" / facts.file)
    assert (info["format"], info["dialect"]) == (facts.format, facts.dialect)
    assert (info["vertex_count"], info["triangle_count"]) == (facts.vertices, facts.triangles)
    assert (info["up_axis"], info["texture_origin"]) == (facts.up_axis, facts.origin)
    assert (len(info["submeshes"]), len(info["bones"])) == (facts.sections, facts.bones)
    assert sum(part["triangle_count"] for part in info["submeshes"]) == facts.triangles
    lo, hi = info["bounds"]["min"], info["bounds"]["max"]
    for edge, expected in zip((high - low for low, high in zip(lo, hi, strict=True)), facts.size, strict=True):
        assert edge == pytest.approx(expected, rel=2e-3, abs=5e-3)


@pytest.mark.parametrize("facts", FACTS, ids=lambda facts: facts.file)
def test_clips_play_at_their_true_speed(facts: Facts, assets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clips = described(assets / "ezm" / facts.file, capsys)["clips"]
    assert len(clips) == (facts.frames > 0)
    for clip in clips:
        assert clip["frame_count"] == facts.frames
        assert clip["duration"] == pytest.approx(facts.duration, rel=1e-3)
        assert clip["frame_step"] == pytest.approx(facts.frame_step, rel=1e-3)


def test_details_of_the_dude(assets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    info = described(assets / "ezm" / "dude" / "dude.ezm", capsys)
    assert [part["triangle_count"] for part in info["submeshes"]] == [7230, 4449, 6579, 3807, 442]
    assert info["bounds"]["min"] == pytest.approx([-29.31, -1.90, -7.66], abs=0.006)
    assert info["bounds"]["max"] == pytest.approx([28.70, 72.54, 9.76], abs=0.006)
    assert info["influence_max"] == 4
    found = {item["name"].rpartition(":")[2]: (item["texture"], item["texture_found"]) for item in info["materials"]}
    assert found["headM"] == ("head.jpg", True)
    assert found["upBodyM"] == found["eyeBallM"] == ("upBodyC.jpg", True)
    names = {part["material"] for part in info["submeshes"]}
    assert names == {item["name"] for item in info["materials"]}
    parents = [bone["parent"] for bone in info["bones"]]
    assert parents.count(-1) == 1
    assert all(-1 <= parent < index for index, parent in enumerate(parents))


def test_a_missing_image_is_told_and_no_failure(assets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (material,) = described(assets / "ezm" / "crater" / "crater.ezm", capsys)["materials"]
    assert (material["texture"], material["texture_found"]) == ("crater.png", False)


def test_every_promised_key_is_there(assets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    info = described(assets / "ezm" / "clothsim_zup" / "ClothSim.ezm", capsys)
    promised = {
        "path", "format", "dialect", "up_axis", "texture_origin", "vertex_count", "triangle_count", "influence_max",
        "bounds", "submeshes", "materials", "bones", "clips", "warnings",
    }  # fmt: skip
    assert promised <= set(info)
    assert {"name", "material", "triangle_count"} <= set(info["submeshes"][0])
    assert {"name", "texture", "texture_found"} <= set(info["materials"][0])
    assert {"name", "parent", "weighted_vertex_count"} <= set(info["bones"][0])
    assert {"name", "frame_count", "duration", "frame_step"} <= set(info["clips"][0])


def test_the_table_for_people_holds_the_numbers(assets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(assets / "ezm" / "dude" / "dude.ezm")]) == 0
    out = capsys.readouterr().out
    for expected in ("13,114", "22,507", "Take 001", "1.200 s", "jacket.jpg"):
        assert expected in out


def test_warnings_go_to_standard_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "odd.ezm"
    model.write_text(
        '<MeshSystem><Meshes><Mesh name="m"><vertexbuffer count="3" ctype="fff" semantic="position">'
        "0 0 0, 1 0 0, 0 1 0, 9 9 9</vertexbuffer>"
        '<MeshSection material="none"><indexbuffer triangle_count="1">0 1 2</indexbuffer></MeshSection>'
        "</Mesh></Meshes></MeshSystem>",
        encoding="utf-8",
    )
    assert main(["info", str(model), "--json"]) == 0
    out, err = capsys.readouterr()
    warnings = json.loads(out)["warnings"]
    assert warnings
    assert err.splitlines() == [f"sinew: {model}: warning: {text}" for text in warnings]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"\x89PNG\r\n\x1a\n", "PNG"),
        (b"<MeshSystem><Meshes>", ""),
        (b'<MeshSystem><Mesh><vertexbuffer count="2" ctype="fff" semantic="position">0 0 0</vertexbuffer></Mesh>'
         b"</MeshSystem>", "vertexbuffer"),
    ],
)  # fmt: skip
def test_an_unusable_file_fails_in_one_line(
    content: bytes, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "bad.ezm"
    model.write_bytes(content)
    assert main(["info", str(model)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith(f"sinew: {model}: ")
    assert reason in err
    assert "unexpected" not in err
