"""Projects made to exhaust time or memory, and values that no project may hold: one line, in linear time."""

import json
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from sinew.app.cli.main import main
from sinew.app.document.node_names import NodeNames
from sinew.app.files.project_file import load_project
from sinew.app.files.project_json import VALUES_MAX, ProjectError
from sinew.sim.assets.raw import LoadCancelled

HEAD = '{"format": "sinew-project", "version": 2'


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "bad.sinew"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def with_nodes(folder: Path, nodes: list[dict[str, Any]], version: int = 2) -> Path:
    return written(folder, json.dumps({"format": "sinew-project", "version": version, "nodes": nodes}))


def refusal(path: Path) -> str:
    """The one line, without the path."""
    with pytest.raises(ProjectError) as caught:
        load_project(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert len(message.splitlines()) == 1
    assert message.isprintable()
    return message.removeprefix(f"{path}: ")


WRONG = [
    ('"nodes": [{"id": "a", "emitter": {"colour_over_life": 1}}]', "$.nodes[0].emitter.colour_over_life: 1 is not"),
    ('"nodes": [{"id": "a", "emitter": {"size_over_life": null}}]', "$.nodes[0].emitter.size_over_life: null is not"),
    ('"nodes": [{"id": "a", "emitter": {"opacity_over_life": [[0, 1, 2]]}}]',
     "$.nodes[0].emitter.opacity_over_life: [[0, 1, 2]] is not allowed; allowed: 1 to 32 items of 2 numbers from 0 to"
     " 1, in order"),
    ('"nodes": [{"id": "a", "emitter": {"opacity_over_life": []}}]', "$.nodes[0].emitter.opacity_over_life: [] is not"),
    ('"nodes": [{"id": "a", "emitter": {"opacity_over_life": [[0, 1], [0.5, 0.5], [0.2, 0.1]]}}]',
     "$.nodes[0].emitter.opacity_over_life: [[0, 1], [0.5, 0.5], [0.2, 0.1]] is not allowed"),
    ('"nodes": [{"id": "a", "hair": {"groom": [{"guides": 3, "edited": 1, "segments": 4, "data": "AAAA"}]}}]',
     '$.nodes[0].hair.groom: [{"guides": 3, "edited": 1, "segments": 4, "data": "AAAA"}] is not allowed; data: 4'
     " letters, not the 92 of 1 of 3 guides"),
    ('"nodes": [{"id": "a", "hair": {"groom": [{"guides": 3}]}}]',
     '$.nodes[0].hair.groom: [{"guides": 3}] is not allowed; allowed: 0 to 1 items of an object with guides, edited,'),
    ('"view": {"display": "\\ud800"}', '$.view.display: "\\ud800" holds half a surrogate pair'),
    ('"view": {"display": "\\udcff"}', '$.view.display: "\\udcff" is not allowed; allowed: one of: '),
    ('"nodes": [{"id": "\\ud800", "light": {}}]', '$.nodes[0].id: "\\ud800" holds half'),
    ('"nodes": [{"id": "a", "name": "\\ud800", "light": {}}]', '$.nodes[0].name: "\\ud800" holds half'),
    ('"nodes": [{"id": "a", "name": "\\ude00\\ud83d", "light": {}}]', '$.nodes[0].name: "\\ude00\\ud83d" holds half'),
    ('"\\ud800": 1', '$["\\ud800"]: "\\ud800" holds half'),
    ('"view": {"divider": ' + "9" * 5000 + "}", "$.view.divider: inf is not allowed; allowed: a finite number"),
    ('"view": {"divider": 1' + "0" * 400 + "}", "$.view.divider: 1000000000"),
    ('"view": {"divider": 1e999}', "$.view.divider: inf is not allowed"),
    ('"nodes": [{"id": "a", "light": {}, "name": "\\u001b[31m' + "x" * 500 + '"}, 7]', "$.nodes[1]: 7 is not allowed"),
    ('"' + "k" * 5000 + '": {"\\u202e": NaN}', "$"),
]  # fmt: skip


@pytest.mark.parametrize(("part", "start"), WRONG)
def test_a_wrong_value_is_told_by_its_path_in_one_line(
    tmp_path: Path, part: str, start: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, f"{HEAD}, {part}}}")
    message = refusal(path)
    assert message.startswith(start)
    assert len(message) < 500
    assert main(["simulate", str(path), "--output", str(tmp_path / "a.npz")]) == 1
    assert capsys.readouterr().err == f"sinew: {path}: {message}\n"


def test_a_file_name_that_is_no_text_may_be_named(tmp_path: Path) -> None:
    path = written(
        tmp_path, f'{HEAD}, "nodes": [{{"id": "a", "name": "\\udcff", "model": {{"path": "\\udcff.ezm"}}}}]}}'
    )
    (node,) = load_project(path).scene.nodes
    assert (node.name, Path(node.settings.path).name) == ("\udcff", "\udcff.ezm")


def test_the_given_faults_are_one_line_each(assets: Path) -> None:
    """Whatever was found once stays refused by a line, or is read."""
    folder = assets / "faults"
    if not folder.is_dir():
        pytest.skip(f"there is no {folder}")
    reported = {}
    for path in sorted(folder.glob("*.sinew")):
        started = time.perf_counter()
        try:
            load_project(path)
        except ProjectError as error:
            reported[path.stem] = str(error)
        assert time.perf_counter() - started < 2.0, path
    assert all(len(text.splitlines()) == 1 and text.isprintable() for text in reported.values())
    assert {name for name in reported if name.startswith(("typeerror", "bigint", "stop_order", "dupkeys"))} == {
        "typeerror_colour_over_life", "typeerror_opacity_over_life", "typeerror_size_over_life", "bigint", "stop_order",
        "dupkeys_20000",
    }  # fmt: skip


@pytest.mark.parametrize(
    "node",
    [
        {"light": {}},
        {"light": {}, "name": "equal"},
        {"light": {}, "attachment": {"node": "n0"}},
        {"kite": {}},
        {"light": {"unknown": 1}, "name": "x" * 50},
    ],
    ids=["unnamed", "one name", "one carrier", "unknown kind", "unknown key"],
)
def test_twenty_thousand_nodes_load_in_linear_time(tmp_path: Path, node: dict[str, Any]) -> None:
    """Quadratic work would take minutes."""
    nodes = [{"id": "n0", "light": {}}, *({"id": f"n{number}", **node} for number in range(1, 20_000))]
    started = time.perf_counter()
    project = load_project(with_nodes(tmp_path, nodes))
    assert time.perf_counter() - started < 5.0
    assert len(project.scene.nodes) + len(project.unknown.nodes) == 20_000
    assert len(project.warnings) <= 101


@pytest.mark.parametrize("step", [1, -1])
def test_a_chain_of_twenty_thousand_nodes_loads_in_linear_time(tmp_path: Path, step: int) -> None:
    ids = [f"n{number}" for number in range(20_000)][::step]
    nodes = [{"id": own, "light": {}, "attachment": {"node": f"n{int(own[1:]) - 1}"}} for own in ids]
    started = time.perf_counter()
    assert len(load_project(with_nodes(tmp_path, nodes)).scene.nodes) == 20_000
    assert time.perf_counter() - started < 5.0


def test_old_nodes_are_converted_in_linear_time(tmp_path: Path) -> None:
    nodes = [{"id": f"n{number}", "emitter": {"model_node": "m", "bone": "b"}} for number in range(10_000)]
    started = time.perf_counter()
    assert load_project(with_nodes(tmp_path, nodes, version=1)).migrated_from == 1
    assert time.perf_counter() - started < 5.0


def test_a_key_that_stands_twice_among_many_is_found_at_once(tmp_path: Path) -> None:
    keys = ", ".join(f'"k{number}": 1' for number in [*range(100_000), 99_999])
    started = time.perf_counter()
    assert refusal(written(tmp_path, f"{HEAD}, {keys}}}")) == 'key "k99999" is there twice in one object'
    assert time.perf_counter() - started < 2.0


@pytest.mark.parametrize("value", ["{}", "[]", "0", '""', '{"":0}'])
def test_values_are_counted_before_any_is_made(tmp_path: Path, value: str) -> None:
    path = written(tmp_path, f'{HEAD}, "x": [{value}{("," + value) * VALUES_MAX}]}}')
    tracemalloc.start()
    try:
        assert refusal(path) == f"holds more than {VALUES_MAX} values"
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * path.stat().st_size


def test_unknown_keys_are_told_a_hundred_times_at_most(tmp_path: Path) -> None:
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


def test_loading_tells_how_far_it_is_and_can_be_cancelled(tmp_path: Path) -> None:
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
