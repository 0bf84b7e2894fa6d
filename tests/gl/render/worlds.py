import gc
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sinew.sim.assets.build_skeleton import build_skeleton
from sinew.sim.assets.clip import UniformClip
from sinew.sim.assets.model import CharacterModel, Mesh, Skeleton, Skin
from sinew.sim.characters.settings import DoubleSided, ModelSettings
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.render.render_view import Overlay
from sinew.sim.render.surface import Images
from sinew.sim.run.engine import Engine
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.vectors import Vec3
from sinew.sim.scene.view import ViewSettings
from tests.model_samples import mesh_of, model_of

BARE = {"grid": False, "axes": False, "samples": 0}
"""View settings that leave nothing but surfaces, shadow and background, without smoothed edges."""

FACES = np.array([[0, 1, 2], [0, 2, 3]])


def quad(width: float = 2.0, height: float = 2.0, centre: Vec3 = (0.0, 1.5, 0.0), material: int = -1) -> Mesh:
    corners = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
    positions = np.column_stack([corners * [width, height], np.zeros(4)]) + centre
    return mesh_of(positions, FACES, texcoords=corners + 0.5, material=material)


def floating_square(size: float, height: float) -> Mesh:
    corners = np.array([[-0.5, -0.5], [-0.5, 0.5], [0.5, 0.5], [0.5, -0.5]]) * size
    positions = np.column_stack([corners[:, 0], np.full(4, height), corners[:, 1]])
    return mesh_of(positions, FACES, normals=np.tile([0.0, 1.0, 0.0], (4, 1)))


def straight_skeleton(joint_count: int, length: float) -> Skeleton:
    step = length / max(joint_count - 1, 1)
    positions = np.tile([0.0, step, 0.0], (joint_count, 1))
    positions[0] = 0.0
    still = np.tile([0.0, 0.0, 0.0, 1.0], (joint_count, 1))
    names = [f"joint {index}" for index in range(joint_count)]
    return build_skeleton(names, np.arange(-1, joint_count - 1), positions, still, np.ones((joint_count, 3)))


def twisted_bar(turn: float = 150.0, rings: int = 13, sides: int = 12) -> CharacterModel:
    """An upright tube of two joints; its clip of one second twists the upper end by `turn` degrees.

    Blending matrices thins the middle, dual quaternions keep it: the two methods differ by much.
    """
    heights, angles = np.linspace(0.0, 2.0, rings), np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    around = np.column_stack([np.cos(angles), np.zeros(sides), np.sin(angles)])
    positions = np.concatenate([around * 0.4 + [0.0, height, 0.0] for height in heights])
    base = (np.arange(rings - 1)[:, None] * sides + np.arange(sides)).ravel()
    beside = (np.arange(rings - 1)[:, None] * sides + (np.arange(sides) + 1) % sides).ravel()
    triangles = np.concatenate(
        [np.column_stack([base, base + sides, beside]), np.column_stack([beside, base + sides, beside + sides])]
    )
    mesh = mesh_of(positions, triangles, normals=np.tile(around, (rings, 1)))
    upper = np.clip(mesh.positions[:, 1] / 2.0, 0.0, 1.0)
    weights = np.zeros((len(positions), 4), np.float32)
    weights[:, 0], weights[:, 1] = 1.0 - upper, upper
    joints = np.tile(np.array([0, 1, 0, 0], np.uint16), (len(positions), 1))
    half = np.radians(turn) / 2.0
    keys = np.array([[[0, 0, 0, 1], [0, 0, 0, 1]], [[0, 0, 0, 1], [0, np.sin(half), 0, np.cos(half)]]])
    places = np.tile(np.array([[0.0, 0.0, 0.0], [0.0, 2.0, 0.0]]), (2, 1, 1))
    clip = UniformClip("twist", 1.0, places, keys, np.ones((2, 2, 3)))
    return model_of(mesh, skeleton=straight_skeleton(2, 2.0), skin=Skin(joints, weights, 2), clips=[clip])


