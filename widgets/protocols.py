"""Interfaces of the application for widgets, faked in tests: no widget imports document, engine or GL classes."""

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import SignalInstance

from sinew.sim.assets.model import CharacterModel, LocalPose
from sinew.sim.scene.scene import NodeId, ParamRef, Scene


class EditTarget(Protocol):
    """Owner of the scene; `changed` emits a `sinew.sim.scene.change.Change` after each edit, undo, redo or open."""

    @property
    def changed(self) -> SignalInstance: ...

    @property
    def scene(self) -> Scene:
        """The current scene, an immutable value."""

    def set_value(self, ref: ParamRef, value: Any, gesture: object | None = None) -> None:
        """Sets a value after conversion and validation.

        Args:
            gesture: Token of the open gesture, whose edits are one undo step; None for a single edit.

        Raises:
            sim.scene.params.ParamError: If the value is invalid; nothing changes.
        """

    def set_values(self, values: Mapping[ParamRef, Any], gesture: object | None = None) -> None:
        """Sets several values as one edit; see `set_value`."""

    def new_gesture(self, text: str | None = None) -> object:
        """Returns a token for the edits of a gesture; `text` is its name in the history."""

    def cancel_gesture(self, gesture: object) -> None:
        """Restores the values from before the gesture and removes its undo step."""


class ViewportDelegate(Protocol):
    """Drawing of the viewport. Methods are called with the viewport's context current unless they say otherwise."""

    def gl_init(self) -> None:
        """Creates GL objects; called once for each context."""

    def gl_enter(self, framebuffer_id: int) -> None:
        """Prepares for GL outside of drawing, with the framebuffer of the viewport."""

    def gl_draw(self, framebuffer_id: int, width: int, height: int) -> None:
        """Draws an image into a framebuffer, in device pixels; does not advance time."""

    def gl_outdated(self) -> None:
        """Notes that scene or view have changed since the last image; no context needs to be current."""

    def gl_resized(self) -> None:
        """Notes that the framebuffer was replaced and is empty."""

    def gl_release(self) -> None:
        """Releases all GL objects; safe to call twice."""


class ModelState(enum.Enum):
    LOADING = "loading"
    UPLOADING = "uploading"
    READY = "ready"
    WITHHELD = "withheld"  # until the user allows access to the file
    MISSING = "missing"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ModelStatus:
    state: ModelState
    model: CharacterModel | None = None  # None unless `UPLOADING` or `READY`
    text: str = ""  # One line: the reason of a failure, or the file that is loading
    progress: float | None = None  # Loaded share, 0 to 1; None if unknown


def loaded_model(status: ModelStatus | None) -> CharacterModel | None:
    return status.model if status is not None else None


class PoseLike(Protocol):
    """A pose, such as `sinew.sim.animation.pose.Pose`."""

    @property
    def local(self) -> LocalPose:
        """Transforms of the joints relative to their parents."""

    @property
    def model_from_joint(self) -> npt.NDArray[np.float64]:
        """Joint transforms in model space, shape (B, 4, 4)."""


ModelProvider = Callable[[NodeId], ModelStatus | None]
PoseProvider = Callable[[NodeId], PoseLike | None]
