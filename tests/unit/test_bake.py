import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew import resources
from sinew.app.project.project_file import load_project
from sinew.sim.cache.bake import INDEX, Bake, BakeError, BakeWriter, checksum, free
from sinew.sim.cache.sweep import SweepError, axis_of, combinations, with_values
from sinew.sim.scene.params import ParamError
from tests.conftest import campaign, slow


def written(folder: Path, count: int, mark: bytes = b"a", node: str = "cape") -> None:
    writer = BakeWriter(folder, {node: f"key {mark!r}"}, 0.5, "a card")
    for step in range(1, count + 1):
        writer.add(step, {node: mark * step})
    writer.finish()


def test_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    written(tmp_path / "c", 5)
    written(tmp_path / "c", 3, b"b", "sparks")
    bake = Bake(tmp_path / "c")
    assert bake.steps("cape") == range(1, 6)
    assert [bake.state("cape", step) for step in (1, 5)] == [b"a", b"aaaaa"]
    assert bake.state("sparks", 3) == b"bbb", "another node stays beside it"
    assert (bake.state("cape", 0), bake.state("cape", 6), bake.state("none", 1)) == (None, None, None)
    free(tmp_path / "c", ["cape"])
    bake = Bake(tmp_path / "c")
    assert not bake.steps("cape")
    assert bake.state("sparks", 1) == b"b"
    assert len(list((tmp_path / "c").iterdir())) == 2


def test_a_short_file_loses_only_its_last_steps(tmp_path: Path) -> None:
    written(tmp_path, 5)
    (path,) = tmp_path.glob("cape*")
    with path.open("r+b") as file:
        file.truncate(11)
    bake = Bake(tmp_path)
    assert bake.steps("cape") == range(1, 5)
    assert bake.state("cape", 5) is None


def test_a_broken_index_is_reported_with_its_name(tmp_path: Path) -> None:
    for change in (
        lambda content: content.update(format="other"),
        lambda content: content.update(version=2),
        lambda content: content["nodes"]["cape"].update(file="../cape-0.steps"),
        lambda content: content["nodes"]["cape"].update(rows=[[-4, 4]]),
        lambda content: content["nodes"]["cape"].update(rows=[[0]]),
        lambda content: content["nodes"]["cape"].update(rows=[[0, 0]] * 1000),
        lambda content: content["nodes"]["cape"].update(rows=[[0, 3], [0, 3]]),
        lambda content: content["nodes"]["cape"].update(first=-1),
        lambda content: content["nodes"]["cape"].update(first=1_000_000_000),
        lambda content: content["nodes"]["cape"].update(sums=[1]),
        lambda content: content.update(dt=1e-9),
        lambda content: content.update(start=1e999),
        lambda content: content.update(nodes=7),
    ):
        written(tmp_path, 2)
        content = json.loads((tmp_path / INDEX).read_text())
        change(content)
        (tmp_path / INDEX).write_text(json.dumps(content))
        with pytest.raises(BakeError, match=INDEX):
            Bake(tmp_path)


@pytest.mark.parametrize("content", [b"", b"\xff", b"[" * 100_000, b"{}"])
def test_bytes_that_are_no_index_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / INDEX).write_bytes(content)
    if content == b"{}":
        assert Bake(tmp_path).index.nodes == {}
        return
    with pytest.raises(BakeError, match=INDEX):
        Bake(tmp_path)


def test_a_damaged_row_ends_the_steps_of_its_node_and_is_reported_once(tmp_path: Path) -> None:
    written(tmp_path, 5)
    written(tmp_path, 5, b"b", "sparks")
    (path,) = tmp_path.glob("cape*")
    data = bytearray(path.read_bytes())
    data[4] ^= 16  # of the third row
    path.write_bytes(data)
    bake = Bake(tmp_path)
    assert bake.steps("cape") == range(1, 6), "nothing is known of it before it is read"
    assert [bake.state("cape", step) for step in (2, 3, 3, 4, 2)] == [b"aa", None, None, None, b"aa"]
    assert bake.steps("cape") == range(1, 3)
    assert bake.state("sparks", 5) == b"bbbbb"
    (damage,) = bake.damaged
    assert str(damage) == f"step 3 of {tmp_path.name}/{path.name} is damaged; the following steps are simulated"
    content = json.loads((tmp_path / INDEX).read_text())
    del content["nodes"]["cape"]["sums"]
    (tmp_path / INDEX).write_text(json.dumps(content))
    bake = Bake(tmp_path)
    assert bake.state("cape", 1) == b"a", "older versions wrote no checksums"
    assert bake.state("cape", 3) is None, "yet a row that is no state is damaged"