def many_bones(joint_count: int) -> CharacterModel:
    skeleton = straight_skeleton(joint_count, 2.0)
    heights = skeleton.model_from_bind[:, 1, 3]
    corners = np.array([[-0.2, 0.0, 0.0], [0.2, 0.0, 0.0], [0.0, 0.1, 0.0]])
    positions = (corners[None] + np.column_stack([0 * heights, heights, 0 * heights])[:, None]).reshape(-1, 3)
    mesh = mesh_of(positions, np.arange(3 * joint_count))
    joints = np.zeros((len(positions), 4), np.uint16)
    joints[:, 0] = np.repeat(np.arange(joint_count), 3)
    weights = np.tile(np.array([1.0, 0.0, 0.0, 0.0], np.float32), (len(positions), 1))
    half = np.radians(60.0 / joint_count) / 2.0
    bent = np.tile([0.0, 0.0, np.sin(half), np.cos(half)], (joint_count, 1))
    keys = np.stack([skeleton.bind_orientations, bent])
    clip = UniformClip("bend", 1.0, np.stack([skeleton.bind_positions] * 2), keys, np.ones((2, joint_count, 3)))
    return model_of(mesh, skeleton=skeleton, skin=Skin(joints, weights, 1), clips=[clip])


def model_node(node_id: str = "model", **changes: object) -> Node:
    """A model node, drawn from both sides; fields of `Node` and of `ModelSettings` may be given."""
    changes.setdefault("double_sided", DoubleSided.ON)
    of_node = {key: changes.pop(key) for key in ("visible", "transform") if key in changes}
    return Node(id=node_id, name=node_id, settings=ModelSettings(**changes), **of_node)


def light_node(position: Vec3, node_id: str = "light", **settings: object) -> Node:
    return Node(id=node_id, transform=Transform(position=position), settings=LightSettings(**settings))


FRONT = Camera(target=(0.0, 1.5, 0.0), yaw=0.0, pitch=0.0, distance=6.0)


@dataclass
class Stage:
    engine: Engine  # what draws
    output: Framebuffer  # where to

    def show(
        self,
        models: dict[str, CharacterModel],
        *nodes: Node,
        images: Images | None = None,
        time: float = 0.0,
        **view: object,
    ) -> None:
        """Uploads models by node id and advances to a time; nodes are made for models that have none."""
        given = {node.id for node in nodes}
        made = [model_node(node_id) for node_id in models if node_id not in given]
        for node_id, model in models.items():
            self.engine.set_model(node_id, model, images or {})
        self.look(*made, *nodes, time=time, **view)

    def look(self, *nodes: Node, time: float = 0.0, **view: object) -> None:
        """Applies a scene of these nodes and view settings (`BARE` unless given), and advances."""
        self.engine.apply(Scene(nodes=nodes, view=ViewSettings(**(BARE | view))))
        self.engine.advance(time)

    def picture(self, camera: Camera = FRONT, overlay: Overlay | None = None, *, draft: bool = False) -> np.ndarray:
        """RGB with the top row first, shape (height, width, 3), as signed numbers."""
        self.engine.draw(self.output, camera, overlay, draft=draft)
        return self.output.read_pixels(flip=True)[:, :, :3].astype(np.int16)

    def resize(self, width: int, height: int) -> None:
        self.output.release()
        self.output = Framebuffer(self.engine.context, (width, height), label="test output")

    def release(self) -> None:
        self.engine.release()
        self.output.release()


def make_stage(context: Context, library: ShaderLibrary | None = None, size: tuple[int, int] = (160, 120)) -> Stage:
    return Stage(Engine(context, library), Framebuffer(context, size, label="test output"))


def pixel_of(camera: Camera, size: tuple[int, int], point: Sequence[float]) -> tuple[int, int]:
    width, height = size
    clip = camera.clip_from_world(width / height, 0.01, 1000.0) @ np.append(np.asarray(point, float), 1.0)
    x, y = clip.xy / clip.w
    return int((x + 1.0) / 2.0 * width), int((1.0 - y) / 2.0 * height)


def alive(context: Context) -> list[str]:
    gc.collect()
    context.collect()
    return sorted(context.live)
