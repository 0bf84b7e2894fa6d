"""The size of a web page that the export window expects."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from sinew.sim.assets.model import CharacterModel, EmbeddedImage
from sinew.sim.export.formats import PageOptions
from sinew.sim.export.page.estimate import PagePart, page_bytes
from sinew.sim.kinds.contract import Counts
from sinew.sim.printable import size_text
from sinew.sim.scene.scene import Node, NodeId


def page_estimate(
    counts: Mapping[NodeId, Counts], models: Sequence[tuple[Node, CharacterModel]], images: int, options: PageOptions
) -> str:
    """Returns a line about the size; reads the sizes of the files of images, but no file.

    Args:
        counts: Of the visible nodes.
        images: Number of recorded images.
    """
    known = {node.id: model for node, model in models}
    parts = [_part(found, known.get(node), is_live=options.live) for node, found in counts.items()]
    least, most = page_bytes(parts, images)
    return f"The page takes about {size_text(least)} to {size_text(most)}."


def _part(counts: Counts, model: CharacterModel | None, *, is_live: bool) -> PagePart:
    if model is not None:
        sources = {source for material in model.materials for source in material.images}
        return PagePart(vertices=counts.vertices, joints=counts.bones, image_bytes=sum(map(_size, sources)))
    if counts.triangles or counts.particles:
        return PagePart(vertices=counts.vertices, particles=counts.particles, is_recorded=not is_live)
    return PagePart(knots=counts.vertices, is_recorded=not is_live)


def _size(source: Path | EmbeddedImage) -> int:
    if isinstance(source, EmbeddedImage):
        return len(source.data)
    try:
        return source.stat().st_size
    except OSError:  # the export reports it
        return 0
