"""What widgets need of the rest of the program, as small protocols.

The application implements them; the tests pass fakes.  No widget imports the document, the engine or
a GL class: it receives one of these.
"""

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import SignalInstance

from sim.assets.model import CharacterModel, LocalPose
from sim.scene.scene import NodeId, ParamRef, Scene


class EditTarget(Protocol):
    """Where every edit of the scene goes, and the only place news of it come from.

    Attributes:
        changed: Emits one `sim.scene.change.Change` after each change, whoever made it (edit, undo, redo, open).
    """

    changed: SignalInstance

    @property
    def scene(self) -> Scene:
        """The current scene; an immutable value that is replaced on change."""

    def set_value(self, ref: ParamRef, value: Any, gesture: object | None = None) -> None:
        """Sets one value.

        Args:
            ref: Address of the value.
            value: New value, converted and checked against its declaration.
            gesture: Token of the running gesture, whose edits become one history entry; None for a single edit.

        Raises:
            sim.scene.params.ParamError: If the value is refused; nothing changes then.
        """

    def set_values(self, values: Mapping[ParamRef, Any], gesture: object | None = None) -> None:
        """Sets several values as one edit; see `set_value`."""

    def new_gesture(self, text: str | None = None) -> object:
        """A token for the edits from a press to its release; `text` names them in the history."""

    def cancel_gesture(self, gesture: object) -> None:
        """Restores what the gesture changed and leaves no history entry."""


class ViewportDelegate(Protocol):
    """Draws into the viewport; every call comes with the viewport's context current."""

    def gl_init(self) -> None:
        """Creates GL objects; called once for each context."""

    def gl_enter(self, framebuffer_id: int) -> None:
        """OpenGL is to be used outside of a picture too, where this framebuffer is the one of the viewport."""

    def gl_draw(self, framebuffer_id: int, width: int, height: int) -> None:
        """Draws one picture into a framebuffer, in device pixels; advances no time."""

    def gl_outdated(self) -> None:
        """What is to be shown has changed since the last picture; no context need be current."""

    def gl_resized(self) -> None:
        """The framebuffer is another one, which shows nothing yet."""

    def gl_release(self) -> None:
        """Deletes all GL objects; may be called twice."""


class ModelState(enum.Enum):
    """How far a model node is with its file."""

    LOADING = "loading"
    UPLOADING = "uploading"
    READY = "ready"
    WITHHELD = "withheld"  # until the user says that it may be read
    MISSING = "missing"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """State of the file behind a model node."""

    state: ModelState  # How far it is
    # The loaded character; None unless `UPLOADING`, on its way to where it is drawn, or `READY`
    model: CharacterModel | None = None
    text: str = ""  # One line about the state: the reason of a failure, or the file that is being read
    progress: float | None = None  # Share that is loaded, 0 to 1, or None where it is not known


class PoseLike(Protocol):
    """The pose of a skeleton at one moment; `sim.animation.pose.Pose` is one."""

    @property
    def local(self) -> LocalPose:
        """Transforms relative to the parents."""

    @property
    def model_from_joint(self) -> npt.NDArray[np.float64]:
        """Joint frames in model space, shape (B, 4, 4)."""


ModelProvider = Callable[[NodeId], ModelStatus | None]
PoseProvider = Callable[[NodeId], PoseLike | None]
