"""A short animation of a project, and the same as a scene for other programs: sinew run animation.py PROJECT FOLDER."""

import sys
from pathlib import Path

import sinew

folder = Path(sys.argv[2])
with sinew.open(sys.argv[1]) as project:
    project.export(folder / "animation.gif", frames=(0, 15), rate=15, size=(160, 120))
    project.export(folder / "animation.glb", frames=(0, 4), rate=30)
