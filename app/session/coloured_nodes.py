from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sinew.app.document.document import Document
from sinew.sim.render.coloured import ColouredArrays, ColouredView
from sinew.sim.render.render_view import RenderView
from sinew.sim.render.scene_views import ViewEntry
from sinew.sim.run.engine import Engine
from sinew.sim.scene.scene import NodeId

Points = tuple[npt.NDArray[np.floating], npt.NDArray[np.floating]]
"""Points of a node: positions [m], (N, 3), and a number for each, (N,); NaN for dead points."""


class ColouredNodes:
    """Nodes that the viewport draws at given positions, in colours of a number for each point."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._arrays: dict[NodeId, tuple[tuple[int, ...], ColouredArrays]] = {}

    @property
    def is_empty(self) -> bool:
        return not self._arrays

    def write(self, live: Engine, points: Mapping[NodeId, Points]) -> None:
        for node in [node for node in self._arrays if node not in points]:
            self._arrays.pop(node)[1].release()
        for node, (places, values) in points.items():
            arrays = live.simulation.systems[node].arrays()
            shape = tuple(size for array in arrays.values() for size in array.shape)
            if node not in self._arrays or self._arrays[node][0] != shape:
                if node in self._arrays:
                    self._arrays[node][1].release()
                made = ColouredArrays(live.context, self._document.scene.node(node), arrays)
                self._arrays[node] = shape, made
            self._arrays[node][1].write(places, values)

    def view(self, render_view: RenderView, scale: float) -> RenderView:
        """Returns a view with colours from 0 to `scale`."""
        items = {node: arrays.item(scale) for node, (_, arrays) in self._arrays.items()}
        views = [
            ColouredView(view, items[view.node.id]) if isinstance(view, ViewEntry) and view.node.id in items else view
            for view in render_view.views
        ]
        return replace(render_view, views=tuple(views))

    def release(self) -> None:
        for _, arrays in self._arrays.values():
            arrays.release()
        self._arrays.clear()
