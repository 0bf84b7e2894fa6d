from sinew.sim.characters.modifiers.settings import AXIS_TEXTS
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.contract import CharacterSource, Edits, Files, FileUse, Form, Kind
from sinew.sim.scene.params import Settings, paths_of


def files_of(settings: Settings) -> tuple[FileUse, ...]:
    assert isinstance(settings, ModelSettings)
    textures = dict.fromkeys(path for look in settings.materials for path in paths_of(look))
    without = "materials of {names} are without it"
    motions = dict.fromkeys(motion.path for motion in settings.motions if motion.path)
    return (
        FileUse("path", settings.path, "character", is_needed=True),
        *(FileUse("motions", path, "motion", without="{names} plays without it") for path in motions),
        *(FileUse("materials", path, "texture", without=without) for path in textures),
    )


def resized(before: Settings, after: Settings) -> float:
    assert isinstance(before, ModelSettings)
    assert isinstance(after, ModelSettings)
    return after.unit_scale / before.unit_scale


MODEL = Kind(
    name="model",
    label="Model",
    icon="mdi6.human",
    hue="#e6d732",
    settings=ModelSettings,
    parts=(
        Form(choices=AXIS_TEXTS, panel="sinew.app.kinds.model.panel:ModelPanel"),
        Files(files_of),
        Edits(resized=resized),
        CharacterSource("sinew.sim.kinds.model.view:ModelView"),
    ),
)
