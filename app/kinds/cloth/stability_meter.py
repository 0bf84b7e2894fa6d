"""Meter of the substep relative to the longest stable one, or of what lines hold and leave, with remedies."""

from PySide6.QtCore import QMargins, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QWidget

from sinew.sim.kinds.cloth.cloth import RECENT
from sinew.sim.kinds.cloth.settings import SUBSTEPS_MAX
from sinew.sim.kinds.cloth.stability import ERROR, MARGIN, ClothStability
from sinew.sim.scene.clock import STEP_TIME
from sinew.widgets.overlay import DIM, GROUND, TEXT, ViewportOverlay
from sinew.widgets.parts import FillBar, packed
from sinew.widgets.theme import SPACE_WIDE

_SPAN = 1.25  # ratio at the right end of the bar
_TICK = 3
_SPRINGS_TIP = f"""\
Duration of a substep relative to the longest stable one, which depends on springs, masses and damping.
Below {MARGIN:g} the cloth is stable with a margin, because strong stretch lowers the limit.
Above 1 it is unstable."""
_LINES_TIP = f"""\
Threads hold every stiffness, but a taut thread needs shorter substeps the more it carries for its mass.
Load: a substep relative to the longest that holds the load. Below {MARGIN:g} there is a margin; above 1 particles
get more inertia: they do not jitter, but move too slowly.
Error: what solving one direction after another leaves, as a part of the length of a thread.
Both are the largest of the last {RECENT * STEP_TIME:.0f} s."""
_STABLE, _NEAR, _UNSTABLE = QColor("#2f9e77"), QColor("#e0a030"), QColor("#d9503f")


class StabilityMeterWidget(QWidget):
    """Stability meter: a bar, and a button with remedies if the cloth is not stable with a margin.

    Args:
        on_picture: The meter is over the viewport, where the theme does not apply.
    """

    stable_requested = Signal(int)  # Number of substeps that make the cloth stable
    soft_requested = Signal(float)  # Factor of all stiffnesses that makes it stable with the current substeps

    def __init__(self, parent: QWidget | None = None, *, on_picture: bool = False) -> None:
        super().__init__(parent)
        self._stability: ClothStability | None = None
        self._holds_load = False
        self.bar = _MeterBar(self, on_picture)
        self.button = QPushButton("Make stable", self)
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        menu = QMenu(self.button)
        self.substeps_action, self.softer_action = menu.addAction(""), menu.addAction("")
        self.substeps_action.triggered.connect(lambda: self.stable_requested.emit(self._known.substeps))
        self.softer_action.triggered.connect(lambda: self.soft_requested.emit(self._known.softening))
        self.button.setMenu(menu)
        packed(QHBoxLayout(self), (self.bar, 1), self.button, spacing=SPACE_WIDE)
        self.show_stability(None)

    @property
    def stability(self) -> ClothStability | None:
        return self._stability

    def show_stability(self, stability: ClothStability | None, *, holds_load: bool = False) -> None:
        """Shows the stability; None means that it is unknown, `holds_load` that it is of the load of lines."""
        self._stability, self._holds_load = stability, holds_load
        self.bar.show_stability(stability, holds_load=holds_load)
        self.button.setVisible(stability is not None and (stability.ratio >= MARGIN or stability.usual_error >= ERROR))
        if stability is not None:
            self._show_remedies(stability)
        self.softer_action.setVisible(not holds_load)
        self.setToolTip(meter_tip(stability, holds_load=holds_load))
        number, word = texts_of(stability, holds_load=holds_load)
        self.setAccessibleName(f"Stability: {number}, {word}")

    @property
    def _known(self) -> ClothStability:
        assert self._stability is not None
        return self._stability

    def _show_remedies(self, stability: ClothStability) -> None:
        """Shows the cost of each remedy; one that does not help is disabled and says why."""
        now = round(STEP_TIME / (stability.ratio * stability.h_max))
        helps, softens = STEP_TIME / stability.substeps < stability.h_max, 0.0 < stability.softening < 1.0
        more = f"Substeps {now:,} → {stability.substeps:,}: {stability.substeps / now:,.3g} × the time of a step"
        never = f"{SUBSTEPS_MAX:,} substeps are not enough; make the fabric softer or heavier."
        if self._holds_load:
            never = (
                f"{SUBSTEPS_MAX:,} substeps do not hold this load; pin more particles, or take fewer columns and rows."
            )
            helps = helps and stability.substeps > now
        softer = f"Soften the fabric to {100.0 * stability.softening:.2g} % of its stiffness"
        stiff = "Softening does not help: air drag alone needs more substeps."
        for action, is_on, text, why in (
            (self.substeps_action, helps, more, never), (self.softer_action, softens, softer, stiff)
        ):  # fmt: skip
            action.setEnabled(is_on)
            action.setText(text if is_on else why)
        tips = [self.substeps_action.text()] + ([] if self._holds_load else [self.softer_action.text()])
        self.button.setToolTip("\n".join(tips))


