"""Nodes and settings as Python objects; they hold ids only, so that they stay valid after undo."""

from __future__ import annotations

import dataclasses
import difflib
import enum
import functools
import math
import operator
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy.typing as npt

from sinew.app.jobs.chains import ChainForm, show_chains, write_chains
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.run.penetration import measures_of
from sinew.sim.scene.params import ParamError, params_of, validated
from sinew.sim.scene.scene import Node, NodeId, ParamRef, part_of, value_at

if TYPE_CHECKING:
    from sinew.app.api.project import Project

LINKS = {"parent": ("attachment", "node"), "within": ("node", "within")}
"""Names whose values are nodes."""


class SettingsView:
    """Settings as attributes: reading returns the value at the playhead, writing is one undoable edit.

    Choices are texts, and None, numbers, texts, tuples and structures are as in the project file.

    Raises:
        AttributeError: For an unknown setting.
        ValueError: If the declaration of a setting refuses a value; nothing has changed then.
        LookupError: If the node or the part does not exist any more.
    """

    def __init__(self, project: Project, owner: NodeId, part: str) -> None:
        self._project, self._owner, self._part = project, owner, part

    def set(self, **values: Any) -> None:
        """Sets several values as one edit."""
        self._project.document.set_values(
            {self._ref(name): self._linked(name, value) for name, value in values.items()}
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # while a copy or a pickle is made
            raise AttributeError(name)
        value = value_at(self._project.document.evaluated, self._ref(name))
        return value.value if isinstance(value, enum.Enum) else value

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        else:
            self.set(**{name: value})

    def __dir__(self) -> Iterable[str]:
        names = {name for part in self._parts() for name in self._names(part)}
        return sorted({*object.__dir__(self), *names})

    def __repr__(self) -> str:
        return f"<{self._part}{f' of {self._owner}' if self._owner != self._part else ''}>"

    def _parts(self) -> tuple[str, ...]:
        """Returns the parts whose settings are attributes; the first one with a name counts."""
        return (self._part,)

    def _names(self, part: str) -> frozenset[str]:
        try:
            return setting_names(type(part_of(self._project.document.scene, self._owner, part)))
        except KeyError as error:
            raise LookupError(f"{self._owner} has no part {part!r}, or was removed") from error

    def _ref(self, name: str) -> ParamRef:
        parts = self._parts()
        for part in parts:
            if name in self._names(part):
                return ParamRef(self._owner, part, name)
        names = [known for part in parts for known in self._names(part)]
        raise AttributeError(f"{self!r} has no setting {name!r}{near(name, names)}")

    def _linked(self, _name: str, value: Any) -> Any:
        return value


class ProjectNode(SettingsView):
    """A node of a project; its settings are attributes, with its name, transform, visibility and parent.

    Attributes:
        id: Never changes, and is never used again.
        parent: The node that this one is attached to, or None; can be set to a node, an id or a name.
    """

    def __init__(self, project: Project, node_id: NodeId) -> None:
        super().__init__(project, node_id, "node")

    @property
    def id(self) -> NodeId:
        return self._owner

    @property
    def kind(self) -> str:
        return self._node.kind

    @property
    def parent(self) -> ProjectNode | None:
        carrier = self._node.attachment.node
        return self._project.nodes[carrier] if carrier else None

    def part(self, name: str) -> SettingsView:
        """Returns the settings of a part: "transform", "attachment", a bone as "bone:Head", an entry of a list as
        "deformers.0".
        """
        view = SettingsView(self._project, self._owner, name)
        view._names(name)
        return view

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Returns the arrays of the current step by name, such as positions (N, 3) in metres, float32.

        They are copies. Dead particles are NaN. Raises ValueError if the node is not simulated.
        """
        with self._project.simulated(self._node) as system:
            return {name: array.read() for name, array in system.arrays().items()}

    def measures(self) -> dict[str, float]:
        """Returns quantities of the current step, such as the largest strain, and how deep cloth and hair are in skins.

        Empty if its type has none.
        """
        with self._project.simulated(self._node) as system:
            return dict(measures_of(system))

    def foot_slides(self, first: float, last: float) -> list[dict[str, Any]]:
        """Returns how far the left and the right foot of a human character slide between two scene times [s].

        Ways of contacts in metres and speeds in m/s, None without a contact, as `sinew info --json` names them.
        """
        if not (math.isfinite(first) and math.isfinite(last) and first <= last):
            raise ValueError(f"first = {first} and last = {last} are no span of time")
        return [dataclasses.asdict(foot) for foot in self._project.foot_slides(self._node, first, last)]

    def add_chains(self, section: str, path: Path | str, bone: str = "", **values: Any) -> list[ProjectNode]:
        """Generates chains of bones for a skirt, a tail or hair of a character, as one edit, and returns the new nodes.

        Args:
            section: Section of the model.
            path: New model file, which the character shows from then on.
            bone: Bone that the section hangs on; "" for the hips.
            values: `chains`, `joints` and `colliders`, as in the window.

        Raises:
            ModelError: If the model is unsuitable; nothing is written.
        """
        settings, output = self._node.settings, Path(path).absolute()
        if not isinstance(settings, ModelSettings):
            raise ValueError(f"{self._node.name} is no character")
        made = write_chains(settings, section, bone, validated(ChainForm(), **values), output)
        ids = show_chains(self._project.document, self.id, section, output, made)
        return [ProjectNode(self._project, node_id) for node_id in ids]

    def remove(self) -> None:
        """Removes the node, and the content of a group."""
        self._project.document.remove_nodes([self._node.id])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProjectNode) and (self._project, self.id) == (other._project, other.id)

    def __hash__(self) -> int:
        return hash(self._owner)

    def __repr__(self) -> str:
        node = self._project.document.scene.by_id.get(self._owner)
        return f"<{node.kind} {node.name!r}>" if node is not None else f"<removed node {self._owner!r}>"

    @property
    def _node(self) -> Node:
        node = self._project.document.scene.by_id.get(self._owner)
        if node is None:
            raise LookupError(f"the node {self._owner!r} was removed")
        return node

    def _parts(self) -> tuple[str, ...]:
        return self._node.kind, "node", "transform", "attachment"

    def _ref(self, name: str) -> ParamRef:
        return ParamRef(self._node.id, *LINKS[name]) if name in LINKS else super()._ref(name)

    def _linked(self, name: str, value: Any) -> Any:
        if name not in LINKS:
            return value
        node = self._project.nodes[value] if isinstance(value, str) and value else value
        if isinstance(node, ProjectNode) and node._project is self._project:
            return node._node.id
        if node is None or node == "":
            return ""
        raise ParamError(f"{name} = {value!r}: is not a node of this project, its id, its name, or None")


class ProjectNodes:
    """The nodes of a project in the order of the outliner, by id, exact name or number."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def __getitem__(self, name: str | int) -> ProjectNode:
        """Raises LookupError with near names if no node, or several nodes, have the name."""
        nodes = self._project.document.scene.nodes
        if not isinstance(name, str):
            try:
                return ProjectNode(self._project, nodes[operator.index(name)].id)
            except IndexError:
                raise IndexError(f"there is no node {name}; there are {len(nodes)}, numbered from 0") from None
            except TypeError:
                raise TypeError(f"a node is named by its id, its name or its number, not by {name!r}") from None
        found = [node for node in nodes if node.id == name] or [node for node in nodes if node.name == name]
        if len(found) == 1:
            return ProjectNode(self._project, found[0].id)
        if found:
            raise LookupError(f"{len(found)} nodes are named {name!r}; their ids: {', '.join(n.id for n in found)}")
        raise LookupError(f"there is no node {name!r}{near(name, [n for node in nodes for n in (node.name, node.id)])}")

    def __iter__(self) -> Iterator[ProjectNode]:
        return (ProjectNode(self._project, node.id) for node in self._project.document.scene.nodes)

    def __len__(self) -> int:
        return len(self._project.document.scene.nodes)

    def __contains__(self, name: object) -> bool:
        nodes = self._project.document.scene.nodes
        return any(name in (node.id, node.name) for node in nodes)

    def __repr__(self) -> str:
        return repr(list(self))


@functools.cache
def setting_names(cls: type[msgspec.Struct]) -> frozenset[str]:
    return frozenset(record.name for record in params_of(cls))


def near(name: str, names: Iterable[str]) -> str:
    """Returns the end of a message with the names that are like `name`; with all if there are few."""
    known = list(dict.fromkeys(names))
    close = difflib.get_close_matches(name, known, 3, 0.5) or (known if len(known) <= 12 else [])
    return f"; there are: {', '.join(sorted(close))}" if close else ""
