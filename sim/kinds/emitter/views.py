"""The views of all emitters of a scene: one for each whose particles exist."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sim.gl.context import Context
from sim.kinds.emitter.emitter import Emitter
from sim.kinds.emitter.view import EmitterView
from sim.scene.scene import NodeId


class EmitterViews:
    """Follows the emitters of a simulation.

    Args:
        context: Where the views live.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._views: dict[NodeId, EmitterView] = {}

    def follow(self, systems: Mapping[NodeId, Emitter], images: Mapping[Path, npt.NDArray[np.uint8]]) -> None:
        """Makes and deletes views, and gives each its picture; images are by the path that settings name."""
        for node_id, view in list(self._views.items()):
            if systems.get(node_id) is not view.system:
                self._views.pop(node_id).release()
        for node_id, system in systems.items():
            if node_id not in self._views:
                self._views[node_id] = EmitterView(self._context, node_id, system)
            self._views[node_id].set_images(images)

    def get(self, node_id: NodeId) -> EmitterView | None:
        """The view of a node; None where it has no particles."""
        return self._views.get(node_id)

    def release(self) -> None:
        """Deletes all views; may be called twice."""
        for view in self._views.values():
            view.release()
        self._views.clear()
