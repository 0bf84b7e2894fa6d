"""Packages with plug-ins, as pip would leave them in a folder."""

import contextlib
import importlib
import sys
import textwrap
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from sinew import shaders
from sinew.app.cli.main import COMMANDS
from sinew.app.plugins import plugin_loading, plugins
from sinew.sim.kinds import contract, register, unregister
from sinew.sim.kinds.contract import Kind


@contextlib.contextmanager
def registered(kind: Kind) -> Iterator[None]:
    """Adds a kind with its shaders, without a package."""
    register(kind)
    shaders.ROOTS[kind.name] = Path(kind.plugin.shaders)
    try:
        yield
    finally:
        unregister(kind)
        del shaders.ROOTS[kind.name]


def ripple_lines() -> int:
    """Lines of Python and GLSL of the ripple."""
    folder = Path(__file__).with_name("ripple")
    files = [*folder.rglob("*.py"), *folder.rglob("*.glsl")]
    return sum(len(path.read_text().splitlines()) for path in files)


def installed_examples(folder: Path, *names: str) -> Path:
    """Builds the wheels of example packages and unpacks them; returns the folder for PYTHONPATH."""
    from hatchling.builders.wheel import WheelBuilder

    for name in names:
        package = str(Path(__file__).with_name(name))
        (built,) = WheelBuilder(package).build(directory=str(folder / "dist"), versions=["standard"])
        with zipfile.ZipFile(built) as archive:
            archive.extractall(folder / "site")
    return folder / "site"


def install(site: Path, name: str, entries: Mapping[str, str], modules: Mapping[str, str]) -> None:
    """Writes a package of version 0.1: `entries` are values by "group:name", `modules` texts by file."""
    info = site / f"{name.replace('-', '_')}-0.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n")
    groups: dict[str, list[str]] = {}
    for key, value in entries.items():
        group, _, entry = key.partition(":")
        groups.setdefault(group, []).append(f"{entry} = {value}")
    (info / "entry_points.txt").write_text(
        "".join(f"[sinew.{group}]\n" + "\n".join(lines) + "\n" for group, lines in groups.items())
    )
    for file, text in modules.items():
        (site / file).write_text(textwrap.dedent(text))


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    return installed_examples(tmp_path_factory.mktemp("rope"), "rope")


@pytest.fixture
def loaded(monkeypatch):
    """Loads the plug-ins of folders into this process, instead of those before."""
    undo, before = plugin_loading.snapshot(COMMANDS), list(sys.path)
    imported = {name: module for name, module in sys.modules.items() if name.startswith("acme_")}

    def load(*sites: Path) -> None:
        undo()
        monkeypatch.setattr(plugins, "PLUGINS", [])
        monkeypatch.setattr(sys, "path", [*map(str, sites), *before])
        importlib.invalidate_caches()
        contract.loaded.cache_clear()
        for name in [name for name in sys.modules if name.startswith(("acme_", "broken_"))]:
            del sys.modules[name]
        plugin_loading.load(COMMANDS)

    yield load
    undo()
    for name in [name for name in sys.modules if name.startswith("acme_")]:
        del sys.modules[name]
    sys.modules.update(imported)
    contract.loaded.cache_clear()
