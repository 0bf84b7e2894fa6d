"""The text format "soup": a line SOUP, then a vertex of a triangle per line."""

import numpy as np

from sinew.sim.assets.faults import MAX_VERTICES, ElementFault
from sinew.sim.assets.formats import ModelFormat
from sinew.sim.assets.raw import LoadWatch, RawMesh, RawModel, RawSection, RawVertices


def read_soup(data: bytes, path, _watch: LoadWatch) -> RawModel:
    lines = data.split(b"\n")[1:]
    lines = lines[:-1] if not lines[-1] else lines
    if len(lines) > MAX_VERTICES:
        raise ElementFault("vertices", f"there are more than {MAX_VERTICES}")
    places = np.empty((len(lines), 3), np.float32)
    for number, line in enumerate(lines):
        try:
            places[number] = [float(word) for word in line.split()]
        except ValueError:
            raise ElementFault(f"line {number + 2}", "is not three numbers") from None
    corners = np.arange(len(places) // 3 * 3, dtype=np.uint32).reshape(-1, 3)
    mesh = RawMesh("soup", "", [RawVertices(len(places), {"position": places})], [RawSection("", "", 0, corners)])
    return RawModel(path, "acme.soup", None, meshes=[mesh])


SOUP = ModelFormat(
    key="acme.soup", name="Triangle soup", suffixes=(".soup",), magic=b"SOUP\n", reader="acme_rope.soup:read_soup"
)
