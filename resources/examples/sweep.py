"""How far the cape stretches for some stiffnesses and substeps: sinew run sweep.py PROJECT."""

import sys

import sinew

with sinew.open(sys.argv[1]) as project:
    cape = project.nodes["Cape"]
    for substeps in (60, 90):
        for stiffness in (100, 150, 200):
            cape.set(substeps=substeps, stretch_stiffness=stiffness)
            project.simulate(steps=30)
            print(f"{substeps} {stiffness} {cape.measures()['strain']:.4f}")
