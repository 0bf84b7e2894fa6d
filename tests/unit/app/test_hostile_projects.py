"""Projects and files made to exhaust time or memory, and values that no project may hold: one line, in linear time."""

import json
import shutil
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from sinew import resources
from sinew.app.cli.main import main
from sinew.app.project.node_names import NodeNames
from sinew.app.project.project_file import load_project
from sinew.app.project.project_json import VALUES_MAX, ProjectError
from sinew.sim.assets.raw import LoadCancelled
from tests.conftest import REPO_ROOT
from tests.refusals import refusal

HEAD = '{"format": "sinew-project", "version": 2'


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "bad.sinew"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def with_nodes(folder: Path, nodes: list[dict[str, Any]], version: int = 2) -> Path:
    return written(folder, json.dumps({"format": "sinew-project", "version": version, "nodes": nodes}))


WRONG = [
    ('"nodes": [{"id": "a", "emitter": {"colour_over_life": 1}}]', "$.nodes[0].emitter.colour_over_life: 1 is not"),
    ('"nodes": [{"id": "a", "emitter": {"opacity_over_life": [[0, 1, 2]]}}]',
     "$.nodes[0].emitter.opacity_over_life: [[0, 1, 2]] is not allowed; allowed: 1 to 32 items of 2 numbers from 0 to"
     " 1, in order"),
    ('"nodes": [{"id": "a", "emitter": {"opacity_over_life": [[0, 1], [0.5, 0.5], [0.2, 0.1]]}}]',
     "$.nodes[0].emitter.opacity_over_life: [[0, 1], [0.5, 0.5], [0.2, 0.1]] is not allowed"),
    ('"nodes": [{"id": "a", "hair": {"groom": [{"guides": 3, "edited": 1, "segments": 4, "data": "AAAA"}]}}]',
     '$.nodes[0].hair.groom: [{"guides": 3, "edited": 1, "segments": 4, "data": "AAAA"}] is not allowed; data: 4'
     " letters, not the 92 of 1 of 3 guides"),
    ('"nodes": [{"id": "a", "hair": {"groom": [{"guides": 3}]}}]',
     '$.nodes[0].hair.groom: [{"guides": 3}] is not allowed; allowed: 0 to 1 items of an object with guides, edited,'),
    ('"nodes": [{"id": "a", "cloth": {"maps": [{"count": 1000000000, "topology": "2x2", "pin": "AAA="}]}}]',
     '$.nodes[0].cloth.maps: [{"count": 1000000000, "topology": "2x2", "pin": "AAA="}] is not allowed'),
    ('"nodes": [{"id": "a", "cloth": {"maps": [{"count": 4, "topology": "2x2", "pin": "AAA="}]}}]',
     '$.nodes[0].cloth.maps: [{"count": 4, "topology": "2x2", "pin": "AAA="}] is not allowed; pin: 2 bytes, not the 8'),
    ('"nodes": [{"id": "a", "cloth": {"maps": [{"count": 1, "topology": "1x1", "mass": "AH4="}]}}]',
     '$.nodes[0].cloth.maps: [{"count": 1, "topology": "1x1", "mass": "AH4="}] is not allowed; mass: nan of'),
    ('"nodes": [{"id": "a", "cloth": {"maps": [{"count": 1, "topology": "1x1", "bend": "A!4="}]}}]',
     '$.nodes[0].cloth.maps: [{"count": 1, "topology": "1x1", "bend": "A!4="}] is not allowed; bend: not base64'),
    ('"nodes": [{"id": "a", "cloth": {"maps": [{"count": 1, "topology": "3x1"}]}}]',
     '$.nodes[0].cloth.maps: [{"count": 1, "topology": "3x1"}] is not allowed; topology: a sheet of 3x1 has no 1'),
    ('"view": {"display": "\\ud800"}', '$.view.display: "\\ud800" holds half a surrogate pair'),
    ('"view": {"display": "\\udcff"}', '$.view.display: "\\udcff" is not allowed; allowed: one of: '),
    ('"nodes": [{"id": "\\ud800", "light": {}}]', '$.nodes[0].id: "\\ud800" holds half'),
    ('"nodes": [{"id": "a", "name": "\\ud800", "light": {}}]', '$.nodes[0].name: "\\ud800" holds half'),
    ('"\\ud800": 1', '$["\\ud800"]: "\\ud800" holds half'),
    ('"view": {"divider": ' + "9" * 5000 + "}", "$.view.divider: inf is not allowed; allowed: a finite number"),
    ('"nodes": [{"id": "a", "light": {}, "name": "\\u001b[31m' + "x" * 500 + '"}, 7]', "$.nodes[1]: 7 is not allowed"),
    ('"' + "k" * 5000 + '": {"\\u202e": NaN}', "$"),
]  # fmt: skip


