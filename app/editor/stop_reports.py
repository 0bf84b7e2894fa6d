"""Reports of stopped simulations in outliner and viewport, with buttons to resume and to reset."""

import numpy as np

from sinew.app.editor.feature import LATER, Feature
from sinew.app.editor.session import Session
from sinew.sim.kinds.contract import stop_reason
from sinew.sim.scene.picking import project_points
from sinew.sim.scene.scene import NodeId
from sinew.widgets.overlay import StopMark

_MARGIN = 10


class StopReports(Feature):
    """Reports of stopped systems, after every frame."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        context = self._context = session.context
        self.marks: dict[NodeId, StopMark] = {}
        outliner = context.panels.outliner
        outliner.resume_requested.connect(context.resume)
        outliner.reset_requested.connect(lambda _: context.playback.reset_simulation())
        context.client.drawn.connect(self.refresh, LATER)
        context.document.changed.connect(self.refresh)
        context.document.view_state_changed.connect(self._place)
        context.viewport.resized.connect(self._place)

    def refresh(self, *_: object) -> None:
        engine, scene = self._context.client.engine, self._context.document.scene
        systems = engine.simulation.systems if engine is not None else {}
        stop_reports = {
            node_id: reason
            for node_id, system in systems.items()
            if (reason := stop_reason(system)) and scene.has(node_id)
        }
        self._context.panels.outliner.model.set_stop_reports(stop_reports)
        for node_id in self.marks.keys() - stop_reports.keys():
            self.marks.pop(node_id).deleteLater()
        for node_id, reason in stop_reports.items():
            if node_id not in self.marks:
                self.marks[node_id] = self._mark(node_id)
            self.marks[node_id].show_stop(scene.node(node_id).name, reason)
        self._place()

    def _mark(self, node_id: NodeId) -> StopMark:
        mark = StopMark(self._context.viewport)
        mark.resume_button.clicked.connect(lambda: self._context.resume(node_id))
        mark.reset_button.clicked.connect(self._context.playback.reset_simulation)
        return mark

    def _place(self, *_: object) -> None:
        """Moves each mark above its node, or to the edge of the viewport if the node is out of sight."""
        engine, viewport = self._context.client.engine, self._context.viewport
        for node_id, mark in self.marks.items():
            box = engine.views.bounds(node_id) if engine is not None else None
            if box is None:
                mark.hide()
                continue
            top = [(box.lo[0] + box.hi[0]) / 2.0, box.hi[1], (box.lo[2] + box.hi[2]) / 2.0]
            (x, y), *_ = project_points(self._context.picker.camera, self._context.picker.size, np.array([top]))[
                0
            ].tolist()
            if not np.isfinite((x, y)).all():
                x, y = viewport.width() / 2.0, 0.0
            left = min(max(x - mark.width() / 2.0, _MARGIN), max(viewport.width() - mark.width() - _MARGIN, _MARGIN))
            up = min(max(y - mark.height(), _MARGIN), max(viewport.height() - mark.height() - _MARGIN, _MARGIN))
            mark.move(round(left), round(up))
            mark.show()
