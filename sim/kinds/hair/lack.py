"""What some hair lacks that its settings name."""

from sim.figures.character import Character
from sim.kinds.contract import World
from sim.kinds.hair.root_settings import MAPPED, ON_SKIN
from sim.kinds.hair.settings import HairSettings, HairSource
from sim.scene.scene import Node


def missing(node: Node, world: World, figure: Character | None) -> str:
    """What hair lacks, as one line; "" for nothing, or while a file is being read."""
    settings, label, carrier = node.settings, node.name or node.id, world.scene.by_id.get(node.attachment.node)
    assert isinstance(settings, HairSettings)
    if settings.source not in ON_SKIN:
        return world.places.missing(node)
    if carrier is None or not carrier.settings.is_figure:
        return f"{label}: the model that it grows on is not in the scene; nothing grows"
    if figure is None:
        return ""
    name, mesh = carrier.name or carrier.id, figure.model.mesh
    if not (mesh.vertex_count if settings.source is HairSource.VERTICES else mesh.triangle_count):
        return f"{label}: {name} has no surface to grow on; nothing grows"
    skeleton = figure.model.skeleton
    for what in (*MAPPED, "colour"):
        bone, end = getattr(settings, f"{what}_bone"), _WITHOUT[what]
        if bone and (skeleton is None or bone not in skeleton.names):
            return f"{label}: {name} has no bone {bone!r} to say {end}"
    if settings.density_section and settings.density_section not in [part.name for part in mesh.sections]:
        return f"{label}: {name} has no section {settings.density_section!r}; it grows everywhere"
    return ""


_WITHOUT = {
    "density": "where it grows; it grows everywhere",
    "length": "how long it is; it is as long everywhere",
    "curl": "how it curls; it curls alike everywhere",
    "clump": "how it clumps; it clumps alike everywhere",
    "noise": "how it waves; it waves alike everywhere",
    "colour": "where it is dyed; it is dyed nowhere",
}
