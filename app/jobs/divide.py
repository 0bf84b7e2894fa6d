"""Options of commands that can be divided among workers, and the division."""

import argparse
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
from sinew.app.farm.parts import FREE, without
from sinew.app.farm.scheduler import Scheduler
from sinew.app.farm.task import TaskResult
from sinew.app.jobs.options import output_file, require_folder
from sinew.sim.assets.formats import Format, Formats
from sinew.sim.export.atomic_file import write_atomically

WORKERS_MAX = 64
TEMPLATE_CHUNKS = 16  # Tasks of a job template
TEMPLATES = Formats(Format(name="Open Job Description", suffixes=(".json",)))


def add_farm_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workers", type=worker_count, metavar="N", help="divide the work among N processes on this machine"
    )
    parser.add_argument(
        "--scheduler", metavar="ADDRESS",
        help="divide the work among the workers of this dask.distributed scheduler, tls://HOST:PORT; they read the"
        " same paths in a shared folder",
    )  # fmt: skip
    parser.add_argument(
        "--openjd", type=output_file(TEMPLATES), metavar="FILE",
        help="write a job template for render farms (Open Job Description) instead of running",
    )  # fmt: skip


def worker_count(text: str) -> int:
    if not (text.isdecimal() and 1 <= int(text) <= WORKERS_MAX):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to {WORKERS_MAX}")
    return int(text)


def is_divided(options: argparse.Namespace) -> bool:
    return bool(options.workers or options.scheduler)


def run_divided(
    options: argparse.Namespace, label: str, items: Iterable[int], words_of: Callable[[Chunk], Sequence[str]],
    parts: Path | None = None, take: Callable[[Chunk, TaskResult], object] | None = None,
    **how: Any,
) -> None:  # fmt: skip
    """Runs items on the workers of the options; prints each of their warnings once.

    Args:
        parts: Folder in which commands write, next to the output.
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

    if options.workers and options.scheduler:
        raise CommandError("--workers", "", "does not go with --scheduler, which has workers of its own")
    output = options.output if parts is not None else None
    with (
        Scheduler(options.scheduler) if options.scheduler else LocalWorkers(options.workers) as workers,
        Progress(label, lines=options.progress) as progress,
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


def chunk_words(command: str, options: argparse.Namespace, option: str) -> Callable[[Chunk], Sequence[str]]:
    """Returns a function that makes the command of a chunk, whose items follow `option`."""
    words = [command, *without(options.words, FREE)]
    return lambda chunk: [*words, option, f"{chunk[0]}:{chunk[1]}"]


# --- Open Job Description -------------------------------------------------------------------------------------------


def write_template(options: argparse.Namespace, command: str, option: str, items: Sequence[int], project: Path) -> None:
    """Writes a job template: a step whose tasks are chunks, and a step that joins them."""
    size = math.ceil(len(items) / TEMPLATE_CHUNKS)
    chunks = [items[place : place + size] for place in range(0, len(items), size)]
    given = {str(path): str(path.absolute()) for path in vars(options).values() if isinstance(path, Path)}
    given[str(project)] = "{{Param.Project}}"
    words = [given.get(word, word) for word in without(options.words, FREE)]
    words = [command, *words, "--output", "{{Param.Output}}"]
    numbers = [
        {"name": "First", "type": "INT", "range": [chunk[0] for chunk in chunks]},
        {"name": "Last", "type": "INT", "range": [chunk[-1] for chunk in chunks]},
    ]
    paths = (("Project", project.absolute(), "IN"), ("Output", options.output.absolute(), "OUT"))
    below = options.openjd.absolute().parent
    needed = [f"-p {name}={path}" for name, path, _ in paths if not path.is_relative_to(below)]
    save_template(options.openjd, needed, {
        "specificationVersion": "jobtemplate-2023-09",
        "name": f"Sinew {command} {project.stem}"[:64],
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
                "script": _script([*words, option, "{{Task.Param.First}}:{{Task.Param.Last}}"]),
            },
            {
                "name": "Join",
                "dependencies": [{"dependsOn": "Chunks"}],
                "script": _script([*words, "--workers", "1"]),
            },
        ],
    })  # fmt: skip


def write_verify_template(options: argparse.Namespace, projects: Sequence[Path]) -> None:
    """Writes a job template with a task for every project."""
    names = {str(project) for project in projects}
    words = [word for word in without(options.words, FREE) if word not in names]
    paths = [{"name": "Project", "type": "STRING", "range": [str(project.absolute()) for project in projects]}]
    save_template(options.openjd, (), {
        "specificationVersion": "jobtemplate-2023-09",
        "name": "Sinew verify",
        "steps": [
            {
                "name": "Projects",
                "parameterSpace": {"taskParameterDefinitions": paths},
                "script": _script(["verify", "{{Task.Param.Project}}", *words]),
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
