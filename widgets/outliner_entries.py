"""Rows of the outliner as plain values: nodes below their parents, skeletons, morph targets and materials."""

import enum
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sinew.sim.assets.influences import weighted_vertex_counts
from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.materials import missing_images, overridden_materials
from sinew.sim.characters.settings import MaterialLook, ModelSettings
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import ColliderSource
from sinew.sim.scene.scene import Node, NodeId, Scene
from sinew.sim.scene.view_state import Selection, selection_of
from sinew.widgets.icons import kind_icon
from sinew.widgets.protocols import ModelState, ModelStatus

Key = tuple[str, ...]


class EntryKind(enum.Enum):
    NODE = "node"
    FOLD = "fold"
    SKELETON = "skeleton"
    BONE = "bone"
    MATERIALS = "materials"
    MATERIAL = "material"
    TARGETS = "targets"
    TARGET = "target"
    VIEW = "view"


@dataclass(slots=True)
class Entry:
    kind: EntryKind
    key: Key  # Identity that survives a refresh
    name: str
    icon: str
    selection: Selection  # Selected by a click
    note: str = ""  # Text at the right edge
    tip: str = ""
    mark: str = ""  # "warning", "error" or ""
    dim: bool = False
    visible: bool | None = None  # State of the eye icon; None for no icon
    speaker: str = ""  # Name of the speaker icon, or ""
    muted: bool = False
    locked: bool = False
    stopped: bool = False  # Shows resume and reset
    children: "list[Entry]" = field(default_factory=list, repr=False)
    parent: "Entry | None" = field(default=None, repr=False)
    row: int = 0  # Index among the children of the parent
    listed: CharacterModel | None = field(default=None, repr=False)  # Model whose parts are the children
    looks: tuple[MaterialLook, ...] = ()  # Material overrides that the rows show
    is_folded: bool = False  # Collapsed by default
    # Number in an index: Qt may keep an index longer than the entry exists
    number: int = field(default_factory=itertools.count(1).__next__, repr=False)

    def add(self, child: "Entry") -> "Entry":
        child.parent, child.row = self, len(self.children)
        self.children.append(child)
        return child


_FOLDED = 3  # colliders of a character that are grouped below one row

_ABSENT = {
    ModelState.WITHHELD: ("not allowed", "Access to the file is not allowed"),
    ModelState.MISSING: ("missing", "The file is missing"),
    ModelState.FAILED: ("failed", "The file could not be read"),
}


BAKED = "Baked: it is played, not simulated."
BAKED_BEFORE = "Baked with other settings; the bake is played."


def view_entry() -> Entry:
    return Entry(
        EntryKind.VIEW, ("view",), "Viewport Settings", "view", Selection(view=True), tip="What the viewport shows"
    )


def scene_entries(
    scene: Scene,
    status_of: Callable[[NodeId], ModelStatus | None],
    stop_reports: Mapping[NodeId, str],
    outdated: frozenset[NodeId] = frozenset(),
) -> list[Entry]:
    """Returns the rows of the scene; a node is below its group or parent and above its parts.

    Three or more colliders of a character are grouped below one row.
    """
    rows = {
        node.id: Entry(EntryKind.NODE, (node.id,), node.name, kind_icon(node.kind), Selection(node=node.id))
        for node in scene.nodes
    }
    roots = []
    below: dict[tuple[NodeId, str], list[NodeId]] = {}
    for node in scene.nodes:
        below.setdefault((scene.parents.get(node.id, ""), node.kind), []).append(node.id)
    folds: dict[tuple[NodeId, str], Entry] = {}
    for node in scene.nodes:
        place = scene.parents.get(node.id, ""), node.kind
        parent = rows.get(place[0])
        if parent is None:
            roots.append(rows[node.id])
            continue
        if ColliderSource in KINDS[node.kind].declared and len(alike := below[place]) >= _FOLDED:
            if scene.node(place[0]).settings.is_group:
                parent.is_folded = True
            elif place not in folds:
                folds[place] = parent.add(_fold_entry(place, alike))
            parent = folds.get(place, parent)
        parent.add(rows[node.id])
    for node in scene.nodes:
        status = status_of(node.id)
        describe_node(
            rows[node.id], node, status, scene, stop_reports.get(node.id, ""), is_outdated=node.id in outdated
        )
        if status is not None and status.model is not None:
            add_model_entries(rows[node.id], node, status.model)
    roots.append(view_entry())
    for row, entry in enumerate(roots):
        entry.row = row
    return roots


