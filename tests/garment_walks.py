"""Walks of characters in garments that the Add menu makes, measured by the winding number of the skin.

    python -m tests.garment_walks [NAME ...] [--garment skirt] [--set NAME=VALUE] [--out FOLDER]

prints a line for each case of `CASES` whose name contains one of the names.
"""

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import sinew
from sinew import resources
from sinew.app.api.nodes import ProjectNode
from sinew.app.api.project import Project
from sinew.app.failure.errors import CommandError
from sinew.sim.assets.humanoid import bones_of
from sinew.sim.characters.reference import shaped_mesh, skin
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.colliders.skin_mesh import body_sections, skin_corners
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.new_garment import ARMS
from sinew.sim.kinds.cloth.springs import SpringKind
from sinew.sim.kinds.cloth.stability import ERROR, MARGIN, ClothStability, line_stability
from sinew.sim.maths.arrays import Bool, Float64
from sinew.sim.maths.transform import transform_points
from sinew.sim.skin.attachment import attach, closest_weights
from tests.conftest import REPO_ROOT
from tests.oracles.skin import windings

ASSETS = Path(os.environ.get("SINEW_ASSETS") or REPO_ROOT.parent / "shared" / "assets")

IN_BODY, IN_ARMS, STRAIN = 0.010, 0.020, 0.1
"""Bounds that a garment keeps: depth in the body and in the arms [m], strain."""

BEHIND = 0.05
"""A particle that is further behind a garment does not belong to that side of it [m]."""


@dataclass(frozen=True)
class Case:
    """A character and a motion.

    Attributes:
        path: Of the model, in the folder of the assets; in the models of the product with "models/" before it.
        motion: File of a motion, in the assets.
        tall: Height that the model is scaled to [m]; 0 for its own.
        first: Frame that the scene starts at.
        hidden: Sections of the model that are hidden.
        arm_space: Of a motion that puts the arms into the body [°].
    """

    path: str
    clip: str = ""
    motion: str = ""
    tall: float = 0.0
    first: int = 0
    hidden: str = ""
    arm_space: float = 0.0


CASES = {
    "humanoid": Case("models/humanoid/humanoid.ezm", "walk", hidden="hair"),
    "humanoid-turn": Case("models/humanoid/humanoid.ezm", "turn", hidden="hair"),
    "humanoid-wave": Case("models/humanoid/humanoid.ezm", "wave", hidden="hair"),
    "arnaud": Case("fbx/ozz/pab_arnaud.fbx", motion="fbx/ozz/pab_walk.fbx"),
    "cesium": Case("gltf/CesiumMan/glTF-Binary/CesiumMan.glb"),
    "dude": Case("ezm/dude/dude.ezm", tall=1.8),
    "godette": Case("vrm/Godette_vrm_v4.vrm", motion="bvh/cmu_12_01_walk.bvh", first=3),
    "kenney": Case("fbx/ufbx/maya_kenney_character_7700_binary.fbx", tall=1.8),
    "soldier": Case("ezm/character/character.ezm", motion="bvh/cmu_12_01_walk.bvh", first=3, arm_space=15.0),
    "rigged": Case("gltf/RiggedFigure/glTF-Binary/RiggedFigure.glb"),
    "arnaud-bvh": Case("fbx/ozz/pab_arnaud.fbx", motion="bvh/cmu_12_01_walk.bvh", first=3),
    "humanoid-climb": Case("models/humanoid/humanoid.ezm", motion="bvh/01_01.bvh", first=3, hidden="hair"),
    "arnaud-climb": Case("fbx/ozz/pab_arnaud.fbx", motion="bvh/01_01.bvh", first=3),
    "cesium-bvh": Case("gltf/CesiumMan/glTF-Binary/CesiumMan.glb", motion="bvh/cmu_12_01_walk.bvh", first=3),
    "humanoid-bvh": Case("models/humanoid/humanoid.ezm", motion="bvh/cmu_12_01_walk.bvh", first=3, hidden="hair"),
    "dude-bvh": Case("ezm/dude/dude.ezm", motion="bvh/cmu_12_01_walk.bvh", tall=1.8, first=3, arm_space=15.0),
    "kenney-bvh": Case(
        "fbx/ufbx/maya_kenney_character_7700_binary.fbx",
        motion="bvh/cmu_12_01_walk.bvh",
        tall=1.8,
        first=3,
        arm_space=15.0,
    ),
    "rigged-bvh": Case(
        "gltf/RiggedFigure/glTF-Binary/RiggedFigure.glb", motion="bvh/cmu_12_01_walk.bvh", first=3, arm_space=15.0
    ),
    "clothsim-bvh": Case(
        "ezm/clothsim_zup/ClothSim.ezm", motion="bvh/cmu_12_01_walk.bvh", first=3, hidden="ClothSim.clothsim_cape"
    ),
    "clothsim": Case("ezm/clothsim_zup/ClothSim.ezm", hidden="ClothSim.clothsim_cape"),
}


