"""The command line. Each command is a module that is imported only when it is used, so that `info` starts without Qt.

It has a class of options, `JOB`, and `run(job)`; or `add_arguments(parser)` and `run(options)`.
"""

import argparse
import difflib
import importlib
import io
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import nullcontext
from typing import NoReturn

from sinew.app.failure.errors import (
    DONE,
    FAILED,
    WRONG_COMMAND_LINE,
    Interrupted,
    interruptible,
    one_line,
    print_failure,
    quiet_libraries,
)
from sinew.app.farm.task import ENDS_WITH_INPUT
from sinew.app.jobs.job import Job, Plugins, add_options, job_of
from sinew.app.plugins import plugins

COMMANDS = {
    "info": ("sinew.app.cli.info", "describe a model or a project"),
    "pose": ("sinew.app.jobs.pose", "write a model in a pose"),
    "simulate": ("sinew.app.jobs.simulate", "simulate a project and write every step"),
    "render": ("sinew.app.jobs.render", "render a model or a project to images or a video"),
    "weights": ("sinew.app.cli.weights", "change the weights of a model"),
    "chains": ("sinew.app.cli.chains", "make chains of spring bones for a skirt, a tail or hair"),
    "export": ("sinew.app.jobs.export", "export a model or a project over time for other programs"),
    "report": ("sinew.app.jobs.report", "write a page with image, settings, timings, stability and checksums"),
    "verify": ("sinew.app.jobs.verify", "simulate a bake again and report the first step that differs"),
    "sweep": ("sinew.app.jobs.sweep", "run a simulation with many settings, and write a table and images"),
    "run": ("sinew.app.api.script", "run a Python program that uses `import sinew`"),
    "bench": ("sinew.app.cli.bench", "measure on this machine and print a table"),
}
EDITOR = "sinew.app.cli.editor"


class OneLineParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        command = self.prog.removeprefix("sinew").strip()
        place = f"{command}: " if command else ""
        self.exit(WRONG_COMMAND_LINE, f"sinew: {place}{one_line(message)} (see {self.prog} --help)\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; returns 0 for done, 1 failed, 2 wrong command line, 130 interrupted, 143 terminated."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    verbose = "--verbose" in words[: words.index("--")] if "--" in words else "--verbose" in words
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # for names that the terminal cannot encode
            stream.reconfigure(errors="backslashreplace")
    if ENDS_WITH_INPUT in os.environ:
        threading.Thread(target=_end_with_input, daemon=True).start()
    try:
        with quiet_libraries(verbose=verbose):
            return _run(words)
    except SystemExit as leaving:  # the parser: help, version or a complaint
        return leaving.code if isinstance(leaving.code, int) else DONE
    except KeyboardInterrupt as request:
        print("sinew: interrupted", file=sys.stderr)
        return request.status if isinstance(request, Interrupted) else 130
    except BrokenPipeError:  # the reader has closed the pipe; nothing may be flushed at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        print_failure(error, verbose=verbose)
        return FAILED


def _load_plugins(words: list[str]) -> None:
    parser = OneLineParser(prog="sinew", add_help=False, allow_abbrev=False)
    add_options(parser, Plugins)
    options, _ = parser.parse_known_args(words)
    plugins.is_off = options.no_plugins
    if not plugins.is_off:
        plugins.find()
        if any(plugin.take for plugin in plugins.PLUGINS):
            importlib.import_module("sinew.app.plugins.plugin_loading").load(COMMANDS)
    plugins.require(options.require_plugin)


def _end_with_input() -> None:
    """Ends this process when the one that started it has died."""
    os.read(0, 1)  # unbuffered: the lock of a buffer would be held at exit
    os._exit(FAILED)


def _run(words: list[str]) -> int:
    _load_plugins(words[: words.index("--")] if "--" in words else words)
    name = next((word for word in words if not word.startswith("-")), "")
    is_command = name in COMMANDS and "--" not in words[: words.index(name)]
    if is_command:
        words.remove(name)
        module, summary = importlib.import_module(COMMANDS[name][0]), COMMANDS[name][1]
        parser = OneLineParser(
            prog=f"sinew {name}", allow_abbrev=False, description=f"{summary[0].upper()}{summary[1:]}."
        )
    else:
        if "--" not in words and (meant := _meant(name)):
            OneLineParser(prog="sinew").error(f"{name!r} is neither a file nor a command; {meant!r} is one")
        module = importlib.import_module(EDITOR)
        parser = OneLineParser(
            prog="sinew", allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, epilog=_overview(),
            description="Editor for skinned characters. Opens a model or a project, or an empty scene.",
        )  # fmt: skip
    job: type[Job] | None = getattr(module, "JOB", None)
    add_options(parser, job or Job)
    if job is None:
        module.add_arguments(parser)
    options = parser.parse_args(words)
    with interruptible() if is_command else nullcontext():
        status = module.run(job_of(job, options) if job is not None else options)
    sys.stdout.flush()
    return int(status or DONE)


def _meant(name: str) -> str:
    close = difflib.get_close_matches(name, COMMANDS, 1)
    return close[0] if close and not (os.path.dirname(name) or os.path.exists(name)) else ""


def _overview() -> str:
    lines = [f"  sinew {name:8s} {summary}" for name, (_, summary) in COMMANDS.items()]
    return "\n".join(["commands:", *lines, "", "A file with the name of a command is opened as ./NAME."])
