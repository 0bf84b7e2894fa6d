"""Simulation ▸ Back End: switched while the simulation goes on, and remembered."""

import pytest

from sinew.app.files.settings_store import app_settings
from sinew.sim.gl.back_end import BackEndChoice


def switched(editor, choice: BackEndChoice, qtbot) -> str:
    with qtbot.waitSignal(editor.client.switched, timeout=60_000) as reported:
        editor.window.actions_table[f"back_end.{choice.value}"].trigger()
    return reported.args[0]


def test_the_choice_is_switched_without_a_new_start_and_remembered(editor, qtbot) -> None:
    engine = editor.client.engine
    if not engine.context.back_ends.has_compute:
        pytest.skip("no compute here")
    checked = [c for c in BackEndChoice if editor.window.actions_table[f"back_end.{c.value}"].isChecked()]
    assert checked == [BackEndChoice.AUTO]
    kernels = set(engine.library.kernels)
    for choice, text in ((BackEndChoice.COMPUTE, "compute: chosen"), (BackEndChoice.TF, "transform feedback: chosen"),
                         (BackEndChoice.AUTO, "automatic: ")):  # fmt: skip
        assert switched(editor, choice, qtbot).startswith(f"Back end: {text}")
        assert engine.context.back_ends.choice is choice
        assert app_settings().value("back_end") == choice.value
    assert set(engine.library.kernels) == kernels, "nothing is rebuilt"
    assert editor.window.actions_table["back_end.auto"].isChecked()
