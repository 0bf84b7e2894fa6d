import dataclasses
import functools
from collections.abc import Collection
from pathlib import Path
from typing import Any

import msgspec

from sinew.sim.assets.formats import STRAND_FORMATS
from sinew.sim.kinds.contract import AddEntry, AddPlace, Adds, Coupling, Files, FileUse, Form, Kind, Presets
from sinew.sim.kinds.hair.presets import PRESET_FIELDS, PRESETS, with_preset
from sinew.sim.kinds.hair.settings import (
    MAPPED,
    ON_SKIN,
    HairForm,
    HairLook,
    HairSettings,
    HairSolver,
    HairSource,
    Region,
    images_of,
)
from sinew.sim.printable import titled
from sinew.sim.scene.params import Settings, params_of, with_lengths
from sinew.sim.scene.scene import Attachment, Node
from sinew.sim.scene.transform import Transform

ICON = "mdi6.hair-dryer-outline"
HEAD = 0.5

PLAIN = "Short"

ON_HEADS = frozenset(("Long", "Wavy", "Curls", "Bob", "Short", "Ponytail"))

UNDERCOAT = 1.0
"""Undercoat of hair on a character."""

COVER = 3.0
"""Number of layers of strands with which new hair covers its surface, as far as the limits allow."""

WIDER, STRANDS, GUIDES = 3.0, 400_000, 5000
"""Limits of new hair: the factor of the thickness, and the numbers of strands and guides."""

COMBED: dict[str, Any] = {"exact_rest": True, "carried": 1.0}
"""Settings of new hair, which keeps its combed shape; older projects lack them."""

_CHARACTER = 1.8

_FILE = frozenset(("file", "file_scale", "file_up", "file_every", "file_look"))
_PART = frozenset(("part_across", "part_place", "part_width"))
_GROOM = _PART | {"part_strength", "comb", "lean", "bow", "disorder", "length", "length_spread"}
_SURFACE = frozenset(record.name for record in params_of(HairSettings) if record.declared.group == "Maps")
_ROD = frozenset(("bending_length", "carried", "hold", "hold_fade", "damping", "exact_rest"))
_SPRINGS = frozenset(("spring_stiffness", "knot_mass", "knot_drag", "head_stiffness"))
_LAYERS = frozenset(("fur_stiffness", "fur_damping"))


def new_hair(preset: str, place: AddPlace) -> Node:
    """Returns hair on the selected model, limited by the weights of a selected bone; "" is the default hair."""
    settings = msgspec.structs.replace(with_preset(HairSettings(), preset or PLAIN), **COMBED)
    name, view = titled(preset) or "Hair", place.view.selection
    character = place.character
    if character is not None and settings.source is not HairSource.ELLIPSOID:
        if place.scalp is not None and (preset or PLAIN) in ON_HEADS:
            settings = msgspec.structs.replace(settings, region=Region.SCALP)
            place = dataclasses.replace(place, area=place.scalp)
        elif view.bone:
            settings = msgspec.structs.replace(settings, density_bone=view.bone)
        settings = msgspec.structs.replace(sized(settings, place), undercoat=UNDERCOAT)
        return Node(id="", name=name, attachment=Attachment(node=character.id), settings=settings)
    settings = msgspec.structs.replace(settings, source=HairSource.ELLIPSOID)
    x, _, z = place.target
    where = Transform(position=(x, max(HEAD, settings.radii[1]), z))
    return Node(id="", name=name, transform=where, settings=settings)


def sized(settings: HairSettings, place: AddPlace) -> HairSettings:
    size = 1.0 if place.box is None or place.view.selection.bone else place.fitting(_CHARACTER)
    found = msgspec.structs.replace(with_lengths(settings, size), curl_turns=settings.curl_turns / size)
    return found if place.area is None else covering(found, place.area)


def covering(settings: HairSettings, area: float) -> HairSettings:
    """Returns settings with more strands and thickness where hair would leave much of `area` [m²] bare."""
    width = settings.root_radius + settings.tip_radius
    ratio = COVER * area / max(settings.children * settings.length * width, 1e-12)
    if settings.children == 0 or ratio <= 1.0:
        return settings
    wider = min(ratio**0.5, WIDER)
    more = ratio / wider
    return msgspec.structs.replace(
        settings,
        children=min(round(settings.children * more), STRANDS),
        guides=min(round(settings.guides * more), GUIDES),
        root_radius=settings.root_radius * wider,
        tip_radius=settings.tip_radius * wider,
    )


