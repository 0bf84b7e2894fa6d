"""Keys of steps: equal keys mean equal steps.

Every simulated node has its own key; other nodes that it does not meet, and settings of drawing, do not change it.
"""

import contextvars
import functools
import hashlib
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from sinew.sim.assets.content import content_sum
from sinew.sim.assets.model import Interpolation
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import (
    CharacterSource,
    ColliderSource,
    Coupling,
    Files,
    FileUse,
    ForceSource,
    ShaderTexts,
    World,
)
from sinew.sim.kinds.field_targets import acting_fields, weight_of
from sinew.sim.kinds.partners import all_pairs, partners
from sinew.sim.scene.curves import Curve
from sinew.sim.scene.params import Declaration, Effect, Role, Settings, param_of, params_of
from sinew.sim.scene.scene import Node, NodeId, Scene, node_part
from sinew.sim.scene.strips import LAYER_VALUES, Strip

ANEW = frozenset((Effect.RESET, Effect.REBUILD))
_MARK, _FORMER_MARK = "3:", "2:"
"""Prefixes of keys, and of those with former sums of files; keys of still older versions have none."""

_has_former_sums = contextvars.ContextVar("has former sums", default=False)


@functools.lru_cache(maxsize=4096)
def _values(settings: Settings | None, effects: frozenset[Effect]) -> tuple[Any, ...]:
    if settings is None:
        return ()
    values = [(r, getattr(settings, r.name)) for r in params_of(type(settings)) if r.declared.effect in effects]
    return tuple(value for r, value in values if not r.declared.sparse or value != r.default)


def _in_force(world: World, node: Node) -> Settings | None:
    settings = world.active_settings.get(node.id, node.settings)
    # Keys have changed values of settings that are still prepared; the curves are in the key.
    keyed = {curve.field for curve in node.curves if curve.part == node.kind}
    if settings is None or settings is node.settings or not keyed:
        return settings
    return msgspec.structs.replace(settings, **{name: getattr(node.settings, name) for name in keyed})


def step_key(world: World) -> tuple[tuple[NodeId, Hashable], ...]:
    """Returns the key of every simulated node, and True if it is baked: the following steps depend on it."""
    scene = world.applied.allowed
    return tuple((node, (key, scene.node(node).baked)) for node, key in node_keys(world).items())


def start_key(world: World) -> Hashable:
    """Returns start, simulated nodes, their size, and files: every run depends on them from its first step."""
    scene = world.applied.allowed
    playback, all_inputs = scene.playback, [(node, _inputs(world, node)) for node in scene.nodes]
    systems = tuple(
        (n.id, n.kind, _values(one.settings, ANEW)) for n, one in all_inputs if KINDS[n.settings.kind].system
    )
    files = tuple([file for _, one in all_inputs for file in one.files])
    return playback.start_time, playback.run_up, systems, files


def node_keys(world: World) -> dict[NodeId, str]:
    """Returns the cache key of each node; keys stay valid between sessions.

    Depends on the solver, the start, settings that affect steps, transforms, and full contents of files: of the node,
    of its parents and the targets of their modifiers, of its colliders, and of the force fields that act on it.
    Nodes that act on one another have one key.
    """
    scene = world.applied.allowed
    met, found, playback = _met(world), {}, scene.playback
    mark = _FORMER_MARK if _has_former_sums.get() else _MARK
    shaders = _shaders(scene)
    for node in scene.nodes:
        kind = KINDS[node.settings.kind]
        if kind.system:
            settings, simulated = _inputs(world, node).settings, node.id in scene.simulated
            start = msgspec.json.encode((kind.version, playback.start_time, playback.run_up, simulated))
            leading = scene.leading(node.id)
            carriers = (_carrying(world, one) for one in leading)
            collides = settings is not None and kind.part(Coupling).collides(settings)
            for one in leading:
                collides |= isinstance(one.settings, ModelSettings) and one.settings.plants_feet
            acting = met if collides else ()
            parts = [start, _inputs(world, node).whole, *carriers, b"met", *acting, *shaders]
            parts += _fields(world, node)
            found[node.id] = mark + hashlib.sha256(b"\n".join(parts)).hexdigest()
    for nodes in set(partners(scene).values()):
        own = [(node, found[node]) for node in nodes]
        linked = [pair for pair in all_pairs(scene) if pair[0] in nodes]
        shared = mark + hashlib.sha256(msgspec.json.encode((own, linked))).hexdigest()
        found |= dict.fromkeys(nodes, shared)
    return found


