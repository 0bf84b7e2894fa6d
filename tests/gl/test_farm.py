"""Commands that are divided: the same results as in one process, also when processes and workers are killed."""

import csv
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from sinew import resources
from sinew.app.cli.main import main
from sinew.app.farm.scheduler import Scheduler
from sinew.app.jobs import sweep as sweep_command
from tests.conftest import slow
from tests.processes import started

PROJECTS = resources.path("projects")
PATIENCE = 300.0
SHEET = ["sweep", str(PROJECTS / "cloth-on-ellipsoid.sinew"), "--backend", "tf", "--steps", "2"]
VALUES = ["--set", "Sheet.substeps=20,24,28,32", "--set", "Sheet.air_drag=0:1:2"]
FILM = ["render", str(PROJECTS / "arm.sinew"), "--backend", "tf", "--size", "64x48", "--turntable", "1"]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what one process writes."""
    folder = tmp_path_factory.mktemp("alone")
    assert main([*SHEET, *VALUES, "--output", str(folder / "a.csv")]) == 0
    assert main([*FILM, "--frames", "2:7", "--output", str(folder / "%04d.png")]) == 0
    return folder


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return [{k: v for k, v in row.items() if not k.startswith("time")} for row in csv.DictReader(file)]


def pictures(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.png"))}


class Killer(threading.Thread):
    """Kills the first processes whose command line has a word, as soon as each was seen."""

    def __init__(self, word: str, count: int) -> None:
        super().__init__(daemon=True)
        self._word, self._left = word, count
        self.killed = 0
        self._ended = threading.Event()

    def __enter__(self) -> "Killer":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.join()

    def run(self) -> None:
        while self._left and not self._ended.wait(0.05):
            for process in psutil.Process().children(recursive=True):
                try:
                    if self._word in process.cmdline() and time.time() - process.create_time() > 0.3:
                        process.kill()
                        self._left -= 1
                        self.killed += 1
                        break
                except psutil.Error:
                    continue


def test_a_sweep_on_two_processes_is_the_same_with_one_killed(
    alone: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Killer("--cells", 2) as killer:
        status = main([*SHEET, *VALUES, "--workers", "2", "--output", str(tmp_path / "a.csv")])
    said = capsys.readouterr()
    assert status == 0, said.err
    assert rows(tmp_path / "a.csv") == rows(alone / "a.csv")
    assert killer.killed == 2
    assert "2 tasks ended early and ran again" in said.err
    assert os.listdir(tmp_path) == ["a.csv"]


@pytest.mark.slow
def test_a_film_on_two_processes_has_the_same_bytes(alone: Path, tmp_path: Path) -> None:
    assert main([*FILM, "--frames", "2:7", "--workers", "2", "--output", str(tmp_path / "%04d.png")]) == 0
    assert pictures(tmp_path) == pictures(alone)
    assert len(os.listdir(tmp_path)) == len(pictures(tmp_path)) == 6


@pytest.mark.slow
def test_an_animation_on_two_processes_has_the_same_bytes(tmp_path: Path) -> None:
    one, two = tmp_path / "one.gif", tmp_path / "two.gif"
    assert main([*FILM, "--frames", "2:7", "--output", str(one)]) == 0
    assert main([*FILM, "--frames", "2:7", "--workers", "2", "--output", str(two)]) == 0
    assert one.read_bytes() == two.read_bytes()
    assert len(os.listdir(tmp_path)) == 2


@pytest.mark.slow
def test_an_interrupted_sweep_goes_on(alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a signal leaves is used by the same command, not by one with other settings."""
    table = tmp_path / "a.csv"
    assert main([*SHEET, *VALUES, "--cells", "0:4", "--output", str(table)]) == 0
    (parts,) = tmp_path.glob("a.csv.parts-*")
    process = started("-m", "sinew", *SHEET, *VALUES, "--workers", "1", "--output", table)
    until = time.monotonic() + PATIENCE
    while not any("--cells" in child.cmdline() for child in psutil.Process(process.pid).children(recursive=True)):
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.05)
    children = psutil.Process(process.pid).children(recursive=True)
    process.terminate()
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 143
    assert f"{parts}: warning: keeps what is done" in said
    psutil.wait_procs(children, PATIENCE)
    assert not any(child.is_running() for child in children)
    ran: list[object] = []
    monkeypatch.setattr(sweep_command, "run_divided", record(ran, sweep_command.run_divided))
    assert main([*SHEET, *VALUES, "--workers", "1", "--output", str(table)]) == 0
    assert ran == [[5, 6, 7]]
    assert rows(table) == rows(alone / "a.csv")
    assert os.listdir(tmp_path) == ["a.csv"]


