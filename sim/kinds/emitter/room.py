"""Whether the driver can hold an emitter."""

import numpy as np
import numpy.typing as npt

from sim.gl.context import Context
from sim.kinds.emitter.buffers import padded_slots
from sim.kinds.emitter.emission import SURFACE_SOURCES
from sim.kinds.emitter.settings import EmitterSettings
from sim.scene.params import SettingsError

UInt32 = npt.NDArray[np.uint32]


def check_room(context: Context, settings: EmitterSettings, faces: UInt32 | None) -> None:
    """Refuse what the driver cannot hold, or a surface that is not there.

    Raises:
        SettingsError: Naming the setting.
    """
    limit = context.capabilities.max_texture_buffer_size
    if 2 * padded_slots(settings.capacity) > limit:
        raise SettingsError(f"capacity = {settings.capacity}: this driver holds {limit // 2} particles at most")
    if settings.source not in SURFACE_SOURCES:
        return
    if faces is None:
        raise SettingsError(f"source {settings.source.value}: there is no surface to emit from")
    if len(faces) > limit:
        raise SettingsError(f"{len(faces)} faces emit: this driver holds {limit} at most")
