"""Cameras of a page: the one of the viewport, and all of the scene in each image, with their cuts."""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from sinew.sim.export.page.pack import Pack
from sinew.sim.kinds.camera.placed import camera_in_cuts, placed_camera
from sinew.sim.kinds.camera.settings import CameraSettings
from sinew.sim.run.engine import Engine
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.scene import Scene

NO_CAMERA = 0xFFFF


class Viewpoints:
    """Recorder of the cameras of a scene, `source` with its keys."""

    def __init__(self, engine: Engine, source: Scene) -> None:
        self._engine, self._source = engine, source
        self._nodes = [node for node in source.of_kind(CameraSettings.kind) if node.id in source.shown]
        self._numbers = {node.id: number for number, node in enumerate(self._nodes)}
        self._frames: list[list[tuple[float, ...]]] = []
        self._cuts: list[int] = []
        self._orthographic: list[bool] = []

    def add(self, time: float) -> None:
        """Notes the cameras at the present moment, `time` of the scene [s]."""
        views, row = self._engine.views, list[tuple[float, ...]]()
        for node in self._nodes:
            here = views.scene.node(node.id)
            assert isinstance(here.settings, CameraSettings)
            camera = placed_camera(here.settings, views.places.world_from_node(here))
            row.append((*camera.target, camera.yaw, camera.pitch, camera.roll, camera.distance, camera.field_of_view))
            if not self._frames:
                self._orthographic.append(camera.orthographic)
        self._frames.append(row)
        shown = camera_in_cuts(self._source, views.scene, time)
        self._cuts.append(self._numbers.get(shown or "", NO_CAMERA))

    def table(self, pack: Pack, images: Sequence[int]) -> dict[str, Any]:
        """Returns "cameras" and "cuts" for the scene of a page, in these images."""
        if not self._nodes:
            return {}
        frames = np.array([self._frames[number] for number in images], "<f4")
        found: dict[str, Any] = {"cameras": [
            {"name": node.name or node.id, "orthographic": flat, "frames": pack.add(frames[:, number], "rows")}
            for number, (node, flat) in enumerate(zip(self._nodes, self._orthographic, strict=True))
        ]}  # fmt: skip
        if any(cut != NO_CAMERA for cut in self._cuts):
            found["cuts"] = pack.add(np.array([self._cuts[number] for number in images], "<u2")[:, None], "rows")
        return found


def viewport_of(engine: Engine, camera: Camera) -> dict[str, Any]:
    """Returns what a page needs to place its own camera: "camera", "around" and "headlight"."""
    view = engine.render_view(camera)
    around = view.subject.around
    return {
        "camera": msgspec.to_builtins(camera), "headlight": engine.views.has_headlight,
        "around": None if around is None else [*around.lo.tolist(), *around.hi.tolist()],
    }  # fmt: skip
