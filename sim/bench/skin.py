"""Whole steps of the cape on the walking character: with fitted colliders, and with the skin as a collider."""

import itertools
from functools import partial
from pathlib import Path

from sinew import resources
from sinew.sim.assets.load import load_model
from sinew.sim.assets.scene_assets import SceneAssets
from sinew.sim.bench.runner import GpuBench, Row
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.colliders.state import ColliderShape
from sinew.sim.kinds.cloth.settings import ClothSettings, ClothSource, PinPreset, PinTarget
from sinew.sim.kinds.collider.fit import fit_colliders
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.run.engine import Engine
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Attachment, Node, Scene

SETTLED = 20
"""Steps before the measurement, in which the cape falls on the body."""


def collider_rows(bench: GpuBench, size: int) -> list[Row]:
    """`size` is the number of substeps."""
    models = resources.path("models")
    character, cape = load_model(models / "humanoid" / "humanoid.ezm"), models / "cape" / "cape.ezm"
    mesh = load_model(cape).mesh
    cloth = ClothSettings(
        source=ClothSource.MESH, mesh_path=str(cape), density=0.3, stretch_stiffness=150.0, bend_stiffness=2e-4,
        internal_damping=3e-5, pins=PinPreset.NONE, pin_list="0-22", pin_target=PinTarget.BONE, pin_bone="chest",
        thickness=0.038, substeps=size,
    )  # fmt: skip
    body = Node(id="body", settings=ModelSettings(clip="walk"))
    colliders = {
        "fitted colliders": [
            Node(
                id=one.bone,
                transform=one.transform,
                attachment=Attachment(node="body", bone=one.bone),
                settings=one.settings,
            )
            for one in fit_colliders(character)
        ],
        "skin": [
            Node(id="skin", attachment=Attachment(node="body"), settings=ColliderSettings(shape=ColliderShape.SKIN))
        ],
    }
    steps = {}
    for variant, nodes in colliders.items():
        engine, times = bench.owns(Engine(bench.context, bench.library)), itertools.count(1)
        engine.set_model("body", character, {})
        engine.set_assets(SceneAssets(meshes={Path(cape): mesh}))
        engine.apply(Scene(nodes=(body, Node(id="cape", attachment=Attachment(node="body"), settings=cloth), *nodes)))
        engine.teleport(0.0)
        step = steps[variant] = partial(_step, engine, times)
        for _ in range(SETTLED):
            step()
    return bench.rows(steps, system="colliders", size=size, unit="substeps", steps=10)


def _step(engine: Engine, times: "itertools.count[int]") -> None:
    engine.step(next(times) * STEP_TIME)
