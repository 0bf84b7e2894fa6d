"""Files made to exhaust time or memory are refused, or read in time that grows with their size only.

Each of these took minutes, or gigabytes, with a careless reader; a relapse runs into the time limit of the tests.
"""

from pathlib import Path

import pytest

from sim.assets.raw import ModelError
from tests.ezm_samples import bone_text, load_text, mesh_text, skeleton_text

BUFFER = '<vertexbuffer count="3" ctype="fff" semantic="position">0 0 0 1 0 0 0 1 0</vertexbuffer>'
MANY = 200_000


@pytest.mark.parametrize(
    ("element", "kind"),
    [
        ("<Mesh/>", "mesh"),
        ("<Skeleton/>", "skeleton"),
        ("<Animation/>", "animation"),
        ("<Material/>", "material"),
        (f"<Mesh>{BUFFER}</Mesh>", "mesh"),
    ],
)
def test_parts_of_a_file_are_limited(tmp_path: Path, element: str, kind: str) -> None:
    with pytest.raises(ModelError, match=f": {kind}: there are more than 8192"):
        load_text(tmp_path, f"<MeshSystem>{element * 10_000}</MeshSystem>")


@pytest.mark.parametrize(
    "part", [BUFFER, '<indexbuffer count="0"/>', '<MeshSection><indexbuffer count="0"/></MeshSection>']
)
def test_parts_of_a_mesh_are_limited(tmp_path: Path, part: str) -> None:
    with pytest.raises(ModelError, match=r"(vertexbuffer|indexbuffer): there are more than 8192"):
        load_text(tmp_path, f"<MeshSystem><Mesh>{BUFFER}{part * 10_000}</Mesh></MeshSystem>")


def test_tracks_are_limited(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="AnimTrack: there are more than 131072"):
        load_text(tmp_path, f"<MeshSystem><Animation>{'<AnimTrack/>' * 140_000}</Animation></MeshSystem>")


@pytest.mark.parametrize("attribute", ["ctype", "semantic"])
def test_layouts_are_limited(tmp_path: Path, attribute: str) -> None:
    with pytest.raises(ModelError, match="ctype or semantic has more than 2048 characters"):
        load_text(tmp_path, mesh_text("0", **{attribute: "texcoord " * 100_000}))


def test_attributes_are_limited(tmp_path: Path) -> None:
    attributes = " ".join(f'a{number}="<>"'.replace("<", "") for number in range(MANY))
    with pytest.raises(ModelError, match="an element has more than 500 attributes"):
        load_text(tmp_path, f"<MeshSystem {attributes}/>")


@pytest.mark.parametrize(
    "text", ["diffuse=x" + " " * MANY, "diffuse=" + " " * MANY + "x" + "%20" * MANY + "y", "(" * MANY, "," * MANY]
)
def test_descriptions_take_linear_time(tmp_path: Path, text: str) -> None:
    model = load_text(tmp_path, f'<MeshSystem><Material name="a" meta_data="{text}"/></MeshSystem>')
    assert model.materials[0].texture_path is None


def test_equal_names_take_linear_time(tmp_path: Path) -> None:
    model = load_text(tmp_path, skeleton_text(bone_text("a") * 8000))
    assert model.skeleton is not None
    assert len(set(model.skeleton.names)) == 8000


def test_a_chain_as_long_as_allowed(tmp_path: Path) -> None:
    chain = "".join(bone_text(str(number), str(number - 1)) for number in range(8192))
    model = load_text(tmp_path, skeleton_text(chain))
    assert model.skeleton is not None
    assert len(model.skeleton.levels) == 8191


def test_a_shared_buffer_is_not_multiplied(tmp_path: Path) -> None:
    meshes = '<Mesh><indexbuffer count="1">0 1 2</indexbuffer></Mesh>' * 8000
    model = load_text(tmp_path, f"<MeshSystem><Mesh>{BUFFER}</Mesh>{meshes}</MeshSystem>")
    assert (model.mesh.vertex_count, model.mesh.triangle_count) == (3, 8000)


@pytest.mark.parametrize("payload", ["x" * 2_000_000, "," * 2_000_000, " " * 2_000_000, "1$ " * MANY, "1.2.3 " * MANY])
def test_payloads_without_numbers(tmp_path: Path, payload: str) -> None:
    with pytest.raises(ModelError, match=r"vertexbuffer of mesh 'm' \(mesh 1\): "):
        load_text(tmp_path, mesh_text(payload))
