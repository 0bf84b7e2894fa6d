"""Results of chunks, which stay next to the output until it is complete: the same command continues from them."""

import contextlib
import functools
import glob
import hashlib
import re
import shutil
from collections.abc import Iterable
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

import sinew.app
from sinew.app.failure.errors import CommandError
from sinew.app.farm.chunks import Chunk
from sinew.app.headless.scene import OpenedScene
from sinew.app.plugins import plugins
from sinew.sim.assets.content import content_sum
from sinew.sim.assets.environment import Panorama
from sinew.sim.assets.images import MipImage
from sinew.sim.kinds import packages

PARTS = ".parts-2-"
"""Between the name of an output and the checksum of what its parts depend on; ".parts-" alone before."""


@functools.cache
def program_version() -> str:
    """Returns the version of the program and a checksum of its files."""
    root = Path(sinew.app.__file__).parents[1]
    return f"{version('sinew')} ({_checksum(root / folder for folder in ('app', 'sim', 'shaders'))[:12]})"


def _checksum(places: Iterable[Path]) -> str:
    """Returns a checksum of files and of folders with all that is below them, wherever they are."""
    sums = hashlib.sha256()
    for place in places:
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file() and path.parent.name != "__pycache__":
                sums.update(f"{path.relative_to(place.parent).as_posix()};".encode() + path.read_bytes())
    return sums.hexdigest()


def parts_folder(output: Path, scene: OpenedScene, job: bytes) -> Path:
    """Returns the folder for parts of an output.

    Its name depends on the job, the version of the program, and the content of all files and plug-ins.

    Raises:
        CommandError: If an earlier version of Sinew has begun the work, whose parts cannot be continued.
    """
    for old in output.parent.glob(f"{glob.escape(output.name)}.parts-*"):
        if not old.name.startswith(f"{output.name}{PARTS}"):
            raise CommandError(old, "", "holds parts by an earlier version of Sinew; remove it to start again")
    used = {*packages(scene.scene.nodes).values()}
    code = [(plugin.package, _checksum(plugin.places)) for plugin in plugins.PLUGINS if plugin.package in used]
    versions = [program_version(), code]
    sums = hashlib.sha256(msgspec.json.encode([versions, job.decode(), scene.scene, scene.view_state]))
    named: dict[str, Any] = {str(node): model for node, model in scene.models.items()}
    for node, model in sorted(scene.models.items()):  # content sums know only the names of materials
        sums.update(f"{node} {model.materials!r};".encode())
    named |= {f"image {source}": image for source, image in scene.images.items()}
    for kind in fields(scene.assets):
        named |= {f"{kind.name} {path}": asset for path, asset in getattr(scene.assets, kind.name).items()}
    for name, content in sorted(named.items()):
        first = content.levels[0] if isinstance(content, MipImage | Panorama) else content
        sums.update(f"{name} {content_sum(first)};".encode())
    return output.with_name(f"{output.name}{PARTS}{sums.hexdigest()[:16]}")


def finished_chunks(folder: Path, suffix: str) -> list[Chunk]:
    """Returns the chunks in a folder, named FIRST-LAST.suffix."""
    names = [re.fullmatch(rf"(\d+)-(\d+){re.escape(suffix)}", path.name) for path in sorted(folder.glob(f"*{suffix}"))]
    return sorted((int(name[1]), int(name[2])) for name in names if name)


def remove_parts(output: Path) -> None:
    """Removes all parts of a complete output, also older ones."""
    for folder in output.parent.glob(f"{glob.escape(output.name)}.parts-*"):
        with contextlib.suppress(OSError):  # another machine may still read them
            shutil.rmtree(folder)
