import pytest

from sinew.app.kinds.cloth.stability_meter import (
    StabilityMeterWidget,
    StabilityOverlay,
    meter_colour,
    meter_text,
    meter_word,
)
from sinew.sim.kinds.cloth.stability import ClothStability
from sinew.sim.scene.clock import STEP_TIME


def measured(ratio, substeps=20):
    """A cloth of 10 substeps that are `ratio` of the longest stable one."""
    return ClothStability(
        h_max=STEP_TIME / 10 / ratio, ratio=ratio, substeps=substeps, softening=min(0.64 / ratio**2, 1.0)
    )


@pytest.fixture
def meter(show):
    return show(StabilityMeterWidget(), 300, 40)


def test_word_colour_and_button_change_at_the_margin_and_at_the_limit(meter):
    colours = {meter_word(measured(r)): meter_colour(measured(r)).name() for r in (0.1, 0.9, 2.0)}
    assert len(set(colours.values())) == 3
    for ratio, word in (
        (0.5, "stable"), (0.79, "stable"), (0.8, "near the limit"), (0.99, "near the limit"), (1.0, "unstable"),
        (400.0, "unstable"),
    ):  # fmt: skip
        meter.show_stability(measured(ratio, 2000))
        assert meter_word(meter.stability) == word
        assert meter.button.isVisible() is (word != "stable")
        assert meter_colour(meter.stability).name() == colours[word]
    assert meter.accessibleName() == "Stability: dt / dt max > 99, unstable"
    meter.show_stability(None)
    assert meter_text(None) == "dt / dt max –"
    assert not meter.button.isVisible()
    meter.bar.repaint()


def test_both_remedies_name_their_cost(meter, qtbot):
    meter.show_stability(measured(1.6, 20))
    assert meter.button.menu().actions() == [meter.substeps_action, meter.softer_action]
    assert meter.substeps_action.text() == "Substeps 10 → 20: 2 × the time of a step"
    assert meter.softer_action.text() == "Soften the fabric to 25 % of its stiffness"
    with qtbot.waitSignal(meter.stable_requested) as asked:
        meter.substeps_action.trigger()
    assert asked.args == [20]
    with qtbot.waitSignal(meter.soft_requested) as asked:
        meter.softer_action.trigger()
    assert asked.args == pytest.approx([0.25])


def test_a_remedy_that_does_not_help_is_disabled(meter):
    meter.show_stability(measured(900.0, 4096))
    assert not meter.substeps_action.isEnabled()
    assert "4,096 substeps are not enough" in meter.substeps_action.text()
    assert meter.softer_action.isEnabled()
    meter.show_stability(ClothStability(h_max=STEP_TIME / 40, ratio=4.0, substeps=50, softening=0.0))
    assert not meter.softer_action.isEnabled()
    assert "air drag" in meter.softer_action.text()
    assert meter.substeps_action.isEnabled()


def test_the_overlay_hides_without_a_cloth_and_reports_a_new_size(qtbot):
    overlay = StabilityOverlay()
    qtbot.addWidget(overlay)
    overlay.show_stability(measured(0.3))
    assert overlay.isVisible()
    with qtbot.waitSignal(overlay.resized):
        overlay.show_stability(measured(3.0, 50))
    overlay.show_stability(None)
    assert not overlay.isVisible()
