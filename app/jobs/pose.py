import enum
from pathlib import Path
from typing import Annotated

import numpy as np
import numpy.typing as npt

from sinew.app.failure.errors import CommandError, print_line
from sinew.app.headless.scene import loaded
from sinew.app.jobs.job import WORDS, Job, option
from sinew.app.jobs.options import output, require_folder
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


class PoseBackEnd(enum.Enum):
    GPU = "gpu"
    AUTO = "auto"
    TF = "tf"
    COMPUTE = "compute"
    REFERENCE = "reference"


class PoseJob(Job, frozen=True, kw_only=True):
    command = "pose"

    model: Annotated[
        Path, option(f"Model file ({'|'.join(MODEL_FORMATS.suffixes())}).", "MODEL", WORDS, is_argument=True)
    ]
    clip: Annotated[str | None, option("Animation, else the first one.", "NAME|INDEX", WORDS)] = None
    motion: Annotated[Path | None, option("Play the clip of another file on the humanoid model.", "FILE", WORDS)] = None
    time: Annotated[
        float | None, option("Time in the clip; the bind pose without it.", "SECONDS", WORDS, instead_of="moment")
    ] = None
    frame: Annotated[
        float | None,
        option("Time as the number of a key, may be fractional.", "F", WORDS, instead_of="moment"),
    ] = None  # fmt: skip
    scene: Annotated[int | None, option("Number of the scene of a glTF file, else its default.", "N", WORDS, lo=0)] = (
        None
    )
    method: Annotated[SkinningMethod, option("How joint transforms are blended.", at=WORDS)] = SkinningMethod.LBS
    backend: Annotated[
        PoseBackEnd,
        option("As in the viewport (gpu), with this back end (auto, tf, compute), or in double precision on the CPU"
               " (reference).", at=WORDS),
    ] = PoseBackEnd.GPU  # fmt: skip
    output: Annotated[Path, output(SURFACE_WRITERS)]


JOB = PoseJob


def run(job: PoseJob) -> None:
    require_folder(job.output)
    if is_project(job.model):
        raise CommandError(job.model, "", "is a project; pose needs a model; export and simulate take projects")
    model = loaded(job.model, None if job.scene is None else GltfOptions(scene=job.scene))
    clip = chosen_clip(model, job.clip) if job.motion is None else motion_of(job, job.motion, model)
    time = chosen_time(model, clip, job.time, job.frame)
    pose = evaluate_pose(model, clip if time is not None else None, time or 0.0, interpolation=Interpolation.LINEAR)
    pose = BoneModifiers(model).applied(pose, ModelSettings(), time or 0.0, (0.0, 0.0), NO_INPUTS)
    if job.backend is PoseBackEnd.REFERENCE:
        positions, normals = skin_by_reference(model, pose, job.method)
    else:
        choice = BackEndChoice.AUTO if job.backend is PoseBackEnd.GPU else BackEndChoice(job.backend.value)
        positions, normals = skin_on_gpu(model, pose, job.method, choice)
    surface = surface_of(model, positions, normals, pose, time or 0.0)
    SURFACE_WRITERS.of(job.output).save(surface, job.output)
    moment = "bind pose" if clip is None or time is None else f"clip {clip.name!r} at {time:.3f} s"
    print_line(f"{job.output}: {counted(len(positions), 'vertex', 'vertices')}, {moment}")


def motion_of(job: PoseJob, motion: Path, model: CharacterModel) -> Clip:
    """Returns the clip of `--motion`; raises CommandError if there is none, or a model is no human body."""
    source = loaded(motion)
    clip = chosen_clip(source, job.clip)
    if clip is None:
        raise CommandError(motion, "", "has no clips")
    try:
        return retargeted_clip(clip, source, model)
    except RetargetError as error:
        raise CommandError(job.model, f"--motion {motion.name}", str(error)) from error


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
