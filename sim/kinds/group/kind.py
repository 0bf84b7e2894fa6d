"""The kind of groups: they hold other nodes in the outliner, and carry those that ride on nothing else."""

from sim.kinds.contract import AddEntry, AddPlace, Kind
from sim.kinds.group.settings import GroupSettings
from sim.scene.scene import Node

ICON = "mdi6.folder-outline"


def new_group(place: AddPlace) -> Node:
    """An empty group; on the selected bone if there is one."""
    return Node(id="", name="Group", attachment=place.attachment, settings=GroupSettings())


GROUP = Kind(
    name="group",
    label="Group",
    icon=ICON,
    settings=GroupSettings,
    adds=(AddEntry("group", "&Group", "Add an empty group, which hides, locks and moves what is in it.", new_group),),
)
