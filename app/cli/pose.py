"""`sinew pose`: a model as it is skinned at one moment, written as arrays or as a mesh."""

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt

from app.cli.failure import CommandError, print_line
from app.cli.model import chosen_clip, chosen_time, loaded
from app.cli.options import any_of, finite_number, output_file, require_folder, whole_number
from app.files.project_file import is_project
from sim.animation.evaluate import evaluate_pose
from sim.animation.pose import Pose
from sim.assets.formats import MODEL_FORMATS, GltfOptions
from sim.assets.model import CharacterModel, Interpolation
from sim.characters.settings import SkinningMethod
from sim.export.formats import SURFACE_WRITERS
from sim.export.surface import surface_of
from sim.gl.back_end import BackEndChoice
from sim.printable import counted

Float32 = npt.NDArray[np.float32]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help=f"model file ({any_of(MODEL_FORMATS)})")
    parser.add_argument("--clip", metavar="NAME|INDEX", help="the animation; the first one by default")
    moment = parser.add_mutually_exclusive_group()
    moment.add_argument(
        "--time", type=finite_number, metavar="SECONDS", help="moment in the clip; the bind pose without one"
    )
    moment.add_argument(
        "--frame", type=finite_number, metavar="F", help="the same as the number of a key, may be fractional"
    )
    parser.add_argument(
        "--scene", type=whole_number, metavar="N", help="number of the scene of a glTF file; its own one by default"
    )
    parser.add_argument(
        "--method",
        choices=[method.value for method in SkinningMethod],
        default=SkinningMethod.LBS.value,
        help="how joint transforms are blended (default: %(default)s)",
    )
    parser.add_argument(
        "--backend",
        choices=["gpu", *BackEndChoice, "reference"],
        default="gpu",
        help="what the viewport draws, here with what is faster, or with one of both; or double precision on the CPU"
        " (default: %(default)s)",
    )
    parser.add_argument(
        "--output", required=True, type=output_file(SURFACE_WRITERS), metavar=f"FILE{any_of(SURFACE_WRITERS)}"
    )


def run(options: argparse.Namespace) -> None:
    """Reads, poses, skins and writes."""
    require_folder(options.output)
    if is_project(options.model):
        raise CommandError(options.model, "", "is a project; pose takes a model, export and simulate take projects")
    model = loaded(options.model, None if options.scene is None else GltfOptions(scene=options.scene))
    clip = chosen_clip(model, options.clip)
    time = chosen_time(model, clip, options.time, options.frame)
    pose = evaluate_pose(model, clip if time is not None else None, time or 0.0, interpolation=Interpolation.LINEAR)
    method = SkinningMethod(options.method)
    if options.backend == "reference":
        positions, normals = skin_by_reference(model, pose, method)
    else:
        choice = BackEndChoice.AUTO if options.backend == "gpu" else BackEndChoice(options.backend)
        positions, normals = skin_on_gpu(model, pose, method, choice)
    surface = surface_of(model, positions, normals, pose, time or 0.0)
    SURFACE_WRITERS.of(options.output).save(surface, options.output)
    moment = "bind pose" if clip is None or time is None else f"clip {clip.name!r} at {time:.3f} s"
    print_line(f"{options.output}: {counted(len(positions), 'vertex', 'vertices')}, {moment}")


def skin_by_reference(model: CharacterModel, pose: Pose, method: SkinningMethod) -> tuple[Float32, Float32]:
    """Positions and unit normals, both (V, 3), by the double-precision skinning on the CPU."""
    from sim.characters.reference import skin

    skinned = skin(model.mesh, model.skin, pose.palette, method, pose.centres, pose.local.weights)
    return skinned.positions.astype(np.float32), skinned.normals.astype(np.float32)


def skin_on_gpu(
    model: CharacterModel, pose: Pose, method: SkinningMethod, choice: BackEndChoice
) -> tuple[Float32, Float32]:
    """Positions and unit normals, both (V, 3), by the kernel that the viewport draws from.

    Raises:
        CommandError: If this machine offers no OpenGL.
    """
    from app.cli.run import headless
    from sim.characters.skinning import SkinnedMesh
    from sim.gl.library import ShaderLibrary

    with headless(choice, "; --backend reference needs none") as context:
        mesh = SkinnedMesh(context, ShaderLibrary(context), model.mesh, model.skin)
        mesh.skin(pose, method)
        skinned = mesh.read()
    return skinned["position"][:, :3], skinned["normal"][:, :3]