def record(ran, function):
    def recording(options, label, items, *rest, **more):
        ran.append(list(items))
        return function(options, label, items, *rest, **more)

    return recording


def test_parts_of_other_settings_are_not_used(tmp_path: Path) -> None:
    table = tmp_path / "a.csv"
    assert main([*SHEET, *VALUES, "--cells", "0:1", "--output", str(table)]) == 0
    (parts,) = tmp_path.glob("a.csv.parts-*")
    others = [*SHEET[:-1], "3", *VALUES]
    assert main([*others, "--cells", "0:1", "--output", str(table)]) == 0
    assert len(list(tmp_path.glob("a.csv.parts-*"))) == 2
    assert (parts / "0-1.cells").is_file()


def test_processes_end_with_the_one_that_started_them(tmp_path: Path) -> None:
    process = started("-m", "sinew", *SHEET, *VALUES, "--workers", "2", "--output", tmp_path / "a.csv")
    until = time.monotonic() + PATIENCE
    while len(children := psutil.Process(process.pid).children(recursive=True)) < 2:
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.05)
    process.kill()
    process.communicate(timeout=PATIENCE)
    _, alive = psutil.wait_procs(children, PATIENCE)
    assert not alive


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--cells", "6:8"], "cloth-on-ellipsoid.sinew: --cells 6:8: there are cells 0 to 7"),
        (["--workers", "2", "--scheduler", "127.0.0.1:1"], "--workers: does not go with --scheduler"),
        (["--scheduler", "farm.example:8786"], "farm.example:8786: is on another machine and not encrypted"),
        (["--workers", "0"], "--workers: '0' is not a whole number from 1 to 64"),
        (["--openjd", "a.txt"], "does not end in .json"),
    ],
)
def test_wrong_options_are_one_line(
    words: list[str], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*SHEET, *VALUES, *words, "--output", str(tmp_path / "a.csv")]) != 0
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1, said
    assert reason in said[0]
    assert not os.listdir(tmp_path)


@pytest.fixture(scope="module")
def cluster() -> Iterator[object]:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=":0") as made:
        yield made


def test_a_scheduler_is_the_same(alone: Path, tmp_path: Path, cluster) -> None:
    cell = ["--set", "Sheet.substeps=20", "--set", "Sheet.air_drag=0"]
    words = [*SHEET, *cell, "--scheduler", cluster.scheduler_address, "--output", str(tmp_path / "a.csv")]
    assert main(words) == 0
    assert rows(tmp_path / "a.csv") == rows(alone / "a.csv")[:1]


@pytest.mark.slow
def test_a_scheduler_with_two_workers_is_the_same_with_one_killed(
    alone: Path, tmp_path: Path, cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    with Killer("--cells", 1) as killer:
        words = [*SHEET, *VALUES, "--scheduler", cluster.scheduler_address, "--output", str(tmp_path / "a.csv")]
        status = main(words)
    assert status == 0, capsys.readouterr().err
    assert killer.killed == 1
    assert rows(tmp_path / "a.csv") == rows(alone / "a.csv")
    assert main([*FILM, "--frames", "2:7", "--scheduler", cluster.scheduler_address, "--output",
                 str(tmp_path / "%04d.png")]) == 0  # fmt: skip
    assert pictures(tmp_path) == pictures(alone)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keys with certificates: the authority `ca`, `farm` and `old` by it, `old` has expired, and `other` by itself."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is missing")
    folder = tmp_path_factory.mktemp("tls")
    new = "-newkey rsa:2048 -nodes -days 2"
    for words in (
        f"req -x509 {new} -keyout ca.key -out ca.pem -subj /CN=authority",
        f"req -x509 {new} -keyout other.key -out other.pem -subj /CN=other",
        f"req {new} -keyout farm.key -out farm.csr -subj /CN=farm",
        "x509 -req -in farm.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out farm.pem",
        "x509 -req -in farm.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days -1 -out old.pem",
    ):
        done = subprocess.run([openssl, *words.split()], cwd=folder, capture_output=True, text=True)
        if done.returncode:  # an older openssl makes no certificate that has expired
            pytest.skip(done.stderr)
    return folder


def tls(folder: Path, certificate: str = "farm", key: str = "farm", authority: str = "ca") -> dict[str, object]:
    files = {"cert": folder / f"{certificate}.pem", "key": folder / f"{key}.key"}
    roles = [(role, what) for role in ("client", "scheduler", "worker") for what in files]
    given = {f"distributed.comm.tls.{role}.{what}": str(files[what]) for role, what in roles}
    return {**given, "distributed.comm.tls.ca-file": str(folder / f"{authority}.pem")}


