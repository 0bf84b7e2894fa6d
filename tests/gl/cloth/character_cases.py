from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from sinew.app.kinds.cloth.section import section_cloth
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import upright_mesh
from sinew.sim.assets.scene_assets import SceneAssets
from sinew.sim.characters.character import Character
from sinew.sim.characters.reference import skin
from sinew.sim.characters.settings import ModelSettings, UpAxis
from sinew.sim.gl.context import Context
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.surface import section_triangles
from sinew.sim.kinds.cloth.system import ClothSystem
from sinew.sim.maths.transform import transform_points
from sinew.sim.run.engine import Engine
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.playback import PlaybackSettings, Playhead, stepped
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.transform import Transform, node_matrix
from sinew.sim.scene.world_transforms import WorldTransforms, carrier_of, relative_transform

COLUMNS, ROWS, FRAMES, WAY = 5, 7, 61, 6.0
"""A banner on a pole that goes so far [m] in a clip of one second, leans and comes back to where it was."""


def runner_text() -> str:
    """The character as EZMesh text: a section `banner` that leans with the bone `pole`, and a section `body`."""
    x, y = np.meshgrid(np.linspace(-0.3, 0.3, COLUMNS), np.linspace(1.8, 0.9, ROWS))
    banner = [(a, b, -0.15, (b - 0.9) / 0.9) for a, b in zip(x.ravel(), y.ravel(), strict=True)]
    body = [(-0.3, 0.9, 0.0, 0.0), (0.3, 0.9, 0.0, 0.0), (0.3, 1.8, 0.0, 1.0), (-0.3, 1.8, 0.0, 1.0)]
    vertices = [f"{a:g} {b:g} {c:g} 0 0 1 {a:g} {b:g} {w:g} {1 - w:g} 0 0 1 0 0 0" for a, b, c, w in banner + body]
    corners = [row * COLUMNS + column for row in range(ROWS - 1) for column in range(COLUMNS - 1)]
    cells = [f"{a} {a + COLUMNS} {a + 1}, {a + 1} {a + COLUMNS} {a + COLUMNS + 1}" for a in corners]
    n = len(banner)
    sections = {"banner": cells, "body": [f"{n} {n + 1} {n + 2}, {n} {n + 2} {n + 3}"]}
    share = np.linspace(0.0, 1.0, FRAMES)
    lean = 0.3 + 0.4 * share
    poles = [f"0 0.8 0 {np.sin(a):.9g} 0 0 {np.cos(a):.9g}" for a in lean]
    hips = [f"{WAY * s:.9g} 1 0 0 0 0 1" for s in share]
    tracks = "".join(
        f'<AnimTrack name="{name}" count="{FRAMES}" has_scale="false">{", ".join(keys)}</AnimTrack>'
        for name, keys in (("hips", hips), ("pole", poles))
    )
    drawn = "".join(
        f'<MeshSection material="{name}" ctype="fff" semantic="position">'
        f'<indexbuffer triangle_count="{2 * len(cells)}">{", ".join(cells)}</indexbuffer></MeshSection>'
        for name, cells in sections.items()
    )
    return (
        '<MeshSystem><Skeletons><Skeleton name="rig">'
        '<Bone name="hips" orientation="0 0 0 1" position="0 1 0"/>'
        '<Bone name="pole" parent="hips" orientation="0 0 0 1" position="0 0.8 0"/></Skeleton></Skeletons>'
        f'<Animations><Animation name="run" trackcount="2" framecount="{FRAMES}" duration="1" dtime="{1 / 60:.9g}">'
        f'{tracks}</Animation></Animations><Meshes><Mesh name="m" skeleton="rig">'
        f'<vertexbuffer count="{len(vertices)}" ctype="fff fff ff ffff hhhh" '
        f'semantic="position normal texcoord1 blendweights blendindices">{", ".join(vertices)}</vertexbuffer>'
        f"{drawn}</Mesh></Meshes></MeshSystem>"
    )


def runner(folder: Path) -> Path:
    path = folder / "runner.ezm"
    path.write_text(runner_text(), encoding="utf-8")
    return path


class ClothedCharacter:
    """A character and one cloth in an engine, stepped as the editor and the command line do."""

    def __init__(self, context: Context, path: Path, **settings: Any) -> None:
        self.model = load_model(path)
        self.character_node = Node(id="character", name="Character", settings=ModelSettings(path=str(path), **settings))
        self.cloth_node: Node | None = None
        self.engine = Engine(context)
        self.engine.set_model("character", self.model, {})
        self.engine.set_assets(SceneAssets(meshes={path: upright_mesh(self.model)}))
        self.playhead = Playhead(0.0, True, 1)

    @property
    def system(self) -> ClothSystem:
        system = self.engine.simulation.systems["cloth"]
        assert isinstance(system, ClothSystem)
        return system

    @property
    def cloth(self) -> Cloth:
        assert self.system.cloth is not None
        return self.system.cloth

    @property
    def character(self) -> Character:
        found = self.engine.views.characters.get("character")
        assert found is not None
        return found

    def section(self, name: str, **settings: Any) -> Node:
        made = section_cloth(
            self.character_node, self.model, name, WorldTransforms(Scene(nodes=(self.character_node,)), {})
        )
        assert isinstance(made, Node)
        return msgspec.structs.replace(
            made, id="cloth", name="Cloth", settings=msgspec.structs.replace(made.settings, **settings)
        )

    def apply(self, node: Node, character: Node | None = None, **changes: Any) -> None:
        self.character_node = character or self.character_node
        settings = msgspec.structs.replace(node.settings, **changes)
        self.cloth_node = msgspec.structs.replace(node, settings=settings)
        self.engine.apply(Scene(nodes=(self.character_node, self.cloth_node)))

    def change(self, **changes: Any) -> None:
        assert self.cloth_node is not None
        self.apply(self.cloth_node, **changes)

    def teleport(self, time: float) -> None:
        self.playhead = Playhead(time, True, 1)
        self.engine.teleport(time)

    def step(self, count: int = 1) -> None:
        for _ in range(count):
            self.playhead = stepped(self.playhead, PlaybackSettings(), self.model.clips[0].duration)
            self.engine.step(self.playhead.time)

    def positions(self) -> np.ndarray:
        return self.cloth.positions().astype(np.float64)

    def skinned(self) -> np.ndarray:
        """Where the vertices behind the particles are now, in double precision, shape (P, 3)."""
        character, settings = self.character, self.character_node.settings
        assert isinstance(settings, ModelSettings)
        pose, mesh = character.pose, self.model.mesh
        shape = pose.local.weights, pose.warps
        body = skin(mesh, self.model.skin, pose.palette, settings.skinning, pose.centres, *shape).positions
        vertices = np.unique(section_triangles(mesh, self.cloth.settings.mesh_section))
        _, first = np.unique(self.cloth.model.particle_of_vertex, return_index=True)
        return transform_points(character.world_from_model, body[vertices[first]])

    def release(self) -> None:
        self.engine.release()


def attached(cloth: Node, character: Node) -> Node:
    transform = relative_transform(node_matrix(cloth.transform), carrier_of(character.transform))
    return msgspec.structs.replace(cloth, transform=transform, attachment=Attachment(node=character.id))


def moved(node: Node, way: Iterable[float]) -> Node:
    x, y, z = np.add(node.transform.position, tuple(way)).tolist()
    return msgspec.structs.replace(node, transform=msgspec.structs.replace(node.transform, position=(x, y, z)))


STEP = STEP_TIME
UPRIGHT: dict[str, Any] = {"up_axis": UpAxis.Y}
PLACE = Transform(position=(0.0, 1.8, -0.2))