def read_hair(path: Path, place: AddPlace) -> Node:
    """Returns hair of a file on the selected model or the only one, else without a model."""
    characters = place.scene.characters
    carrier = place.character or (characters[0] if len(characters) == 1 else None)
    settings = HairSettings(source=HairSource.FILE, file=str(path), children=0, noise=0.0, **COMBED)
    attachment = Attachment(node=carrier.id) if carrier is not None else Attachment()
    return Node(id="", name=path.stem, attachment=attachment, settings=settings)


def where(place: AddPlace) -> str:
    if place.character is None:
        return "on sphere"
    return f"on {place.view.selection.bone or place.character.name}"


def idle(node: Node) -> frozenset[str]:
    settings = node.settings
    assert isinstance(settings, HairSettings)
    is_file, solver = settings.source is HairSource.FILE, settings.solver
    unused: dict[Collection[str], bool] = {
        ("radii", "head_stiffness"): settings.source is not HairSource.ELLIPSOID,
        _SURFACE | {"density_section", "region"}: settings.source not in ON_SKIN,
        _GROOM | {"guides"}: is_file,
        _FILE: not is_file,
        _PART: settings.part_strength == 0.0,
        ("dye_colour",): not settings.colour_bone,
        _ROD: solver is not HairSolver.ROD,
        _SPRINGS: solver is not HairSolver.SPRINGS,
        _LAYERS: solver is not HairSolver.LAYERS,
        ("drag",): solver is HairSolver.SPRINGS,
        ("hold_fade",): settings.hold == 0.0,
        ("turbulence_scale", "turbulence_seed"): settings.turbulence == 0.0,
        ("clearance", "friction"): not settings.collide,
        ("curl_turns",): settings.curl_radius == 0.0,
        ("shells",): settings.form in (HairForm.RIBBONS, HairForm.LINES),
        ("soft_tips",): settings.form in (HairForm.LINES, HairForm.SHELLS),
        ("clump",): settings.children == 0,
        ("roughness", "tilt"): settings.look is HairLook.KAJIYA,
        **{(f"{what}_channel",): not getattr(settings, f"{what}_texture") for what in MAPPED},
    }
    return frozenset(name for names, is_unused in unused.items() if is_unused for name in names)


def files_of(settings: Settings) -> tuple[FileUse, ...]:
    assert isinstance(settings, HairSettings)
    if settings.source is HairSource.FILE:
        return (FileUse("file", settings.file, "strands", is_needed=True),)
    without = {
        "density": "it grows everywhere for {names}",
        "length": "the strands of {names} are as long everywhere",
        "curl": "the strands of {names} curl alike everywhere",
        "clump": "the strands of {names} clump alike everywhere",
        "noise": "the strands of {names} wave alike everywhere",
        "colour": "the strands of {names} have their own colours",
    }
    named = images_of(settings)
    return tuple(FileUse(f"{what}_texture", str(named[what]), "image", without=without[what]) for what in named)


def collides(settings: Settings) -> bool:
    assert isinstance(settings, HairSettings)
    return settings.collide


FITTED = {"children": STRANDS, "guides": GUIDES, "root_radius": 1.0, "tip_radius": 1.0}
"""Settings that grow with the covered area, and their limits."""


def cached(settings: Settings) -> frozenset[str]:
    assert isinstance(settings, HairSettings)
    names = frozenset(("carried",)) if settings.exact_rest else frozenset()
    return names if settings.source is HairSource.ELLIPSOID else names | {"source", "radii"}


HAIR = Kind(
    name="hair",
    label="Hair",
    icon=ICON,
    hue="#a6611a",
    settings=HairSettings,
    version=2,
    system="sinew.sim.kinds.hair.system:HairSystem",
    view="sinew.sim.kinds.hair.view:HairView",
    parts=(
        Adds((
            AddEntry("hair", "&Hair", "Add hair or fur.", functools.partial(new_hair, ""), ICON, "&Hair", where),
            *(
                AddEntry(
                    f"hair.{name.lower().replace(' ', '-')}",
                    titled(name),
                    f"Add hair: {name.lower()}, on the selected model or bone if there is one.",
                    functools.partial(new_hair, name),
                    group="&Hair",
                    where=where,
                )
                for name in PRESETS
            ),
        )),
        Presets("sinew-hair", "hair", "hair", PRESETS, PRESET_FIELDS, cached, FITTED),
        Form(
            idle=idle,
            choices={HairLook.KAJIYA: "Kajiya and Kay", HairLook.HAIR: "Highlights of hair"},
            panel="sinew.app.kinds.hair.panel:HairPanel",
        ),
        Files(files_of, imports=(STRAND_FORMATS, read_hair)),
        Coupling(collides=collides),
    ),
)  # fmt: skip
