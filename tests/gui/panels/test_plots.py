import numpy as np
import pytest

from sinew.app.kinds.cloth.panel import CHANNELS, cloth_plots, cloth_values
from sinew.widgets.plots import CAPACITY, SPAN, PlotRing


def sample(time, kinetic=1.0, elastic=2.0, potential=3.0, strain=0.05):
    return time, cloth_values(kinetic, elastic, potential, strain)


def ring_of_cloth():
    return PlotRing([channel.name for channel in CHANNELS])


def times(ring):
    return ring.series()["time"]


def test_only_the_last_minute_is_recorded_in_bounded_memory():
    ring = ring_of_cloth()
    ring.add(*sample(0.1))
    series = {name: values.tolist() for name, values in ring.series().items()}
    assert series == {
        "time": [0.1], "kinetic": [1.0], "elastic": [2.0], "potential": [3.0], "total": [6.0], "strain": [5.0]
    }  # fmt: skip
    for time in np.arange(0.2, 200.0, 0.1):
        ring.add(*sample(float(time)))
    assert times(ring)[-1] == pytest.approx(199.9)
    assert times(ring)[0] == pytest.approx(199.9 - SPAN, abs=0.11)
    ring = ring_of_cloth()
    for number in range(3 * CAPACITY):
        ring.add(*sample(number * 1e-4))
    assert len(ring) < CAPACITY
    assert times(ring)[-1] == pytest.approx((3 * CAPACITY - 1) * 1e-4)


def test_samples_after_the_time_are_dropped_when_it_jumps_back():
    ring = ring_of_cloth()
    for time in (1.0, 2.0, 0.5):
        ring.add(*sample(time))
    assert times(ring).tolist() == [0.5]
    for time in (1.0, 2.0, 3.0, 2.0, 1.5):
        ring.add(*sample(time))
    assert times(ring).tolist() == [0.5, 1.0, 1.5]


def test_repeated_and_infinite_samples_are_left_out():
    ring = ring_of_cloth()
    assert ring.add(*sample(1.0))
    assert not ring.add(*sample(1.0))
    assert not ring.add(*sample(2.0, kinetic=float("nan")))
    assert not ring.add(*sample(2.0, strain=float("inf")))
    assert len(ring) == 1


@pytest.fixture
def plots(show):
    return show(cloth_plots(), 900, 180)


def record(plots, count=20):
    for number in range(count):
        plots.add(*sample(0.1 * (number + 1), kinetic=float(number), strain=0.01 * number))
    plots.redraw()


def shown(plots, name):
    return plots.curves[name].getOriginalDataset()


def test_an_empty_plot_explains_itself_until_samples_arrive(plots, qtbot):
    assert plots.empty.isVisible()
    assert plots.empty.hint.text() == "Select a cloth and press play."
    plots.set_subject("flag")
    assert plots.empty.text.text() == "Nothing recorded of flag yet"
    plots.add(*sample(0.1))
    plots.add(*sample(0.2))
    qtbot.waitUntil(lambda: not plots.empty.isVisible(), timeout=60000)
    np.testing.assert_allclose(shown(plots, "strain"), [[0.1, 0.2], [5.0, 5.0]])


def test_a_pause_holds_the_curves_until_another_subject_or_clear(plots):
    record(plots)
    plots.pause_button.setChecked(True)
    plots.add(*sample(9.0))
    plots.redraw()
    assert len(shown(plots, "total")[0]) == 20
    plots.pause_button.setChecked(False)
    assert len(shown(plots, "total")[0]) == 21
    plots.pause_button.setChecked(True)
    plots.set_subject("cape")
    assert plots.empty.isVisible()
    assert not plots.pause_button.isChecked()
    record(plots)
    plots.clear_button.click()
    assert plots.empty.isVisible()
    assert plots.shown_values() == {}


def test_switches_hide_curves_and_show_values_at_the_cross_hair(plots):
    record(plots)
    assert plots.switches["kinetic"].text() == "Kinetic 19 J"
    assert plots.switches["strain"].text() == "Strain 19 %"
    plots.switches["potential"].click()
    assert not plots.curves["potential"].isVisible()
    assert plots.curves["total"].isVisible()
    plots.point_at(0.52)
    assert plots.shown_values()["kinetic"] == 4.0
    assert plots.moment.text() == "at 0.52 s"
    plots.point_at(None)
    assert plots.shown_values()["kinetic"] == 19.0
    assert plots.moment.text() == ""