def _shaders(scene: Scene) -> list[bytes]:
    """Returns the shader texts of the scene, which any node may use."""
    kinds = [(kind, kind.part(ShaderTexts).of) for kind in KINDS.values() if ShaderTexts in kind.declared]
    return [
        msgspec.json.encode(read(node.settings)) for kind, read in kinds for node in scene.simulated_of_kind(kind.name)
    ]


def is_current(key: str, world: World, node: Node) -> bool:
    """Returns True if a bake with a key has the steps that would be simulated now.

    Keys of older versions are compared as those versions did, the oldest with only a part of the contents of clips and
    images.
    """
    if key.startswith((_MARK, _FORMER_MARK)):
        token = _has_former_sums.set(key.startswith(_FORMER_MARK))
        try:
            return key == node_keys(world).get(node.id)
        finally:
            _has_former_sums.reset(token)
    return not world.applied.allowed.is_keyed and key == digest(world, node)


def _met(world: World, *, turned: bool = True) -> list[bytes]:
    scene = world.applied.allowed
    simulated = scene.simulated
    colliders = [node for node in scene.nodes if ColliderSource in KINDS[node.settings.kind].declared]
    own = [
        part for node in colliders for part in (b"heard" if node.id in simulated else b"", _inputs(world, node).whole)
    ]
    versions = {kind: KINDS[kind].version for kind in dict.fromkeys([node.settings.kind for node in colliders])}
    changed = [f"{kind} {number}".encode() for kind, number in versions.items() if number > 1]
    return [*changed, *own, *_all_carrying(world, colliders, turned=turned)]


def _all_carrying(world: World, nodes: Sequence[Node], *, turned: bool = True) -> list[bytes]:
    scene = world.applied.allowed
    carriers: dict[NodeId, Node] = {}
    seen: set[NodeId] = set()
    for node in nodes:
        # Without targets, all that is attached to a node depends on the same nodes.
        if node.attachment.node and (scene.targets or node.attachment.node not in seen):
            seen.add(node.attachment.node)
            carriers |= {one.id: one for one in scene.leading(node.id)}
    return [_carrying(world, one) if turned else _inputs(world, one).whole for one in carriers.values()]


def _carrying(world: World, carrier: Node) -> bytes:
    """Returns the transform of a parent; the pose of a character, and what turns its joints."""
    if CharacterSource not in KINDS[carrier.kind].declared:
        return _inputs(world, carrier).place
    parts = [_inputs(world, carrier).whole]
    for node in world.applied.allowed.nodes:
        coupling = KINDS[node.settings.kind].declared.get(Coupling)
        if coupling is not None and coupling.turns_joints and node.attachment.node == carrier.id:
            inputs = _inputs(world, node)
            collides = inputs.settings is not None and coupling.collides(inputs.settings)
            parts += [b"turned" if node.id in world.applied.allowed.simulated else b"still", inputs.whole]
            parts += _met(world, turned=False) if collides else []
            parts += _fields(world, node, turned=False)
    return b" ".join(parts)


def _fields(world: World, node: Node, *, turned: bool = True) -> list[bytes]:
    """Returns the force fields that act on a node."""
    weighted = weight_of(_inputs(world, node).settings) != 0.0 or any(
        curve.field == "field_weight" for curve in node.curves
    )
    fields = acting_fields(world.applied.allowed, node) if weighted else ()
    wholes = [_inputs(world, field).whole for field in fields]
    return [b"fields", *wholes, *_all_carrying(world, fields, turned=turned)] if fields else []


class _Inputs(NamedTuple):
    settings: Settings | None  # Active
    place: bytes  # The transform alone, with its keys
    whole: bytes  # Everything of a node that steps can depend on, with sums of its files
    files: tuple[bytes, ...] = ()


class _Known(NamedTuple):
    node: Node
    active: Settings | None
    inputs: _Inputs  # Without files
    uses: tuple[FileUse, ...]


_KNOWN_MAX = 4096
_known: dict[int, _Known] = {}
"""By the id of the node, which stays alive so that its id is not reused."""


def _inputs(world: World, node: Node) -> _Inputs:
    active = world.active_settings.get(node.id, node.settings)
    known = _known.get(id(node))
    if known is None or known.active is not active:
        settings = _in_force(world, node)
        inputs = _Inputs(settings, _record(node, None), _record(node, settings))
        if len(_known) >= _KNOWN_MAX:
            _known.clear()
        known = _known[id(node)] = _Known(node, active, inputs, _files(settings))
    if not known.uses:
        return known.inputs
    settings, place, whole, _ = known.inputs
    files = tuple([_file_sum(world, node, use) for use in known.uses])
    return _Inputs(settings, place, b" ".join((whole, *files)), files)


