from sinew.app.session.editor_context import EditorContext
from sinew.sim.kinds.contract import Panel, System
from sinew.sim.scene.scene import Node
from sinew.sim.scene.view import Look


class EnvironmentPanel(Panel):
    def __init__(self, context: EditorContext) -> None:
        self._context = context

    def note(self, node: Node, system: System | None) -> str:  # noqa: ARG002
        is_classic = self._context.document.scene.view.look is Look.CLASSIC
        return "The classic look has no environments; change Look in the settings of the view." if is_classic else ""
