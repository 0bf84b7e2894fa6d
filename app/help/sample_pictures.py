"""Images of the sample projects for the start page, rendered by `python -m sinew.app.help.sample_pictures`."""

import sys
from pathlib import Path

from sinew.app.headless.renderer import Renderer
from sinew.app.headless.run import headless
from sinew.app.headless.scene import opened
from sinew.app.help.guide import picture_of
from sinew.app.project.permitted import Permitted
from sinew.app.project.project_file import PROJECT_SUFFIX
from sinew.resources import path
from sinew.sim.export.formats import IMAGE_WRITERS

SIZE = (240, 150)
MOMENT = 1.2  # [s] at which simulations are in full motion


def draw_samples(projects: Path) -> list[Path]:
    drawn = []
    with headless() as context:
        for project in sorted(projects.glob(f"*{PROJECT_SUFFIX}")):
            renderer = Renderer(context, opened(project, Permitted(outside=False, kernels=True)), SIZE)
            picture = renderer.picture([MOMENT], renderer.camera("saved", [MOMENT]))
            drawn.append(picture_of(project))
            IMAGE_WRITERS.of(drawn[-1]).save(picture, drawn[-1])
            renderer.release()
    return drawn


if __name__ == "__main__":
    for picture in draw_samples(path("projects")):
        sys.stdout.write(f"{picture.name}\n")