def _fold_entry(place: tuple[NodeId, str], nodes: list[NodeId]) -> Entry:
    carrier, kind = place
    name = f"{KINDS[kind].label}s ({len(nodes)})"
    tip = f"{name}\nClick to select all of them."
    return Entry(
        EntryKind.FOLD, (carrier, "fold", kind), name, kind_icon(kind), selection_of(nodes), tip=tip, is_folded=True
    )


def _aimed_bones(scene: Scene, target: NodeId) -> list[str]:
    """Returns the bones that modifiers of characters move to a target."""
    settings = [node.settings for node in scene.characters if isinstance(node.settings, ModelSettings)]
    modifiers = [modifier for held in settings for modifier in held.modifiers]
    bones = [getattr(one, "bone", "") for one in modifiers if getattr(one, "target", "") == target]
    return [bone for bone in bones if bone]


def describe_node(
    entry: Entry, node: Node, status: ModelStatus | None, scene: Scene, stop: str = "", *, is_outdated: bool = False
) -> None:
    """Updates a row of a node, not the rows below; `stop` says why it stopped, `is_outdated` that its bake is old."""
    entry.name, entry.visible, entry.locked = node.name or "unnamed", node.visible, node.locked
    entry.icon, entry.note, entry.mark = kind_icon(node.kind), node.attachment.bone, ""
    if entry.note == node.name:
        entry.note = ""
    if not KINDS[node.kind].can_be_muted and (aimed := _aimed_bones(scene, node.id)):
        entry.note = ", ".join(aimed)
    elif node.settings.is_group:
        entry.note = f"{sum(parent == node.id for parent in scene.parents.values()):,}"
    entry.tip, entry.dim = node.name, node.id not in scene.shown
    if KINDS[node.kind].can_be_muted:
        _describe_simulation(entry, node, scene, stop, is_outdated=is_outdated)
    if not isinstance(node.settings, ModelSettings):
        return
    if status is None or status.state is ModelState.LOADING:
        progress = status.progress if status is not None else None
        entry.icon = "loading"
        entry.note = "loading" if progress is None else f"{progress:.0%}"
        entry.tip = (status.text if status is not None else "") or "Loading the file"
    elif status.state in (ModelState.UPLOADING, ModelState.READY):
        assert status.model is not None
        entry.icon = kind_icon(node.kind) if status.model.skeleton is not None else "model-static"
        entry.note = f"{status.model.mesh.vertex_count:,}"
        entry.tip = f"{node.name}\n{node.settings.path}\n{entry.note} vertices"
        if status.state is ModelState.UPLOADING:
            entry.icon, entry.note = "loading", "preparing"
    else:
        entry.icon, entry.mark = "missing", "error" if status.state is ModelState.FAILED else "warning"
        entry.note, tip = _ABSENT[status.state]
        entry.tip = status.text or tip


def _describe_simulation(entry: Entry, node: Node, scene: Scene, stop: str, *, is_outdated: bool) -> None:
    simulated = node.id in scene.simulated
    entry.muted, entry.dim = node.muted, entry.dim or not simulated
    entry.stopped = bool(stop)
    entry.speaker = "muted" if node.muted else "solo" if node.solo else "audible"
    label = KINDS[node.kind].label.lower()
    state = mute_text(node, simulated) or (f"Solo: every {label} that is not solo is muted." if node.solo else "")
    hint = f"Click the speaker icon to {'unmute' if node.muted else 'mute'} it."
    if stop:
        entry.mark, entry.note = "error", "stopped"
        state = f"Stopped: {stop}\nResume continues from the last valid state, reset returns to the first frame."
    elif node.baked:
        entry.note, entry.mark = ("outdated", "warning") if is_outdated else ("baked", "")
        state = state or (BAKED_BEFORE if is_outdated else BAKED)
    elif hidden_text(node, scene):
        entry.note, state = "hidden, running", hidden_text(node, scene)
    entry.tip = "\n".join(line for line in (entry.tip, state, hint) if line)


