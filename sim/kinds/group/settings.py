"""Settings of a group, which is nothing but what it holds."""

from typing import ClassVar

from sim.scene.params import Settings


class GroupSettings(Settings, frozen=True, kw_only=True):
    """Nodes that belong together."""

    kind: ClassVar[str] = "group"
    is_group: ClassVar[bool] = True
