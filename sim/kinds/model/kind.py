"""The kind of models: characters and things that are read from files, posed and skinned by `sim.figures`."""

from sim.figures.settings import ModelSettings
from sim.kinds.contract import FileUse, Kind
from sim.scene.params import Settings


def files_of(settings: Settings) -> tuple[FileUse, ...]:
    """The model file."""
    assert isinstance(settings, ModelSettings)
    return (FileUse("path", settings.path, "character", is_needed=True),)


MODEL = Kind(
    name="model",
    label="Model",
    icon="mdi6.human",
    hue="#e6d732",
    settings=ModelSettings,
    files=files_of,
    figure="sim.kinds.model.view:ModelView",
    panel="app.kinds.model.panel:ModelPanel",
)
