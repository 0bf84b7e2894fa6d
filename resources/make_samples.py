"""Builds the sample models: run `python -m sinew.resources.make_samples` after changing how they look.

The results are committed; the same sources give the same bytes. The sample projects in `resources/projects` are edited
and saved in the program itself.
"""

import io
import sys
from pathlib import Path

from PIL import Image

from sinew.resources import ROOT
from sinew.resources.samples.arm_model import build_arm
from sinew.resources.samples.cape_model import build_cape
from sinew.resources.samples.figure_model import build_figure
from sinew.resources.samples.fox_model import build_fox
from sinew.resources.samples.head_model import build_head
from sinew.resources.samples.tiny_model import NOTE, build_tiny
from sinew.sim.assets.raw import RawModel
from sinew.sim.export.atomic_file import atomic_file
from sinew.sim.export.ezm import ezm_text
from sinew.sim.export.formats import MODEL_WRITERS


def make_samples(folder: Path) -> list[Path]:
    """Each model has its own folder below `folder`; returns the files."""
    made = [make_tiny, make_arm, make_humanoid, make_cape, make_head, make_fox]
    return [path for make in made for path in make(folder)]


def make_tiny(folder: Path) -> list[Path]:
    return _written(build_tiny(folder / "tiny" / "tiny.ezm"), {}, NOTE)


def make_arm(folder: Path) -> list[Path]:
    return _written(*build_arm(folder / "arm" / "arm.ezm"))


def make_humanoid(folder: Path) -> list[Path]:
    return _written(*build_figure(folder / "humanoid" / "humanoid.ezm"))


def make_cape(folder: Path) -> list[Path]:
    return _written(*build_cape(folder / "cape" / "cape.ezm"))


def make_head(folder: Path) -> list[Path]:
    model = build_head(folder / "head" / "head.glb")
    model.path.parent.mkdir(parents=True, exist_ok=True)
    MODEL_WRITERS.of(model.path).save(model, model.path)
    return [model.path]


def make_fox(folder: Path) -> list[Path]:
    return _written(*build_fox(folder / "fox" / "fox.ezm"))


def _written(model: RawModel, images: dict[str, Image.Image], note: str = "") -> list[Path]:
    """`note` is a comment at the head of the model."""
    text = ezm_text(model)
    if note:
        declaration, rest = text.split("\n", 1)
        text = f"{declaration}\n<!--{note}-->\n{rest}"
    contents = {model.path: text.encode("ascii")}
    for name, image in images.items():
        buffer = io.BytesIO()
        image.save(buffer, "PNG", optimize=True)
        contents[model.path.parent / name] = buffer.getvalue()
    for path, data in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(path) as file:
            file.write(data)
    return list(contents)


if __name__ == "__main__":
    for made in make_samples(ROOT / "models"):
        sys.stdout.write(f"{made.relative_to(ROOT.parent)}  {made.stat().st_size / 1e6:.2f} MB\n")