@pytest.mark.campaign
def test_encrypted_connections(
    alone: Path, tmp_path: Path, certificates: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import dask
    import distributed

    sweep = [*SHEET, *VALUES, "--output", str(tmp_path / "a.csv"), "--scheduler"]
    with (
        dask.config.set(tls(certificates)),
        distributed.LocalCluster(
            1, threads_per_worker=1, protocol="tls://", security=distributed.Security(require_encryption=True),
            dashboard_address=":0", local_directory=str(tmp_path / "elsewhere"),
        ) as made,
    ):  # fmt: skip
        address = made.scheduler_address
        assert address.startswith("tls://127.0.0.1:")
        assert main([*sweep, address]) == 0
        assert rows(tmp_path / "a.csv") == rows(alone / "a.csv")
        for mine, reason in (
            (("other", "other"), "it does not know who signed the certificate of this machine"),
            (("other", "other", "other"), "its certificate was not signed by the authority that this machine"),
            (("old",), "the certificate of this machine has expired"),
        ):
            assert refused_connection(sweep, address, tls(certificates, *mine), capsys).startswith(reason)


def refused_connection(sweep: list[str], address: str, settings: dict[str, object], capsys) -> str:
    """Why a command cannot connect to a scheduler, which it says in one line."""
    import dask

    capsys.readouterr()
    with dask.config.set(settings):
        assert main([*sweep, address]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    start = f"sinew: {address}: cannot connect to the scheduler: "
    assert line.startswith(start)
    return line.removeprefix(start)


def test_a_scheduler_without_encryption_is_refused(
    tmp_path: Path, cluster, certificates: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = [*SHEET, *VALUES, "--output", str(tmp_path / "a.csv"), "--scheduler"]
    address = cluster.scheduler_address.replace("tcp", "tls")
    assert refused_connection(sweep, address, tls(certificates), capsys).startswith("it is not encrypted")


def test_a_worker_of_another_version_is_refused(cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sinew.app.farm.scheduler.program_version", lambda: "0.0 (here)")
    with pytest.raises(Exception, match=r"tcp://127\.0\.0\.1:\d+: has Sinew .*, this machine Sinew 0\.0 \(here\)"):
        Scheduler(cluster.scheduler_address)


def test_a_scheduler_that_is_gone_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    monkeypatch.setattr("sinew.app.farm.scheduler.PATIENCE", 1.0)
    assert main([*SHEET, *VALUES, "--scheduler", "127.0.0.1:9", "--output", str(tmp_path / "a.csv")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("sinew: 127.0.0.1:9: cannot connect to the scheduler: ")


@pytest.mark.parametrize("words", [[], slow(["--workers", "2"])], ids=["here", "workers"])
def test_projects_are_verified_one_by_one(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = tmp_path / "good.sinew", tmp_path / "bad.sinew"
    shutil.copy(PROJECTS / "cloth-on-ellipsoid.sinew", good)
    shutil.copy(good, bad)
    assert main(["simulate", str(good), "--steps", "2", "--backend", "tf", "--cache", "--output",
                 str(tmp_path / "a.npz")]) == 0  # fmt: skip
    capsys.readouterr()
    assert main(["verify", str(good), str(bad), "--backend", "tf", *words]) == 1
    said = capsys.readouterr()
    assert f"{good}: 1 node, 2 steps, bit-identical" in said.out
    assert said.err == f"sinew: {bad}: has no baked steps; {bad.name}cache is missing\n"


def job_template(folder: Path) -> Path:
    pytest.importorskip("openjd")
    words = [*FILM, "--frames", "2:7", "--output", str(folder / "%04d.png"), "--openjd", str(folder / "job.json")]
    assert main(words) == 0
    return folder / "job.json"


def test_job_templates_are_valid(tmp_path: Path) -> None:
    template = job_template(tmp_path)
    assert main([*SHEET, *VALUES, "--output", str(tmp_path / "a.csv"), "--openjd", str(tmp_path / "s.json")]) == 0
    assert main(["verify", str(PROJECTS / "cape.sinew"), "--openjd", str(tmp_path / "v.json")]) == 0
    from openjd.model import decode_job_template

    for name in ("job", "s", "v"):
        decode_job_template(template=json.loads((tmp_path / f"{name}.json").read_text()))
    made = json.loads(template.read_text())
    assert [step["name"] for step in made["steps"]] == ["Chunks", "Join"]


@pytest.mark.campaign
def test_a_job_template_runs(alone: Path, tmp_path: Path) -> None:
    template, folder = job_template(tmp_path), Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [sys.executable, "-m", "openjd", "run", str(template), "--step", "Join", "--run-dependencies", "-p",
         f"Project={PROJECTS / 'arm.sinew'}"],
        env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert pictures(tmp_path) == pictures(alone)