@given(st.binary(min_size=1, max_size=40_000), st.data())
def test_checksums_notice_every_bit_and_sectors_that_change_places(row: bytes, data: st.DataObject) -> None:
    place, bit = data.draw(st.integers(0, len(row) - 1)), data.draw(st.integers(0, 7))
    other = bytearray(row)
    other[place] ^= 1 << bit
    assert checksum(bytes(other)) != checksum(row)
    for sector in (512, 4096, 8192):
        if len(row) >= 2 * sector and row[:sector] != row[sector : 2 * sector]:
            assert checksum(row[sector : 2 * sector] + row[:sector] + row[2 * sector :]) != checksum(row)
    assert checksum(row + b"\0") != checksum(row)


CHILD = """
import sys
from pathlib import Path
from sinew.sim.cache.bake import BakeWriter
folder, mark = Path(sys.argv[1]), int(sys.argv[2])
print("ready", flush=True)
while True:
    mark += 1
    writer = BakeWriter(folder, {"cape": str(mark)}, 0.0)
    for step in range(1, 6):
        writer.add(step, {"cape": mark.to_bytes(4, "little") * 500})
    writer.finish()
"""


@pytest.mark.parametrize("kills", [2, slow(6), campaign(100)])
def test_a_process_killed_while_baking_leaves_a_whole_bake(tmp_path: Path, kills: int) -> None:
    folder = tmp_path / "c"
    written(folder, 1)
    for number in range(kills):
        command = [sys.executable, "-c", CHILD, str(folder), str(number * 1000)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": os.getcwd()}) as child:
            child.stdout.readline()
            time.sleep(0.02 * number / kills)
            child.send_signal(signal.SIGKILL)
        bake = Bake(folder)
        mark = bake.index.nodes["cape"].key
        for step in bake.steps("cape"):
            row = bake.state("cape", step)
            assert row == b"a" or row == int(mark).to_bytes(4, "little") * 500
    written(folder, 2)
    assert len(list(folder.glob("*.steps"))) == 1, "what the killed left is swept away"


@pytest.fixture(scope="module")
def scene():
    return load_project(resources.path("projects") / "cape.sinew").scene


def test_values_are_read_as_their_settings_take_them(scene):
    for text, expected in (
        ("cape.substeps=4,8,16", (4, 8, 16)),
        ("Cape.substeps=4:8:3", (4, 6, 8)),
        ("cape.stretch_stiffness=1:100:log:3", (1.0, 10.0, 100.0)),
        ("cape.stretch-stiffness=5:5:2", (5.0,)),
        ("cape.turbulence_seed=1,2", (1, 2)),
        ("cape.wind=0 0 1,0 0 2", ((0.0, 0.0, 1.0), (0.0, 0.0, 2.0))),
    ):
        np.testing.assert_allclose(axis_of(scene, text).values, expected)


def test_texts_without_a_meaning_are_refused(scene):
    for text, reason in (
        ("substeps=4", "is not NODE.PARAM=VALUES"),
        ("cape.substeps", "is not NODE.PARAM=VALUES"),
        ("cloak.substeps=4", "no node 'cloak'; there are: Humanoid"),
        ("cape.stiffness=1,2", "no setting 'stiffness'; there are: stretch_stiffness"),
        ("cape.colour_of_money=1", "no setting"),
        ("cape.substeps=1:2", "neither from:to:count"),
        ("cape.substeps=1:nan:3", "two numbers"),
        ("cape.stretch_stiffness=0:10:log:3", "above 0"),
        ("cape.source=1:2:3", "is not a number"),
        ("cape.substeps=1:2:9999999", "a count from 1"),
    ):
        with pytest.raises(SweepError, match=reason):
            axis_of(scene, text)


def test_what_a_setting_refuses_is_refused_before_anything_runs(scene):
    for text in ("cape.substeps=0", "cape.substeps=many", "cape.stretch_stiffness=-1"):
        with pytest.raises(ParamError):
            axis_of(scene, text)


def test_all_combinations_run_the_last_axis_fastest(scene):
    axes = [axis_of(scene, "cape.substeps=8,16"), axis_of(scene, "cape.stretch_stiffness=1,2,3")]
    found = list(combinations(axes))
    assert found == [(8, 1.0), (8, 2.0), (8, 3.0), (16, 1.0), (16, 2.0), (16, 3.0)]
    settings = with_values(scene, axes, found[4]).node("cape").settings
    assert (settings.substeps, settings.stretch_stiffness) == (16, 2.0)
    with pytest.raises(SweepError, match="twice"):
        combinations([axes[0], axes[0]])
    with pytest.raises(SweepError, match="more than"):
        combinations([axis_of(scene, "cape.stretch_stiffness=1:2:4096"), axes[0]])
