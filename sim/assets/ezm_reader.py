"""Reads EZMesh text, both dialects, by walking the tree by element name."""

from dataclasses import dataclass, field
from pathlib import Path

from sim.assets.ezm_motion import read_clip, read_skeleton
from sim.assets.ezm_vertices import read_triangles, read_vertices
from sim.assets.ezm_xml import Element, attributes, local_name, parse_xml, payload
from sim.assets.faults import ElementFault, PartCounter, quoted
from sim.assets.load_watch import LoadWatch
from sim.assets.raw import RawMaterial, RawMesh, RawModel, RawSection, UInt32

ROOTS = ("meshsystem", "mesh", "scenegraph")
_COUNTED = ("mesh", "skeleton", "animation", "material")
# Content that is not drawn: collision shapes hold vertex buffers of their own.
_SKIPPED = {
    "meshcollisionrepresentations", "meshcollisionrepresentation", "meshcollision", "meshcollisionconvex",
    "tetramesh", "tetrameshes", "textures", "userdata", "userbinarydata", "meshinstances", "meshinstance",
    "nodetriangle", "nodeinstance", "meshaabb",
}  # fmt: skip


def read_ezm(data: bytes, path: Path, watch: LoadWatch) -> RawModel:
    """The content of EZMesh text; `path` is only noted.

    Raises:
        ElementFault: For text that is not EZMesh or not usable.
        LoadCancelled: If `watch` says so.
    """
    model = RawModel(path, "ezm", None)
    root = parse_xml(data, model.warnings)
    name = local_name(root)
    if name not in ROOTS:
        raise ElementFault("", f"the root element is {quoted(name)}, not MeshSystem, Mesh or SceneGraph")
    watch.total = len(data)
    watch.advance()
    model.dialect = "MeshSystem" if name == "meshsystem" else "legacy"
    if model.dialect == "MeshSystem":
        attribute = attributes(root)
        model.asset_name = attribute.get("asset_name", "")
        model.asset_info = attribute.get("asset_info", "")
    _ElementWalk(model, watch).container(root)
    return model


@dataclass(slots=True)
class _OpenMesh:
    """A mesh while its elements are read; triangles may precede their buffer."""

    mesh: RawMesh
    number: int
    elements: list[str] = field(default_factory=list)
    sections: list[RawSection] = field(default_factory=list)
    waiting: list[RawSection] = field(default_factory=list)


class _ElementWalk:
    """Fills a `RawModel` from elements in document order."""

    def __init__(self, model: RawModel, watch: LoadWatch) -> None:
        self._model = model
        self._watch = watch
        self._latest: RawMesh | None = None
        self._parts = PartCounter()

    def container(self, root: Element) -> None:
        """Everything below `root`: known elements are read, unknown ones are looked into."""
        pending = [root]
        while pending:
            element = pending.pop()
            name = local_name(element)
            if name in _COUNTED:
                self._parts.add(name)
            if name == "mesh":
                self._read_mesh(element, pending)
            elif name == "skeleton":
                self._model.skeletons.append(read_skeleton(element, self._parts, self._model.warnings))
            elif name == "animation":
                self._model.clips.append(read_clip(element, self._watch, self._parts, self._model.warnings))
            elif name == "material":
                attribute = attributes(element)
                self._model.materials.append(RawMaterial(attribute.get("name", ""), attribute.get("meta_data", "")))
            elif name in ("vertexbuffer", "indexbuffer", "meshsection"):
                self._model.warnings.append(f"A {name} outside a mesh is ignored.")
            elif name not in _SKIPPED:
                pending.extend(reversed(element))

    def _read_mesh(self, element: Element, pending: list[Element]) -> None:
        attribute = attributes(element)
        mesh = RawMesh(attribute.get("name", ""), attribute.get("skeleton", ""), [], [])
        self._model.meshes.append(mesh)
        opened = _OpenMesh(mesh, len(self._model.meshes))
        place = f"mesh {quoted(mesh.name)} (mesh {opened.number})"
        nested = []
        for child in element:
            name = local_name(child)
            if name == "vertexbuffer":
                self._read_buffer(opened, child, place)
            elif name == "indexbuffer":
                self._read_section(opened, child, {}, place)
            elif name == "meshsection":
                self._read_mesh_section(opened, child)
            elif name in ("skeleton", "animation", "mesh", "skeletons", "animations", "materials", "material"):
                nested.append(child)
        self._close(opened, place)
        pending.extend(reversed(nested))

    def _read_mesh_section(self, opened: _OpenMesh, element: Element) -> None:
        attribute = attributes(element)
        place = f"section {quoted(attribute.get('material', ''))} (mesh {opened.number})"
        parts = [(local_name(child), child) for child in element]
        own = any(name == "vertexbuffer" for name, _ in parts)
        before = len(opened.mesh.buffers)
        early = []
        for name, child in parts:
            if name == "vertexbuffer":
                self._read_buffer(opened, child, place)
            elif name == "indexbuffer" and own and len(opened.mesh.buffers) == before:
                early.append(child)
            elif name == "indexbuffer":
                self._read_section(opened, child, attribute, place)
        for child in early:
            self._read_section(opened, child, attribute, place, buffer=before)
        if not any(name == "indexbuffer" for name, _ in parts):
            self._model.warnings.append(f"MeshSection {place} has no indexbuffer.")

    def _read_buffer(self, opened: _OpenMesh, element: Element, place: str) -> None:
        self._parts.add("vertexbuffer")
        title = f"vertexbuffer of {place}"
        text = payload(element)
        vertices = read_vertices(title, attributes(element), text, self._watch, self._model.warnings)
        opened.mesh.buffers.append(vertices)
        self._latest = opened.mesh

    def _read_section(
        self, opened: _OpenMesh, element: Element, attribute: dict[str, str], place: str, buffer: int | None = None
    ) -> None:
        self._parts.add("indexbuffer")
        title = f"indexbuffer of {place}"
        triangles = read_triangles(title, attributes(element), payload(element), self._watch, self._model.warnings)
        latest = len(opened.mesh.buffers) - 1 if buffer is None else buffer
        section = RawSection(attribute.get("material", ""), attribute.get("info", ""), latest, triangles)
        opened.mesh.sections.append(section)
        opened.sections.append(section)
        opened.elements.append(title)
        if latest < 0:
            opened.waiting.append(section)

    def _close(self, opened: _OpenMesh, place: str) -> None:
        """Give sections that came before any buffer theirs, then check all indices."""
        owner = opened.mesh
        if opened.waiting and not owner.buffers:
            if self._latest is None:
                raise ElementFault(opened.elements[0], "there is no vertexbuffer to refer to")
            self._model.warnings.append(f"The sections of {place} belong to the vertexbuffer of an earlier mesh.")
            owner = self._latest
            owner.sections.extend(opened.mesh.sections)
            opened.mesh.sections = []
        for section in opened.waiting:
            section.buffer = 0 if owner is opened.mesh else len(owner.buffers) - 1
        for title, section in zip(opened.elements, opened.sections, strict=True):
            check_indices(title, section.triangles, owner.buffers[section.buffer].count)


def check_indices(element: str, triangles: UInt32, vertex_count: int) -> None:
    """Refuse triangles that point outside their buffer.

    Raises:
        ElementFault: Naming the largest index.
    """
    if triangles.size and (highest := int(triangles.max())) >= vertex_count:
        raise ElementFault(element, f"vertex index {highest} is out of range, there are {vertex_count} vertices")
