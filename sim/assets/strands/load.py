"""Opens a file of strands."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from sim.assets.faults import ElementFault
from sim.assets.format_registry import resolved
from sim.assets.formats import STRAND_FORMATS, StrandFormat
from sim.assets.load import read_bytes
from sim.assets.raw import ModelError
from sim.assets.strands.strand_set import StrandSet


def load_strands(path: Path | str) -> StrandSet:
    """The strands in a file of any format of `sim.assets.formats`.

    Raises:
        ModelError: If the file cannot be read or used; one line naming file, element and reason.
    """
    path = Path(path)
    data = read_bytes(path)
    try:
        with np.errstate(all="ignore"):
            known = _format_of(data, path)
            found: StrandSet = resolved(known.reader)(data)
            return replace(found, unit=known.unit, is_z_up=known.is_z_up)
    except ElementFault as fault:
        raise ModelError(path, fault.element, fault.reason) from None


def _format_of(data: bytes, path: Path) -> StrandFormat:
    """The format of a file: told by how it begins, else by its suffix.

    Raises:
        ElementFault: If it is none that is known.
    """
    if not data:
        raise ElementFault("", "the file is empty")
    for known in STRAND_FORMATS:
        if known.magic and data.startswith(known.magic):
            return known
    for known in STRAND_FORMATS:
        if not known.magic and known.has_suffix(path):
            return known
    raise ElementFault("", f"this is neither {' nor '.join(known.name for known in STRAND_FORMATS)}")
