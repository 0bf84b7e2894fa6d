"""EmitterPasses: what an emitter runs on the GPU, with everything bound that its programs read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.colliders.layout import ColliderLayout
from sim.colliders.scene_colliders import Shapes
from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.texture import BufferTexture
from sim.gl.vertex_array import VertexArray
from sim.kinds.emitter.births import Segment
from sim.kinds.emitter.block import EmitterBlock
from sim.kinds.emitter.buffers import ParticleSide, padded_slots
from sim.kinds.emitter.inputs import NO_INPUTS, EmitterInputs
from sim.kinds.emitter.kernels import EmitterKernels, Features, features_of
from sim.kinds.emitter.settings import EmitterSettings
from sim.maths.curl_noise import pattern_at
from sim.scene.clock import STEP_TIME

UInt32 = npt.NDArray[np.uint32]


Substep = tuple[tuple[float, float, float, float], int, tuple[tuple[int, int], ...]]
"""What `u_substep` takes, how many slots from the first on are moved, and ranges of those where then some are born."""


_ColliderKey = tuple[int, ColliderLayout, Shapes]


@dataclass(frozen=True, slots=True)
class _StepKernels:
    """Kernels of a step among so many solids; who is always full has none for births."""

    colliders: _ColliderKey
    features: Features
    move: Kernel
    bear: Kernel | None


class EmitterPasses:
    """Programs, constants and the table of faces of one emitter.

    Args:
        context: Where they live.
        library: Where programs come from.
        capacity: Particles of the emitter.
        faces: Table of a surface that emits, see `sim.skin.surface_table`; None for other sources.
    """

    def __init__(self, context: Context, library: ShaderLibrary, capacity: int, faces: UInt32 | None) -> None:
        self._kernels = EmitterKernels(library, capacity)
        self._block = EmitterBlock(context)
        self._no_source = VertexArray(context, label="emitter")
        self._faces: tuple[Buffer, BufferTexture] | None = None
        if faces is not None:
            buffer = Buffer(context, np.ascontiguousarray(faces, np.uint32).ravel(), label="emitter faces")
            self._faces = buffer, BufferTexture(context, buffer, "rgba32ui")
            self._block.set_surface(len(faces), 2)

    def set_settings(self, settings: EmitterSettings) -> None:
        """Take what stays the same from step to step."""
        self._settings = settings
        self._block.set_settings(settings)
        self._stepping: _StepKernels | None = None

    def set_births(self, segments: Sequence[Segment], origin: float) -> None:
        """Births of a span, whose moments count from `origin` [steps since the start]."""
        self._block.set_births(segments, self._settings.capacity, origin)

    def has_source(self, inputs: EmitterInputs) -> bool:
        return self._faces is None or inputs.surface is not None

    def move(
        self,
        side: ParticleSide,
        swap: Callable[[ParticleSide], ParticleSide],
        inputs: EmitterInputs,
        substeps: Sequence[Substep],
        time: float,
    ) -> ParticleSide:
        """Move and bear particles over the step that begins at `time` [s since the start]; returns the new records.

        `swap` gives the side to write to for one that was read, which others may write to from then on.
        """
        stepping = self._stepping_among(inputs)
        features, move, bear = stepping.features, stepping.move, stepping.bear
        if features.whirls:
            settings = self._settings
            self._block.set_pattern(
                pattern_at(time, settings.turbulence_change, settings.wind, settings.turbulence_scale)
            )
        self._block.set_source(inputs.world_from_start, inputs.world_from_end, inputs.world_from_aim)
        self._set_inputs(move, features, inputs)
        move_values = move.program.location("u_substep")
        if bear is not None:
            self._set_inputs(bear, features, inputs)
            bear_values = bear.program.location("u_substep")
        self._block.bind()
        with move.writing(side.vertices) as capture:
            for values, moved, made in substeps:
                target = swap(side)
                if moved:
                    capture.use(move, side.vertices)
                    capture.send(move_values, values)
                    capture.write(target.buffer.name, 0, padded_slots(moved))
                if made and bear is not None:
                    capture.use(bear, target.vertices)
                    capture.send(bear_values, values)
                    for first, count in made:
                        capture.write(target.buffer.name, first, count)
                side = target
        return side

    def show(self, side: ParticleSide, inputs: EmitterInputs, count: int) -> None:
        """Write the first slots by the formula of time alone; the source counts as at rest where it is at the end."""
        features = features_of(self._settings, *_colliders_of(NO_INPUTS))
        kernel = self._kernels.stateless(features)
        self._block.set_source(inputs.world_from_end, inputs.world_from_end, inputs.world_from_aim)
        self._set_inputs(kernel, features, inputs)
        self._block.bind()
        kernel.run(self._no_source, side.buffer, count)

    def release(self) -> None:
        self._block.release()
        self._no_source.release()
        if self._faces is not None:
            self._faces[1].release()
            self._faces[0].release()

    def _stepping_among(self, inputs: EmitterInputs) -> "_StepKernels":
        colliders = _colliders_of(inputs)
        if self._stepping is None or self._stepping.colliders != colliders:
            features = features_of(self._settings, *colliders)
            bear = None if features.full else self._kernels.births(features)
            self._stepping = _StepKernels(colliders, features, self._kernels.step(features), bear)
        return self._stepping

    def _set_inputs(self, kernel: Kernel, features: Features, inputs: EmitterInputs) -> None:
        program = kernel.program
        if features.response:
            program["u_colliders"], program["u_collider_count"] = inputs.colliders.texture, inputs.colliders.count
        if self._faces is not None and inputs.surface is not None and "u_faces" in program:
            surface = inputs.surface
            self._block.set_surface(self._faces[1].texel_count, surface.texels_per_vertex)
            program["u_vertices"], program["u_vertices_before"] = surface.vertices, surface.vertices_before
            program["u_faces"] = self._faces[1]


def _colliders_of(inputs: EmitterInputs) -> _ColliderKey:
    colliders = inputs.colliders
    return colliders.count if colliders else 0, colliders.layout, colliders.shapes


def substeps_of(settings: EmitterSettings) -> list[tuple[float, float, float, float]]:
    """What `u_substep` takes in each part of a step: its start and end as fractions, lives it takes, its duration [s].

    The first one takes a step off every life.
    """
    count = settings.substeps
    return [(i / count, (i + 1) / count, float(i == 0), STEP_TIME / count) for i in range(count)]
