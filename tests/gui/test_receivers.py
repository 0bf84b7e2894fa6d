"""The order in which parts of the editor receive a change: later ones read what earlier ones have updated."""

from typing import Any

from sinew.app.document.document import Document

ORDER = [
    "ModelStore._on_changed", "SceneFiles._on_changed", "Motions.sync", "Autosave._on_changed",
    "SimulationSeek._on_changed", "BakeTask._forget", "HandleTool.refresh", "Outliner._changed",
    "Inspector._changed", "ParticleMarks._on_changed", "EmitterTool.refresh", "KernelPanel._on_changed",
    "SelectedNode._on_changed", "Output.__init__.<locals>.<lambda>", "StopReports.refresh", "SceneMenu._show",
    "TimelineBinding._refresh_clips", "StripsBinding.refresh", "KeysBinding.refresh", "ViewportOverlays.refresh",
    "PastValues._on_changed", "LiveProject._note_change", "WindowState._follow", "Viewing._on_changed",
]  # fmt: skip


class Recorder:
    """In place of a signal; notes which functions are connected, in order."""

    def __init__(self, signal: Any):
        self._signal, self.receivers = signal, []

    def connect(self, receiver: Any, *options: Any) -> Any:
        owner = getattr(receiver, "__self__", None)
        self.receivers.append(receiver.__qualname__ if owner is None else f"{type(owner).__name__}.{receiver.__name__}")
        return self._signal.connect(receiver, *options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._signal, name)


class RecordedDocument(Document):
    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.changed = Recorder(self.changed)


def test_receivers_of_changes_have_their_order(session, monkeypatch):
    monkeypatch.setattr("sinew.app.editor.session.Document", RecordedDocument)
    editor = session.start()
    assert editor.document.changed.receivers == ORDER