@pytest.mark.parametrize(("part", "start"), WRONG)
def test_a_wrong_value_is_refused_by_its_path_in_one_line(tmp_path, part, start, capsys):
    path = written(tmp_path, f"{HEAD}, {part}}}")
    message = refusal(load_project, path, ProjectError)
    assert message.startswith(start)
    assert len(message) < 500
    assert main(["simulate", str(path), "--output", str(tmp_path / "a.npz")]) == 1
    assert capsys.readouterr().err == f"sinew: {path}: {message}\n"


def test_the_given_faults_are_one_line_each(assets: Path) -> None:
    folder = assets / "faults"
    if not folder.is_dir():
        pytest.skip(f"there is no {folder}")
    reported = {}
    for path in sorted(folder.glob("*.sinew")):
        try:
            load_project(path)
        except ProjectError as error:
            reported[path.stem] = str(error)
    assert all(len(text.splitlines()) == 1 and text.isprintable() for text in reported.values())
    assert {name for name in reported if name.startswith(("typeerror", "bigint", "stop_order", "dupkeys"))} == {
        "typeerror_colour_over_life", "typeerror_opacity_over_life", "typeerror_size_over_life", "bigint", "stop_order",
        "dupkeys_20000",
    }  # fmt: skip


@pytest.mark.slow
def test_many_nodes_and_keys_load_in_linear_time(tmp_path: Path) -> None:
    """Quadratic work would take minutes, and run into the time limit of the tests."""
    kinds: list[dict[str, Any]] = [
        {"light": {}}, {"light": {}, "name": "equal"}, {"light": {}, "attachment": {"node": "n0"}}, {"kite": {}},
        {"light": {"unknown": 1}, "name": "x" * 50},
    ]  # fmt: skip
    nodes = [{"id": "n0", "light": {}}, *({"id": f"n{number}", **kinds[number % 5]} for number in range(1, 40_000))]
    project = load_project(with_nodes(tmp_path, nodes))
    assert len(project.scene.nodes) + len(project.unknown.nodes) == 40_000
    assert len(project.warnings) <= 101
    chain = [{"id": f"n{n}", "light": {}, "attachment": {"node": f"n{n - 1}"}} for n in range(20_000)]
    for ordered in (chain, chain[::-1]):
        assert len(load_project(with_nodes(tmp_path, ordered)).scene.nodes) == 20_000
    old = [{"id": f"n{number}", "emitter": {"model_node": "m", "bone": "b"}} for number in range(10_000)]
    assert load_project(with_nodes(tmp_path, old, version=1)).migrated_from == 1
    keys = ", ".join(f'"k{number}": 1' for number in [*range(100_000), 99_999])
    assert (
        refusal(load_project, written(tmp_path, f"{HEAD}, {keys}}}"), ProjectError)
        == 'key "k99999" is there twice in one object'
    )


@pytest.mark.parametrize("value", ["{}", "0", '{"":0}'])
def test_values_are_counted_before_any_is_made(tmp_path: Path, value: str) -> None:
    path = written(tmp_path, f'{HEAD}, "x": [{value}{("," + value) * VALUES_MAX}]}}')
    tracemalloc.start()
    try:
        assert refusal(load_project, path, ProjectError) == f"holds more than {VALUES_MAX} values"
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * path.stat().st_size


def test_unknown_keys_are_reported_a_hundred_times_at_most(tmp_path: Path) -> None:
    keys = ", ".join(f'"k{number}": 1' for number in range(5000))
    warnings = load_project(written(tmp_path, f"{HEAD}, {keys}}}")).warnings
    assert len(warnings) == 101
    assert warnings[-1] == "4900 more warnings are not shown."


def test_warnings_are_short_whatever_the_names(tmp_path: Path) -> None:
    long = "\x1b" + "n" * 100_000
    nodes = [{"id": long + end, "name": long, "light": {}} for end in "ab"] + [{"id": "c", long: {}}]
    warnings = load_project(with_nodes(tmp_path, nodes)).warnings
    assert len(warnings) == 2
    assert all(len(text) < 400 and text.isprintable() for text in warnings)


def test_names_are_numbered_as_the_first_free_one() -> None:
    names = NodeNames(["a", "a.002", "b.001"])
    assert [names.take(name) for name in ("a", "a", "a.002", "b", "b", "c")] == [
        "a.001", "a.003", "a.004", "b", "b.002", "c",
    ]  # fmt: skip


def test_loading_has_progress_and_can_be_cancelled(tmp_path: Path) -> None:
    path = with_nodes(tmp_path, [{"id": f"n{number}", "light": {}} for number in range(1000)])
    seen: list[float] = []
    load_project(path, progress=seen.append)
    assert len(seen) > 50
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    seen.clear()
    with pytest.raises(LoadCancelled):
        load_project(path, progress=seen.append, cancelled=lambda: bool(seen) and seen[-1] > 0.5)
    assert 0.5 < seen[-1] < 0.6


