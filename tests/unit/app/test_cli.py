import itertools
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest

from sinew import resources
from sinew.app.cli import main as cli
from sinew.app.cli.main import main
from sinew.app.failure.errors import CommandError, failure_text
from sinew.app.failure.progress import Progress, time_left
from sinew.app.jobs.report import page
from sinew.sim.assets.raw import ModelError
from sinew.sim.export import surface
from sinew.sim.export.formats import SURFACE_WRITERS
from tests.conftest import slow


def run_failing(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    status = main(arguments)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("sinew: ")
    return status, err.strip()


def test_a_wrong_command_line_fails_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, expected in (
        (["--nonsense"], "--nonsense"),
        (["info"], "MODEL|PROJECT"),
        (["info", "a.ezm", "b.ezm"], "b.ezm"),
        (["pose", "a.ezm"], "--output"),
        (["pose", "a.ezm", "--output", "a.fbx"], "'a.fbx' does not end in .npz or .obj or .ply"),
        (["pose", "a.ezm", "--output", "a.npz", "--time", "1", "--frame", "2"], "not allowed with"),
        (["pose", "a.ezm", "--output", "a.npz", "--time", "soon"], "'soon' is not a number"),
        (["pose", "a.ezm", "--output", "a.npz", "--method", "cubic"], "'cubic'"),
        (["pose", "a.ezm", "--output", "a.npz", "--backend", "abacus"], "'abacus'"),
        (["--verbose", "simulat"], "'simulate' is one"),
        (["info", "a.ezm", "\x1b[2J\u202e"], "\\x1b[2J\\u202e"),
        (["render", "a.ezm", "--output", "a%d.png", "--frames", "0:999999999999"], "is more than 100000 frames"),
        (["render", "a.ezm", "--output", "a.png", "--size", "9" * 5000 + "x1"], "is not WxH"),
        (["render", "a.ezm", "--output", "a.png", "--method", "cubic"], "'cubic'"),
        (["info", "a.ezm", "--js"], "unrecognized arguments"),
        (["pose", "a.ezm", "--out", "a.npz"], "required: --output"),
        (["sweep", "a.sinew", "--set", "a.b=1", "--outp", "a.csv"], "required: --output"),
        (["bench", "tea"], "there is no 'tea'; there are: skinning, "),
        (["bench", "--repeat", "0"], "'0' is not a whole number from 1"),
    ):
        status, line = run_failing(arguments, capsys)
        assert status == 2
        assert expected in line


def test_every_command_explains_itself(capsys: pytest.CaptureFixture[str], repo_root: Path) -> None:
    for command in ([], *([name] for name in cli.COMMANDS)):
        assert main([*command, "--help"]) == 0
        out, err = capsys.readouterr()
        assert out.startswith(" ".join(["usage: sinew", *command]))
        assert err == ""
        assert not re.search(r"default:\s+\w+\(", out), "a default is shown as the word that gives it"
        assert command or all(f"sinew {name} " in out for name in cli.COMMANDS)
    assert main(["--version"]) == 0
    version = capsys.readouterr().out.split()[1]
    assert f'version = "{version}"' in (repo_root / "pyproject.toml").read_text(encoding="utf-8")


def test_files_that_cannot_be_read_or_written_fail_before_the_work(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    reaction = signal.getsignal(signal.SIGTERM)
    for arguments in (["none.ezm"], ["info", "none.ezm"], ["pose", "none.ezm", "--output", "a.npz"]):
        status, line = run_failing(arguments, capsys)
        assert status == 1
        assert "none.ezm" in line
    assert signal.getsignal(signal.SIGTERM) is reaction
    assert list(tmp_path.iterdir()) == []
    for output, reason in (("none/a.npz", "the folder none does not exist"), (f"{tmp_path}.npz", "is a folder")):
        if "is" in reason.split()[0]:
            Path(output).mkdir()
        expected = (1, f"sinew: {output}: {reason}")
        assert run_failing(["pose", "unread.ezm", "--output", output], capsys) == expected


def test_a_file_named_like_a_command_can_be_meant(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for arguments, name in (
        (["./info"], "info"),
        (["--", "info"], "info"),
        (["tea"], "tea"),
        (["--", "rendr"], "rendr"),
    ):
        expected = (1, f"sinew: {name}: no such file, and no command of this name")
        assert run_failing(arguments, capsys) == expected


def test_the_traceback_follows_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["info", "none.ezm", "--verbose"], ["--verbose", "info", "none.ezm"]):
        assert main(arguments) == 1
        lines = capsys.readouterr().err.splitlines()
        assert lines[0].startswith("sinew: none.ezm: ")
        assert "Traceback (most recent call last):" in lines


def test_failures_are_one_line() -> None:
    for error, text in (
        (CommandError("a.ezm", "clip 'run'", "no such clip"), "a.ezm: clip 'run': no such clip"),
        (ModelError("a.ezm", "Bone 3", "two\nlines"), "a.ezm: Bone 3: two\\nlines"),
        (FileNotFoundError(2, "No such file or directory", "a.ezm"), "a.ezm: No such file or directory"),
        (MemoryError(), "not enough memory"),
        (ZeroDivisionError("division by zero"), "unexpected ZeroDivisionError: division by zero"),
    ):
        assert failure_text(error) == text


def test_interruption_has_its_own_status(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(_words: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_run", interrupted)
    assert run_failing(["info", "a.ezm"], capsys) == (130, "sinew: interrupted")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C interrupts, also where the tests run in the background of a shell that has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_being_ended_while_writing_leaves_no_file(ending, tmp_path, monkeypatch, capsys):
    model = tmp_path / "a.ezm"
    model.write_text(
        '<MeshSystem><Meshes><Mesh><vertexbuffer count="3" ctype="fff" semantic="position">0 0 0 1 0 0 0 1 0'
        '</vertexbuffer><MeshSection><indexbuffer triangle_count="1">0 1 2</indexbuffer></MeshSection></Mesh></Meshes>'
        "</MeshSystem>",
        encoding="utf-8",
    )

    def ended(_arrays: object, file: BinaryIO) -> None:
        file.write(b"half of it")
        assert len(list(tmp_path.iterdir())) == 2
        signal.raise_signal(ending)

    monkeypatch.setattr(surface, "write_npz", ended)
    arguments = ["pose", str(model), "--backend", "reference", "--output", str(tmp_path / "a.npz")]
    assert main(arguments) == 128 + ending
    assert capsys.readouterr().err.splitlines()[-1] == "sinew: interrupted"
    assert list(tmp_path.iterdir()) == [model]


def test_progress_appears_on_a_terminal_and_vanishes(monkeypatch, capsys):
    with Progress("reading") as progress:
        progress._next = 0.0
        progress(0.5)
    assert capsys.readouterr() == ("", ""), "a pipe"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Progress("reading a.ezm") as progress:
        progress(0.1)
        assert capsys.readouterr().err == ""
        progress._next = 0.0
        progress(0.5)
        assert "reading a.ezm  50 %" in capsys.readouterr().err
    assert capsys.readouterr().err == "\r\x1b[K"
    for elapsed, fraction, text in (
        (1.0, 0.0, ""), (1.0, 0.5, ""), (10.0, 0.5, ", 0:10 left"), (60.0, 0.25, ", 3:00 left"), (3.0, 1.0, ""),
        (36.0, 0.01, ", 59:24 left"), (3600.0, 0.5, ", 1:00:00 left"),
    ):  # fmt: skip
        assert time_left(elapsed, fraction) == text


@pytest.mark.parametrize(("words", "lines"), [([], 0), (["--verbose"], 1)])
def test_warnings_of_libraries_are_hidden(words, lines, monkeypatch, capsys):
    def warn(_words: list[str]) -> int:
        warnings.warn("overflow\nin cast", RuntimeWarning, stacklevel=1)
        return 0

    monkeypatch.setattr(cli, "_run", warn)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert main(["info", "a.ezm", *words]) == 0
    assert capsys.readouterr().err.splitlines() == ["sinew: RuntimeWarning: overflow in cast"] * lines


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("waits", [(0.12,), slow((0.02, 0.12, 0.3))])
def test_being_ended_while_loading_is_no_traceback(tmp_path: Path, repo_root: Path, waits: tuple[float, ...]) -> None:
    """At several moments while modules are imported, after the interpreter itself has started."""
    model = repo_root / "resources" / "models" / "humanoid" / "humanoid.ezm"
    code = (
        "import os, signal, sys, sinew; signal.signal(signal.SIGINT, signal.SIG_DFL); os.write(1, b'.'); "
        "import sinew.__main__; sys.exit(sinew.__main__.main())"
    )
    commands = ["info"], ["render", "--output", str(tmp_path / "a.png")], []
    for number, (command, wait) in enumerate(itertools.product(commands, waits)):
        ending = (signal.SIGINT, signal.SIGTERM)[number % 2]
        process = subprocess.Popen(
            [sys.executable, "-c", code, *command, str(model)], cwd=repo_root, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env={**os.environ, "QT_QPA_PLATFORM": "minimal"},
        )  # fmt: skip
        process.stdout.read(1)
        time.sleep(wait)
        process.send_signal(ending)
        _, err = process.communicate(timeout=60)
        assert err.count(b"\n") <= 1
        assert b"Traceback" not in err
        assert process.returncode in (0, 1, -ending, 128 + ending)


def test_a_closed_pipe_is_no_message(repo_root: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "sinew", "--help"], cwd=repo_root, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    process.stdout.close()
    _, err = process.communicate(timeout=60)
    assert err == b""


def test_a_project_is_no_model(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    project = str(resources.path("projects") / "cape.sinew")
    status, line = run_failing(["pose", project, "--output", str(tmp_path / "a.npz")], capsys)
    assert (status, line.partition(": ")[2]) == (
        1, f"{project}: is a project; pose needs a model; export and simulate take projects"
    )  # fmt: skip


@pytest.mark.slow
def test_a_wrong_name_of_a_node_or_value_is_reported_alike(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    project = str(resources.path("projects") / "cape.sinew")
    for arguments, what in (
        (["export", "{}", "--frames", "0:1", "--node", "Cloak", "--output", "{out}.glb"], ""),
        (["render", "{}", "--around", "Cloak", "--output", "{out}.png"], ""),
        (["render", "{}", "--beside", "Cloak.substeps=3", "--output", "{out}.png"], ""),
        (["render", "{}", "--burn-in", "Cloak.substeps", "--output", "{out}.png"], ""),
        (["sweep", "{}", "--set", "Cloak.substeps=3", "--output", "{out}.csv"], "--set: "),
    ):
        words = [word.format(project, out=tmp_path / "a") for word in arguments]
        status, line = run_failing(words, capsys)
        assert status == 1
        assert line.startswith(
            f"sinew: {project}: {what}there is no node 'Cloak'; there are: Humanoid, Cape, Light, hips,"
        )
    for value, reason in (
        ("Cape.substeps=abc", "is text, not a whole number"), ("Cape.wind=abc", "is not a list of length 3, but of 1"),
        ("Cape.substeps=0", "is not a whole number >= 1"),
    ):  # fmt: skip
        _, line = run_failing(["render", project, "--beside", value, "--output", str(tmp_path / "a.png")], capsys)
        assert reason in line
        assert "Expected" not in line
        assert "`" not in line


def test_names_reach_files_and_pages_without_control_characters(tmp_path: Path) -> None:
    name = "\x1b[2J\u202egpj"
    parts = {name: [(name, "value"), (name, "1")]}
    text = page(name, "", name, parts)
    triangle = np.eye(3, dtype=np.float32)
    made = surface.ExportSurface(
        name, triangle, triangle, triangle[:, :2], np.array([[0, 1, 2]], np.uint32), ((name, 0, 1),)
    )
    SURFACE_WRITERS.of(tmp_path / "a.obj").save(made, tmp_path / "a.obj")
    for written in (text, (tmp_path / "a.obj").read_text()):
        assert "\x1b" not in written
        assert "\u202e" not in written
        assert "\\x1b[2J\\u202egpj" in written
