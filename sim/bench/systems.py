"""What the benchmark measures."""

SYSTEMS = {
    "load": "sim.bench.load",
    "pose": "sim.bench.pose",
    "skinning": "sim.bench.skinning",
    "shape": "sim.bench.shape",
    "cloth": "sim.bench.cloth",
    "particles": "sim.bench.particles",
    "backends": "sim.bench.backends",
    "hair": "sim.bench.hair",
    "frame": "sim.bench.frame",
    "timing": "sim.bench.timing",
    "kept": "sim.bench.kept",
    "compile": "sim.bench.compile",
    "film": "sim.bench.output",
    "export": "sim.bench.output",
    "launch": "app.cli.bench_launch",
}
"""Module of each system; its function `NAME_rows(repeat, sizes)` measures; sizes have a default."""

ON_ONE_BACK_END = ("skinning", "cloth", "particles", "hair", "frame", "timing")
"""Those whose function also takes `backend`, what kernels run on."""
