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


def test_the_total_is_the_sum_and_strain_is_in_percent():
    ring = ring_of_cloth()
    ring.add(*sample(0.1))
    series = {name: values.tolist() for name, values in ring.series().items()}
    assert series == {
        "time": [0.1], "kinetic": [1.0], "elastic": [2.0], "potential": [3.0], "total": [6.0], "strain": [5.0]
    }  # fmt: skip


def test_the_last_minute_is_kept():
    ring = ring_of_cloth()
    for time in np.arange(0.0, 200.0, 0.1):
        ring.add(*sample(float(time)))
    assert times(ring)[-1] == pytest.approx(199.9)
    assert times(ring)[0] == pytest.approx(199.9 - SPAN, abs=0.11)
    assert (np.diff(times(ring)) > 0.0).all()


def test_more_samples_than_there_is_room_for_drop_the_oldest():
    ring = ring_of_cloth()
    for number in range(3 * CAPACITY):
        ring.add(*sample(number * 1e-4))
    assert len(ring) < CAPACITY
    assert times(ring)[-1] == pytest.approx((3 * CAPACITY - 1) * 1e-4)


def test_a_record_goes_on_from_where_time_went_back_to():
    ring = ring_of_cloth()
    for time in (1.0, 2.0, 0.5):
        ring.add(*sample(time))
    assert times(ring).tolist() == [0.5]
    for time in (1.0, 2.0, 3.0, 2.0, 1.5):
        ring.add(*sample(time))
    assert times(ring).tolist() == [0.5, 1.0, 1.5]


def test_known_and_broken_samples_are_left_out():
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


def test_an_empty_plot_says_what_would_fill_it(plots):
    assert plots.empty.isVisible()
    assert plots.empty.hint.text() == "Select a cloth and press play."
    plots.set_subject("flag")
    assert plots.empty.text.text() == "Nothing recorded of flag yet"
    record(plots)
    assert not plots.empty.isVisible()


def test_curves_show_what_was_recorded(plots):
    record(plots)
    time, kinetic = shown(plots, "kinetic")
    np.testing.assert_allclose(time, 0.1 * np.arange(1, 21))
    np.testing.assert_array_equal(kinetic, np.arange(20.0))
    np.testing.assert_allclose(shown(plots, "strain")[1], np.arange(20.0))


def test_it_draws_by_itself_what_arrives(plots, qtbot):
    plots.add(*sample(0.1))
    plots.add(*sample(0.2))
    qtbot.waitUntil(lambda: not plots.empty.isVisible(), timeout=60000)
    assert len(shown(plots, "total")[0]) == 2


def test_pause_holds_the_picture_and_goes_on_recording(plots):
    record(plots)
    plots.pause_button.setChecked(True)
    plots.add(*sample(9.0))
    plots.redraw()
    assert len(shown(plots, "total")[0]) == 20
    plots.pause_button.setChecked(False)
    assert len(shown(plots, "total")[0]) == 21


def test_clear_forgets(plots):
    record(plots)
    plots.clear_button.click()
    assert plots.empty.isVisible()
    assert plots.shown_values() == {}


def test_another_subject_starts_anew(plots):
    record(plots)
    plots.pause_button.setChecked(True)
    plots.set_subject("cape")
    assert plots.empty.isVisible()
    assert not plots.pause_button.isChecked()


def test_switches_hide_their_curve_and_tell_the_newest_value(plots):
    record(plots)
    assert plots.switches["kinetic"].text() == "Kinetic 19 J"
    assert plots.switches["strain"].text() == "Strain 19 %"
    plots.switches["potential"].click()
    assert not plots.curves["potential"].isVisible()
    assert plots.curves["total"].isVisible()


def test_the_cross_hair_tells_the_values_at_its_place(plots):
    record(plots)
    plots.point_at(0.52)
    assert plots.shown_values()["kinetic"] == 4.0
    assert plots.moment.text() == "at 0.52 s"
    plots.point_at(None)
    assert plots.shown_values()["kinetic"] == 19.0
    assert plots.moment.text() == ""
