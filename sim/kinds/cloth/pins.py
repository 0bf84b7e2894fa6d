import re
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from itertools import pairwise

import numpy as np

from sinew.sim.kinds.cloth.settings import PinPreset
from sinew.sim.maths.arrays import Bool, Float64
from sinew.sim.scene.params import SettingsError

_ENTRY = re.compile(r"(?P<minus>-?)(?P<first>\d+)(?:-(?P<last>\d+))?")


def pin_flags(preset: PinPreset, listed: str, particle_count: int, rows: int) -> Bool:
    """Returns flags of the held particles, shape (P,).

    Args:
        preset: Edges and corners of particles in rows; on another mesh they hold nothing.
        listed: Text for `parse_pins`.
        particle_count: Numbers beyond it are ignored, so that a sheet can be made coarser.
        rows: Of particles; 0 for a mesh without.

    Raises:
        SettingsError: If the list is invalid.
    """
    return pin_weights(preset, listed, particle_count, rows) > 0.0


def pin_weights(
    preset: PinPreset, listed: str, particle_count: int, rows: int, painted: Float64 | float = 0.0
) -> Float64:
    """Returns weights of the pins, shape (P,): as `pin_flags`; a preset adds to `painted` weights (P,)."""
    weights = np.maximum(_preset_flags(preset, particle_count, rows).astype(np.float64), painted)
    for first, last, held in parse_pins(listed):
        weights[first : last + 1] = held
    return weights


def parse_pins(listed: str) -> list[tuple[int, int, bool]]:
    """Parses a list to sorted ranges (first, last, held): `0 21 40-60 -45` holds 0, 21, and 40 to 60 without 45.

    Later entries override earlier ones.

    Raises:
        SettingsError: Names the invalid word.
    """
    written: list[tuple[int, int, bool]] = []
    # A repeated entry counts at its last position.
    for word in reversed(dict.fromkeys(reversed(listed.replace(",", " ").split()))):
        match = _ENTRY.fullmatch(word)
        if match is None or len(word) > 24:
            raise SettingsError(f"pin list: {word[:24]!r} is neither a number nor a range such as 40-60")
        first = int(match["first"])
        last = int(match["last"]) if match["last"] else first
        if not first <= last <= 1 << 22:
            raise SettingsError(f"pin list: {word!r} is no range of particles")
        written.append((first, last, not match["minus"]))
    return _merged(written)


def toggled_pin_list(settings_list: str, flags: Bool, numbers: Iterable[int]) -> str:
    """Returns the list text after toggling particles; `flags` (P,) are the held ones, including the preset."""
    toggled = [(int(number), int(number), not bool(flags[number])) for number in numbers]
    return pin_list_text(_merged([*parse_pins(settings_list), *toggled]))


def pin_list_text(ranges: Sequence[tuple[int, int, bool]]) -> str:
    spans = [(f"{first}" if first == last else f"{first}-{last}", held) for first, last, held in ranges]
    return " ".join([span for span, held in spans if held] + [f"-{span}" for span, held in spans if not held])


def _merged(written: Sequence[tuple[int, int, bool]]) -> list[tuple[int, int, bool]]:
    """Returns ascending ranges without overlap; the cost depends on their number, not on their length."""
    starts = sorted(range(len(written)), key=lambda entry: written[entry][0])
    edges = sorted({edge for first, last, _ in written for edge in (first, last + 1)})
    covering: list[int] = []  # entries that have begun, negated, so that the latest of the text comes first
    merged: list[tuple[int, int, bool]] = []
    begun = 0
    for edge, following in pairwise(edges):
        while begun < len(starts) and written[starts[begun]][0] <= edge:
            heappush(covering, -starts[begun])
            begun += 1
        while covering and written[-covering[0]][1] < edge:
            heappop(covering)
        if not covering:
            continue
        held = written[-covering[0]][2]
        if merged and merged[-1][1:] == (edge - 1, held):
            merged[-1] = merged[-1][0], following - 1, held
        else:
            merged.append((edge, following - 1, held))
    return merged


def _preset_flags(preset: PinPreset, particle_count: int, rows: int) -> Bool:
    if preset is PinPreset.ALL:
        return np.ones(particle_count, np.bool_)
    flags = np.zeros(particle_count, np.bool_)
    if not rows or preset is PinPreset.NONE:
        return flags
    sheet = flags.reshape(rows, -1)
    for place in _PLACES[preset]:
        sheet[place] = True
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
