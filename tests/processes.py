import os
import subprocess
import sys

from tests.conftest import REPO_ROOT


def started(*words: object, **variables: str | None) -> subprocess.Popen[str]:
    """Variables of the environment may be given; None removes one."""
    named = {**os.environ, "PYTHONPATH": str(REPO_ROOT), **variables}
    environment = {name: text for name, text in named.items() if text is not None}
    command = [sys.executable, *map(str, words)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=REPO_ROOT, env=environment, stdout=pipe, stderr=pipe, text=True)


def finished(*words: object, **variables: str | None) -> tuple[int, str, str]:
    process = started(*words, **variables)
    try:
        out, err = process.communicate(timeout=250)
    finally:
        process.kill()
    return process.returncode, out, err
