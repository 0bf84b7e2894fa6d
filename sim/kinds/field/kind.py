import functools
from typing import Any

from sinew.sim.fields.state import FieldShape, FieldType
from sinew.sim.kinds.contract import AddEntry, AddPlace, Adds, ForceSource, Form, Kind
from sinew.sim.kinds.field.settings import NUMBERS_OF_TYPE, SIZES_OF_FIELD, FieldSettings, VortexProfile
from sinew.sim.scene.params import Role, param_of, with_lengths
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform

ICON = "mdi6.weather-windy"

_SURROUNDINGS = 1.8
"""Extent of surroundings that suits the default sizes [m]."""

_SIDEWAYS = (0.0, 0.0, -90.0)
"""Turns the axis from y to x [°]."""

DEFAULTS: dict[FieldType, dict[str, Any]] = {
    FieldType.WIND: {"gusts": 0.3, "scale": 1.0},
    FieldType.ATTRACTOR: {},
    FieldType.VORTEX: {},
    FieldType.TURBULENCE: {"speed": 2.0},
    FieldType.DRAG: {"shape": FieldShape.SPHERE},
    FieldType.PULSE: {"strength": 100.0, "scale": 0.1},
}
"""Settings of new fields."""

_ENTRIES = {
    FieldType.WIND: ("&Wind", "Add a wind, which may be gusty.", ICON),
    FieldType.ATTRACTOR: ("&Attractor", "Add a field that attracts or repels.", "mdi6.magnet"),
    FieldType.VORTEX: ("&Vortex", "Add a vortex of air around an axis.", "mdi6.weather-hurricane"),
    FieldType.TURBULENCE: ("&Turbulence", "Add turbulent air.", "mdi6.waves"),
    FieldType.DRAG: ("&Drag", "Add a volume that slows objects down.", "mdi6.water-outline"),
    FieldType.PULSE: ("&Pulse", "Add a wave that pushes objects away once.", "mdi6.access-point"),
}

SWITCHES = {"cloth": "on_cloth", "hair": "on_hair", "emitter": "on_particles"}
"""Settings that switch a field off for a kind; all other kinds have `on_others`."""


def new_field(field_type: FieldType, place: AddPlace) -> Node:
    """On the selected bone, otherwise at the target; wind blows along x."""
    settings = FieldSettings(type=field_type, **DEFAULTS[field_type])
    settings = with_lengths(settings, place.fitting(_SURROUNDINGS))
    rotation = _SIDEWAYS if field_type is FieldType.WIND else (0.0, 0.0, 0.0)
    position = (0.0, 0.0, 0.0) if place.attachment.node else place.target
    transform = Transform(position=position, rotation=rotation)
    name = field_type.value.capitalize()
    return Node(id="", name=name, transform=transform, attachment=place.attachment, settings=settings)


def acts_on(field: Node, node: Node, scene: Scene) -> bool:
    settings = field.settings
    assert isinstance(settings, FieldSettings)
    if not getattr(settings, SWITCHES.get(node.kind, "on_others")):
        return False
    return not settings.objects or node.id in scene.with_contents(settings.objects)


def idle(node: Node) -> frozenset[str]:
    settings = node.settings
    assert isinstance(settings, FieldSettings)
    used = {*NUMBERS_OF_TYPE[settings.type], *SIZES_OF_FIELD[settings.shape]}
    if settings.type is FieldType.WIND and settings.gusts == 0.0:
        used -= {"scale", "seed"}
    every = {name for names in (*NUMBERS_OF_TYPE.values(), *SIZES_OF_FIELD.values()) for name in names}
    return frozenset(every - used)


def unkeyable(node: Node, part: str, field: str) -> str:
    settings = node.settings
    assert isinstance(settings, FieldSettings)
    if part != FieldSettings.kind:
        return ""
    if param_of(FieldSettings, field).declared.role is Role.TARGET:
        return "what a field acts on cannot change with time"
    jumps = ("scale", "change", "start", *(("speed",) if settings.type is FieldType.PULSE else ()))
    return "the field would jump" if field in jumps else ""


FIELD = Kind(
    name="field",
    label="Force Field",
    icon=ICON,
    hue="#4fc3c9",
    settings=FieldSettings,
    since=3,
    view="sinew.sim.kinds.field.view:FieldView",
    parts=(
        Adds(
            tuple(
                AddEntry(kind.value, label, tip, functools.partial(new_field, kind), icon=icon, group="&Force Field")
                for kind, (label, tip, icon) in _ENTRIES.items()
            )
        ),
        Form(idle=idle, choices={VortexProfile.LAMB_OSEEN: "Lamb–Oseen"}, unkeyable=unkeyable),
        ForceSource("sinew.sim.kinds.field.place:placements", acts_on),
    ),
)
