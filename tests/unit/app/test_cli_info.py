"""`sinew info` on the sample models, against what their notes say."""

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from sinew.app.cli.main import main
from sinew.app.cli.scene import opened
from sinew.app.files.project_file import save_project
from sinew.resources import path as resource
from sinew.sim.assets.build import build_model
from sinew.sim.assets.info import info_text, model_info
from sinew.sim.assets.load import read_raw
from sinew.sim.assets.raw import RawBone, RawMaterial, RawMesh, RawModel, RawSection, RawSkeleton, RawVertices
from sinew.sim.characters.settings import MaterialLook, ModelSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.printable import printable
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.view_state import ViewState
from tests.ezm_samples import ezb_bytes


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


EVIL = "\x1b]0;PWNED\x07\x1b[31mred\r\n\x1b[2J\u202e\x9b"


def hostile_model(folder: Path) -> Path:
    """A binary model whose every name steers the terminal."""
    raw = RawModel(folder / "a.ezm", "ezm", "MeshSystem", asset_name=EVIL, asset_info=EVIL)
    bone = RawBone(EVIL, -1, np.zeros(3), np.array((0.0, 0.0, 0.0, 1.0)), np.ones(3))
    raw.skeletons.append(RawSkeleton(EVIL, [bone, bone]))
    raw.materials.append(RawMaterial(EVIL, f"diffuse={EVIL}"))
    positions = np.eye(3, dtype=np.float32)
    section = RawSection(EVIL, "", 0, np.array([[0, 1, 2]], np.uint32))
    raw.meshes.append(RawMesh(EVIL, EVIL, [RawVertices(3, {"position": positions})], [section]))
    path = folder / f"evil{chr(0x1B)}[2J.ezb"
    path.write_bytes(ezb_bytes(raw))
    return path


