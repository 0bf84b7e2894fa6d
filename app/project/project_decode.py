"""Decoder of project files; every error names its JSON path."""

import copy
import functools
import json
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from sinew.app.project.node_names import NodeNames, default_name
from sinew.app.project.project_json import ProjectError, key_path
from sinew.app.project.project_paths import resolved_path
from sinew.app.project.unknown_content import Place, UnknownContent, UnknownInEntry, UnknownNode
from sinew.sim.assets.raw import LoadWatch
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Edits, Kind
from sinew.sim.kinds.keyable import curve_fault, curves_refusal
from sinew.sim.notes import Notes
from sinew.sim.printable import shortened
from sinew.sim.scene.params import Declaration, ParamError, Role, check, params_of, with_paths
from sinew.sim.scene.playback import PlaybackSettings
from sinew.sim.scene.scene import PLAYBACK, VIEW, Node, Scene
from sinew.sim.scene.view import ViewSettings
from sinew.sim.scene.view_state import OutputValue, Selection, ViewState, selection_of

S = TypeVar("S", bound=msgspec.Struct)

_FILE_KEYS = ("format", "version", "nodes", PLAYBACK, VIEW, "state")
_NODE_KEYS = frozenset(field.name for field in msgspec.structs.fields(Node)) - {"settings"}

PLUGIN = "plugin"
"""Key in the object of a node: `package` is the plug-in that has the type, `kind_version` the `Kind.version`."""


class _UnusableNode(Exception):
    """Why a node of a plug-in is kept as unknown content."""


