import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sinew.app.failure.errors import CommandError, print_line
from sinew.app.headless.scene import loaded
from sinew.app.jobs.options import add_output_option, any_of, finite_number, require_folder, whole_number
from sinew.app.project.project_file import is_project
from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.animation.pose import Pose
from sinew.sim.assets.formats import MODEL_FORMATS, GltfOptions
from sinew.sim.assets.model import CharacterModel, Clip, Interpolation
from sinew.sim.characters.modifiers.evaluation import NO_INPUTS, BoneModifiers
from sinew.sim.characters.retarget import RetargetError, retargeted_clip
from sinew.sim.characters.settings import ModelSettings, SkinningMethod
from sinew.sim.export.formats import SURFACE_WRITERS
from sinew.sim.export.surface import surface_of
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.printable import counted

Float32 = npt.NDArray[np.float32]

TIME_TOLERANCE = 1e-6  # [s] beyond the end that mean the last key: files store rounded lengths (1.19999993 s)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help=f"model file ({any_of(MODEL_FORMATS)})")
    parser.add_argument("--clip", metavar="NAME|INDEX", help="animation; the first one by default")
    parser.add_argument(
        "--motion",
        type=Path,
        metavar="FILE",
        help="play the clip of another file on the humanoid model",
    )
    moment = parser.add_mutually_exclusive_group()
    moment.add_argument(
        "--time", type=finite_number, metavar="SECONDS", help="time in the clip; the bind pose by default"
    )
    moment.add_argument(
        "--frame", type=finite_number, metavar="F", help="time as the number of a key, may be fractional"
    )
    parser.add_argument(
        "--scene", type=whole_number(0), metavar="N", help="number of the scene of a glTF file; its own default"
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
        help="gpu: as in the viewport; tf, compute: with this back end; reference: double precision on the CPU"
        " (default: %(default)s)",
    )
    add_output_option(parser, SURFACE_WRITERS)


def run(options: argparse.Namespace) -> None:
    require_folder(options.output)
    if is_project(options.model):
        raise CommandError(options.model, "", "is a project; pose needs a model; export and simulate take projects")
    model = loaded(options.model, None if options.scene is None else GltfOptions(scene=options.scene))
    clip = chosen_clip(model, options.clip) if options.motion is None else motion_of(options, model)
    time = chosen_time(model, clip, options.time, options.frame)
    pose = evaluate_pose(model, clip if time is not None else None, time or 0.0, interpolation=Interpolation.LINEAR)
    pose = BoneModifiers(model).applied(pose, ModelSettings(), time or 0.0, (0.0, 0.0), NO_INPUTS)
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


def motion_of(options: argparse.Namespace, model: CharacterModel) -> Clip:
    """Returns the clip of `--motion`; raises CommandError if there is none, or a model is no human body."""
    source = loaded(options.motion)
    clip = chosen_clip(source, options.clip)
    if clip is None:
        raise CommandError(options.motion, "", "has no clips")
    try:
        return retargeted_clip(clip, source, model)
    except RetargetError as error:
        raise CommandError(options.model, f"--motion {options.motion.name}", str(error)) from error


def skin_by_reference(model: CharacterModel, pose: Pose, method: SkinningMethod) -> tuple[Float32, Float32]:
    """Returns positions and unit normals, both (V, 3), skinned in double precision on the CPU."""
    from sinew.sim.characters.reference import skin

    skinned = skin(model.mesh, model.skin, pose.palette, method, pose.centres, pose.local.weights)
    return skinned.positions.astype(np.float32), skinned.normals.astype(np.float32)


def skin_on_gpu(
    model: CharacterModel, pose: Pose, method: SkinningMethod, choice: BackEndChoice
) -> tuple[Float32, Float32]:
    """Returns positions and unit normals, both (V, 3); raises CommandError if this machine has no OpenGL."""
    from sinew.app.headless.run import headless
    from sinew.sim.characters.skinning import SkinnedMesh
    from sinew.sim.gl.library import ShaderLibrary

    with headless(choice, "; --backend reference needs none") as context:
        mesh = SkinnedMesh(context, ShaderLibrary(context), model.mesh, model.skin)
        mesh.skin(pose, method)
        skinned = mesh.read()
    return skinned["position"][:, :3], skinned["normal"][:, :3]


def chosen_clip(model: CharacterModel, name: str | None) -> Clip | None:
    """Returns a clip by name, else by its number from 0; by default the first one, None if the model has none. Raises
    CommandError if there is no such clip; the message lists the clips.
    """
    if name is None:
        return model.clips[0] if model.clips else None
    for clip in model.clips:
        if clip.name == name:
            return clip
    if name.isdecimal() and int(name) < len(model.clips):
        return model.clips[int(name)]
    known = ", ".join(f"{index} {clip.name!r}" for index, clip in enumerate(model.clips))
    raise CommandError(model.path, f"clip {name!r}", f"no such clip; there are: {known}" if known else "has no clips")


def chosen_time(model: CharacterModel, clip: Clip | None, time: float | None, frame: float | None) -> float | None:
    """Returns seconds from the start of the clip, or None for the bind pose; `frame` is the number of a key, possibly
    fractional. Raises CommandError if the moment lies outside the clip, or there is no clip.
    """
    if time is None and frame is None:
        return None
    option = "--time" if frame is None else "--frame"
    if clip is None:
        raise CommandError(model.path, option, "the model has no clips; leave it out for the bind pose")
    frames = clip.frame_times
    value, last = (time, clip.duration) if frame is None else (frame, float(len(frames) - 1))
    assert value is not None
    if not 0.0 <= value <= last + TIME_TOLERANCE:
        unit = " s" if frame is None else ""
        raise CommandError(model.path, f"{option} {value:g}", f"clip {clip.name!r} goes from 0 to {last:.6g}{unit}")
    if frame is not None:
        value = float(np.interp(frame, np.arange(len(frames)), frames))
    return min(value, clip.duration)
