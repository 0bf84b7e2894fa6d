import struct
from pathlib import Path

from sinew.sim.assets.build import build_model
from sinew.sim.assets.load import read_raw
from sinew.sim.assets.model import CharacterModel
from sinew.sim.assets.raw import RawModel

MESH_SYSTEM = """<?xml version="1.0"?>
<MeshSystem asset_name="sample.fbx" asset_info="null" mesh_system_version="1" mesh_system_asset_version="0">
  <MeshAABB min="0,0,0" max="1,1,0"/>
  <Skeletons count="1">
    <Skeleton name="rig" count="3">
      <Bone name="root" orientation="0 0 0 1" position="0 0 0" scale="1 1 1"/>
      <Bone name="arm" parent="root" orientation="0 0 0.707106781 0.707106781" position="1 0 0" scale="1 1 1"/>
      <Bone name="hand" parent="arm" orientation="0 0 0 1" position="0 2 0" scale="1 1.5 1"/>
    </Skeleton>
  </Skeletons>
  <Animations count="1">
    <Animation name="wave" trackcount="2" framecount="3" duration="0.04" dtime="4">
      <AnimTrack name="arm" count="3" has_scale="true">
        1 0 0   0 0 0 1   1 1 1,
        1 0 1   0 0 0.707106781 0.707106781   1 1 1,
        1 0 2   0 0 0 0   1 1 1,
      </AnimTrack>
      <AnimTrack name="root" count="3" has_scale="false">
        0 0 0 0 0 0 1, 0 1 0 0 0 0 1, 0 2 0 0 0 0 1,
      </AnimTrack>
    </Animation>
  </Animations>
  <Materials count="2">
    <Material name="skin" meta_data="diffuse=%20skin.png%20,Ns=30,Kd=(0.5,0.25,1),Ks=(0.1,0.2,0.3)"/>
    <Material name="plain" meta_data=""/>
  </Materials>
  <Meshes count="1">
    <Mesh name="body" skeleton="null" submesh_count="2">
      <vertexbuffer count="4" ctype="fff fff x4 ff ffff hhhh"
          semantic="position normal color texcoord1 blendweights blendindices">
        0 0 0 0 0 1 FFFF8000 0 0 1 0 0 0 0 0 0 0,
        1 0 0 0 0 1 80FFFFFF 1 0 0.75 0.25 0 0 1 0 7 9,
        1 1 0 0 0 1 00000000 1 1 0.5 0.25 0.25 0 2 1 0 0,
        0 1 0 0 0 1 FF0000FF 0 1 1 0 0 0 1 0 0 0,
      </vertexbuffer>
      <MeshSection material="skin" ctype="fff" semantic="position">
        <indexbuffer triangle_count="1">0 1 2,</indexbuffer>
      </MeshSection>
      <MeshSection material="plain" ctype="fff" semantic="position">
        <indexbuffer triangle_count="1">0 2 3,</indexbuffer>
      </MeshSection>
    </Mesh>
  </Meshes>
</MeshSystem>
"""

LEGACY = """<SceneGraph name="scene">
  <Mesh name="C:\\art\\thing.gr2">
    <Animation name="idle" trackcount="2" framecount="2" duration="0.033333335" dtime="0.016666668">
      <AnimTrack name="tip" count="2">0 1 0 0 0 0 1, 0 1 1 0 0 0 -1,</AnimTrack>
      <AnimTrack name="base" count="2">0 0 0 0 0 0 1 0 0 0 0 0 0 1</AnimTrack>
    </Animation>
    <Skeleton name="base" count="2">
      <Bone name="base" orientation="0 0 0 1" position="0 0 0"/>
      <Bone name="tip" parent="base" orientation="0 0 0 1" position="0 1 0"/>
    </Skeleton>
    <MeshSection material="head.tga" info="E:\\soldier\\head_old.tga">
      <vertexbuffer count="3" ctype="fff fff ff ff ffff hhhh"
          semantic="position normal texcoord texcoord blendweights blendindices">
        0 0 0  0 0 1  0 0  0 0  1 0 0 0  0 0 0 0,
        1 0 0  0 0 1  1 0  1 0  1 0 0 0  1 0 0 0,
        0 1 0  0 0 1  0 1  0 1  0.5 0.5 0 0  0 1 0 0,
      </vertexbuffer>
      <indexbuffer count="1">0 1 2</indexbuffer>
    </MeshSection>
    <MeshSection material="body.tga">
      <vertexbuffer count="4" ctype="fff fff ff ff ffff hhhh"
          semantic="position normal texcoord texcoord blendweights blendindices">
        0 0 1  0 0 1  0 0  0 0  1 0 0 0  0 0 0 0,
        1 0 1  0 0 1  1 0  1 0  1 0 0 0  1 0 0 0,
        0 1 1  0 0 1  0 1  0 1  1 0 0 0  1 0 0 0,
        9 9 9  0 0 1  0 1  0 1  1 0 0 0  1 0 0 0,
      </vertexbuffer>
      <indexbuffer count="1">2 0 1</indexbuffer>
    </MeshSection>
    <TetraMesh count="1" ctype="fff fff fff fff" semantic="position position position position">
      0 0 0 1 0 0 0 1 0 0 0 1
    </TetraMesh>
  </Mesh>
</SceneGraph>
"""


def read_text(folder: Path, text: str | bytes, name: str = "model.ezm") -> RawModel:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_raw(path)


