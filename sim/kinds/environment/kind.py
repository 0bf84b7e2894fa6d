from pathlib import Path

from sinew.sim.assets.formats import PANORAMA_FORMATS
from sinew.sim.kinds.contract import AddEntry, AddPlace, Adds, Files, FileUse, Form, Kind
from sinew.sim.kinds.environment.settings import EnvironmentSettings, EnvironmentSource
from sinew.sim.scene.params import Settings
from sinew.sim.scene.scene import Node

ICON = "mdi6.image-filter-hdr"


def new_environment(_place: AddPlace) -> Node:
    return Node(id="", name="Environment", settings=EnvironmentSettings())


def new_panorama(path: Path, _place: AddPlace) -> Node:
    settings = EnvironmentSettings(source=EnvironmentSource.FILE, path=str(path), background=True)
    return Node(id="", name=path.stem, settings=settings)


def files_of(settings: Settings) -> tuple[FileUse, ...]:
    assert isinstance(settings, EnvironmentSettings)
    if settings.source is EnvironmentSource.STUDIO:
        return ()
    without = "{names} shows the studio instead"
    return (FileUse("path", settings.path, "panorama", is_needed=True, without=without),)


def idle(node: Node) -> frozenset[str]:
    assert isinstance(node.settings, EnvironmentSettings)
    return frozenset(("path",)) if node.settings.source is EnvironmentSource.STUDIO else frozenset()


ENVIRONMENT = Kind(
    name="environment",
    label="Environment",
    icon=ICON,
    settings=EnvironmentSettings,
    since=3,
    view="sinew.sim.kinds.environment.view:EnvironmentView",
    parts=(
        Adds((
            AddEntry("environment", "En&vironment", "Add light from all around: a studio or a panorama.",
                     new_environment, icon=ICON),
        )),
        Form(idle=idle, panel="sinew.app.kinds.environment.panel:EnvironmentPanel"),
        Files(files_of, imports=(PANORAMA_FORMATS, new_panorama)),
    ),
)  # fmt: skip
