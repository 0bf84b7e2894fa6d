"""The rope as a package that is installed beside the program, and packages and files that fail."""

import dataclasses
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sinew.app.cli.main import main
from sinew.app.farm.parts import parts_folder
from sinew.app.headless.scene import opened
from sinew.app.jobs.job import Job, words_of
from sinew.app.jobs.options import with_plugins
from sinew.app.plugins import plugins
from sinew.app.project.project_file import load_project, save_project
from sinew.app.project.project_json import ProjectError
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Adds, Edits, Files, Form
from tests.conftest import REPO_ROOT
from tests.permissions import OWN
from tests.plugins.packages import install
from tests.processes import finished

BROKEN = {
    "kinds:half": ("broken_half:KIND", "ValueError: the other half"),
    "kinds:no_kind": ("broken_no_kind:KIND", "is of the type int, not a Kind"),
    "kinds:old": ("broken_old:KIND", "is written for api=1; this program has 2"),
    "kinds:leaves": ("broken_leaves:KIND", "SystemExit: 5"),
    "kinds:missing": ("no_such_module:KIND", "ModuleNotFoundError: No module named 'no_such_module'"),
    "kinds:rope2": ("acme_rope.kind:ROPE", "the name acme.rope is taken by acme-rope 1.0"),
    "kinds:plain": ("broken_plain:KIND", "'rope' is no name of a type; allowed: VENDOR.NAME"),
    "kinds:settings": ("broken_settings:KIND",
                       "the setting x of S has no default; write `x: Annotated[TYPE, param(...)] = VALUE`"),
    "formats:obj": ("broken_format:FORMAT", "ValueError: .obj is taken already"),
    "formats:int": ("broken_no_kind:KIND",
                    "is of the type int; allowed: ModelFormat, StrandFormat, SceneFormat, VideoFormat"),
    "commands:render": ("acme_rope.rope_length", "the command render is taken"),
    "commands:int": ("broken_no_kind:KIND", "is of the type int, not a module with add_arguments and run"),
}  # fmt: skip
"""Entry points of a package, and what is reported of them."""

ROPE = "import dataclasses\nfrom acme_rope.kind import ROPE\n"
OLD = """
from sinew.sim.kinds.contract import AddEntry, Kind
from sinew.sim.scene.params import Settings
class S(Settings, frozen=True, kw_only=True):
    kind = "acme.old"
KIND = Kind(name="acme.old", api=1, label="Old", icon="node", settings=S, adds=(AddEntry("old", "O", "O.", print),))
"""
MODULES = {
    "broken_half.py": ROPE + """
from sinew.sim.assets.formats import MODEL_FORMATS, ModelFormat
from sinew.sim.kinds import register
class Half(ROPE.settings, frozen=True):
    kind = "acme.half"
register(dataclasses.replace(ROPE, name="acme.half", settings=Half, parts=()))
MODEL_FORMATS.register(ModelFormat(key="half", name="Half", suffixes=(".half",), reader=print))
print("half of it")
raise ValueError("the other\\nhalf")
""",
    "broken_no_kind.py": "KIND = 3",
    "broken_old.py": OLD,
    "broken_leaves.py": "raise SystemExit(5)",
    "broken_plain.py": ROPE + "KIND = dataclasses.replace(ROPE, name='rope')",
    "broken_settings.py": ROPE + """
from sinew.sim.scene.params import Settings
class S(Settings, frozen=True, kw_only=True):
    kind = "acme.s"
    x: int
KIND = dataclasses.replace(ROPE, name="acme.s", settings=S, parts=())
""",
    "broken_format.py": """
from sinew.sim.assets.formats import ModelFormat
FORMAT = ModelFormat(key="a", name="A", suffixes=(".obj",), reader=print)
""",
}  # fmt: skip


@pytest.fixture
def project(tmp_path) -> Path:
    """Two ropes and a light; the first is at the height 2 m and has keys."""
    settings = {"knots": 16, "length": 1.0, "radius": 0.05}
    curve = {"part": "acme.rope", "field": "drag", "keys": [[0.0, 0.5], [1.0, 2.0]]}
    made = {"package": "acme-rope 1.0", "kind_version": 1}
    place = {"position": [0.0, 2.0, 0.0]}
    nodes = [
        {"id": "r", "name": "Rope", "transform": place, "acme.rope": settings, "curves": [curve], "plugin": made},
        {"id": "l", "name": "Lamp", "light": {}},
        {"id": "s", "name": "Short", "acme.rope": {**settings, "length": 0.5}, "plugin": made},
    ]
    path = tmp_path / "a.sinew"
    path.write_text(json.dumps({"format": "sinew-project", "version": 3, "nodes": nodes}))
    return path