@pytest.mark.parametrize("option", [[], ["--json"]])
def test_no_name_reaches_the_terminal_raw(
    option: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = hostile_model(tmp_path)
    assert main(["info", str(path), *option]) == 0
    out, err = capsys.readouterr()
    assert err.count("\n") == err.count("warning: ") > 0
    assert all(printable(line) == line for line in (out + err).split("\n"))
    if option:
        info = json.loads(out)
        assert (info["asset_name"], info["path"]) == (EVIL, str(path)), "programs get the names as they are"
    else:
        assert "\\x1b]0;PWNED" in out


def test_failures_show_names_harmlessly_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a\x1b[2J\n\u202e.ezm"
    path.write_text("<MeshSystem><Meshes>")
    for arguments in (["info", str(path)], ["pose", str(path), "--output", str(tmp_path / "a.npz")], [f"{path}x"]):
        assert main(arguments) == 1
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        assert printable(err.rstrip("\n")) == err.rstrip("\n")
        assert "a\\x1b[2J" in err


def test_one_endless_name_does_not_widen_every_row(tmp_path: Path) -> None:
    sections = "".join(
        f'<MeshSection material="{"m" * 100_000 if number == 0 else number}"><indexbuffer count="0"/></MeshSection>'
        for number in range(2000)
    )
    path = tmp_path / "wide.ezm"
    buffer = '<vertexbuffer count="1" ctype="fff" semantic="position">0 0 0</vertexbuffer>'
    path.write_text(f"<MeshSystem><Mesh>{buffer}{sections}</Mesh></MeshSystem>")
    raw = read_raw(path)
    assert len(info_text(model_info(raw, build_model(raw)))) < 1_000_000


def project(folder: Path, *nodes: Node) -> Path:
    path = folder / "a.sinew"
    save_project(path, Scene(nodes=nodes), ViewState(time=1.5))
    return path


def test_a_project_is_described(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "here.ezm").write_text("")
    path = project(
        tmp_path,
        Node(id="m", name="Hero", settings=ModelSettings(path=str(tmp_path / "here.ezm"))),
        Node(id="n", name="Gone", visible=False, settings=ModelSettings(path=str(tmp_path / "gone.ezm"))),
        Node(id="l", name=EVIL, settings=LightSettings(), attachment=Attachment(node="m", bone="hand")),
    )
    info = described(path, capsys)
    assert (info["path"], info["format"], info["version"]) == (str(path), "sinew-project", 2)
    assert (info["node_count"], info["unknown_node_count"], info["time"]) == (3, 0, 1.5)
    assert info["kinds"] == {"model": 2, "light": 1}
    assert [(node["id"], node["kind"], node["visible"]) for node in info["nodes"]] == [
        ("m", "model", True), ("n", "model", False), ("l", "light", True),
    ]  # fmt: skip
    assert (info["nodes"][2]["name"], info["nodes"][2]["rides_on"], info["nodes"][2]["bone"]) == (EVIL, "m", "hand")
    assert info["files"] == [
        {"path": str(tmp_path / "here.ezm"), "content": "character", "node": "m", "found": True},
        {"path": str(tmp_path / "gone.ezm"), "content": "character", "node": "n", "found": False},
    ]
    assert main(["info", str(path)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    for expected in ("Sinew project, version 2", "Model", "found", "missing", "gone.ezm"):
        assert expected in out
    assert all(printable(line) == line for line in out.split("\n"))


def test_the_version_of_an_older_project_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "old.sinew"
    path.write_text('{"format": "sinew-project", "version": 1, "nodes": [{"id": "k", "kite": {}}], "more": 1}')
    assert main(["info", str(path), "--json"]) == 0
    out, err = capsys.readouterr()
    info = json.loads(out)
    assert (info["version"], info["node_count"], info["unknown_node_count"]) == (1, 0, 1)
    assert err.splitlines() == [f"sinew: {path}: warning: {text}" for text in info["warnings"]]
    assert len(info["warnings"]) == 2


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize(
    "command",
    [["info"], ["simulate", "--output", "a.npz"], ["render", "--output", "a.png"]],
    ids=lambda words: words[0],
)
def test_files_outside_are_refused_alike_whether_they_exist(
    command: list[str],
    is_there: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    secret = tmp_path / "secret.ezm"
    if is_there:
        secret.write_text("secret")
    path = project(
        tmp_path / "a" / "b", *(Node(id=name, name=name, settings=ModelSettings(path=str(secret))) for name in "xy")
    )
    assert main([*command[:1], str(path), *command[1:]]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        f"sinew: {path}: model 'x': names {secret}, and 1 more, outside of {tmp_path / 'a'};"
        " --allow-outside permits it\n"
    )
    status = main([*command[:1], str(path), *command[1:], "--allow-outside"])
    assert "--allow-outside" not in capsys.readouterr().err
    assert (status == 0) is (command == ["info"])


def test_other_machines_are_named_as_such(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.sinew"
    node = {"id": "x", "name": "x", "model": {"path": "//host/share/a.ezm"}}
    path.write_text(json.dumps({"format": "sinew-project", "version": 2, "nodes": [node]}))
    assert main(["info", str(path)]) == 1
    expected = f"sinew: {path}: model 'x': names //host/share/a.ezm, on another machine; --allow-outside permits it\n"
    assert capsys.readouterr().err == expected


def test_lost_textures_are_told_once_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "humanoid.ezm"
    shutil.copy(resource("models") / "humanoid" / "humanoid.ezm", model)
    assert main(["info", str(model)]) == 0
    reported = capsys.readouterr().err.splitlines()
    start = f"sinew: {model}: warning: the texture humanoid_"
    assert [line.removeprefix(start).split()[0] for line in reported] == ["skin.png", "clothes.png"]
    assert "of materials shirt, trousers, shoes was not found" in reported[1]
    for name in ("copy.glb", "copy.ezm"):
        assert main(["export", str(model), "--output", str(tmp_path / name)]) == 0
        assert [line for line in capsys.readouterr().err.splitlines() if "was not found" in line] == reported
    # A project with two of the same file, one with a texture that is not there in place of its own.
    gone = (MaterialLook(material="skin", texture=str(tmp_path / "gone.png")),)
    nodes = [Node(id=name, name=name, settings=ModelSettings(path=str(model))) for name in ("a", "b")]
    nodes.append(Node(id="c", name="c", settings=ModelSettings(path=str(model), materials=gone)))
    save_project(tmp_path / "a.sinew", Scene(nodes=tuple(nodes)), ViewState())
    opened(tmp_path / "a.sinew")
    reported = capsys.readouterr().err.splitlines()
    assert len([line for line in reported if "was not found" in line]) == 2
    assert len([line for line in reported if "gone.png" in line]) == 1
    assert len(reported) == 3