class StabilityOverlay(ViewportOverlay):
    """Stability meter over the viewport; emits `resized` when its size has changed."""

    resized = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, takes_mouse=True)
        self.meter = StabilityMeterWidget(self, on_picture=True)
        self.meter.bar.setFixedWidth(self.fontMetrics().averageCharWidth() * 42)
        packed(QHBoxLayout(self), self.meter)

    def show_stability(self, stability: ClothStability | None, *, holds_load: bool = False) -> None:
        self.meter.show_stability(stability, holds_load=holds_load)
        self.setVisible(stability is not None)
        self.adjustSize()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()


class _MeterBar(FillBar):
    def __init__(self, parent: QWidget, on_picture: bool) -> None:
        super().__init__(parent)
        self._stability: ClothStability | None = None
        self._holds_load = False
        self._on_picture = on_picture

    def show_stability(self, stability: ClothStability | None, *, holds_load: bool) -> None:
        self._stability, self._holds_load = stability, holds_load
        self.update()

    def sizeHint(self) -> QSize:
        return self.size_for("dt / dt max 00.00 near the limit").grownBy(QMargins(0, 0, SPACE_WIDE, 0))

    def minimumSizeHint(self) -> QSize:
        return self.size_for("dt / dt max 00.00")

    def texts(self) -> tuple[str, str]:
        number, word = texts_of(self._stability, holds_load=self._holds_load)
        needed = self.fontMetrics().horizontalAdvance(number) + self.fontMetrics().horizontalAdvance(word)
        return number, word if needed + 3 * SPACE_WIDE < self.width() else ""

    def fill(self) -> tuple[float, QColor] | None:
        if self._stability is None:
            return None
        return min(self._stability.ratio / _SPAN, 1.0), meter_colour(self._stability)

    def tints(self) -> tuple[QColor, QColor, QColor]:
        if self._on_picture:
            return GROUND, QColor(0, 0, 0, 90), TEXT if self._stability is not None else DIM
        return super().tints()

    def paint_marks(self, painter: QPainter, box: QRectF) -> None:
        assert self._stability is not None
        end = box.left() + box.width() * min(self._stability.ratio / _SPAN, 1.0)
        painter.fillRect(QRectF(end - 2.0, box.top() + 1.0, 2.0, box.height() - 2.0), meter_colour(self._stability))
        # Ticks at the edges mark the limit: a whole line would cross the text.
        bound = round(box.left() + box.width() / _SPAN)
        painter.setPen(QPen(self.tints()[2], 1.0))
        painter.drawLine(bound, round(box.top()), bound, round(box.top()) + _TICK)
        painter.drawLine(bound, round(box.bottom()), bound, round(box.bottom()) - _TICK)


def texts_of(stability: ClothStability | None, *, holds_load: bool) -> tuple[str, str]:
    """Number and word of the meter."""
    if not holds_load or stability is None:
        return meter_text(stability), meter_word(stability)
    word = (
        "near the limit" if stability.ratio >= MARGIN else "inaccurate" if stability.usual_error >= ERROR else "holds"
    )
    word = "overloaded" if stability.ratio >= 1.0 else word
    load = "> 99" if stability.ratio > 99.0 else f"{stability.ratio:.2f}"
    return f"load {load}, error {percent_of(stability.usual_error)}", word


def percent_of(error: float) -> str:
    return "> 99 %" if error > 0.99 else f"{100.0 * error:.2g} %" if error >= 1e-5 else "< 0.001 %"


def meter_text(stability: ClothStability | None) -> str:
    if stability is None:
        return "dt / dt max –"
    return "dt / dt max > 99" if stability.ratio > 99.0 else f"dt / dt max {stability.ratio:.2f}"


def meter_word(stability: ClothStability | None) -> str:
    if stability is None:
        return ""
    if stability.ratio >= 1.0:
        return "unstable"
    return "near the limit" if stability.ratio >= MARGIN else "stable"


def meter_colour(stability: ClothStability) -> QColor:
    if stability.ratio >= 1.0:
        return _UNSTABLE
    return _NEAR if stability.ratio >= MARGIN or stability.usual_error >= ERROR else _STABLE


def meter_tip(stability: ClothStability | None, *, holds_load: bool) -> str:
    lines = [_LINES_TIP if holds_load else _SPRINGS_TIP]
    if stability is not None:
        substep, longest = 1e3 * stability.ratio * stability.h_max, 1e3 * stability.h_max
        holds = "that holds the load" if holds_load else "stable"
        lines.append(f"Substep {substep:.3g} ms, longest {holds} {longest:.3g} ms.")
        if holds_load:
            error, usual = percent_of(stability.error), percent_of(stability.usual_error)
            lines.append(f"99 % of the particles have an error of at most {usual}; the largest is {error}.")
        fewest = f"that hold the load with errors below {100 * ERROR:g} %" if holds_load else "that are stable"
        lines.append(f"Fewest substeps {fewest}: {stability.substeps:,}.")
    return "\n".join(lines)