@dataclass
class Result:
    name: str
    garment: str
    green: bool = False
    body_mm: float = 0.0
    arms_mm: float = 0.0
    strain: float = 0.0
    load: float = 0.0  # With the last number of substeps
    error: float = 0.0
    substeps: int = 0
    inside: int = 0
    particles: int = 0
    body_at: tuple[Any, ...] = ()
    arms_at: tuple[Any, ...] = ()
    strain_at: tuple[Any, ...] = ()
    stopped: str = ""
    inner: list[tuple[str, bool, float]] = field(default_factory=list)  # Garments under it: name, green, strain
    through_mm: float = 0.0  # Depth of the garment behind the ones under it
    through: int = 0  # Most particles of it behind one of them
    rooms: list[tuple[float, ...]] = field(default_factory=list)
    records: list[tuple[Any, ...]] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return not self.stopped and max(self.body_mm / IN_BODY, self.arms_mm / IN_ARMS) <= 1e3 and self.strain < STRAIN


def opened(case: Case, folder: Path) -> tuple[Project, ProjectNode]:
    """Opens a project of a character that plays its motion; `folder` is for files."""
    inner = resources.path("models") / case.path.removeprefix("models/")
    project = sinew.open(inner if case.path.startswith("models/") else ASSETS / case.path)
    character = next(node for node in project.nodes if node.kind == "model")
    values: dict[str, Any] = {"hidden_sections": case.hidden} if case.hidden else {}
    if case.motion:
        values["motions"] = ({"path": str(ASSETS / case.motion)},)
    if case.arm_space:
        values["modifiers"] = ({"modifier": "arm-space", "angle": case.arm_space},)
    if case.tall:
        with project._current() as run:
            bounds = run.engine.views.characters[character.id].bounds()
        values["unit_scale"] = float(case.tall / (bounds.hi[1] - bounds.lo[1]))
    character.set(**values)
    if case.motion:
        path = folder / f"{Path(case.path).stem}.sinew"
        project.save(path, overwrite=True)
        project.close()
        project = sinew.open(path, allow_outside=True)
        character = next(node for node in project.nodes if node.kind == "model")
    character.clip = clip = case.clip or Path(case.motion).stem
    with project._current() as run:
        model = run.engine.world.assets.animated_model(character.id, run.engine.views.characters[character.id].model)
    assert clip in ("", *(one.name for one in model.clips)), f"{case.path} does not have {clip!r}"
    project.playback.start = case.first
    return project, character


def skin_places(project: Project, character: ProjectNode) -> Float64:
    """Returns the vertices of a character in its present pose [m]."""
    with project._current() as run:
        shown = run.engine.views.characters[character.id]
        model, pose, placement = shown.model, shown.pose, shown.world_from_model
    method = SkinningMethod(str(character.skinning))
    mesh = shaped_mesh(model.mesh, model.skin, pose)
    return transform_points(
        placement, skin(mesh, model.skin, pose.palette, method, pose.centres).positions.astype(float)
    )


