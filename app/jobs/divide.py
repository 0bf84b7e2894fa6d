"""Division of jobs among workers."""

import contextlib
import json
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from sinew.app.failure.errors import CommandError, print_line, print_warnings
from sinew.app.failure.progress import Progress
from sinew.app.farm.chunks import Chunk, TaskError, run_chunks
from sinew.app.farm.local import LocalWorkers
from sinew.app.farm.scheduler import Scheduler
from sinew.app.farm.task import TaskResult
from sinew.app.jobs.job import Job, words_of
from sinew.app.jobs.options import Divided, Span, require_folder
from sinew.sim.export.atomic_file import write_atomically

TEMPLATE_CHUNKS = 16  # Tasks of a job template


def run_divided(
    job: Divided, label: str, items: Iterable[int], words_of: Callable[[Chunk], Sequence[str]],
    output: Path | None = None, parts: Path | None = None, take: Callable[[Chunk, TaskResult], object] | None = None,
    **how: Any,
) -> None:  # fmt: skip
    """Runs items on the workers of a job; prints each of their warnings once.

    Args:
        output: File that all commands name.
        parts: Folder in which they write, next to it.
        take: Gets each finished chunk, after its files are there.
        how: More arguments of `run_chunks`.
    """
    said: set[str] = set()

    def took(chunk: Chunk, finished: TaskResult) -> None:
        for line in finished.said:
            subject, is_warning, text = line.removeprefix("sinew: ").partition(": warning: ")
            if is_warning and line not in said:
                said.add(line)
                print_warnings(subject, [text])
        for name, data in finished.files.items():
            if parts is None or Path(name).parent != Path(parts.name):
                raise TaskError(f"{finished.worker}: has other files or plug-ins than this machine, or wrote {name}")
            parts.mkdir(exist_ok=True)
            write_atomically(parts / Path(name).name, data)
        if take is not None:
            take(chunk, finished)

    if job.workers and job.scheduler:
        raise CommandError("--workers", "", "does not go with --scheduler, which has workers of its own")
    with (
        Scheduler(job.scheduler) if job.scheduler else LocalWorkers(job.workers or 1) as workers,
        Progress(label, lines=job.progress) as progress,
    ):
        try:
            run_chunks(items, workers, words_of, output, took, progress, **how)
        except BaseException:
            if parts is not None and parts.is_dir():
                with contextlib.suppress(OSError):
                    parts.rmdir()
                if parts.is_dir():
                    print_warnings(parts, ["keeps what is done; the same command continues from there"])
            raise


def chunk_words(job: Divided, name: str) -> Callable[[Chunk], Sequence[str]]:
    """Returns a function that makes the command of a chunk, whose items are the option `name`."""
    return lambda chunk: [*words_of(job, only_content=True), f"--{name}", str(Span(*chunk))]


# --- Open Job Description -------------------------------------------------------------------------------------------


def write_template(job: Divided, openjd: Path, name: str, items: Sequence[int], project: Path, output: Path) -> None:
    """Writes a job template: a step whose tasks are chunks, the option `name`, and a step that joins them."""
    size = math.ceil(len(items) / TEMPLATE_CHUNKS)
    chunks = [items[place : place + size] for place in range(0, len(items), size)]
    words = words_of(
        job, only_content=True, path_text=lambda p: "{{Param.Project}}" if p == project else str(p.absolute())
    )
    words += ["--output", "{{Param.Output}}"]
    numbers = [
        {"name": "First", "type": "INT", "range": [chunk[0] for chunk in chunks]},
        {"name": "Last", "type": "INT", "range": [chunk[-1] for chunk in chunks]},
    ]
    paths = (("Project", project.absolute(), "IN"), ("Output", output.absolute(), "OUT"))
    below = openjd.absolute().parent
    needed = [f"-p {name}={path}" for name, path, _ in paths if not path.is_relative_to(below)]
    save_template(openjd, needed, {
        "specificationVersion": "jobtemplate-2023-09",
        "name": f"Sinew {job.command} {project.stem}"[:64],
        "parameterDefinitions": [
            {
                "name": name, "type": "PATH", "objectType": "FILE", "dataFlow": flow,
                **({"default": path.relative_to(below).as_posix()} if path.is_relative_to(below) else {}),
            }
            for name, path, flow in paths
        ],
        "steps": [
            {
                "name": "Chunks",
                "parameterSpace": {"taskParameterDefinitions": numbers, "combination": "(First, Last)"},
                "script": _script([*words, f"--{name}", "{{Task.Param.First}}:{{Task.Param.Last}}"]),
            },
            {
                "name": "Join",
                "dependencies": [{"dependsOn": "Chunks"}],
                "script": _script([*words, "--workers", "1"]),
            },
        ],
    })  # fmt: skip


def write_verify_template(openjd: Path, one: Job, projects: Sequence[Path]) -> None:
    """Writes a job template with a task for every project; `one` verifies the project of a task."""
    paths = [{"name": "Project", "type": "STRING", "range": [str(project.absolute()) for project in projects]}]
    save_template(openjd, (), {
        "specificationVersion": "jobtemplate-2023-09",
        "name": "Sinew verify",
        "steps": [
            {
                "name": "Projects",
                "parameterSpace": {"taskParameterDefinitions": paths},
                "script": _script(words_of(one, only_content=True)),
            }
        ],
    })  # fmt: skip


def _script(words: Sequence[str]) -> dict[str, Any]:
    return {"actions": {"onRun": {"command": "sinew", "args": list(words)}}}


def save_template(path: Path, needed: Sequence[str], template: dict[str, Any]) -> None:
    """Writes a template; `needed` are parameters without a default, because their paths are not below its folder."""
    require_folder(path)
    write_atomically(path, (json.dumps(template, indent=2, ensure_ascii=False) + "\n").encode())
    print_line(f"{path}: job template{', run it with ' if needed else ''}{' '.join(needed)}")
