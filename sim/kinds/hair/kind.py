"""The kind of hair and fur."""

import functools

import msgspec

from sim.kinds.contract import AddEntry, AddPlace, FileUse, Kind, Presets
from sim.kinds.hair.presets import PRESET_FIELDS, PRESETS, with_preset
from sim.kinds.hair.settings import HairForm, HairLook, HairSettings, HairSolver, HairSource
from sim.scene.params import Settings
from sim.scene.scene import Attachment, Node
from sim.scene.transform import Transform

ICON = "mdi6.hair-dryer-outline"
HEAD = 0.5
"""Height of hair that grows on nothing else [m]."""

_SURFACE = frozenset(("density_bone", "density_section", "density_texture", "length_texture", "colour_texture"))
_ROD = frozenset(("bending_length", "carried", "hold", "hold_fade", "damping"))
_SPRINGS = frozenset(("spring_stiffness", "knot_mass", "knot_drag", "head_stiffness"))
_LAYERS = frozenset(("fur_stiffness", "fur_damping"))
_OF_SOLVER = {HairSolver.ROD: _ROD, HairSolver.SPRINGS: _SPRINGS, HairSolver.LAYERS: _LAYERS}


def new_hair(preset: str, place: AddPlace) -> Node:
    """Hair of a preset, or plain hair for "": on the selected model, where a bone is selected by its weights."""
    settings = with_preset(HairSettings(), preset) if preset else HairSettings()
    name, view = preset.lower() or "hair", place.view.selection
    if place.figure is not None and settings.source is not HairSource.ELLIPSOID:
        settings = msgspec.structs.replace(settings, density_bone=view.bone or "")
        return Node(id="", name=name, attachment=Attachment(node=place.figure.id), settings=settings)
    settings = msgspec.structs.replace(settings, source=HairSource.ELLIPSOID)
    x, _, z = place.target
    where = Transform(position=(x, max(HEAD, settings.radii[1]), z))
    return Node(id="", name=name, transform=where, settings=settings)


def where(place: AddPlace) -> str:
    """Where new hair goes, in words."""
    if place.figure is None:
        return "on a ball"
    return f"on {place.view.selection.bone or place.figure.name}"


def idle(node: Node) -> frozenset[str]:
    """Rows of other sources, solvers and looks."""
    settings = node.settings
    assert isinstance(settings, HairSettings)
    is_ball = settings.source is HairSource.ELLIPSOID
    hidden = _SURFACE if is_ball else frozenset(("radii", "head_stiffness"))
    hidden |= (_ROD | _SPRINGS | _LAYERS) - _OF_SOLVER[settings.solver]
    if settings.solver is HairSolver.SPRINGS:
        hidden |= {"drag"}
    if settings.hold == 0.0:
        hidden |= {"hold_fade"}
    if settings.turbulence == 0.0:
        hidden |= {"turbulence_scale", "turbulence_seed"}
    if not settings.collide:
        hidden |= {"clearance", "friction"}
    if settings.curl_radius == 0.0:
        hidden |= {"curl_turns"}
    if settings.form in (HairForm.RIBBONS, HairForm.LINES):
        hidden |= {"shells"}
    if settings.form in (HairForm.LINES, HairForm.SHELLS):
        hidden |= {"soft_tips"}
    if settings.children == 0:
        hidden |= {"clump"}
    return hidden | {"roughness", "tilt"} if settings.look is HairLook.KAJIYA else hidden


def files_of(settings: Settings) -> tuple[FileUse, ...]:
    """Images that say where hair grows, how long and in what colour."""
    assert isinstance(settings, HairSettings)
    without = {
        "density_texture": "it grows everywhere for {names}",
        "length_texture": "the strands of {names} are as long everywhere",
        "colour_texture": "the strands of {names} have their own colours",
    }
    if settings.source is HairSource.ELLIPSOID:
        return ()
    uses = (FileUse(name, getattr(settings, name), "image", without=end) for name, end in without.items())
    return tuple(use for use in uses if use.path)


def kept(settings: Settings) -> frozenset[str]:
    """What a preset does not change of hair that grows on a model."""
    assert isinstance(settings, HairSettings)
    return frozenset() if settings.source is HairSource.ELLIPSOID else frozenset(("source", "radii"))


HAIR = Kind(
    name="hair",
    label="Hair",
    icon=ICON,
    hue="#a6611a",
    settings=HairSettings,
    adds=(
        AddEntry("hair", "&Hair", "Add hair or fur.", functools.partial(new_hair, ""), ICON, "&Hair", where),
        *(
            AddEntry(
                f"hair.{name.lower().replace(' ', '-')}",
                name,
                f"Add hair: {name.lower()}, on the selected model or bone if there is one.",
                functools.partial(new_hair, name),
                group="&Hair",
                where=where,
            )
            for name in PRESETS
        ),
    ),
    presets=Presets("sinew-hair", "hair", "hair", PRESETS, PRESET_FIELDS, kept),
    idle=idle,
    choices={HairLook.KAJIYA: "Kajiya and Kay", HairLook.HAIR: "Highlights of hair"},
    files=files_of,
    system="sim.kinds.hair.system:HairSystem",
    view="sim.kinds.hair.view:HairView",
    panel="app.kinds.hair.panel:HairPanel",
)
