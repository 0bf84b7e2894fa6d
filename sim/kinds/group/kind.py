from typing import ClassVar

from sinew.sim.kinds.contract import AddEntry, AddPlace, Adds, Kind
from sinew.sim.scene.params import Settings
from sinew.sim.scene.scene import Node


class GroupSettings(Settings, frozen=True, kw_only=True):
    kind: ClassVar[str] = "group"
    is_group: ClassVar[bool] = True


ICON = "mdi6.folder-outline"


def new_group(place: AddPlace) -> Node:
    return Node(id="", name="Group", attachment=place.attachment, settings=GroupSettings())


GROUP = Kind(
    name="group",
    label="Group",
    icon=ICON,
    settings=GroupSettings,
    view="sinew.sim.kinds.group.view:GroupView",
    parts=(
        Adds(
            (AddEntry("group", "&Group", "Add an empty group, which hides, locks and moves what is in it.", new_group),)
        ),
    ),
)
