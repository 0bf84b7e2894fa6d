from typing import Annotated, ClassVar

from sinew.sim.scene.params import Effect, Scale, Settings, param
from sinew.sim.scene.vectors import FAR, Place


class CameraSettings(Settings, frozen=True, kw_only=True):
    """A camera that looks along the negative z axis of its node, with y up, or at a target.

    Cuts show the camera that was switched on last.
    """

    kind: ClassVar[str] = "camera"

    field_of_view: Annotated[float, param(
        "Vertical field of view.", unit="°", lo=1.0, hi=150.0, step=1.0, effect=Effect.VIEW,
    )] = 40.0  # fmt: skip
    orthographic: Annotated[bool, param(
        "Show all depths at the same size.", effect=Effect.VIEW, sparse=True,
    )] = False  # fmt: skip
    height: Annotated[float, param(
        "Height of the image of an orthographic camera.", unit="m", lo=1e-4, hi=1e6, soft=(0.1, 100.0),
        scale=Scale.LOG, effect=Effect.VIEW, sparse=True,
    )] = 3.0  # fmt: skip
    tracks: Annotated[bool, param(
        "Look at the target instead of along the axis of the node.", label="Look at target", effect=Effect.VIEW,
    )] = False  # fmt: skip
    target: Annotated[Place, param(
        "Point in the world that the camera looks at.", unit="m", lo=-FAR, hi=FAR, step=0.01, bounded=False,
        effect=Effect.VIEW,
    )] = (0.0, 1.0, 0.0)  # fmt: skip
    aperture: Annotated[float, param(
        "F-number of the lens: lower values blur more in front of and behind the focus; 0 keeps everything sharp. Shown"
        " by images of several samples.", lo=0.0, hi=1e3, soft=(0.0, 22.0), step=0.1, effect=Effect.VIEW, sparse=True,
    )] = 0.0  # fmt: skip
    focus_distance: Annotated[float, param(
        "Depth that is sharp if the lens has an aperture.", unit="m", lo=1e-3, hi=1e6, soft=(0.1, 100.0),
        scale=Scale.LOG, effect=Effect.VIEW, sparse=True,
    )] = 4.0  # fmt: skip
    near: Annotated[float, param(
        "Depth at which the frustum of a selected camera starts.", label="Clip start", unit="m", lo=1e-4,
        hi=1e6, soft=(0.01, 10.0), scale=Scale.LOG, effect=Effect.VIEW,
    )] = 0.1  # fmt: skip
    far: Annotated[float, param(
        "Depth at which the frustum of a selected camera ends.", label="Clip end", unit="m", lo=1e-3, hi=1e7,
        soft=(1.0, 1000.0), scale=Scale.LOG, effect=Effect.VIEW,
    )] = 100.0  # fmt: skip
    size: Annotated[float, param(
        "Length of the symbol in the viewport.", label="Display size", unit="m", lo=1e-3, hi=1e4, soft=(0.05, 10.0),
        scale=Scale.LOG, effect=Effect.VIEW,
    )] = 0.5  # fmt: skip
    cut: Annotated[bool, param(
        "Cuts show this camera from the key at which this is switched on.", label="Active in cuts",
        effect=Effect.VIEW,
    )] = False  # fmt: skip
