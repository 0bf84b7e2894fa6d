"""Sinew: an editor for skinned characters and the cloth, hair, fur and particles that live on them.

The public names are in `__all__`; the guide explains them on its page "Python". `api_version` grows with every change
that breaks a program.  In a checkout the subpackages (`sinew.app`, `sinew.sim`, ...) are the folders in its root; in a
wheel they stand here.
"""

from pathlib import Path

_ROOT = Path(__file__).resolve().parents[3]

if (_ROOT / "pyproject.toml").is_file() and (_ROOT / ".ci/package/sinew/__init__.py").samefile(__file__):
    __path__.append(str(_ROOT))

__all__ = ["CommandError", "Project", "ProjectNode", "ProjectNodes", "SettingsView", "api_version", "open"]
api_version = 1

_MODULES = {
    "CommandError": "cli.failure",
    "Project": "api.project",
    "ProjectNode": "api.nodes",
    "ProjectNodes": "api.nodes",
    "SettingsView": "api.nodes",
}


def open(path=None, *, backend="auto", allow_outside=False, kernels=True):
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


def __getattr__(name):
    if name in _MODULES:
        from importlib import import_module

        return getattr(import_module(f"sinew.app.{_MODULES[name]}"), name)
    if name == "__version__":
        from importlib.metadata import version  # takes 30 ms

        return version("sinew")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return [*__all__, "__version__"]
