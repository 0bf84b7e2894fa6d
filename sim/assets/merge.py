"""One vertex buffer for all sections of a mesh, where a file had one for each."""

import numpy as np
import numpy.typing as npt

from sim.assets.raw import RawMesh, RawSection, RawVertices

Values = npt.NDArray[np.generic]

# What a buffer without the attribute means.  A zero normal is "none": it is computed from the faces.
_DEFAULTS = {"color": (0xFFFFFFFF,), "blendweights": (1.0,)}


def merged(mesh: RawMesh) -> RawMesh:
    """`mesh` with its buffers concatenated in file order; a mesh with one buffer or none is returned as it is."""
    if len(mesh.buffers) < 2:
        return mesh
    starts = np.cumsum([0, *(buffer.count for buffer in mesh.buffers)])
    sections = [
        RawSection(section.material, section.info, 0, section.triangles + np.uint32(starts[section.buffer]))
        for section in mesh.sections
    ]
    names = dict.fromkeys(name for buffer in mesh.buffers for name in buffer.attributes)
    attributes = {name: _joined(name, mesh.buffers) for name in names}
    return RawMesh(mesh.name, mesh.skeleton, [RawVertices(int(starts[-1]), attributes)], sections)


def _joined(name: str, buffers: list[RawVertices]) -> Values:
    """One attribute of all buffers, as wide as the widest, the defaults of the format where it is missing."""
    stored = [buffer.attributes.get(name) for buffer in buffers]
    pattern = next(values for values in stored if values is not None)
    width = max(1 if values.ndim == 1 else values.shape[1] for values in stored if values is not None)
    default = np.zeros(width, dtype=pattern.dtype)
    default[: len(_DEFAULTS.get(name, ()))] = _DEFAULTS.get(name, ())
    parts = []
    for buffer, values in zip(buffers, stored, strict=True):
        part = np.tile(default, (buffer.count, 1))
        if values is not None:
            columns = values.reshape(buffer.count, -1) if buffer.count else part
            part[:] = 0
            part[:, : columns.shape[1]] = columns
        parts.append(part)
    joined: Values = np.concatenate(parts)
    return joined[:, 0] if pattern.ndim == 1 else joined
