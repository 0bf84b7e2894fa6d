"""A question where a figure has a size that can hardly be meant, with answers to click."""

from app.editor.editor_context import EditorContext
from sim.assets.model import CharacterModel
from sim.characters.settings import ModelSettings
from sim.scene.scene import Node, NodeId
from widgets.inspector.head import InspectorNotice

LOWEST, HIGHEST = 0.2, 5.0
"""Sizes [m] within which a file is taken at its word: a head or a cat is larger than 0.2 m, a horse or a giraffe
smaller than 5 m, and a person drawn in centimetres or inches, 180 or 71 high, is far outside."""

CENTIMETRE, INCH, PERSON = 0.01, 0.0254, 1.8


def size_of(settings: ModelSettings, model: CharacterModel) -> float:
    """Largest edge of the box around a model in its bind pose [m], its node unscaled; it may lie or spread its arms."""
    return settings.unit_scale * float(model.mesh.bounds.size.max())


def is_plausible(settings: ModelSettings, model: CharacterModel) -> bool:
    """Whether a model has neither a skeleton nor key frames, or a size that may be meant."""
    size, targets = size_of(settings, model), model.mesh.targets
    moves = model.skeleton is not None or (targets is not None and targets.are_frames)
    return not moves or size <= 0.0 or LOWEST <= size <= HIGHEST


_ANSWERS = (
    ("Centimetres", f"Take the units of the file as centimetres: {CENTIMETRE:g} m each."),
    ("Inches", f"Take them as inches: {INCH:g} m each."),
    (f"Fit to {PERSON:g} m", f"Make the figure {PERSON:g} m large."),
    ("Leave", "It is meant so."),
)


class UnitQuestion:
    """Asks about the unit of a file at the head of the inspector; whatever is answered is one edit."""

    def __init__(self, context: EditorContext) -> None:
        self._context = context
        self._answered: set[tuple[NodeId, str, float]] = set()
        self._reported: set[tuple[NodeId, str]] = set()
        self.notice = InspectorNotice("warning")
        self.buttons = [self.notice.add_button(text, tip) for text, tip in _ANSWERS]
        for answer, button in enumerate(self.buttons):
            button.clicked.connect(lambda _=False, answer=answer: self._answer(answer))
        context.store.changed.connect(self._report)

    def follow(self, node: Node | None) -> None:
        text = self._question(node) if node is not None else ""
        self.notice.show_reason(text)

    def _question(self, node: Node) -> str:
        settings, loaded = node.settings, self._context.store.loaded(node.id)
        assert isinstance(settings, ModelSettings)
        is_answered = (node.id, settings.path, settings.unit_scale) in self._answered
        if loaded is None or is_answered or is_plausible(settings, loaded.model):
            return ""
        return f"The figure {node.name} measures {size_of(settings, loaded.model):.3g} m. Which unit is its file in?"

    def _report(self, node_id: NodeId) -> None:
        """Lists the question when a model has arrived, once for each file."""
        node = self._context.document.scene.by_id.get(node_id)
        key = node_id, getattr(node.settings, "path", "") if node is not None else ""
        if node is None or not isinstance(node.settings, ModelSettings) or key in self._reported:
            return
        if question := self._question(node):
            self._reported.add(key)
            self._context.panels.warn(node.settings.path, f"{question} Select it to answer in the inspector.")

    def _answer(self, answer: int) -> None:
        node = self._context.selected(ModelSettings.kind)
        loaded = self._context.store.loaded(node.id) if node is not None else None
        if node is None or loaded is None:
            return
        scale = node.settings.unit_scale
        scales = (CENTIMETRE, INCH, scale * PERSON / size_of(node.settings, loaded.model), scale)
        self._answered.add((node.id, node.settings.path, scales[answer]))
        self._context.edits.set_all(f"Set the unit of {node.name}", {node.id: {"unit_scale": scales[answer]}})
        if len(self._context.document.scene.characters) > 1:  # else the camera has kept its picture
            self._context.panels.frame_requested.emit()
        self.follow(self._context.selected(ModelSettings.kind))
