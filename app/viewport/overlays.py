from collections.abc import Collection

from PySide6.QtCore import QObject

from sinew.app.document.document import Document
from sinew.app.help.guide import TOUR, shipped_samples
from sinew.app.session.active_model import ActiveModel
from sinew.app.session.frame_info import FrameInfo
from sinew.app.session.playback import Playback
from sinew.app.session.renderer import ViewportRenderer
from sinew.sim.characters.comparison import ComparisonStatistics
from sinew.sim.kinds.contract import ColourKey, Panel
from sinew.sim.maths.ramps import Ramp
from sinew.sim.scene.scene import VIEW, ParamRef
from sinew.sim.scene.view import DisplayMode, SkinningComparison
from sinew.widgets.axis_gizmo import AxisGizmo
from sinew.widgets.inspector.editor import Binding
from sinew.widgets.overlay import Divider, Legend, SideLabel, StatisticsOverlay
from sinew.widgets.start_page import StartPage, TourCard
from sinew.widgets.theme import SPACE
from sinew.widgets.viewport import Viewport

MARGIN = 10
METHODS = "Linear blend", "Dual quaternions"
SHORT = {"Linear blend": "LBS", "Dual quaternions": "DQS", "Dual quaternions with scale": "DQS"}


class ViewportOverlays(QObject):
    """Overlays of the viewport, their places and content; dragging the divider is an edit."""

    def __init__(
        self,
        viewport: Viewport,
        document: Document,
        playback: Playback,
        active: ActiveModel,
        client: ViewportRenderer,
        rooms: Collection[Panel],
    ) -> None:
        super().__init__(viewport)
        self._viewport, self._document, self._playback = viewport, document, playback
        self._active, self._client, self._rooms = active, client, rooms
        self.statistics = StatisticsOverlay(viewport)
        self.gizmo = AxisGizmo(viewport)
        self.legend = Legend(viewport)
        self.divider = Divider(viewport)
        self.sides = SideLabel(viewport), SideLabel(viewport)
        self.empty = StartPage(shipped_samples(), viewport)
        self.tour = TourCard(TOUR, viewport)
        self.drop = SideLabel(viewport)
        self.drop.hide()
        self._shown_key: ColourKey | None = None
        viewport.resized.connect(self.place)
        for room in rooms:
            if room.overlay is not None:
                room.overlay.resized.connect(self.place)
        Binding(document, ParamRef(VIEW, VIEW, "divider"), self.divider)
        document.changed.connect(self.refresh)
        document.selection_changed.connect(self.refresh)
        client.drawn.connect(self._on_drawn)
        self.refresh()

    def refresh(self, *_: object) -> None:
        view = self._document.scene.view
        self.divider.setVisible(view.comparison is SkinningComparison.SPLIT)
        self.divider.set_value(view.divider)
        for side, text in zip(self.sides, self._side_texts(), strict=True):
            side.set_text(text)
            side.setVisible(view.comparison is SkinningComparison.SPLIT)
        legend = self._shown_key = self._legend()
        self.legend.setVisible(view.comparison is SkinningComparison.DIFFERENCE or legend is not None)
        self.statistics.setVisible(view.statistics or view.comparison is not SkinningComparison.OFF)
        self.empty.setVisible(not self._document.scene.nodes)
        if legend is not None and view.comparison is not SkinningComparison.DIFFERENCE:
            self.legend.show_ramp(legend.ramp, legend.title, legend.lo, legend.hi, legend.unit)
        self.place()

    def show_drop(self, text: str) -> None:
        """Shows the effect of dropping a file; "" hides the label."""
        self.drop.set_text(text)
        self.drop.setVisible(bool(text))
        self.drop.raise_()
        self.place()

    def begin_tour(self) -> None:
        self.tour.go(0)
        self.place()

    def _legend(self) -> ColourKey | None:
        """Returns the key of the colours in the viewport, if they have a meaning."""
        compared = self._client.distances
        if compared is not None and compared.key is not None:
            return compared.key
        if self._document.scene.view.display is DisplayMode.WEIGHTS:
            bone = self._document.selection.bone
            return ColourKey(Ramp.VIRIDIS, f"Weight of {bone}" if bone else "Weight: select a bone", 0.0, 1.0)
        return next((legend for room in self._rooms if (legend := room.legend()) is not None), None)

    def _side_texts(self) -> tuple[str, str]:
        compared = [sides for room in self._rooms if (sides := room.sides()) is not None]
        left, right = zip(*(compared or [METHODS]), strict=True)
        return ", ".join(left), ", ".join(right)

    def place(self) -> None:
        width, height = self._viewport.width(), self._viewport.height()
        self.statistics.move(MARGIN, MARGIN)
        self.gizmo.move(width - self.gizmo.width() - MARGIN, MARGIN)
        self.legend.move(MARGIN, height - self.legend.height() - MARGIN)
        for overlay in (room.overlay for room in self._rooms if room.overlay is not None):
            overlay.move(width - overlay.width() - MARGIN, height - overlay.height() - MARGIN)
        self.divider.place()
        if self.empty.isVisibleTo(self._viewport):
            self.empty.place(width, height)
        self.tour.move(MARGIN, max(height - self.tour.height() - MARGIN, 0))
        self.drop.move((width - self.drop.width()) // 2, height // 2)
        column = round(self.divider.value * width)
        left, right = self.sides
        for side, x in ((left, column - left.width() - 2 * MARGIN), (right, column + 2 * MARGIN)):
            side.move(x, height - side.height() - MARGIN)
            if self.legend.isVisibleTo(self._viewport) and side.geometry().intersects(self.legend.geometry()):
                side.move(x, self.legend.y() - side.height() - SPACE)

    def _on_drawn(self, drawn: FrameInfo) -> None:
        self.gizmo.set_rotation(self._document.view_state.camera.rotation())
        if self._document.scene.view.comparison is SkinningComparison.DIFFERENCE:
            left, right = (SHORT.get(side, side) for side in self._side_texts())
            self.legend.show_ramp(Ramp.VIRIDIS, f"Distance {left} – {right}", 0.0, drawn.difference_scale or 1.0, "m")
            self.legend.move(MARGIN, self._viewport.height() - self.legend.height() - MARGIN)
        elif self._legend() != self._shown_key:
            self.refresh()
        if self.statistics.isVisible():
            self.statistics.set_rows(self._rows(drawn))

    def _rows(self, drawn: FrameInfo) -> list[tuple[str, str]]:
        counts = self._count_rows(drawn) if self._document.scene.view.statistics else []
        return counts + comparison_rows(drawn.comparison, drawn.unit_scale, self._side_texts())

    def _count_rows(self, drawn: FrameInfo) -> list[tuple[str, str]]:
        engine = self._client.engine
        if engine is None:
            return []
        counts = engine.views.counts()
        rows = [
            ("Vertices", f"{counts.vertices:,}"),
            ("Triangles", f"{counts.triangles:,}"),
            ("Bones", f"{counts.bones:,}"),
        ]
        if counts.particles:
            rows.append(("Particles", f"{counts.particles:,}"))
        step = self._active.frame_step
        if step > 0.0:
            rows.append(("Frame", f"{self._playback.playhead.time / step:.1f}"))
        if self._playback.playhead.playing and drawn.rate.per_second > 0.0:
            rows.append(("FPS", f"{drawn.rate.per_second:.0f}"))
        return rows


def comparison_rows(
    statistics: ComparisonStatistics | None, unit_scale: float = 1.0, sides: tuple[str, str] = METHODS
) -> list[tuple[str, str]]:
    """Returns rows with distance and volume of both sides; `unit_scale` is in metres per model unit."""
    if statistics is None:
        return []
    return [
        ("Largest distance", f"{unit_scale * statistics.maximum:.4g} m"),
        ("Mean distance", f"{unit_scale * statistics.mean:.4g} m"),
        (f"Volume {SHORT.get(sides[0], sides[0])}", f"{statistics.lbs_volume_change:+.2%}"),
        (f"Volume {SHORT.get(sides[1], sides[1])}", f"{statistics.dqs_volume_change:+.2%}"),
    ]
