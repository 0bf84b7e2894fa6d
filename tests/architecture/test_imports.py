"""Who may import whom: app > widgets > sim > data; sim knows no Qt; only sim.gl knows OpenGL."""

import functools
import sys

from tests.architecture.sources import Source, sources

OURS = {"app", "widgets", "sim", "shaders", "resources", "tests"}
QT = {"PySide6", "PySide2", "PyQt5", "PyQt6", "shiboken6", "qtpy", "pyqtgraph", "qtawesome"}
OPENGL = {"OpenGL", "OpenGL_accelerate", "glcontext", "moderngl"}
GPU_SIDE = ("sim.gl", "sim.render", "sim.run", "sim.bench")
ROOMS = ("sim.kinds", "sim.characters", "sim.skin", "sim.colliders", "sim.fields")
"""Where pure modules and such that speak to the GPU stand side by side; those that import the GPU side belong to it."""
PURE_NAMES, CONTRACT = ("kind", "settings", "presets"), "sim.kinds.contract"
"""Modules of rooms that stay pure: commands that draw nothing, and widgets, load them."""
PURE_LIBRARIES = {"numpy", "msgspec", "pyglm"}
ASSET_LIBRARIES = {"lxml", "PIL", "ufbx", "OpenEXR", "pxr", "alembic3d"}
EXPORT_LIBRARIES = {"pxr", "alembic3d", "imath", "OpenEXR", "av"}  # optional: imported by the writer of a format alone


def _inside(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def _top(name: str) -> str:
    return name.partition(".")[0]


@functools.cache
def gpu_rooms() -> frozenset[str]:
    """Modules of the rooms that import the GPU side, directly or through one another."""
    imports = {source.module: source.imports for source in sources("sim") if _inside(source.module, ROOMS)}
    found: set[str] = set()
    while True:
        more = {
            module
            for module, names in imports.items()
            if module not in found and any(_inside(name, GPU_SIDE) or _inside(name, tuple(found)) for name in names)
        }
        if not more:
            return frozenset(found)
        found |= more


def _is_pure(module: str) -> bool:
    return _inside(module, ("sim",)) and not _inside(module, GPU_SIDE) and not _inside(module, tuple(gpu_rooms()))


def _allowed_libraries(module: str) -> set[str]:
    """Third-party packages a module may import."""
    if _inside(module, ("sim.gl",)):
        return PURE_LIBRARIES | OPENGL
    if _inside(module, ("sim.export",)):
        return PURE_LIBRARIES | ASSET_LIBRARIES | EXPORT_LIBRARIES
    if _inside(module, ("sim.assets",)):
        return PURE_LIBRARIES | ASSET_LIBRARIES
    if _inside(module, ("sim.skin.weights",)):
        return PURE_LIBRARIES | {"scipy"}  # optional: imported where it is used
    if _inside(module, ("sim",)):
        return PURE_LIBRARIES
    if _inside(module, ("widgets",)):
        return PURE_LIBRARIES | QT
    if _inside(module, ("app.farm",)):
        return PURE_LIBRARIES | {"distributed"}
    if _inside(module, ("app",)):
        return PURE_LIBRARIES | QT | {"PIL", "platformdirs", "sinew"}  # the names for programs of the user
    if module in ("shaders", "resources"):
        return set()
    if _inside(module, ("resources.examples",)):
        return PURE_LIBRARIES | {"sinew"}
    return PURE_LIBRARIES | {"PIL"}  # scripts that make the shipped data


def _allowed_of_ours(module: str, imported: str) -> bool:
    """Whether a module may import another of ours."""
    if _inside(module, ("app",)):
        return _top(imported) != "tests"
    if _inside(module, ("widgets",)):
        return _inside(imported, ("widgets", "resources")) or _is_pure(imported)
    if _is_pure(module):
        return _is_pure(imported)
    if _inside(module, ("sim",)):
        return _inside(imported, ("sim", "shaders", "resources"))
    if module in ("shaders", "resources"):
        return False
    return _is_pure(imported) or _inside(imported, ("resources",))


def violations(source: Source) -> list[str]:
    """Imports that break a rule, as "module imports name"."""
    libraries = _allowed_libraries(source.module)
    broken = []
    for name in sorted(source.imports):
        top = _top(name)
        if top in OURS:
            allowed = _allowed_of_ours(source.module, name)
        else:
            allowed = top in sys.stdlib_module_names or top in libraries
        if not allowed:
            broken.append(f"{source.module} imports {name}")
    return broken


def test_imports_respect_the_layers() -> None:
    assert [found for source in sources() for found in violations(source)] == []


def test_forbidden_imports_are_found_and_others_allowed() -> None:
    for name, text in (
        ("sim/clock.py", "from PySide6.QtCore import QTimer"),
        ("sim/clock.py", "def f():\n    import lxml"),
        ("sim/assets/load.py", "import OpenGL.GL"),
        ("sim/animation/pose.py", "from sim.gl.buffer import Buffer"),
        ("sim/animation/pose.py", "from sim.run import engine"),
        ("sim/animation/pose.py", "from ..gl import buffer"),
        ("sim/bench/pose.py", "import glcontext"),
        ("sim/assets/formats.py", "reader = 'sinew.sim.gl.texture:pixel_format'"),
        ("sim/run/engine.py", "import app.document.document"),
        ("sim/gl/context.py", "from widgets import viewport"),
        ("widgets/viewport.py", "import sim.gl.context"),
        ("widgets/timeline.py", "from app.document.document import Document"),
        ("widgets/timeline.py", "import importlib\nimportlib.import_module('sim.run.engine')"),
        ("sim/kinds/rope/kind.py", "from sim.gl.buffer import Buffer"),
        ("app/cli.py", "from OpenGL import GL"),
        ("app/cli.py", "import tests.conftest"),
        ("resources/__init__.py", "import sim.scene.params"),
        ("shaders/__init__.py", "from resources import path"),
    ):
        assert len(violations(Source(name, text))) == 1, text
    for name, text in (
        ("widgets/timeline.py", "from sim.scene.playhead import Playhead\nimport numpy as np"),
        ("sim/run/engine.py", "from sim.gl.context import Context\nfrom shaders import ROOT"),
        ("sim/kinds/rope/kind.py", "ROPE = Kind(system='sinew.sim.kinds.rope.system:RopeSystem')"),
        ("app/main.py", "from widgets.viewport import Viewport\nimport sim.run.engine"),
    ):
        assert violations(Source(name, text)) == [], text


def test_package_files_are_empty_except_the_list_of_kinds_and_the_contract() -> None:
    packages = [source for source in sources("app", "widgets", "sim") if source.name.endswith("__init__.py")]
    assert [package.module for package in packages if package.text] == [
        "app.package",
        "sim.kinds",
        "sim.kinds.contract",
    ]


def test_modules_of_commands_without_opengl_are_pure() -> None:
    pure = [m for m in sorted(gpu_rooms()) if m.rpartition(".")[2] in PURE_NAMES or m.startswith(CONTRACT)]
    assert pure == []
