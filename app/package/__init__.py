"""Sinew: an editor for skinned characters and the cloth, hair, fur and particles that live on them.

The public names are in `__all__`; the guide explains them on its page "Python". `api_version` grows with every change
that breaks a program.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sinew.app.api.nodes import ProjectNode, ProjectNodes, SettingsView
    from sinew.app.api.project import Project
    from sinew.app.failure.errors import CommandError

if Path(__file__).parents[1].name == ".links":  # `pip install -e .`: modules have the paths that an editor shows
    __path__.insert(0, str(Path(__file__).parents[2]))

__all__ = ["CommandError", "Project", "ProjectNode", "ProjectNodes", "SettingsView", "api_version", "open"]
api_version = 1

_MODULES = {
    "CommandError": "failure.errors",
    "Project": "api.project",
    "ProjectNode": "api.nodes",
    "ProjectNodes": "api.nodes",
    "SettingsView": "api.nodes",
}


def open(
    path: str | Path | None = None, *, backend: str = "auto", allow_outside: bool = False, kernels: bool = True
) -> "Project":
    """Opens a project, or a model as a new project, and returns a `Project`; use it in a `with` statement.

    Args:
        path: None for an empty project.  In the editor, None and the path of its project mean the open project.
        backend: "tf", "compute", or "auto" for the faster one.
        allow_outside: Read files that a project names outside its own folder and the one above it.
        kernels: Use the kernels of a project, not the shipped shaders.

    Raises:
        ValueError: If the project or the model cannot be read.
        CommandError: If it names files outside its folders.
    """
    from sinew.app.api.project import open_project

    return open_project(path, backend, allow_outside=allow_outside, kernels=kernels)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        from importlib import import_module

        return getattr(import_module(f"sinew.app.{_MODULES[name]}"), name)
    if name == "__version__":
        from importlib.metadata import version  # takes 30 ms

        return version("sinew")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