def test_an_installed_kind_simulates_bakes_renders_and_is_exported(site, project, loaded, capsys):
    folder, positions = project.parent, {}
    words = ["simulate", project, "--steps", 20, "--output"]
    status, _, err = finished(
        "-m", "sinew", *words, folder / "tf.npz", "--backend", "tf", "--cache", PYTHONPATH=f"{REPO_ROOT}:{site}"
    )
    assert (status, err) == (0, "")
    loaded(site)
    assert main([*map(str, words), str(folder / "compute.npz"), "--backend", "compute"]) == 0
    for back_end in ("tf", "compute"):
        with np.load(folder / f"{back_end}.npz") as arrays:
            positions[back_end] = arrays["Rope.positions"]
    assert positions["tf"].shape == (21, 16, 3)
    assert positions["tf"].tobytes() == positions["compute"].tobytes()
    index = json.loads((folder / "a.sinewcache" / "index.json").read_text())
    assert {node: baked["package"] for node, baked in index["nodes"].items()} == dict.fromkeys("rs", "acme-rope 1.0")
    assert main(["verify", str(project)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 nodes, 20 steps, bit-identical"
    image = folder / "a.png"
    words = ["render", project, "--frames", 4, "--size", "320x240", "--view", "front", "--output", image]
    assert main([*map(str, words)]) == 0
    pixels = np.asarray(Image.open(image)).astype(int)
    assert (pixels[..., 0] - pixels[..., 2]).max() > 60, "it is yellow"
    assert main(["export", str(project), "--frames", "0:5", "--output", str(folder / "a.glb")]) == 0
    assert main(["report", str(project), "--frames", "0:2", "--output", str(folder / "a.html")]) == 0
    assert "<td>plug-in</td><td>acme-rope 1.0</td>" in (folder / "a.html").read_text()
    capsys.readouterr()
    loaded()
    assert main(["verify", str(project)]) == 1
    reason = "was baked by the plug-in acme-rope 1.0, which is not loaded"
    assert capsys.readouterr().err.splitlines()[-1] == f"sinew: {project}: r: {reason}"


@pytest.mark.slow
def test_scripts_open_projects_with_it(site, project):
    code = (
        f"import sinew\np = sinew.open({str(project)!r})\nmade = p.add('acme.rope', 'Third', knots=4)\n"
        "p.simulate(steps=3)\nprint([node.arrays()['positions'].shape for node in (p.nodes['Rope'], made)])"
    )
    status, out, err = finished("-c", code, PYTHONPATH=f"{REPO_ROOT}:{site}")
    assert (status, out, err) == (0, "[(16, 3), (4, 3)]\n", "")


def test_a_project_with_its_nodes_survives_without_it(site, project, loaded):
    def saved() -> bytes:
        opened = load_project(project)
        warnings.append(opened.warnings)
        save_project(project, opened.scene, opened.view_state, opened.unknown)
        return project.read_bytes()

    warnings: list[tuple[str, ...]] = []
    loaded(site)
    content = saved()
    assert content.count(b'"package": "acme-rope 1.0",\n        "kind_version": 1\n') == 2
    loaded()
    assert saved() == content
    unknown = "has the unknown type acme.rope of the plug-in acme-rope 1.0; it is kept but not shown"
    assert warnings == [(), (f"Rope {unknown}", f"Short {unknown}")]
    loaded(site)
    assert saved() == content
    assert main(["info", str(project), "--no-plugins"]) == 0


def test_nodes_of_another_version_are_updated_or_kept(site, project, loaded):
    def migrate(version, node, nodes):
        node["acme.rope"]["length"] = version + len(nodes) / node["acme.rope"]["knots"]

    def opened(version: object, knots: int = 16) -> tuple[list[float], tuple[str, ...]]:
        content["nodes"][2]["plugin"]["kind_version"] = version
        content["nodes"][2]["acme.rope"]["knots"] = knots
        project.write_text(json.dumps(content))
        found = load_project(project)
        return [node.settings.length for node in found.scene.of_kind("acme.rope")], found.warnings

    loaded(site)
    KINDS["acme.rope"] = dataclasses.replace(KINDS["acme.rope"], version=3).with_parts(Edits(migrate=migrate))
    content, length = json.loads(project.read_text()), 1.0 + 3 / 16
    assert opened(2) == ([length, 2.0 + 3 / 16], ())
    assert opened(3) == ([length, 0.5], ())
    newer = "Short is of version 4 of acme.rope, newer than 3 of acme-rope 1.0; it is kept but not shown"
    assert opened(4) == ([length], (newer,))
    reason = "ZeroDivisionError: division by zero"
    failed = f"Short cannot be read by the plug-in acme-rope 1.0 ({reason}); it is kept but not shown"
    assert opened(1, knots=0) == ([length], (failed,))
    with pytest.raises(ProjectError, match=r'\$.nodes\[2\].plugin.kind_version: "x" is not allowed; allowed: a whole'):
        opened("x")


def test_broken_plugins_disable_only_themselves(site, project, tmp_path, loaded, capsys):
    entries = {name: value for name, (value, _) in BROKEN.items()}
    install(tmp_path / "broken", "broken", entries, MODULES)
    kinds = set(KINDS)
    loaded(site, tmp_path / "broken")
    found = capsys.readouterr()
    assert found.out == ""
    printed, *lines = sorted(found.err.splitlines(), key=lambda line: line.startswith("sinew: "))
    assert printed == "half of it"
    assert sorted(lines) == sorted(
        f"sinew: plug-in {name.partition(':')[2]} of broken 0.1: warning: {reason}"
        for name, (_, reason) in BROKEN.items()
    )
    assert set(KINDS) == {*kinds, "acme.rope"}
    assert main(["info", str(project), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kinds"] == {"light": 1, "acme.rope": 2}


def test_nodes_of_a_plug_in_for_another_api_are_kept(loaded, tmp_path, capsys):
    install(tmp_path / "old", "old", {"kinds:old": "broken_old:KIND"}, {"broken_old.py": OLD})
    loaded(tmp_path / "old")
    line = "sinew: plug-in old of old 0.1: warning: is written for api=1; this program has 2\n"
    assert capsys.readouterr().err == line
    node = {"id": "o", "name": "Old", "acme.old": {"x": 3}, "plugin": {"package": "old 0.1", "kind_version": 1}}
    path = tmp_path / "a.sinew"
    path.write_text(json.dumps({"format": "sinew-project", "version": 3, "nodes": [node]}))
    project = load_project(path)
    unknown = "Old has the unknown type acme.old of the plug-in old 0.1; it is kept but not shown"
    assert project.warnings == (unknown,)
    save_project(path, project.scene, project.view_state, project.unknown)
    assert [saved for saved in json.loads(path.read_text())["nodes"] if saved["id"] == "o"] == [node]


def test_functions_of_a_kind_that_raise_are_replaced_and_reported_once(site, loaded, tmp_path, capsys):
    text = ROPE + """
from sinew.sim.kinds.contract import Adds, Edits, Files, Form
def failing(*_):
    raise ZeroDivisionError("division by zero")
KIND = dataclasses.replace(ROPE, name="acme.bad", settings=type("B", (ROPE.settings,), {"kind": "acme.bad"}),
    parts=(Adds((dataclasses.replace(ROPE.part(Adds).entries[0], id="bad", make=failing),)), Files(failing),
           Form(failing), Edits(failing)))
"""  # fmt: skip
    install(tmp_path / "bad", "bad", {"kinds:bad": "acme_bad:KIND"}, {"acme_bad.py": text})
    loaded(site, tmp_path / "bad")
    kind = KINDS["acme.bad"]
    node = kind.part(Adds).entries[0].make(None)
    assert node.kind == "acme.bad"
    assert kind.part(Files).used(node.settings) == ()
    assert kind.part(Form).idle(node) == frozenset()
    assert kind.part(Edits).completed(None, node, None) is node
    line = "sinew: plug-in bad of bad 0.1: warning: ZeroDivisionError: division by zero\n"
    assert capsys.readouterr().err == line


def test_a_queued_command_needs_its_plugins(site, project, tmp_path, loaded, capsys):
    def required(package: str) -> tuple[int, str]:
        status = main(["info", str(project), "--require-plugin", package])
        return status, capsys.readouterr().err.splitlines()[-1] if status else ""

    loaded()
    assert required("acme-rope 1.0") == (1, "sinew: plug-in acme-rope 1.0: is not loaded")
    install(tmp_path / "broken", "broken", {"kinds:leaves": "broken_leaves:KIND"}, MODULES)
    loaded(site, tmp_path / "broken")
    assert required("acme-rope 1.0") == (0, "")
    assert required("acme-rope 1.1") == (1, "sinew: plug-in acme-rope 1.1: there is acme-rope 1.0")
    assert required("broken 0.1") == (1, "sinew: plug-in broken 0.1: leaves: SystemExit: 5")
    assert main(["info", str(project), "--require-plugin"]) == 2
    scene = load_project(project).scene
    for given in ((), ("acme-rope 1.0",), ("a 1",)):
        job = with_plugins(Job(require_plugin=given), scene)
        assert job.require_plugin == tuple(dict.fromkeys((*given, "acme-rope 1.0")))
    assert words_of(job)[1:] == ["--require-plugin", "a 1", "--require-plugin", "acme-rope 1.0"]


def test_tasks_of_a_farm_name_the_plugins(site, project, tmp_path, loaded):
    loaded(site)
    words = ["sweep", project, "--set", "Rope.radius=0.01,0.02", "--output", tmp_path / "a.csv"]
    for number in range(2):  # the second time it is given
        template = tmp_path / f"{number}.json"
        given = ["--require-plugin", "acme-rope 1.0"][: 2 * number]
        assert main([*map(str, words), "--openjd", str(template), *given]) == 0
        assert template.read_text().count('"--require-plugin",') == 2  # a step for the cells, and one that joins them


def test_parts_of_an_output_depend_on_the_files_of_the_plugins_in_use(site, project, tmp_path, loaded):
    def parts() -> Path:
        return parts_folder(tmp_path / "a.csv", opened(project, OWN), b"sweep")

    folder = tmp_path / "site"
    shutil.copytree(site, folder)
    install(tmp_path / "other", "other", {"formats:other": "other_format:FORMAT"}, {"other_format.py": "FORMAT = 3"})
    loaded(folder, tmp_path / "other")
    first = parts()
    (tmp_path / "other" / "other_format.py").write_text("FORMAT = 4")
    assert parts() == first, "no node of the project is of it"
    (file,) = folder.rglob("system.py")
    file.write_text(file.read_text() + "\n# changed\n")
    second = parts()
    assert second != first
    (shader, *_) = folder.rglob("*.glsl")
    shader.write_text(shader.read_text() + "\n")
    assert parts() not in (first, second)


def test_packages_with_damaged_metadata_are_left_out(site, tmp_path, loaded, capsys):
    info = tmp_path / "bad" / "bad-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text("[sinew.kinds]\nno value\n")
    (tmp_path / "bad" / "dir-1.0.dist-info" / "entry_points.txt").mkdir(parents=True)
    (tmp_path / "bad" / "raw-1.0.dist-info").mkdir()
    (tmp_path / "bad" / "raw-1.0.dist-info" / "entry_points.txt").write_bytes(b"[sinew.kinds]\n\xff = \xfe\n")
    loaded(tmp_path / "bad", site)
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(" cannot be read")[0] for line in lines] == [
        f"sinew: plug-in {name} of {name}: warning: {tmp_path / 'bad' / name}-1.0.dist-info" for name in ("bad", "raw")
    ]
    assert "acme.rope" in KINDS


def test_a_format_and_a_command_of_a_package(site, project, tmp_path, loaded, capsys):
    def run(*words: object) -> tuple[int, str, str]:
        return main([*map(str, words)]), *capsys.readouterr()

    loaded(site)
    file = tmp_path / "a.soup"
    file.write_text("SOUP\n0 0 0\n2 0 0\n0 1 0\n")
    status, out, err = run("info", file)
    assert (status, err) == (0, "")
    assert "format      Triangle soup" in out
    for text, reason in (
        ("SOUP\n0 0 0\n2 0\n0 1 0\n", "line 3: is not three numbers"),
        ("SOUP\n0 0 0\n2 0 nan\n0 1 0\n", "vertices of mesh 'soup' (mesh 1): position 1 has the unusable value nan"),
        ("SOUP\n0 0 0\n2 0 1e999\n", "vertices of mesh 'soup' (mesh 1): position 1 has the unusable value inf"),
    ):
        file.write_text(text)
        assert run("info", file) == (1, "", f"sinew: {file}: {reason}\n")
    assert "  sinew rope-length print the length of every rope of a project\n" in run("--help")[1]
    assert run("rope-length", project) == (0, "Rope: 1 m\nShort: 0.5 m\n", "")
    assert run("rope-length", tmp_path / "b") == (1, "", f"sinew: {tmp_path / 'b'}: No such file or directory\n")


@pytest.mark.parametrize(
    ("reader", "reason"),
    [
        ("failing", "the plug-in bad 0.1 cannot read it: ZeroDivisionError: division by zero"),
        ("int", "the plug-in bad 0.1 cannot read it: TypeError: int() takes at most 2 arguments (3 given)"),
        ("lambda *_: 3", "the plug-in bad 0.1 returns a value of the type int, not a RawModel"),
    ],
)
def test_a_reader_that_fails_is_a_fault_of_the_file(reader, reason, tmp_path, loaded, capsys):
    text = f"""
from sinew.sim.assets.formats import ModelFormat
def failing(*_):
    raise ZeroDivisionError("division by zero")
BAD = ModelFormat(key="bad", name="Bad", suffixes=(".bad",), by_suffix=True, sniff=failing, reader={reader})
"""
    install(tmp_path / "bad", "bad", {"formats:bad": "acme_bad:BAD"}, {"acme_bad.py": text})
    loaded(tmp_path / "bad")
    file = tmp_path / "a.bad"
    file.write_text("content")
    assert main(["info", str(file)]) == 1
    warning, line = capsys.readouterr().err.splitlines()
    assert warning == "sinew: plug-in bad of bad 0.1: warning: ZeroDivisionError: division by zero"
    assert line == f"sinew: {file}: {reason}"


def test_files_of_the_user_run_once_they_are_ticked(tmp_path, loaded, capsys, monkeypatch):
    folder = tmp_path / "plugins"
    (folder / "greet").mkdir(parents=True)
    (folder / "greet" / "__init__.py").write_text(
        "'Print a greeting.'\nfrom .words import TEXT\n__version__ = '2.0'\n"
        "def add_arguments(parser): pass\ndef run(options): print(TEXT)\n"
    )
    (folder / "greet" / "words.py").write_text("TEXT = 'hello'\n")
    (folder / "json.py").write_text("1 / 0\n")
    monkeypatch.setenv("SINEW_CONFIG_DIR", str(tmp_path))
    loaded()
    assert [(plugin.name, plugin.state) for plugin in plugins.PLUGINS] == [("greet", "off"), ("json.py", "off")]
    for name in ("greet", "json.py"):
        plugins.tick(name, True)
    loaded()
    assert capsys.readouterr().err == "sinew: plug-in json.py: warning: ZeroDivisionError: division by zero\n"
    assert [(plugin.package, plugin.state) for plugin in plugins.PLUGINS] == [("greet 2.0", "on"), ("json", "failed")]
    assert main(["greet"]) == 0
    assert capsys.readouterr().out == "hello\n"
    plugins.tick("greet", False)
    assert plugins.ticked() == {"json.py"}
    for ticks in ("{", "3", "[3]", "[" * 100000):
        (tmp_path / "plugins.json").write_text(ticks)
        assert plugins.ticked() == frozenset()


def test_errors_name_file_and_line_of_included_shaders(site, loaded, tmp_path, monkeypatch):
    from sinew import shaders
    from sinew.sim.gl.errors import ShaderError
    from sinew.sim.gl.shader_source import reader, resolve

    loaded(site)
    names = set(shaders.files().values())
    assert {"acme.rope/step.glsl", "acme.rope/link.glsl", "common/collide.glsl"} <= names
    source = resolve("acme.rope/step.glsl", reader(shaders.ROOT))
    assert {"acme.rope/link.glsl", "common/collide.glsl"} <= set(source.files)
    (tmp_path / "a.glsl").write_text('\n#include "acme.rope/none.glsl"\n')
    monkeypatch.setitem(shaders.ROOTS, "acme.a", tmp_path)
    with pytest.raises(ShaderError, match=r"acme.a/a.glsl:2: cannot include 'acme.rope/none.glsl': No such file"):
        resolve("acme.a/a.glsl", reader(shaders.ROOT))
