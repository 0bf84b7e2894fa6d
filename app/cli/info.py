"""The command `sinew info`, which needs no display, no Qt and no OpenGL."""

import dataclasses
import json
import os
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

from sinew.app.failure.errors import print_warnings
from sinew.app.failure.progress import Progress
from sinew.app.headless.scene import require_inside
from sinew.app.jobs.job import WORDS, Job, option
from sinew.app.jobs.options import Outside, SceneFile
from sinew.app.project.project_file import is_project, load_project
from sinew.sim.assets.build import build_model
from sinew.sim.assets.info import info_text, model_info, table
from sinew.sim.assets.load import read_raw
from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.foot_slide import clip_slides
from sinew.sim.characters.materials import missing_images, missing_lines
from sinew.sim.characters.retarget import RetargetError, body_of
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Files
from sinew.sim.printable import printable, printable_json


class InfoJob(Job, frozen=True, kw_only=True):
    command = "info"

    scene: SceneFile
    json: Annotated[bool, option("Print one JSON object with more details instead of a table.", at=WORDS)] = False
    allow_outside: Outside = False


JOB = InfoJob


def run(job: InfoJob) -> None:
    """Prints facts about a file; warnings go to standard error, so that they are visible in a pipe."""
    if is_project(job.scene):
        info = project_info(job.scene, allow_outside=job.allow_outside)
        text = project_text(info)
    else:
        with Progress(f"reading {job.scene.name}") as progress:
            raw = read_raw(job.scene, progress=progress)
        model = build_model(raw)
        info = model_info(raw, model)
        add_feet(info, model)
        info["warnings"] += missing_lines(missing_images(model, ()))
        text = info_text({**info, "warnings": []})
    print(printable_json(json.dumps(info, indent=2, ensure_ascii=False)) if job.json else text)
    print_warnings(job.scene, info["warnings"])


def add_feet(info: dict[str, Any], model: CharacterModel) -> None:
    """Adds the slide of standing feet to the clips of a human body, in units of the file."""
    try:
        body = body_of(model)
    except RetargetError:
        return
    for shown, clip in zip(info["clips"], model.clips, strict=True):
        shown["feet"] = [dataclasses.asdict(foot) for foot in clip_slides(model, clip, body)]


def project_info(path: Path, *, allow_outside: bool) -> dict[str, Any]:
    """Returns facts about a project as JSON types; does not open the files that it names.

    Raises:
        ProjectError: If it cannot be read.
        CommandError: If it names files outside its folders and that is not allowed.
    """
    project = load_project(path)
    scene = project.scene
    if not allow_outside:
        require_inside(path, scene)
    uses = [(node, use) for node in scene.nodes for use in KINDS[node.kind].part(Files).used(node.settings)]
    counts = Counter(node.kind for node in scene.nodes)
    return {
        "path": str(path),
        "format": "sinew-project",
        "version": project.version,
        "node_count": len(scene.nodes),
        "unknown_node_count": len(project.unknown.nodes),
        "kinds": {kind: counts[kind] for kind in KINDS if counts[kind]},
        "nodes": [
            {
                "id": node.id, "name": node.name, "kind": node.kind, "visible": node.visible, "muted": node.muted,
                "solo": node.solo, "rides_on": node.attachment.node or None, "bone": node.attachment.bone or None,
            }
            for node in scene.nodes
        ],
        "files": [
            {"path": use.path, "content": use.content, "node": node.id, "found": os.path.isfile(use.path)}
            for node, use in uses
            if use.path
        ],
        "time": project.view_state.time,
        "warnings": list(project.warnings),
    }  # fmt: skip


def project_text(info: dict[str, Any]) -> str:
    unknown = info["unknown_node_count"]
    blocks = [
        "\n".join(
            [
                printable(info["path"]),
                f"  format      Sinew project, version {info['version']}",
                f"  nodes       {info['node_count']:,}" + (f", and {unknown:,} of unknown types" if unknown else ""),
            ]
        )
    ]
    if info["kinds"]:
        rows = [(KINDS[kind].label, f"{count:,}") for kind, count in info["kinds"].items()]
        blocks.append(table(f"Types ({len(rows)})", ("type", ">nodes"), rows))
    files = list(dict.fromkeys((file["path"], file["content"], file["found"]) for file in info["files"]))
    if files:
        file_rows = [(content, "found" if found else "missing", path) for path, content, found in files]
        blocks.append(table(f"Files ({len(file_rows)})", ("content", "", "path"), file_rows))
    return "\n\n".join(blocks)
