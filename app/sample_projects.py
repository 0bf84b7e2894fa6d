"""Saves the projects that show the sample models: run `python -m app.sample_projects` after changing their scenes."""

import sys
from pathlib import Path

from app.files.project_file import PROJECT_SUFFIX, save_project
from resources import path
from resources.samples.scenes import sample_scenes


def save_samples(folder: Path, models: Path) -> list[Path]:
    """Write all sample projects into `folder`; returns the files.

    Args:
        folder: Where the projects go.
        models: Absolute folder of the sample models.
    """
    saved = []
    for name, (scene, view_state) in sample_scenes(models).items():
        saved.append(folder / f"{name}{PROJECT_SUFFIX}")
        save_project(saved[-1], scene, view_state)
    return saved


if __name__ == "__main__":
    for project in save_samples(path("projects"), path("models")):
        sys.stdout.write(f"{project.name}\n")
