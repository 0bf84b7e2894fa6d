"""Scenes of the sample projects: which model moves, from where it is seen, and how it is lit."""

from pathlib import Path

from sim.camera import Camera
from sim.scene import (
    Comparison,
    LightSettings,
    LoopMode,
    ModelSettings,
    Node,
    PlaybackSettings,
    Scene,
    SkinningMethod,
    Transform,
    ViewSettings,
)
from sim.view_state import Selection, ViewState


def sample_scenes(models: Path) -> dict[str, tuple[Scene, ViewState]]:
    """Scenes by the name of their project; `models` is the absolute folder of the sample models."""
    return {"humanoid": _humanoid(models), "arm": _arm(models)}


def _humanoid(models: Path) -> tuple[Scene, ViewState]:
    """The figure walks towards the left of the viewer."""
    figure = Node(
        id="humanoid",
        name="Humanoid",
        model=ModelSettings(path=str(models / "humanoid" / "humanoid.ezm"), clip="walk", skinning=SkinningMethod.DQS),
    )
    light = Node(
        id="light",
        name="Light",
        transform=Transform(position=(2.2, 3.6, 2.8)),
        light=LightSettings(colour=(1.0, 0.95, 0.88), intensity=1.45, reach=4.2),
    )
    camera = Camera(target=(0.0, 0.90, 0.02), yaw=34.0, pitch=8.0, distance=3.7, field_of_view=32.0)
    scene = Scene(nodes=(figure, light), playback=PlaybackSettings(loop=LoopMode.LOOP), view=ViewSettings())
    return scene, ViewState(camera=camera, selection=Selection(node="humanoid"))


def _arm(models: Path) -> tuple[Scene, ViewState]:
    """The arm twists, linear blending on the left of the divider and dual quaternions on the right."""
    arm = Node(id="arm", name="Arm", model=ModelSettings(path=str(models / "arm" / "arm.ezm"), clip="twist"))
    light = Node(
        id="light",
        name="Light",
        transform=Transform(position=(1.2, 3.4, 2.6)),
        light=LightSettings(colour=(1.0, 0.96, 0.90), intensity=1.4, reach=4.0),
    )
    camera = Camera(target=(0.06, 0.72, 0.0), yaw=12.0, pitch=18.0, distance=3.2, field_of_view=36.0)
    view = ViewSettings(comparison=Comparison.SPLIT)
    scene = Scene(nodes=(arm, light), playback=PlaybackSettings(loop=LoopMode.LOOP), view=view)
    return scene, ViewState(camera=camera, selection=Selection(node="arm"))