class ProjectDecoder:
    """Decoder of the content of one project file; collects warnings and unknown content.

    Args:
        path: The file, for messages.
        folder: Its folder, links resolved.
        watch: Counts nodes.

    Attributes:
        warnings: Problems that were accepted or fixed, one sentence each, in the order of the file.
    """

    def __init__(self, path: Path, folder: str, watch: LoadWatch | None = None) -> None:
        self._path, self._folder = path, folder
        self._watch = watch or LoadWatch()
        self._keys: dict[Place, dict[str, Any]] = {}
        self._nodes: list[UnknownNode] = []
        self._entries: dict[Place, tuple[UnknownInEntry, ...]] = {}
        self.warnings = Notes()

    def decode(self, content: dict[str, Any]) -> tuple[Scene, ViewState]:
        """Decodes a project; raises ProjectError if a part is invalid, LoadCancelled if the watch cancels."""
        self._keep_unknown(content, _FILE_KEYS, "$", ())
        nodes, playback = self.decode_nodes(content.get("nodes", [])), content.get(PLAYBACK, {})
        if isinstance(playback, dict) and any(KINDS[node.kind].system for node in nodes):
            playback = {"min_length": 0.0, **playback}  # older files last as long as their clip
        scene = Scene(
            nodes=nodes,
            playback=self._struct(PlaybackSettings, playback, f"$.{PLAYBACK}", (PLAYBACK,)),
            view=self._struct(ViewSettings, content.get(VIEW, {}), f"$.{VIEW}", (VIEW,)),
        )
        raw = content.get("state", {})
        output = self._checked_output(raw.get("output", {})) if isinstance(raw, dict) else {}
        raw = {key: value for key, value in raw.items() if key != "output"} if isinstance(raw, dict) else raw
        state = self._struct(ViewState, raw, "$.state", ("state",), output=output)
        return scene, self._checked_selection(scene, state)

    def unknown(self) -> UnknownContent:
        return UnknownContent(dict(self._keys), tuple(self._nodes), dict(self._entries), self._folder)

    def decode_nodes(self, content: Any) -> tuple[Node, ...]:
        """Decodes nodes of a file or of the clipboard; raises ProjectError if a value or a node is invalid."""
        if not isinstance(content, list):
            raise self._refused("$.nodes", content, "a list of nodes")
        nodes: dict[str, Node] = {}
        by_id = {raw["id"]: raw for raw in content if isinstance(raw, dict) and isinstance(raw.get("id"), str)}
        self._watch.total = len(content)
        for index, raw in enumerate(content):
            where = f"$.nodes[{index}]"
            self._watch.advance(1)
            after = next(reversed(nodes), None)
            if self._is_unknown_kind(raw):
                self._keep_node(raw, where, after, f"has the unknown type {_type_of(raw)}")
                continue
            try:
                node = self._decode_node(raw, where, by_id)
            except _UnusableNode as error:
                self._keep_node(raw, where, after, str(error))
                continue
            if node.id in nodes:
                raise self._refused(f"{where}.id", node.id, "an id that no other node has")
            nodes[node.id] = node
        named = self._with_unique_names(tuple(nodes.values()))
        circling = Scene(nodes=named).circling
        if circling is not None:
            index = next(i for i, raw in enumerate(content) if raw.get("id") == circling.id)
            where = f"$.nodes[{index}].attachment.node"
            raise self._refused(where, circling.attachment.node, "a node that is not attached to this one")
        return named

    def _is_unknown_kind(self, raw: Any) -> bool:
        """Returns True if the node has no known part, but an unknown one."""
        if not isinstance(raw, dict) or any(raw.get(kind) is not None for kind in KINDS):
            return False
        return bool(_types_in(raw))

    def _keep_node(self, raw: dict[str, Any], where: str, after: str | None, reason: str) -> None:
        names = (raw.get(key) for key in ("name", "id"))
        name = next((shortened(name) for name in names if isinstance(name, str) and name.strip()), where)
        self.warnings.append(f"{name} {reason}; it is kept but not shown")
        self._nodes.append(UnknownNode(raw, after))

    def _decode_node(self, raw: Any, where: str, by_id: Mapping[str, dict[str, Any]]) -> Node:
        if not isinstance(raw, dict):
            raise self._refused(where, raw, "an object")
        node_id = raw.get("id")
        if not isinstance(node_id, str) or not node_id or node_id in (PLAYBACK, VIEW):
            raise self._refused(f"{where}.id", node_id, f'a text other than "", "{PLAYBACK}" and "{VIEW}"')
        parts = [kind for kind in KINDS if raw.get(kind) is not None]
        if len(parts) != 1:
            raise ProjectError(
                self._path, where, f"holds {', '.join(parts) or 'no part'}; allowed: exactly one of: {', '.join(KINDS)}"
            )
        kind, place = parts[0], ("nodes", node_id)
        if KINDS[kind].package:
            raw = self._updated(raw, where, KINDS[kind], by_id)
        try:
            settings = self._struct(KINDS[kind].settings, raw[kind], key_path(where, kind), (*place, kind))
        except ProjectError:
            raise
        except Exception as error:
            if not KINDS[kind].package:
                raise
            raise _failed(KINDS[kind], error) from error
        # Older files hold the other kinds as null.
        raw = {key: value for key, value in raw.items() if key not in KINDS}
        node = self._struct(Node, raw, where, place, settings=settings)
        if (fault := curve_fault(node, node.curves)) is not None:
            raise ProjectError(self._path, f"{where}.curves{fault[0]}", fault[1])
        return node

    def _updated(
        self, raw: dict[str, Any], where: str, kind: Kind, by_id: Mapping[str, dict[str, Any]]
    ) -> dict[str, Any]:
        """Returns the object of a node of a plug-in in the version of the plug-in that is loaded."""
        stored = raw.get(PLUGIN)
        version = stored.get("kind_version") if isinstance(stored, dict) else kind.version
        if not isinstance(version, int) or isinstance(version, bool):
            raise self._refused(f"{where}.{PLUGIN}.kind_version", version, "a whole number")
        if version > kind.version:
            raise _UnusableNode(f"is of version {version} of {kind.name}, newer than {kind.version} of {kind.package}")
        raw = copy.deepcopy({key: value for key, value in raw.items() if key != PLUGIN})
        migrate = kind.part(Edits).migrate
        if version < kind.version and migrate is not None:
            try:
                migrate(version, raw, by_id)
            except Exception as error:
                raise _failed(kind, error) from error
        return raw

    def _with_unique_names(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        named: list[Node] = []
        names = NodeNames()
        for node in nodes:
            name = names.take(node.name or default_name(node))
            if node.name and name != node.name:
                reported = shortened(node.name), shortened(node.id), shortened(name)
                self.warnings.append("two nodes are called {}; {} is now {}".format(*reported))
            named.append(msgspec.structs.replace(node, name=name))
        return tuple(named)

    def _struct(self, cls: type[S], raw: Any, where: str, place: Place, **values: Any) -> S:
        """Decodes a struct; `values` are fields that stand elsewhere."""
        if not isinstance(raw, dict):
            raise self._refused(where, raw, "an object")
        hints = {name: hint for name, hint in _hints(cls).items() if name not in values}
        for name, hint in hints.items():
            if name not in raw:
                continue
            inner = _struct_type(hint)
            if inner is None:
                values[name] = self._value(cls, name, raw[name], key_path(where, name))
                self._keep_in_entries(raw[name], values[name], key_path(where, name), (*place, name))
            elif raw[name] is not None or not _is_optional(hint):
                values[name] = self._struct(inner, raw[name], key_path(where, name), (*place, name))
        self._keep_unknown(raw, hints, where, place)
        return cls(**values)

    def _value(self, cls: type[msgspec.Struct], name: str, value: Any, where: str) -> Any:
        hint = _hints(cls)[name]
        record = next((record for record in params_of(cls) if record.name == name), None)
        try:
            converted = msgspec.convert(value, hint) if record is None else check(cls, name, value)
        except (msgspec.ValidationError, ParamError, UnicodeEncodeError) as error:
            if cls is Node and name == "curves":
                inner, reason = curves_refusal(value)
                raise ProjectError(self._path, where + inner, reason) from None
            allowed = _own_words(error) or f"allowed: {allowed_text(hint, record.declared if record else None)}"
            raise self._refused(where, value, allowed, lead="") from None
        if record is not None and record.declared.role is Role.PATH and converted:
            return self._resolved(where, converted)
        if isinstance(converted, tuple) and converted and isinstance(converted[0], msgspec.Struct):
            return tuple(with_paths(entry, lambda path: self._resolved(where, path)) for entry in converted)
        return converted

    def _resolved(self, where: str, path: str) -> str:
        if "\0" in path:
            raise self._refused(where, path, "a path without null characters")
        return resolved_path(path, self._folder)

    def _keep_unknown(self, raw: dict[str, Any], known: typing.Container[str], where: str, place: Place) -> None:
        unknown = self._unknown_keys(raw, known, where)
        if unknown:
            self._keys[place] = unknown

    def _keep_in_entries(self, raw: Any, entries: Any, where: str, place: Place) -> None:
        """Stores unknown keys of the objects in a list of settings."""
        found = []
        for index, entry in enumerate(entries if isinstance(entries, tuple) else ()):
            if not isinstance(entry, msgspec.Struct) or not isinstance(raw[index], dict):
                continue
            known = {field.encode_name for field in msgspec.structs.fields(entry)} | {entry.__struct_config__.tag_field}
            unknown = self._unknown_keys(raw[index], known, f"{where}[{index}]")
            if unknown:
                found.append(UnknownInEntry(entry, index, unknown))
        if found:
            self._entries[place] = tuple(found)

    def _unknown_keys(self, raw: dict[str, Any], known: typing.Container[str | None], where: str) -> dict[str, Any]:
        unknown = {key: value for key, value in raw.items() if key not in known}
        self.warnings.extend(f"{key_path(where, key)}: unknown key, kept as it is" for key in unknown)
        return unknown

    def _checked_output(self, raw: Any) -> dict[str, dict[str, OutputValue]]:
        """Returns values of the output window; the window itself checks them against its forms."""
        found: dict[str, dict[str, OutputValue]] = {}
        for page, values in raw.items() if isinstance(raw, dict) else [("", raw)]:
            for name, value in values.items() if isinstance(values, dict) else [("", values)]:
                try:
                    made = msgspec.convert(value, OutputValue)
                except msgspec.ValidationError:
                    made = None
                if name and page and made is not None:
                    found.setdefault(page, {})[name] = made
                else:
                    where = ".".join(filter(None, ("$.state.output", page, name)))
                    self.warnings.append(f"{where}: {shortened(json.dumps(value))} is left out")
        return found

    def _checked_selection(self, scene: Scene, state: ViewState) -> ViewState:
        selection = state.selection
        if selection.node is not None and not scene.has(selection.node):
            is_unknown = any(node.content.get("id") == selection.node for node in self._nodes)
            reason = "a node of an unknown type" if is_unknown else "a node that does not exist"
            self.warnings.append(f"$.state.selection.node: names {reason}: {shortened(selection.node)}")
            selection = Selection(view=selection.view)
        others = selection_of(node_id for node_id in selection.nodes if scene.has(node_id)).others
        selection = msgspec.structs.replace(selection, others=others)
        if selection.view or selection.node is None:
            selection = Selection(view=selection.view)
        return msgspec.structs.replace(state, selection=selection)

    def _refused(self, where: str, value: Any, allowed: str, lead: str = "allowed: ") -> ProjectError:
        text = shortened(json.dumps(value, ensure_ascii=False))
        return ProjectError(self._path, where, f"{text} is not allowed; {lead}{allowed}")


def _own_words(error: Exception) -> str:
    """Returns the message of the type of a value; "" if only its form is wrong."""
    cause = getattr(error.__context__ or error, "__cause__", None)
    return str(cause) if isinstance(cause, ValueError) else ""


def _types_in(raw: dict[str, Any]) -> list[str]:
    """Returns the keys of an object of a node that may be the settings of a type."""
    return [key for key, value in raw.items() if key not in (*_NODE_KEYS, PLUGIN) and isinstance(value, dict)]


def _type_of(raw: dict[str, Any]) -> str:
    stored = raw.get(PLUGIN)
    package = stored.get("package") if isinstance(stored, dict) else None
    origin = f" of the plug-in {shortened(package)}" if isinstance(package, str) else ""
    return f"{shortened(', '.join(_types_in(raw)))}{origin}"


def _failed(kind: Kind, error: Exception) -> _UnusableNode:
    reason = shortened(f"{type(error).__name__}: {error}")
    return _UnusableNode(f"cannot be read by the plug-in {kind.package} ({reason})")


@functools.cache
def _hints(cls: type[msgspec.Struct]) -> dict[str, Any]:
    hints = typing.get_type_hints(cls, include_extras=True)
    return {field.name: hints[field.name] for field in msgspec.structs.fields(cls)}


def _struct_type(hint: Any) -> type[msgspec.Struct] | None:
    if typing.get_origin(hint) is typing.Annotated:
        return _struct_type(typing.get_args(hint)[0])
    candidates = typing.get_args(hint) if _is_union(hint) else (hint,)
    return next((kind for kind in candidates if isinstance(kind, type) and issubclass(kind, msgspec.Struct)), None)


def _is_optional(hint: Any) -> bool:
    return _is_union(hint) and type(None) in typing.get_args(hint)


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


def allowed_text(hint: Any, declared: Declaration | None = None) -> str:
    """Returns a text such as "a number from 1e-06 to 1e+06 m" or "one of: lbs, dqs"; `declared` gives the unit."""
    unit = f" {declared.unit}" if declared is not None and declared.unit else ""
    order = ", in order" if declared is not None and declared.role in (Role.GRADIENT, Role.CURVE) else ""
    return _text(inspect.type_info(hint), unit) + order


def _text(kind: inspect.Type, unit: str) -> str:
    match kind:
        case inspect.Metadata(type=inner):
            return _text(inner, unit)
        case inspect.UnionType(types=types):
            return " or ".join(_text(inner, unit) for inner in types)
        case inspect.TupleType(item_types=items):
            return _text(items[0], unit).replace("a number", f"{len(items)} numbers", 1)
        case inspect.VarTupleType(item_type=item):
            return f"{kind.min_length or 0} to {kind.max_length or 'any number of'} items of {_text(item, unit)}"
        case inspect.FloatType():
            return "a number" + _range(kind.ge, kind.le, unit)
        case inspect.IntType():
            return "a whole number" + _range(kind.ge, kind.le, unit)
        case inspect.EnumType(cls=cls):
            return "one of: " + ", ".join(str(member.value) for member in cls)
        case inspect.BoolType():
            return "true or false"
        case inspect.NoneType():
            return "null"
        case inspect.StrType():
            return "a text"
        case inspect.StructType(fields=fields, tag_field=None):
            return "an object with " + ", ".join(field.encode_name for field in fields)
        case inspect.StructType(tag_field=field, tag=tag):
            return f'an object with "{field}": "{tag}"'
    raise TypeError(f"no words for {kind}")


def _range(lo: float | None, hi: float | None, unit: str) -> str:
    if lo is not None and hi is not None:
        return f" from {lo:g} to {hi:g}{unit}"
    if lo is not None:
        return f", at least {lo:g}{unit}"
    if hi is not None:
        return f", at most {hi:g}{unit}"
    return f" [{unit.strip()}]" if unit else ""