def hidden_text(node: Node, scene: Scene) -> str:
    """Returns the note for a hidden node that is simulated; "" for others."""
    runs = bool(KINDS[node.kind].system) and node.id in scene.simulated and node.id not in scene.shown
    return "Hidden, but simulated; mute it to save time." if runs else ""


def mute_text(node: Node, simulated: bool) -> str:
    """Returns why a node is not simulated; "" if it is."""
    if node.muted:
        return "Muted: it is not simulated." if KINDS[node.kind].system else "Muted: nothing collides with it."
    return "" if simulated else f"Muted: another {KINDS[node.kind].label.lower()} is solo."


def add_model_entries(entry: Entry, node: Node, model: CharacterModel) -> None:
    """Appends skeleton, morph targets and materials of a model below its node."""
    entry.listed, node_id = model, node.id
    if model.skeleton is not None and model.skeleton.joint_count:
        _add_skeleton(entry, node_id, model)
    targets = model.mesh.targets
    if targets is not None and targets.settable:
        chosen = Selection(node=node_id)
        group = entry.add(Entry(EntryKind.TARGETS, (node_id, "targets"), "Morph targets", "morph", chosen, dim=True))
        group.is_folded = True
        group.note, group.tip = f"{len(targets.settable):,}", "Set by the sliders in the inspector"
        for name in targets.settable:
            group.add(Entry(EntryKind.TARGET, (node_id, "target", name), name, "morph", chosen, tip=name))
    if model.materials:
        chosen = Selection(node=node_id)
        group = entry.add(Entry(EntryKind.MATERIALS, (node_id, "materials"), "Materials", "material", chosen, dim=True))
        group.note, group.is_folded = f"{len(model.materials):,}", True
        names: set[str] = set()
        for index, material in enumerate(model.materials):
            key = (material.name, str(index)) if material.name in names else (material.name,)
            names.add(material.name)
            chosen = Selection(node=node_id, material=material.name)
            name = material.name or "unnamed"
            group.add(Entry(EntryKind.MATERIAL, (node_id, "material", *key), name, "material", chosen))
        describe_materials(entry, node)


def _add_skeleton(entry: Entry, node_id: NodeId, model: CharacterModel) -> None:
    skeleton = model.skeleton
    assert skeleton is not None
    chosen = Selection(node=node_id)
    group = entry.add(Entry(EntryKind.SKELETON, (node_id, "skeleton"), "Skeleton", "skeleton", chosen, dim=True))
    group.note = f"{skeleton.joint_count:,}"
    group.tip = f"{skeleton.joint_count:,} bones"
    counts = weighted_vertex_counts(model.skin, skeleton.joint_count)
    bones = [_bone_entry(node_id, name, int(counts[joint])) for joint, name in enumerate(skeleton.names)]
    for bone, parent in zip(bones, skeleton.parents.tolist(), strict=True):
        (bones[parent] if parent >= 0 else group).add(bone)


def _bone_entry(node_id: NodeId, name: str, count: int) -> Entry:
    tip = f"{name}\ninfluences {count:,} vertices" if count else f"{name}\ninfluences no vertices"
    chosen = Selection(node=node_id, bone=name)
    note = f"{count:,}" if count else ""
    return Entry(EntryKind.BONE, (node_id, "bone", name), name, "bone", chosen, note=note, tip=tip, dim=not count)


def describe_materials(entry: Entry, node: Node) -> list[Entry]:
    """Updates the rows of the materials of a node; empty if there are none."""
    group = next((child for child in entry.children if child.kind is EntryKind.MATERIALS), None)
    if group is None or entry.listed is None:
        return []
    assert isinstance(node.settings, ModelSettings)
    entry.looks = node.settings.materials
    lost = {name for one in missing_images(entry.listed, entry.looks) for name in one.materials}
    for row, material in zip(group.children, overridden_materials(entry.listed, entry.looks), strict=True):
        row.icon = "texture-missing" if material.name in lost else "material"
        row.mark, row.note = ("warning", "no image") if material.name in lost else ("", "")
        files = ", ".join(file for _, file in material.lost)
        row.tip = f"Not found: {files}" if material.name in lost else material.texture or "No texture"
    return group.children
