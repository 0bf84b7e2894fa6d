"""Which particles are held: presets, and lists of numbers as text."""

import re
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from sim.kinds.cloth.grid import GridShape
from sim.kinds.cloth.settings import PinPreset
from sim.scene.params import SettingsError

Bool = npt.NDArray[np.bool_]

_ENTRY = re.compile(r"(?P<minus>-?)(?P<first>\d+)(?:-(?P<last>\d+))?")


def pin_flags(preset: PinPreset, listed: str, particle_count: int, grid: GridShape | None) -> Bool:
    """Which particles are held, shape (P,).

    Args:
        preset: Edges and corners are those of a sheet; on a mesh they hold nothing.
        listed: Text as `parse_pins` takes it.
        particle_count: Number of particles; numbers beyond it are left out, so that a sheet can be made coarser.
        grid: The sheet, or None for a mesh.

    Raises:
        SettingsError: If the list cannot be read.
    """
    flags = _preset_flags(preset, particle_count, grid)
    for number, held in parse_pins(listed):
        if number < particle_count:
            flags[number] = held
    return flags


def parse_pins(listed: str) -> list[tuple[int, bool]]:
    """Numbers and whether each is held, in the order of the text: `0 21 40-60 -45` holds 0, 21, 40 to 60 without 45.

    Raises:
        SettingsError: Naming the word that is neither a number nor a range.
    """
    found: list[tuple[int, bool]] = []
    for word in listed.replace(",", " ").split():
        match = _ENTRY.fullmatch(word)
        if match is None or len(word) > 24:
            raise SettingsError(f"pin list: {word[:24]!r} is neither a number nor a range such as 40-60")
        first = int(match["first"])
        last = int(match["last"]) if match["last"] else first
        if not first <= last <= 1 << 22:
            raise SettingsError(f"pin list: {word!r} is no range of particles")
        found += [(number, not match["minus"]) for number in range(first, last + 1)]
    return found


def toggled_pin_list(settings_list: str, flags: Bool, numbers: Iterable[int]) -> str:
    """The list text after holding what is free and letting go what is held among `numbers`.

    Args:
        settings_list: The list as it is.
        flags: What is held now, preset included, shape (P,).
        numbers: Particles to toggle.
    """
    changed = {int(number): not bool(flags[number]) for number in numbers}
    entries = {number: held for number, held in parse_pins(settings_list) if number not in changed}
    entries |= changed
    return pin_list_text(entries)


def pin_list_text(entries: dict[int, bool]) -> str:
    """Shortest text of a list, runs of numbers as ranges."""
    words: list[str] = []
    for held in (True, False):
        numbers = sorted(number for number, value in entries.items() if value is held)
        start = 0
        for at in range(1, len(numbers) + 1):
            if at == len(numbers) or numbers[at] != numbers[at - 1] + 1:
                first, last = numbers[start], numbers[at - 1]
                span = f"{first}" if first == last else f"{first}-{last}"
                words.append(span if held else f"-{span}")
                start = at
    return " ".join(words)


def _preset_flags(preset: PinPreset, particle_count: int, grid: GridShape | None) -> Bool:
    if preset is PinPreset.ALL:
        return np.ones(particle_count, np.bool_)
    flags = np.zeros(particle_count, np.bool_)
    if grid is None or preset is PinPreset.NONE:
        return flags
    sheet = flags.reshape(grid.rows, grid.columns)
    for rows, columns in _PLACES[preset]:
        sheet[rows, columns] = True
    return flags


_WHOLE = slice(None)
_PLACES: dict[PinPreset, tuple[tuple[int | slice, int | slice], ...]] = {
    PinPreset.CORNERS: ((0, 0), (0, -1)),
    PinPreset.ALL_CORNERS: ((0, 0), (0, -1), (-1, 0), (-1, -1)),
    PinPreset.TOP: ((0, _WHOLE),),
    PinPreset.BOTTOM: ((-1, _WHOLE),),
    PinPreset.LEFT: ((_WHOLE, 0),),
    PinPreset.RIGHT: ((_WHOLE, -1),),
    PinPreset.BORDER: ((0, _WHOLE), (-1, _WHOLE), (_WHOLE, 0), (_WHOLE, -1)),
}
