import enum
import itertools
import math
from typing import Annotated

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from sinew.sim.characters.deformers.settings import DEFORMERS
from sinew.sim.kinds import KINDS
from sinew.sim.scene.params import Role, Scale, param, params_of
from sinew.sim.scene.playback import PlaybackSettings
from sinew.sim.scene.scene import Node
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view import ViewSettings
from sinew.widgets.inspector.editor import ValueEditor
from sinew.widgets.inspector.editors import Choices, choice_text, editor_for
from sinew.widgets.inspector.inspector import groups_of
from sinew.widgets.inspector.number_editors import ValueSlider
from tests.gui.panels.fakes import SignalLog, drag, wheel

CLASSES = (Node, Transform, PlaybackSettings, ViewSettings, *[kind.settings for kind in KINDS.values()], *DEFORMERS)
RECORDS = [
    record
    for cls in CLASSES
    for record in params_of(cls)
    if record.declared.role not in (Role.HIDDEN, Role.LIST, Role.WEIGHTS)
]


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    count: Annotated[int, param("Whole number.", lo=0, hi=10)] = 3
    gap: Annotated[float | None, param("May be missing.", lo=0.0, bounded=False)] = None
    stiffness: Annotated[float, param("Wide.", lo=0.0, soft=(1e-6, 1e-1), scale=Scale.LOG)] = 1e-3


def record_of(name):
    return next(record for record in params_of(Sample) if record.name == name)


def no_clips():
    return Choices("No clips")


def test_every_parameter_has_an_editor_that_shows_its_default_and_emits_nothing(qtbot):
    for record in RECORDS:
        editor = editor_for(record, no_clips)
        qtbot.addWidget(editor)
        log = SignalLog(editor, "edit_started", "edited", "edit_finished", "edit_cancelled")
        editor.set_value(record.default)
        assert isinstance(editor, ValueEditor)
        assert log == [], record.name


def test_every_choice_has_a_text_of_its_own():
    for record in RECORDS:
        if issubclass(record.type, enum.Enum):
            texts = [choice_text(member) for member in record.type]
            assert len(set(texts)) == len(texts)
            assert all(text[0].isupper() and "_" not in text for text in texts)


def test_groups_hold_every_visible_parameter_once_in_order():
    for cls in CLASSES:
        grouped = [record for records in groups_of(cls, "General").values() for record in records]
        wanted = [
            record for record in params_of(cls) if record.declared.role not in (Role.HIDDEN, Role.LIST, Role.WEIGHTS)
        ]
        assert sorted(record.name for record in grouped) == sorted(record.name for record in wanted)
        for records in groups_of(cls, "General").values():
            assert [wanted.index(record) for record in records] == sorted(map(wanted.index, records))


def test_an_integer_stays_one(show):
    editor = show(editor_for(record_of("count"), no_clips), 200, 40)
    log = SignalLog(editor, "edited")
    drag(editor.slider, 6, editor.slider.width() - 6, 8)
    assert {type(value) for _, value in log} == {int}
    assert log[-1] == ("edited", 10)
    assert editor.field.value() == 10


def test_a_missing_number_has_no_slider_and_stays_missing(qtbot):
    editor = editor_for(record_of("gap"), no_clips)
    qtbot.addWidget(editor)
    assert editor.slider is None
    editor.set_value(None)
    assert editor.field.value() is None


def test_a_logarithmic_slider_spreads_decades_evenly(show):
    slider = show(ValueSlider((1e-6, 1e-1), Scale.LOG, None), 312, 30)
    slider.set_shown(1e-6)
    places = []
    for exponent in range(-6, 0):
        slider.set_shown(10.0**exponent)
        places.append(slider.value())
    assert [after - before for before, after in itertools.pairwise(places)] == [200] * 5
    log = SignalLog(slider, "edited")
    drag(slider, 6, 156, 15)
    assert math.log10(log[-1][1]) == pytest.approx(-3.5, abs=0.02)


def test_a_slider_reaches_both_ends_and_keeps_its_step(show):
    slider = show(ValueSlider((0.0, 1.0), Scale.LINEAR, 0.25), 212, 30)
    slider.set_shown(5.0)
    assert slider.value() == slider.maximum()
    slider.set_shown(0.5)
    log = SignalLog(slider, "edit_started", "edited", "edit_finished")
    drag(slider, 106, 400, 15)
    drag(slider, 206, -50, 15)
    values = [entry[1] for entry in log if entry[0] == "edited"]
    assert set(values) <= {0.0, 0.25, 0.5, 0.75, 1.0}
    assert 1.0 in values
    assert values[-1] == 0.0
    assert [entry[0] for entry in log].count("edit_started") == [entry[0] for entry in log].count("edit_finished") == 2


def test_arrow_keys_and_the_wheel_with_focus_are_gestures_of_their_own(show, qtbot):
    slider = show(ValueSlider((0.0, 1.0), Scale.LINEAR, 0.1), 212, 30)
    slider.set_shown(0.5)
    slider.setFocus()
    qtbot.waitUntil(slider.hasFocus, timeout=60000)
    log = SignalLog(slider, "edit_started", "edited", "edit_finished")
    QTest.keyClick(slider, Qt.Key.Key_Right)
    assert log == [("edit_started",), ("edited", 0.6), ("edit_finished",)]
    log.clear()
    wheel(slider, -1)
    assert [entry[0] for entry in log] == ["edit_started", "edited", "edit_finished"]
    assert log[1][1] < 0.6


def test_an_unknown_type_is_refused():
    class Strange(msgspec.Struct, frozen=True):
        what: Annotated[bytes, param("Bytes.")] = b""

    with pytest.raises(TypeError, match="what"):
        editor_for(params_of(Strange)[0], no_clips)
