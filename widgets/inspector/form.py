"""Settings classes as parameters of pyqtgraph's tree: sections, setting rows, facts and notes.

The parameters hold what the rows show; they never edit the scene themselves.  `widgets.inspector.form_items`
has the rows, `FormTree` shows them.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from pyqtgraph.parametertree import Parameter
from PySide6.QtWidgets import QWidget

from sim.scene.params import Param, Role, entry_of, params_of
from sim.scene.scene import PLAYBACK, VIEW, ParamRef, Scene
from sim.scene.vectors import Colour
from sim.scene.view_state import Selection
from widgets.inspector.editor import Binding, ValueEditor
from widgets.inspector.form_items import FactItem, NoteItem, SectionItem, SettingItem, WideSettingItem, WidgetItem

WIDE_ROLES = frozenset((Role.GRADIENT, Role.CURVE))
"""Pictures, which want the whole width, as vectors do."""

MakeEditor = Callable[[Param], ValueEditor]
MakeBinding = Callable[[Param, ParamRef, ValueEditor], Binding]


@dataclass(frozen=True, slots=True)
class FormGroup:
    """Parameters under one heading."""

    title: str
    records: tuple[Param, ...]


def groups_of(cls: type[msgspec.Struct], title: str) -> tuple[FormGroup, ...]:
    """Parameters of a settings class by heading, in order of declaration; lists have sections of their own.

    Args:
        cls: Settings class.
        title: Heading of the parameters that declare none.
    """
    found: dict[str, list[Param]] = {}
    for record in params_of(cls):
        if record.declared.role not in (Role.HIDDEN, Role.LIST):
            found.setdefault(record.declared.group or title, []).append(record)
    return tuple(FormGroup(heading, tuple(records)) for heading, records in found.items())


def json_path(scene: Scene, ref: ParamRef) -> str:
    """Place of a value in the project file, such as `$.nodes[2].model.unit_scale`.

    Raises:
        KeyError: If the scene has no such node.
    """
    if ref.owner in (PLAYBACK, VIEW):
        return f"$.{ref.owner}.{ref.name}"
    index = scene.nodes.index(scene.node(ref.owner))
    node = scene.node(ref.owner)
    if entry_of(ref.part) is not None:
        place = re.sub(r"\.(\d+)$", r"[\1]", ref.part)
        return f"$.nodes[{index}].{node.kind}.{place}.{ref.name}"
    if node.settings.part(ref.part) is not None:
        what, _, name = ref.part.partition(":")
        place = f"pose[?bone={name!r}]" if what == "bone" else f"{what}s[?{what}={name!r}]"
        return f"$.nodes[{index}].{node.kind}.{place}.{ref.name}"
    part = "" if ref.part == "node" else f".{ref.part}"
    return f"$.nodes[{index}]{part}.{ref.name}"


class SectionParameter(Parameter):
    """A heading with rows below it.

    Attributes:
        is_entry: Whether it is an entry of a list.
    """

    itemClass = SectionItem

    def __init__(self, title: str, children: Iterable[Parameter], *, is_entry: bool = False) -> None:
        self.is_entry = is_entry
        super().__init__(name=title, type="section", children=list(children))


class SettingParameter(Parameter):
    """A row that edits one value of the scene; a picture stands below its label.

    Args:
        record: Declaration of the value.
        ref: Its address.
        value: What it is now.
        make_editor, make_binding: Called when the row is built.
        others: Gives the values of the nodes that are edited along with that of the address.
    """

    def __init__(
        self,
        record: Param,
        ref: ParamRef,
        value: Any,
        make_editor: MakeEditor,
        make_binding: MakeBinding,
        others: Callable[[], Sequence[Any]] = tuple,
    ) -> None:
        self.record = record
        self._others = others
        self.ref = ref
        self.make_editor = make_editor
        self.make_binding = make_binding
        super().__init__(
            name=f"{ref.part}.{ref.name}", title=record.label, type="setting", value=value, default=record.default
        )

    @property
    def itemClass(self) -> type[SettingItem]:
        is_vector = self.record.type is tuple and self.record.declared.role is Role.PLAIN
        is_wide = self.record.declared.role in WIDE_ROLES or self.is_texture or is_vector
        return WideSettingItem if is_wide else SettingItem

    @property
    def is_texture(self) -> bool:
        """Whether it is a file in the place of another one, shown as a picture."""
        return self.record.declared.role is Role.PATH and self.record.optional

    @property
    def resettable(self) -> bool:
        """Whether going back to the default makes sense; the default of a file or a name is no choice."""
        is_file = self.record.declared.role is Role.PATH and not self.is_texture
        return not is_file and (self.ref.part, self.ref.name) != ("node", "name")

    @property
    def mixed(self) -> tuple[Any, ...]:
        """The values of all nodes, its own first; empty where they are the same."""
        values = (self.value(), *self._others())
        return values if any(value != values[0] for value in values) else ()

    def refresh(self) -> None:
        for item in list(self.items):
            item.show_value()

    @property
    def modified(self) -> bool:
        return self.resettable and bool(self.value() != self.record.default)


class WidgetParameter(Parameter):
    """A row that is a widget over the whole width.

    Args:
        name: Unique name within the section.
        make: Makes the widget when the row is built.
    """

    itemClass = WidgetItem

    def __init__(self, name: str, make: Callable[[], QWidget]) -> None:
        self.make = make
        super().__init__(name=name, title=" ", type="widget")


class FactParameter(Parameter):
    """A row that tells something and edits nothing.

    Args:
        name: Unique name within the section.
        label: Text on the left.
        value: Text on the right.
        tip: Tooltip; the value by default.
        mark: Icon name of a severity beside the value, or "".
        link: What a click selects, or None.
        swatch: Colour beside the label, or None.
    """

    itemClass = FactItem

    def __init__(
        self,
        name: str,
        label: str,
        value: str,
        tip: str = "",
        mark: str = "",
        *,
        link: Selection | None = None,
        swatch: Colour | None = None,
    ) -> None:
        self.tip, self.mark = tip, mark
        self.link, self.swatch = link, swatch
        super().__init__(name=name, title=label, type="fact", value=value)


class NoteParameter(Parameter):
    """A wrapped text over the whole width.

    Args:
        name: Unique name within the section.
        text: The note.
        mark: Icon name of a severity, or "".
    """

    itemClass = NoteItem

    def __init__(self, name: str, text: str, mark: str = "") -> None:
        self.mark = mark
        super().__init__(name=name, title=" ", type="note", value=text)
