import json
import platform
import re
import sys
from pathlib import Path
from typing import Annotated, Any

from sinew.app.failure.errors import CommandError, print_line, print_warnings
from sinew.app.failure.progress import Progress
from sinew.app.jobs.job import WORDS, Composite, Job, option
from sinew.app.jobs.options import require_folder
from sinew.sim.assets.formats import Format, Formats
from sinew.sim.bench.report import BaselineReport, ReportError, comparison, differences, read_report, report, table
from sinew.sim.bench.runner import SYSTEMS, Row, rows_of
from sinew.sim.export.atomic_file import atomic_file
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.gl.context import Context
from sinew.sim.gl.errors import GLError
from sinew.sim.printable import counted

REPORTS = Formats(Format(name="JSON", suffixes=(".json",)))


class Measured(Composite, frozen=True):
    name: str

    @classmethod
    def of(cls, value: Any) -> "Measured":
        if value not in SYSTEMS:
            raise ValueError(f"there is no {value!r}; there are: {', '.join(SYSTEMS)}")
        return cls(value)

    def __str__(self) -> str:
        return self.name


class ElementCounts(Composite, frozen=True):
    numbers: tuple[int, ...] = ()

    @classmethod
    def of(cls, value: Any) -> "ElementCounts":
        if not re.fullmatch(r"[1-9]\d*(,[1-9]\d*)*", value):
            raise ValueError(f"{value!r} is not N,N,... with whole numbers from 1")
        return cls(tuple(map(int, value.split(","))))

    def __str__(self) -> str:
        return ",".join(map(str, self.numbers))


class BenchJob(Job, frozen=True, kw_only=True):
    systems: Annotated[
        tuple[Measured, ...],
        option(f"What to measure: {', '.join(SYSTEMS)}; everything without it.", "SYSTEM", WORDS, is_argument=True),
    ] = ()  # fmt: skip
    sizes: Annotated[
        ElementCounts, option("Numbers of elements, else the defaults of each system.", "N,N,...", WORDS)
    ] = ElementCounts()
    repeat: Annotated[int, option("Repetitions.", "R", WORDS, lo=1)] = 5
    backend: Annotated[
        BackEndChoice, option("GPU back end of simulation and skinning; the system back-ends compares them.", at=WORDS)
    ] = BackEndChoice.TF
    compare: Annotated[Path | None, option("Report written by --json to compare with.", "OLD", WORDS)] = None
    json: Annotated[Path | None, option("Also write the results to this file.", "FILE", WORDS, formats=REPORTS)] = None


JOB = BenchJob


def run(job: BenchJob) -> None:
    if job.json is not None:
        require_folder(job.json)
    old = old_report(job.compare) if job.compare is not None else None
    machine = machine_facts()
    names = list(dict.fromkeys(system.name for system in job.systems)) or list(SYSTEMS)
    rows: list[Row] = []
    with Progress("measuring") as progress:
        for index, name in enumerate(names):
            progress(index / len(names))
            rows += rows_of(name, job.repeat, job.sizes.numbers, job.backend)
    for key, value in machine.items():
        print(f"{key}: {value}")
    print(table(rows))
    if old is not None and job.compare is not None:
        print(f"\ncompared with {job.compare}, less than 1 is faster:")
        print(comparison(rows, old))
        print_warnings(job.compare, differences(machine, old))
    if job.json is not None:
        with atomic_file(job.json) as file:
            file.write((json.dumps(report(machine, rows), indent=2, ensure_ascii=False) + "\n").encode())
        print_line(f"{job.json}: {counted(len(rows), 'row')}")


def old_report(path: Path) -> BaselineReport:
    """Reads an earlier report; raises CommandError if the file is not a report, OSError if it cannot be read."""
    try:
        return read_report(path)
    except ReportError as error:
        raise CommandError(path, "", str(error)) from error


def machine_facts() -> dict[str, str]:
    """Returns the facts about this machine for a report; raises CommandError if it has no OpenGL."""
    try:
        with Context.headless() as context:
            known, timer = context.capabilities, context.timers.calibrate()
    except GLError as error:
        raise CommandError("OpenGL", "", str(error)) from error
    return {
        "renderer": known.renderer,
        "gl_version": known.version,
        "timer_source": f"{timer.source.value} ({timer.reason})",
        "cpu": processor(),
    }


def processor() -> str:
    if sys.platform.startswith("linux"):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