def _files(settings: Settings | None) -> tuple[FileUse, ...]:
    """Returns files of settings without files that are only drawn, and motions, which characters hold."""
    if settings is None:
        return ()
    uses = KINDS[settings.kind].part(Files).used(settings)
    uses = tuple(use for use in uses if use.content not in ("texture", "motion", "panorama"))
    return tuple(use for use in uses if param_of(type(settings), use.field).declared.effect is not Effect.VIEW)


def _file_sum(world: World, node: Node, use: FileUse) -> bytes:
    character, assets = world.characters.get(node.id), world.applied.assets
    content: Any = {
        "character": assets.animated_model(node.id, character.model) if character is not None else None,
        "mesh": assets.meshes.get(Path(use.path)),
        "strands": assets.strands.get(Path(use.path)),
        "image": assets.images.get(Path(use.path)),
    }[use.content]
    found = content_sum(content, is_former=_has_former_sums.get()) if content is not None else None
    return f"{use.field} {found}".encode()


def _record(node: Node, settings: Settings | None) -> bytes:
    # Steps depend on a parent without a pose by its transform alone.
    curves = [c for c in node.curves if c.part == "transform" or (settings is not None and _is_simulated(node, c))]
    parts = (node.kind, node.id, _stepped(settings), node.transform, node.attachment, *curves)
    return msgspec.json.encode(parts, order="sorted")


def _is_simulated(node: Node, curve: Curve) -> bool:
    return not _draws(param_of(type(node_part(node, curve.part)), curve.field).declared)


def _stepped(value: Any) -> Any:
    """Returns values that differ from their defaults, by name, without drawing and paths."""
    if isinstance(value, tuple):
        return [_stepped(one) for one in value]
    if isinstance(value, Strip):  # values of layers count only where they are set: keys are older
        plain, stored = msgspec.to_builtins(Strip()), msgspec.to_builtins(value)
        return {name: own for name, own in stored.items() if name not in LAYER_VALUES or own != plain[name]}
    records = params_of(type(value)) if isinstance(value, msgspec.Struct) else ()
    if not records:
        return value
    values = [(record, getattr(value, record.name)) for record in records if not _draws(record.declared)]
    reported = {record.name: _stepped(own) for record, own in values if own != record.default}
    return {"": type(value).__name__, **reported}


def _draws(declared: Declaration) -> bool:
    """Returns True for values that only affect drawing, names of files, as their content counts, and targets."""
    return declared.effect is Effect.VIEW or declared.role in (Role.PATH, Role.TARGET)


def digest(world: World, node: Node) -> str:
    scene, rebuilt = world.scene, frozenset((Effect.REBUILD,))
    parts = (ColliderSource, ForceSource, CharacterSource)
    kinds = {name for name, kind in KINDS.items() if kind.system or not kind.declared.keys().isdisjoint(parts)}
    settings = {one.id: _in_force(world, one) for one in scene.nodes if one.kind in kinds}
    nodes = [
        [
            one.id,
            one.kind,
            _values(settings[one.id], frozenset(Effect) - {Effect.VIEW, *rebuilt}),
            [value for value in _values(settings[one.id], rebuilt) if not isinstance(value, str)],
            one.transform,
            one.attachment,
            one.id in scene.simulated,
        ]
        for one in scene.nodes
        if one.id in settings
    ]
    start = [scene.playback.start_time, scene.playback.run_up]
    sums = hashlib.sha256(msgspec.json.encode({"start": start, "nodes": nodes}, order="sorted"))
    arrays: list[Any] = []
    for name, character in sorted(world.characters.items()):
        model = character.model
        arrays += [name.encode(), model.mesh.positions, model.mesh.triangles]
        arrays += [model.skeleton.model_from_bind] if model.skeleton is not None else []
        for clip in model.clips:
            times = [float(clip.key_times[0])] if len(clip.key_times) else []
            poses = [clip.sample(time, Interpolation.LINEAR) for time in (*times, 0.37 * clip.duration)]
            arrays += [clip.key_times, *(pose.orientations for pose in poses)]
    meshes, strand_sets = world.assets.meshes, world.assets.strands
    arrays += [meshes[path].positions for path in sorted(meshes, key=str)]
    arrays += [part for _, strands in sorted(strand_sets.items()) for part in (strands.starts, strands.points)]
    for part in (*arrays, node.id.encode()):
        sums.update(part if isinstance(part, bytes) else np.ascontiguousarray(part).tobytes())
    return sums.hexdigest()
