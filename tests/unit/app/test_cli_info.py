import base64
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sinew.app.cli.main import main
from sinew.app.headless.scene import opened
from sinew.app.project.project_file import save_project
from sinew.resources import path as resource
from sinew.sim.assets.raw import RawBone, RawMaterial, RawMesh, RawModel, RawSection, RawSkeleton, RawVertices
from sinew.sim.characters.settings import MaterialLook, ModelSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.printable import printable
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.view_state import ViewState
from tests.ezm_samples import ezb_bytes
from tests.frame_samples import write_all
from tests.permissions import OWN


def described(path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(["info", str(path), "--json"]) == 0
    info = json.loads(capsys.readouterr().out)
    assert isinstance(info, dict)
    return info


def test_a_model_is_described_for_scripts_and_people(assets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = assets / "ezm" / "dude" / "dude.ezm"
    info = described(path, capsys)
    assert (info["path"], info["vertex_count"], info["triangle_count"]) == (str(path), 13114, 22507)
    found = {item["name"].rpartition(":")[2]: (item["texture"], item["texture_found"]) for item in info["materials"]}
    assert found["headM"] == ("head.jpg", True)
    assert main(["info", str(path)]) == 0
    out = capsys.readouterr().out
    for expected in ("13,114", "22,507", "Take 001", "1.200 s", "jacket.jpg"):
        assert expected in out
    (material,) = described(assets / "ezm" / "crater" / "crater.ezm", capsys)["materials"]
    assert (material["texture"], material["texture_found"]) == ("crater.png", False)


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


EVIL = "\x1b]0;PWNED\x07\x1b[31mred\r\n\x1b[2J\u202e\x9b"


def hostile_model(folder: Path) -> Path:
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


def test_no_name_reaches_the_terminal_raw(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = hostile_model(tmp_path)
    for option in ([], ["--json"]):
        assert main(["info", str(path), *option]) == 0
        out, err = capsys.readouterr()
        assert err.count("\n") == err.count("warning: ") > 0
        assert all(printable(line) == line for line in (out + err).split("\n"))
        assert option or "\\x1b]0;PWNED" in out
    info = json.loads(out)
    assert (info["asset_name"], info["path"]) == (EVIL, str(path)), "programs get the names as they are"


def test_failures_show_names_harmlessly_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a\x1b[2J\n\u202e.ezm"
    path.write_text("<MeshSystem><Meshes>")
    for arguments in (["info", str(path)], ["pose", str(path), "--output", str(tmp_path / "a.npz")], [f"{path}x"]):
        assert main(arguments) == 1
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        assert printable(err.rstrip("\n")) == err.rstrip("\n")
        assert "a\\x1b[2J" in err


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


def test_the_version_of_an_older_project_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "old.sinew"
    path.write_text('{"format": "sinew-project", "version": 1, "nodes": [{"id": "k", "kite": {}}], "more": 1}')
    assert main(["info", str(path), "--json"]) == 0
    out, err = capsys.readouterr()
    info = json.loads(out)
    assert (info["version"], info["node_count"], info["unknown_node_count"]) == (1, 0, 1)
    assert err.splitlines() == [f"sinew: {path}: warning: {text}" for text in info["warnings"]]
    assert len(info["warnings"]) == 2


@pytest.mark.parametrize(
    ("command", "is_there"),
    [
        (["info"], True),
        (["info"], False),
        (["simulate", "--output", "a.npz"], True),
        (["render", "--output", "a.png"], False),
    ],
)
def test_files_outside_are_refused_alike_whether_they_exist(command, is_there, tmp_path, monkeypatch, capsys):
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
        " --allow-outside (in Python allow_outside=True) permits it\n"
    )
    status = main([*command[:1], str(path), *command[1:], "--allow-outside"])
    assert "--allow-outside" not in capsys.readouterr().err
    assert (status == 0) is (command == ["info"])
    node = {"id": "x", "name": "x", "model": {"path": "//host/share/a.ezm"}}
    path.write_text(json.dumps({"format": "sinew-project", "version": 2, "nodes": [node]}))
    assert main([*command[:1], str(path), *command[1:]]) == 1
    assert capsys.readouterr().err == (
        f"sinew: {path}: model 'x': names //host/share/a.ezm, on another machine;"
        " --allow-outside (in Python allow_outside=True) permits it\n"
    )


def test_missing_textures_are_reported_once_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
    opened(tmp_path / "a.sinew", OWN)
    reported = capsys.readouterr().err.splitlines()
    assert len([line for line in reported if "was not found" in line]) == 2
    assert len([line for line in reported if "gone.png" in line]) == 1
    assert len(reported) == 3


def test_what_the_format_cannot_store_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "model.gltf"
    material = {"normalTexture": {"index": 0}}
    image = {"uri": "data:image/png;base64,AAAA", "name": "broken"}
    part = {"attributes": {"POSITION": 0}, "material": 0}
    view = {"buffer": 0, "byteLength": 36}
    document = {
        "asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}], "materials": [material],
        "meshes": [{"primitives": [part]}], "images": [image], "textures": [{"source": 0}], "bufferViews": [view],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "buffers": [{"byteLength": 36, "uri": "data:;base64," + base64.b64encode(np.eye(3, dtype="<f4")).decode()}],
    }  # fmt: skip
    source.write_text(json.dumps(document))
    frames = write_all(tmp_path)["md2"]
    for path, name, expected in (
        (source, "a.glb", ["left out: image broken: is not an image of a known format"]),
        (frames, "a.ezm", ["morph targets", "clips of key frames or curves", "colours and images of materials"]),
    ):
        assert main(["export", str(path), "--output", str(tmp_path / name)]) == 0
        err = capsys.readouterr().err
        assert all(line in err for line in expected)
        assert err.count("left out") + err.count("cannot store") == len(expected)