def load_text(folder: Path, text: str | bytes, name: str = "model.ezm") -> CharacterModel:
    return build_model(read_text(folder, text, name))


def mesh_text(
    vertices: str, *, ctype: str = "fff", semantic: str = "position", count: int | str = 3, triangles: str = "0 1 2"
) -> str:
    return (
        f'<MeshSystem><Meshes><Mesh name="m"><vertexbuffer count="{count}" ctype="{ctype}" semantic="{semantic}">'
        f'{vertices}</vertexbuffer><MeshSection material="stone"><indexbuffer triangle_count="1">{triangles}'
        "</indexbuffer></MeshSection></Mesh></Meshes></MeshSystem>"
    )


def skeleton_text(bones: str, *, tracks: str = "", animation: str = 'name="a" duration="1" dtime="1"') -> str:
    """A MeshSystem file with a skeleton, an animation where `tracks` are given, and one triangle."""
    motion = f"<Animations><Animation {animation}>{tracks}</Animation></Animations>" if tracks else ""
    return mesh_text("0 0 0 1 0 0 0 1 0").replace(
        "<Meshes>", f'<Skeletons><Skeleton name="s">{bones}</Skeleton></Skeletons>{motion}<Meshes>'
    )


def bone_text(name: str, parent: str | None = None, position: str = "0 0 0") -> str:
    link = "" if parent is None else f' parent="{parent}"'
    return f'<Bone name="{name}"{link} orientation="0 0 0 1" position="{position}"/>'


_EZB_FIELDS = (
    (0, "position", "f4"), (1, "normal", "f4"), (2, "color", "u4"), (3, "texcoord1", "f4"), (4, "texcoord2", "f4"),
    (5, "texcoord3", "f4"), (6, "texcoord4", "f4"), (7, "tangent", "f4"), (8, "binormal", "f4"),
    (9, "blendindices", "u2"), (9, "blendweights", "f4"), (10, "radius", "f4"),
    *((10 + number, f"interp{number}", "f4") for number in range(1, 9)),
)  # fmt: skip


def ezb_bytes(raw: RawModel) -> bytes:
    """`raw`, with one vertex buffer a mesh, as binary EZMesh; written from the format's description alone."""
    out = [struct.pack(">I", 101), _string("EZMESH"), _string(raw.asset_name), _string(raw.asset_info)]
    out.append(struct.pack(">2i6f", 1, 0, *(0.0,) * 6))
    out.append(struct.pack(">I", 1) + _string("baked") + struct.pack(">4I", 1, 1, 4, 4) + b"rgba")
    out.append(struct.pack(">2I", 0, len(raw.skeletons)))
    for skeleton in raw.skeletons:
        out += [_string(skeleton.name), struct.pack(">I", len(skeleton.bones))]
        for bone in skeleton.bones:
            values = (*bone.position, *bone.orientation, *bone.scale)
            out += [_string(bone.name), struct.pack(">i10f", bone.parent, *values)]
    out.append(struct.pack(">I", len(raw.clips)))
    for clip in raw.clips:
        head = struct.pack(">2i2f", len(clip.tracks), clip.frame_count, clip.duration, clip.frame_step)
        out += [_string(clip.name), head, *(_ezb_track(track) for track in clip.tracks)]
    out.append(struct.pack(">I", len(raw.materials)))
    out += [_string(material.name) + _string(material.meta_data) for material in raw.materials]
    out.append(struct.pack(">I", 1) + _string("key") + _string("value"))
    out.append(struct.pack(">I", 1) + _string("blob") + struct.pack(">I", 3) + b"xyz")
    out.append(struct.pack(">I", len(raw.meshes)))
    out += [_ezb_mesh(mesh) for mesh in raw.meshes]
    out.append(struct.pack(">I", 1) + _string("body") + struct.pack(">10f", *(0.0,) * 10))
    out.append(struct.pack(">I4f", 0, 0.0, 1.0, 0.0, 0.0))
    return b"".join(out)


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">I", len(data)) + data


def _ezb_track(track) -> bytes:
    count = len(track.positions)
    head = _string(track.name) + struct.pack(">i2f", count, 1.0, 1.0)
    scales = track.scales if track.scales is not None else [(1.0, 1.0, 1.0)] * count
    poses = zip(track.positions, track.orientations, scales, strict=True)
    return head + b"".join(struct.pack(">10f", *position, *turn, *scale) for position, turn, scale in poses)


def _ezb_mesh(mesh) -> bytes:
    (buffer,) = mesh.buffers
    out = [_string(mesh.name), _string(mesh.skeleton), struct.pack(">6fI", *(0.0,) * 6, len(mesh.sections))]
    for section in mesh.sections:
        out += [_string(section.material), struct.pack(">6f2I", *(0.0,) * 6, 0, len(section.triangles))]
        out.append(section.triangles.astype(">u4").tobytes())
    fields = [field for field in _EZB_FIELDS if field[1] in buffer.attributes]
    flags = sum(1 << bit for bit in {bit for bit, _, _ in fields})
    out.append(struct.pack(">2I", flags, buffer.count))
    columns = [buffer.attributes[name].astype(f">{kind}") for _, name, kind in fields]
    out += [column[vertex : vertex + 1].tobytes() for vertex in range(buffer.count) for column in columns]
    return b"".join(out)
