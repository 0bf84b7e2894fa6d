"""The file formats that are written; commands, menus, dialogs and messages ask these registries, one for each content.

A format becomes known everywhere by `SURFACE_WRITERS.register(Writer(...))`, and likewise for the others; the menu has
those that are known when the program starts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from sim.assets.format_registry import Format, Formats, resolved
from sim.export.atomic_file import atomic_file

if TYPE_CHECKING:
    import msgspec

    from sim.assets.raw import RawModel
    from sim.export.npz import Frames
    from sim.export.surface import Surface

C = TypeVar("C")
Arrays = Mapping[str, "npt.NDArray[Any] | Frames"]


@dataclass(frozen=True, kw_only=True)
class Writer(Format, Generic[C]):
    """A format that content of one type is written in.

    Attributes:
        write: Takes the content, a binary file, and options where there are any; or "package.module:name" of it.
    """

    write: Callable[..., None] | str

    def save(self, content: C, path: Path, options: msgspec.Struct | None = None) -> None:
        """Writes a file, which appears complete or not at all.

        Raises:
            OSError: If that fails.
        """
        with atomic_file(path) as file:
            resolved(self.write)(content, file, *self.chosen(options))


MODEL_WRITERS: Formats[Writer[RawModel]] = Formats(
    Writer(name="EZMesh", suffixes=(".ezm",), write="sim.export.ezm:write_ezm_file"),
    Writer(name="glTF", suffixes=(".glb",), write="sim.export.gltf:write_glb"),
    Writer(name="glTF text", suffixes=(".gltf",), write="sim.export.gltf:write_gltf"),
)
"""Of a model file's content."""

SURFACE_WRITERS: Formats[Writer[Surface]] = Formats(
    Writer(name="NumPy arrays", suffixes=(".npz",), write="sim.export.surface:write_arrays"),
    Writer(name="Wavefront OBJ", suffixes=(".obj",), write="sim.export.obj:write_obj"),
    Writer(name="PLY", suffixes=(".ply",), write="sim.export.ply:write_ply"),
)
"""Of a posed mesh."""

ARRAY_WRITERS: Formats[Writer[Arrays]] = Formats(
    Writer(name="NumPy arrays", suffixes=(".npz",), write="sim.export.npz:write_npz"),
)
"""Of named arrays, which may be recorded frame by frame."""

PICTURE_WRITERS: Formats[Writer[npt.NDArray[np.uint8]]] = Formats(
    Writer(name="PNG", suffixes=(".png",), write="sim.export.png:write_png"),
)
"""Of RGB pixels, shape (H, W, 3), or with an opacity that they are not multiplied by, (H, W, 4); row 0 at the top."""