def depths(points: Float64, places: Float64, triangles: np.ndarray) -> tuple[Float64, np.ndarray]:
    """Returns how deep points are inside a skin [m], 0 outside, and the vertex of the skin that is near each.

    The nearest triangle says which points may be inside, the winding number which are.
    """
    near = attach(np.arange(len(points), dtype=np.int32), points, places, triangles.astype(np.uint32))
    corners = places[near.corners]
    weights = closest_weights(points, corners)
    apart = np.linalg.norm(points - np.einsum("hc,hcx->hx", weights, corners), axis=1)
    doubtful = np.flatnonzero((near.heights < 0.0) | ((weights.min(axis=1) < 1e-6) & (apart < 0.06)))
    found = np.zeros(len(points))
    inside = doubtful[windings(points[doubtful], places[triangles]) > 0.5]
    found[inside] = apart[inside]
    return found, near.corners[np.arange(len(points)), weights.argmax(axis=1)]


def walked(
    name: str, garment: str, folder: Path, *, steps: int = 120, every: int = 15, picture: bool = False,
    values: Mapping[str, Any] = {}, others: Sequence[str] = (), is_firm: bool = False,
) -> Result:  # fmt: skip
    """Dresses a character, plays the pre-roll and some steps, and measures the garment on the way.

    Args:
        values: Settings of the garment.
        others: Garments under it.
        is_firm: The arms do not yield.
    """
    case = CASES[name]
    project, character = opened(case, folder)
    with project:
        inner = [project.add(other, parent=character) for other in others]
        cloth = project.add(garment, parent=character, **values)
        if is_firm:
            project.nodes["Skin"].yielding = ()
        result = Result(name, garment)
        with project._current() as run:
            model = run.engine.views.characters[character.id].model
        assert model.skeleton is not None
        assert model.skin is not None
        bones, strongest = bones_of(model), model.skin.strongest
        is_arm: Bool = model.skeleton.below([bones[arm] for arm in ARMS])[strongest]
        triangles = skin_corners(model.mesh, body_sections(model, [case.hidden] if case.hidden else []))[:, :3]
        try:
            project.simulate(0)
            for step in range(0, steps + 1, every):
                if step:
                    project.step(every)
                _measure(result, step, project, cloth, skin_places(project, character), triangles, is_arm)
                _measure_inner(result, project, cloth, inner)
                names = model.skeleton.names
                for where in ("body_at", "arms_at"):
                    at = getattr(result, where)
                    if at and isinstance(at[-1], int):
                        setattr(result, where, (*at[:-1], names[strongest[at[-1]]]))
        except CommandError as error:
            result.stopped = str(error)[-200:]
        if picture:
            views = [project.render(size=(320, 420), view=view) for view in ("front", "side", "back")]
            Image.fromarray(np.concatenate(views, axis=1)).save(folder / f"{'-'.join([name, *others, garment])}.png")
    result.green = not result.stopped and result.load <= MARGIN and result.error <= ERROR
    return result