PEAK_BYTES = 500 << 20
READER = """
import json, pathlib, resource, sys
from sinew.app.cli.main import main
from sinew.app.project.project_file import load_project
from sinew.sim.assets.images import load_image
from sinew.sim.kinds.cloth.pins import pin_flags, toggled_pin_list

resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
for name, reader in json.loads(sys.argv[1]):
    print("file", name)
    try:
        if reader == "info":
            main(["info", name])
        elif reader == "image":
            load_image(pathlib.Path(name))
        else:
            cloth = next(node.settings for node in load_project(pathlib.Path(name)).scene.nodes if node.kind == "cloth")
            flags = pin_flags(cloth.pins, cloth.pin_list, 1156, 0)
            print(flags.sum(), toggled_pin_list(cloth.pin_list, flags, [3]))
    except Exception as error:
        print(error)
    sys.stdout.flush()
print("peak", pathlib.Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
"""
"""Reads every file, and prints the most memory [KiB] that it took; ends where work hangs."""

READ = {
    "anim_bomb_235KB_1.7GB.gltf": ("info", "Clips (1)"),
    "anim_bomb_697KB_over9GB.gltf": ("info", "Clips (1)"),
    "gltf/shared_vertices_many_targets.glb": ("info", "vertices    80,000"),
    "pin_list_300chars_12GB.sinew": ("pins", "1156 0-2 4-4194304 -3"),
    "pin_list_ranges_11GB.sinew": ("pins", "1156 0-2 4-1999 -3"),
    "double_slash_path_changes_on_save.sinew": ("info", "//host/share/x.ezm, on another machine"),
    "slow_110007.sinew": ("info", "Files (1)"),
    "jpeg_scan_bomb_22s.jpg": ("image", "has 406 scans of 8000 x 8000 pixels; allowed: 1073741824 in all"),
}
"""What reads each file, and what it prints."""


@pytest.mark.slow
def test_every_file_has_its_outcome_within_a_bound_of_memory(assets: Path, tmp_path: Path) -> None:
    folder = assets / "faults3"
    expected = {folder / name: outcome for name, outcome in READ.items() if (folder / name).is_file()}
    others = [path for path in folder.rglob("*.gl*") if "bomb" not in path.name and path not in expected]
    expected |= dict.fromkeys(others, ("info", "Sections"))
    if not expected:
        pytest.skip(f"{folder} is absent")
    copies = [Path(shutil.copyfile(path, tmp_path / path.name)) for path in expected]
    work = [[str(copy), reader] for copy, (reader, _) in zip(copies, expected.values(), strict=True)]
    command = [sys.executable, "-c", READER, json.dumps(work)]
    done = subprocess.run(command, cwd=REPO_ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    *parts, peak = done.stdout.replace("\npeak ", "\nfile peak ").split("file ")[1:]
    for (path, (_, reported)), printed in zip(expected.items(), parts, strict=True):
        assert reported in printed, path
    assert int(peak.split()[1]) << 10 < PEAK_BYTES


LONG = "x" * 5000


def test_messages_quote_the_beginning_of_a_long_value(tmp_path: Path) -> None:
    content = json.loads((resources.path("projects") / "cape.sinew").read_text(encoding="utf-8"))
    cape = next(node for node in content["nodes"] if "cloth" in node)
    curve = {"part": "cloth", "field": "density", "keys": [{"time": 0.0, "value": LONG, "mode": "step"}]}
    changes = [
        (content, "version", LONG),
        (content, "nodes", {LONG: 1}),
        (cape, "visible", [LONG]),
        (cape, "transform", LONG),
        (cape["cloth"], "source", LONG),
        (cape["cloth"], "columns", [1] * 5000),
        (cape, "curves", [curve]),
        (cape, "curves", [{**curve, "part": LONG}]),
        (cape, "curves", [{**curve, "field": LONG}]),
        (cape, "curves", [{**curve, LONG: 1}]),
    ]
    for owner, key, value in changes:
        before = owner.get(key)
        owner[key] = value
        path = tmp_path / "a.sinew"
        path.write_text(json.dumps(content), encoding="utf-8")
        if key == "curves":
            del owner[key]
        else:
            owner[key] = before
        try:
            warnings = load_project(path).warnings
        except ProjectError as error:
            warnings = (str(error),)
        assert warnings
        assert all(len(line) < 400 + len(str(path)) for line in warnings), (key, warnings)


def test_every_project_of_the_faults_ends_in_one_short_line(assets: Path) -> None:
    folder = assets / "faults4"
    for path in sorted(folder.glob("long_value*.sinew")):
        with pytest.raises(ProjectError) as error:
            load_project(path)
        assert len(str(error.value)) < 400
