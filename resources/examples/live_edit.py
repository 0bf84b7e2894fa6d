"""A gust in the middle of a simulation, as one entry of the history: sinew run live_edit.py PROJECT.

Dropped on the window of the editor, it edits the open project there.
"""

import sys

import sinew

with sinew.open(*sys.argv[1:]) as project:
    cape = project.nodes["Cape"]
    project.simulate(steps=20)
    before = cape.arrays()["positions"]
    with project.edit("Gust on the cape"):
        cape.set(wind=(0, 0, 8), turbulence=2)
        cape.normal_drag *= 2
    project.step(20)
    moved = abs(cape.arrays()["positions"] - before).max()
    print(f"step {project.steps}: a particle has moved by {moved:.2f} m")
    project.undo()
    print(f"wind again: {cape.wind}")