def _measure(
    result: Result, step: int, project: Project, cloth: ProjectNode, places: Float64, triangles: Any, is_arm: Bool
) -> None:
    with project.simulated(project.document.scene.node(cloth.id)) as system:
        own, now = system.cloth, stability_of(system.cloth)
        threads, points = own.model.springs.of_kind(SpringKind.STRUCTURAL), own.positions().astype(np.float64)
        columns = own.model.particle_count // own.model.surface.rows
    ends = points[threads.pairs]
    strains = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1) / threads.rest - 1.0
    of_arm = is_arm[triangles].all(axis=1)  # apart, as the body may be nearer to a point that is inside an arm alone
    arms, near_arms = depths(points, places, triangles[of_arm])
    body, near_body = depths(points, places, triangles[~of_arm])
    inside = np.maximum(arms, body)
    result.records.append(
        (step, round(1e3 * body.max(), 1), round(1e3 * arms.max(), 1), round(float(strains.max()), 3),
         round(now.usual_error, 4), own.settings.substeps)
    )  # fmt: skip
    for what, where, depth, near in (("body_mm", "body_at", body, near_body), ("arms_mm", "arms_at", arms, near_arms)):
        worst = int(depth.argmax())
        if 1e3 * depth[worst] > getattr(result, what):
            setattr(result, what, round(1e3 * float(depth[worst]), 1))
            setattr(result, where, (step, *divmod(worst, columns), int(near[worst])))
    if strains.max() > result.strain:
        result.strain = round(float(strains.max()), 3)
        pair = threads.pairs[int(strains.argmax())]
        result.strain_at = (step, *(divmod(int(one), columns) for one in pair))
    result.rooms += _rooms(points, body, arms, places, triangles, is_arm)
    raised = result.substeps != own.settings.substeps
    result.substeps = own.settings.substeps
    result.load = now.ratio if raised else max(result.load, now.ratio)
    result.error = now.usual_error if raised else max(result.error, now.usual_error)
    result.inside = max(result.inside, int((inside > 1e-4).sum()))
    result.particles = len(points)


def stability_of(cloth: Cloth) -> ClothStability:
    cloth.measures_lines = True
    cloth._recent_lines = []
    cloth.check()
    found = line_stability(cloth.settings, cloth.lines)
    cloth.measures_lines = False
    return found


def _measure_inner(result: Result, project: Project, cloth: ProjectNode, inner: Sequence[ProjectNode]) -> None:
    points, found = cloth.arrays()["positions"].astype(np.float64), []
    for number, node in enumerate(inner):
        with project.simulated(project.document.scene.node(node.id)) as system:
            now, strain = stability_of(system.cloth), system.cloth.check().strain
        places, triangles = node.arrays()["positions"].astype(np.float64), node.arrays()["triangles"]
        near = attach(np.arange(len(points), dtype=np.int32), points, places, triangles)
        weights = closest_weights(points, places[near.corners])
        beside = (weights.min(axis=1) > 0.0) & (near.heights > -BEHIND)
        result.through = max(result.through, int((near.heights[beside] < 0.0).sum()))
        result.through_mm = round(max(result.through_mm, -1e3 * float(near.heights[beside].min(initial=0.0))), 1)
        was = result.inner[number] if result.inner else ("", True, 0.0)
        is_green = not system.stopped and now.ratio <= MARGIN and now.usual_error <= ERROR
        found.append((node.name, was[1] and is_green, round(max(was[2], float(strain)), 3)))
    result.inner = found


def _rooms(
    points: Float64, body: Float64, arms: Float64, places: Float64, triangles: Any, is_arm: Bool
) -> list[tuple[float, ...]]:
    """Returns for particles that are too deep: depth in body and arms, and height over the other one [mm]."""
    deep, found = np.flatnonzero((body > 0.8 * IN_BODY) | (arms > 0.8 * IN_ARMS)), []
    of_arm = is_arm[triangles].all(axis=1)
    for one in deep:
        other = triangles[~of_arm if arms[one] > 0.0 else of_arm]
        near = attach(np.zeros(1, np.int32), points[[one]], places, other.astype(np.uint32))
        found.append(tuple(round(1e3 * float(v), 1) for v in (body[one], arms[one], near.heights[0])))
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--garment", action="append", choices=("skirt", "cape", "dress"))
    parser.add_argument("--under", action="append", default=[], choices=("skirt", "cape", "dress"))
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--firm", action="store_true", help="arms do not yield")
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--every", type=int, default=15)
    parser.add_argument("--picture", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("."))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    values = {key: json.loads(value) for key, value in (one.split("=", 1) for one in options.set)}
    for name in options.names or CASES:
        for garment in options.garment or ("skirt", "cape", "dress"):
            result = walked(
                name, garment, options.out, steps=options.steps, every=options.every, picture=options.picture,
                values=values, others=options.under, is_firm=options.firm,
            )  # fmt: skip
            sys.stdout.write(json.dumps(asdict(result) | {"holds": result.holds}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
