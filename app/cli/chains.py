"""The command `sinew chains`, which needs no display and no OpenGL."""

from pathlib import Path
from typing import Annotated

from sinew.app.api.project import open_project
from sinew.app.cli.weights import character_of
from sinew.app.failure.errors import print_line
from sinew.app.jobs.chains import suffix_of_chains
from sinew.app.jobs.job import WORDS, option
from sinew.app.jobs.options import Opening, SceneFile, output, require_folder
from sinew.app.project.project_file import PROJECT_SUFFIX
from sinew.sim.assets.formats import Format, Formats
from sinew.sim.characters.settings import model_settings
from sinew.sim.printable import counted
from sinew.sim.skin.weights.chains import CHAINS_MAX, JOINTS_MAX


class ChainsJob(Opening, frozen=True, kw_only=True):
    command = "chains"

    scene: SceneFile
    node: Annotated[str, option("Character of the project, if it has several.", "NAME", WORDS)] = ""
    section: Annotated[str, option("Section that hangs: a skirt, a tail or hair.", "NAME", WORDS)]
    bone: Annotated[str, option("Bone that the section hangs on, else the hips.", "NAME", WORDS)] = ""
    chains: Annotated[int, option("Number of chains; 0 chooses one every 12 cm.", "N", WORDS, lo=0, hi=CHAINS_MAX)] = 0
    joints: Annotated[
        int, option("Bones of each chain; 0 chooses one every 10 cm.", "N", WORDS, lo=0, hi=JOINTS_MAX)
    ] = 0
    no_colliders: Annotated[bool, option("Fit no capsules to hips and legs.", at=WORDS)] = False
    model: Annotated[
        Path | None,
        option("New model file, VRM or glTF; without it named as the project.", "FILE", WORDS),
    ] = None
    output: Annotated[
        Path, output(Formats(Format(name="Sinew project", suffixes=(PROJECT_SUFFIX,))), "Project with spring bones.")
    ]


JOB = ChainsJob


def run(job: ChainsJob) -> None:
    require_folder(job.output)
    permitted = job.permitted
    with open_project(job.scene, "auto", allow_outside=permitted.outside, kernels=permitted.kernels) as project:
        node = character_of(job.scene, job.node, project.document.scene.characters)
        path = job.model or job.output.with_suffix(suffix_of_chains(Path(model_settings(node).path)))
        made = project.nodes[node.id].add_chains(
            job.section, path, job.bone, chains=job.chains, joints=job.joints, colliders=not job.no_colliders
        )
        project.save(job.output, overwrite=True)
    print_line(f"{job.output}: {path.name} with chains for {job.section}; {counted(len(made), 'new object')}")
