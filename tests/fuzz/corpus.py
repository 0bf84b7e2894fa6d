"""The files that get damaged: hand-made ones, and the real ones where they are at hand, big ones made small."""

import base64
import importlib.util
import json
import tempfile
from pathlib import Path

from sinew.sim.assets.gltf.file import split_file
from sinew.sim.assets.load import read_raw
from sinew.sim.assets.raw import RawMesh, RawModel, RawSection, RawTrack, RawVertices
from sinew.sim.export.ezm import ezm_text
from tests import frame_samples
from tests.ezm_samples import LEGACY, MESH_SYSTEM, ezb_bytes
from tests.gltf_samples import morphing, skinned

SMALL_BYTES = 100_000
_VERTICES, _FRAMES = 60, 4


def corpus(assets: Path | None) -> dict[str, bytes]:
    found = {"mesh-system.ezm": MESH_SYSTEM.encode(), "legacy.ezm": LEGACY.encode()}
    for path in sorted((assets / "ezm").glob("*/*.ez[mb]")) if assets else []:
        data = path.read_bytes()
        if len(data) <= SMALL_BYTES:
            found[path.name] = data
        else:
            small = shrunk(read_raw(path))
            found[path.name] = ezb_bytes(small) if path.suffix == ".ezb" else ezm_text(small).encode()
            if small.dialect == "legacy":
                found[path.name] = _first_sections(data)
    found |= {"skinned.glb": skinned().data(), "morphing.glb": morphing().data()}
    for path in sorted((assets / "gltf").rglob("*.gl*")) if assets else []:
        data = path.read_bytes()
        if path.suffix == ".glb" and len(data) <= SMALL_BYTES and not needs_package(data):
            found[path.name] = data
    # Damage to the JSON of a binary file is mostly damage to its frame; text shows what the values do.
    found |= {Path(name).stem + ".gltf": as_text(data) for name, data in found.items() if name.endswith(".glb")}
    with tempfile.TemporaryDirectory() as folder:
        found |= {path.name: path.read_bytes() for path in frame_samples.write_all(Path(folder)).values()}
    if "dude.ezm" in found:
        found["dude.ezb"] = ezb_bytes(shrunk(read_raw(assets / "ezm" / "dude" / "dude.ezm")))
    return found


def chosen(files: dict[str, bytes], suffixes: str) -> dict[str, bytes]:
    return {name: data for name, data in files.items() if not suffixes or name.endswith(tuple(suffixes.split(",")))}


def needs_package(data: bytes) -> bool:
    packages = {b"EXT_meshopt_compression": "meshopt", b"KHR_draco_mesh_compression": "DracoPy"}
    return any(key in data and importlib.util.find_spec(name) is None for key, name in packages.items())


def as_text(data: bytes) -> bytes:
    text, binary = split_file(data)
    document = json.loads(text)
    if binary is not None:
        document["buffers"][0]["uri"] = "data:;base64," + base64.b64encode(binary).decode()
    return json.dumps(document).encode()


def shrunk(raw: RawModel) -> RawModel:
    """`raw` with the first vertices, the triangles between them and the first poses only."""
    for clip in raw.clips:
        clip.frame_count = min(clip.frame_count, _FRAMES)
        clip.tracks = [_shrunk_track(track) for track in clip.tracks]
    raw.meshes = [_shrunk_mesh(mesh) for mesh in raw.meshes]
    return raw


def _shrunk_track(track: RawTrack) -> RawTrack:
    scales = None if track.scales is None else track.scales[:_FRAMES]
    return RawTrack(track.name, track.positions[:_FRAMES], track.orientations[:_FRAMES], scales)


def _shrunk_mesh(mesh: RawMesh) -> RawMesh:
    buffers = [
        RawVertices(
            min(buffer.count, _VERTICES), {key: values[:_VERTICES] for key, values in buffer.attributes.items()}
        )
        for buffer in mesh.buffers
    ]
    sections = []
    for section in mesh.sections:
        inside = (section.triangles < buffers[section.buffer].count).all(axis=1)
        sections.append(RawSection(section.material, section.info, section.buffer, section.triangles[inside]))
    return RawMesh(mesh.name, mesh.skeleton, buffers, sections)


def _first_sections(data: bytes) -> bytes:
    """A legacy file up to its second section, since rewriting it would change the dialect."""
    end = b"</MeshSection>"
    if len(data.split(end)[0]) > SMALL_BYTES:
        return data
    tail = b"</Mesh></SceneGraph>" if b"<SceneGraph" in data else b"</Mesh>"
    return end.join(data.split(end)[:2]) + end + tail
