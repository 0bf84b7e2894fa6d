"""Lets the held particles of a cloth follow a bone or the skin of a figure."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sim.cloth.attachment import attach
from sim.cloth_settings import ClothSettings, PinTarget
from sim.gl.texture import BufferTexture
from sim.scene import NodeId
from sim.systems.character import Character
from sim.systems.cloth import ClothSystem


class PinFollower:
    """Ties held particles to what their settings name, at the moment of the first step; then moves them.

    Where the model or the bone is missing the particles stay where they are.
    """

    def __init__(self, settings: ClothSettings) -> None:
        self._settings = settings
        self._joint_from_world: npt.NDArray[np.float64] | None = None
        self._vertices: BufferTexture | None = None
        self._figure: Character | None = None

    def follows(self, figures: Mapping[NodeId, Character]) -> bool:
        """Whether the particles ride on something."""
        return self._settings.pin_target is not PinTarget.WORLD and self._settings.pin_node in figures

    def detach(self) -> None:
        """Ties anew at the next step, because the cloth started again."""
        self._joint_from_world = None
        if self._vertices is not None:
            self._vertices.release()
            self._vertices = None

    def move(self, cloth: ClothSystem, figures: Mapping[NodeId, Character]) -> None:
        """Sets where the held particles go in the step that ends with the figures as they stand now."""
        figure = figures.get(self._settings.pin_node)
        if figure is not self._figure:
            # A model that was read again has other buffers.
            self.detach()
            self._figure = figure
        if figure is None or not cloth.pinned.any():
            return
        if self._settings.pin_target is PinTarget.BONE:
            self._move_with_bone(cloth, figure)
        elif self._settings.pin_target is PinTarget.SURFACE and figure.model.mesh.triangle_count:
            self._move_with_surface(cloth, figure)

    def _move_with_bone(self, cloth: ClothSystem, figure: Character) -> None:
        frame = figure.joint_frame(self._settings.pin_bone)
        if frame is None:
            return
        if self._joint_from_world is None:
            self._joint_from_world = np.linalg.inv(frame)
        motion = frame @ self._joint_from_world
        cloth.set_pin_targets(cloth.model.positions @ motion[:3, :3].T + motion[:3, 3])

    def _move_with_surface(self, cloth: ClothSystem, figure: Character) -> None:
        vertices = figure.primary.vertices
        if self._vertices is None:
            placed = figure.primary.read()["position"][:, :3].astype(np.float64)
            world = placed @ figure.world_from_model[:3, :3].T + figure.world_from_model[:3, 3]
            held = np.flatnonzero(cloth.pinned).astype(np.int32)
            cloth.attach_pins(attach(held, cloth.model.positions[held], world, figure.model.mesh.triangles))
            self._vertices = BufferTexture(vertices.context, vertices, "rgba32f", label="worn surface")
        texels = vertices.dtype.itemsize // 16
        cloth.follow_surface(self._vertices, texels, figure.world_from_model)
